// Blocks with waste: what was a perfect packing before its sizes changed a little, or some of it went, is
// still told by the times.
//
//   +-----+----+    +---------+    +----+-----+
//   |     |####|    |  b  |###|    |  d |  c  |     Lives that meet end to begin lie side by side although
//   |  a  +----+    +-----+---+    |    +--+##|     their sizes differ; lives that begin or end together are
//   |     |  b |    |    a    |    +----+ e|b |     stacked although their lengths do; pinwheels close as far
//   +-----+----+    +---------+    |   a   |  |     as they can. # is lost.
//                                  +-------+--+
//
// No slot loses more than the capacity leaves it above its load. Whatever loses least goes first, where what
// a join loses counts for the more, the more others could take part in it: a begin and an end that nobody
// else shares are hardly a coincidence.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/blocks.h"

namespace arenac {

struct Looseness {
  int64_t capacity = 0;  // bytes, at least the load
  double most = 1;       // of what a part takes: what its join may lose, times the number of choices
  double doubt = 0;      // of what a part takes: added to what is lost, so that choices count where none is
};

// Takes rectangles of at least one byte in times of `slots`. O(n log n): at each slot only a few are tried.
Blocks make_loose_blocks(const std::vector<Rectangle>& rectangles, int slots, const Looseness& by);

}  // namespace arenac
