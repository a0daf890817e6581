// Whether storages that share bytes of the arena keep what is still read: the schedule runs with the number
// of a buffer in place of each byte.
//
//   x in bytes [0, 8), y above it in [4, 12), by an overlap of the group that reads x and writes y
//     x read:    x x x x x x x x . . . .      row 1 of x, bytes [4, 8), must be done with:
//     y row 0:   x x x x y y y y . . . .      a slab that reads it now is refused
#pragma once

#include "planner/lifetime.h"

namespace arenac {

// Runs a verified schedule with the buffer that wrote each byte last, where buffers that live at the same
// time lie over each other: what a step or a slab reads must not have been written over by another buffer.
// Within a step or a slab all is read before any is written: how far its loops let storages slide over each
// other is the overlap's to say (overlap.h). InternalError otherwise.
//
// Nothing is known of storages that hold elements of several sizes or more parts than are worth telling
// apart, nor across the borders of branches and loops.
void verify_bytes(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan);

}  // namespace arenac
