// If, Loop and Scan, from text models through the interpreter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Value number(Type type, int64_t value) {
  Value one(type, {});
  store(one, 0, {.i = value});
  return one;
}

std::vector<double> output(const Graph& graph, const std::vector<Value>& inputs, int k = 0) {
  const auto values = interpret(graph, inputs);
  const Value& value = *values.at(graph.outputs.at(k));
  std::vector<double> all;
  for (int64_t e = 0; e < value.count(); ++e)
    all.push_back(convert(Type::kFloat64, value.type, load(value, e)).f);
  return all;
}

std::string refusal(const std::string& text) {
  try {
    import_text(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "imported";
}

int loops(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.block) count += std::holds_alternative<Loop>(node.body);
  return count;
}

const std::string kHead = "<ir_version: 8, opset_import: [\"\" : 16]> ";

TEST(If, TakesTheBranchOfItsCondition) {
  const Graph graph = import_text(kHead + R"(g (bool c, float[2] x) => (float[2] y) {
      a = Relu(x)
      y = If (c) <then_branch = t () => (float[2] p) { p = Mul(a, x) },
                  else_branch = e () => (float[2] q) { q = Add(a, x) }>
    })");
  EXPECT_THAT(output(graph, {number(Type::kBool, 1), floats({2}, {3, -1})}), ElementsAre(9, 0));
  EXPECT_THAT(output(graph, {number(Type::kBool, 0), floats({2}, {3, -1})}), ElementsAre(6, -1));
}

TEST(If, WithAKnownConditionIsItsBranch) {
  const Graph graph = import_text(kHead + R"(g (float[2] x) => (float[2] y) <bool c = {0}> {
      y = If (c) <then_branch = t () => (float[1] p) { p = NoSuchOperator(x) },
                  else_branch = e () => (float[2] q) { q = Add(x, x) }>
    })");
  EXPECT_THAT(output(graph, {floats({2}, {3, -1})}), ElementsAre(6, -2));
}

TEST(If, RefusesBranchesOfUnequalShape) {
  EXPECT_THAT(refusal(kHead + R"(g (bool c, float[2] x, float[3] z) => (float[n] y) {
      y = If (c) <then_branch = t () => (float[2] p) { p = Identity(x) },
                  else_branch = e () => (float[3] q) { q = Identity(z) }>
    })"),
              HasSubstr("output 0 is float32 [2] in the then-branch and float32 [3] in the else-branch"));
}

// The else-branch adds what cannot be added.
TEST(If, LeavesOutABranchThatDoesNotFitTheShapes) {
  const Graph graph = import_text(kHead + R"(g (bool c, float[2] x, float[3] z) => (float[2] y) {
      r = If (c) <then_branch = t () => (float[2] p) { p = Mul(x, x) },
                  else_branch = e () => (float[2] q) { q = Add(x, z) }>
      y = Relu(r)
    })");
  ASSERT_EQ(graph.warnings.size(), 1u);
  EXPECT_THAT(graph.warnings[0],
              HasSubstr("the else-branch of 'r' does not fit these shapes: node 'q' (Add"));
  const Value x = floats({2}, {3, -1}), z = floats({3}, {0, 0, 0});
  EXPECT_THAT(output(graph, {number(Type::kBool, 1), x, z}), ElementsAre(9, 1));
  EXPECT_THROW(output(graph, {number(Type::kBool, 0), x, z}), UserError);
}

TEST(If, LeavesOutABranchInsideABranch) {
  const Graph graph = import_text(kHead + R"(g (bool c, bool d, float[2] x, float[3] z) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] p) {
            p = If (d) <then_branch = t2 () => (float[2] u) { u = Add(x, z) },
                        else_branch = e2 () => (float[2] v) { v = Mul(x, x) }> },
                  else_branch = e () => (float[2] q) {
            q = If (d) <then_branch = t3 () => (float[2] u) { u = Add(x, z) },
                        else_branch = e3 () => (float[2] v) { v = Sub(x, z) }> }>
    })");
  EXPECT_EQ(graph.warnings.size(), 2u);
  const Value x = floats({2}, {3, -1}), z = floats({3}, {0, 0, 0}), yes = number(Type::kBool, 1),
              no = number(Type::kBool, 0);
  EXPECT_THAT(output(graph, {yes, no, x, z}), ElementsAre(9, 1));
  EXPECT_THROW(output(graph, {yes, yes, x, z}), UserError);
  EXPECT_THROW(output(graph, {no, no, x, z}), UserError);
}

