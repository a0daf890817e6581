// Plans in O(n log n): lowest valley first, and stacks.
//
//   height ^   |      |     +---+       The skyline is the top of what is placed, per slot. Its lowest
//   segment
//          |   |      +-----+   |       takes the buffer whose life fills it best; if none fits between the
//          |   +--+         |   +--     walls, the valley rises to the lower one of them. After Sekiyama et
//          |      |  valley |           al. 2018, with indices in place of scans and wider choice.
//          |      +---------+
#pragma once

#include <cstdint>
#include <vector>

#include "planner/blocks.h"
#include "planner/problem.h"
#include "planner/timeline.h"

namespace arenac {

// What fills a valley best.
enum class Filling {
  kLongest,   // the longest life
  kMatching,  // one whose top is level with the wall beside it, else the longest life
};

// Offsets of rectangles, in times of `slots`: lowest valley first.
std::vector<int64_t> fill_valleys(const std::vector<Rectangle>& rectangles, int slots, Filling filling);

// Offsets, per buffer of the problem, of the stack of the buffers in this order: each lands on the greatest
// height over its life. Buffers at fixed offsets go first, in any order. Makes no use of overlaps.
std::vector<int64_t> stack(const Problem& problem, const Timeline& timeline, int pool,
                           const std::vector<int>& order);

}  // namespace arenac
