// Perfect packings in coarse times and sizes, as the problems of strip packing are made: many lives end at
// the same time, many sizes are equal, so that blocks (planner/blocks.h) cannot tell what belongs together.
//
//   Problem p = hopper(1000, /*seed=*/1);  its optimum is its load
//
// The rectangle is narrow or wide, by seed.
#pragma once

#include <cstdint>

#include "planner/problem.h"

namespace arenac {

// Pieces of about 14 by 14, none longer than seven times its width, in guillotine cuts and pinwheels. After
// Hopper and Turton, "An empirical investigation of meta-heuristic and heuristic algorithms for a 2D packing
// problem", European Journal of Operational Research 128, 2001.
Problem hopper(int buffers, uint64_t seed);

// Any piece is cut anywhere. After Burke, Kendall and Whitwell, "A new placement heuristic for the orthogonal
// stock-cutting problem", Operations Research 52, 2004.
Problem burke(int buffers, uint64_t seed);

// hopper, one buffer in twenty gone.
Problem hopper_holed(int buffers, uint64_t seed);

}  // namespace arenac
