// TVM's Unified Static Memory Planner: greedy by size and greedy by conflicts. Each buffer goes on top of
// everything placed that it meets, never into a gap. Equal sizes are decided by conflicts and the other way
// round, then the last goes first, for TVM orders names downwards.
#include <tuple>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {

Plan tvm_by_size(const Problem& problem, const Search&) {
  return make_plan(problem, pack(problem, order_by_size_and_conflicts(problem), Fit::kOnTop));
}

Plan tvm_by_conflicts(const Problem& problem, const Search&) {
  const std::vector<int> met = conflicts(make_timeline(problem, all_buffers(problem)));
  auto key = [&](int id) { return std::tuple(-met[id], -problem.buffers[id].size, -id); };
  return make_plan(problem, pack(problem, sorted_by(problem, key), Fit::kOnTop));
}

}  // namespace arenac
