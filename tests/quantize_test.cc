// Every quantised operator against what it abbreviates: dequantise, compute in float, quantise. Scales are
// powers of two, so that both ways round alike.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/integer_sums.h"
#include "frontend/interpret.h"
#include "frontend/requantize.h"

namespace arenac {
namespace {

struct Equivalence {
  const char* name;
  const char* quantised;  // writes `got`
  const char* reference;  // writes `real`, or `want` itself
};

constexpr Equivalence kEquivalences[] = {
    {"QLinearAdd", "got = com.microsoft.QLinearAdd(a, sa, za, b8, sb, zb8, sy, zy)", "real = Add(da, db8)"},
    {"QLinearMul", "got = com.microsoft.QLinearMul(a, sa, za, b8, sb, zb8, sy, zy)", "real = Mul(da, db8)"},
    {"QLinearSigmoid", "got = com.microsoft.QLinearSigmoid(a, sa, za, tiny, zy)",
     "p = Sigmoid(da)  want = QuantizeLinear(p, tiny, zy)"},
    {"QLinearLeakyRelu", "got = com.microsoft.QLinearLeakyRelu<alpha = 0.1>(a, sa, za, sy, zy)",
     "real = LeakyRelu<alpha = 0.1>(da)"},
    {"QLinearSoftmax", "got = com.microsoft.QLinearSoftmax<axis = 1, opset = 13>(a, sa, za, tiny, zy)",
     "p = Softmax<axis = 1>(da)  want = QuantizeLinear(p, tiny, zy)"},
    {"QLinearConcat",
     "got = com.microsoft.QLinearConcat<axis = 2>(sy, zy, a, sa, za, a, sy, zy, b8, sb, zb8)",
     "real = Concat<axis = 2>(da, day, db8)"},
    {"QLinearGlobalAveragePool", "got = com.microsoft.QLinearGlobalAveragePool(a, sa, za, small, zb8)",
     "p = GlobalAveragePool(da)  want = QuantizeLinear(p, small, zb8)"},
    {"QLinearAveragePool",
     "got = com.microsoft.QLinearAveragePool<kernel_shape = [2, 4], pads = [1, 0, 0, 1], strides = [1, 2]>"
     "(a, sa, za, sy, zy)",
     "real = AveragePool<kernel_shape = [2, 4], pads = [1, 0, 0, 1], strides = [1, 2]>(da)"},
    {"QLinearAveragePoolBeyond",
     "got = com.microsoft.QLinearAveragePool<kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1, "
     "count_include_pad = 1>(a, sa, za, sy, zy)",
     "real = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1], count_include_pad = "
     "1>(da)"},
    {"QLinearConv", "got = QLinearConv<pads = [1, 1, 1, 1]>(a, sa, za, k, sk, zk, wide, zy, bias)",
     "r = Conv<pads = [1, 1, 1, 1]>(da, dk, dbias)  want = QuantizeLinear(r, wide, zy)"},
    {"QLinearMatMul", "got = QLinearMatMul(a, sa, za, s, sb, zb, wide, zy)",
     "r = MatMul(da, ds)  want = QuantizeLinear(r, wide, zy)"},
    {"QGemm", "got = com.microsoft.QGemm<transB = 1, alpha = 2.0>(m, sa, za, w, sb, zb, c, wide, zy)",
     "r = Gemm<transB = 1, alpha = 2.0>(dm, dw, dc2)  want = QuantizeLinear(r, wide, zy)"},
    {"QGemmFloat", "got = com.microsoft.QGemm<transB = 1>(m, sa, za, w, sb, zb, c)",
     "want = Gemm<transB = 1>(dm, dw, dc)"},
    {"MatMulIntegerToFloat", "got = com.microsoft.MatMulIntegerToFloat(m, v, sa, sv, za, zv, bias3)",
     "p = MatMul(dm, dv)  want = Add(p, bias3)"},
    {"DynamicQuantizeMatMul", "got = com.microsoft.DynamicQuantizeMatMul(dm, v, sv, zv, bias3)",
     "qm, qs, qz = DynamicQuantizeLinear(dm)  xm = DequantizeLinear(qm, qs, qz)  p = MatMul(xm, dv)"
     "  want = Add(p, bias3)"},
};

// a and b8 are images, k convolution weights, s a stack of matrices, m, w and v matrices.
std::string text_of(const Equivalence& e) {
  const bool quantise = std::string(e.reference).find("want") == std::string::npos;
  return fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 13, "com.microsoft" : 1]>
g (uint8[2, 4, 4, 4] a, uint8[2, 4, 4, 4] b8, int8[4, 4, 3, 3] k, int8[1, 4, 4, 3] s, uint8[5, 6] m,
   int8[3, 6] w, int8[6, 3] v, int32[4] bias, int32[3] c, float[3] bias3) => (got, want)
<float sa = {{0.25}}, uint8 za = {{100}}, float sb = {{0.5}}, int8 zb = {{-3}}, uint8 zb8 = {{50}},
 float sy = {{1}}, uint8 zy = {{7}}, float tiny = {{0.00390625}}, float wide = {{64}}, float small = {{0.0625}}, float sc = {{0.125}}, int32 zc = {{0}},
 float[4] sk = {{0.5, 0.25, 1, 0.125}}, int8[4] zk = {{1, -3, 0, 5}},
 float[4] sbias = {{0.125, 0.0625, 0.25, 0.03125}}, int32[4] zbias = {{0, 0, 0, 0}},
 float[3] sv = {{0.5, 0.25, 1}}, int8[3] zv = {{1, 0, -2}}>
{{
  da = DequantizeLinear(a, sa, za)      day = DequantizeLinear(a, sy, zy)
  db8 = DequantizeLinear(b8, sb, zb8)   ds = DequantizeLinear(s, sb, zb)
  dk = DequantizeLinear<axis = 0>(k, sk, zk)
  dbias = DequantizeLinear<axis = 0>(bias, sbias, zbias)
  dm = DequantizeLinear(m, sa, za)      dw = DequantizeLinear(w, sb, zb)
  dv = DequantizeLinear<axis = 1>(v, sv, zv)
  dc = DequantizeLinear(c, sc, zc)     dc2 = DequantizeLinear(c, sa, zc)
  {}
  {}
  {}
}})",
      e.quantised, e.reference, quantise ? "want = QuantizeLinear(real, sy, zy)" : "");
}

