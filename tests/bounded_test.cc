// Results whose extent only the run knows, and values that are taken for granted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "driver/compare.h"
#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/emitted.h"
#include "tests/values.h"

namespace arenac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> elements_of(const Value& value) {
  std::vector<int64_t> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kInt64, value.type, load(value, k)).i);
  return all;
}

Graph graph_of(const std::string& text, const ImportOptions& options = {}) {
  return import_text("<ir_version: 8, opset_import: [\"\" : 17]> g " + text, options);
}

std::vector<Value> interpreted(const Graph& graph, const std::vector<Value>& inputs) {
  return model_outputs(graph, interpret_outputs(graph, inputs));
}

std::string refusal(const std::string& text) {
  try {
    graph_of(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "imported";
}

// Every bool matrix of 2x3.
TEST(Bounded, NonZeroOfEveryMatrix) {
  const Graph graph = graph_of("(int64[2,3] x) => (int64[2,n] y) { y = NonZero(x) }");
  EXPECT_EQ(graph.tensors[graph.outputs[0]].shape, (Shape{2, 6}));
  EXPECT_EQ(graph.output_names[graph.true_shapes.at(0)], "y_shape");
  for (int bits = 0; bits < 64; ++bits) {
    std::vector<int64_t> x, rows, columns;
    for (int k = 0; k < 6; ++k) {
      x.push_back(bits >> k & 1);
      if (x.back()) rows.push_back(k / 3), columns.push_back(k % 3);
    }
    const Value y = interpreted(graph, {integers({2, 3}, x)})[0];
    EXPECT_EQ(y.shape, (Shape{2, static_cast<int64_t>(rows.size())}));
    rows.insert(rows.end(), columns.begin(), columns.end());
    EXPECT_EQ(elements_of(y), rows);
  }
}

TEST(Bounded, ExtentsGoThroughWhatTakesElementsOneByOne) {
  const Graph graph = graph_of(R"((float[4] x) => (float[n] y, int64[1] count) {
    zero = Constant<value_float = 0.0>()
    positive = Greater(x, zero)
    at = NonZero(positive)
    column = Transpose<perm = [1, 0]>(at)
    flat = Constant<value_ints = [-1]>()
    index = Reshape(column, flat)
    taken = Gather(x, index)
    y = Mul(taken, taken)
    count = Shape(y)
  })");
  const auto outputs = interpreted(graph, {floats({4}, {-1, 2, 0, 3})});
  EXPECT_THAT(elements_of(outputs[0]), ElementsAre(4, 9));
  EXPECT_THAT(elements_of(outputs[1]), ElementsAre(2));
}

TEST(Bounded, RefusesWhatNeedsTheExtent) {
  const std::string head = "(int64[4] x) => (int64[m] y) { at = NonZero(x) flat = Squeeze(at) ";
  const auto needs = HasSubstr("has an extent that only the run knows");
  EXPECT_THAT(refusal(head + "y = Concat<axis = 0>(flat, flat) }"), needs);
  EXPECT_THAT(refusal(head + "y = ReduceSum<keepdims = 1>(flat) }"), needs);
  EXPECT_THAT(refusal(head + "axis = Constant<value_int = 0>() y = CumSum(flat, axis) }"), needs);
  EXPECT_THAT(refusal(head + "last = Constant<value_ints = [-1]>() y = Gather(flat, last) }"), needs);
  EXPECT_THAT(refusal(head + "b = NonZero(flat) c = Squeeze(b) y = Add(flat, c) }"), needs);
}

// Random slices of few different elements against a set of them.
TEST(Bounded, UniqueFindsTheGroups) {
  std::mt19937 random(1);
  const Graph sorted = graph_of(
      "(int64[9] x) => (int64[n] y, int64[n] first, int64[9] group, int64[n] count) {"
      "y, first, group, count = Unique(x) }");
  const Graph found = graph_of("(int64[9] x) => (int64[n] y) { y = Unique<sorted = 0>(x) }");
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> x;
    for (int k = 0; k < 9; ++k) x.push_back(static_cast<int64_t>(random() % (1 + round % 9)));
    const std::set<int64_t> distinct(x.begin(), x.end());
    const std::vector<int64_t> y(distinct.begin(), distinct.end());
    const auto outputs = interpreted(sorted, {integers({9}, x)});
    EXPECT_EQ(elements_of(outputs[0]), y);
    const auto first = elements_of(outputs[1]), group = elements_of(outputs[2]),
               count = elements_of(outputs[3]);
    for (size_t g = 0; g < y.size(); ++g) {
      EXPECT_EQ(first.at(g), std::find(x.begin(), x.end(), y[g]) - x.begin());
      EXPECT_EQ(count.at(g), std::count(x.begin(), x.end(), y[g]));
    }
    for (size_t k = 0; k < x.size(); ++k) EXPECT_EQ(y.at(group[k]), x[k]);
    std::vector<int64_t> in_order;
    for (int64_t e : x)
      if (std::find(in_order.begin(), in_order.end(), e) == in_order.end()) in_order.push_back(e);
    EXPECT_EQ(elements_of(interpreted(found, {integers({9}, x)})[0]), in_order);
  }
}

