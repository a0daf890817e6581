// When storage is in use: liveness over the flat steps, control flow included.
//
// Time is counted in half-steps: step s reads at 2s and has written by 2s + 1. An operand that dies at s
// occupies 2s, a result occupies 2s and 2s + 1; so the two meet at 2s, unless they may share memory there (in
// place).
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Half-open intervals of half-steps, ascending, disjoint and not adjacent.
using Occupancy = std::vector<Interval>;

// Per tensor: when its storage is occupied by it or by views of it; empty for views, constants and unused
// tensors. Graph inputs are occupied from the start, graph outputs to the end.
std::vector<Occupancy> occupancies(const Graph& graph, const std::vector<Step>& steps,
                                   const std::vector<Layout>& layouts);

// Whether there is a half-step at which both are occupied, that one excepted.
bool collide(const Occupancy& a, const Occupancy& b, int64_t except_half_step);

// Per storage: the steps from the first to the last at which it is occupied; [0, 0) of what never is.
std::vector<Interval> steps_occupied(const std::vector<Occupancy>& occupied);

// Per point of time in [0, end): the bytes of all that is live then.
//
//   4 bytes during [0, 2), 2 bytes during [1, 3)     ->     4 6 2
std::vector<int64_t> live_bytes(const std::vector<int64_t>& bytes, const std::vector<Interval>& lives,
                                int64_t end);

}  // namespace arenac
