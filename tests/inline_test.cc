// Element-wise nodes merge with their neighbours where the bits and the memory allow it.
#include "frontend/inline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "frontend/import.h"
#include "frontend/interpret.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"
#include "planner/lifetime.h"
#include "planner/planners.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph model(const std::string& text) {
  return import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g )" + text);
}

// The operators after inlining; the graph's outputs are the same bits as before.
std::vector<std::string> inlined_ops(const std::string& text) {
  const Graph before = model(text), after = with_inlined_elements(before);
  for (unsigned seed = 0; seed < 4; ++seed) assert_same_bits(before, after, seed, Numbers::kAny);
  return ops_of(after);
}

TEST(Inline, MakesOneNodeOfAQuantisedConvolution) {
  const std::string text = R"((int8[1, 2, 4, 4] x) => (int8[1, 1, 4, 4] y)
      <float s = {0.5}, int8 z = {3}, float[1, 2, 3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 2, -3, 4, -5, 6, -7, 8, 9},
       float[1] b = {0.25}> {
      r = DequantizeLinear(x, s, z)
      c = Conv<pads = [1, 1, 1, 1]>(r, w, b)
      a = Relu(c)
      y = QuantizeLinear(a, s, z) })";
  EXPECT_THAT(inlined_ops(text), ElementsAre("Conv+Relu+QuantizeLinear"));
}

TEST(Inline, AppendsTheResidualAddition) {
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] y)
      { m = MatMul(x, w) a = Add(m, x) y = Relu(a) })"),
              ElementsAre("MatMul+Add+Relu"));
}

// 255 + 1 is 0 in a byte, and 0 - 1 the last index.
TEST(Inline, KeepsIndicesInsideThatWrap) {
  const Graph after = with_inlined_elements(model(R"((uint8[256] x, float[256] d) => (float[256] y)
      <uint8 byte = {1}, int64 one = {1}> { a = Add(x, byte) b = Cast<to = 7>(a) c = Sub(b, one) y = Gather(d, c) })"));
  Value x(Type::kUint8, {256}), d(Type::kFloat32, {256});
  for (int64_t k = 0; k < 256; ++k) store(x, k, {.i = k}), store(d, k, {.f = static_cast<double>(k)});
  verify(after);
  EXPECT_EQ(interpret_outputs(after, {x, d})[0].bytes, d.bytes);
}

TEST(Inline, LeavesViews) {
  const Graph after = with_inlined_elements(model(R"((float[2, 3] x, float[3, 4] w) => (float[4, 2] y)
      { m = MatMul(x, w) t = Transpose(m) y = Relu(t) })"));
  EXPECT_THAT(ops_of(after), ElementsAre("MatMul", "Transpose", "Relu"));
}

TEST(Inline, ClosesDiamonds) {
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] y)
      { m = MatMul(x, w) a = Sin(m) y = Mul(m, a) })"),
              ElementsAre("MatMul+Sin+Mul"));
}

TEST(Inline, LeavesWhatOthersRead) {
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] y)
      { m = MatMul(x, w) a = ReduceMax<axes = [1]>(m) y = Sub(m, a) })"),
              ElementsAre("MatMul", "ReduceMax", "Sub"));
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] m, float[2, 3] y)
      { m = MatMul(x, w) y = Sin(m) })"),
              ElementsAre("MatMul", "Sin"));
}

TEST(Inline, RepeatsNothingDearInAReduction) {
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] y)
      { a = Sin(x) y = MatMul(a, w) })"),
              ElementsAre("Sin", "MatMul"));
  // As many bytes as its operand: repeating it would free nothing.
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] y)
      { a = Neg(x) y = MatMul(a, w) })"),
              ElementsAre("Neg", "MatMul"));
}

TEST(Inline, CastsGoToAllReaders) {
  EXPECT_THAT(inlined_ops(R"((int8[2, 3] x, float[3, 3] w) => (float[2, 3] y, float[2, 3] z)
      { a = Cast<to = 1>(x) y = MatMul(a, w) z = Sin(a) })"),
              ElementsAre("MatMul", "Sin"));
}

