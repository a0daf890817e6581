// The default: quick starts, each kept if it is the best so far; those that are only a little too high are
// repaired; then, while the gap is worth it, local search and exact search, until the plan is proven optimal.
// After a warm start all of that is done with less work, and from nothing if the plan has become clearly
// worse.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "frontend/error.h"
#include "planner/block_search.h"
#include "planner/bounds.h"
#include "planner/cheapest.h"
#include "planner/exact.h"
#include "planner/free_rectangles.h"
#include "planner/local_search.h"
#include "planner/order_search.h"
#include "planner/packing.h"
#include "planner/parallel.h"
#include "planner/repair.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"
#include "planner/skyline.h"
#include "planner/starts.h"
#include "planner/valley_search.h"

namespace arenac {
namespace {

using Clock = Cutoff::Clock;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// Steps of about a nanosecond, at effort 1.
constexpr double kPackWork = 2e9;       // of packing in several orders
constexpr double kRowWork = 1e9;        // of other rows, in the end
constexpr double kFewPairs = 2e6;       // of lives that meet: rows that grow with them take part
constexpr double kManyPairs = 1.5e7;    // the orders that are cheapest to pack first
constexpr double kNoEffort = 0.02;      // with less, no other rows
constexpr size_t kFewSizes = 256;       // objects of their sizes come to a good start
constexpr double kSizeWork = 2e10;      // of packing many buffers of few sizes
constexpr size_t kDearDraws = 500'000;  // of so many buffers a plan by need costs seconds,
constexpr double kNearlyDone = 0.005;   // which a smaller gap, of the bound, is not worth
constexpr double kBlockWork = 1e5;      // rectangles made into blocks, in all draws
constexpr double kMostBlockDraws = 5000;
constexpr double kRegroupWork = 2.5e9;    // of blocks made anew, of a thousand buffers,
constexpr double kMostRegroupWork = 9e9;  // of many,
constexpr uint64_t kRegroupings = 3;      // as long as that leaves a little,
constexpr double kRegroupedShare = 0.25;  // of local search, after that; at most once
constexpr double kRegroupedOnce = 3000;   // of so many buffers
constexpr double kBlocksEffort = 0.1;     // of planning those that are left
constexpr double kFull = 0.999;           // of what the bound offers: worth blocks
constexpr double kLooseWork = 4e5;        // the same for blocks with waste
constexpr double kMostLooseDraws = 200;
constexpr int64_t kFewLoose = 100;                 // of few buffers, not above the bound by a part of so many
constexpr double kNearlyFull = 0.85;               // of what the bound offers: worth such blocks
constexpr int kFirstDraws = 6, kLaterDraws = 500;  // of plans by need
constexpr double kValleyWork = 5e9;                // of those
constexpr size_t kFewBuffers = 500;                // exact search does better, where it takes them
constexpr double kWorthAllDraws = 0.01;            // of the bound
constexpr double kRepairWork = 6e8, kOneRepair = 2e8;  // of exact search around the few that are too high
constexpr double kRepairable = 0.002;                  // of the bound: what that is tried for
constexpr double kSearchWork = 1e9;  // of local search, for a thousand buffers and a gap of kWorthAll or more
constexpr double kOrderWork = 6e9;   // of local search over orders, for a gap of kWorthAll or more
constexpr double kExactWork = 1e9;   // of exact search
constexpr size_t kExactBuffers = 20'000;  // more are not worth it
constexpr double kFirstLook = 0.1;        // of that work, before local search
constexpr double kSecondLook = 0.3;       // of that work at least, after local search
constexpr double kFarOff = 0.4;           // worth local search again if exact search found nothing
constexpr double kSecondTry = 8;          // times the work
constexpr double kWorthAll = 0.05;        // of the bound
constexpr double kLeastWorth = 0.05;      // part of the work for the smallest gap
constexpr double kWarmEffort = 0.1;       // of all work, after a warm start
constexpr double kHardlyWorse = 0.002;    // of the bound: what a warm start may lose by what has changed
constexpr size_t kManyBuffers = 100'000;  // here a second start costs seconds

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

class Portfolio {
 public:
  Portfolio(const Problem& problem, const Search& search)
      : problem_(problem),
        search_(search),
        effort_(search.effort * (search.warm_start.empty() ? 1 : kWarmEffort)),
        cutoff_(search.cutoff()),
        timeline_(make_timeline(problem, all_buffers(problem))) {}

