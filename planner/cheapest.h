// Plans of problems with costs per buffer and pool: those that cost least, then the smallest.
//
//   id,lower,upper,size,pool,cost
//   a,0,2,6,fast slow,slow:9          fast of 8 bytes has no room for both: a lies in fast, b in slow, for 5
//   b,1,3,4,fast slow,slow:5
//
// Pools are assigned by what lives at a time (assignment.h), then each pool gets its offsets. Where these
// pass a capacity, the rooms of the times at which they do become smaller by as much, and so on. A few
// buffers are assigned exactly.
#pragma once

#include "planner/planners.h"

namespace arenac {

// Takes a checked problem without same-offset groups. May pass a capacity where nothing else was found.
Plan plan_cheapest(const Problem& problem, const Search& search);

}  // namespace arenac
