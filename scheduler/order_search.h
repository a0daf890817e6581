// The parts of optimal_order() that tests and rows share.
#pragma once

#include "frontend/facts.h"
#include "scheduler/order.h"

namespace arenac {

// Operators of a segment; of a larger one the simple orders serve, and its bound is what passes it by.
inline constexpr int64_t kLargestSegment = 4'000;

// Runs of indices that no order mixes: the last operator of each is before or after every other operator of
// the problem, so that all orders pass the same state there.
std::vector<Interval> segments_of(const OrderProblem& problem);

// Per segment, the bound by ancestors and descendants.
std::vector<int64_t> lower_bounds(const OrderProblem& problem, const std::vector<Interval>& segments);

}  // namespace arenac
