// Schedules of whole layers, with groups of their steps: from the fewest bytes to the least work again.
//
//   plain 0, plain 1, plain 2     searched for groups     ->     schedules, each kind once
#pragma once

#include <vector>

#include "scheduler/plain_schedules.h"

namespace arenac {

struct GroupedSchedules {
  std::vector<Schedule> schedules;
  LimitsHit limits_hit = {};
};

// Of schedules of whole layers, the same with groups, as many as `freedom` has. Groups of what accumulates
// take no more memory than others, but where none of them does so whole layers are faster: those are
// searched, too, or where that takes long the counterpart of the smallest alone.
GroupedSchedules grouped(const Graph& graph, const PlainSchedules& whole, Freedom freedom,
                         const Target& target, Deadline deadline);

}  // namespace arenac
