// Local search over orders: what it moves, and how near the load it comes where the load is nearly full.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/bounds.h"
#include "planner/order_search.h"
#include "planner/planners.h"
#include "planner/timeline.h"
#include "planner/verify.h"
#include "tests/plans.h"

namespace arenac {
namespace {

// One on top of the other.
std::vector<int64_t> heap(const Problem& problem) {
  std::vector<int64_t> offsets;
  int64_t top = 0;
  for (const Buffer& b : problem.buffers)
    offsets.push_back(std::exchange(top, top + (b.size + 15) / 16 * 16));
  return offsets;
}

// Nearer than ejection from fixed places with as much work.
TEST(OrderSearch, ComesNearANearlyFullLoadAndIsDeterministic) {
  for (uint64_t seed : {1, 2, 3}) {
    const Problem problem = family("dense", 200, seed);
    const std::vector<int> ids = all_buffers(problem);
    const int64_t bound = load(problem, ids);
    ASSERT_TRUE(can_reorder(problem, ids));
    const Improved once =
        reorder(problem, 0, ids, heap(problem), {.lower_bound = bound, .work = 150'000'000});
    EXPECT_EQ(once.offsets,
              reorder(problem, 0, ids, heap(problem), {.lower_bound = bound, .work = 150'000'000}).offsets);
    const Plan p = plan_at(problem, once.offsets);
    EXPECT_EQ(verify(problem, p), std::nullopt);
    EXPECT_EQ(p.pools[0].size, once.size);
    EXPECT_LT(double(once.size), 1.05 * double(bound)) << seed;
    EXPECT_LT(once.size,
              make_room(problem, 0, ids, heap(problem), {.lower_bound = bound, .work = 150'000'000}).size)
        << seed;
  }
}

TEST(OrderSearch, HonoursAlignmentsAndGapsAndEndsAtTheBound) {
  for (uint64_t seed : {1, 2, 3}) {
    Problem problem = family("uniform", 150, seed);
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      Buffer& b = problem.buffers[i];
      b.align = i % 3 == 0 ? 16 : i % 3 == 1 ? 12 : 1;
      if (i % 5 == 0 && b.end - b.begin > 4) b.gaps = {{b.begin + 1, b.begin + 3, 0, b.size / 2}};
      if (i % 20 == 7) b.size = 0;
    }
    const std::vector<int> ids = all_buffers(problem);
    const Plan start = plan(problem, "tflite_by_size");
    std::vector<int64_t> offsets;
    for (const Placement& place : start.placements) offsets.push_back(place.offset);
    const Improved better =
        reorder(problem, 0, ids, offsets, {.lower_bound = start.pools[0].lower_bound, .work = 20'000'000});
    const Plan p = plan_at(problem, better.offsets);
    EXPECT_EQ(verify(problem, p), std::nullopt) << seed;
    EXPECT_LE(p.pools[0].size, start.pools[0].size) << seed;
    EXPECT_EQ(p.pools[0].size, better.size) << seed;
  }
}

TEST(OrderSearch, RefusesWhatMayNotGiveWay) {
  Problem problem = family("uniform", 20);
  const std::vector<int> ids = all_buffers(problem);
  EXPECT_TRUE(can_reorder(problem, ids));
  problem.buffers[3].fixed_offset = 0;
  EXPECT_FALSE(can_reorder(problem, ids));
  problem.buffers[3].fixed_offset.reset();
  problem.overlaps = {{1, 2, 0}};
  EXPECT_FALSE(can_reorder(problem, ids));
  EXPECT_TRUE(can_reorder(problem, {0, 1, 3}));  // the other one is in another pool
}

TEST(Portfolio, PlansNearlyFullLoadsWithinThreePercent) {
  const Problem problem = family("dense", 300);
  const Plan p = plan(problem, kDefaultPlanner, {.effort = 0.3});
  EXPECT_LT(double(p.pools[0].size), 1.03 * double(load(problem, all_buffers(problem))));
}

}  // namespace
}  // namespace arenac
