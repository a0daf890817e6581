// Searches that are cut off: whatever the deadline, a schedule that is right. Deadlines here have passed
// before the search begins, so that the results are the same on every machine.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "planner/lifetime.h"
#include "planner/planners.h"
#include "planner/verify.h"
#include "scheduler/order.h"
#include "tests/bench/published_orders.h"

namespace arenac {
namespace {

constexpr Deadline kPassed = {};  // when the clock began

// Blocks of two wide branches, in an order that holds both of them at a time, and a narrow sum.
Graph network(int blocks) {
  std::string nodes;
  for (int k = 0; k < blocks; ++k) {
    nodes += fmt::format("a{0} = Conv(x{0}, wide)\n  b{0} = Conv(x{0}, wide)\n", k);
    nodes += fmt::format("c{0} = Conv<pads = [1, 1, 1, 1]>(a{0}, narrow)\n", k);
    nodes += fmt::format("d{0} = Conv<pads = [1, 1, 1, 1]>(b{0}, narrow)\n", k);
    nodes += fmt::format("e{0} = Add(c{0}, d{0})\n  x{1} = Add(e{0}, x{0})\n", k, k + 1);
  }
  const auto weights = [](const char* name, int64_t out, int64_t in, int64_t size) {
    std::string numbers;
    for (int64_t k = 0; k < out * in * size * size; ++k) numbers += k == 0 ? "1" : ", 1";
    return fmt::format("float[{},{},{},{}] {} = {{{}}}", out, in, size, size, name, numbers);
  };
  return import_text(fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1, 1, 16, 16] x) => (float[1, 1, 16, 16] y)
      <{}, {}> {{ x0 = Neg(x) {} y = Neg(x{}) }})",
      weights("wide", 8, 1, 1), weights("narrow", 1, 8, 3), nodes, blocks));
}

// Of a schedule that is verified down to the plan.
int64_t arena_of(const Schedule& schedule) {
  verify(schedule);
  const Problem problem = lifetimes(schedule, Io::kExternal, 16).problem;
  const Plan made = plan(problem);
  EXPECT_EQ(verify(problem, made), std::nullopt);
  return made.pools[0].size;
}

Schedule scheduled_by(const std::string& name, const Graph& graph, Deadline deadline) {
  return scheduler_named(name).schedule(graph, targets().front(), deadline);
}

TEST(Deadline, LeavesASchedule) {
  const Graph large = network(100), small = network(4);
  for (const char* scheduler : {"layerwise", "fused"}) {
    SCOPED_TRACE(scheduler);
    EXPECT_GT(arena_of(scheduled_by(scheduler, large, kPassed)), 0);
    const Schedule hurried = scheduled_by(scheduler, small, kPassed);
    const Schedule patient = scheduled_by(scheduler, small, kNoDeadline);
    EXPECT_TRUE(hurried.cut_off || hurried.order.proven);
    EXPECT_FALSE(patient.cut_off);
    EXPECT_LE(arena_of(patient), arena_of(hurried));
  }
}

TEST(Deadline, CutsOffTheSearchForGroups) {
  const Graph graph = network(4);
  const Schedule hurried = scheduled_by("fused", graph, kPassed);
  EXPECT_TRUE(hurried.cut_off);
  EXPECT_THAT(hurried.groups, testing::IsEmpty());
  EXPECT_LT(arena_of(scheduled_by("fused", graph, kNoDeadline)), arena_of(hurried));
}

TEST(Deadline, LeavesSchedulesToChooseFrom) {
  const Graph graph = network(30);
  const std::vector<Schedule> choices =
      schedules_to_choose_from(graph, Freedom::kAnyAgain, targets().front(), kPassed);
  ASSERT_FALSE(choices.empty());
  for (const Schedule& schedule : choices) {
    EXPECT_TRUE(schedule.cut_off);
    EXPECT_GT(arena_of(schedule), 0);
  }
}

TEST(Deadline, OfTheOrderSearchLeavesAnOrderAndABound) {
  int unproven = 0;
  for (const PublishedNetwork& network : published_networks()) {
    const OrderProblem problem = network.make(Concat::kCopied);
    const OrderResult hurried = optimal_order(problem, {.deadline = kPassed});
    const int64_t optimum = optimal_order(problem).peak;
    EXPECT_EQ(hurried.peak, peak_of(problem, hurried.order)) << network.name;
    EXPECT_EQ(hurried.states, 0) << network.name;
    EXPECT_LE(hurried.lower_bound, optimum) << network.name;
    EXPECT_GE(hurried.peak, optimum) << network.name;
    EXPECT_LE(hurried.peak, peak_of(problem, file_order(problem))) << network.name;
    unproven += !hurried.proven;
  }
  EXPECT_GT(unproven, 5);
}

TEST(Limit, ThatEndedASearchIsSaid) {
  int hit = 0;
  for (const PublishedNetwork& network : published_networks()) {
    const OrderProblem problem = network.make(Concat::kCopied);
    const OrderResult hurried = optimal_order(problem, {.states = 1});
    EXPECT_EQ(hurried.proven, hurried.limits_hit.empty()) << network.name;
    hit += hurried.limits_hit.contains({"orders of layers", 1, "state"});
    const OrderResult best = optimal_order(problem);
    EXPECT_TRUE(!best.proven || best.limits_hit.empty()) << network.name;
  }
  EXPECT_GT(hit, 5);
}

// Every view keeps a large tensor alive through the fullest step: more views than are tried as copies.
TEST(Limit, OfStorageIsInTheSchedule) {
  const auto network = [](int views) {
    std::string nodes, all;
    for (int k = 0; k < views; ++k) {
      nodes += fmt::format("w{0} = Exp(x)\n a{0} = Softmax(w{0})\n v{0} = Slice(a{0}, from, to, axes)\n", k);
      all += fmt::format("{}v{}", k > 0 ? ", " : "", k);
    }
    return import_text(fmt::format(
        R"(<ir_version: 8, opset_import: ["" : 17]> g (float[4, 64] x) => (float[4, {}] y)
        <int64[1] from = {{3}}, int64[1] to = {{5}}, int64[1] axes = {{1}}> {{ {} y = Concat<axis = 1>({}) }})",
        2 * views, nodes, all));
  };
  const Limit limit = {"copies instead of views", 8, "view"};
  EXPECT_TRUE(schedule_layerwise(network(12)).limits_hit.contains(limit));
  EXPECT_FALSE(schedule_layerwise(network(1)).limits_hit.contains(limit));
}

// A chain that is longer than groups are tried.
TEST(Limit, OfTheLengthOfGroupsIsInTheSchedule) {
  const auto chain = [](int pools) {
    std::string nodes;
    for (int k = 0; k < pools; ++k)
      nodes += fmt::format("x{} = MaxPool<kernel_shape = [3, 1], pads = [1, 0, 1, 0]>(x{})\n ", k + 1, k);
    return import_text(fmt::format(
        R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1, 1, 64, 8] x) => (float[1, 1, 64, 8] y)
        {{ x0 = Neg(x) {} y = Neg(x{}) }})",
        nodes, pools));
  };
  const Limit limit = {"longer groups of layers", 96, "step"};
  EXPECT_TRUE(scheduled_by("fused", chain(100), kNoDeadline).limits_hit.contains(limit));
  EXPECT_FALSE(scheduled_by("fused", chain(50), kNoDeadline).limits_hit.contains(limit));
}

}  // namespace
}  // namespace arenac