TEST(Inline, DropsClampsThatANarrowIndexFulfils) {
  const Graph after = with_inlined_elements(model(R"((uint8[4] i, float[256] x) => (float[4] y)
      { k = Cast<to = 7>(i) y = Gather(x, k) })"));
  verify(after);
  ASSERT_THAT(ops_of(after), ElementsAre("Gather"));
  EXPECT_EQ(to_string(std::get<Nests>(after.block[0].body)[0].body), "x1[cast<int64>(x0[i0])]");
}

TEST(Inline, KeepsTheRoundingOf16Bits) {
  EXPECT_THAT(inlined_ops(R"((float16[2, 3] x, float16[3, 3] w) => (float16[2, 3] y)
      { m = MatMul(x, w) y = Sin(m) })"),
              ElementsAre("MatMul", "Sin"));
  EXPECT_THAT(inlined_ops(R"((float16[2, 3] x, float16[3, 3] w) => (float16[2, 3] y)
      <float l = {-1}, float h = {0}> {
      low = Cast<to = 10>(l) high = Cast<to = 10>(h) m = MatMul(x, w) y = Clip(m, low, high) })"),
              ElementsAre("MatMul", "Clip"));  // -0 where a product is tiny
}

TEST(Inline, RoundsOnceWhatIsChosen) {
  for (const char* type : {"float16", "bfloat16"})
    for (const char* chosen :
         {"y = Relu(m)", "y = Abs(m)", "r = Relu(m) y = Neg(r)", "y = Clip(m, low, high)"})
      EXPECT_THAT(inlined_ops(fmt::format("({0}[2, 3] x, {0}[3, 3] w) => ({0}[2, 3] y)"
                                          "<float l = {{-1}}, float h = {{2}}> {{ low = CastLike(l, x)"
                                          " high = CastLike(h, x) m = MatMul(x, w) {1} }}",
                                          type, chosen)),
                  ElementsAre(::testing::StartsWith("MatMul+")));
}

TEST(Inline, AppendsNothingLarger) {
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (double[2, 3] y)
      { m = MatMul(x, w) c = Cast<to = 11>(m) y = Sin(c) })"),
              ElementsAre("MatMul", "Sin"));  // which reads m, and casts
}

TEST(Inline, WaitsForOtherOperands) {
  // b is written after the first product, so that only the second one can take the sum.
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (uint8[2, 3] y) <float one = {1}>
      { a = MatMul(x, w) s = Sin(x) b = MatMul(s, w) c = Add(a, b) y = QuantizeLinear(c, one) })"),
              ElementsAre("MatMul", "Sin", "MatMul+Add+QuantizeLinear"));
  // Where nothing is won, either product may run first.
  EXPECT_THAT(inlined_ops(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] y)
      { a = MatMul(x, w) s = Sin(x) b = MatMul(s, w) c = Add(a, b) y = Relu(c) })"),
              ElementsAre("MatMul", "Sin", "MatMul", "Add+Relu"));
}

TEST(Inline, LeavesWhatALoopAssigns) {
  const Graph before = model(R"((float[3] x, int64 n) => (float[3] y)
      <bool yes = {1}> {
      y = Loop (n, yes, x) <body = b (int64 i, bool c, float[3] v) => (bool d, float[3] u)
        { d = Identity(c) f = Sin(v) u = Add(f, v) }> })");
  const Graph after = with_inlined_elements(before);
  verify(after);
  auto inputs = random_inputs(before, 1, Numbers::kAny);
  store(inputs[1], 0, {.i = 3});
  EXPECT_EQ(interpret(after, inputs)[after.outputs[0]]->bytes,
            interpret(before, inputs)[before.outputs[0]]->bytes);
}

int64_t arena(const Graph& graph) {
  return plan(lifetimes(schedule_layerwise(graph), Io::kExternal, 16).problem).pools[0].size;
}

