#include "planner/rows/by_capacity.h"

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"

namespace arenac {
namespace {

constexpr double kWorkOfAll = 4e9;    // steps in all, about a nanosecond each
constexpr int kShares = 2;            // capacities that may use up their share
constexpr size_t kMostItems = 3'000;  // each step down the trees keeps a list of the remaining ones

Problem without_permissions(Problem problem) {
  problem.overlaps.clear();
  for (Buffer& b : problem.buffers) b.gaps.clear();
  return problem;
}

}  // namespace

Plan by_capacity(const Problem& original, const Search& search, const TryCapacity& attempt) {
  const Problem problem = without_permissions(original);
  const std::vector<int> ids = all_buffers(problem);
  const std::vector<int> by_area = sorted_by(problem, [&](int id) {
    return -double(problem.buffers[id].size) * double(duration(problem.buffers[id]));
  });
  std::vector<Placement> best = pack(problem, by_area, Fit::kLowest);
  auto size_of = [&] { return make_plan(problem, best).pools[0].size; };
  int64_t low = lower_bound(problem, 0, ids), high = size_of();
  const bool only_fits = search.goal == Goal::kFits && problem.pools[0].capacity;
  if (only_fits) low = std::max(low, *problem.pools[0].capacity);

  const auto work = int64_t(kWorkOfAll * search.effort);
  int64_t left = ids.size() > kMostItems ? 0 : work;
  Effort effort{.cutoff = search.cutoff()};
  for (int64_t capacity = low; low < high && left > 0; capacity = low + (high - low) / 2) {
    effort.work = std::min(left, only_fits ? work : work / kShares);
    const CapacityAttempt result = attempt(problem, capacity, effort);
    left -= result.work + 1;
    for (size_t id = 0; id < result.offsets.size(); ++id) best[id].offset = result.offsets[id];
    if (result.offsets.empty())
      low = capacity + 1;
    else
      high = size_of();
    if (only_fits) break;
  }
  return make_plan(original, best);
}

}  // namespace arenac