struct Box {
  double y1, x1, y2, x2;
};

double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0) return 0;
  const double both = height * width;
  return both / ((a.y2 - a.y1) * (a.x2 - a.x1) + (b.y2 - b.y1) * (b.x2 - b.x1) - both);
}

// Boxes on a coarse grid; the best left over is taken while it does not overlap one taken before.
TEST(Bounded, NonMaxSuppressionKeepsTheBest) {
  std::mt19937 random(2);
  const auto below = [&](int n) { return static_cast<double>(random() % n); };
  const Graph graph = graph_of(R"((float[1,7,4] boxes, float[1,1,7] scores, int64 most) => (int64[n,3] y) {
    overlap = Constant<value_float = 0.4>()
    least = Constant<value_float = 1.5>()
    y = NonMaxSuppression(boxes, scores, most, overlap, least)
  })");
  for (int round = 0; round < 200; ++round) {
    std::vector<Box> boxes;
    std::vector<double> corners, scores;
    for (int k = 0; k < 7; ++k) {
      const double y = below(4), x = below(4);
      boxes.push_back({y, x, y + 1 + below(4), x + 1 + below(4)});
      for (double c : {boxes[k].y1, boxes[k].x1, boxes[k].y2, boxes[k].x2}) corners.push_back(c);
      scores.push_back(below(9));
    }
    const int most = static_cast<int>(random() % 5);
    std::vector<int64_t> kept, expected;
    std::vector<bool> seen(7);
    while (static_cast<int>(kept.size()) < most) {
      int best = -1;
      for (int k = 0; k < 7; ++k)
        if (!seen[k] && scores[k] > 1.5 && (best < 0 || scores[k] > scores[best])) best = k;
      if (best < 0) break;
      seen[best] = true;
      if (std::all_of(kept.begin(), kept.end(),
                      [&](int64_t k) { return overlap(boxes[k], boxes[best]) <= 0.4; }))
        kept.push_back(best);
    }
    for (int64_t k : kept) expected.insert(expected.end(), {0, 0, k});
    const auto y =
        interpreted(graph, {floats({1, 7, 4}, corners), floats({1, 1, 7}, scores), integers({}, {most})})[0];
    EXPECT_EQ(elements_of(y), expected) << "round " << round;
  }
}

TEST(Bounded, TopKOfARunTimeK) {
  const Graph graph = graph_of("(int64[5] x, int64[1] k) => (int64[n] y, int64[n] i) { y, i = TopK(x, k) }");
  const Value x = integers({5}, {3, 9, 1, 7, 5});
  EXPECT_THAT(elements_of(interpreted(graph, {x, integers({1}, {2})})[0]), ElementsAre(9, 7));
  EXPECT_THAT(elements_of(interpreted(graph, {x, integers({1}, {4})})[1]), ElementsAre(1, 3, 4, 0));
}

