// Assignments of buffers to pools that cost little (assignment.h): one by one, each into the cheapest pool
// with room, in several orders and with prices that say what the room is worth to others; then some that keep
// one out of a cheaper pool are taken out and placed again and again (neighbourhoods.h).
//
//   Assigned a = assign(assignment, bound.prices);
//   a = improve(assignment, std::move(a), {.cost = double(bound.cost)}, {}, cutoff);
//   a.states[3] == 1                      buffer 3 lies in pool 1
#pragma once

#include <vector>

#include "planner/assignment.h"
#include "planner/cutoff.h"
#include "planner/neighbourhoods.h"

namespace arenac {

// What pools cost, then bytes away from first choices. Infinite where there is no room for all.
struct AssignmentCost {
  double cost = 0, strayed = 0;
  auto operator<=>(const AssignmentCost&) const = default;
  AssignmentCost operator+(const AssignmentCost& b) const { return {cost + b.cost, strayed + b.strayed}; }
  AssignmentCost operator-(const AssignmentCost& b) const { return {cost - b.cost, strayed - b.strayed}; }
  bool is_possible() const;
};

// Per buffer its pool, -1 where no room was found.
using Assigned = Arrangement<int, AssignmentCost>;

struct AssignmentEffort {
  double effort = 1;  // times the work that seems worth it
  uint64_t seed = 1;
};

// The best start.
Assigned assign(const Assignment& assignment, const RoomPrices& prices);

// As `pools` say, -1 for any, where the rooms allow it; the rest is placed again.
Assigned fit(const Assignment& assignment, const std::vector<int>& pools);

// `from`, which has room for all, or better; ends at a cost of `bound`, which none is below.
Assigned improve(const Assignment& assignment, const Assigned& from, double bound,
                 const AssignmentEffort& effort, const Cutoff& cutoff);

}  // namespace arenac
