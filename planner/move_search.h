// Which buffers are in the fast pool when: sequences of stays within capacity and bandwidth, without offsets.
//
// Buffers are placed one by one, each by best_sequence() in the room that the others leave, in several orders
// and with prices that say what the room is worth to others; then some that keep a use out of the fast pool
// are taken out and placed again and again (neighbourhoods.h).
#pragma once

#include <vector>

#include "planner/cutoff.h"
#include "planner/move_slots.h"
#include "planner/neighbourhoods.h"

namespace arenac {

struct MoveEffort {
  double effort = 1;  // times the work that seems worth it
  uint64_t seed = 1;
};

// Per buffer its stays, none where no room was found for one: the cost is kImpossible then.
using Placed = Arrangement<std::vector<SlotStay>, MoveCost>;

// The best start; `prices` per slot as move_bound() tells them, or none.
Placed place_stays(const MoveSlots& slots, const std::vector<double>& prices);

// As `from`, where the room allows it; the rest is placed again.
Placed fit_stays(const MoveSlots& slots, const Placed& from);

// `from` or better. Takes a start that found room for all, or returns it.
Placed improve_stays(const MoveSlots& slots, Placed from, const MoveEffort& effort, const Cutoff& cutoff);

}  // namespace arenac