TEST(If, RefusesWhenNeitherBranchFits) {
  const std::string message = refusal(kHead + R"(g (bool c, float[2] x, float[3] z) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] p) { p = Mul(x, z) },
                  else_branch = e () => (float[2] q) { q = Add(x, z) }>
    })");
  EXPECT_THAT(message, HasSubstr("node 'p' (Mul"));
  EXPECT_THAT(message, HasSubstr("node 'q' (Add"));
}

TEST(If, BlamesNoBranchForWhatFailsOutside) {
  const std::string message = refusal(kHead + R"(g (bool c, float[2] x) => (float[2] y) {
      a = NoSuchOperator(x)
      y = If (c) <then_branch = t () => (float[2] p) { p = Mul(a, x) },
                  else_branch = e () => (float[2] q) { q = Add(x, x) }>
    })");
  EXPECT_THAT(message, HasSubstr("NoSuchOperator"));
  EXPECT_THAT(message, testing::Not(HasSubstr("\n"))) << "one fault, one line";
}

TEST(If, ReportsTheNodeInsideABranch) {
  const std::string message = refusal(kHead + R"(g (bool c, float[2] x) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] p) { p = NoSuchOperator(x) },
                  else_branch = e () => (float[2] q) { q = Identity(x) }>
    })");
  EXPECT_THAT(message, HasSubstr("NoSuchOperator"));
  EXPECT_THAT(message, testing::Not(HasSubstr("\n"))) << "one fault, one line";
}

TEST(Loop, CarriesValuesAndStacksSlices) {
  const Graph graph = import_text(kHead + R"(g (float[2] x) => (float[2] last, float[3, 2] all)
    <int64 trips = {3}, bool yes = {1}> {
      last, all = Loop (trips, yes, x) <body = b (int64 t, bool c, float[2] s) => (bool d, float[2] n, float[2] z)
        { d = Identity(c)  n = Add(s, x)  z = Mul(s, s) }>
    })");
  EXPECT_EQ(loops(graph), 1);
  EXPECT_THAT(output(graph, {floats({2}, {1, 2})}, 0), ElementsAre(4, 8));
  EXPECT_THAT(output(graph, {floats({2}, {1, 2})}, 1), ElementsAre(1, 4, 4, 16, 9, 36));
}

TEST(Loop, UpdatesItsStatesAllAtOnce) {
  const Graph graph = import_text(kHead + R"(g (float[1] x, float[1] z) => (float[1] p, float[1] q)
    <int64 trips = {3}, bool yes = {1}> {
      p, q = Loop (trips, yes, x, z) <body = b (int64 t, bool c, float[1] u, float[1] v) => (bool c, float[1] v, float[1] u)
        { w = Relu(u) }>
    })");
  EXPECT_THAT(output(graph, {floats({1}, {1}), floats({1}, {2})}, 0), ElementsAre(2));
  EXPECT_THAT(output(graph, {floats({1}, {1}), floats({1}, {2})}, 1), ElementsAre(1));
}

TEST(Loop, EndsWhenItsConditionFails) {
  const Graph graph = import_text(kHead + R"(g (float x, float limit) => (float y) <int64 trips = {100}> {
      y = Loop (trips, , x) <body = b (int64 t, bool c, float s) => (bool d, float n) { n = Add(s, s)  d = Less(n, limit) }>
    })");
  EXPECT_THAT(output(graph, {floats({}, {1}), floats({}, {20})}), ElementsAre(32));
  EXPECT_THAT(output(graph, {floats({}, {1}), floats({}, {0})}), ElementsAre(2));
}

TEST(Loop, CountsAtRunTime) {
  const Graph graph = import_text(kHead + R"(g (int64 trips, bool first, float x) => (float y) {
      y = Loop (trips, first, x) <body = b (int64 t, bool c, float s) => (bool c, float n) { n = Add(s, s) }>
    })");
  EXPECT_THAT(output(graph, {number(Type::kInt64, 5), number(Type::kBool, 1), floats({}, {1})}),
              ElementsAre(32));
  EXPECT_THAT(output(graph, {number(Type::kInt64, 0), number(Type::kBool, 1), floats({}, {1})}),
              ElementsAre(1));
  EXPECT_THAT(output(graph, {number(Type::kInt64, 5), number(Type::kBool, 0), floats({}, {1})}),
              ElementsAre(1));
}

