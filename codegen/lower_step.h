// A step of a schedule as kernels: what the emitter prints and the tests run on an arena of bytes.
//
//   step 3, Conv with its padding filled by a nest of its own     fill, conv
#pragma once

#include <optional>
#include <vector>

#include "codegen/lower_nest.h"
#include "planner/lifetime.h"

namespace arenac {

// A nest of the step. In a group it runs for each slab and chunk of its stage (symbols kSlabSymbol and
// kChunkSymbol), but for what is said here.
struct LoweredNest {
  Kernel kernel;
  KernelOperands operands;
  std::optional<Interval> slabs;  // in which alone it runs
  bool first_chunk_only;
  size_t number = 0;  // among the nests of the step's node

  bool runs_at(int64_t slab, int64_t chunk) const {
    return (!slabs || (slabs->begin <= slab && slab < slabs->end)) && (!first_chunk_only || chunk == 0);
  }
};

// Whether a node is of nests and has elements to write.
bool runs_nests(const Node& node, const Graph& graph);

// Those of the step's nests that do anything.
std::vector<LoweredNest> lower_step(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan,
                                    size_t step);

}  // namespace arenac
