// Formulas at the places that ONNX's own cases leave out: old versions, extremes, com.microsoft. Every
// example is the text of a model's nodes, its input x and the output y worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "frontend/import.h"
#include "frontend/interpret.h"

namespace arenac {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

struct Example {
  const char* name;
  int opset;
  const char* x;      // type and shape
  const char* known;  // initializers
  const char* nodes;
  std::vector<double> in, out;
};

const double e = std::exp(1.0), ln2 = std::log(2.0);

const Example kExamples[] = {
    {"SoftplusNeverOverflows", 7, "float[3]", "", "y = Softplus(x)", {-200, 0, 200}, {0, ln2, 200}},
    {"SigmoidOfExtremes", 7, "float[3]", "", "y = Sigmoid(x)", {-200, 0, 200}, {0, 0.5, 1}},
    {"SignKeepsNan", 13, "float[4]", "", "y = Sign(x)", {-3, 0, 5, kNan}, {-1, 0, 1, kNan}},
    {"RoundIsHalfToEven", 11, "float[4]", "", "y = Round(x)", {0.5, 1.5, 2.5, -0.5}, {0, 2, 2, 0}},
    {"CeluOfLargeValues", 12, "float[2]", "", "y = Celu<alpha = 2.0>(x)", {1000, -2}, {1000, 2 / e - 2}},
    {"ShrinkOnIntegers",
     9,
     "int32[4]",
     "",
     "y = Shrink<lambd = 1.5, bias = 1.0>(x)",
     {-2, -1, 1, 3},
     {-1, 0, 0, 2}},
    {"ClipByAttributes",
     10,
     "float[3]",
     "",
     "y = Clip<min = -1.0, max = 1.0>(x)",
     {-5, 0.5, kNan},
     {-1, 0.5, kNan}},
    {"ClipWithCrossedBounds",
     13,
     "float[2]",
     "float lo = {2}, float hi = {1}",
     "y = Clip(x, lo, hi)",
     {0, 3},
     {1, 1}},
    {"ModHasTheSignOfTheDivisor",
     13,
     "int32[3]",
     "int32[3] d = {3, -3, 0}",
     "y = Mod(x, d)",
     {-7, 7, 5},
     {2, -2, 0}},
    {"FmodHasTheSignOfTheDividend",
     13,
     "int32[2]",
     "int32[2] d = {3, -3}",
     "y = Mod<fmod = 1>(x, d)",
     {-7, 7},
     {-1, 1}},
    {"FmodOfFloats",
     13,
     "float[2]",
     "float[2] d = {2, -2}",
     "y = Mod<fmod = 1>(x, d)",
     {-5.5, 5.5},
     {-1.5, 1.5}},
    {"DivisionTruncates", 13, "int32[3]", "int32[3] d = {2, 2, 0}", "y = Div(x, d)", {-7, 7, 1}, {-3, 3, 0}},
    {"PowSquare", 13, "float[2]", "float p = {2}", "y = Pow(x, p)", {-3, 4}, {9, 16}},
    {"PowRoot", 13, "float[2]", "float p = {0.5}", "y = Pow(x, p)", {9, 2.25}, {3, 1.5}},
    {"PowOfIntegersTruncates",
     13,
     "int32[6]",
     "int32[6] p = {-1, -2, -3, -1, 3, 0}",
     "y = Pow(x, p)",
     {-1, -1, 1, 2, -2, 0},
     {-1, 1, 1, 0, -8, 1}},
    {"PowBroadcastsTheBase", 13, "float[1]", "float[3] p = {0, 1, 3}", "y = Pow(x, p)", {2}, {1, 2, 8}},
    {"PowOneBroadcasts", 13, "float[2]", "int64[1, 1] p = {1}", "y = Pow(x, p)", {2, 3}, {2, 3}},
    {"IsInfPositive",
     10,
     "float[3]",
     "",
     "y = IsInf<detect_negative = 0>(x)",
     {kInf, -kInf, kNan},
     {1, 0, 0}},
    {"BitCastReadsBits", 26, "float[2]", "", "y = BitCast<to = 6>(x)", {1, -2}, {0x3f800000, -0x40000000}},
    {"CastSaturates", 13, "float[3]", "", "y = Cast<to = 3>(x)", {300, -300, -1.7}, {127, -128, -1}},
    {"MicrosoftGelu", 17, "float[2]", "", "y = com.microsoft.Gelu(x)", {0, 1}, {0, 0.841345}},
    {"FastGeluAddsABias",
     17,
     "float[2]",
     "float[2] b = {1, 1}",
     "y = com.microsoft.FastGelu(x, b)",
     {-1, 0},
     {0, 0.841192}},

    {"LogSumExpOfLargeValues",
     13,
     "float[2]",
     "",
     "y = ReduceLogSumExp<axes = [0]>(x)",
     {1000, 1000},
     {1000 + ln2}},
    {"LogSumExpOfMinusInfinity",
     13,
     "float[2]",
     "",
     "y = ReduceLogSumExp<keepdims = 0>(x)",
     {-kInf, -kInf},
     {-kInf}},
    {"ReduceNothing",
     18,
     "float[2]",
     "int64[0] a = {}",
     "y = ReduceSumSquare<noop_with_empty_axes = 1>(x, a)",
     {2, 3},
     {4, 9}},
    {"MeanOfIntegers", 18, "int32[3]", "", "y = ReduceMean(x)", {1, 2, 5}, {2}},
    {"ArgMaxLast",
     13,
     "float[2, 3]",
     "",
     "y = ArgMax<axis = -1, select_last_index = 1, keepdims = 0>(x)",
     {1, 5, 5, 7, 7, 0},
     {2, 1}},
    {"ArgMinFirst", 13, "int32[2, 3]", "", "y = ArgMin<axis = 1>(x)", {1, 1, 2, 7, 0, 0}, {0, 1}},

    {"SoftmaxOfAllTrailingDims",
     12,
     "float[1, 2, 2]",
     "",
     "y = Softmax<axis = 1>(x)",
     {0, 0, ln2, 0},
     {0.2, 0.2, 0.4, 0.2}},
    {"SoftmaxOfOneDim",
     13,
     "float[1, 2, 2]",
     "",
     "y = Softmax<axis = 1>(x)",
     {0, 0, ln2, 0},
     {1 / 3., 0.5, 2 / 3., 0.5}},
    {"HardmaxOfAllTrailingDims",
     11,
     "float[1, 2, 2]",
     "",
     "y = Hardmax<axis = 1>(x)",
     {0, 3, 3, 1},
     {0, 1, 0, 0}},
    {"BatchNormalizationOfRows",
     9,
     "float[2, 2]",
     "float[2] s = {2, 1}, float[2] b = {1, 0}, float[2] m = {1, 2}, float[2] v = {4, 1}",
     "y = BatchNormalization<epsilon = 0.0>(x, s, b, m, v)",
     {1, 2, 3, 4},
     {1, 0, 3, 2}},
    {"GroupScalesAGroup",
     18,
     "float[1, 4, 1]",
     "float[2] s = {1, 10}, float[2] b = {0, 1}",
     "y = GroupNormalization<num_groups = 2, epsilon = 0.0>(x, s, b)",
     {1, 3, 5, 9},
     {-1, 1, -9, 11}},
    {"GroupScalesAChannel",
     21,
     "float[1, 4, 1]",
     "float[4] s = {1, 2, 3, 4}, float[4] b = {0, 0, 0, 1}",
     "y = GroupNormalization<num_groups = 2, epsilon = 0.0>(x, s, b)",
     {1, 3, 5, 9},
     {-1, 2, -3, 5}},
    {"LpNormalizationOfZeros",
     13,
     "float[2, 2]",
     "",
     "y = LpNormalization(x)",
     {0, 0, 3, 4},
     {0, 0, 0.6, 0.8}},
    {"SkipLayerNormalization",
     17,
     "float[1, 2]",
     "float[1, 2] k = {1, 1}, float[2] g = {2, 3}, float[2] be = {0, 1}, float[2] b = {0, 2}",
     "y = com.microsoft.SkipLayerNormalization<epsilon = 0.0>(x, k, g, be, b)",
     {0, 2},
     {-2, 4}},
    {"ImageScaler",
     7,
     "float[1, 2, 1, 1]",
     "",
     "y = ImageScaler<scale = 2.0, bias = [1.0, -1.0]>(x)",
     {1, 2},
     {3, 3}},
    {"Crop",
     7,
     "float[1, 1, 3, 3]",
     "",
     "y = Crop<border = [1, 0, 0, 1]>(x)",
     {0, 1, 2, 3, 4, 5, 6, 7, 8},
     {1, 2, 4, 5}},

    {"QuantizeHalfToEvenAndSaturate",
     10,
     "float[4]",
     "float s = {2}, uint8 z = {1}",
     "y = QuantizeLinear(x, s, z)",
     {1, 3, 5, 9999},
     {1, 3, 3, 255}},
    {"QuantizeBlocks",
     21,
     "float[1, 4]",
     "float[1, 2] s = {1, 2}, int16[1, 2] z = {0, 5}",
     "y = QuantizeLinear<axis = 1, block_size = 2>(x, s, z)",
     {1, -2, 2, -70000},
     {1, -2, 6, -32768}},
    {"DequantizeBlocks",
     21,
     "int8[1, 3]",
     "float[1, 2] s = {1, 2}",
     "y = DequantizeLinear<axis = 1, block_size = 2>(x, s)",
     {1, -2, 2},
     {1, -2, 4}},
    {"DynamicallyQuantizedZeros", 11, "float[2]", "", "y, s, z = DynamicQuantizeLinear(x)", {0, 0}, {0, 0}},
};

class Formulas : public testing::TestWithParam<Example> {};

TEST_P(Formulas, GiveTheWorkedResult) {
  const Example& example = GetParam();
  const std::string known = *example.known ? fmt::format("<{}>", example.known) : "";
  const Graph graph = import_text(fmt::format(
      R"(<ir_version: 8, opset_import: ["" : {}, "com.microsoft" : 1]> g ({} x) => (y) {} {{ {} }})",
      example.opset, example.x, known, example.nodes));
  const Tensor& x = graph.tensors[graph.inputs[0]];
  Value input(x.type, x.shape);
  ASSERT_EQ(input.count(), static_cast<int64_t>(example.in.size()));
  for (int64_t k = 0; k < input.count(); ++k)
    store(input, k, convert(x.type, Type::kFloat64, {.f = example.in[k]}));
  const auto values = interpret(graph, {input});
  const Value& y = *values[graph.outputs[0]];
  ASSERT_EQ(y.count(), static_cast<int64_t>(example.out.size()));
  for (int64_t k = 0; k < y.count(); ++k) {
    const double got = convert(Type::kFloat64, y.type, load(y, k)).f, want = example.out[k];
    if (std::isfinite(want))
      EXPECT_NEAR(got, want, 2e-6 * (1 + std::abs(want))) << "element " << k;
    else
      EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << "element " << k << " is " << got;
  }
}

// Added one by one, a quarter of a million tenths come out a quarter of a percent wrong.
TEST(Reductions, LongSumsKeepTheirDigits) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[512, 512] x) => (float[1, 1] y) { y = ReduceMean(x) })");
  Value tenths(Type::kFloat32, {512, 512});
  for (int64_t k = 0; k < tenths.count(); ++k) store(tenths, k, {.f = 0.1});
  const auto values = interpret(graph, {tenths});
  EXPECT_NEAR(load(*values[graph.outputs[0]], 0).f, 0.1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, Formulas, testing::ValuesIn(kExamples),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace arenac
