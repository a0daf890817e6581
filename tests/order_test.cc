// Orders against brute force, and the search on published networks.
#include "scheduler/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "frontend/import.h"
#include "scheduler/large_tensors.h"
#include "scheduler/order_search.h"
#include "scheduler/schedule.h"
#include "tests/bench/published_orders.h"

namespace arenac {
namespace {

using testing::ElementsAre;

// Bytes by the definitions of order.h, from sets of operators that have run.
struct Naive {
  const OrderProblem& problem;

  static bool has(uint32_t set, int op) { return set >> op & 1; }

  bool used_up(const OrderTensor& t, uint32_t set) const {
    const auto ran = [&](int op) { return has(set, op); };
    return std::all_of(t.writers.begin(), t.writers.end(), ran) &&
           std::all_of(t.readers.begin(), t.readers.end(), ran);
  }
  bool begun(const OrderTensor& t, uint32_t set) const {
    return t.writers.empty() ||
           std::any_of(t.writers.begin(), t.writers.end(), [&](int op) { return has(set, op); });
  }
  int64_t during(uint32_t set, int op) const {
    int64_t bytes = problem.operators[op].workspace, saved = 0;
    for (const OrderTensor& t : problem.tensors)
      if (begun(t, set | 1u << op) && !used_up(t, set)) bytes += t.bytes;
    for (const InPlace& i : problem.operators[op].in_place)
      if (used_up(problem.tensors[i.tensor], set | 1u << op)) saved = std::max(saved, i.bytes);
    return bytes - saved;
  }
  bool ready(uint32_t set, int op) const {
    const auto [begin, end] = inv_adjacent_vertices(op, problem.operators);
    return !has(set, op) && std::all_of(begin, end, [&](auto a) { return has(set, static_cast<int>(a)); });
  }
  int64_t optimum() const {
    const int n = static_cast<int>(num_vertices(problem.operators));
    std::vector<int64_t> best(size_t{1} << n, INT64_MAX);
    best[0] = 0;
    for (uint32_t set = 0; set + 1 < 1u << n; ++set)
      for (int op = 0; best[set] < INT64_MAX && op < n; ++op)
        if (ready(set, op)) {
          int64_t& next = best[set | 1u << op];
          next = std::min(next, std::max(best[set], during(set, op)));
        }
    return best.back();
  }
};

// 3 to 11 operators with one to three results, some of them written by several operators, read by few or
// many; workspaces and results in place.
OrderProblem random_problem(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int n = 3 + below(9), most_bytes = 1 + below(40), density = 1 + below(4);
  OrderProblem problem;
  problem.operators = Precedence(n);
  std::vector<int> own;  // bytes that one operator alone writes
  for (int k = below(3); k-- > 0;) problem.tensors.push_back({below(most_bytes), {}, {below(n)}});
  for (int op = 0; op < n; ++op) {
    OrderOperator& o = problem.operators[op];
    for (int before = 0; before < op; ++before)
      if (below(op + 2) < density) add_edge(before, op, problem.operators);
    for (const auto before : boost::make_iterator_range(inv_adjacent_vertices(op, problem.operators))) {
      for (size_t t = 0; t < problem.tensors.size(); ++t) {
        OrderTensor& tensor = problem.tensors[t];
        if (tensor.writers != std::vector{static_cast<int>(before)} || below(4) == 0) continue;
        tensor.readers.push_back(op);
        if (below(3) == 0)
          o.in_place.push_back({static_cast<int>(t), below(static_cast<int>(tensor.bytes) + 1)});
      }
    }
    if (below(4) == 0) o.workspace = below(most_bytes);
    int64_t own_bytes = 0;
    for (int k = 1 + (below(5) == 0) + (below(9) == 0); k-- > 0;) {
      problem.tensors.push_back({1 + below(most_bytes), {op}, {}});
      own_bytes += problem.tensors.back().bytes;
    }
    for (InPlace& i : o.in_place) i.bytes = std::min(i.bytes, own_bytes);
  }
  // Storage with several writers: a concat's, an accumulator's.
  for (int k = below(3); k-- > 0;) {
    const int a = below(n), b = below(n), c = below(n);
    OrderTensor tensor{1 + below(most_bytes), {a}, {std::max({a, b, c})}};
    if (b != a) tensor.writers.push_back(b);
    problem.tensors.push_back(tensor);
  }
  return problem;
}

TEST(Order, EqualsBruteForce) {
  std::mt19937 random(1);
  int improved = 0, searched = 0;
  for (int k = 0; k < 6000; ++k) {
    const OrderProblem problem = random_problem(random);
    const int64_t optimum = Naive{problem}.optimum();
    const OrderResult best = optimal_order(problem);
    ASSERT_TRUE(best.proven) << k;
    ASSERT_EQ(best.peak, optimum) << k;
    ASSERT_EQ(peak_of(problem, best.order), optimum) << k;
    ASSERT_LE(lower_bound(problem), optimum) << k;
    improved += optimum < peak_of(problem, file_order(problem));
    searched += best.states > 0;
  }
  EXPECT_GT(improved, 500);
  EXPECT_GT(searched, 100);
}

TEST(LargeTensors, AreABoundAndTheirOrderCanRun) {
  std::mt19937 random(4);
  int smaller = 0;
  for (int k = 0; k < 1000; ++k) {
    const OrderProblem problem = random_problem(random);
    const int64_t least = 2 + random() % 20;
    const auto large = of_large_tensors(problem, least);
    if (!large) continue;
    const int64_t optimum = Naive{problem}.optimum(), bound = Naive{*large}.optimum();
    ASSERT_LE(bound, optimum) << k;
    smaller += bound < optimum;
    // InternalError unless it can run.
    ASSERT_GE(peak_of(problem, with_small_late(problem, optimal_order(*large).order, least)), optimum) << k;
  }
  EXPECT_GT(smaller, 500);
}

// A diffusion network: a U of residual blocks, each of which takes a vector of few bytes made of the time.
OrderProblem diffusion_network() {
  OrderProblem problem;
  problem.operators = Precedence(0);
  const auto add = [&](int64_t bytes, const std::vector<int>& reads) {
    const auto op = static_cast<int>(add_vertex(problem.operators));
    for (const int tensor : reads) {
      add_edge(problem.tensors[tensor].writers[0], op, problem.operators);
      problem.tensors[tensor].readers.push_back(op);
    }
    problem.tensors.push_back({bytes, {op}, {}});
    return static_cast<int>(problem.tensors.size()) - 1;
  };
  const int time = add(256, {});
  const auto block = [&](int64_t bytes, int x) {
    const int mean = add(32, {x});
    const int normal = add(problem.tensors[x].bytes, {x, mean}), embedding = add(128, {time});
    const int sum = add(bytes, {normal, embedding}), other_mean = add(32, {sum});
    return add(bytes,
               {add(bytes, {sum, other_mean}), problem.tensors[x].bytes == bytes ? x : add(bytes, {x})});
  };
  int64_t bytes = 128 << 10;
  std::vector<int> skips = {add(bytes, {time})};
  const auto again = [&] {
    const int skip = skips.back(), x = static_cast<int>(problem.tensors.size()) - 1;
    skips.pop_back();
    return block(bytes, add(problem.tensors[x].bytes + problem.tensors[skip].bytes, {x, skip}));
  };
  for (int level = 0; level < 3; ++level) {
    for (int k = 0; k < 2; ++k) skips.push_back(block(bytes, skips.back()));
    if (level < 2) skips.push_back(add(bytes /= 4, {skips.back()}));
  }
  for (int level = 0; level < 3; ++level) {
    for (int k = 0; k < 3; ++k) again();
    if (level < 2) add(bytes *= 4, {static_cast<int>(problem.tensors.size()) - 1});
  }
  return problem;
}

TEST(LargeTensors, LeaveFewStatesToSearch) {
  const OrderProblem problem = diffusion_network();
  const OrderResult best = optimal_order(problem);
  EXPECT_LE(best.states, 30'000);
  EXPECT_LE(best.peak, best.lower_bound + best.lower_bound / 256);
}

TEST(Order, EveryRowCanRunAndNoneBeatsTheSearch) {
  std::mt19937 random(2);
  for (int k = 0; k < 500; ++k) {
    const OrderProblem problem = random_problem(random);
    const int64_t best = optimal_order(problem).peak;
    for (const OrderRow& row : orders()) {
      const OrderResult result = row.order(problem, {});
      ASSERT_EQ(result.peak, peak_of(problem, result.order)) << row.name;
      ASSERT_GE(result.peak, best) << row.name;
      ASSERT_LE(result.lower_bound, best) << row.name;
      ASSERT_EQ(result.proven, result.peak == result.lower_bound) << row.name;
    }
  }
}

TEST(Order, OfPublishedNetworksIsProven) {
  for (const PublishedNetwork& network : published_networks())
    for (Concat concat : {Concat::kCopied, Concat::kParts}) {
      const OrderProblem problem = network.make(concat);
      const OrderResult best = optimal_order(problem);
      EXPECT_TRUE(best.proven) << network.name;
      EXPECT_EQ(best.peak, peak_of(problem, best.order)) << network.name;
      for (const auto& simple : {file_order, breadth_first_order, depth_first_order, greedy_order})
        EXPECT_LE(best.peak, peak_of(problem, simple(problem))) << network.name;
    }
}

TEST(Order, WithoutStatesIsStillAnOrderAndABound) {
  std::mt19937 random(3);
  for (int k = 0; k < 500; ++k) {
    const OrderProblem problem = random_problem(random);
    const OrderResult best = optimal_order(problem, {.states = 0});
    const int64_t optimum = Naive{problem}.optimum();
    ASSERT_LE(best.lower_bound, optimum) << k;
    ASSERT_GE(best.peak, optimum) << k;
    ASSERT_EQ(best.peak, peak_of(problem, best.order)) << k;
  }
}

// Two wide branches, in an order that holds both of them at a time.
TEST(OrderReport, OfSchedulers) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[1, 4] x, float[4, 100] w) => (float[1, 1] y) <int64[1] k = {1}> {
        a = MatMul(x, w) b = Cos(a) c = MatMul(x, w) d = Cos(c) e = Softmax(b) f = Softmax(d)
        g = ReduceSum(e, k) h = ReduceSum(f, k) y = Add(g, h) })");
  const auto report_of = [&](const std::string& scheduler) {
    return scheduler_named(scheduler).schedule(graph, targets().front(), kNoDeadline).order;
  };
  const OrderReport best = report_of("layerwise");
  EXPECT_LT(best.peak, best.file_peak);
  EXPECT_EQ(best.found_peak, best.peak);
  EXPECT_TRUE(best.proven);
  for (const char* scheduler : {"file-order", "rows"}) {
    const OrderReport file = report_of(scheduler);
    EXPECT_EQ(file.peak, best.file_peak);
    EXPECT_EQ(file.file_peak, best.file_peak);
    EXPECT_EQ(file.found_peak, 0);
    EXPECT_FALSE(file.proven);
  }
  const OrderReport fused = report_of("fused");
  EXPECT_EQ(fused.found_peak, best.peak);
  EXPECT_EQ(fused.file_peak, best.file_peak);
  EXPECT_TRUE(fused.proven);
}

}  // namespace
}  // namespace arenac
