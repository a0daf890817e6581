#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

#include "planner/bounds.h"
#include "planner/certificate.h"
#include "planner/exact.h"
#include "planner/timeline.h"
#include "planner/verify.h"
#include "tests/seeds.h"

namespace arenac::planner_exact_test {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

struct Bytes {
  int64_t low = 0, high = 0;
};

Bytes used_at(const Buffer& b, int64_t time) {
  if (time < b.begin || b.end <= time) return {};
  for (const Gap& gap : b.gaps)
    if (gap.begin <= time && time < gap.end) return {gap.low, gap.high};
  return {0, b.size};
}

// By the definition, time by time.
bool collide(const Problem& p, int i, int64_t at, int j, int64_t bt) {
  for (const Overlap& o : p.overlaps) {
    if (o.above == i && o.below == j && at - bt >= o.distance) return false;
    if (o.above == j && o.below == i && bt - at >= o.distance) return false;
  }
  for (int64_t time = 0; time < 16; ++time) {
    const Bytes a = used_at(p.buffers[i], time), b = used_at(p.buffers[j], time);
    if (a.low < a.high && b.low < b.high && at + a.low < bt + b.high && bt + b.low < at + a.high) return true;
  }
  return false;
}

// Brute force: the smallest size of a pool with these members, all offsets below `limit`.
struct Brute {
  const Problem& p;
  const std::vector<int>& members;
  int64_t limit, best = kNone;
  std::vector<int64_t> offsets = {};
  std::vector<std::vector<std::vector<char>>> apart = {};  // by members and difference of offsets + limit

