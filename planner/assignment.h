// Which buffer lies in which pool, for the least cost: by the bytes that live at each time, without offsets.
//
//   fast holds 8 bytes    a: 6 bytes, slots [0, 2), 0 in fast or 9 in slow
//   slow holds anything   b: 4 bytes, slots [1, 3), 0 in fast or 5 in slow
//
//   slot 1 has no room for both in fast: the least cost is 5, with b in slow
//
// Fisher 1986 has the bound for assignments without times: prices of room, by Lagrangian relaxation.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "planner/lagrangian.h"
#include "planner/problem.h"
#include "planner/timeline.h"

namespace arenac {

struct AssignmentItem {
  struct Choice {
    int pool = 0;
    int64_t cost = 0;
    int64_t strayed = 0;  // bytes away from the first choice, at least one; 0 for that
  };
  std::vector<Choice> choices;  // pools that are large enough, or all if none is; the preferred first
  std::vector<SlotLoad> loads;  // what it takes of its pool, whichever that is
};

struct Assignment {
  int slots = 0;
  std::vector<AssignmentItem> items;        // per buffer
  std::vector<std::vector<int64_t>> rooms;  // per pool and slot, in bytes; none of a pool without a capacity

  bool is_limited(int pool) const { return !rooms[pool].empty(); }
};

// Of a checked problem without same-offset groups. Of buffers that an overlap lets share bytes one alone
// counts at a time, the larger: every plan within the capacities keeps to the rooms.
Assignment assignment_of(const Problem& problem, const Timeline& timeline);

// What room costs, per pool and slot.
class RoomPrices {
 public:
  explicit RoomPrices(const Assignment& assignment);

  // Per slot of each limited pool in turn.
  RoomPrices(const Assignment& assignment, const std::vector<double>& flat);

  // What the item pays in this pool.
  double of(const AssignmentItem& item, int pool, double factor = 1) const {
    double sum = 0;
    if (!paid_[pool].empty())
      for (const SlotLoad& load : item.loads)
        sum += double(load.size) * (paid_[pool][load.end] - paid_[pool][load.begin]);
    return factor * sum;
  }

 private:
  std::vector<std::vector<double>> paid_;  // per pool, for a byte up to each slot; empty: it is free
};

// No assignment within the rooms costs less; and the prices that say so. `best_known` is the cost of one;
// `rounds` of new prices at most, from each of two starts, each O(loads * pools + slots * pools).
struct AssignmentBound {
  int64_t cost = 0;
  RoomPrices prices;
};
AssignmentBound assignment_bound(const Assignment& assignment, double best_known, int rounds,
                                 const Cutoff& cutoff);

}  // namespace arenac
