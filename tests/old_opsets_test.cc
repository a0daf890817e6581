// Broadcasting as an attribute, as opsets 1 to 6 have it, wherever a node may stand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac {
namespace {

// A node y = ... of x [2,3,2] and b, whose elements stand beside x's as `inner` has it: x[k] meets
// b[k / inner % count].
struct Example {
  const char *name, *node, *b;
  int64_t count, inner;
  double (*f)(double x, double b);
};

const Example kExamples[] = {
    {"Scalar", "Mul<broadcast = 1>(x, b)", "float", 1, 1, [](double x, double b) { return x * b; }},
    {"ScalarWithAxis", "Mul<broadcast = 1, axis = 1>(x, b)", "float", 1, 1,
     [](double x, double b) { return x * b; }},
    {"OneElement", "Div<broadcast = 1>(x, b)", "float[1]", 1, 1, [](double x, double b) { return x / b; }},
    {"OnesOnly", "Sub<broadcast = 1>(x, b)", "float[1, 1]", 1, 1, [](double x, double b) { return x - b; }},
    {"Suffix", "Add<broadcast = 1>(x, b)", "float[3, 2]", 6, 1, [](double x, double b) { return x + b; }},
    {"FirstAxis", "Sub<broadcast = 1, axis = 0>(x, b)", "float[2]", 2, 6,
     [](double x, double b) { return x - b; }},
    {"FirstAxes", "Sub<broadcast = 1, axis = 0>(x, b)", "float[2, 3]", 6, 2,
     [](double x, double b) { return x - b; }},
    {"MiddleAxis", "Div<broadcast = 1, axis = 1>(x, b)", "float[3]", 3, 2,
     [](double x, double b) { return x / b; }},
    {"NegativeAxis", "Pow<broadcast = 1, axis = -2>(x, b)", "float[3]", 3, 2,
     [](double x, double b) { return std::pow(x, b); }},
    {"Comparison", "Greater<broadcast = 1, axis = 1>(x, b)", "float[3]", 3, 2,
     [](double x, double b) { return x > b ? 1.0 : 0.0; }},
    {"EqualShapes", "Add(x, b)", "float[2, 3, 2]", 12, 1, [](double x, double b) { return x + b; }},
    {"ScalarUnasked", "Mul(x, b)", "float", 1, 1, [](double x, double b) { return x * b; }},
    {"OneElementUnasked", "Less(x, b)", "float[1]", 1, 1,
     [](double x, double b) { return x < b ? 1.0 : 0.0; }},
    {"OneElementFirst", "Sub<broadcast = 1>(b, x)", "float[1, 1]", 1, 1,
     [](double x, double b) { return b - x; }},
    {"ScalarFirst", "Sub(b, x)", "float", 1, 1, [](double x, double b) { return b - x; }},
};

// Models of one node "y = {0}" of x and b, of type {1}.
struct Place {
  const char *name, *model;
};

const Place kPlaces[] = {
    {"Main", R"(<ir_version: 3, opset_import: ["" : 6]>
      g (float[2, 3, 2] x, {1} b) => (float[n] r) {{ y = {0} r = Cast<to = 1>(y) }})"},
    {"Function", R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
      g (float[2, 3, 2] x, {1} b) => (float[n] r) {{ y = own.f(x, b) r = Cast<to = 1>(y) }}
      <domain: "own", opset_import: ["" : 6]> f (x, b) => (y) {{ y = {0} }})"},
    {"FunctionInFunction", R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
      g (float[2, 3, 2] x, {1} b) => (float[n] r) {{ y = own.h(x, b) r = Cast<to = 1>(y) }}
      <domain: "own", opset_import: ["" : 6]> f (x, b) => (y) {{ y = {0} }}
      <domain: "own", opset_import: ["" : 15, "own" : 1]> h (x, b) => (z) {{ z = own.f(x, b) }})"},
    {"Branch", R"(<ir_version: 3, opset_import: ["" : 6]>
      g (float[2, 3, 2] x, {1} b, bool c) => (float[n] r) {{
        r = If (c) <then_branch = t () => (float[2, 3, 2] p) {{ y = {0} p = Cast<to = 1>(y) }},
                    else_branch = e () => (float[2, 3, 2] q) {{ q = Identity(x) }}> }})"},
    {"LoopBody", R"(<ir_version: 3, opset_import: ["" : 6]>
      g (float[2, 3, 2] x, {1} b, bool c) => (float[n] r) <int64 one = {{1}}> {{
        zero = Sub(x, x)
        r = Loop (one, c, zero) <body = l (int64 t, bool go, float[2, 3, 2] s) => (bool go, float[2, 3, 2] next) {{
          y = {0} z = Cast<to = 1>(y) next = Add(s, z) }}> }})"},
    {"BranchInFunction", R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
      g (float[2, 3, 2] x, {1} b, bool c) => (float[n] r) {{ r = own.f(x, b, c) }}
      <domain: "own", opset_import: ["" : 6]> f (x, b, c) => (r) {{
        r = If (c) <then_branch = t () => (float[2, 3, 2] p) {{ y = {0} p = Cast<to = 1>(y) }},
                    else_branch = e () => (float[2, 3, 2] q) {{ q = Identity(x) }}> }})"},
    {"FunctionInScanBody", R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
      g (float[2, 3, 2] x, {1} b) => (float[n] r) <int64[1] zero = {{0}}, float[1] one = {{1}}> {{
        slices = Scan (one) <num_scan_inputs = 1, body = l (float once) => (float[2, 3, 2] slice) {{
          y = own.f(x, b) slice = Cast<to = 1>(y) }}>
        r = Squeeze(slices, zero) }}
      <domain: "own", opset_import: ["" : 6]> f (x, b) => (y) {{ y = {0} }})"},
};

class OldOpsets : public testing::TestWithParam<std::tuple<Example, Place>> {};

TEST_P(OldOpsets, BroadcastByAttribute) {
  const auto& [example, place] = GetParam();
  const std::string text = fmt::format(fmt::runtime(place.model), example.node, example.b);
  SCOPED_TRACE(text);
  std::vector<double> x, b;
  for (int64_t k = 0; k < 12; ++k) x.push_back(static_cast<double>(k % 5) + 0.5);
  for (int64_t k = 0; k < example.count; ++k) b.push_back(static_cast<double>(k % 3) + 1);
  const Graph graph = import_text(text);
  std::vector<Value> inputs = {floats({2, 3, 2}, x), floats(graph.tensors[graph.inputs[1]].shape, b)};
  if (graph.inputs.size() == 3) store(inputs.emplace_back(Type::kBool, Shape{}), 0, {.i = 1});
  const auto result = interpret(graph, inputs).at(graph.outputs[0]);
  ASSERT_EQ(result->shape, (Shape{2, 3, 2}));
  for (int64_t k = 0; k < 12; ++k)
    EXPECT_FLOAT_EQ(load(*result, k).f, example.f(x[k], b[k / example.inner % example.count])) << k;
}

INSTANTIATE_TEST_SUITE_P(All, OldOpsets,
                         testing::Combine(testing::ValuesIn(kExamples), testing::ValuesIn(kPlaces)),
                         [](const auto& p) {
                           return fmt::format("{}In{}", std::get<0>(p.param).name, std::get<1>(p.param).name);
                         });

TEST(OldOpsetsRefuse, WhatDoesNotBroadcast) {
  for (const auto& [node, b] : {std::pair{"Add(x, b)", "2"},
                                {"Add(x, b)", "1, 2"},
                                {"Add<broadcast = 1>(x, b)", "3"},
                                {"Add<broadcast = 1, axis = 2>(x, b)", "3, 2"},
                                {"Add<broadcast = 1, axis = 9>(x, b)", "3"},
                                {"Add<broadcast = 1, axis = 0>(x, b)", "3"},
                                {"Add<broadcast = 1>(x, b)", "1, 2, 3, 2"},
                                {"Add<broadcast = 1, axis = 0>(b, x)", "3"},
                                {"Add<broadcast = 1>(b, x)", "3, 2"},
                                {"Add<broadcast = 1>(b, x)", "1, 3, 2"}}) {
    const std::string text = fmt::format(fmt::runtime(kPlaces[0].model), node, fmt::format("float[{}]", b));
    try {
      import_text(text);
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("does not broadcast to")) << text;
    }
  }
}

}  // namespace
}  // namespace arenac
