#include "planner/free_rectangles.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/stack.h"

namespace arenac {

FreeRectangles::FreeRectangles(const Problem& problem, const Timeline& timeline)
    : problem_(problem), timeline_(timeline) {
  const std::vector<int> all = all_buffers(problem);
  for (int id : all) {
    const Buffer& b = problem.buffers[id];
    if (b.fixed_offset) {
      fixed_.push_back(id);
    } else if (timeline.pieces(id).empty()) {
      without_bytes_.push_back(id);
    } else {
      ids_.push_back(id);
      rectangles_.push_back({timeline.spans[id], b.size});
    }
  }
  if (!fixed_.empty()) pack(problem, fixed_, Fit::kLowest);
  bound_ = lower_bound(problem, 0, all);
}

double FreeRectangles::fullness() const {
  const double used = std::accumulate(
      rectangles_.begin(), rectangles_.end(), 0.0,
      [](double sum, const Rectangle& r) { return sum + double(r.size) * (r.span.end - r.span.begin); });
  return rectangles_.empty() ? 0 : used / (double(bound_) * timeline_.slots);
}

Plan FreeRectangles::stacked(const std::vector<int64_t>& offsets) const {
  std::vector<std::pair<int64_t, int>> by_offset;
  for (size_t k = 0; k < ids_.size(); ++k) by_offset.push_back({offsets[k], ids_[k]});
  std::ranges::sort(by_offset);
  std::vector<int> order = fixed_;
  order.insert(order.end(), without_bytes_.begin(), without_bytes_.end());
  for (const auto& [offset, id] : by_offset) order.push_back(id);
  Plan plan;
  plan.pools = {{0, bound_}};
  const std::vector<int64_t> stacked = stack(problem_, timeline_, 0, order);
  for (size_t id = 0; id < stacked.size(); ++id) {
    plan.placements.push_back({0, stacked[id]});
    plan.pools[0].size = std::max(plan.pools[0].size, stacked[id] + problem_.buffers[id].size);
  }
  return plan;
}

}  // namespace arenac
