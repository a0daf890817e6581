// Nodes of opsets 1 to 6: broadcasting as an attribute, wherever a node may stand, and every other spelling.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <cmath>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "frontend/lower.h"
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

// An old spelling and a newer one of the same. Both read x: float[1, 2, 3, 4].
struct Spelling {
  const char* name;
  int opset;
  const char* old;
  const char* newer;  // of opset 13
};

const Spelling kSpellings[] = {
    {"AbsInPlace", 1, "y = Abs<consumed_inputs = [0]>(x)", "y = Abs(x)"},
    {"AddInPlace", 1, "y = Add<consumed_inputs = [0, 0]>(x, x)", "y = Add(x, x)"},
    {"AveragePool", 1, "y = AveragePool<kernel_shape = [2, 2], pads = [0, 1, 0, 1]>(x)",
     "y = AveragePool<kernel_shape = [2, 2], pads = [0, 1, 0, 1]>(x)"},
    {"BatchNormalization", 1,
     "y = BatchNormalization<consumed_inputs = [0, 0, 0, 1, 1], is_test = 1, epsilon = 0.01>(x, s, b, m, v)",
     "y = BatchNormalization<epsilon = 0.01>(x, s, b, m, v)"},
    {"BatchNormalization6", 6, "y = BatchNormalization<is_test = 1>(x, s, b, m, v)",
     "y = BatchNormalization(x, s, b, m, v)"},
    {"BatchNormalizationOfTraining", 1,
     "y = BatchNormalization<consumed_inputs = [0, 0, 0, 1, 1]>(x, s, b, m, v)",
     R"(own = ReduceMean<axes = [0, 2, 3], keepdims = 0>(x)
        centred = Sub(x, kept) kept = ReduceMean<axes = [0, 2, 3]>(x) squares = Mul(centred, centred)
        spread = ReduceMean<axes = [0, 2, 3], keepdims = 0>(squares)
        y = BatchNormalization(x, s, b, own, spread))"},
    {"Cast", 1, R"(i = Cast<to = "INT32">(x) y = Cast<to = "FLOAT">(i))",
     "i = Cast<to = 6>(x) y = Cast<to = 1>(i)"},
    {"Cast5", 5, R"(i = Cast<to = "BOOL">(x) y = Cast<to = "FLOAT">(i))",
     "i = Cast<to = 9>(x) y = Cast<to = 1>(i)"},
    {"Clip", 1, "y = Clip<min = -0.5, consumed_inputs = [0]>(x)",
     "low = Constant<value_float = -0.5>() y = Clip(x, low)"},
    {"Concat", 1, "y = Concat(x, x)", "y = Concat<axis = 1>(x, x)"},
    {"ConcatAlong", 3, "y = Concat<axis = 3>(x, x)", "y = Concat<axis = 3>(x, x)"},
    {"Dropout", 1, "y = Dropout<is_test = 1, ratio = 0.5>(x)", "y = Identity(x)"},
    {"DropoutOfTraining", 6, "y = Dropout(x)", "y = Identity(x)"},
    {"Elu", 1, "y = Elu<alpha = 0.5, consumed_inputs = [0]>(x)", "y = Elu<alpha = 0.5>(x)"},
    {"Gemm", 1, "f = Flatten<axis = 3>(x) y = Gemm<broadcast = 1, transB = 1>(f, w, b3)",
     "f = Flatten<axis = 3>(x) y = Gemm<transB = 1>(f, w, b3)"},
    {"GlobalLpPool", 1, "y = GlobalLpPool<p = 3.0>(x)", "y = GlobalLpPool<p = 3>(x)"},
    {"GlobalLpPoolBetween", 1, "y = GlobalLpPool<p = 2.5>(x)",
     R"(a = Abs(x) p = Constant<value_float = 2.5>() q = Constant<value_float = 0.4>() r = Pow(a, p)
        axes = Constant<value_ints = [2, 3]>() t = ReduceSum(r, axes) y = Pow(t, q))"},
    {"Gru", 1, "_, y = GRU<hidden_size = 2>(rows, gw, gr)", "_, y = GRU<hidden_size = 2>(rows, gw, gr)"},
    {"InstanceNormalization", 1, "y = InstanceNormalization<consumed_inputs = [0]>(x, s, b)",
     "y = InstanceNormalization(x, s, b)"},
    {"LeakyRelu", 1, "y = LeakyRelu<consumed_inputs = [0]>(x)", "y = LeakyRelu(x)"},
    {"LpPool", 1, "y = LpPool<kernel_shape = [2, 2], p = 1.0>(x)",
     "y = LpPool<kernel_shape = [2, 2], p = 1>(x)"},
    {"LpPoolDefault", 1, "y = LpPool<kernel_shape = [2, 2]>(x)", "y = LpPool<kernel_shape = [2, 2]>(x)"},
    {"Max", 1, "n = Neg(x) y = Max<consumed_inputs = [0, 0]>(x, n)", "y = Abs(x)"},
    {"PRelu", 1, "y = PRelu<consumed_inputs = [0, 0]>(x, s)",
     "c = Constant<value_ints = [2, 1, 1]>() t = Reshape(s, c) y = PRelu(x, t)"},
    {"Pad", 1, "y = Pad<paddings = [0, 0, 1, 2, 0, 0, 0, 1], value = 0.5>(x)",
     R"(p = Constant<value_ints = [0, 0, 1, 2, 0, 0, 0, 1]>() v5 = Constant<value_float = 0.5>()
        y = Pad(x, p, v5))"},
    {"PadReflected", 1, R"(y = Pad<mode = "reflect", paddings = [0, 0, 1, 2, 0, 0, 0, 1]>(x))",
     R"(p = Constant<value_ints = [0, 0, 1, 2, 0, 0, 0, 1]>() y = Pad<mode = "reflect">(x, p))"},
    {"Pad2", 2, "y = Pad<pads = [0, 0, 1, 2, 0, 0, 0, 1]>(x)",
     "p = Constant<value_ints = [0, 0, 1, 2, 0, 0, 0, 1]>() y = Pad(x, p)"},
    {"Reshape", 1, "y = Reshape<shape = [0, -1, 6], consumed_inputs = [0]>(x)",
     "c = Constant<value_ints = [0, -1, 6]>() y = Reshape(x, c)"},
    {"Selu", 1, "y = Selu(x)", "y = Selu<alpha = 1.6732, gamma = 1.0507>(x)"},
    {"SeluOfOne", 1, "y = Selu<alpha = 1.0>(x)", "y = Selu<alpha = 1.0, gamma = 1.0507>(x)"},
    {"Slice", 1, "y = Slice<axes = [2, 3], starts = [0, 1], ends = [-1, 9]>(x)",
     R"(f = Constant<value_ints = [0, 1]>() t = Constant<value_ints = [-1, 9]>()
        a = Constant<value_ints = [2, 3]>() y = Slice(x, f, t, a))"},
    {"Split", 1, "a, c = Split<axis = 3, split = [1, 3]>(x) y = Concat<axis = 3>(c, a)",
     R"(p = Constant<value_ints = [1, 3]>() a, c = Split<axis = 3>(x, p) y = Concat<axis = 3>(c, a))"},
    {"SplitByOperand", 1, "a, c = Split<axis = 3>(x, parts) y = Concat<axis = 3>(c, a)",
     R"(p = Constant<value_ints = [1, 3]>() a, c = Split<axis = 3>(x, p) y = Concat<axis = 3>(c, a))"},
    {"SplitEqually", 1, "a, c = Split<axis = 1>(x) y = Concat<axis = 1>(c, a)",
     "a, c = Split<axis = 1>(x) y = Concat<axis = 1>(c, a)"},
    {"Squeeze", 1, "y = Squeeze<axes = [0]>(x)", "a = Constant<value_ints = [0]>() y = Squeeze(x, a)"},
    {"SumInPlace", 1, "y = Sum<consumed_inputs = [0, 0]>(x, x)", "y = Add(x, x)"},
    {"Tile", 1, "y = Tile(x, three, two)", "r = Constant<value_ints = [1, 1, 3, 1]>() y = Tile(x, r)"},
    {"TopK", 1, "y, _ = TopK<k = 2, axis = 3>(x)",
     "k = Constant<value_ints = [2]>() y, _ = TopK<axis = 3>(x, k)"},
    {"Unsqueeze", 1, "y = Unsqueeze<axes = [0, 3]>(x)",
     "a = Constant<value_ints = [0, 3]>() y = Unsqueeze(x, a)"},
    {"Upsample", 1, "y = Upsample<height_scale = 2.0, width_scale = 3.0>(x)",
     R"(r = Constant<value_floats = [1.0, 1.0, 2.0, 3.0]>()
        y = Resize<coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , r))"},
    {"UpsampleBilinear", 1, R"(y = Upsample<height_scale = 2.0, width_scale = 1.5, mode = "bilinear">(x))",
     R"(r = Constant<value_floats = [1.0, 1.0, 2.0, 1.5]>()
        y = Resize<coordinate_transformation_mode = "asymmetric", mode = "linear">(x, , r))"},
    // Of no version of the standard: experiments that exporters wrote.
    {"MeanVarianceNormalization", 1, "y = MeanVarianceNormalization(x)",
     "y = MeanVarianceNormalization<axes = [2, 3]>(x)"},
    {"MeanVarianceNormalization8", 8, "y = MeanVarianceNormalization<across_channels = 1>(x)",
     "y = MeanVarianceNormalization<axes = [1, 2, 3]>(x)"},
    {"MeanNormalization", 1, "y = MeanVarianceNormalization<normalize_variance = 0>(x)",
     "mean = ReduceMean<axes = [2, 3]>(x) y = Sub(x, mean)"},
    {"ParametricSoftplus", 1, "y = ParametricSoftplus<alpha = 0.5, beta = 2.0>(x)",
     "t = Constant<value_float = 2.0>() d = Mul(x, t) p = Softplus(d) y = Div(p, t)"},
    {"Scale", 1, "y = Scale<scale = 2.0>(x)", "y = Add(x, x)"},
    {"ScaledTanh", 1, "y = ScaledTanh<alpha = 0.5, beta = 2.0>(x)",
     "t = Constant<value_float = 2.0>() d = Mul(x, t) p = Tanh(d) y = Div(p, t)"},
    {"ThresholdedRelu", 1, "y = ThresholdedRelu<alpha = 0.25>(x)", "y = ThresholdedRelu<alpha = 0.25>(x)"},
};

