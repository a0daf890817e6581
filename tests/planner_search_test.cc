// What the portfolio is made of, on the families of bench/planning_problems.h: every plan is verified by
// plan().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "planner/blocks.h"
#include "planner/bounds.h"
#include "planner/holes.h"
#include "planner/local_search.h"
#include "planner/loose_blocks.h"
#include "planner/packing.h"
#include "planner/parallel.h"
#include "planner/planners.h"
#include "planner/skyline.h"
#include "planner/stack.h"
#include "planner/starts.h"
#include "planner/valley_search.h"
#include "planner/verify.h"
#include "tests/plans.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

std::vector<Rectangle> rectangles(const Problem& problem, const Timeline& timeline) {
  std::vector<Rectangle> result;
  for (int id : all_buffers(problem)) result.push_back({timeline.spans[id], problem.buffers[id].size});
  return result;
}

std::vector<int64_t> offsets_of(const Plan& plan) {
  std::vector<int64_t> offsets;
  for (const Placement& place : plan.placements) offsets.push_back(place.offset);
  return offsets;
}

TEST(Families, AreTheSameEachTimeAndAsLargeAsAskedFor) {
  for (const ProblemFamily& f : kProblemFamilies) {
    const Problem a = f.make(500, 7), b = f.make(500, 7), c = f.make(500, 8);
    EXPECT_GE(a.buffers.size(), 450u) << f.name;
    EXPECT_LE(a.buffers.size(), 560u) << f.name;
    const auto sizes = [](const Problem& p) {
      std::vector<int64_t> result;
      for (const Buffer& buffer : p.buffers) result.push_back(buffer.size);
      return result;
    };
    EXPECT_EQ(sizes(a), sizes(b)) << f.name;
    EXPECT_NE(sizes(a), sizes(c)) << f.name;
    check(a);
  }
}

TEST(Blocks, PerfectPackingsAndPinwheelsBecomeOne) {
  for (const char* name : {"perfect", "pinwheel"})
    for (uint64_t seed : {1, 2, 3}) {
      const Problem problem = family(name, 500, seed);
      const Timeline timeline = make_timeline(problem, all_buffers(problem));
      const Blocks blocks = make_blocks(rectangles(problem, timeline), timeline.slots);
      EXPECT_EQ(std::count(blocks.parent.begin(), blocks.parent.end(), -1), 1) << name << " " << seed;
      const Plan p = plan(problem);
      EXPECT_EQ(p.pools[0].proof(), Proof::kOptimal) << name << " " << seed;
      EXPECT_EQ(p.pools[0].size, load(problem, all_buffers(problem)));
    }
}

