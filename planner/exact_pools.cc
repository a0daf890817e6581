// The choice of pools, exactly: a tree over the buffers, each in turn put into one of its pools, cut where
// even the bounds of what is already there, and the least that the rest costs, are no better than the best
// plan.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "planner/bounds.h"
#include "planner/exact.h"

namespace arenac {
namespace {

constexpr size_t kMostBuffers = 16;

// Bytes above capacities, what pools cost, bytes strayed, bytes in total.
using Cost = std::tuple<int64_t, int64_t, int64_t, int64_t>;

// What a choice of pools costs by itself.
struct Chosen {
  int64_t cost = 0, strayed = 0;
};

// Per buffer, what it and those after it cost at least.
std::vector<int64_t> least_costs(const Problem& problem) {
  std::vector<int64_t> least(problem.buffers.size() + 1);
  for (size_t id = problem.buffers.size(); id-- > 0;) {
    const std::vector<int64_t>& costs = problem.buffers[id].costs;
    least[id] = least[id + 1] + (costs.empty() ? 0 : std::ranges::min(costs));
  }
  return least;
}

class PoolSearch {
 public:
  PoolSearch(const Problem& problem, const Effort& effort)
      : problem_(problem),
        effort_(effort),
        least_costs_(least_costs(problem)),
        members_(problem.pools.size()) {}

  std::optional<Plan> run() {
    assign(0, {});
    if (is_spent_ || best_members_.empty()) return {};
    Plan plan{std::vector<Placement>(problem_.buffers.size()), {}};
    for (int pool = 0; pool < int(problem_.pools.size()); ++pool) {
      const std::vector<int>& members = best_members_[pool];
      const Exact& exact = solved_.at({pool, members});
      plan.pools.push_back({exact.size, exact.lower_bound});
      for (size_t i = 0; i < members.size(); ++i) plan.placements[members[i]] = {pool, exact.offsets[i]};
    }
    return plan;
  }

 private:
  Cost cost(const std::vector<int64_t>& sizes, const Chosen& chosen) const {
    int64_t above = 0, total = 0;
    for (size_t pool = 0; pool < sizes.size(); ++pool) {
      above += std::max<int64_t>(0, sizes[pool] - problem_.pools[pool].capacity.value_or(sizes[pool]));
      total += sizes[pool];
    }
    return {above, chosen.cost, chosen.strayed, total};
  }

  // The smallest size of this pool, kept for all choices that put the same buffers there; nothing if they
  // cannot lie in it, or the effort is spent.
  std::optional<int64_t> solve(int pool) {
    auto [entry, is_new] = solved_.try_emplace({pool, members_[pool]});
    Exact& exact = entry->second;
    if (is_new && !members_[pool].empty()) {
      const int64_t bound = lower_bound(problem_, pool, members_[pool]);
      int64_t above = 1;  // above the size of some plan, if there is one
      for (int id : members_[pool]) {
        const Buffer& b = problem_.buffers[id];
        const int64_t step = std::max<int64_t>(problem_.pools[pool].align, 1) * b.align;
        above += b.size + step + b.fixed_offset.value_or(0);
      }
      for (const Overlap& o : problem_.overlaps) above += std::abs(o.distance);
      Effort left = effort_;
      left.work -= work_;
      exact = search_exactly(problem_, pool, members_[pool], above, bound, left);
      work_ += exact.work + 100;
      is_spent_ = is_spent_ || exact.size > exact.lower_bound;
    }
    if (exact.offsets.empty() && !members_[pool].empty()) return {};
    return exact.size;
  }

  void assign(int id, const Chosen& chosen) {
    if (is_spent_) return;
    std::vector<int64_t> sizes;
    const bool is_complete = id == int(problem_.buffers.size());
    for (int pool = 0; pool < int(problem_.pools.size()); ++pool) {
      if (!is_complete) {
        sizes.push_back(lower_bound(problem_, pool, members_[pool]));
        continue;
      }
      std::optional<int64_t> size = solve(pool);
      if (!size || is_spent_) return;
      sizes.push_back(*size);
    }
    const Cost now = cost(sizes, {chosen.cost + least_costs_[id], chosen.strayed});
    if (!best_members_.empty() && now >= best_) return;
    if (is_complete) {
      best_ = now;
      best_members_ = members_;
      return;
    }
    const Buffer& b = problem_.buffers[id];
    for (int pool : b.pools) {
      members_[pool].push_back(id);
      const int64_t strayed = pool == b.pools.front() ? 0 : std::max<int64_t>(1, b.size);
      assign(id + 1, {chosen.cost + cost_in(b, pool), chosen.strayed + strayed});
      members_[pool].pop_back();
    }
  }

  const Problem& problem_;
  Effort effort_;
  std::vector<int64_t> least_costs_;
  int64_t work_ = 0;
  bool is_spent_ = false;
  std::vector<std::vector<int>> members_, best_members_;  // per pool
  Cost best_;
  std::map<std::pair<int, std::vector<int>>, Exact> solved_;
};

}  // namespace

std::optional<Plan> search_pools_exactly(const Problem& problem, const Effort& effort) {
  if (problem.buffers.size() > kMostBuffers) return {};
  return PoolSearch(problem, effort).run();
}

}  // namespace arenac
