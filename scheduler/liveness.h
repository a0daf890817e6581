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

// Number of half-steps at which both are occupied, 2s excepted.
bool collide(const Occupancy& a, const Occupancy& b, int64_t except_half_step);

}  // namespace arenac