class OldSpelling : public testing::TestWithParam<Spelling> {};

TEST_P(OldSpelling, MeansTheSame) {
  const auto result = [](int opset, const char* nodes) {
    const std::string text = fmt::format(R"(<ir_version: 3, opset_import: ["" : {}]>
      g (float[1, 2, 3, 4] x, float[2, 1, 3] rows) => (y) <float[2] s = {{0.5, 2}}, float[2] b = {{1, -1}},
        float[2] m = {{0.25, 0.5}}, float[2] v = {{1, 4}}, float[3, 4] w = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}},
        float[3] b3 = {{1, 2, 3}}, float[2] parts = {{1, 3}}, float three = {{3}}, float two = {{2}},
        float[1, 6, 3] gw = {{1, 2, 3, 1, 2, 3, -1, -2, 3, 1, 2, 3, 1, 2, -3, 1, 2, 3}},
        float[1, 6, 2] gr = {{1, 2, 1, 2, -1, 2, -1, 2, 1, 2, 1, 2}}> {{ {} }})",
                                         opset, nodes);
    SCOPED_TRACE(text);
    const Graph graph = import_text(text);
    std::vector<double> x, rows;
    for (int k = 0; k < 24; ++k) x.push_back(k % 7 * 0.5 - 1.5);
    for (int k = 0; k < 6; ++k) rows.push_back(k % 5 * 0.25 - 0.5);
    return *interpret(graph, {floats({1, 2, 3, 4}, x), floats({2, 1, 3}, rows)}).at(graph.outputs[0]);
  };
  const Value old = result(GetParam().opset, GetParam().old), newer = result(13, GetParam().newer);
  ASSERT_EQ(old.shape, newer.shape);
  for (int64_t k = 0; k < old.count(); ++k)
    EXPECT_NEAR(load(old, k).f, load(newer, k).f, 1e-5 * (1 + std::abs(load(newer, k).f))) << k;
}

