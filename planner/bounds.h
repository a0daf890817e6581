// What no plan can beat.
//
//   load         the greatest sum of the sizes of buffers that live at one time
//   lower_bound  the load, raised by what alignment wastes for certain, lowered by what overlaps may save,
//   and at least
//                the top of every buffer at a fixed offset
#pragma once

#include <vector>

#include "planner/problem.h"

namespace arenac {

// The load, and the first times [begin, end) at which so much lives; empty if nothing ever does.
struct PeakLoad {
  int64_t bytes = 0;
  int64_t begin = 0, end = 0;
};

// Bytes. `members` are ids of the buffers that count. All take a checked problem, O(n log n) plus, at each
// time, the overlaps whose two buffers both live.
PeakLoad peak_load(const Problem& problem, const std::vector<int>& members);
int64_t load(const Problem& problem, const std::vector<int>& members);
int64_t lower_bound(const Problem& problem, int pool, const std::vector<int>& members);

// The plan that puts the buffers at these places, with each pool's size and lower bound.
Plan make_plan(const Problem& problem, const std::vector<Placement>& placements);

// A pool with these members as a problem of its own; all members of a same-offset group or none.
Problem pool_alone(const Problem& whole, int pool, const std::vector<int>& members);

// Ids of the buffers per pool.
std::vector<std::vector<int>> members_by_pool(const Problem& problem,
                                              const std::vector<Placement>& placements);

}  // namespace arenac
