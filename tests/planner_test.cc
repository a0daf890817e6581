#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "frontend/error.h"
#include "planner/bounds.h"
#include "planner/planners.h"
#include "planner/timeline.h"
#include "planner/verify.h"

namespace arenac::planner_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Brute force by its own rules: the smallest sum of pool sizes at offsets below `limit`, or nothing.
bool compatible(const Problem& p, int i, Placement at, int j, Placement bt) {
  const Buffer &a = p.buffers[i], &b = p.buffers[j];
  bool apart = at.pool != bt.pool || a.end <= b.begin || b.end <= a.begin ||
               at.offset + a.size <= bt.offset || bt.offset + b.size <= at.offset || a.size == 0 ||
               b.size == 0;
  return apart || std::any_of(p.overlaps.begin(), p.overlaps.end(), [&](const Overlap& o) {
           return (o.above == i && o.below == j && at.offset >= bt.offset + o.distance) ||
                  (o.above == j && o.below == i && bt.offset >= at.offset + o.distance);
         });
}

void search(const Problem& p, std::vector<Placement>& placed, int64_t top, int64_t limit, int64_t& best) {
  int id = int(placed.size());
  if (top >= best) return;
  if (id == int(p.buffers.size())) {
    best = top;
    return;
  }
  const Buffer& b = p.buffers[id];
  for (int64_t offset = 0; offset < limit; ++offset) {
    if (offset % b.align || offset % p.pools[0].align || b.fixed_offset.value_or(offset) != offset) continue;
    bool fine = true;
    for (int other = 0; other < id && fine; ++other)
      fine = compatible(p, other, placed[other], id, {0, offset});
    if (!fine) continue;
    placed.push_back({0, offset});
    search(p, placed, std::max(top, offset + b.size), limit, best);
    placed.pop_back();
  }
}

// Of a problem with one pool.
int64_t optimum(const Problem& p, int64_t limit) {
  std::vector<Placement> placed;
  int64_t best = std::numeric_limits<int64_t>::max();
  search(p, placed, 0, limit, best);
  return best;
}

// The rows that support what the problem asks for.
std::vector<Planner> rows_for(const Problem& p) {
  auto any = [&](auto&& asks, unsigned feature) {
    return std::any_of(p.buffers.begin(), p.buffers.end(), asks) ? feature : 0u;
  };
  const unsigned features = any([](const Buffer& b) { return b.align > 1; }, kAlignment) |
                            any([](const Buffer& b) { return !b.gaps.empty(); }, kGaps) |
                            any([](const Buffer& b) { return b.fixed_offset.has_value(); }, kFixedOffsets) |
                            (p.pools.size() > 1 ? kPools : 0u) | (p.pools[0].align > 1 ? kAlignment : 0u) |
                            (p.overlaps.empty() ? 0u : kOverlaps);
  std::vector<Planner> rows;
  for (const Planner& row : kPlanners)
    if ((row.supports & features) == features) rows.push_back(row);
  return rows;
}

int64_t bound(const Problem& p) { return lower_bound(p, 0, all_buffers(p)); }

TEST(Bounds, LoadIsTheGreatestLiveSum) {
  Problem p{.pools = {{"arena"}}, .buffers = {{"a", 8, 1, 0, 2}, {"b", 4, 1, 2, 5}, {"c", 4, 1, 1, 3}}};
  EXPECT_EQ(load(p, all_buffers(p)), 12);
  EXPECT_EQ(load(p, {1, 2}), 8);
  EXPECT_EQ(load(p, {}), 0);
  EXPECT_EQ(bound(p), 12);
}

TEST(Bounds, LoadSaysWhenItIs) {
  const Problem p{.pools = {{"arena"}},
                  .buffers = {{"a", 8, 1, -7, -2},
                              {"b", 4, 1, -4, 5},
                              {"c", 4, 1, 3, 9},
                              {"d", 8, 1, 4, 9},
                              {"e", 0, 1, 20, 30}}};
  const PeakLoad peak = peak_load(p, all_buffers(p));
  EXPECT_EQ(std::tuple(peak.bytes, peak.begin, peak.end), std::tuple(16, 4, 5));
  const PeakLoad first = peak_load(p, {0, 1, 2});
  EXPECT_EQ(std::tuple(first.bytes, first.begin, first.end), std::tuple(12, -4, -2));
  EXPECT_EQ(peak_load(p, {4}).bytes, 0);
}

