// Plans with moves against brute force, and the judge against plans with one thing wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "frontend/error.h"
#include "planner/csv.h"
#include "planner/moves.h"
#include "planner/verify_moves.h"

namespace arenac {
namespace {

using ::testing::HasSubstr;

// What one course of a buffer takes.
struct Option {
  int64_t slow_bytes = 0;
  std::vector<int64_t> fast, rates;  // per step: bytes in the fast pool, and copied
};

// Every sequence of a slow stay and up to two in the fast pool; more would need more uses than there are
// here.
std::vector<Option> options_of(const Problem& p, int id, int64_t bandwidth, int steps) {
  const Buffer& b = p.buffers[id];
  std::vector<std::vector<Stay>> sequences;
  std::vector<Stay> sequence;
  const auto has_source = [&](int pool, int64_t begin, int64_t ready) {
    return std::ranges::any_of(sequence, [&](const Stay& from) {
      return from.pool != pool && from.ready <= begin && ready <= from.end;
    });
  };
  const std::function<void()> extend = [&] {
    sequences.push_back(sequence);
    if (sequence.size() == 3) return;
    for (const int pool : {kFastPool, kSlowPool})
      for (int64_t begin = uses_of(b).front() + 1; begin < b.end; ++begin)
        for (int64_t ready = begin + 1; ready < b.end; ++ready)
          for (int64_t end = ready + 1; end <= b.end && has_source(pool, begin, ready); ++end) {
            sequence.push_back({id, pool, 0, begin, ready, end});
            extend();
            sequence.pop_back();
          }
  };
  for (const int pool : {kFastPool, kSlowPool})
    for (int64_t end = b.begin + 1; end <= b.end; ++end) {
      sequence = {{id, pool, 0, b.begin, b.begin, end}};
      extend();
    }
  Problem alone{.pools = p.pools, .buffers = {b}};
  std::vector<Option> options;
  for (std::vector<Stay>& stays : sequences) {
    for (Stay& stay : stays) stay.buffer = 0;
    int64_t top[2] = {0, 0};  // stays of one pool on top of each other
    for (Stay& stay : stays) stay.offset = top[stay.pool], top[stay.pool] += b.size;
    alone.pools[kFastPool].capacity.reset();
    if (verify_moves(alone, bandwidth, claimed_moves(alone, stays))) continue;
    Option option{claimed_moves(alone, stays).totals.slow_bytes, std::vector<int64_t>(steps),
                  std::vector<int64_t>(steps)};
    for (const Stay& stay : stays)
      for (int64_t time = stay.begin; time < stay.end; ++time) {
        if (stay.pool == kFastPool) option.fast[time] += b.size;
        if (time < stay.ready) option.rates[time] += (b.size - 1) / (stay.ready - stay.begin) + 1;
      }
    options.push_back(std::move(option));
  }
  std::ranges::stable_sort(options, {}, &Option::slow_bytes);
  return options;
}

// The fewest slow bytes that capacity and bandwidth allow, without regard to offsets.
int64_t least_slow_bytes(const Problem& p, int64_t bandwidth, int steps) {
  std::vector<std::vector<Option>> options;
  for (int id = 0; id < int(p.buffers.size()); ++id) options.push_back(options_of(p, id, bandwidth, steps));
  std::vector<int64_t> fast(steps), rates(steps);
  int64_t best = INT64_MAX;
  const std::function<void(size_t, int64_t)> choose = [&](size_t id, int64_t slow) {
    if (slow >= best) return;
    if (id == options.size()) {
      best = slow;
      return;
    }
    for (const Option& option : options[id]) {
      if (slow + option.slow_bytes >= best) break;
      bool fits = true;
      for (int t = 0; t < steps; ++t)
        fits = fits && fast[t] + option.fast[t] <= *p.pools[kFastPool].capacity &&
               rates[t] + option.rates[t] <= bandwidth;
      if (!fits) continue;
      for (int t = 0; t < steps; ++t) fast[t] += option.fast[t], rates[t] += option.rates[t];
      choose(id + 1, slow + option.slow_bytes);
      for (int t = 0; t < steps; ++t) fast[t] -= option.fast[t], rates[t] -= option.rates[t];
    }
  };
  choose(0, 0);
  return best;
}

constexpr int kSteps = 7;

Problem random_problem(std::mt19937& random) {
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  Problem p{.pools = {{"fast", 3 + below(5)}, {"slow"}}, .buffers = {}};
  for (int id = 0; id < 4; ++id) {
    Buffer b{fmt::format("b{}", id), 1 + below(4)};
    b.begin = below(kSteps - 2);
    b.end = b.begin + 1 + below(kSteps - int(b.begin));
    b.pools = {0, 1};
    for (int64_t time = b.begin; time < b.end; ++time)
      if (below(3) == 0 || time == b.begin) b.uses.push_back(time);
    p.buffers.push_back(b);
  }
  return p;
}

// Options are made of the most general stays, so this is the judge's word against the planner's as well.
TEST(Moves, PlansAndBoundsAgainstEveryPlan) {
  std::mt19937 random(1);
  int optimal = 0, tight = 0, with_copies = 0, with_slow = 0;
  constexpr int kProblems = 100;
  for (int k = 0; k < kProblems; ++k) {
    const Problem p = random_problem(random);
    const int64_t bandwidth = 1 + int64_t(random() % 4);
    const MovesPlan plan = plan_moves(p, bandwidth);
    const int64_t least = least_slow_bytes(p, bandwidth, kSteps);
    EXPECT_GE(plan.totals.slow_bytes, least) << to_csv(p);
    EXPECT_LE(plan.slow_bound, least) << to_csv(p);
    optimal += plan.totals.slow_bytes == least;
    tight += plan.slow_bound == least;
    with_copies += plan.totals.copies > 0;
    with_slow += least > 0;
  }
  fmt::print("optimal {} tight {} copies {} slow {} of {}\n", optimal, tight, with_copies, with_slow,
             kProblems);
  EXPECT_GE(optimal, kProblems * 95 / 100);
  EXPECT_GE(tight, kProblems * 60 / 100);
  EXPECT_GE(with_copies, kProblems / 10);
  EXPECT_GE(with_slow, kProblems / 4);
}

// stays.h: `a` is written at 0 and read at 3 and 9, and makes room for b.
Problem two_buffers() {
  Problem p{.pools = {{"fast", 8}, {"slow"}},
            .buffers = {{"a", 8, 1, 0, 10, {0, 1}}, {"b", 8, 1, 4, 7, {0, 1}}}};
  p.buffers[0].uses = {0, 3, 9};
  return p;
}

const std::vector<Stay> kRight = {
    {0, 0, 0, 0, 0, 4}, {0, 1, 0, 1, 3, 9}, {0, 0, 0, 7, 9, 10}, {1, 0, 0, 4, 4, 7}};

TEST(Moves, MakeRoomForOthers) {
  const MovesPlan plan = plan_moves(two_buffers(), 4);
  EXPECT_EQ(plan.totals, (MoveTotals{2, 0, 16}));
  EXPECT_EQ(plan.slow_bound, 0);
  EXPECT_EQ(plan.stays, kRight);
}

TEST(Moves, WithoutTimeToCopyTheUsesAreOfTheSlowPool) {
  const MovesPlan plan = plan_moves(two_buffers(), 1);
  EXPECT_EQ(plan.totals, (MoveTotals{0, 16, 0}));
  EXPECT_EQ(plan.slow_bound, 16);
}

std::string moves_fault(const std::vector<Stay>& stays, int64_t bandwidth = 4) {
  const Problem p = two_buffers();
  return verify_moves(p, bandwidth, claimed_moves(p, stays)).value_or("right");
}

TEST(VerifyMoves, RefusesAPlanWithOneThingWrong) {
  ASSERT_EQ(moves_fault(kRight), "right");
  const auto with = [](size_t k, auto&& change) {
    std::vector<Stay> stays = kRight;
    change(stays[k]);
    return moves_fault(stays);
  };
  EXPECT_THAT(moves_fault(kRight, 3),
              HasSubstr("at time 1 copies move 4 bytes per step, the bandwidth is 3"));
  EXPECT_THAT(with(1, [](Stay& s) { s.begin = 0; }), HasSubstr("begins before the write at time 0 is done"));
  EXPECT_THAT(with(1, [](Stay& s) { s.begin = s.ready; }), HasSubstr("neither the first stay nor copied"));
  EXPECT_THAT(with(1, [](Stay& s) { s.ready = 5; }),
              HasSubstr("no stay in the other pool holds the contents"));
  EXPECT_THAT(with(0, [](Stay& s) { s.end = 2; }), HasSubstr("no stay in the other pool holds the contents"));
  EXPECT_THAT(with(1, [](Stay& s) { s.end = 8; }), HasSubstr("no stay in the other pool holds the contents"));
  EXPECT_THAT(with(2,
                   [](Stay& s) {
                     s.pool = 1;
                     s.offset = 8;
                   }),
              HasSubstr("no stay in the other pool holds"));
  EXPECT_THAT(with(3, [](Stay& s) { s.end = 6; }), HasSubstr("at time 6 of its life [4, 7) no stay holds"));
  EXPECT_THAT(with(3, [](Stay& s) { s.begin = s.ready = 5; }),
              HasSubstr("0 of its stays begin with its life"));
  EXPECT_THAT(with(0, [](Stay& s) { s.end = 5; }), HasSubstr("share bytes [0, 8)"));
  EXPECT_THAT(with(2, [](Stay& s) { s.begin = 6; }), HasSubstr("share bytes [0, 8)"));
  EXPECT_THAT(with(3, [](Stay& s) { s.offset = 8; }), HasSubstr("ends at 16, above the capacity 8"));
  EXPECT_THAT(with(3, [](Stay& s) { s.offset = -8; }), HasSubstr("impossible offset"));
  EXPECT_THAT(with(0, [](Stay& s) { s.begin = -1; }), HasSubstr("not in order within the life [0, 10)"));
  EXPECT_THAT(with(2, [](Stay& s) { s.end = 11; }), HasSubstr("not in order within the life [0, 10)"));
  EXPECT_THAT(with(2, [](Stay& s) { s.end = s.ready; }), HasSubstr("not in order within the life"));
  EXPECT_THAT(with(2, [](Stay& s) { s.pool = 2; }), HasSubstr("pool 2, which does not exist"));
  EXPECT_THAT(with(2, [](Stay& s) { s.buffer = -1; }), HasSubstr("buffer -1"));
  EXPECT_THAT(moves_fault({kRight[0], kRight[1], kRight[2]}),
              HasSubstr("0 of its stays begin with its life"));
  Problem bound_to_slow = two_buffers();
  bound_to_slow.buffers[1].pools = {1};
  EXPECT_THAT(*verify_moves(bound_to_slow, 4, claimed_moves(bound_to_slow, kRight)),
              HasSubstr("may not lie there"));
}

TEST(VerifyMoves, RefusesWrongClaims) {
  const Problem p = two_buffers();
  const auto with = [&](auto&& change) {
    MovesPlan plan = claimed_moves(p, kRight);
    change(plan);
    return verify_moves(p, 4, plan).value_or("right");
  };
  EXPECT_EQ(with([](MovesPlan&) {}), "right");
  EXPECT_THAT(with([](MovesPlan& plan) { plan.totals.slow_bytes = 8; }), HasSubstr("claims 8 bytes used"));
  EXPECT_THAT(with([](MovesPlan& plan) { plan.totals.moved_bytes = 8; }), HasSubstr("claims 8 bytes moved"));
  EXPECT_THAT(with([](MovesPlan& plan) { plan.totals.copies = 1; }), HasSubstr("claims 1 copies"));
  EXPECT_THAT(with([](MovesPlan& plan) { plan.pool_sizes[0] = 9; }), HasSubstr("'fast' ends at 8"));
  EXPECT_THAT(with([](MovesPlan& plan) { plan.pool_sizes.clear(); }), HasSubstr("'fast' ends at 8"));
  EXPECT_THAT(with([](MovesPlan& plan) { plan.slow_bound = 1; }), HasSubstr("beat the plan's own bound 1"));
}

// What a command line or a file may ask that moves do not take; nothing crashes.
TEST(Moves, RefuseWhatTheyDoNotTake) {
  const auto refusal_of = [](auto&& change, int64_t bandwidth = 4) -> std::string {
    Problem p = two_buffers();
    change(p);
    try {
      plan_moves(p, bandwidth);
    } catch (const UserError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal_of([](Problem&) {}), "none");
  EXPECT_THAT(refusal_of([](Problem& p) { p.pools.push_back({"third"}); }), HasSubstr("there are 3"));
  EXPECT_THAT(refusal_of([](Problem&) {}, 0), HasSubstr("at least 1 byte per step"));
  EXPECT_THAT(refusal_of([](Problem& p) { p.same_offset = {{0, 1}}; }), HasSubstr("takes no groups"));
  EXPECT_THAT(refusal_of([](Problem& p) { p.buffers[1].fixed_offset = 0; }),
              HasSubstr("'b' has a fixed offset"));
  EXPECT_THAT(refusal_of([](Problem& p) { p.buffers[1].costs = {0, 1}; }), HasSubstr("'b' has costs"));
  EXPECT_THAT(refusal_of([](Problem& p) { p.buffers[0].uses = {10}; }),
              HasSubstr("use 10 is outside its life"));
  EXPECT_THAT(refusal_of([](Problem& p) { p.buffers[0].begin = INT64_MIN; }), HasSubstr("takes times up to"));
  EXPECT_THAT(refusal_of([](Problem& p) { p.buffers[0].size = int64_t{1} << 49; }),
              HasSubstr("takes no more"));
  EXPECT_THAT(refusal_of([](Problem& p) { p.pools[1].capacity = 4; }), HasSubstr("impossible"));
  EXPECT_EQ(refusal_of([](Problem& p) { p.buffers.clear(); }), "none");
  EXPECT_EQ(refusal_of([](Problem& p) { p.pools[0].capacity = 0; }), "none");
  EXPECT_EQ(refusal_of([](Problem& p) { p.buffers[0].size = 0; }), "none");
  EXPECT_EQ(refusal_of([](Problem& p) { p.pools[0].capacity.reset(); }, INT64_MAX), "none");
  EXPECT_EQ(refusal_of([](Problem& p) { p.buffers[0].end = int64_t{1} << 60; }), "none");
}

// Of two pools with capacities, what each may hold at a time is kept to as well.
TEST(Moves, KeepToACapacityOfTheSlowPool) {
  std::mt19937 random(2);
  int found = 0;
  for (int k = 0; k < 60; ++k) {
    Problem p = random_problem(random);
    p.pools[kSlowPool].capacity = 5;
    try {
      found += plan_moves(p, 2).stays.size() >= p.buffers.size();  // verified
    } catch (const PassesCapacity&) {
    }
  }
  EXPECT_GE(found, 40);
}

TEST(Moves, TheSameEachTime) {
  std::mt19937 random(3);
  for (int k = 0; k < 10; ++k) {
    const Problem p = random_problem(random);
    EXPECT_EQ(plan_moves(p, 2).stays, plan_moves(p, 2).stays);
  }
}

TEST(MovesCsv, UsesAndStaysComeBack) {
  Problem p = two_buffers();
  p.buffers[1].uses.clear();
  const std::string text = to_csv(p);
  EXPECT_EQ(text, "id,lower,upper,size,uses,pool\na,0,10,8,0 3 9,fast slow\nb,4,7,8,,fast slow\n");
  EXPECT_EQ(to_csv(problem_from_csv(text, "p.csv", p.pools)), text);
  const std::string stays = to_csv(p, kRight);
  EXPECT_THAT(stays,
              HasSubstr("id,lower,upper,size,pool,offset,ready\na,0,4,8,fast,0,0\na,1,9,8,slow,0,3\n"));
  EXPECT_EQ(stays_from_csv(stays, "s.csv", p), kRight);
}

TEST(MovesCsv, MistakesNameTheLine) {
  const auto error_of = [](auto&& read) -> std::string {
    try {
      read();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  const auto with_uses = [&](const std::string& uses) {
    return error_of([&] { problem_from_csv("id,lower,upper,size,uses\na,2,5,8," + uses + "\n", "p.csv"); });
  };
  EXPECT_EQ(with_uses("2 4"), "no error");
  EXPECT_EQ(with_uses("1 4"), "p.csv:2: use 1 is not in the life [2, 5) of buffer 'a'");
  EXPECT_EQ(with_uses("2 5"), "p.csv:2: use 5 is not in the life [2, 5) of buffer 'a'");
  EXPECT_EQ(with_uses("3 3"), "p.csv:2: use 3 comes after use 3: ascending times, each once, are needed");
  EXPECT_EQ(with_uses("2 x"), "p.csv:2: use 'x' is no whole number");
  const auto with_stay = [&](const std::string& line) {
    return error_of(
        [&] { stays_from_csv("id,lower,upper,pool,offset,ready\n" + line + "\n", "s.csv", two_buffers()); });
  };
  EXPECT_EQ(with_stay("a,0,4,fast,0,0"), "no error");
  EXPECT_EQ(with_stay("z,0,4,fast,0,0"), "s.csv:2: 'z' is no buffer of the problem");
  EXPECT_EQ(with_stay("a,0,4,dram,0,0"), "s.csv:2: pool 'dram' does not exist");
  EXPECT_EQ(with_stay("a,0,4,fast,0,"), "s.csv:2: column 'ready' is empty");
  EXPECT_EQ(with_stay("a,0,,fast,0,0"), "s.csv:2: column 'upper' is empty");
}

}  // namespace
}  // namespace arenac
