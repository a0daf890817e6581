// What the default planner begins with where it knows no plan.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "frontend/error.h"
#include "planner/block_search.h"
#include "planner/bounds.h"
#include "planner/parallel.h"
#include "planner/portfolio.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"
#include "planner/skyline.h"
#include "planner/starts.h"

namespace arenac {
namespace {

// Steps of about a nanosecond, at effort 1.
constexpr double kRowWork = 1e9;         // of other rows, in the end
constexpr double kFewMeetings = 2e6;     // of lives that meet: rows that grow with them take part
constexpr double kManyMeetings = 1.5e7;  // the orders that are cheapest to pack first
constexpr double kNoEffort = 0.02;       // with less, no other rows
constexpr size_t kFewSizes = 256;        // objects of their sizes come to a good start
constexpr double kSizeWork = 2e10;       // of packing many buffers of few sizes
constexpr size_t kDearDraws = 500'000;   // of so many buffers a plan by need costs seconds,
constexpr double kNearlyDone = 0.005;    // which a smaller gap, of the bound, is not worth
constexpr double kBlockWork = 1e5;       // rectangles made into blocks, in all draws
constexpr double kMostBlockDraws = 5000;
constexpr double kRegroupWork = 2.5e9;    // of blocks made anew, of a thousand buffers,
constexpr double kMostRegroupWork = 9e9;  // of many,
constexpr uint64_t kRegroupings = 3;      // as long as that leaves a little,
constexpr double kRegroupedOnce = 3000;   // of so many buffers
constexpr double kBlocksEffort = 0.1;     // of planning those that are left
constexpr double kFull = 0.999;           // of what the bound offers: worth blocks
constexpr double kLooseWork = 4e5;        // the same for blocks with waste
constexpr double kMostLooseDraws = 200;
constexpr int64_t kFewLoose = 100;        // of few buffers, not above the bound by a part of so many
constexpr double kNearlyFull = 0.85;      // of what the bound offers: worth such blocks
constexpr int kFirstDraws = 6;            // of plans by need
constexpr size_t kFewBuffers = 500;       // exact search does better, where it takes them
constexpr size_t kManyBuffers = 100'000;  // here a second start costs seconds

}  // namespace

void Portfolio::start_cold() {
  if (problem_.pools.size() == 1)
    start_on_skylines();
  else
    start_in_first_choices();
  if (!done()) start_in_orders();
}

void Portfolio::start_in_first_choices() {
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

void Portfolio::start_on_skylines() {
  const FreeRectangles free(problem_, timeline_);
  const std::vector<Rectangle>& rectangles = free.all();
  const int64_t bound = free.bound();
  const double fullness = free.fullness(), count = double(std::max<size_t>(1, rectangles.size()));
  const auto blocks = [&](double work, double most) {
    return BlockSearch{int(std::clamp(effort_ * work / count, 1.0, most)), search_.seed, cutoff_};
  };
  // Where overlaps let the bound lie below the area, no blocks without waste come to it.
  if (kFull <= fullness && fullness <= 1)
    offer(
        free.stacked(search_blocks(rectangles, timeline_.slots, bound, blocks(kBlockWork, kMostBlockDraws))),
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

void Portfolio::regroup(const FreeRectangles& free) {
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

std::vector<int64_t> Portfolio::plan_blocks(const std::vector<Rectangle>& blocks) const {
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

void Portfolio::pack_by_size() {
  const auto plan = packed_within(largest_first(problem_), {int64_t(kSizeWork * effort_), cutoff_});
  if (!plan) return;
  offer(*plan, "greedy");
  is_by_size_ = true;
}

bool Portfolio::has_few_sizes() const {
  std::set<int64_t> sizes;
  bool is_free = true;
  for (const Buffer& b : problem_.buffers) {
    sizes.insert(b.size);
    is_free = is_free && !b.fixed_offset;
  }
  return is_free && sizes.size() <= kFewSizes;
}

bool Portfolio::is_worth_drawing() const {
  if (is_regrouped_) return false;
  if (is_by_size_ && problem_.buffers.size() > kDearDraws && gap(0) <= kNearlyDone) return false;
  return problem_.buffers.size() > kFewBuffers || !problem_.overlaps.empty();
}

void Portfolio::draw_valleys(int64_t bound, int draws, double work) {
  if (!valleys_) valleys_.emplace(problem_, timeline_, search_.seed);
  auto placements =
      valleys_->smaller_than(best_ ? best_->pools[0].size : kNoLimit,
                             {goal_of(0, bound), draws, {int64_t(work * effort_), cutoff_}, search_.threads});
  if (placements) offer(make_plan(problem_, std::move(*placements)), "valleys");
}

void Portfolio::start_in_orders() {
  auto left = int64_t(kPackWork * effort_);
  const std::vector<Start>& starts = meetings(timeline_) > kManyMeetings ? kStartsOfMany : kStarts;
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

std::optional<Plan> Portfolio::packed(const std::vector<int>& order, int64_t work, const WarmStart& kept) {
  return packed_within(order, best_ ? Effort{work, cutoff_} : Effort{kNoLimit}, kept);
}

std::optional<Plan> Portfolio::packed_within(const std::vector<int>& order, const Effort& effort,
                                             const WarmStart& kept) {
  const Packed packed = pack_within(problem_, order, Fit::kLowest, effort, kept);
  dearest_pack_ = std::max(dearest_pack_, packed.work);
  if (!packed.placements) return {};
  return make_plan(problem_, *packed.placements);
}

void Portfolio::offer_start(Plan plan, std::string_view stage) {
  offer(plan, stage);
  if (problem_.buffers.size() <= kManyBuffers) starts_.push_back(std::move(plan));
}

bool Portfolio::try_every_row() {
  if (effort_ < kNoEffort) return false;
  const bool few = meetings(timeline_) <= kFewMeetings;
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

}  // namespace arenac