// What the model declares bounds the result; a run that would need another is an error.
TEST(Bounded, TheDeclaredExtentIsAPromise) {
  const Graph graph = graph_of("(int64[4] x) => (int64[1,2] y) { y = NonZero(x) }");
  EXPECT_TRUE(graph.true_shapes.empty());
  EXPECT_THAT(elements_of(interpreted(graph, {integers({4}, {0, 5, 0, 6})})[0]), ElementsAre(1, 3));
  EXPECT_THROW(interpreted(graph, {integers({4}, {0, 5, 1, 6})}), UserError);
}

// Squares of 0, 1, ... while they are below a limit, at most `most`.
std::string squares(const std::string& inputs, const std::string& most, const std::string& shape) {
  return fmt::format(R"(({}int64 limit) => (int64[{}] y) {{
    on = Constant<value_int = 1>()
    go = Cast<to = 9>(on)
    most = {}
    y = Loop(most, go) <body = b (int64 i, bool c) => (bool d, int64 s) {{
      s = Mul(i, i)
      d = Less(s, limit)
    }}>
  }})",
                     inputs, shape, most);
}

TEST(Bounded, ALoopThatEndsEarlyHasAsManySlicesAsIterations) {
  const Graph graph = graph_of(squares("", "Constant<value_int = 6>()", "n"));
  EXPECT_EQ(graph.tensors[graph.outputs[0]].shape, (Shape{6}));
  EXPECT_THAT(elements_of(interpreted(graph, {integers({}, {4})})[0]), ElementsAre(0, 1, 4));
  EXPECT_THAT(elements_of(interpreted(graph, {integers({}, {0})})[0]), ElementsAre(0));
  EXPECT_THAT(elements_of(interpreted(graph, {integers({}, {99})})[0]), ElementsAre(0, 1, 4, 9, 16, 25));
}

TEST(Bounded, ARunTimeTripCountKeepsToTheDeclaredShape) {
  const Graph graph = graph_of(squares("int64 n, ", "Identity(n)", "3"));
  const auto run = [&](int64_t count, int64_t limit) {
    return elements_of(interpreted(graph, {integers({}, {count}), integers({}, {limit})})[0]);
  };
  EXPECT_THAT(run(3, 99), ElementsAre(0, 1, 4));
  EXPECT_THAT(run(9, 4), ElementsAre(0, 1, 4));
  EXPECT_THROW(run(2, 99), UserError);
  EXPECT_THROW(run(4, 99), UserError);
  EXPECT_THAT(refusal(squares("int64 n, ", "Identity(n)", "m")), HasSubstr("the output's shape declared"));
}

TEST(RunTimeShape, TheDeclaredShapeServes) {
  const Value x = integers({2, 3}, {1, 2, 3, 4, 5, 6});
  const Graph reshape = graph_of("(int64[2,3] x, int64[1] s) => (int64[6] y) { y = Reshape(x, s) }");
  EXPECT_THAT(elements_of(interpreted(reshape, {x, integers({1}, {-1})})[0]), ElementsAre(1, 2, 3, 4, 5, 6));

  const Graph sum = graph_of("(int64[2,3] x, int64[1] a) => (int64[2,1] y) { y = ReduceSum(x, a) }");
  EXPECT_THAT(elements_of(interpreted(sum, {x, integers({1}, {-1})})[0]), ElementsAre(6, 15));
  EXPECT_THROW(interpreted(sum, {x, integers({1}, {0})}), UserError);

  const Graph split = graph_of("(int64[6] x, int64[2] s) => (int64[2] y, int64[4] z) { y, z = Split(x, s) }");
  const Value line = integers({6}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(elements_of(interpreted(split, {line, integers({2}, {2, 4})})[1]), ElementsAre(3, 4, 5, 6));
  EXPECT_THROW(interpreted(split, {line, integers({2}, {4, 2})}), UserError);
}

// Starts, axes and steps that only the run knows, every choice against the definition.
TEST(RunTimeShape, SliceReadsItsOperands) {
  const Graph graph = graph_of(
      "(int64[5] x, int64[1] starts, int64[1] ends, int64[1] axes, int64[1] steps) => (int64[2] y) {"
      "y = Slice(x, starts, ends, axes, steps) }");
  const Value x = integers({5}, {10, 11, 12, 13, 14});
  for (int64_t start = -5; start < 5; ++start)
    for (int64_t step : {-2, -1, 1, 2}) {
      const int64_t first = start < 0 ? start + 5 : start, last = first + step;
      if (last < 0 || last >= 5) continue;
      for (int64_t axis : {-1, 0})
        EXPECT_THAT(elements_of(interpreted(graph, {x, integers({1}, {start}), integers({1}, {0}),
                                                    integers({1}, {axis}), integers({1}, {step})})[0]),
                    ElementsAre(10 + first, 10 + last));
    }
  const int64_t far = std::numeric_limits<int64_t>::max();
  interpreted(graph,
              {x, integers({1}, {far}), integers({1}, {0}), integers({1}, {far}), integers({1}, {-far})});
}

TEST(RunTimeShape, PadReadsItsOperands) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    const Graph graph = graph_of(fmt::format(
        "(int64[3] x, int64[2] pads) => (int64[5] y) {{ y = Pad<mode = \"{}\">(x, pads) }}", mode));
    for (int64_t begin = 0; begin <= 2; ++begin) {
      const Graph known =
          graph_of(fmt::format("(int64[3] x) => (int64[5] y) {{ pads = Constant<value_ints = [{}, {}]>() "
                               "y = Pad<mode = \"{}\">(x, pads) }}",
                               begin, 2 - begin, mode));
      const Value x = integers({3}, {7, 8, 9});
      EXPECT_EQ(elements_of(interpreted(graph, {x, integers({2}, {begin, 2 - begin})})[0]),
                elements_of(interpreted(known, {x})[0]));
    }
  }
}