TEST(Bounds, AlignmentCountsForAllButTheTopmost) {
  Problem p{.pools = {{"arena"}}, .buffers = {{"a", 5, 8, 0, 1}, {"b", 3, 8, 0, 1}}};
  EXPECT_EQ(bound(p), 11);  // b below, a from 8 to 13, or a below, b from 8 to 11
  p.pools[0].align = 12;
  EXPECT_EQ(bound(p), 27);
  p.buffers[0].align = 1;
  p.pools[0].align = 1;
  EXPECT_EQ(bound(p), 8);
}

TEST(Bounds, OverlapsLowerItAndFixedTopsRaiseIt) {
  Problem p{.pools = {{"arena"}},
            .buffers = {{"x", 8, 1, 0, 2}, {"y", 8, 1, 0, 2}, {"sum", 8, 1, 1, 3}},
            .overlaps = {{0, 2, 0}, {1, 2, 0}}};
  EXPECT_EQ(bound(p), 16);  // the sum lies on x or on y, but x and y are apart
  p.overlaps = {{0, 2, 3}};
  EXPECT_EQ(bound(p), 19);
  p.buffers[1].fixed_offset = 100;
  EXPECT_EQ(bound(p), 108);
}

TEST(Timeline, SpansMeetExactlyWhenLivesDo) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Problem p{.pools = {{"arena"}}, .buffers = {}};
    for (int i = 0; i < 8; ++i) {
      int64_t begin = random() % 9;
      p.buffers.push_back({"b", 1, 1, begin, begin + 1 + int64_t(random() % 4)});
    }
    Timeline timeline = make_timeline(p, all_buffers(p));
    EXPECT_LE(timeline.slots, 8);
    PieceIndex index(timeline.slots);
    for (int i = 0; i < 8; ++i) index.insert(i, timeline);
    for (int i = 0; i < 8; ++i) {
      std::vector<int> found, expected;
      index.meeting(timeline.spans[i], [&](int id, const Piece&) { found.push_back(id); });
      for (int j = 0; j < 8; ++j)
        if (p.buffers[i].begin < p.buffers[j].end && p.buffers[j].begin < p.buffers[i].end)
          expected.push_back(j);
      EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
    }
  }
}

// Every problem with up to 4 buffers of up to 3 bytes and 4 times.
TEST(Planners, SolveEverySmallProblem) {
  std::vector<Buffer> kinds;
  for (int64_t size = 1; size <= 3; ++size)
    for (int64_t begin = 0; begin < 4; ++begin)
      for (int64_t end = begin + 1; end <= 4; ++end) kinds.push_back({"k", size, 1, begin, end});
  int problems = 0, none = int(kinds.size());  // the index that stands for no buffer
  auto solve = [&](std::initializer_list<int> picks) {
    Problem p{.pools = {{"arena"}}, .buffers = {}};
    int64_t live[4] = {};
    for (int pick : picks)
      if (pick < none) p.buffers.push_back(kinds[pick]);
    for (const Buffer& b : p.buffers)
      for (int64_t time = b.begin; time < b.end; ++time) live[time] += b.size;
    int64_t peak = *std::max_element(live, live + 4), best = p.buffers.empty() ? 0 : optimum(p, 12);
    ++problems;
    ASSERT_EQ(load(p, all_buffers(p)), peak);
    ASSERT_LE(bound(p), best);
    ASSERT_EQ(plan(p).pools[0].size, best);
    ASSERT_EQ(plan(p).pools[0].proof(), Proof::kOptimal);
  };
  for (int a = 0; a <= none; ++a)
    for (int b = a; b <= none; ++b)
      for (int c = b; c <= none; ++c)
        for (int d = c; d <= none; ++d) {
          solve({a, b, c, d});
          if (HasFatalFailure()) return;
        }
  EXPECT_EQ(problems, 46376);  // 34 over 4
}

