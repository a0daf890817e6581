// A planned schedule with its steps as kernels: what the emitter prints, the cost model counts and the tests
// run on an arena of bytes.
//
//   step 3, Conv with its padding filled by a nest of its own     fill, conv
//
// A step is lowered when it is planned and not before: whether a result lies over what it reads, which plans
// decide, changes the direction of its loops and what pointers promise.
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

// It refers to what it was made of, which has to outlive it.
struct Lowered {
  const Schedule& schedule;
  const Lifetimes& lifetimes;
  const Plan& plan;
  std::vector<std::vector<LoweredNest>> steps;  // of each the nests that do anything
};

std::vector<LoweredNest> lowered_step(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan,
                                      size_t step);
Lowered lower(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan);

}  // namespace arenac
