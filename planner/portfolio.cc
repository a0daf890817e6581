// The default: quick starts, each kept if it is the best so far; those that are only a little too high are
// repaired; then, while the gap is worth it, local search and exact search, until the plan is proven optimal.
// After a warm start all of that is done with less work, and from nothing if the plan has become clearly
// worse.
#include "planner/portfolio.h"

#include <algorithm>
#include <utility>

#include "planner/bounds.h"
#include "planner/cheapest.h"
#include "planner/order_search.h"
#include "planner/repair.h"
#include "planner/rows/orders.h"

namespace arenac {
namespace {

// Steps of about a nanosecond, at effort 1.
constexpr double kRegroupedShare = 0.25;               // of local search, after that; at most once
constexpr int kLaterDraws = 500;                       // of plans by need
constexpr double kValleyWork = 5e9;                    // of those
constexpr double kWorthAllDraws = 0.01;                // of the bound
constexpr double kRepairWork = 6e8, kOneRepair = 2e8;  // of exact search around the few that are too high
constexpr double kRepairable = 0.002;                  // of the bound: what that is tried for
constexpr double kSearchWork = 1e9;  // of local search, for a thousand buffers and a gap of kWorthAll or more
constexpr double kOrderWork = 6e9;   // of local search over orders, the same for so many buffers or more
constexpr double kAllOrderWork = 200;
constexpr double kOrderGap = 0.01;        // of the bound: what it is not for
constexpr double kOrderEffort = 0.2;      // with less, as for one of many trials, none of that
constexpr double kExactWork = 1e9;        // of exact search
constexpr size_t kExactBuffers = 20'000;  // more are not worth it
constexpr double kFirstLook = 0.1;        // of that work, before local search
constexpr double kSecondLook = 0.3;       // of that work at least, after local search
constexpr double kFarOff = 0.4;           // worth local search again if exact search found nothing
constexpr double kSecondTry = 8;          // times the work
constexpr double kLeastWorth = 0.05;      // part of the work for the smallest gap
constexpr double kWarmEffort = 0.1;       // of all work, after a warm start
constexpr double kHardlyWorse = 0.002;    // of the bound: what a warm start may lose by what has changed

// What is wrong with a plan, the worst first: bytes above a capacity, bytes in pools of second choice (at
// least one for each buffer there), bytes of all pools.
std::tuple<int64_t, int64_t, int64_t> cost(const Problem& problem, const Plan& plan) {
  int64_t above = 0, strayed = 0, total = 0;
  for (size_t i = 0; i < plan.pools.size(); ++i) {
    int64_t size = plan.pools[i].size;
    above += std::max<int64_t>(0, size - problem.pools[i].capacity.value_or(size));
    total += size;
  }
  for (size_t i = 0; i < plan.placements.size(); ++i)
    if (plan.placements[i].pool != problem.buffers[i].pools.front())
      strayed += std::max<int64_t>(1, problem.buffers[i].size);
  return {above, strayed, total};
}

// Nothing is left to gain.
bool is_proven(const Problem& problem, const Plan& plan) {
  auto [above, strayed, total] = cost(problem, plan);
  return above == 0 && strayed == 0 &&
         std::all_of(plan.pools.begin(), plan.pools.end(),
                     [](const PoolUse& use) { return use.proof() == Proof::kOptimal; });
}

}  // namespace

Portfolio::Portfolio(const Problem& problem, const Search& search)
    : problem_(problem),
      search_(search),
      effort_(search.effort * (search.warm_start.empty() ? 1 : kWarmEffort)),
      cutoff_(search.cutoff()),
      timeline_(make_timeline(problem, all_buffers(problem))),
      repair_work_(int64_t(kRepairWork * effort_)) {}

Plan Portfolio::run() {
  if (is_warm()) start_warm();
  if (!done()) start_cold();
  if (!done()) repair_starts();
  if (is_warm() && will_do()) return std::move(*best_);
  if (problem_.pools.size() > 1 && !done()) {
    const Effort effort{int64_t(kExactWork * effort_), cutoff_};
    if (std::optional<Plan> plan = search_pools_exactly(problem_, effort)) return std::move(*plan);
  }
  search_pools();
  if (!is_warm() && !done() && try_every_row()) search_pools();
  if (is_warm() && !done() && is_worse_than_before()) {
    offer(from_nothing(), "cold start");
    return std::move(*best_);
  }
  while (search_.stop == Stop::kAtDeadline && cutoff_.has_time() && !done()) {
    ++round_;
    search_pools();
  }
  return std::move(*best_);
}

void Portfolio::offer(Plan plan, std::string_view stage) {
  const auto cost_of_plan = cost(problem_, plan);
  if (best_ && cost_ <= cost_of_plan) return;
  best_ = std::move(plan);
  cost_ = cost_of_plan;
  if (!search_.report) return;
  PlanProgress progress{.stage = stage};
  for (const PoolUse& use : best_->pools) {
    progress.makespan += use.size;
    progress.lower_bound += use.lower_bound;
  }
  search_.report(progress);
}

bool Portfolio::done() const {
  if (!best_) return false;
  return is_proven(problem_, *best_) || (search_.goal == Goal::kFits && std::get<0>(cost_) == 0) ||
         cutoff_.has_passed();
}

void Portfolio::start_warm() {
  const WarmStart& before = search_.warm_start;
  const auto largest = sorted_by(problem_, [&](int id) { return -problem_.buffers[id].size; });
  const std::optional<Plan> kept = packed(largest, kNoLimit, before);
  const auto by_offset =
      sorted_by(problem_, [&](int id) { return before[id] ? before[id]->offset : INT64_MAX; });
  const auto upwards = sorted_by(problem_, [&](int id) { return kept->placements[id].offset; });
  offer_start(*kept, "warm start");
  for (const auto* order : {&upwards, &by_offset}) {
    if (done()) return;
    if (auto plan = packed(*order, int64_t(kPackWork * effort_))) offer_start(std::move(*plan), "warm start");
  }
}

bool Portfolio::will_do() const {
  double furthest = 0;
  for (int pool = 0; pool < int(problem_.pools.size()); ++pool) furthest = std::max(furthest, gap(pool));
  return done() || (!cutoff_.has_time() && furthest <= kHardlyWorse && !is_worse_than_before());
}

bool Portfolio::is_worse_than_before() const {
  const WarmStart& before = search_.warm_start;
  std::vector<std::vector<int>> members(problem_.pools.size());
  Plan was{.placements = {}, .pools = std::vector<PoolUse>(members.size())};
  for (int id = 0; id < int(before.size()); ++id) {
    const Buffer& b = problem_.buffers[id];
    const auto& [pool, offset] =
        was.placements.emplace_back(before[id].value_or(Placement{b.pools.front(), 0}));
    if (!before[id]) continue;
    members[pool].push_back(id);
    was.pools[pool].size = std::max(was.pools[pool].size, offset + b.size);
  }
  int64_t excess = 0, allowed = 0;  // above the bounds, in bytes
  for (int pool = 0; pool < int(members.size()); ++pool) {
    was.pools[pool].lower_bound = lower_bound(problem_, pool, members[pool]);
    allowed += was.pools[pool].size - was.pools[pool].lower_bound;
    allowed += int64_t(kHardlyWorse * double(best_->pools[pool].lower_bound));
    excess += best_->pools[pool].size - best_->pools[pool].lower_bound;
  }
  const auto strayed = std::get<1>(cost(problem_, was));
  return std::get<0>(cost_) > 0 || std::get<1>(cost_) > strayed || excess > allowed;
}

Plan Portfolio::from_nothing() const {
  Search cold = search_;
  cold.warm_start = {};
  cold.seconds = cutoff_.seconds_left();
  cold.report = [&](const PlanProgress& progress) {
    if (search_.report && progress.makespan < std::get<2>(cost_)) search_.report(progress);
  };
  return Portfolio(problem_, cold).run();
}

int64_t Portfolio::goal_of(int pool, int64_t bound) const {
  if (search_.goal != Goal::kFits) return bound;
  return std::max(bound, problem_.pools[pool].capacity.value_or(bound));
}

void Portfolio::repair_starts() {
  std::vector<Plan> starts = std::exchange(starts_, {});
  std::ranges::stable_sort(
      starts, [&](const Plan& a, const Plan& b) { return cost(problem_, a) < cost(problem_, b); });
  for (Plan& plan : starts) {
    if (done() || repair_work_ <= 0) return;
    repair_pools(plan);
    offer(std::move(plan), "repair");
  }
}

void Portfolio::repair_pools(Plan& plan) {
  const auto members = members_by_pool(problem_, plan.placements);
  std::vector<int64_t> offsets;
  for (const Placement& place : plan.placements) offsets.push_back(place.offset);
  for (int pool = 0; pool < int(plan.pools.size()); ++pool) {
    PoolUse& use = plan.pools[pool];
    const int64_t excess = use.size - use.lower_bound;
    if (excess <= 0 || double(excess) > kRepairable * double(use.lower_bound) || repair_work_ <= 0) continue;
    const Repaired repaired = repair(problem_, timeline_, pool, members[pool], offsets, use.lower_bound,
                                     {std::min(repair_work_, int64_t(kOneRepair * effort_)), cutoff_});
    repair_work_ -= repaired.work;
    if (repaired.offsets.empty()) continue;
    for (int id : members[pool]) plan.placements[id].offset = repaired.offsets[id];
    use.size = use.lower_bound;
  }
}

void Portfolio::search_pools() {
  const auto members = members_by_pool(problem_, best_->placements);
  if (members != members_) {
    members_ = members;
    exact_.clear();
    exact_.resize(members.size());
  }
  for (int pool = 0; pool < int(problem_.pools.size()) && !done(); ++pool) search_pool(pool);
}

void Portfolio::search_pool(int pool) {
  const std::vector<int>& members = members_[pool];
  const int64_t goal = goal_of(pool, best_->pools[pool].lower_bound);
  const bool is_exact = members.size() <= kExactBuffers;
  if (is_exact && !exact_[pool]) {
    exact_[pool] = std::make_unique<ExactSearch>(problem_, pool, members);
    search_exactly_in(pool, goal, kFirstLook * std::clamp(double(members.size()) / 300, 1.0, 4.0));
  }
  if (!done() && problem_.pools.size() == 1 && is_worth_drawing())
    draw_valleys(best_->pools[0].lower_bound, kLaterDraws, kValleyWork * worth_of_draws());
  if (!done()) make_room_in(pool, members, goal, is_regrouped_ ? kRegroupedShare : 1);
  if (!done() && is_exact) search_exactly_in(pool, goal, std::max(kSecondLook, worth(pool)));
  if (!done() && search_.effort >= kOrderEffort && can_reorder(problem_, members))
    reorder_in(pool, members, goal);
  else if (!done() && is_exact && worth(pool) >= kFarOff)
    make_room_in(pool, members, goal, kSecondTry);
}

double Portfolio::worth(int pool) const { return std::clamp(gap(pool) / kWorthAll, kLeastWorth, 1.0); }

double Portfolio::worth_of_draws() const { return std::clamp(gap(0) / kWorthAllDraws, kLeastWorth, 1.0); }

double Portfolio::gap(int pool) const {
  const PoolUse use = best_->pools[pool];
  return double(use.size - use.lower_bound) / std::max(1.0, double(use.lower_bound));
}

void Portfolio::reorder_in(int pool, const std::vector<int>& members, int64_t goal) {
  if (best_->pools[pool].size <= goal) return;
  const double worth = std::clamp((gap(pool) - kOrderGap) / (kWorthAll - kOrderGap), 0.0, 1.0);
  const double work = effort_ * kOrderWork * worth * std::min(1.0, double(members.size()) / kAllOrderWork);
  if (work == 0) return;
  const LocalSearch search = {goal, int64_t(work), search_.seed + round_, cutoff_};
  offer_moved(pool, members, reorder(problem_, pool, members, offsets_of_best(), search));
}

std::vector<int64_t> Portfolio::offsets_of_best() const {
  std::vector<int64_t> offsets;
  for (const Placement& place : best_->placements) offsets.push_back(place.offset);
  return offsets;
}

void Portfolio::offer_moved(int pool, const std::vector<int>& members, const Improved& improved) {
  Plan plan = *best_;
  for (int id : members) plan.placements[id].offset = improved.offsets[id];
  plan.pools[pool].size = improved.size;
  offer(std::move(plan), "local search");
}

void Portfolio::make_room_in(int pool, const std::vector<int>& members, int64_t goal, double share) {
  const PoolUse use = best_->pools[pool];
  if (use.size <= goal) return;
  const double buffers = std::clamp(double(members.size()) / 1000, 0.002, 4.5);
  const double work = effort_ * kSearchWork * std::min(4.5, buffers * worth(pool) * share);
  const LocalSearch search = {goal, int64_t(work), search_.seed + round_, cutoff_};
  offer_moved(pool, members, make_room(problem_, pool, members, offsets_of_best(), search));
}

void Portfolio::search_exactly_in(int pool, int64_t goal, double share) {
  const Effort effort{int64_t(kExactWork * effort_ * share), cutoff_};
  const PoolUse use = best_->pools[pool];
  const std::vector<int>& members = members_[pool];
  const Exact exact = exact_[pool]->run(use.size, use.lower_bound, effort, goal);
  best_->pools[pool].lower_bound = exact.lower_bound;
  if (exact.offsets.empty()) return;
  Plan plan = *best_;
  for (size_t i = 0; i < members.size(); ++i) plan.placements[members[i]].offset = exact.offsets[i];
  plan.pools[pool].size = exact.size;
  offer(std::move(plan), "exact search");
}

Plan portfolio(const Problem& problem, const Search& search) {
  if (has_costs(problem)) return plan_cheapest(problem, search);
  return Portfolio(problem, search).run();
}

}  // namespace arenac