Value random_value(const Tensor& tensor, std::mt19937& random) {
  Value value(tensor.type, tensor.shape);
  for (int64_t k = 0; k < value.count(); ++k) {
    const int64_t i = static_cast<int64_t>(random() % 256) - (info(tensor.type).is_signed ? 128 : 0);
    store(value, k, is_float(tensor.type) ? Scalar{.f = static_cast<double>(i)} : Scalar{.i = i});
  }
  return value;
}

class Quantise : public testing::TestWithParam<Equivalence> {};

void expect_what_it_abbreviates(const Graph& graph) {
  std::mt19937 random(7);
  std::vector<Value> inputs;
  for (TensorId id : graph.inputs) inputs.push_back(random_value(graph.tensors[id], random));
  const auto values = interpret(graph, inputs);
  const Value &got = *values[graph.outputs[0]], &want = *values[graph.outputs[1]];
  ASSERT_EQ(got.type, want.type);
  ASSERT_EQ(got.shape, want.shape);
  std::set<int64_t> distinct;  // by their bits
  for (int64_t k = 0; k < got.count(); ++k) {
    distinct.insert(load(got, k).i);
    if (is_float(got.type))
      EXPECT_NEAR(load(got, k).f, load(want, k).f, 1e-5 * (1 + std::abs(load(want, k).f))) << "element " << k;
    else
      EXPECT_EQ(load(got, k).i, load(want, k).i) << "element " << k;
  }
  EXPECT_GT(distinct.size(), 5u) << "the data saturate and so prove little";
}

TEST_P(Quantise, IsWhatItAbbreviates) { expect_what_it_abbreviates(import_text(text_of(GetParam()))); }

TEST_P(Quantise, IsWhatItAbbreviatesInIntegers) {
  expect_what_it_abbreviates(with_integer_sums(with_inlined_elements(import_text(text_of(GetParam())))));
}

TEST_P(Quantise, IsWhatItAbbreviatesRequantised) {
  expect_what_it_abbreviates(
      with_requantization(with_integer_sums(with_inlined_elements(import_text(text_of(GetParam()))))));
}

INSTANTIATE_TEST_SUITE_P(All, Quantise, testing::ValuesIn(kEquivalences),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace arenac
