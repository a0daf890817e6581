// The default planner, inside: what portfolio.cc and portfolio_starts.cc share. Whoever wants a plan calls
// plan() (planners.h).
//
//   start_cold() or start_warm(), repair_starts(), search_pools() ...     each plan is kept if it is the best
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "planner/blocks.h"
#include "planner/cutoff.h"
#include "planner/exact.h"
#include "planner/free_rectangles.h"
#include "planner/local_search.h"
#include "planner/packing.h"
#include "planner/planners.h"
#include "planner/timeline.h"
#include "planner/valley_search.h"

namespace arenac {

class Portfolio {
 public:
  Portfolio(const Problem& problem, const Search& search);  // both outlive it

  Plan run();  // once

 private:
  using Clock = Cutoff::Clock;

  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  static constexpr double kPackWork = 2e9;   // of packing in several orders, in steps of about a nanosecond
  static constexpr double kWorthAll = 0.05;  // of the bound: a gap that is worth all work

  bool is_warm() const { return !search_.warm_start.empty(); }
  // Keeps the plan if it is better than the best so far.
  void offer(Plan plan, std::string_view stage);
  bool done() const;
  void start_cold();
  // Each buffer where it was if that is free, the largest first, then the others; or all of them in the order
  // of their offsets, for what has become smaller or is gone.
  void start_warm();
  // Whether a warm start needs no search, as nearly nothing is left to gain.
  bool will_do() const;
  // Whether the best plan is clearly further from its bound than the warm start was from that of the buffers
  // in it, or more of its buffers have strayed.
  bool is_worse_than_before() const;
  // The same search without the warm start; what it reports is better than what there is.
  Plan from_nothing() const;
  // For several: each by itself as if it were the only one, unless what prefers it cannot fit.
  void start_in_first_choices();
  // For one pool: blocks where no time leaves room, and valleys filled in several ways.
  void start_on_skylines();
  // For one pool without much room: blocks that are made, broken up and made anew, as long as that helps. Of
  // few buffers it helps soon, if at all.
  void regroup(const FreeRectangles& free);
  // As a problem of their own.
  std::vector<int64_t> plan_blocks(const std::vector<Rectangle>& blocks) const;
  // For one pool: first fit, the largest first, which takes longer than a start may. Many of each size leave
  // little between them.
  void pack_by_size();
  bool has_few_sizes() const;
  bool is_worth_drawing() const;
  // For one pool: more plans by need, so many at most and for so much work.
  void draw_valleys(int64_t bound, int draws, double work);
  // What the pool's size need not be below.
  int64_t goal_of(int pool, int64_t bound) const;
  // As many as there is work for, but one at least if there is no plan yet.
  void start_in_orders();
  // First fit in this order, for as far as there is work; to the end if there is no plan yet.
  std::optional<Plan> packed(const std::vector<int>& order, int64_t work, const WarmStart& kept = {});
  std::optional<Plan> packed_within(const std::vector<int>& order, const Effort& effort,
                                    const WarmStart& kept = {});
  // That may be repaired.
  void offer_start(Plan plan, std::string_view stage);
  // Whether one more start would end before the cutoff.
  bool has_time() const { return !cutoff_.has_passed(longest_start_); }
  // No published heuristic does better in the end, for as far as there is work; whether one did.
  bool try_every_row();
  // The starts that are only a little above the bound, the best first.
  void repair_starts();
  void repair_pools(Plan& plan);
  void search_pools();
  // Later rounds leave out the first look.
  void search_pool(int pool);
  // What part of the work the pool's gap is worth.
  double worth(int pool) const;
  // The same for plans by need, of one pool.
  double worth_of_draws() const;
  // Of the bound.
  double gap(int pool) const;
  // Local search over orders.
  void reorder_in(int pool, const std::vector<int>& members, int64_t goal);
  std::vector<int64_t> offsets_of_best() const;
  void offer_moved(int pool, const std::vector<int>& members, const Improved& improved);
  // Local search, as much as the gap and the number of buffers are worth, times `share`.
  void make_room_in(int pool, const std::vector<int>& members, int64_t goal, double share);
  void search_exactly_in(int pool, int64_t goal, double share);

  const Problem& problem_;
  const Search& search_;
  const double effort_;
  const Cutoff cutoff_;
  Timeline timeline_;
  int64_t repair_work_;       // left
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

}  // namespace arenac