TEST(Value, IsUsedWhereItMustBeKnownAndGuarded) {
  const std::string text =
      "(int64[6] x, int64[2] s, int64[1] other) => (int64[n,m] y) {"
      "r = Reshape(x, s) y = Add(r, other) }";
  EXPECT_THAT(refusal(text), HasSubstr("--value"));
  const Graph graph =
      graph_of(text, {.values = {{"s", integers({2}, {2, 3})}, {"other", integers({1}, {5})}}});
  EXPECT_EQ(graph.tensors[graph.outputs[0]].shape, (Shape{2, 3}));
  const Value x = integers({6}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(elements_of(interpreted(graph, {x, integers({2}, {2, 3}), integers({1}, {1})})[0]),
              ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_THROW(interpreted(graph, {x, integers({2}, {3, 2}), integers({1}, {1})}), UserError);
  EXPECT_THROW(graph_of(text, {.values = {{"s", integers({1}, {6})}}}), UserError);
  EXPECT_THROW(graph_of(text, {.values = {{"t", integers({1}, {6})}}}), UserError);
}

TEST(Emitted, KnowsTheTrueShape) {
  const std::string text = R"((float[3,4] x) => (int64[n,2] y) {
    zero = Constant<value_float = 0.5>()
    positive = Greater(x, zero)
    at = NonZero(positive)
    y = Transpose<perm = [1, 0]>(at)
  })";
  std::vector<double> x(12);
  x[2] = x[5] = x[11] = 1;
  const std::string loop = squares("", "Constant<value_int = 6>()", "n");
  for (const CompilerRow& compiler : compilers()) {
    std::vector<Emitted> batch;
    batch.push_back({compile_graph(graph_of(loop), "u1", {}), {integers({}, {4})}});
    batch.push_back({compile_graph(graph_of(text), "u0", {}), {floats({3, 4}, x)}});
    run_emitted(batch, compiler);
    for (const Emitted& e : batch) ASSERT_EQ(e.fault, "");
    EXPECT_THAT(elements_of(model_outputs(*batch[0].compilation.graph, batch[0].outputs)[0]),
                ElementsAre(0, 1, 4));
    const auto y = model_outputs(*batch[1].compilation.graph, batch[1].outputs)[0];
    EXPECT_EQ(y.shape, (Shape{3, 2}));
    EXPECT_THAT(elements_of(y), ElementsAre(0, 2, 1, 1, 2, 3));
  }
}

}  // namespace
}  // namespace arenac