TEST(Loop, OfConstantsVanishes) {
  const Graph graph = import_text(kHead + R"(g (float[4] x) => (float[2, 2] y)
    <int64 trips = {2}, bool yes = {1}, int64 one = {1}, int64 zero = {0}> {
      n, shape = Loop (trips, yes, zero) <body = b (int64 t, bool c, int64 s) => (bool c, int64 n, int64 z)
        { n = Add(s, one)  z = Mul(trips, one) }>
      y = Reshape(x, shape)
    })");
  EXPECT_EQ(loops(graph), 0) << dump(graph);
}

TEST(Loop, RefusesSlicesOfAnUnknownCount) {
  EXPECT_THAT(refusal(kHead + R"(g (int64 trips, float x) => (float y, float[n] z) {
      y, z = Loop (trips, , x) <body = b (int64 t, bool c, float s) => (bool c, float n, float m) { n = Add(s, s)  m = Relu(n) }>
    })"),
              HasSubstr("data-dependent output shape"));
}

TEST(Loop, RefusesMoreCopiesOfItsBodyThanItWrites) {
  const auto growing = [](int trips) {
    return refusal(
        fmt::format("{}g (float[1] x) => (float[{}] y) <int64 trips = {{{}}}> {{", kHead, trips + 1, trips) +
        R"(y = Loop (trips, , x) <body = b (int64 t, bool c, float[n] s) => (bool c, float[m] n)
                        { n = Concat<axis = 0>(s, x) }> })");
  };
  EXPECT_EQ(growing(1000), "imported");
  EXPECT_THAT(growing(1001), HasSubstr("its 1001 iterations as copies of the body exceed"));
  EXPECT_THAT(growing(10001), HasSubstr("its 10001 iterations as copies of the body exceed"));
}

TEST(Loop, Nests) {
  const Graph graph =
      import_text(kHead + R"(g (float x) => (float y) <int64 two = {2}, int64 three = {3}, bool yes = {1}> {
      y = Loop (three, yes, x) <body = b (int64 t, bool c, float s) => (bool c, float n) {
        n = Loop (two, yes, s) <body = b2 (int64 t2, bool c2, float s2) => (bool c2, float n2) { n2 = Add(s2, x) }>
      }>
    })");
  EXPECT_THAT(output(graph, {floats({}, {2})}), ElementsAre(14));
}

TEST(Scan, RunsAlongAxesInEitherDirection) {
  const Graph graph =
      import_text(kHead + R"(g (float[1] s, float[1, 3] x) => (float[1] sum, float[1, 3] sums) {
      sum, sums = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1],
                        scan_output_directions = [1],
                        body = b (float[1] a, float[1] e) => (float[1] n, float[1] z) { n = Add(a, e)  z = Identity(n) }>
                  (s, x)
    })");
  EXPECT_THAT(output(graph, {floats({1}, {10}), floats({1, 3}, {1, 2, 4})}, 0), ElementsAre(17));
  EXPECT_THAT(output(graph, {floats({1}, {10}), floats({1, 3}, {1, 2, 4})}, 1), ElementsAre(17, 16, 14));
}

TEST(Scan, OfOpset8RunsForEachElementOfTheBatch) {
  const char* text =
      R"(<ir_version: 3, opset_import: ["" : 8]> g (float[2] s, float[2, 3] x) => (float[2] sum, float[2, 3] sums) {
      sum, sums = Scan <num_scan_inputs = 1, directions = [1],
                        body = b (float a, float e) => (float n, float z) { n = Add(a, e)  z = Identity(n) }>
                  (lengths, s, x)
    })";
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser(text).Parse(model).IsOK());
  model.mutable_graph()->mutable_node(0)->set_input(0, "");
  const Graph graph = import_bytes(model.SerializeAsString(), "text");
  const std::vector<Value> inputs = {floats({2}, {10, 20}), floats({2, 3}, {1, 2, 4, 3, 5, 7})};
  EXPECT_THAT(output(graph, inputs, 0), ElementsAre(17, 35));
  EXPECT_THAT(output(graph, inputs, 1), ElementsAre(14, 16, 17, 27, 32, 35));
}

}  // namespace
}  // namespace arenac
