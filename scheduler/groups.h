// Groups of steps that run row by row, pulled from their sinks: which slab pulls which, how many rows of each
// storage are in memory at a time, and whether the steps, interleaved, still do what they do one by one.
#pragma once

#include <vector>

#include "scheduler/slabs.h"

namespace arenac {

// What grouping asks about a schedule of whole nodes, one a step.
struct StepFacts {
  std::vector<Slabs> slabs;              // per step; count 0: cannot be in a group
  std::vector<std::vector<Pull>> pulls;  // per step, the producers being steps
  std::vector<Rows> rows;                // per storage
  std::vector<TensorId> source;          // per tensor: itself, or what a step writes and it is a view of
  std::vector<int> writer;               // per source: its step; -1: none
  std::vector<int> last_reader;          // per source: a step, or the number of steps for outputs; -1: none
  std::vector<Interval> live;            // per storage: steps
  std::vector<int64_t> bytes;            // per storage; 0: the caller's
};
StepFacts step_facts(const Graph& graph, const std::vector<Step>& steps, const std::vector<Layout>& layouts);

// Of a storage that only lives in the group, fewer rows than there are.
struct KeptRing {
  TensorId storage;
  int64_t kept;
  int64_t column = 0, columns = 0;  // as Ring has them
};
struct GroupPlan {
  Group group;
  std::vector<KeptRing> rings;
  // What the group reads and nothing needs after it may lie over what it leaves behind: its rows are done
  // with while those appear.
  std::vector<StorageOverlap> overlaps;
};

// The steps [begin, end) as a group; nothing where they cannot run row by row, or one would overwrite what
// another still reads.
// With Rings::kColumns, rows that are read where they are written are kept a few columns at a time.
enum class Rings : uint8_t { kRows, kColumns };
std::optional<GroupPlan> form_group(int begin, int end, const std::vector<Step>& steps,
                                    const std::vector<Layout>& layouts, const Graph& graph,
                                    const StepFacts& facts, Rings rings);

// Runs the groups of a schedule with the number of the row in each slot of each ring: every row that a slab
// reads must be there. InternalError otherwise.
void verify_rings(const Schedule& schedule);

// One slab of a stage runs. The order in which a group's slabs run is the same in the emitted C.
struct SlabRun {
  int stage;
  int64_t slab;
};
std::vector<SlabRun> runs_of(const Group& group);

}  // namespace arenac
