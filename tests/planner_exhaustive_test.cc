// The default planner against brute force: its plans are the smallest there are, and its proofs are right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "frontend/error.h"
#include "planner/csv.h"
#include "planner/planners.h"

namespace arenac {
namespace {

// Bytes that the buffer uses at the time, from its offset.
std::pair<int64_t, int64_t> window_at(const Buffer& b, int64_t time) {
  if (time < b.begin || time >= b.end) return {0, 0};
  for (const Gap& gap : b.gaps)
    if (gap.begin <= time && time < gap.end) return {gap.low, gap.high};
  return {0, b.size};
}

// May buffers i and j of one pool lie at these offsets? Looked up time by time.
bool compatible(const Problem& p, int i, int64_t at, int j, int64_t bt) {
  for (const auto& group : p.same_offset)
    if (std::count(group.begin(), group.end(), i) && std::count(group.begin(), group.end(), j))
      return at == bt;
  for (const Overlap& o : p.overlaps) {
    if (o.above == i && o.below == j && at - bt >= o.distance) return true;
    if (o.above == j && o.below == i && bt - at >= o.distance) return true;
  }
  const Buffer &a = p.buffers[i], &b = p.buffers[j];
  for (int64_t time = std::max(a.begin, b.begin); time < std::min(a.end, b.end); ++time) {
    const auto [a_low, a_high] = window_at(a, time);
    const auto [b_low, b_high] = window_at(b, time);
    if (a_low < a_high && b_low < b_high && at + a_low < bt + b_high && bt + b_low < at + a_high)
      return false;
  }
  return true;
}

// Can these buffers lie in the pool below `top`? Tries every offset of every buffer.
bool fits(const Problem& p, int pool, const std::vector<int>& ids, std::vector<int64_t>& offsets,
          int64_t top) {
  if (offsets.size() == ids.size()) return true;
  const int id = ids[offsets.size()];
  const Buffer& b = p.buffers[id];
  for (int64_t offset = 0; offset + b.size <= top; ++offset) {
    if (offset % b.align || offset % p.pools[pool].align || b.fixed_offset.value_or(offset) != offset)
      continue;
    bool fine = true;
    for (size_t k = 0; k < offsets.size() && fine; ++k) fine = compatible(p, ids[k], offsets[k], id, offset);
    if (!fine) continue;
    offsets.push_back(offset);
    if (fits(p, pool, ids, offsets, top)) return true;
    offsets.pop_back();
  }
  return false;
}

// The smallest size of the pool with these buffers; nothing if there is none up to `limit`.
std::optional<int64_t> smallest(const Problem& p, int pool, std::vector<int> ids, int64_t limit) {
  std::stable_partition(ids.begin(), ids.end(),
                        [&](int id) { return p.buffers[id].fixed_offset.has_value(); });
  for (int64_t top = 0; top <= limit; ++top) {
    std::vector<int64_t> offsets;
    if (fits(p, pool, ids, offsets, top)) return top;
  }
  return {};
}

// What it costs that the buffer lies in this pool if that is not its first choice. A group is one buffer
// here: the largest, which chooses as the first of them among the pools that all of them allow.
int64_t bytes_strayed(const Problem& p, int id, int pool) {
  const auto& choices = p.buffers[id].pools;
  int64_t size = p.buffers[id].size;
  int preferred = choices.front();
  for (const auto& group : p.same_offset) {
    if (!std::count(group.begin(), group.end(), id)) continue;
    if (id != *std::min_element(group.begin(), group.end())) return 0;
    for (int member : group) size = std::max(size, p.buffers[member].size);
    preferred = *std::find_if(choices.begin(), choices.end(), [&](int choice) {
      return std::all_of(group.begin(), group.end(), [&](int member) {
        return std::count(p.buffers[member].pools.begin(), p.buffers[member].pools.end(), choice) > 0;
      });
    });
  }
  return pool == preferred ? 0 : std::max<int64_t>(1, size);
}

// What a plan is judged by: what its pools cost, then bytes of buffers that are not in the pool of their
// first choice, at least one each, then bytes of all pools.
struct Cost {
  int64_t pools = 0, strayed = 0, bytes = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

// Over every choice of pools. Nothing if no plan keeps to the capacities.
std::optional<Cost> cheapest(const Problem& p) {
  constexpr int64_t kLimit = 48;
  const int n = int(p.buffers.size());
  std::map<std::pair<int, unsigned>, std::optional<int64_t>> known;  // by pool and set of buffers
  std::optional<Cost> best;
  std::vector<int> choice(n, 0);  // index into the buffer's pools
  while (true) {
    std::vector<unsigned> members(p.pools.size(), 0);
    Cost cost;
    for (int id = 0; id < n; ++id) {
      members[p.buffers[id].pools[choice[id]]] |= 1u << id;
      cost.strayed += bytes_strayed(p, id, p.buffers[id].pools[choice[id]]);
      if (!p.buffers[id].costs.empty()) cost.pools += p.buffers[id].costs[choice[id]];
    }
    bool fine = true;
    for (const auto& group : p.same_offset)
      for (int id : group)
        fine &= p.buffers[id].pools[choice[id]] == p.buffers[group[0]].pools[choice[group[0]]];
    for (int pool = 0; pool < int(p.pools.size()) && fine; ++pool) {
      auto [at, is_new] = known.try_emplace({pool, members[pool]});
      if (is_new) {
        std::vector<int> ids;
        for (int id = 0; id < n; ++id)
          if (members[pool] >> id & 1) ids.push_back(id);
        at->second = smallest(p, pool, ids, p.pools[pool].capacity.value_or(kLimit));
      }
      fine = at->second.has_value();
      cost.bytes += at->second.value_or(0);
    }
    if (fine && (!best || cost < *best)) best = cost;
    int id = 0;
    while (id < n && ++choice[id] == int(p.buffers[id].pools.size())) choice[id++] = 0;
    if (id == n) return best;
  }
}

void expect_cheapest(const Problem& p) {
  const std::optional<Cost> best = cheapest(p);
  std::optional<Cost> found;
  try {
    const Plan made = plan(p);
    found = Cost{};
    for (size_t id = 0; id < p.buffers.size(); ++id)
      found->strayed += bytes_strayed(p, int(id), made.placements[id].pool);
    found->pools = made.cost;
    EXPECT_EQ(made.cost_bound, made.cost);
    for (const PoolUse& use : made.pools) {
      found->bytes += use.size;
      EXPECT_EQ(use.proof(), Proof::kOptimal);
    }
  } catch (const UserError& error) {
    // Of several pools few are proved to be too small.
    EXPECT_TRUE(error.status == Exit::kDoesNotFit || (p.pools.size() > 1 && error.status == Exit::kNotFound))
        << error.what();
  }
  const auto words = [](const std::optional<Cost>& c) {
    return c ? fmt::format("cost {}, {} bytes strayed, {} bytes", c->pools, c->strayed, c->bytes)
             : std::string("does not fit");
  };
  EXPECT_EQ(words(found), words(best));
  if (testing::Test::HasFailure()) ADD_FAILURE() << to_csv(p);
}

// ARENAC_EXHAUSTIVE: how many buffers, for the run in `./dev test --all`.
int most_buffers() {
  const char* most = std::getenv("ARENAC_EXHAUSTIVE");
  return most ? std::atoi(most) : 4;
}

// Every problem of so many buffers with up to 3 bytes and 4 times.
TEST(Exhaustive, EverySmallProblem) {
  std::vector<Buffer> kinds;
  for (int64_t size = 1; size <= 3; ++size)
    for (int64_t begin = 0; begin < 4; ++begin)
      for (int64_t end = begin + 1; end <= 4; ++end) kinds.push_back({"k", size, 1, begin, end});
  int64_t problems = 0;
  const auto extend = [&](auto&& self, Problem& p, size_t from) -> void {
    expect_cheapest(p);
    ++problems;
    if (int(p.buffers.size()) == most_buffers()) return;
    for (size_t kind = from; kind < kinds.size() && !HasFailure(); ++kind) {
      p.buffers.push_back(kinds[kind]);
      self(self, p, kind);
      p.buffers.pop_back();
    }
  };
  Problem empty{.pools = {{"arena"}}, .buffers = {}};
  extend(extend, empty, 0);
  RecordProperty("problems", int(problems));
  EXPECT_GE(problems, 46376);  // multisets of up to 4 of 30
}

struct Draw {
  std::mt19937 random;
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  bool one_in(int64_t n) { return below(n) == 0; }
};

Buffer draw_buffer(Draw& draw, int64_t times) {
  Buffer b{.name = "", .size = draw.below(6), .align = int64_t{1} << draw.below(3)};
  b.begin = draw.below(times);
  b.end = b.begin + 1 + draw.below(times - b.begin);
  if (b.end - b.begin > 1 && draw.one_in(3)) {
    Gap gap{.begin = b.begin + draw.below(b.end - b.begin)};
    gap.end = gap.begin + 1 + draw.below(b.end - gap.begin);
    if (b.size > 0 && draw.one_in(2)) {
      gap.low = draw.below(b.size);
      gap.high = gap.low + draw.below(b.size - gap.low + 1);
    }
    b.gaps.push_back(gap);
  }
  return b;
}

// Some of everything that a problem may hold.
Problem draw_problem(Draw& draw, int buffers, int pools) {
  Problem p;
  for (int k = 0; k < pools; ++k) p.pools.push_back({fmt::format("p{}", k), {}, 1 + draw.below(2)});
  if (draw.one_in(2)) p.pools[0].capacity = 6 + draw.below(12);
  for (int k = 0; k < buffers; ++k) {
    Buffer b = draw_buffer(draw, 2 + buffers / 2);
    b.name = fmt::format("b{}", k);
    b.pools = {int(draw.below(pools))};
    if (pools > 1 && draw.one_in(2)) b.pools.push_back(1 - b.pools[0]);
    if (draw.one_in(8)) b.fixed_offset = 4 * draw.below(4);
    p.buffers.push_back(b);
  }
  for (int64_t k = draw.below(4); k > 0; --k) {
    const int above = int(draw.below(buffers)), below = int((above + 1 + draw.below(buffers - 1)) % buffers);
    p.overlaps.push_back({above, below, draw.below(9) - 3});
  }
  if (draw.one_in(4)) p.same_offset.push_back({0, buffers - 1});
  return p;
}

// Of some buffers, from 0.
void draw_costs(Draw& draw, Problem& p) {
  for (Buffer& b : p.buffers) {
    if (draw.one_in(4)) continue;
    for (size_t k = 0; k < b.pools.size(); ++k) b.costs.push_back(draw.below(9));
  }
}

enum class Costs { kNone, kDrawn };

void expect_cheapest_at_random(int seed, int problems, int buffers, int pools, Costs costs = Costs::kNone) {
  Draw draw{std::mt19937(unsigned(seed))};
  int solved = 0;
  for (int round = 0; round < problems && !testing::Test::HasFailure(); ++round) {
    Problem p = draw_problem(draw, buffers, pools);
    if (costs == Costs::kDrawn) draw_costs(draw, p);
    SCOPED_TRACE(fmt::format("problem {}\n{}", round, to_csv(p)));
    try {
      plan(p);
    } catch (const UserError& error) {
      if (error.status != Exit::kDoesNotFit && error.status != Exit::kNotFound)
        continue;  // fixed buffers collide, or a group is impossible
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.what();
      return;
    }
    ++solved;
    expect_cheapest(p);
  }
  EXPECT_GT(solved, problems / 4);
}

TEST(Exhaustive, FiveOfEverything) { expect_cheapest_at_random(1, 3000, 5, 1); }
TEST(Exhaustive, SevenOfEverything) { expect_cheapest_at_random(2, 1000, 7, 1); }
TEST(Exhaustive, NineOfEverything) { expect_cheapest_at_random(3, 300, 9, 1); }
TEST(Exhaustive, FiveInTwoPools) { expect_cheapest_at_random(4, 2000, 5, 2); }
TEST(Exhaustive, SevenInTwoPools) { expect_cheapest_at_random(5, 300, 7, 2); }
TEST(Exhaustive, FiveWithCosts) { expect_cheapest_at_random(6, 2000, 5, 2, Costs::kDrawn); }
TEST(Exhaustive, SevenWithCosts) { expect_cheapest_at_random(7, 300, 7, 2, Costs::kDrawn); }

}  // namespace
}  // namespace arenac