// What exporters spell out takes no more nodes than the operator.
struct SpeltOut {
  const char *name, *spelt_out, *op;
};
void PrintTo(const SpeltOut& row, std::ostream* out) { *out << row.name; }
class Spelt : public testing::TestWithParam<SpeltOut> {};
INSTANTIATE_TEST_SUITE_P(
    Out, Spelt,
    testing::Values(
        SpeltOut{"Gelu", "a = Div(c, r2)  e = Erf(a)  f = Add(e, one)  m = Mul(c, f)  d = Mul(m, half)",
                 "d = Relu(c)"},
        SpeltOut{"HardSwish", "a = Add(c, three)  b = Clip(a, zero, six)  m = Mul(c, b)  d = Div(m, six)",
                 "d = HardSwish(c)"},
        SpeltOut{"Swish", "a = Sigmoid(c)  d = Mul(c, a)", "d = HardSwish(c)"},
        SpeltOut{
            "Softmax",
            "m = ReduceMax<axes = [1], keepdims = 1>(c)  a = Sub(c, m)  e = Exp(a)  s = ReduceSum(e, axis1)"
            "  d = Div(e, s)",
            "d = Softmax<axis = 1>(c)"},
        SpeltOut{
            "LayerNormalization",
            "m = ReduceMean<axes = [1]>(c)  a = Sub(c, m)  p = Pow(a, two)  v = ReduceMean<axes = [1]>(p)"
            "  u = Add(v, eps)  q = Sqrt(u)  n = Div(a, q)  g = Mul(n, gain)  d = Add(g, bias)",
            "d = LayerNormalization<axis = 1>(c, gain, bias)"}),
    [](const auto& row) { return row.param.name; });

TEST_P(Spelt, TakesNoMoreNodes) {
  const auto text = [](const std::string& middle) {
    return R"((float[4, 8] x, float[8, 8] w) => (float[4, 8] y)
      <float r2 = {1.4142135}, float one = {1}, float half = {0.5}, float three = {3}, float six = {6},
       float two = {2}, float zero = {0}, float eps = {0.00001}, int64[1] axis1 = {1},
       float[8] gain = {1, 2, 3, 4, 5, 6, 7, 8}, float[8] bias = {1, 2, 3, 4, 5, 6, 7, 8}> {
      c = MatMul(x, w) )" +
           middle + " y = MatMul(d, w) }";
  };
  const auto spelt_out = inlined_ops(text(GetParam().spelt_out)), op = inlined_ops(text(GetParam().op));
  EXPECT_LE(spelt_out.size(), op.size()) << testing::PrintToString(spelt_out) << testing::PrintToString(op);
}

TEST(Inline, RandomGraphsComputeTheSameBits) {
  int fewer = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const std::string text = random_graph(seed);
    const Graph before = import_text(text), after = with_inlined_elements(before);
    SCOPED_TRACE(text);
    fewer += after.block.size() < before.block.size();
    ASSERT_NO_FATAL_FAILURE(assert_same_bits(before, after, seed, Numbers::kWhole));
  }
  EXPECT_GT(fewer, 500);
}

// ---- the networks of issue-sized microcontrollers, layer by layer: no more than the two largest neighbours

struct Figure {
  const char* model;
  int64_t bytes;  // of the int8 forms, at most; float32 takes four times as much
};
void PrintTo(const Figure& figure, std::ostream* out) { *out << figure.model; }

class Figures : public ::testing::TestWithParam<Figure> {};

INSTANTIATE_TEST_SUITE_P(Networks, Figures,
                         ::testing::Values(Figure{"mobilenet_v1_025_96", 55296}, Figure{"resnet8", 49152},
                                           Figure{"ds_cnn", 16000}, Figure{"mobilenet_v2_035_144", 311040},
                                           Figure{"mobilenet_v2_100_224", 1505280},
                                           Figure{"fsrcnn", 37324800}, Figure{"resnet18", 1003520}),
                         [](const auto& info) { return std::string(info.param.model); });

TEST_P(Figures, HoldLayerByLayer) {
  const std::pair<std::string, int64_t> forms[] = {{"", 4}, {"_qdq", 1}, {"_qop", 1}};
  int found = 0;
  for (const auto& [form, factor] : forms)
    for (const models::ModelRow& row : models::model_table())
      if (row.name == GetParam().model + form) {
        ++found;
        const Graph graph = with_inlined_elements(import_bytes(models::serialize(row.make()), row.name));
        EXPECT_LE(arena(graph), factor * GetParam().bytes) << row.name;
      }
  EXPECT_EQ(found, 3);
}

}  // namespace
}  // namespace arenac
