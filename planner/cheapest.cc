#include "planner/cheapest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "planner/assignment_search.h"
#include "planner/bounds.h"
#include "planner/exact.h"
#include "planner/packing.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

constexpr double kRounds = 400;          // of prices, that seem worth it
constexpr double kRoundWork = 2e8;       // of those at most: loads and slots times pools
constexpr double kAssignmentWork = 3e8;  // of exact search
constexpr double kPackingEffort = 0.1;   // of one of several times that offsets are looked for
constexpr int kPackings = 6;             // for one assignment and those that follow from it
constexpr double kMostEffort = 1e6;      // of a round before the deadline

// The problem with these pools, one per buffer; all of its own where there are none.
Problem without_costs(const Problem& problem, const std::vector<int>& pools = {}) {
  Problem result = problem;
  for (size_t id = 0; id < problem.buffers.size(); ++id) {
    result.buffers[id].costs.clear();
    if (!pools.empty()) result.buffers[id].pools = {pools[id]};
  }
  return result;
}

std::vector<int> pools_of(const Plan& plan) {
  std::vector<int> pools;
  for (const Placement& place : plan.placements) pools.push_back(place.pool);
  return pools;
}

using Rooms = std::vector<std::vector<int64_t>>;  // per pool and slot, in bytes

// Applied to each two rooms of the same pool and slot.
Rooms combined(Rooms a, const Rooms& b, auto&& of) {
  for (size_t pool = 0; pool < a.size(); ++pool)
    std::ranges::transform(a[pool], b[pool], a[pool].begin(), of);
  return a;
}

Rooms less(const Rooms& a, const Rooms& b) { return combined(a, b, std::minus()); }
Rooms middle(const Rooms& a, const Rooms& b) {
  return combined(a, b, [](int64_t x, int64_t y) { return std::midpoint(x, y); });
}

class CheapestPlanning {
 public:
  CheapestPlanning(const Problem& problem, const Search& search)
      : problem_(problem),
        search_(search),
        cutoff_(search.cutoff()),
        free_(assignment_of(problem, make_timeline(problem, all_buffers(problem)))),
        assignment_(free_) {
    pin_fixed();
  }

  Plan run() {
    if (std::ranges::all_of(free_.items, [](const auto& item) { return item.choices.size() == 1; }))
      return proven(portfolio(without_costs(problem_), search_));
    const Effort effort{int64_t(kAssignmentWork * search_.effort), cutoff_};
    if (std::optional<Plan> plan = search_pools_exactly(problem_, effort)) return proven(std::move(*plan));
    Assigned assigned = start();
    if (!assigned.cost.is_possible()) return with_cost(portfolio(without_costs(problem_), search_));
    for (int round = 0; round == 0 || goes_on(); ++round) {
      effort_ = search_.effort * std::min(std::exp2(round), kMostEffort);
      assigned =
          improve(assignment_, assigned, double(bound_), {effort_, search_.seed + uint64_t(round)}, cutoff_);
      if (!best_ || assigned.cost.cost < double(best_->cost)) find_offsets(assigned);
    }
    if (!best_) offer(portfolio(without_costs(problem_), offset_search(search_.goal, search_.effort)));
    if (search_.goal == Goal::kSmallest && fits(*best_)) make_smaller();
    best_->cost_bound = bound_;
    return std::move(*best_);
  }

 private:
  // Buffers at fixed offsets lie in the first pools where these are free. Throws UserError if there is none.
  void pin_fixed() {
    std::vector<int> fixed = all_buffers(problem_);
    std::erase_if(fixed, [&](int id) { return !problem_.buffers[id].fixed_offset; });
    const std::vector<Placement> places = pack(problem_, fixed, Fit::kLowest);
    for (const int id : fixed)
      std::erase_if(assignment_.items[id].choices,
                    [&](const auto& choice) { return choice.pool != places[id].pool; });
  }

  bool goes_on() const {
    return search_.stop == Stop::kAtDeadline && cutoff_.has_time() && !cutoff_.has_passed() &&
           !(best_ && best_->cost == bound_);
  }

