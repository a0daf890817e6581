// Which buffers are in the fast pool when: sequences of stays within capacity and bandwidth, without offsets.
//
// Buffers are placed one by one, each by best_sequence() in the room that the others leave, in several orders
// and with prices that say what the room is worth to others. Then, again and again: some of those that keep a
// use out of the fast pool are taken out with it and placed again (large neighbourhood search, Shaw 1998),
// and what is then worse by a threshold that falls to 0 is taken, too (threshold accepting, Dueck and Scheuer
// 1990).
#pragma once

#include <vector>

#include "planner/cutoff.h"
#include "planner/move_slots.h"

namespace arenac {

struct MoveEffort {
  double effort = 1;  // times the work that seems worth it
  uint64_t seed = 1;
};

struct Placed {
  std::vector<std::vector<SlotStay>> stays;  // per buffer; empty where no room was found for one
  MoveCost cost;                             // kImpossible then
};

// The best start; `prices` per slot as move_bound() tells them, or none.
Placed place_stays(const MoveSlots& slots, const std::vector<double>& prices);

// As `from`, where the room allows it; the rest is placed again.
Placed fit_stays(const MoveSlots& slots, const Placed& from);

// `from` or better. Takes a start that found room for all, or returns it.
Placed improve_stays(const MoveSlots& slots, Placed from, const MoveEffort& effort, const Cutoff& cutoff);

}  // namespace arenac
