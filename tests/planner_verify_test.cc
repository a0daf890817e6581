#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "frontend/error.h"
#include "planner/verify.h"

namespace arenac {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Problem abc() {
  return {.pools = {{"arena"}}, .buffers = {{"a", 8, 1, 0, 2}, {"b", 4, 1, 2, 5}, {"c", 4, 1, 1, 3}}};
}

std::string fault(const Problem& problem, const Plan& plan) {
  return verify(problem, plan).value_or("right");
}

TEST(Verify, AcceptsThePlanInTheHeader) {
  EXPECT_EQ(fault(abc(), {{{0, 0}, {0, 0}, {0, 8}}, {{12, 12}}}), "right");
}

TEST(Verify, NamesBothBuffersTheBytesAndTheTimes) {
  EXPECT_THAT(fault(abc(), {{{0, 0}, {0, 3}, {0, 6}}, {{10, 0}}}),
              AllOf(HasSubstr("buffer 0 'a'"), HasSubstr("buffer 2 'c'"), HasSubstr("bytes [6, 8)"),
                    HasSubstr("pool 'arena'"), HasSubstr("times [1, 2)")));
}

TEST(Verify, NamesABufferThatLiesWhereItMayNot) {
  Problem p = abc();
  p.pools = {{.name = "fast", .capacity = 16, .align = 4}, {.name = "slow"}};
  p.buffers = {{"x", 6, 8, 0, 1, {0}, 8}};
  EXPECT_EQ(fault(p, {{{0, 8}}, {{14, 6}, {}}}), "right");
  EXPECT_THAT(fault(p, {{{1, 8}}, {{}, {14, 0}}}), HasSubstr("lies in pool 1, which it may not"));
  EXPECT_THAT(fault(p, {{{7, 8}}, {{}, {14, 0}}}), HasSubstr("lies in pool 7, which it may not"));
  EXPECT_THAT(fault(p, {{{0, -8}}, {{}, {}}}), HasSubstr("impossible offset -8"));
  EXPECT_THAT(fault(p, {{{0, kHuge}}, {{}, {}}}), HasSubstr("impossible offset"));
  EXPECT_THAT(fault(p, {{{0, 12}}, {{18, 0}, {}}}), HasSubstr("not aligned to 8"));
  EXPECT_THAT(fault(p, {{{0, 16}}, {{22, 0}, {}}}), HasSubstr("ends at 22, above the capacity 16"));
  EXPECT_THAT(fault(p, {{{0, 0}}, {{6, 0}, {}}}), HasSubstr("lies at 0, but is fixed at 8"));
  p.buffers[0].align = 1;
  p.buffers[0].fixed_offset = 2;
  EXPECT_THAT(fault(p, {{{0, 2}}, {{8, 0}, {}}}), HasSubstr("or to 4 as pool 'fast' asks"));
}

TEST(Verify, ChecksTheTotals) {
  EXPECT_THAT(fault(abc(), {{{0, 0}, {0, 0}}, {{12, 12}}}), HasSubstr("2 placements"));
  EXPECT_THAT(fault(abc(), {{{0, 0}, {0, 0}, {0, 8}}, {{11, 0}}}), HasSubstr("claims size 11"));
  EXPECT_THAT(fault(abc(), {{{0, 0}, {0, 0}, {0, 8}}, {{12, 13}}}),
              HasSubstr("beats its own lower bound 13"));
}

TEST(Verify, ChecksTheCost) {
  Problem p = abc();
  p.pools.push_back({"slow"});
  for (Buffer& b : p.buffers) b.pools = {1, 0}, b.costs = {7, 2};
  const auto fault_with = [&](int64_t cost, int64_t bound) {
    return fault(p, {{{0, 0}, {0, 0}, {1, 0}}, {{8, 0}, {4, 0}}, cost, bound});
  };
  EXPECT_EQ(fault_with(11, 11), "right");
  EXPECT_THAT(fault_with(10, 0), HasSubstr("claims a cost of 10, its choice of pools costs 11"));
  EXPECT_THAT(fault_with(12, 0), HasSubstr("claims a cost of 12"));
  EXPECT_THAT(fault_with(11, 12), HasSubstr("cost 11 beats its own lower bound 12"));
  EXPECT_THAT(fault(abc(), {{{0, 0}, {0, 0}, {0, 8}}, {{12, 0}}, 1, 0}), HasSubstr("claims a cost of 1"));
}

TEST(Check, RefusesCostsThatMakeNoSense) {
  const auto error_of = [](std::vector<int64_t> a, std::vector<int64_t> b) -> std::string {
    Problem p = abc();
    p.buffers[0].costs = std::move(a);
    p.buffers[1].costs = std::move(b);
    try {
      check(p);
    } catch (const UserError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of({5}, {}), "none");
  EXPECT_THAT(error_of({}, {5, 6}), HasSubstr("buffer 1 'b': it has 2 costs for 1 pools"));
  EXPECT_THAT(error_of({}, {-1}), HasSubstr("buffer 1 'b': its cost -1 in pool 'arena' is negative"));
  EXPECT_THAT(error_of({INT64_MAX}, {INT64_MAX}), HasSubstr("scale them down"));
  EXPECT_THAT(error_of({kMaxCost}, {1}), HasSubstr("up to buffer 1 'b' the costs sum to more than"));
  EXPECT_EQ(error_of({kMaxCost}, {0}), "none");
}

TEST(Verify, OverlapAllowsSharingFromItsDistanceOn) {
  Problem p = abc();
  p.buffers = {{"in", 8, 1, 0, 2}, {"out", 8, 1, 1, 3}};
  p.overlaps = {{.above = 0, .below = 1, .distance = 3}};
  EXPECT_EQ(fault(p, {{{0, 3}, {0, 0}}, {{11, 0}}}), "right");
  EXPECT_THAT(fault(p, {{{0, 2}, {0, 0}}, {{10, 0}}}), HasSubstr("share bytes [2, 8)"));
  EXPECT_THAT(fault(p, {{{0, 0}, {0, 3}}, {{11, 0}}}), HasSubstr("share bytes [3, 8)"));
}

TEST(Verify, BuffersOfDifferentPoolsOrNoBytesNeverCollide) {
  Problem p{.pools = {{"a"}, {"b"}},
            .buffers = {{"x", 4, 1, 0, 9, {0}}, {"y", 4, 1, 0, 9, {1}}, {"empty", 0, 1, 0, 9, {0}}}};
  EXPECT_EQ(fault(p, {{{0, 0}, {1, 0}, {0, 2}}, {{4, 4}, {4, 4}}}), "right");
}

TEST(Check, RefusesProblemsThatMakeNoSense) {
  auto refuses = [](auto change, const std::string& words) {
    Problem p = abc();
    change(p);
    try {
      check(p);
      ADD_FAILURE() << "accepted, expected: " << words;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  };
  EXPECT_NO_THROW(check(abc()));
  refuses([](Problem& p) { p.buffers[1].size = -1; }, "buffer 1 'b': size -1");
  refuses([](Problem& p) { p.buffers[1].size = kHuge; }, "buffer 1 'b': size");
  refuses([](Problem& p) { p.buffers[1].align = 0; }, "alignment 0");
  refuses([](Problem& p) { p.buffers[1].end = 2; }, "its life [2, 2) is empty");
  refuses([](Problem& p) { p.buffers[1].end = -kHuge; }, "is empty");
  refuses([](Problem& p) { p.buffers[1].pools = {}; }, "no pool");
  refuses([](Problem& p) { p.buffers[1].pools = {0, 1}; }, "pool index 1");
  refuses([](Problem& p) { p.buffers[1].fixed_offset = -4; }, "fixed offset -4");
  refuses([](Problem& p) { p.pools[0].align = 0; }, "pool 'arena': alignment 0");
  refuses([](Problem& p) { p.pools[0].capacity = -1; }, "pool 'arena': capacity -1");
  refuses([](Problem& p) { p.overlaps = {{1, 1, 0}}; }, "overlap of buffers 1 and 1");
  refuses([](Problem& p) { p.overlaps = {{1, 3, 0}}; }, "overlap of buffers 1 and 3");
  refuses(
      [](Problem& p) {
        for (Buffer& b : p.buffers) b.size = kMaxBytes / 2;
      },
      "sum to more than");
  refuses([](Problem& p) { p.buffers.resize(20, {"h", kMaxBytes, 1, 0, 1}); }, "sum to more than");
  refuses(
      [](Problem& p) {
        for (Buffer& b : p.buffers) b.align = kMaxBytes;
      },
      "sum to more than");
}

// The byte-time grid, painted cell by cell: the definition of a right plan in its plainest form.
bool paints_cleanly(const Problem& p, const Plan& plan) {
  bool taken[16][5] = {};
  for (size_t i = 0; i < p.buffers.size(); ++i)
    for (int64_t byte = plan.placements[i].offset; byte < plan.placements[i].offset + p.buffers[i].size;
         ++byte)
      for (int64_t time = p.buffers[i].begin; time < p.buffers[i].end; ++time) {
        if (taken[byte][time]) return false;
        taken[byte][time] = true;
      }
  return true;
}

// All pairs of buffers of up to 3 bytes, times up to 4 and offsets up to 4, with a third buffer stepping
// along.
TEST(Verify, AgreesWithPaintingTheGrid) {
  std::vector<Buffer> kinds;
  for (int64_t size = 0; size <= 3; ++size)
    for (int64_t begin = 0; begin < 4; ++begin)
      for (int64_t end = begin + 1; end <= 4; ++end) kinds.push_back({"k", size, 1, begin, end});
  int clean = 0, total = 0;
  for (size_t i = 0; i < kinds.size(); ++i)
    for (size_t j = 0; j <= i; ++j)
      for (int64_t x = 0; x <= 4; ++x)
        for (int64_t y = 0; y <= 4; ++y) {
          ++total;
          size_t k = total % kinds.size();
          int64_t z = total % 5;
          Problem p{.pools = {{"arena"}}, .buffers = {kinds[i], kinds[j], kinds[k]}};
          int64_t top = std::max({x + kinds[i].size, y + kinds[j].size, z + kinds[k].size});
          Plan plan{{{0, x}, {0, y}, {0, z}}, {{top, 0}}};
          bool expected = paints_cleanly(p, plan);
          clean += expected;
          ASSERT_EQ(!verify(p, plan), expected) << i << " " << j << " " << x << " " << y << " " << total;
        }
  EXPECT_GT(clean, total / 4);
  EXPECT_LT(clean, total * 3 / 4);
}

}  // namespace
}  // namespace arenac
