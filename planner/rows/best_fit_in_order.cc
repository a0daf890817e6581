// Buffers in the order in which their lives begin, each into the tightest gap, as a best-fit allocator at run
// time would do it. What it loses against the others is what planning ahead is worth.
#include <algorithm>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/rows.h"

namespace arenac {

Plan best_fit_in_order(const Problem& problem, const Search&) {
  std::vector<int> order = all_buffers(problem);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return problem.buffers[a].begin < problem.buffers[b].begin; });
  return make_plan(problem, pack(problem, order, Fit::kTightest));
}

}  // namespace arenac
