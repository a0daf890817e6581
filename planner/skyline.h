// Plans in O(n log n): lowest valley first.
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
#include "planner/timeline.h"

namespace arenac {

// Offsets of rectangles, in times of `slots`: lowest valley first, each filled by one whose top is level with
// the wall beside it, else by the longest life.
std::vector<int64_t> fill_valleys(const std::vector<Rectangle>& rectangles, int slots);

// The same by what is needed where. A valley that is lifted loses bytes, which does no harm where the load is
// low. What a slot needs is its load and what it has lost; the tightest slot of a valley, the one that needs
// most, is filled first, by the longest life.
//
//   load ^          _               t is the tightest slot of this valley: a is taken although b is longer,
//        |   ____.-' '-.___         since what is left of the valley right of a can be lifted
//        |       [  a  ]  [    b     ]
//        +----------t----------------> time
//
struct ByNeed {
  int looks = 32;                  // slots of a valley at which candidates begin, from its first on
  bool looks_ahead = false;        // takes what leaves the least need beside it, not the longest
  std::vector<int64_t> bias = {};  // bytes per slot, added to the load; or empty
};
struct Filled {
  std::vector<int64_t> offsets;  // per rectangle
  int64_t work = 0;              // steps, about a nanosecond each
};
Filled fill_valleys(const std::vector<Rectangle>& rectangles, int slots, const ByNeed& by);

}  // namespace arenac
