// Where a group of steps is two groups by itself: all that the second part takes from the first must be there
// before it has got anywhere, and stays.
//
//   x ─▶ greatest of x ─▶ scale       every row of `codes` waits for the last one of x, all of which is kept:
//   x ──────────────────▶ codes       [x greatest] and [scale codes ...] take hardly more bytes than both as
//   one
//
// A search that looks at [x greatest] and [scale codes ...] has nothing to gain from both as one.
#pragma once

#include <vector>

#include "scheduler/step_facts.h"

namespace arenac {

class Barriers {
 public:
  Barriers(const Schedule& whole, const StepFacts& facts);

  // Whether there is one among the steps [begin, end), at most kLongestGroup of them, which can all be in a
  // group.
  bool within(int begin, int end) const;

 private:
  // Of a step to one before it that it pulls.
  struct Link {
    int producer;
    bool runs_all;     // by the first slab
    bool ends_all;     // by the last one
    bool runs_one;     // by the first slab at most the first of the producer
    bool keeps_all;    // from the first slab on all rows of the storage are read
    bool keeps_later;  // the same from the second slab on, but for those of the first
  };

  std::vector<std::vector<Link>> links_;  // per step
};

}  // namespace arenac
