// Prices of what is short, and the bound that they prove, by Lagrangian relaxation (Fisher 1981).
//
//   least cost  >=  sum over buffers of the cheapest (cost + prices of what it takes)
//                   - sum over constraints of price * what there is
//
// for any prices from 0: who keeps to the constraints pays no more than is taken off. Prices that make the
// bound great are found by subgradients, with Polyak's steps.
//
//   ascend({.kinds = 1, .slots = slots, .best_known = 700, .rounds = 400}, cutoff, [&](const
//   std::vector<double>& prices) {
//     return Relaxed{...};
//   }).bound
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/cutoff.h"

namespace arenac {

// What some prices come to.
struct Relaxed {
  double bound = 0;
  double terms = 0;            // the sum of what was added and subtracted, for rounding
  std::vector<double> excess;  // per constraint, how much more than there is would be taken
};

struct Ascending {
  size_t kinds = 0, slots = 0;  // of constraints: each kind has one per slot, and that a price
  double best_known = 0;        // the cost of a solution
  int rounds = 0;               // of new prices at most, from each of two starts
  int64_t unit = 1;             // costs are multiples of it; 0: all are 0
};

struct PricedBound {
  int64_t bound = 0;           // no solution costs less
  std::vector<double> prices;  // at which that is so, but for rounding
};

// Costs are not negative. A round takes O(prices) and one relax(prices).
PricedBound ascend(const Ascending& ascending, const Cutoff& cutoff,
                   const std::function<Relaxed(const std::vector<double>&)>& relax);

// What buffers take at the slots [begin, end).
struct SlotLoad {
  int begin = 0, end = 0;
  int64_t size = 0;
};

// Per slot, how much of the capacity these can fill: the greatest sum of sizes of some that live then which
// is no more (subset sums by dynamic programming, in units of what divides all sizes; 0: all are 0). All of
// the capacity where that would be much work.
std::vector<int64_t> fillable(const std::vector<SlotLoad>& loads, int slots, int64_t capacity, int64_t unit);

}  // namespace arenac
