// The default: the greedy rows, a few more orders, then local search on the best of them, until one is proven
// optimal.
#include <algorithm>
#include <tuple>

#include "planner/bounds.h"
#include "planner/exact.h"
#include "planner/local_search.h"
#include "planner/packing.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

// The best starts, for they end in different places, and the work spent on each: about 10 ms, less for few
// buffers.
constexpr int kClimbs = 3;
constexpr int64_t kClimbWork = 10'000'000, kClimbWorkPerBuffer = 50'000;

// Steps of exact search in each pool, about a nanosecond each.
constexpr double kExactWork = 3e8;

// With so many buffers each start takes a tenth of a second and gains little: the first kClimbs will do.
constexpr size_t kManyBuffers = 5'000;

// Greatest key first, each buffer at its lowest free offset.
template <class Key>
Plan pack_by(const Problem& problem, Key key) {
  std::vector<int> order = all_buffers(problem);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) > key(b); });
  return make_plan(problem, pack(problem, order, Fit::kLowest));
}

Plan by_size_then_life(const Problem& problem, const Search&) {
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  return pack_by(problem, [&](int id) {
    return std::pair(problem.buffers[id].size, timeline.spans[id].end - timeline.spans[id].begin);
  });
}

Plan by_life(const Problem& problem, const Search&) {
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  return pack_by(problem, [&](int id) {
    return std::pair(timeline.spans[id].end - timeline.spans[id].begin, problem.buffers[id].size);
  });
}

Plan by_area(const Problem& problem, const Search&) {
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  return pack_by(problem, [&](int id) {
    return double(problem.buffers[id].size) * (timeline.spans[id].end - timeline.spans[id].begin);
  });
}

// By the number of buffers each one meets.
Plan by_conflicts(const Problem& problem, const Search&) {
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  std::vector<int> begun(timeline.slots + 1, 0), ended(timeline.slots + 1, 0);  // before or at the slot
  for (const Span& span : timeline.spans) {
    ++begun[span.begin];
    ++ended[span.end];
  }
  for (int slot = 1; slot <= timeline.slots; ++slot) {
    begun[slot] += begun[slot - 1];
    ended[slot] += ended[slot - 1];
  }
  return pack_by(problem, [&](int id) {
    const Span& span = timeline.spans[id];
    return std::pair(begun[std::max(span.end, 1) - 1] - ended[span.begin], problem.buffers[id].size);
  });
}

constexpr Plan (*kStarts[])(const Problem&, const Search&) = {
    tflite_by_size, sekiyama, tflite_by_breadth, iree, by_size_then_life, by_area, by_conflicts, by_life,
};

// What is wrong with a plan, the worst first: bytes above a capacity, bytes in pools of second choice, bytes
// of all pools.
std::tuple<int64_t, int64_t, int64_t> cost(const Problem& problem, const Plan& plan) {
  int64_t above = 0, strayed = 0, total = 0;
  for (size_t i = 0; i < plan.pools.size(); ++i) {
    int64_t size = plan.pools[i].size;
    above += std::max<int64_t>(0, size - problem.pools[i].capacity.value_or(size));
    total += size;
  }
  for (size_t i = 0; i < plan.placements.size(); ++i)
    if (plan.placements[i].pool != problem.buffers[i].pools.front()) strayed += problem.buffers[i].size;
  return {above, strayed, total};
}

// Nothing is left to gain.
bool is_proven(const Problem& problem, const Plan& plan) {
  auto [above, strayed, total] = cost(problem, plan);
  return above == 0 && strayed == 0 &&
         std::all_of(plan.pools.begin(), plan.pools.end(),
                     [](const PoolUse& use) { return use.proof() == Proof::kOptimal; });
}

// Exact search in each pool that is not proven yet.
Plan proven(const Problem& problem, Plan plan, const Search& search) {
  auto members = members_by_pool(problem, plan.placements);
  Effort effort{int64_t(kExactWork * search.effort)};
  for (size_t pool = 0; pool < plan.pools.size(); ++pool) {
    PoolUse& use = plan.pools[pool];
    if (use.proof() == Proof::kOptimal) continue;
    Exact exact = search_exactly(problem, int(pool), members[pool], use.size, use.lower_bound, effort);
    use = {exact.size, exact.lower_bound};
    for (size_t i = 0; i < exact.offsets.size(); ++i)
      plan.placements[members[pool][i]].offset = exact.offsets[i];
  }
  return plan;
}

}  // namespace

Plan portfolio(const Problem& problem, const Search& search) {
  std::vector<Plan> plans;
  auto cheaper = [&](const Plan& a, const Plan& b) { return cost(problem, a) < cost(problem, b); };
  for (auto start : kStarts) {
    plans.push_back(start(problem, search));
    if (is_proven(problem, plans.back())) return plans.back();
    if (problem.buffers.size() > kManyBuffers && plans.size() == kClimbs) break;
  }
  std::stable_sort(plans.begin(), plans.end(), cheaper);
  plans.resize(kClimbs);
  int64_t work = std::min(kClimbWork, kClimbWorkPerBuffer * int64_t(problem.buffers.size()));
  for (Plan& plan : plans) {
    plan = make_plan(problem, climb(problem, plan, work));
    if (is_proven(problem, plan)) return plan;
  }
  Plan best = *std::min_element(plans.begin(), plans.end(), cheaper);
  return proven(problem, std::move(best), search);
}

}  // namespace arenac
