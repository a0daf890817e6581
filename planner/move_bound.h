// What no plan with moves can beat, by prices of room in the fast pool and of copying (lagrangian.h):
//
//   least slow bytes  >=  sum over buffers of the cheapest (slow bytes + prices of what its sequence takes)
//                         - sum over slots of (price of room * capacity + price of copying * bandwidth)
//
// Each buffer alone is solved by best_sequence(), which keeps to the turns of copies (none before the write,
// each as long as it takes with all of the bandwidth). At prices that make the bound great, what a buffer
// pays tells who should have the room.
#pragma once

#include "planner/cutoff.h"
#include "planner/move_slots.h"

namespace arenac {

struct MoveBound {
  int64_t slow_bytes = 0;     // no plan has fewer
  std::vector<double> rooms;  // per slot: the price of a byte of the fast pool during it
};

// `best_known`: slow bytes of a plan. `rounds`: of new prices at most, from each of two starts, each O(uses +
// slots log slots).
MoveBound move_bound(const MoveSlots& slots, double best_known, int rounds, const Cutoff& cutoff);

}  // namespace arenac
