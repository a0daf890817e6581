// Orders of placing, the whole of most published heuristics:
//
//   pack(problem, sorted_by(problem, [&](int id) { return -problem.buffers[id].size; }), Fit::kLowest)
//
// places the largest buffer first.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "planner/problem.h"
#include "planner/timeline.h"

namespace arenac {

// The ids of all buffers, that of the least key(id) first, then by id.
template <class Key>
std::vector<int> sorted_by(const Problem& problem, Key key) {
  std::vector<int> ids = all_buffers(problem);
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return key(a) < key(b); });
  return ids;
}

// Length of the life. ~duration(b) is a key that puts the longest life first.
uint64_t duration(const Buffer& buffer);

// Per buffer: how many others have bytes and live when it does, gaps not counted as life.
std::vector<int> conflicts(const Timeline& timeline);

// Largest first, of equals that with most conflicts, then the last: TVM's order.
std::vector<int> order_by_size_and_conflicts(const Problem& problem);

// The one whose pools are smaller in all, the first if equal.
Plan smaller(Plan a, Plan b);

// Bytes that every offset may be a multiple of, for planners that move buffers after placing them; of one
// pool. Throws UserError if they are more than a MiB.
int64_t common_alignment(const Problem& problem);

// The problem in which every buffer keeps all its bytes through its whole life, to itself. Its plans are
// plans of the original, whose gaps and overlaps are permissions that not every planner uses.
Problem without_sharing(const Problem& problem);

}  // namespace arenac
