// How often steps run, and what happens between two runs of one.
//
//   conv1 0 1 2 . 3 4 . 5 6 .       runs
//   conv2 . . . 0 . . 1 . . 2       from one run of it to the next, conv1 reads its weights again: where both
//                                   are more than a cache holds, both are fetched for every row
#pragma once

#include <optional>
#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

struct StepRuns {
  std::vector<int64_t> times;  // of a stage: of each slab and chunk, chunk by chunk; of other steps none
  // Bytes touched from one run to the next, the median; nothing of a processor without caches.
  std::optional<double> between = {};
};

// Per step, for a processor of these costs.
std::vector<StepRuns> runs_per_step(const Schedule& schedule, const Costs& costs);

// Per operand of a step and then for its result, the bytes that are touched from one read or write of an
// element to the next: of constants, between runs; of a ring, its own; else the whole tensor's. None of a
// processor without caches.
std::vector<double> bytes_between(const Schedule& schedule, size_t s, const StepRuns& runs);

}  // namespace arenac