TEST(Blocks, EqualBuffersAreStackedWithoutComparingAllOfThem) {
  const Blocks blocks = make_blocks(std::vector<Rectangle>(100'000, {{0, 1}, 8}), 1);
  EXPECT_EQ(std::count(blocks.parent.begin(), blocks.parent.end(), -1), 1);
  EXPECT_EQ(blocks.all.back().size, 800'000);
}

TEST(LooseBlocks, ShrunkPackingsBecomeOneThatWastesLittle) {
  for (uint64_t seed : {1, 2, 3}) {
    const Problem problem = family("shrunk", 1000, seed);
    const Timeline timeline = make_timeline(problem, all_buffers(problem));
    const double bound = double(load(problem, all_buffers(problem)));
    const Blocks blocks =
        make_loose_blocks(rectangles(problem, timeline), timeline.slots, {int64_t(1.03 * bound), 1, 0.01});
    EXPECT_EQ(std::count(blocks.parent.begin(), blocks.parent.end(), -1), 1) << seed;
    EXPECT_LT(double(blocks.all.back().size), 1.03 * bound) << seed;
    EXPECT_LT(double(plan(problem, kDefaultPlanner, {.effort = 0.1}).pools[0].size), 1.01 * bound) << seed;
  }
}

TEST(LooseBlocks, HolesAreWhatWentFromAPerfectPacking) {
  const Problem problem = family("perfect", 200);
  const Timeline timeline = make_timeline(problem, all_buffers(problem));
  std::vector<Rectangle> left = rectangles(problem, timeline);
  const Rectangle gone = left.back();
  left.pop_back();
  const int64_t bound = load(problem, all_buffers(problem));
  const std::vector<Rectangle> found = holes(left, timeline.slots, bound, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].size, gone.size);
  EXPECT_EQ(found[0].span.begin, gone.span.begin);
  EXPECT_EQ(found[0].span.end, gone.span.end);
  EXPECT_TRUE(holes(left, timeline.slots, bound, gone.size + 1).empty());
}

// Aligned, some with gaps, one at a fixed offset, some that may share bytes with the next one.
Problem with_every_feature(Problem problem) {
  for (Buffer& b : problem.buffers) b.align = 16;
  for (size_t i = 0; i < problem.buffers.size(); i += 5) {
    Buffer& b = problem.buffers[i];
    if (b.end - b.begin > 4) b.gaps = {{b.begin + 1, b.begin + 3, 0, b.size / 2}};
  }
  problem.buffers[0].fixed_offset = 160;
  for (int i = 1; i + 1 < int(problem.buffers.size()); i += 7) problem.overlaps.push_back({i, i + 1, 32});
  return problem;
}

TEST(Skyline, ValleysAndStacksAgreeAndCollideNowhere) {
  for (const ProblemFamily& f : kProblemFamilies)
    for (int way = 0; way < 3; ++way) {
      const Problem problem = f.make(1000, 3);
      const Timeline timeline = make_timeline(problem, all_buffers(problem));
      const std::vector<Rectangle> all = rectangles(problem, timeline);
      const std::vector<int64_t> offsets =
          way == 0 ? fill_valleys(all, timeline.slots)
                   : fill_valleys(all, timeline.slots, ByNeed{.looks_ahead = way == 2}).offsets;
      EXPECT_EQ(verify(problem, plan_at(problem, offsets)), std::nullopt) << f.name;
      std::vector<int> order = all_buffers(problem);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return offsets[a] < offsets[b]; });
      const Plan stacked = plan_at(problem, stack(problem, timeline, 0, order));
      EXPECT_EQ(verify(problem, stacked), std::nullopt) << f.name;
      EXPECT_LE(stacked.pools[0].size, plan_at(problem, offsets).pools[0].size) << f.name;
    }
}

// Bytes lost where the load is low cost nothing: that is worth at least half of what the longest lives waste.
TEST(Skyline, ValleysByNeedLoseLessThanByLife) {
  int64_t by_life = 0, by_need = 0, ahead = 0;
  for (uint64_t seed : {1, 2, 3}) {
    const Problem problem = family("uniform", 3000, seed);
    const Timeline timeline = make_timeline(problem, all_buffers(problem));
    const std::vector<Rectangle> all = rectangles(problem, timeline);
    const auto lost = [&](const std::vector<int64_t>& offsets) {
      return plan_at(problem, offsets).pools[0].size - load(problem, all_buffers(problem));
    };
    by_life += lost(fill_valleys(all, timeline.slots));
    by_need += lost(fill_valleys(all, timeline.slots, ByNeed{}).offsets);
    ahead += lost(fill_valleys(all, timeline.slots, ByNeed{.looks_ahead = true}).offsets);
  }
  EXPECT_LT(2 * by_need, by_life);
  EXPECT_LT(2 * ahead, by_life);
}

