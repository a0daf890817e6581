// The orders that every comparison of planners has and nobody signs: greatest area (bytes times life),
// longest life or greatest size first, with first or best fit.
#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

std::vector<int> by_area(const Problem& problem) {
  return sorted_by(problem, [&](int id) {
    const Buffer& b = problem.buffers[id];
    return -double(b.size) * double(duration(b));
  });
}

}  // namespace

Plan by_area_first_fit(const Problem& problem, const Search&) {
  return make_plan(problem, pack(problem, by_area(problem), Fit::kLowest));
}

Plan by_area_best_fit(const Problem& problem, const Search&) {
  return make_plan(problem, pack(problem, by_area(problem), Fit::kTightest));
}

Plan by_duration_first_fit(const Problem& problem, const Search&) {
  auto key = [&](int id) { return std::pair(~duration(problem.buffers[id]), -problem.buffers[id].size); };
  return make_plan(problem, pack(problem, sorted_by(problem, key), Fit::kLowest));
}

Plan by_size_first_fit(const Problem& problem, const Search&) {
  auto key = [&](int id) { return std::pair(-problem.buffers[id].size, ~duration(problem.buffers[id])); };
  return make_plan(problem, pack(problem, sorted_by(problem, key), Fit::kLowest));
}

}  // namespace arenac
