// What a capacity leaves at each slot above the load, and what of it is already lost.
//
//   capacity ---------------      Slack slack(rectangles, 5, capacity);
//      | 2 | 0 | 1 | 3 | 3 |      slack.of({2, 5}) == 1
//      +   +###+   +   +   +      slack.lose({3, 5}, 2);
//      +###+###+###+   +   +      slack.of({3, 5}) == 1
//      +###+###+###+###+###+
#pragma once

#include <cstdint>
#include <vector>

#include "planner/blocks.h"
#include "planner/range_maximum.h"

namespace arenac {

class Slack {
 public:
  Slack(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity)
      : used_(loads(rectangles, slots)), capacity_(capacity) {}

  int64_t of(Span span) const { return capacity_ - used_.greatest(span); }  // the least in the span, in bytes
  void lose(Span span, int64_t bytes) { used_.add(span, bytes); }

 private:
  RangeMaximum used_;
  int64_t capacity_;
};

}  // namespace arenac
