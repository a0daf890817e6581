// What it costs to place an item at an offset, where costs change at a few offsets only: as the item begins
// or ceases to meet another one, which would have to give way.
//
//   cost     3 ______                          owners of weights 3 and 2; offsets 4 to 7 meet neither
//            2       |      _______________
//            0       |______|
//   offset   0       4      8              last
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "planner/packing.h"
#include "planner/random.h"

namespace arenac {

struct CostSteps {
  struct Change {
    int64_t at, by;
  };
  int64_t last = 0;  // offset
  int64_t at_zero = 0;
  std::vector<Change> changes = {};  // at offsets above 0

  void begin(int64_t last_offset) { last = last_offset, at_zero = 0, changes.clear(); }
  // At the offsets [begin, end) one has to give way whose weight that is.
  void meet(int64_t begin, int64_t end, int64_t weight) {
    if (begin >= end || end <= 0 || begin > last) return;
    if (begin <= 0)
      at_zero += weight;
    else
      changes.push_back({begin, weight});
    if (end <= last) changes.push_back({end, -weight});
  }
};

struct OffsetChoice {
  int64_t offset = 0;
  int64_t cost = std::numeric_limits<int64_t>::max();  // where there is no offset
};

// Among the multiples of `step` up to the last offset that are next to where the cost changes, one of the
// cheapest, each as likely; not the one to avoid. Sorts the changes.
inline OffsetChoice cheapest_offset(CostSteps& steps, int64_t step, int64_t avoided, Random& random) {
  std::vector<CostSteps::Change>& changes = steps.changes;
  std::ranges::sort(changes, {}, &CostSteps::Change::at);
  int64_t cost = steps.at_zero, from = 0;  // the cost from there on
  OffsetChoice best;
  uint64_t ties = 0;
  const auto consider = [&](int64_t offset) {
    if (offset == avoided || cost > best.cost) return;
    if (cost < best.cost) ties = 0;
    if (random.below(++ties) == 0) best = {offset, cost};
  };
  for (size_t k = 0; k <= changes.size();) {
    const int64_t to = k < changes.size() ? changes[k].at : steps.last + 1;
    const int64_t low = round_up(from, step), high = round_down(to - 1, step);
    if (low < to) consider(low);
    if (low < high) consider(high);
    if (k == changes.size()) break;
    for (; k < changes.size() && changes[k].at == to; ++k) cost += changes[k].by;
    from = to;
  }
  return best;
}

}  // namespace arenac