INSTANTIATE_TEST_SUITE_P(All, OldSpelling, testing::ValuesIn(kSpellings),
                         [](const auto& p) { return p.param.name; });

TEST(OldSpelling, EveryOldOperatorOfTheStandardIsThere) {
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    if (schema.domain().empty() && schema.since_version() < 7) {
      EXPECT_NE(find_operator("", schema.Name(), schema.since_version()), nullptr) << schema.Name();
    }
}

TEST(OldSpelling, WarnsOfTraining) {
  const Graph graph = import_text(R"(<ir_version: 3, opset_import: ["" : 6]> g (float[2] x) => (float[2] y)
                                     { y = Dropout(x) })");
  ASSERT_EQ(graph.warnings.size(), 1u);
  EXPECT_THAT(graph.warnings[0], testing::HasSubstr("is_test"));
}

TEST(OldSpelling, Refused) {
  for (const auto& [node, reason] :
       {std::pair{R"(y = Cast<to = "REAL">(x))", "there is no type 'REAL'"},
        {"y = Tile(x, half, one)", "the number of tiles should be whole numbers"},
        {"y = Tile(x, x, one)", "the number of tiles"},
        {"y = Tile(x, one)", "input 2"},
        {"y = Split(x, half)", "the split should be whole numbers"},
        {"y = Reshape(x)", "attribute 'shape'"},
        {"y = Upsample<width_scale = 2.0>(x)", "attribute 'height_scale'"},
        {"y = GlobalLpPool<p = 0.5>(x)", "the norm 'p'"}}) {
    const std::string text = fmt::format(R"(<ir_version: 3, opset_import: ["" : 1]>
      g (float[1, 1, 2, 2] x) => (y) <float half = {{0.5}}, float one = {{1}}> {{ {} }})",
                                         node);
    try {
      import_text(text);
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(reason)) << text;
    }
  }
}

// Before version 3 of the format a model names no opset, and means the first.
TEST(OldSpelling, OfNoOpset) {
  const Graph graph =
      import_text("<ir_version: 2> g (float[2, 3] x) => (float[3, 2] y) { y = Reshape<shape = [3, 2]>(x) }");
  EXPECT_EQ(graph.tensors[graph.outputs[0]].shape, (Shape{3, 2}));
}

}  // namespace
}  // namespace arenac
