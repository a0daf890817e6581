// Groups of steps that run row by row, pulled from their sinks: which slab pulls which, how many rows of each
// storage are in memory at a time, and whether the steps, interleaved, still do what they do one by one.
#pragma once

#include <vector>

#include "scheduler/step_facts.h"

namespace arenac {

// Of a storage that only lives in the group, fewer rows than there are.
struct KeptRing {
  TensorId storage;
  Ring ring;

  bool operator==(const KeptRing&) const = default;
};
struct GroupPlan {
  Group group;
  std::vector<KeptRing> rings;
  // What the group reads and nothing needs after it may lie over what it leaves behind: its rows are done
  // with while those appear.
  std::vector<StorageOverlap> overlaps;

  bool operator==(const GroupPlan&) const = default;
};

// Of a storage only what lies under the windows of its reader is kept, and computed for each slab of these
// again: for `strip` rows of windows at a time.
struct WindowKept {
  TensorId storage;
  int64_t strip;
};

// How little of its rows a group keeps.
struct Keep {
  // What is read where it is written, and what is read through windows, a few columns at a time; else rows,
  // and nothing again.
  bool columns = true;
  int64_t width = 4;  // columns of a chunk, about: fewer save little and kernels are slower
  std::vector<WindowKept> again = {};
};

// The steps [begin, end) of a schedule of whole nodes as a group; nothing where they cannot run row by row,
// one would overwrite what another still reads, or what is to be computed again cannot.
std::optional<GroupPlan> form_group(const Schedule& whole, const StepFacts& facts, int begin, int end,
                                    const Keep& keep);

}  // namespace arenac
