// Blocks that are broken up and made anew, on packings that are perfect or nearly so.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "planner/block_forest.h"
#include "planner/block_search.h"
#include "planner/bounds.h"
#include "planner/planners.h"
#include "planner/skyline.h"
#include "planner/verify.h"
#include "tests/bench/coarse_tilings.h"
#include "tests/plans.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

struct Packing {
  explicit Packing(Problem p)
      : problem(std::move(p)), timeline(make_timeline(problem, all_buffers(problem))) {
    for (int id : all_buffers(problem)) all.push_back({timeline.spans[id], problem.buffers[id].size});
    bound = load(problem, all_buffers(problem));
  }

  Plan plan_at(const std::vector<int64_t>& offsets) const { return arenac::plan_at(problem, offsets); }

  PlanBlocks in_valleys() const {
    return [this](const auto& blocks) { return fill_valleys(blocks, timeline.slots); };
  }

  Problem problem;
  Timeline timeline;
  std::vector<Rectangle> all;
  int64_t bound = 0;
};

// What is in a block lies in its rectangle, where nothing else does; what a block loses fits beside the load.
TEST(BlockForest, EveryChangeLeavesBlocksThatHoldWhatIsInThem) {
  for (unsigned seed = 1; seed <= seeds(3); ++seed) {
    const Packing p(hopper_holed(120, seed));
    BlockForest forest(p.all, p.timeline.slots, p.bound, seed);
    for (int change = 0; change < 300; ++change) {
      forest.change();
      const BlockForest::Layout layout = forest.layout();
      ASSERT_EQ(int(layout.blocks.size()), forest.count());
      // One on top of the other, a plan is right if each block by itself is.
      std::vector<int64_t> floors;
      int64_t top = 0;
      for (const Rectangle& block : layout.blocks) floors.push_back(std::exchange(top, top + block.size));
      std::vector<int64_t> offsets;
      for (size_t i = 0; i < p.all.size(); ++i) {
        const auto [block, relative] = layout.places[i];
        const Rectangle& whole = layout.blocks[size_t(block)];
        ASSERT_GE(relative, 0);
        ASSERT_LE(relative + p.all[i].size, whole.size);
        ASSERT_LE(whole.span.begin, p.all[i].span.begin);
        ASSERT_LE(p.all[i].span.end, whole.span.end);
        offsets.push_back(floors[size_t(block)] + relative);
      }
      const std::vector<int64_t> sums = loads(layout.blocks, p.timeline.slots);
      ASSERT_LE(*std::ranges::max_element(sums), p.bound);
      ASSERT_EQ(verify(p.problem, p.plan_at(offsets)), std::nullopt);
    }
  }
}

TEST(RegroupBlocks, FindsPerfectPackingsOfSmallTilings) {
  for (unsigned seed = 1; seed <= seeds(20); ++seed)
    for (const bool is_turned : {true, false}) {
      const Packing p(is_turned ? hopper(40, seed) : burke(40, seed));
      const auto offsets =
          regroup_blocks(p.all, p.timeline.slots, p.bound, seed, {200'000'000}, p.in_valleys());
      if (offsets.empty()) continue;  // too little coincides
      EXPECT_EQ(verify(p.problem, p.plan_at(offsets)), std::nullopt);
      EXPECT_EQ(p.plan_at(offsets).pools[0].size, p.bound) << seed << " " << is_turned;
    }
}

TEST(RegroupBlocks, IsDeterministicAndEndsWithItsWork) {
  const Packing p(hopper_holed(600, 1));
  const auto search = [&](int64_t work) {
    return regroup_blocks(p.all, p.timeline.slots, p.bound, 7, {work}, p.in_valleys());
  };
  const auto once = search(50'000'000);
  ASSERT_FALSE(once.empty());
  EXPECT_EQ(once, search(50'000'000));
  EXPECT_EQ(verify(p.problem, p.plan_at(once)), std::nullopt);
  EXPECT_EQ(verify(p.problem, p.plan_at(search(0))), std::nullopt);
}

TEST(RegroupBlocks, LeavesAloneWhatHardlyCoincides) {
  Packing p(hopper(300, 1));
  for (size_t i = 0; i < p.all.size(); ++i) p.all[i].size = p.all[i].size * 1000 + int64_t(i * i % 997);
  const std::vector<int64_t> sums = loads(p.all, p.timeline.slots);
  EXPECT_TRUE(regroup_blocks(p.all, p.timeline.slots, *std::ranges::max_element(sums), 1, {100'000'000},
                             p.in_valleys())
                  .empty());
}

TEST(Portfolio, PlansCoarseTilingsPerfectly) {
  for (uint64_t seed : {1, 2}) {
    EXPECT_EQ(plan(hopper(1000, seed)).pools[0].proof(), Proof::kOptimal) << seed;
    EXPECT_EQ(plan(burke(1000, seed)).pools[0].proof(), Proof::kOptimal) << seed;
  }
}

TEST(Portfolio, PlansCoarseTilingsOfWhichSomeIsGonePerfectly) {
  for (uint64_t seed : {1, 2, 4})
    EXPECT_EQ(plan(hopper_holed(1000, seed)).pools[0].proof(), Proof::kOptimal) << seed;
}

TEST(Portfolio, PlansManyOfACoarseTilingNearlyPerfectly) {
  const Plan p = plan(hopper(10'000, 1));
  EXPECT_LE(double(p.pools[0].size), 1.03 * double(p.pools[0].lower_bound));
}

TEST(BlockJoiner, LosesWhatTheLoadLeavesAndGivesItBack) {
  // Of three that filled a rectangle of 2 by 2, one is gone.
  const std::vector<Rectangle> two = {{{0, 2}, 1}, {{0, 1}, 1}};
  BlockJoiner joiner(two, 2, 2);
  Random random(1);
  EXPECT_TRUE(joiner.has_room());
  EXPECT_EQ(joiner.join({0, 1}, -1, random).left.size(), 2u);  // nothing may be lost
  EXPECT_GT(joiner.changes(), 0);
  const auto [left, made] = joiner.join({0, 1}, 1, random);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left, made);
  EXPECT_EQ(joiner[left[0]].rectangle.size, 2);
  EXPECT_EQ(joiner[left[0]].loss.bytes, 1);
  EXPECT_EQ(joiner.changes(), 0);
  joiner.take_apart(left[0]);
  EXPECT_GT(joiner.changes(), 0);
}

TEST(Portfolio, EndsSoonWhileBlocksAreRegrouped) {
  const std::function<bool()> always = [] { return true; };
  const Plan p = plan(hopper_holed(5000, 1), kDefaultPlanner, {.is_cancelled = always});
  EXPECT_GE(p.pools[0].size, p.pools[0].lower_bound);
}

}  // namespace
}  // namespace arenac
