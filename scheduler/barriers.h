// Where a group of steps is two groups by itself: all that the second part takes from the first must be there
// before it has got anywhere, and stays.
//
//   x ─▶ greatest ─▶ scale       a row of `codes` waits for the last row of x, all of which is kept for it:
//   x ─────────────▶ codes       both as one take hardly less, as a rule nothing, than the two one by one
//
// A search that looks at [x greatest] and at [scale codes ...] has nothing to gain from longer groups.
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
    bool runs_all;             // by the first slab
    bool ends_all;             // by the last one
    bool runs_one;             // by the first slab at most the first of the producer
    bool keeps_all = false;    // from the first slab on all rows of the storage are read
    bool keeps_later = false;  // the same from the second slab on, but for those of the first
  };

  std::vector<std::vector<Link>> links_;  // per step
};

}  // namespace arenac
