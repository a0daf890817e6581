// Hill climbing over the order of placing.
//
// An order becomes places by stacking: each buffer lands on top of the skyline over its life. For every
// optimal plan there is an order that leads to it, the one by offset (Moffitt 2023, minimalloc: canonical
// solutions; without fixed offsets and overlaps). A move takes a buffer of the topmost pile and puts it at
// another turn, mostly an earlier one.
#pragma once

#include <vector>

#include "planner/problem.h"

namespace arenac {

// The same choice of pools, with offsets that make no pool larger. Stops in a pool as soon as its lower bound
// is reached, or after `work` steps of stacking in all (about a nanosecond each). Deterministic.
std::vector<Placement> climb(const Problem& problem, const Plan& plan, int64_t work);

}  // namespace arenac
