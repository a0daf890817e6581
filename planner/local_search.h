// Local search that makes room.
//
//   capacity ----------------------------      x waits: no free place below the capacity is large enough.
//        | a a a |     | c c c c |             It takes the place whose owners are the cheapest to
//        | a a a | b b | c c c c |             disturb, here b's, and b waits instead. Whoever waits gets
//        | d d d d d d d d d |     <- x        dearer every time, so that the same buffers do not throw
//   0 ------------------------------------     each other out for ever.
//
// After Nagata and Braysy, "A powerful route minimization heuristic for the vehicle routing problem with time
// windows" (2009): ejection with penalty counters, here for offsets instead of routes.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/cutoff.h"
#include "planner/problem.h"

namespace arenac {

struct LocalSearch {
  int64_t lower_bound = 0;  // bytes: with these it ends
  int64_t work = 0;         // steps, about a nanosecond each
  uint64_t seed = 1;
  Cutoff cutoff = {};
};

// Offsets, per buffer of the problem, that let the pool end at `size` or below: the smallest size found
// between the lower bound and the size that the given offsets come to. `members` are the buffers of the pool.
// Where too many of them meet for one search, it looks at a stretch of time around each buffer that is too
// high. Memory is linear in the buffers.
struct Improved {
  std::vector<int64_t> offsets;
  int64_t size = 0;  // bytes
};
Improved make_room(const Problem& problem, int pool, const std::vector<int>& members,
                   std::vector<int64_t> offsets, const LocalSearch& search);

}  // namespace arenac