  // Also finds the bound.
  Assigned start() {
    const RoomPrices none(assignment_);
    Assigned best = assign(assignment_, none);
    if (!search_.warm_start.empty()) {
      std::vector<int> pools;
      for (const auto& place : search_.warm_start) pools.push_back(place ? place->pool : -1);
      Assigned before = fit(assignment_, pools);
      offer_kept(before, search_.warm_start);
      take_better(best, std::move(before));
    }
    if (!best.cost.is_possible()) {
      Plan plan = portfolio(without_costs(problem_), offset_search(Goal::kFits, search_.effort));
      if (!fits(plan)) return best;
      best = fit(assignment_, pools_of(plan));
      offer(std::move(plan));
    }
    double loads = assignment_.slots;
    for (const AssignmentItem& item : assignment_.items) loads += double(item.loads.size());
    const double rounds =
        std::min(kRounds, kRoundWork / (loads * double(problem_.pools.size()))) * search_.effort;
    const AssignmentBound bound =
        assignment_bound(free_, best.cost.cost, int(std::clamp(rounds, 1.0, kMostEffort)), cutoff_);
    bound_ = bound.cost;
    take_better(best, assign(assignment_, bound.prices));
    return best;
  }

  static void take_better(Assigned& best, Assigned other) {
    if (other.cost < best.cost) best = std::move(other);
  }

  // For this assignment or, where offsets do not keep to the capacities, one that is like it in smaller
  // rooms: how small is searched by bisection.
  void find_offsets(const Assigned& whole) {
    Assignment shrunk = assignment_;
    Rooms too_large, small_enough;
    Assigned assigned = whole;
    for (int packing = 0; packing < kPackings && assigned.cost.is_possible(); ++packing) {
      const std::optional<Rooms> above = try_offsets(assigned);
      if ((packing == 0 && !above) || cutoff_.has_passed()) return;
      (above ? too_large : small_enough) = shrunk.rooms;
      shrunk.rooms = small_enough.empty() ? less(too_large, *above) : middle(too_large, small_enough);
      Assigned next = fit(shrunk, assigned.states);
      take_better(next, fit(shrunk, whole.states));
      assigned = improve(shrunk, next, double(bound_), {effort_ / (1 + packing), search_.seed}, cutoff_);
    }
  }

  // Per pool and slot, by how much what ends above a capacity does while it lives; nothing if the offsets
  // keep to the capacities, or are not worth looking for.
  std::optional<Rooms> try_offsets(const Assigned& assigned) {
    if (best_ && double(best_->cost) <= assigned.cost.cost) return {};
    Plan plan = offsets_for(assigned.states, {});
    const std::vector<char> passes = passing(plan);
    if (std::ranges::count(passes, 1) == 0) {
      offer(std::move(plan));
      return {};
    }
    offer_spilled(plan, passes);
    return above_capacities(plan, passes);
  }

  // Each pool planned by itself.
  Plan offsets_for(const std::vector<int>& pools, const WarmStart& kept) const {
    Plan plan;
    for (const int pool : pools) plan.placements.push_back({pool, 0});
    const auto members = members_by_pool(problem_, plan.placements);
    for (int pool = 0; pool < int(members.size()); ++pool) {
      Search search = offset_search(Goal::kFits, kPackingEffort * effort_);
      for (const int id : kept.empty() ? std::vector<int>() : members[pool])
        search.warm_start.push_back(kept[id] ? std::optional(Placement{0, kept[id]->offset}) : std::nullopt);
      const Plan alone = portfolio(without_costs(pool_alone(problem_, pool, members[pool])), search);
      plan.pools.push_back(alone.pools[0]);
      for (size_t k = 0; k < members[pool].size(); ++k)
        plan.placements[members[pool][k]].offset = alone.placements[k].offset;
    }
    return plan;
  }

  Search offset_search(Goal goal, double effort) const {
    Search search = search_;
    search.goal = goal;
    search.stop = Stop::kHardlyWorth;
    search.effort = effort;
    search.seconds = std::max(0.0, cutoff_.seconds_left());
    search.warm_start = {};
    search.report = {};
    return search;
  }

  // Which buffers end above the capacity of their pool.
  std::vector<char> passing(const Plan& plan) const {
    std::vector<char> passes;
    for (size_t id = 0; id < plan.placements.size(); ++id) {
      const auto& [pool, offset] = plan.placements[id];
      const int64_t top = offset + problem_.buffers[id].size;
      passes.push_back(top > problem_.pools[pool].capacity.value_or(top));
    }
    return passes;
  }

