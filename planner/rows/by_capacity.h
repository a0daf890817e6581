// Algorithms that ask for a capacity, made to find the smallest.
#pragma once

#include <functional>
#include <vector>

#include "planner/planners.h"
#include "planner/strip_search.h"

namespace arenac {

struct CapacityAttempt {
  std::vector<int64_t> offsets;  // per buffer; empty if none were found
  int64_t work = 0;              // steps spent
};
using TryCapacity = std::function<CapacityAttempt(const Problem&, int64_t capacity, const Effort&)>;

// Tries the lower bound, then halves the distance to the best plan, taking what is too hard for its share of
// the effort as impossible, unproven; with Goal::kFits the pool's capacity and no other. The first plan, and
// the only one of more than 3,000 buffers, is the first fit by area. Whole buffers in one pool, whatever gaps
// and overlaps would allow.
Plan by_capacity(const Problem& problem, const Search& search, const TryCapacity& attempt);

}  // namespace arenac
