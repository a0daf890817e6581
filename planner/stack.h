// Buffers dropped one after the other, each onto what is below it.
//
//   height ^     +------+
//          |   +-+--+ d |        order a, b, c, d: each lands on the greatest height over its life,
//          |   | c  +---+        so that the order alone says the plan
//          |   +----+ b |
//          |   | a  +---+
//          |   +----+
//          +-----------------> time
#pragma once

#include <cstdint>
#include <vector>

#include "planner/blocks.h"
#include "planner/problem.h"
#include "planner/timeline.h"

namespace arenac {

// Offsets, per buffer of the problem, of the stack of the buffers in this order. Buffers at fixed offsets go
// first, in any order. Makes no use of overlaps. O(n log n).
std::vector<int64_t> stack(const Problem& problem, const Timeline& timeline, int pool,
                           const std::vector<int>& order);

// The same of rectangles in times of `slots`.
std::vector<int64_t> stack(const std::vector<Rectangle>& rectangles, int slots,
                           const std::vector<int>& order);

}  // namespace arenac