  bool fits(const Plan& plan) const { return std::ranges::count(passing(plan), 1) == 0; }

  // Those go to other pools and the rest stays where it is, if that leads to a plan.
  void offer_spilled(const Plan& plan, const std::vector<char>& passes) {
    Assignment others = assignment_;
    std::vector<int> pools = pools_of(plan);
    WarmStart kept;
    for (size_t id = 0; id < pools.size(); ++id) {
      kept.push_back(passes[id] ? std::nullopt : std::optional(plan.placements[id]));
      if (!passes[id]) continue;
      std::erase_if(others.items[id].choices, [&](const auto& choice) { return choice.pool == pools[id]; });
      pools[id] = -1;
    }
    offer_kept(fit(others, pools), std::move(kept));
  }

  // With these offsets where the pools are the same, if the rest fits around them.
  void offer_kept(const Assigned& assigned, WarmStart kept) {
    if (!assigned.cost.is_possible() || (best_ && double(best_->cost) <= assigned.cost.cost)) return;
    for (size_t id = 0; id < kept.size(); ++id)
      if (kept[id] && assigned.states[id] != kept[id]->pool) kept[id].reset();
    Plan plan = offsets_for(assigned.states, kept);
    if (fits(plan)) offer(std::move(plan));
  }

  Rooms above_capacities(const Plan& plan, const std::vector<char>& passes) const {
    Rooms above;
    for (const std::vector<int64_t>& rooms : assignment_.rooms) above.emplace_back(rooms.size());
    for (size_t id = 0; id < passes.size(); ++id) {
      if (!passes[id]) continue;
      const auto& [pool, offset] = plan.placements[id];
      const int64_t excess = offset + problem_.buffers[id].size - *problem_.pools[pool].capacity;
      for (const SlotLoad& load : assignment_.items[id].loads)
        for (int slot = load.begin; slot < load.end; ++slot)
          above[pool][slot] = std::max(above[pool][slot], excess);
    }
    return above;
  }

  // The same choice of pools with all of the effort.
  void make_smaller() {
    Search search = offset_search(Goal::kSmallest, search_.effort);
    search.stop = search_.stop;
    search.warm_start = search_.warm_start;
    const std::vector<int> pools = pools_of(*best_);
    for (size_t id = 0; id < search.warm_start.size(); ++id)
      if (search.warm_start[id] && search.warm_start[id]->pool != pools[id]) search.warm_start[id].reset();
    Plan plan = portfolio(without_costs(problem_, pools), search);
    if (fits(plan)) offer(std::move(plan));
  }

  Plan with_cost(Plan plan) const {
    plan.cost = total_cost(problem_, plan.placements);
    plan.cost_bound = bound_;
    return plan;
  }

  // Of a plan that costs the least, if it keeps to the capacities.
  Plan proven(Plan plan) const {
    plan.cost = plan.cost_bound = total_cost(problem_, plan.placements);
    return plan;
  }

  // Keeps the plan if it is cheaper than the best so far, or as cheap and smaller.
  void offer(Plan plan) {
    plan = with_cost(std::move(plan));
    PlanProgress now{.stage = "costs"};
    for (const PoolUse& use : plan.pools) now.makespan += use.size, now.lower_bound += use.lower_bound;
    if (best_ && std::pair(best_->cost, size_) <= std::pair(plan.cost, now.makespan)) return;
    best_ = std::move(plan);
    size_ = now.makespan;
    if (search_.report) search_.report(now);
  }

  const Problem& problem_;
  const Search& search_;
  Cutoff cutoff_;
  Assignment free_, assignment_;    // what buffers may do, and what those at fixed offsets leave of it
  double effort_ = search_.effort;  // of this round
  int64_t bound_ = 0;               // of the cost
  std::optional<Plan> best_;
  int64_t size_ = 0;  // bytes of it in all pools
};

}  // namespace

Plan plan_cheapest(const Problem& problem, const Search& search) {
  return CheapestPlanning(problem, search).run();
}

}  // namespace arenac
