// Greedy by size for offset calculation: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference" (2020, arXiv 2001.03288). TensorFlow Lite's default.
#include <algorithm>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/rows.h"

namespace arenac {

Plan tflite_by_size(const Problem& problem, const Search&) {
  std::vector<int> order = all_buffers(problem);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return problem.buffers[a].size > problem.buffers[b].size; });
  return make_plan(problem, pack(problem, order, Fit::kTightest));
}

}  // namespace arenac