TEST(ValleySearch, ComesNearTheLoadAndIsDeterministic) {
  const Problem problem = family("geometric", 1000, 1);
  const Timeline timeline = make_timeline(problem, all_buffers(problem));
  const int64_t bound = load(problem, all_buffers(problem));
  const auto search = [&] {
    return ValleySearch(problem, timeline, 1)
        .smaller_than(2 * bound, {.goal = bound, .draws = 60, .effort = {1'000'000'000}});
  };
  const auto once = search(), again = search();
  ASSERT_TRUE(once && again);
  const Plan p = make_plan(problem, *once);
  EXPECT_EQ(verify(problem, p), std::nullopt);
  EXPECT_LT(double(p.pools[0].size), 1.03 * double(bound));
  for (size_t id = 0; id < once->size(); ++id) EXPECT_EQ((*once)[id].offset, (*again)[id].offset);
  EXPECT_FALSE(
      ValleySearch(problem, timeline, 1).smaller_than(bound, {.draws = 10, .effort = {100'000'000}}));
}

TEST(ValleySearch, LeavesFixedBuffersAndHonoursAlignmentGapsAndOverlaps) {
  const Problem problem = with_every_feature(family("uniform", 200));
  const Timeline timeline = make_timeline(problem, all_buffers(problem));
  const auto placements =
      ValleySearch(problem, timeline, 1).smaller_than(INT64_MAX, {.draws = 50, .effort = {100'000'000}});
  ASSERT_TRUE(placements);
  EXPECT_EQ((*placements)[0].offset, 160);
  EXPECT_EQ(verify(problem, make_plan(problem, *placements)), std::nullopt);
}

TEST(LocalSearch, LowersAHeapOfBuffersAndIsDeterministic) {
  const Problem problem = family("uniform", 300);
  const std::vector<int> ids = all_buffers(problem);
  std::vector<int64_t> heap;  // one on top of the other
  int64_t top = 0;
  for (const Buffer& b : problem.buffers) heap.push_back(std::exchange(top, top + b.size));
  const int64_t bound = load(problem, ids);
  const Improved once = make_room(problem, 0, ids, heap, {.lower_bound = bound, .work = 20'000'000});
  const Improved again = make_room(problem, 0, ids, heap, {.lower_bound = bound, .work = 20'000'000});
  EXPECT_EQ(once.offsets, again.offsets);
  const Plan p = plan_at(problem, once.offsets);
  EXPECT_EQ(verify(problem, p), std::nullopt);
  EXPECT_EQ(p.pools[0].size, once.size);
  EXPECT_LT(double(once.size), 1.1 * double(bound));
}

TEST(LocalSearch, LeavesFixedBuffersAndHonoursAlignmentGapsAndOverlaps) {
  const Problem problem = with_every_feature(family("uniform", 200));
  const Plan start = plan(problem, "tflite_by_size");
  const Improved better = make_room(problem, 0, all_buffers(problem), offsets_of(start),
                                    {.lower_bound = start.pools[0].lower_bound, .work = 20'000'000});
  EXPECT_EQ(better.offsets[0], 160);
  EXPECT_EQ(verify(problem, plan_at(problem, better.offsets)), std::nullopt);
  EXPECT_LE(better.size, start.pools[0].size);
}

// As lives of one size are coloured by begin, which is optimal.
TEST(Starts, BySizeNeedsNoMoreThanTheLoadOfEachSize) {
  for (unsigned seed = 1; seed <= seeds(20); ++seed) {
    Problem problem = family("uniform", 300, seed);
    for (Buffer& b : problem.buffers) b.size = 64;
    const Plan p = make_plan(problem, pack(problem, largest_first(problem), Fit::kLowest));
    EXPECT_EQ(p.pools[0].size, load(problem, all_buffers(problem))) << seed;
  }
}

TEST(Portfolio, IsNotBehindFirstFitBySizeOnManyBuffersOfFewSizes) {
  const Problem problem = family("geometric", 101'000, 1);
  const Plan packed = make_plan(problem, pack(problem, largest_first(problem), Fit::kLowest));
  EXPECT_LE(plan(problem, kDefaultPlanner, {.effort = 0.05}).pools[0].size, packed.pools[0].size);
}

TEST(Portfolio, StaysWithinOnePercentOfTheLoadOnFamiliesOfManyBuffers) {
  for (const char* name : {"power_law", "malloc_like", "training", "perfect", "pinwheel", "tall_and_flat",
                           "inference", "uniform"}) {
    const Problem problem = family(name, 20'000, 2);
    const PoolUse use = plan(problem).pools[0];
    EXPECT_LT(double(use.size), 1.01 * double(use.lower_bound)) << name;
  }
}

TEST(Portfolio, IsTheSameForAnyNumberOfThreads) {
  for (const char* name : {"geometric", "uniform_long"}) {
    const Problem problem = family(name, 2000, 4);
    const std::vector<int64_t> alone = offsets_of(plan(problem, kDefaultPlanner, {.effort = 0.2}));
    for (const int threads : {2, 3})
      EXPECT_EQ(offsets_of(plan(problem, kDefaultPlanner, {.effort = 0.2, .threads = threads})), alone)
          << name << " " << threads;
  }
}

// Whoever cancels is asked by the thread that plans, and by no other.
TEST(Portfolio, IsCancelledByTheThreadThatPlans) {
  const Problem problem = family("uniform_long", 20'000, 1);
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> asked = 0, elsewhere = 0;
  Search search{.threads = 3};
  search.is_cancelled = [&] {
    if (std::this_thread::get_id() != here) ++elsewhere;
    return ++asked > 2;
  };
  EXPECT_EQ(verify(problem, plan_at_best(problem, kDefaultPlanner, search)), std::nullopt);
  EXPECT_GT(asked, 2);
  EXPECT_EQ(elsewhere, 0);
}

TEST(Parallel, TakesInOrderUntilItHasEnoughAndThrowsWhatWouldBeTaken) {
  for (const int threads : {1, 2, 5}) {
    std::vector<int> taken;
    const auto work = [](int k, const Cutoff&) {
      if (k == 7) throw UserError("the seventh");
      return k * k;
    };
    const auto take = [&](size_t most) {
      return [&taken, most](int result) {
        taken.push_back(result);
        return taken.size() < most;
      };
    };
    in_parallel(threads, 20, {}, work, take(5));
    EXPECT_THAT(taken, testing::ElementsAre(0, 1, 4, 9, 16)) << threads;
    EXPECT_THROW(in_parallel(threads, 20, {}, work, take(20)), UserError) << threads;
    EXPECT_EQ(taken.size(), 12u) << threads;
  }
}

// A rectangle of 1000 times and 1000 bytes cut again and again; chance matches abound on so coarse a grid.
Problem cut_rectangle(int pieces, uint32_t seed) {
  std::mt19937 random(seed);
  Problem p{.pools = {{"arena"}}, .buffers = {{"", 1000, 1, 0, 1000}}};
  while (int(p.buffers.size()) < pieces) {
    Buffer& b = p.buffers[random() % p.buffers.size()];
    Buffer rest = b;
    if (random() % 2 && b.end - b.begin > 1) {
      b.end = rest.begin = b.begin + 1 + int64_t(random() % uint64_t(b.end - b.begin - 1));
    } else if (b.size > 1) {
      b.size = 1 + int64_t(random() % uint64_t(b.size - 1));
      rest.size -= b.size;
    } else {
      continue;
    }
    p.buffers.push_back(rest);
  }
  for (size_t i = p.buffers.size(); i > 1; --i) std::swap(p.buffers[i - 1], p.buffers[random() % i]);
  return p;
}

TEST(Portfolio, SolvesPackingsCutOnACoarseGrid) {
  for (uint32_t seed : {1, 2, 3, 4, 5}) EXPECT_EQ(plan(cut_rectangle(500, seed)).pools[0].size, 1000) << seed;
}

// Small problems of every kind, most of them without a plan at the bound.
Problem random_problem(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return int64_t(random() % n); };
  const uint32_t times = 5 + uint32_t(below(40)), longest = 2 + uint32_t(below(15)),
                 magnitudes = 1 + uint32_t(below(6));
  Problem p{.pools = {{"arena"}}, .buffers = {}};
  for (int64_t n = 10 + below(30); n > 0; --n) {
    const int64_t begin = below(times);
    Buffer& b = p.buffers.emplace_back(Buffer{.name = "b",
                                              .size = 1 + below(1u << (2 * magnitudes)),
                                              .begin = begin,
                                              .end = begin + 1 + below(longest)});
    if (seed % 3 == 0) b.align = 1 << below(4);
  }
  return p;
}

void expect_no_row_below(const Problem& p, double effort, const std::string& name) {
  const int64_t size = plan(p, kDefaultPlanner, {.effort = effort}).pools[0].size;
  if (size == load(p, all_buffers(p))) return;  // nobody is
  for (const Planner& row : kPlanners)
    if (row.growth != Growth::kSearch && !refusal(row, p)) {
      EXPECT_LE(size, plan(p, row.name).pools[0].size) << row.name << " on " << name;
    }
}

TEST(Portfolio, IsNeverBehindARowThatDoesNotSearch) {
  for (uint32_t seed = 1; seed <= 1000; ++seed)
    expect_no_row_below(random_problem(seed), 0.02, "seed " + std::to_string(seed));
  for (const ProblemFamily& f : kProblemFamilies)
    for (int buffers : {100, 1000}) expect_no_row_below(f.make(buffers, 5), 0.02, std::string(f.name));
}

// A few buffers larger, smaller, longer, gone or new, as after an edit of the program that they are of; and
// where the plan has what is left.
std::pair<Problem, WarmStart> edited(Problem problem, const Plan& plan, uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return int64_t(random() % n); };
  WarmStart places(plan.placements.begin(), plan.placements.end());
  for (int64_t edits = 1 + below(3); edits > 0; --edits) {
    const auto at = size_t(below(uint32_t(problem.buffers.size())));
    Buffer& b = problem.buffers[at];
    switch (below(5)) {
      case 0:
        b.size += 1 + b.size / 10;
        break;
      case 1:
        b.size -= b.size / 10;
        break;
      case 2:
        b.end += 2;
        break;
      case 3:
        problem.buffers.erase(problem.buffers.begin() + std::ptrdiff_t(at));
        places.erase(places.begin() + std::ptrdiff_t(at));
        break;
      case 4:
        problem.buffers.push_back(Buffer(b));
        places.emplace_back();
        break;
    }
  }
  return {std::move(problem), std::move(places)};
}

// Bytes above the bound of the buffers that are in it.
int64_t excess(const Problem& problem, const WarmStart& places) {
  Problem placed{.pools = problem.pools, .buffers = {}};
  int64_t size = 0;
  for (size_t id = 0; id < places.size(); ++id) {
    if (!places[id]) continue;
    placed.buffers.push_back(problem.buffers[id]);
    size = std::max(size, places[id]->offset + problem.buffers[id].size);
  }
  return size - least_makespan(placed);
}

TEST(WarmStart, IsKeptWhereNothingHasChanged) {
  for (const ProblemFamily& f : kProblemFamilies) {
    const Problem problem = f.make(300, 3);
    const Plan cold = plan(problem, kDefaultPlanner, {.effort = 0.1});
    const Plan warm = plan(problem, kDefaultPlanner,
                           {.effort = 0.001, .warm_start = {cold.placements.begin(), cold.placements.end()}});
    EXPECT_LE(warm.pools[0].size, cold.pools[0].size) << f.name;
  }
}

// As near to its bound as what is left of the plan before, or as good as from nothing.
TEST(WarmStart, IsNotWorseForAnEdit) {
  uint32_t kept = 0;
  for (uint32_t seed = 1; seed <= seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    const Problem before = random_problem(seed);
    const Plan plan_before = plan(before, kDefaultPlanner, {.effort = 0.02});
    const auto [problem, places] = edited(before, plan_before, seed);
    const Plan cold = plan(problem, kDefaultPlanner, {.effort = 0.02});
    const Plan warm = plan(problem, kDefaultPlanner, {.effort = 0.02, .warm_start = places});
    const int64_t bound = warm.pools[0].lower_bound;
    const bool is_kept = warm.pools[0].size - bound <= excess(problem, places) + bound / 500;
    EXPECT_TRUE(is_kept || warm.pools[0].size <= cold.pools[0].size);
    kept += is_kept;
  }
  if (all_seeds()) {
    EXPECT_GE(6 * kept, 5 * seeds(60));
  }
}

// Whoever has a place keeps it where it is free, the largest first, and the others are packed between them:
// that is where it begins.
TEST(WarmStart, IsNeverBehindItsRepair) {
  for (uint32_t seed = 1; seed <= seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    const Problem before = random_problem(seed);
    const Plan plan_before = plan(before, kDefaultPlanner, {.effort = 0.02});
    const auto [problem, places] = edited(before, plan_before, seed);
    std::vector<int> largest = all_buffers(problem);
    std::ranges::stable_sort(largest, std::greater(), [&](int id) { return problem.buffers[id].size; });
    const Packed repaired = pack_within(problem, largest, Fit::kLowest, {INT64_MAX}, places);
    int64_t size = 0;
    for (size_t id = 0; id < problem.buffers.size(); ++id)
      size = std::max(size, (*repaired.placements)[id].offset + problem.buffers[id].size);
    const Plan warm = plan(problem, kDefaultPlanner, {.effort = 1e-6, .warm_start = places});
    EXPECT_LE(warm.pools[0].size, size);
  }
}

// Pools, groups, overlaps and fixed offsets, from places that no plan has.
TEST(WarmStart, MayBeAnything) {
  std::mt19937 random(1);
  Problem problem{.pools = {{"a", 4000, 4}, {"b", {}, 8}}, .buffers = {}};
  for (int id = 0; id < 40; ++id) {
    const auto begin = int64_t(random() % 20);
    problem.buffers.push_back({.name = "b",
                               .size = 1 + int64_t(random() % 300),
                               .begin = begin,
                               .end = begin + 1 + int64_t(random() % 9),
                               .pools = id % 3 ? std::vector{0, 1} : std::vector{1}});
  }
  problem.buffers[7].fixed_offset = 64;
  problem.overlaps = {{1, 2, 0}, {4, 5, 16}};
  problem.same_offset = {{10, 11}, {20, 21, 22}};
  const std::vector<int64_t> offsets = {INT64_MIN, -1, 0, 1, 8, 400, int64_t{1} << 59, INT64_MAX};
  const std::vector<int> pools = {INT32_MIN, -1, 0, 1, 2, INT32_MAX};
  const int64_t cold = plan(problem, kDefaultPlanner, {.effort = 0.05}).pools[0].size;
  EXPECT_LE(cold, *problem.pools[0].capacity);
  for (int round = 0; round < int(seeds(12)); ++round) {
    WarmStart places;
    for (size_t id = 0; id < problem.buffers.size(); ++id)
      places.push_back(random() % 4 ? std::optional(Placement{pools[random() % pools.size()],
                                                              offsets[random() % offsets.size()]})
                                    : std::nullopt);
    const Plan warm = plan(problem, kDefaultPlanner, {.effort = 0.05, .warm_start = places});
    EXPECT_LE(warm.pools[0].size, *problem.pools[0].capacity);
  }
}

TEST(Portfolio, ReportsPlansThatGetSmaller) {
  std::vector<int64_t> sizes;
  Search search{.effort = 0.05};
  search.report = [&](const PlanProgress& progress) {
    EXPECT_GE(progress.makespan, progress.lower_bound);
    sizes.push_back(progress.makespan);
  };
  const Problem problem = family("uniform", 400);
  const Plan p = plan(problem, kDefaultPlanner, search);
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  ASSERT_FALSE(sizes.empty());
  EXPECT_EQ(sizes.back(), p.pools[0].size);
}

TEST(Portfolio, StopsAsSoonAsThePlanFits) {
  Problem problem = family("uniform", 2000);
  const int64_t bound = load(problem, all_buffers(problem));
  problem.pools[0].capacity = bound * 11 / 10;
  int reports = 0;
  Search search{.goal = Goal::kFits};
  search.report = [&](const PlanProgress&) { ++reports; };
  EXPECT_LE(plan(problem, kDefaultPlanner, search).pools[0].size, bound * 11 / 10);
  EXPECT_EQ(reports, 1);  // the first start fits
}

TEST(Idealloc, SameSeedSamePlan) {
  const Problem problem = family("uniform", 300);
  const Plan a = plan(problem, "idealloc", {.effort = 0.05, .seed = 5}),
             b = plan(problem, "idealloc", {.effort = 0.05, .seed = 5});
  EXPECT_EQ(offsets_of(a), offsets_of(b));
}

}  // namespace
}  // namespace arenac