  Plan run() {
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

 private:
  bool is_warm() const { return !search_.warm_start.empty(); }

  // Keeps the plan if it is better than the best so far.
  void offer(Plan plan, std::string_view stage) {
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

  bool done() const {
    if (!best_) return false;
    return is_proven(problem_, *best_) || (search_.goal == Goal::kFits && std::get<0>(cost_) == 0) ||
           cutoff_.has_passed();
  }

  void start_cold() {
    if (problem_.pools.size() == 1)
      start_on_skylines();
    else
      start_in_first_choices();
    if (!done()) start_in_orders();
  }

  // Each buffer where it was if that is free, the largest first, then the others; or all of them in the order
  // of their offsets, for what has become smaller or is gone.
  void start_warm() {
    const WarmStart& before = search_.warm_start;
    const auto largest = sorted_by(problem_, [&](int id) { return -problem_.buffers[id].size; });
    const std::optional<Plan> kept = packed(largest, kNoLimit, before);
    const auto by_offset =
        sorted_by(problem_, [&](int id) { return before[id] ? before[id]->offset : INT64_MAX; });
    const auto upwards = sorted_by(problem_, [&](int id) { return kept->placements[id].offset; });
    offer_start(*kept, "warm start");
    for (const auto* order : {&upwards, &by_offset}) {
      if (done()) return;
      if (auto plan = packed(*order, int64_t(kPackWork * effort_)))
        offer_start(std::move(*plan), "warm start");
    }
  }

  // Whether a warm start needs no search, as nearly nothing is left to gain.
  bool will_do() const {
    double furthest = 0;
    for (int pool = 0; pool < int(problem_.pools.size()); ++pool) furthest = std::max(furthest, gap(pool));
    return done() || (!cutoff_.has_time() && furthest <= kHardlyWorse && !is_worse_than_before());
  }

  // Whether the best plan is clearly further from its bound than the warm start was from that of the buffers
  // in it, or more of its buffers have strayed.
  bool is_worse_than_before() const {
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

  // The same search without the warm start; what it reports is better than what there is.
  Plan from_nothing() const {
    Search cold = search_;
    cold.warm_start = {};
    cold.seconds = cutoff_.seconds_left();
    cold.report = [&](const PlanProgress& progress) {
      if (search_.report && progress.makespan < std::get<2>(cost_)) search_.report(progress);
    };
    return Portfolio(problem_, cold).run();
  }

  // For several: each by itself as if it were the only one, unless what prefers it cannot fit.
  void start_in_first_choices() {
    Plan plan;
    for (const Buffer& b : problem_.buffers) plan.placements.push_back({b.pools.front(), 0});
    for (const std::vector<int>& group : problem_.same_offset)
      for (int id : group)
        if (plan.placements[id].pool != plan.placements[group[0]].pool) return;
    const auto members = members_by_pool(problem_, plan.placements);
    const auto capacity = [&](int pool) { return problem_.pools[pool].capacity.value_or(INT64_MAX); };
    for (int pool = 0; pool < int(problem_.pools.size()); ++pool)
      if (lower_bound(problem_, pool, members[pool]) > capacity(pool)) return;
    for (int pool = 0; pool < int(problem_.pools.size()); ++pool) {
      if (members[pool].empty()) {
        plan.pools.push_back({});
        continue;
      }
      Search search = search_;
      search.report = {};
      search.warm_start = {};
      search.effort = effort_;
      search.seconds = cutoff_.seconds_left();
      const Plan alone = portfolio(pool_alone(problem_, pool, members[pool]), search);
      plan.pools.push_back(alone.pools[0]);
      if (alone.pools[0].size > capacity(pool)) return;
      for (size_t k = 0; k < members[pool].size(); ++k)
        plan.placements[members[pool][k]].offset = alone.placements[k].offset;
    }
    offer(std::move(plan), "pool by pool");
  }

  // For one pool: blocks where no time leaves room, and valleys filled in several ways.
  void start_on_skylines() {
    const FreeRectangles free(problem_, timeline_);
    const std::vector<Rectangle>& rectangles = free.all();
    const int64_t bound = free.bound();
    const double fullness = free.fullness(), count = double(std::max<size_t>(1, rectangles.size()));
    const auto blocks = [&](double work, double most) {
      return BlockSearch{int(std::clamp(effort_ * work / count, 1.0, most)), search_.seed, cutoff_};
    };
    // Where overlaps let the bound lie below the area, no blocks without waste come to it.
    if (kFull <= fullness && fullness <= 1)
      offer(free.stacked(
                search_blocks(rectangles, timeline_.slots, bound, blocks(kBlockWork, kMostBlockDraws))),
            "blocks");
    const bool many = problem_.buffers.size() > kManyBuffers;
    if (!many && !done()) offer(free.stacked(fill_valleys(rectangles, timeline_.slots)), "skyline");
    // Of few buffers exact search does better unless nothing may be lost.
    const double least_full = is_worth_drawing() ? kNearlyFull : kFull;
    if (!many && !done() && least_full <= fullness && fullness <= 1) regroup(free);
    if (many && !done() && has_few_sizes()) pack_by_size();
    if (!done() && is_worth_drawing()) draw_valleys(bound, kFirstDraws, kPackWork);
    if (!many && !done() && !is_regrouped_ && kNearlyFull <= fullness && fullness <= 1) {
      // Of few buffers exact search does better from other starts, unless this is nearly the bound.
      const int64_t known = is_worth_drawing() ? best_->pools[0].size : bound + bound / kFewLoose;
      const auto offsets =
          search_loose_blocks(rectangles, timeline_.slots, bound, known, blocks(kLooseWork, kMostLooseDraws));
      if (!offsets.empty()) offer(free.stacked(offsets), "loose blocks");
    }
    if (!many && !done() && has_few_sizes()) offer(executorch_greedy(problem_, search_), "greedy");
  }

  // For one pool without much room: blocks that are made, broken up and made anew, as long as that helps. Of
  // few buffers it helps soon, if at all.
  void regroup(const FreeRectangles& free) {
    const double thousands = double(free.all().size()) / 1000;
    const double work =
        effort_ * std::min(kMostRegroupWork, kRegroupWork * thousands * std::min(thousands, 1.0));
    const PlanBlocks plan = [&](const auto& blocks) { return plan_blocks(blocks); };
    for (uint64_t k = 0; k < kRegroupings && !done(); ++k) {
      if (k > 0 && (!is_regrouped_ || double(free.all().size()) > kRegroupedOnce)) return;
      const auto offsets = regroup_blocks(free.all(), timeline_.slots, free.bound(), search_.seed + k,
                                          {int64_t(work), cutoff_}, plan);
      if (offsets.empty()) return;
      offer(free.stacked(offsets), "blocks");
      is_regrouped_ = gap(0) < kWorthAll;
    }
  }

  // As a problem of their own.
  std::vector<int64_t> plan_blocks(const std::vector<Rectangle>& blocks) const {
    Problem problem{.pools = {{"blocks"}}, .buffers = {}};
    for (const auto& [span, size] : blocks)
      problem.buffers.push_back({.name = "block", .size = size, .begin = span.begin, .end = span.end});
    Search search = search_;
    search.goal = Goal::kSmallest;
    search.stop = Stop::kHardlyWorth;
    search.report = {};
    search.warm_start = {};
    search.effort = effort_ * kBlocksEffort;
    search.seconds = cutoff_.seconds_left();
    std::vector<int64_t> offsets;
    for (const Placement& place : portfolio(problem, search).placements) offsets.push_back(place.offset);
    return offsets;
  }

  // For one pool: first fit, the largest first, which takes longer than a start may. Many of each size leave
  // little between them.
  void pack_by_size() {
    const auto plan = packed_within(largest_first(problem_), {int64_t(kSizeWork * effort_), cutoff_});
    if (!plan) return;
    offer(*plan, "greedy");
    is_by_size_ = true;
  }

  bool has_few_sizes() const {
    std::set<int64_t> sizes;
    bool is_free = true;
    for (const Buffer& b : problem_.buffers) {
      sizes.insert(b.size);
      is_free = is_free && !b.fixed_offset;
    }
    return is_free && sizes.size() <= kFewSizes;
  }

  bool is_worth_drawing() const {
    if (is_regrouped_) return false;
    if (is_by_size_ && problem_.buffers.size() > kDearDraws && gap(0) <= kNearlyDone) return false;
    return problem_.buffers.size() > kFewBuffers || !problem_.overlaps.empty();
  }

  // For one pool: more plans by need, so many at most and for so much work.
  void draw_valleys(int64_t bound, int draws, double work) {
    if (!valleys_) valleys_.emplace(problem_, timeline_, search_.seed);
    auto placements = valleys_->smaller_than(
        best_ ? best_->pools[0].size : kNoLimit,
        {goal_of(0, bound), draws, {int64_t(work * effort_), cutoff_}, search_.threads});
    if (placements) offer(make_plan(problem_, std::move(*placements)), "valleys");
  }

  // What the pool's size need not be below.
  int64_t goal_of(int pool, int64_t bound) const {
    if (search_.goal != Goal::kFits) return bound;
    return std::max(bound, problem_.pools[pool].capacity.value_or(bound));
  }

  // As many as there is work for, but one at least if there is no plan yet.
  void start_in_orders() {
    auto left = int64_t(kPackWork * effort_);
    const std::vector<Start>& starts = meetings(timeline_) > kManyPairs ? kStartsOfMany : kStarts;
    for (const Start& start : starts) {
      if (best_ && (done() || left < dearest_pack_ || !has_time())) return;
      const auto begin = Clock::now();
      std::optional<Plan> plan;
      plan = start.order ? packed(start.order(problem_), left) : start.row(problem_, search_);
      left -= dearest_pack_;
      longest_start_ = std::max(longest_start_, Clock::now() - begin);
      if (plan) offer_start(std::move(*plan), "greedy");
    }
  }

  // First fit in this order, for as far as there is work; to the end if there is no plan yet.
  std::optional<Plan> packed(const std::vector<int>& order, int64_t work, const WarmStart& kept = {}) {
    return packed_within(order, best_ ? Effort{work, cutoff_} : Effort{kNoLimit}, kept);
  }

  std::optional<Plan> packed_within(const std::vector<int>& order, const Effort& effort,
                                    const WarmStart& kept = {}) {
    const Packed packed = pack_within(problem_, order, Fit::kLowest, effort, kept);
    dearest_pack_ = std::max(dearest_pack_, packed.work);
    if (!packed.placements) return {};
    return make_plan(problem_, *packed.placements);
  }

  // That may be repaired.
  void offer_start(Plan plan, std::string_view stage) {
    offer(plan, stage);
    if (problem_.buffers.size() <= kManyBuffers) starts_.push_back(std::move(plan));
  }

  // Whether one more start would end before the cutoff.
  bool has_time() const { return !cutoff_.has_passed(longest_start_); }

  // No published heuristic does better in the end, for as far as there is work; whether one did.
  bool try_every_row() {
    if (effort_ < kNoEffort) return false;
    const bool few = meetings(timeline_) <= kFewPairs;
    const auto before = cost_;
    auto left = int64_t(kRowWork * effort_);
    if (done() || left < dearest_pack_ || !has_time()) return false;
    std::vector<const Planner*> rows;
    for (const Planner& row : kPlanners) {
      if (row.growth == Growth::kSearch || (row.growth == Growth::kPairs && !few)) continue;
      const auto is_row = [&](const Start& start) { return start.row == row.run; };
      if (std::any_of(std::begin(kStarts), std::end(kStarts), is_row) && few) continue;
      if (!refusal(row, problem_)) rows.push_back(&row);
    }
    size_t taken = 0;
    in_parallel(
        search_.threads, int(rows.size()), cutoff_,
        [&](int k, const Cutoff&) -> std::optional<Plan> {
          try {
            return rows[k]->run(problem_, search_);
          } catch (const UserError&) {  // of alignments that are too coarse for it
            return std::nullopt;
          }
        },
        [&](std::optional<Plan> plan) {
          const Planner& row = *rows[taken++];
          if (plan) offer(std::move(*plan), row.name);
          left -= dearest_pack_;
          return !done() && left >= dearest_pack_ && has_time();
        });
    return cost_ < before;
  }

  // The starts that are only a little above the bound, the best first.
  void repair_starts() {
    std::vector<Plan> starts = std::exchange(starts_, {});
    std::ranges::stable_sort(
        starts, [&](const Plan& a, const Plan& b) { return cost(problem_, a) < cost(problem_, b); });
    for (Plan& plan : starts) {
      if (done() || repair_work_ <= 0) return;
      repair_pools(plan);
      offer(std::move(plan), "repair");
    }
  }

  void repair_pools(Plan& plan) {
    const auto members = members_by_pool(problem_, plan.placements);
    std::vector<int64_t> offsets;
    for (const Placement& place : plan.placements) offsets.push_back(place.offset);
    for (int pool = 0; pool < int(plan.pools.size()); ++pool) {
      PoolUse& use = plan.pools[pool];
      const int64_t excess = use.size - use.lower_bound;
      if (excess <= 0 || double(excess) > kRepairable * double(use.lower_bound) || repair_work_ <= 0)
        continue;
      const Repaired repaired = repair(problem_, timeline_, pool, members[pool], offsets, use.lower_bound,
                                       {std::min(repair_work_, int64_t(kOneRepair * effort_)), cutoff_});
      repair_work_ -= repaired.work;
      if (repaired.offsets.empty()) continue;
      for (int id : members[pool]) plan.placements[id].offset = repaired.offsets[id];
      use.size = use.lower_bound;
    }
  }

  void search_pools() {
    const auto members = members_by_pool(problem_, best_->placements);
    if (members != members_) {
      members_ = members;
      exact_.clear();
      exact_.resize(members.size());
    }
    for (int pool = 0; pool < int(problem_.pools.size()) && !done(); ++pool) search_pool(pool);
  }

  // Later rounds leave out the first look.
  void search_pool(int pool) {
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
    if (!done() && can_reorder(problem_, members))
      reorder_in(pool, members, goal);
    else if (!done() && is_exact && worth(pool) >= kFarOff)
      make_room_in(pool, members, goal, kSecondTry);
  }

  // What part of the work the pool's gap is worth.
  double worth(int pool) const { return std::clamp(gap(pool) / kWorthAll, kLeastWorth, 1.0); }

  // The same for plans by need, of one pool.
  double worth_of_draws() const { return std::clamp(gap(0) / kWorthAllDraws, kLeastWorth, 1.0); }

  // Of the bound.
  double gap(int pool) const {
    const PoolUse use = best_->pools[pool];
    return double(use.size - use.lower_bound) / std::max(1.0, double(use.lower_bound));
  }

  // Local search over orders.
  void reorder_in(int pool, const std::vector<int>& members, int64_t goal) {
    if (best_->pools[pool].size <= goal) return;
    const LocalSearch search = {int64_t(effort_ * kOrderWork * worth(pool)), search_.seed + round_, cutoff_};
    offer_moved(pool, members, reorder(problem_, pool, members, offsets_of_best(), goal, search));
  }

  std::vector<int64_t> offsets_of_best() const {
    std::vector<int64_t> offsets;
    for (const Placement& place : best_->placements) offsets.push_back(place.offset);
    return offsets;
  }

  void offer_moved(int pool, const std::vector<int>& members, const Improved& improved) {
    Plan plan = *best_;
    for (int id : members) plan.placements[id].offset = improved.offsets[id];
    plan.pools[pool].size = improved.size;
    offer(std::move(plan), "local search");
  }

  // Local search, as much as the gap and the number of buffers are worth, times `share`.
  void make_room_in(int pool, const std::vector<int>& members, int64_t goal, double share) {
    const PoolUse use = best_->pools[pool];
    if (use.size <= goal) return;
    const double buffers = std::clamp(double(members.size()) / 1000, 0.002, 4.5);
    const double work = effort_ * kSearchWork * std::min(4.5, buffers * worth(pool) * share);
    const LocalSearch search = {int64_t(work), search_.seed + round_, cutoff_};
    offer_moved(pool, members, make_room(problem_, pool, members, offsets_of_best(), goal, search));
  }

  void search_exactly_in(int pool, int64_t goal, double share) {
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

  const Problem& problem_;
  const Search& search_;
  const double effort_;
  const Cutoff cutoff_;
  Timeline timeline_;
  int64_t repair_work_ = 0;   // left
  int64_t dearest_pack_ = 0;  // steps, of the starts so far
  Clock::duration longest_start_ = {};
  std::optional<ValleySearch> valleys_;              // of one pool
  uint64_t round_ = 0;                               // of searches
  std::vector<std::vector<int>> members_;            // per pool, in the last round
  std::vector<std::unique_ptr<ExactSearch>> exact_;  // per pool, of those members
  std::vector<Plan> starts_;                         // of few buffers
  bool is_by_size_ = false;                          // many of few sizes were packed so
  bool is_regrouped_ = false;                        // which is hard to do better than
  std::optional<Plan> best_;
  std::tuple<int64_t, int64_t, int64_t> cost_;
};

}  // namespace

Plan portfolio(const Problem& problem, const Search& search) {
  if (has_costs(problem)) return plan_cheapest(problem, search);
  return Portfolio(problem, search).run();
}

}  // namespace arenac