Buffer random_buffer(std::mt19937& random, int times) {
  int64_t begin = random() % times, length = 1 + random() % (1 + times / 3);
  return {fmt::format("b{}", random() % 100), int64_t(random() % 9), int64_t(1) << random() % 3, begin,
          begin + length};
}

// Alignment, overlaps in both directions and a fixed buffer, small enough for brute force.
TEST(Planners, BoundsAreSoundAndPlansCloseToBruteForce) {
  std::mt19937 random(7);
  int reached = 0, rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    Problem p{.pools = {{.name = "arena", .align = 1 + int64_t(random() % 2)}}, .buffers = {}};
    for (int i = 0; i < 4; ++i) p.buffers.push_back(random_buffer(random, 4));
    if (random() % 2) p.buffers[0].fixed_offset = 8 * (random() % 2);
    for (int i = 0; i < int(random() % 4); ++i) {
      int a = random() % 4, b = (a + 1 + random() % 3) % 4;
      p.overlaps.push_back({a, b, int64_t(random() % 7) - 2});
    }
    int64_t best = optimum(p, 40);
    ASSERT_LE(bound(p), best) << round;
    for (const Planner& row : rows_for(p))
      ASSERT_GE(plan(p, row.name).pools[0].size, best) << row.name << round;
    reached += plan(p).pools[0].size == best;
  }
  RecordProperty("reached", reached);
  EXPECT_GE(reached, rounds - 3);
}

// plan() verifies; what is left to check is that every row copes, and the portfolio with the bound.
TEST(Planners, HonourFixedOffsetsAlignmentOverlapsAndPools) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    Problem p{.pools = {{.name = "fast", .capacity = 40, .align = 4}, {.name = "slow"}}, .buffers = {}};
    for (int i = 0; i < 60; ++i) {
      Buffer b = random_buffer(random, 40);
      switch (random() % 3) {
        case 0:
          b.pools = {0, 1};
          break;
        case 1:
          b.pools = {1, 0};
          break;
        case 2:
          b.pools = {1};
          break;
      }
      p.buffers.push_back(b);
    }
    p.buffers[0] = {"pinned", 8, 8, 0, 20, {0}, 16};
    p.buffers[1] = {"pinned too", 8, 1, 10, 40, {1}, 24};
    for (int i = 0; i < 20; ++i) {
      int a = random() % 60, b = (a + 1 + random() % 59) % 60;
      p.overlaps.push_back({a, b, int64_t(random() % 5)});
    }
    for (const Planner& row : rows_for(p)) {
      Plan result = plan(p, row.name, {.effort = 0.02});
      EXPECT_EQ(result.placements[0].offset, 16);
      EXPECT_LE(result.pools[0].size, 40);
      EXPECT_GE(result.pools[1].size, result.pools[1].lower_bound);
    }
  }
}

TEST(Planners, FallBackToTheNextPoolWhenTheFirstIsFull) {
  Problem p{.pools = {{.name = "fast", .capacity = 10}, {.name = "slow"}},
            .buffers = {{"a", 8, 1, 0, 2, {0, 1}}, {"b", 6, 1, 1, 3, {0, 1}}, {"c", 2, 1, 1, 3, {0, 1}}}};
  for (const Planner& row : rows_for(p)) {
    Plan result = plan(p, row.name);
    EXPECT_EQ(result.pools[0].size + result.pools[1].size, 16) << row.name;
  }
  Plan best = plan(p);
  EXPECT_EQ(best.pools[0].size, 10);
  EXPECT_EQ(best.pools[1].size, 6);
}

TEST(Planners, AreDeterministic) {
  std::mt19937 random(5);
  Problem p{.pools = {{"arena"}}, .buffers = {}};
  for (int i = 0; i < 100; ++i) p.buffers.push_back(random_buffer(random, 30));
  for (const Planner& row : rows_for(p)) {
    Plan first = plan(p, row.name, {.effort = 0.02}), second = plan(p, row.name, {.effort = 0.02});
    for (int i = 0; i < 100; ++i)
      EXPECT_EQ(first.placements[i].offset, second.placements[i].offset) << row.name;
  }
}