  void prepare() {
    apart.assign(members.size(), std::vector(members.size(), std::vector<char>(2 * limit + 1)));
    for (size_t i = 0; i < members.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        for (int64_t d = -limit; d <= limit; ++d)
          apart[i][j][d + limit] = !collide(p, members[i], limit + d, members[j], limit);
  }

  void run(int64_t top) {
    if (top >= best) return;
    const size_t i = offsets.size();
    if (i == members.size()) {
      best = top;
      return;
    }
    const Buffer& b = p.buffers[members[i]];
    for (int64_t at = b.fixed_offset.value_or(0); at < limit && at + b.size < best; ++at) {
      if (b.fixed_offset.value_or(at) != at || at % b.align || at % p.pools[b.pools[0]].align) continue;
      bool fine = true;
      for (size_t k = 0; k < i && fine; ++k) fine = apart[i][k][at - offsets[k] + limit];
      if (!fine) continue;
      offsets.push_back(at);
      run(std::max(top, at + b.size));
      offsets.pop_back();
      if (b.size == 0) break;  // any place is as good
    }
  }
};

int64_t optimum(const Problem& p, const std::vector<int>& members, int64_t limit) {
  Brute brute{p, members, limit};
  brute.prepare();
  brute.run(0);
  return brute.best;
}

int64_t sum_of_sizes(const Problem& p) {
  return std::accumulate(p.buffers.begin(), p.buffers.end(), int64_t{1},
                         [](int64_t sum, const Buffer& b) { return sum + b.size; });
}

void expect_optimal(const Problem& p, int64_t upper, int64_t best) {
  const std::vector<int> members = all_buffers(p);
  const Exact exact = search_exactly(p, 0, members, upper, 0, {.work = 100'000'000});
  ASSERT_EQ(exact.size, std::min(best, upper));
  ASSERT_EQ(exact.lower_bound, std::min(best, upper));
  ASSERT_EQ(exact.offsets.empty(), best >= upper);
  if (exact.offsets.empty()) return;
  Plan plan{{}, {{exact.size, exact.lower_bound}}};
  for (int64_t offset : exact.offsets) plan.placements.push_back({0, offset});
  ASSERT_EQ(verify(p, plan).value_or(""), "");
  // And both ways: nothing is found below, and the size itself is found.
  const Exact below = search_exactly(p, 0, members, best, 0, {.work = 100'000'000});
  ASSERT_TRUE(below.offsets.empty());
  ASSERT_EQ(below.lower_bound, best);
}

Problem random_problem(std::mt19937& random, int most) {
  auto below = [&](int n) { return int64_t(random() % n); };
  Problem p{.pools = {{.name = "arena", .align = 1 + below(2)}}, .buffers = {}};
  const int n = 1 + int(below(most));
  const bool has_gaps = below(2), has_fixed = below(3) == 0, has_overlaps = n > 1 && below(3) == 0;
  for (int i = 0; i < n; ++i) {
    const int64_t begin = below(8);
    Buffer b{"b", below(5), 1 + below(3), begin, begin + 1 + below(5)};
    if (has_gaps && b.end - b.begin > 2 && b.size > 0 && below(2)) {
      const int64_t low = below(3) ? 0 : below(int(b.size)), high = low + below(int(b.size - low) + 1);
      b.gaps = {{b.begin + 1, b.end - 1, low, high}};
    }
    p.buffers.push_back(b);
  }
  if (has_fixed) p.buffers[0].fixed_offset = 6 * below(3);
  for (int64_t i = has_overlaps ? 1 + below(3) : 0; i > 0; --i) {
    const int a = int(below(n)), b = (a + 1 + int(below(n - 1))) % n;
    p.overlaps.push_back({a, b, below(6) - 2});
  }
  return p;
}

TEST(Exact, AgreesWithBruteForceOnEveryFeature) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const Problem p = random_problem(random, round % 10 == 0 ? 9 : 6);
    const int64_t best = optimum(p, all_buffers(p), 40);
    ASSERT_NE(best, kNone);
    expect_optimal(p, 60, best);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// Of the least size there is, and with as few buffers as do, since each search is short.
TEST(Certificate, IsFoundForEveryFeature) {
  std::mt19937 random(11);
  size_t searched = 0;
  for (unsigned round = 0; round < seeds(3000); ++round) {
    SCOPED_TRACE(round);
    const Problem p = random_problem(random, round % 10 == 0 ? 9 : 6);
    const std::vector<int> members = all_buffers(p);
    const int64_t best = optimum(p, members, 40);
    if (best == 0) continue;
    const auto c = certify(p, 0, members, best, {.work = 1'000'000'000});
    ASSERT_TRUE(c.has_value());
    ASSERT_EQ(c->bound, best);
    ASSERT_EQ(check_certificate(p, *c).value_or(""), "");
    Certificate more = *c;
    more.bound += 1;
    ASSERT_NE(check_certificate(p, more), std::nullopt);
    if (c->time) continue;
    searched += c->buffers.size() > 1;
    for (const int id : c->buffers) {
      std::vector<int> others = c->buffers;
      std::erase(others, id);
      ASSERT_TRUE(p.buffers[id].fixed_offset || optimum(p, others, 40) < best);
    }
  }
  EXPECT_TRUE(searched > 100 || !all_seeds());
}

// Whoever wrote it.
TEST(Certificate, IsRightWhereBruteForceSaysSo) {
  std::mt19937 random(12);
  for (unsigned round = 0; round < seeds(10000); ++round) {
    SCOPED_TRACE(round);
    const Problem p = random_problem(random, 6);
    Certificate c = {.bound = 1 + int64_t(random() % 16)};
    for (const int id : all_buffers(p))
      if (random() % 4) c.buffers.push_back(id);
    if (c.buffers.empty()) continue;
    const bool holds = optimum(p, c.buffers, 40) >= c.bound;
    ASSERT_EQ(!check_certificate(p, c), holds);
    c.time = int64_t(random() % 12);
    ASSERT_TRUE(holds || check_certificate(p, c));
  }
}

TEST(Certificate, MayBeAnything) {
  const Problem p{.pools = {{"arena"}}, .buffers = {{"a", 8, 1, 0, 2}, {"b", 4, 1, 1, 5}}};
  const auto fault = [&](const Certificate& c) { return check_certificate(p, c).value_or("none"); };
  EXPECT_EQ(fault({0, 12, {0, 1}, 1}), "none");
  EXPECT_EQ(fault({0, 12, {0, 1}, {}}), "none");
  EXPECT_EQ(fault({0, 13, {0, 1}, 1}), "the buffers take 12 bytes at time 1, not 13");
  EXPECT_EQ(fault({0, 13, {0, 1}, {}}), "the buffers fit 12 bytes");
  EXPECT_EQ(fault({0, 12, {0, 1}, 0}), "buffer 'b' uses nothing at time 0");
  EXPECT_EQ(fault({1, 12, {0, 1}, 1}), "there is no such pool");
  EXPECT_EQ(fault({0, 12, {}, 1}), "it names no buffer");
  EXPECT_EQ(fault({0, 12, {0, 2}, 1}), "there is no such buffer");
  EXPECT_EQ(fault({0, 16, {0, 0}, 1}), "a buffer is there twice, or they are not in order");
  EXPECT_EQ(fault({0, INT64_MAX, {0, 1}, {}}), "the buffers fit 9223372036854775806 bytes");
  EXPECT_EQ(fault({0, INT64_MIN, {0, 1}, {}}), "none");
  EXPECT_EQ(words(p, {0, 12, {0, 1}, 1}), "'a', 'b' take 12 bytes of pool 'arena' at time 1 alone");
}

// Every problem with up to 4 buffers of up to 3 bytes and 4 times, from no plan at all.
TEST(Exact, SolvesEverySmallProblem) {
  std::vector<Buffer> kinds;
  for (int64_t size = 1; size <= 3; ++size)
    for (int64_t begin = 0; begin < 4; ++begin)
      for (int64_t end = begin + 1; end <= 4; ++end) kinds.push_back({"k", size, 1, begin, end});
  const int none = int(kinds.size());
  for (int a = 0; a < none; ++a)
    for (int b = a; b <= none; ++b)
      for (int c = b; c <= none; ++c)
        for (int d = c; d <= none; ++d) {
          Problem p{.pools = {{"arena"}}, .buffers = {}};
          for (int pick : {a, b, c, d})
            if (pick < none) p.buffers.push_back(kinds[pick]);
          expect_optimal(p, sum_of_sizes(p), optimum(p, all_buffers(p), 13));
          if (HasFatalFailure()) return;
        }
}

// Buffers cut from a rectangle: the load is its height, and can be reached.
Problem perfect_packing(std::mt19937& random, int pieces) {
  struct Rect {
    int64_t begin, end, low, high;
  };
  std::vector<Rect> rects = {{0, 1000, 0, 1'000'000}};
  while (int(rects.size()) < pieces) {
    Rect& r = rects[random() % rects.size()];
    const int64_t wide = r.end - r.begin, high = r.high - r.low;
    Rect other = r;
    if (random() % 2 && wide > 1)
      other.begin = r.end = r.begin + 1 + int64_t(random() % (wide - 1));
    else if (high > 1)
      other.low = r.high = r.low + 1 + int64_t(random() % (high - 1));
    else
      continue;
    rects.push_back(other);
  }
  Problem p{.pools = {{"arena"}}, .buffers = {}};
  for (const Rect& r : rects) p.buffers.push_back({"r", r.high - r.low, 1, r.begin, r.end});
  return p;
}

TEST(Exact, PacksWhatWasCutFromARectangle) {
  std::mt19937 random(2);
  for (int pieces : {20, 100, 200}) {
    const Problem p = perfect_packing(random, pieces);
    const Exact exact =
        search_exactly(p, 0, all_buffers(p), sum_of_sizes(p), 1'000'000, {.work = 1'000'000'000});
    EXPECT_EQ(exact.size, 1'000'000) << pieces;
  }
}

// Bytes above capacities, bytes in pools of second choice, bytes in total.
using Cost = std::tuple<int64_t, int64_t, int64_t>;

Cost best_cost(const Problem& p, std::vector<std::vector<int>>& members, int id, int64_t strayed) {
  if (id < int(p.buffers.size())) {
    Cost best{kNone, 0, 0};
    for (int pool : p.buffers[id].pools) {
      members[pool].push_back(id);
      const int64_t away = pool == p.buffers[id].pools[0] ? 0 : std::max<int64_t>(1, p.buffers[id].size);
      best = std::min(best, best_cost(p, members, id + 1, strayed + away));
      members[pool].pop_back();
    }
    return best;
  }
  Cost cost{0, strayed, 0};
  for (size_t pool = 0; pool < p.pools.size(); ++pool) {
    const int64_t size = members[pool].empty() ? 0 : optimum(p, members[pool], 40);
    if (size == kNone) return {kNone, 0, 0};
    std::get<0>(cost) += std::max<int64_t>(0, size - p.pools[pool].capacity.value_or(size));
    std::get<2>(cost) += size;
  }
  return cost;
}

TEST(Exact, ChoosesPoolsAsBruteForceDoes) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Problem p = random_problem(random, 5);
    p.pools = {{.name = "fast", .capacity = int64_t(random() % 12)}, {.name = "slow"}};
    for (Buffer& b : p.buffers)
      if (random() % 3) b.pools = random() % 2 ? std::vector{0, 1} : std::vector{1, 0};
    std::vector<std::vector<int>> members(2);
    const Cost best = best_cost(p, members, 0, 0);
    const std::optional<Plan> plan = search_pools_exactly(p, {.work = 100'000'000});
    ASSERT_TRUE(plan.has_value()) << round;
    Cost cost{std::max<int64_t>(0, plan->pools[0].size - *p.pools[0].capacity), 0,
              plan->pools[0].size + plan->pools[1].size};
    for (size_t i = 0; i < p.buffers.size(); ++i)
      if (plan->placements[i].pool != p.buffers[i].pools[0])
        std::get<1>(cost) += std::max<int64_t>(1, p.buffers[i].size);
    ASSERT_EQ(cost, best) << round;
    p.pools[0].capacity = {};
    ASSERT_EQ(verify(p, *plan).value_or(""), "") << round;
  }
}

}  // namespace
}  // namespace arenac::planner_exact_test
