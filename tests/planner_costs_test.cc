// Assignments of buffers to pools, and plans with costs, against brute force.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "frontend/error.h"
#include "planner/assignment_search.h"
#include "planner/csv.h"
#include "planner/exact.h"
#include "planner/planners.h"
#include "planner/verify.h"

namespace arenac {
namespace {

struct Draw {
  std::mt19937 random;
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
};

// Two pools with capacities and one without, in any order of preference; gaps with and without windows.
Problem random_problem(Draw& draw, int buffers) {
  Problem p{.pools = {{"fast", 8 + draw.below(16)}, {"near", 8 + draw.below(16)}, {"far"}}, .buffers = {}};
  const int64_t times = 2 + buffers / 2;
  for (int id = 0; id < buffers; ++id) {
    const int64_t begin = draw.below(times), size = 1 + draw.below(9);
    Buffer b{fmt::format("b{}", id), size, 1, begin, begin + 1 + draw.below(times)};
    b.pools = {int(draw.below(3))};
    b.costs = {draw.below(30)};
    for (int pool = 0; pool < 3; ++pool)
      if (pool != b.pools[0] && (pool == 2 || draw.below(2) == 0)) {
        b.pools.push_back(pool);
        b.costs.push_back(draw.below(30));
      }
    if (b.end - b.begin > 2 && draw.below(3) == 0)
      b.gaps = {{b.begin + 1, b.end - 1, size / 2, size / 2 + draw.below(2)}};
    p.buffers.push_back(std::move(b));
  }
  return p;
}

// Of each time, what the buffer uses.
std::vector<int64_t> loads_of(const Buffer& b, int64_t times) {
  std::vector<int64_t> loads;
  for (int64_t time = 0; time < times; ++time) {
    loads.push_back(b.begin <= time && time < b.end ? b.size : 0);
    for (const Gap& gap : b.gaps)
      if (gap.begin <= time && time < gap.end) loads.back() = gap.high - gap.low;
  }
  return loads;
}

// The least cost of all choices of pools whose capacities hold what lives at any time.
int64_t least_cost(const Problem& p) {
  int64_t times = 0, best = INT64_MAX;
  for (const Buffer& b : p.buffers) times = std::max(times, b.end);
  std::vector<std::vector<int64_t>> live(p.pools.size(), std::vector<int64_t>(size_t(times)));
  const std::function<void(size_t, int64_t)> extend = [&](size_t id, int64_t cost) {
    if (cost >= best) return;
    if (id == p.buffers.size()) {
      best = cost;
      return;
    }
    const Buffer& b = p.buffers[id];
    const std::vector<int64_t> loads = loads_of(b, times);
    for (size_t k = 0; k < b.pools.size(); ++k) {
      std::vector<int64_t>& at = live[size_t(b.pools[k])];
      for (size_t time = 0; time < at.size(); ++time) at[time] += loads[time];
      if (std::ranges::max(at) <= p.pools[size_t(b.pools[k])].capacity.value_or(INT64_MAX))
        extend(id + 1, cost + b.costs[k]);
      for (size_t time = 0; time < at.size(); ++time) at[time] -= loads[time];
    }
  };
  extend(0, 0);
  return best;
}

TEST(Assignment, SearchAndBoundAgainstEveryAssignment) {
  Draw draw{std::mt19937(1)};
  constexpr int kProblems = 300;
  int least = 0, near = 0, tight = 0;
  for (int k = 0; k < kProblems; ++k) {
    const Problem p = random_problem(draw, 4 + k % 7);
    const Assignment assignment = assignment_of(p, make_timeline(p, all_buffers(p)));
    const double best = double(least_cost(p));
    const Assigned start = assign(assignment, RoomPrices(assignment));
    const AssignmentBound bound = assignment_bound(assignment, start.cost.cost, 400, {});
    const Assigned priced = assign(assignment, bound.prices);
    const Assigned all_far = fit(assignment, std::vector<int>(p.buffers.size(), 2));
    const Assigned found = improve(assignment, all_far, double(bound.cost), {}, {});
    ASSERT_LE(double(bound.cost), best) << to_csv(p);
    ASSERT_GE(priced.cost.cost, best) << to_csv(p);
    ASSERT_GE(found.cost.cost, best) << to_csv(p);
    near += priced.cost.cost == best;
    least += found.cost.cost == best;
    tight += double(bound.cost) == best;
  }
  RecordProperty("least", least);
  RecordProperty("near", near);
  RecordProperty("tight", tight);
  EXPECT_GE(least, kProblems * 97 / 100);
  EXPECT_GE(near, kProblems * 8 / 10);
  EXPECT_GE(tight, kProblems * 7 / 10);
}

// Of buffers that may share bytes, a bound counts no more than must be there.
TEST(Assignment, BoundIsBelowPlansWithOverlaps) {
  Draw draw{std::mt19937(2)};
  int proven = 0, saved = 0;
  for (int k = 0; k < 200; ++k) {
    Problem p = random_problem(draw, 6);
    const int64_t without = least_cost(p);
    for (int o = 0; o < 6; ++o) {
      const int above = int(draw.below(6));
      p.overlaps.push_back({above, int((above + 1 + draw.below(5)) % 6), draw.below(6) - 3});
    }
    const std::optional<Plan> exact = search_pools_exactly(p, {100'000'000});
    if (!exact) continue;
    int64_t cost = 0;
    for (size_t id = 0; id < p.buffers.size(); ++id)
      cost += cost_in(p.buffers[id], exact->placements[id].pool);
    const Assignment assignment = assignment_of(p, make_timeline(p, all_buffers(p)));
    ASSERT_LE(assignment_bound(assignment, double(cost), 400, {}).cost, cost) << to_csv(p);
    ++proven;
    saved += cost < without;
  }
  EXPECT_GE(proven, 190);
  EXPECT_GE(saved, 10);  // where counting all of them is no bound
}

// More buffers than are assigned exactly.
TEST(Costs, PlansOfManyBuffersAreNearTheLeastCost) {
  Draw draw{std::mt19937(3)};
  constexpr int kProblems = 60;
  int least = 0;
  double excess = 0;
  for (int k = 0; k < kProblems; ++k) {
    const Problem p = random_problem(draw, 17);
    const Plan made = plan(p);  // verified
    const int64_t best = least_cost(p);
    ASSERT_LE(made.cost_bound, best) << to_csv(p);
    ASSERT_GE(made.cost, best) << to_csv(p);
    least += made.cost == best;
    excess += double(made.cost - best) / double(best);
  }
  RecordProperty("least", least);
  RecordProperty("excess", fmt::format("{:.4f}", excess / kProblems));
  EXPECT_GE(least, kProblems * 8 / 10);  // offsets take more than what lives in some
  EXPECT_LE(excess / kProblems, 0.01);
}

// Where offsets lie on a coarse grid, what lives at a time does not tell what fits.
TEST(Costs, PlansKeepToCapacitiesThatAlignmentMakesSmaller) {
  Draw draw{std::mt19937(4)};
  double cost = 0, bound = 0;
  for (int k = 0; k < 20; ++k) {
    Problem p = random_problem(draw, 40);
    for (Buffer& b : p.buffers) b.align = 1 + 3 * draw.below(2);
    const Plan made = plan(p, kDefaultPlanner, {.effort = 0.05});  // verified
    cost += double(made.cost);
    bound += double(made.cost_bound);
  }
  RecordProperty("of_bound", fmt::format("{:.4f}", cost / bound));
  EXPECT_LE(cost / bound, 1.1);
}

TEST(Costs, DoNotMatterWhereThereIsNoChoice) {
  Problem p{.pools = {{"arena", 12}}, .buffers = {{"a", 8, 1, 0, 2}, {"b", 4, 1, 1, 3}}};
  for (Buffer& b : p.buffers) b.costs = {3};
  const Plan made = plan(p);
  EXPECT_EQ(made.cost, 6);
  EXPECT_EQ(made.cost_bound, 6);
  EXPECT_EQ(made.pools[0].size, 12);
  p.pools[0].capacity = 11;
  EXPECT_THROW(plan(p), PassesCapacity);
}

TEST(Costs, AreRefusedByRowsThatKnowNone) {
  Problem p{.pools = {{"fast", 8}, {"slow"}}, .buffers = {{"a", 8, 1, 0, 2, {0, 1}}}};
  p.buffers[0].costs = {0, 1};
  try {
    plan(p, "iree");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "planner 'iree' does not support costs; 'portfolio' takes it");
  }
}

TEST(Costs, TheSamePlanEachTimeForAnyNumberOfThreads) {
  Draw draw{std::mt19937(5)};
  for (int k = 0; k < 5; ++k) {
    const Problem p = random_problem(draw, 60);
    const auto planned = [&](int threads) {
      return to_csv(p, plan(p, kDefaultPlanner, {.effort = 0.1, .threads = threads}));
    };
    const std::string once = planned(1);
    EXPECT_EQ(planned(1), once);
    EXPECT_EQ(planned(3), once);
  }
}

TEST(Costs, EndWhenCancelledAndAtTheDeadline) {
  Draw draw{std::mt19937(6)};
  const Problem p = random_problem(draw, 1000);
  Search search{.stop = Stop::kAtDeadline, .effort = 1e5, .is_cancelled = [] { return true; }};
  const auto begin = std::chrono::steady_clock::now();
  plan(p, kDefaultPlanner, search);
  search.is_cancelled = {};
  search.seconds = 0.3;
  plan(p, kDefaultPlanner, search);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));  // days without an end
}

TEST(Costs, AWarmStartIsNotLost) {
  Draw draw{std::mt19937(7)};
  for (int k = 0; k < 10; ++k) {
    const Problem p = random_problem(draw, 60);
    const Plan first = plan(p, kDefaultPlanner, {.effort = 0.2});
    Search search{.effort = 1e-4};  // which alone would find less
    for (const Placement& place : first.placements) search.warm_start.emplace_back(place);
    EXPECT_LE(plan(p, kDefaultPlanner, search).cost, first.cost);
    search.warm_start[0] = Placement{7, -1};
    search.warm_start[1].reset();
    EXPECT_NO_THROW(plan(p, kDefaultPlanner, search));
  }
}

}  // namespace
}  // namespace arenac