extern "C" int planner_c_test(void);
TEST(Planners, AreThereForC) { EXPECT_EQ(planner_c_test(), 0) << "the line of planner_c_test.c"; }

TEST(Planners, NamesAndDescriptionsAreComplete) {
  for (const Planner& row : kPlanners) {
    EXPECT_FALSE(row.description.empty() || row.source.empty()) << row.name;
    EXPECT_EQ(std::count_if(kPlanners.begin(), kPlanners.end(),
                            [&](auto& other) { return other.name == row.name; }),
              1);
  }
  EXPECT_EQ(kPlanners.front().name, kDefaultPlanner);
}

std::string error_of(const Problem& p, std::string_view planner, Exit status) {
  try {
    plan(p, planner);
  } catch (const UserError& error) {
    EXPECT_EQ(error.status, status);
    return error.what();
  }
  return "no error";
}

TEST(Planners, ErrorsSayWhatIsWrong) {
  Problem p{.pools = {{"arena"}}, .buffers = {{"a", 8, 1, 0, 2}, {"b", 4, 1, 1, 5}}};
  EXPECT_THAT(error_of(p, "magic", Exit::kUsage), AllOf(HasSubstr("'magic'"), HasSubstr("tflite_by_size")));
  p.pools[0].capacity = 11;
  for (const Planner& row : kPlanners)
    EXPECT_THAT(error_of(p, row.name, Exit::kDoesNotFit), HasSubstr("pool 'arena' needs 12 bytes"))
        << row.name;
  p.pools[0].capacity = {};
  p.buffers[0].fixed_offset = 4;
  p.buffers[1].fixed_offset = 8;
  for (const Planner& row : rows_for(p))
    EXPECT_THAT(error_of(p, row.name, Exit::kModel), HasSubstr("cannot lie at its fixed offset"));
  p.buffers[1] = {"h", std::numeric_limits<int64_t>::max(), 1, 0, 1};
  for (const Planner& row : kPlanners)
    EXPECT_THAT(error_of(p, row.name, Exit::kModel), HasSubstr("buffer 1 'h'"));
  p.buffers = std::vector<Buffer>(64, {"h", int64_t{1} << 58, 1, 0, 1});
  for (const Planner& row : kPlanners)
    EXPECT_THAT(error_of(p, row.name, Exit::kModel), HasSubstr("sizes sum to"));
  p.buffers = {};
  for (const Planner& row : kPlanners) EXPECT_EQ(plan(p, row.name).pools[0].size, 0);
}

// Columns id, lower, upper, size among others, in any order.
Problem read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  Problem p{.pools = {{"arena"}}, .buffers = {}};
  std::vector<std::string> columns;
  for (std::string line, cell; std::getline(file, line);) {
    std::stringstream cells(line);
    if (columns.empty()) {
      while (std::getline(cells, cell, ',')) columns.push_back(cell);
      continue;
    }
    Buffer& b = p.buffers.emplace_back();
    for (const std::string& column : columns) {
      std::getline(cells, cell, ',');
      if (column == "id") b.name = cell;
      if (column == "lower") b.begin = std::stoll(cell);
      if (column == "upper") b.end = std::stoll(cell);
      if (column == "size") b.size = std::stoll(cell);
    }
  }
  return p;
}

TEST(Planners, SharedProblems) {
  std::filesystem::path folder = std::filesystem::path(ARENAC_SOURCE_DIR) / "../shared/planning";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no ../shared/planning beside the project";
  std::vector<std::filesystem::path> files;
  for (auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 10u);
  for (auto& file : files) {
    Problem p = read_csv(file);
    const double ratio = double(plan(p).pools[0].size) / double(load(p, all_buffers(p)));
    const bool is_hard = file.stem().string().starts_with("minimalloc");
    EXPECT_LT(ratio, is_hard ? 1.25 : 1.004) << file;
    fmt::print("{:18} {:5} buffers, makespan over load {:.4f}\n", file.stem().string(), p.buffers.size(),
               ratio);
  }
}

}  // namespace
}  // namespace arenac::planner_test
