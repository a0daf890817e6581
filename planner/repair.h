// A few buffers too high: they and the short lives around them are planned anew, between all others.
//
//   goal ------- [x] ---------------          x is too high, for a and b leave a hole that nothing wants.
//   With
//        |  [a  ]    [  b  ]       |          x, a and b free, and what meets them fixed, exact search finds
//        |     [ c     ]           |          the plan with x beside c, if there is one.
//        | d d d d d d d d d d d d |
//   0 ------------------------------
//
// A large neighbourhood search (Shaw 1998) whose neighbourhood is a stretch of time.
#pragma once

#include <vector>

#include "planner/exact.h"
#include "planner/timeline.h"

namespace arenac {

struct Repaired {
  std::vector<int64_t> offsets;  // per buffer of the problem; empty: not found
  int64_t work = 0;              // steps spent, about a nanosecond each
};

// Offsets that let the pool end at `goal` bytes or below. Finds none if too many buffers are too high, or one
// of them is fixed. `members` are the buffers of the pool, whose plan the `offsets` are.
Repaired repair(const Problem& problem, const Timeline& timeline, int pool, const std::vector<int>& members,
                std::vector<int64_t> offsets, int64_t goal, const Effort& effort);

}  // namespace arenac
