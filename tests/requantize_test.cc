// Requantisation: the operation against floats, its C with and without them against both, and quantised
// formulas in integers against the same in floats.
#include "frontend/requantize.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "frontend/facts.h"
#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/integer_sums.h"
#include "frontend/interpret.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac::requantize_test {
namespace {

int64_t as_floats(int32_t sum, float scale) {
  const float steps = std::nearbyintf(static_cast<float>(sum) * scale);
  return static_cast<int64_t>(std::min(std::max(steps, -4194304.0f), 4194303.0f));
}

// Every exponent, mantissas at their ends and between.
std::vector<float> scales(std::mt19937& random) {
  std::vector<float> all;
  for (int exponent = -33; exponent <= -3; ++exponent)
    for (const float mantissa : {1.0f, 1.5f, std::nextafter(1.0f, 2.0f), std::nextafter(2.0f, 1.0f),
                                 1 + static_cast<float>(random() % (1u << 23)) * 0x1p-23f})
      all.push_back(std::ldexp(mantissa, exponent));
  return all;
}

// The ends, small numbers, all magnitudes, and, for powers of two, ties.
std::vector<int32_t> sums(std::mt19937& random) {
  std::vector<int32_t> all = {INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1};
  for (int32_t k = -40; k <= 40; ++k) all.push_back(k);
  for (int k = 0; k < 31; ++k)
    for (int32_t j = -1; j <= 1; ++j)
      for (int32_t sign : {-1, 1}) all.push_back(sign * ((int32_t{3} << k >> 1) + j));
  while (all.size() < 400) all.push_back(static_cast<int32_t>(random()) >> random() % 31);
  return all;
}

// The sums next to ties k + 1/2 of every scale.
std::vector<int32_t> near_ties(const std::vector<float>& scales, std::mt19937& random) {
  std::vector<int32_t> all;
  for (const float scale : scales) {
    const double sum = (static_cast<double>(random() % 512) - 255.5) / static_cast<double>(scale);
    if (std::abs(sum) < 2e9)
      for (int k = -1; k <= 1; ++k) all.push_back(static_cast<int32_t>(std::floor(sum)) + k);
  }
  return all;
}

TEST(Requantize, IsTheFloatProductRoundedHalfToEven) {
  std::mt19937 random(1);
  const auto by = scales(random);
  for (const auto& all : {sums(random), near_ties(by, random)})
    for (const float scale : by)
      for (const int32_t sum : all)
        ASSERT_EQ(apply(Op::kRequantize, Type::kInt32, {.i = sum}, {.f = scale}).i, as_floats(sum, scale))
            << sum << " by " << scale;
  EXPECT_EQ(as_floats(5 << 20, 0x1p-21f), 2);  // 2.5
  EXPECT_EQ(as_floats(7 << 20, 0x1p-21f), 4);
  EXPECT_EQ(as_floats(-(5 << 20), 0x1p-21f), -2);
}

// All sums by all scales in one nest.
TEST(Requantize, IsTheSameInC) {
  std::mt19937 random(2);
  const std::vector<float> by = scales(random);
  std::vector<int32_t> all = sums(random);
  for (const int32_t sum : near_ties(by, random)) all.push_back(sum);
  const auto rows = static_cast<int64_t>(all.size()), columns = static_cast<int64_t>(by.size());
  Graph graph;
  auto scale = std::make_shared<Value>(Type::kFloat32, Shape{columns});
  for (int64_t k = 0; k < columns; ++k) store(*scale, k, {.f = by[static_cast<size_t>(k)]});
  graph.tensors = {{"sums", Type::kInt32, {rows}, nullptr},
                   {"scales", Type::kFloat32, {columns}, scale},
                   {"y", Type::kInt32, {rows, columns}, nullptr}};
  graph.name = "requantize";
  graph.inputs = {0}, graph.outputs = {2}, graph.input_names = {"sums"}, graph.output_names = {"y"};
  Nest nest = copy_nest(Type::kInt32, {rows, columns});
  nest.body = requantize(read(0, Type::kInt32, {axis(0)}), read(1, Type::kFloat32, {axis(1)}));
  graph.block.push_back({"requantize", "Requantize", {0, 1}, {2}, Nests{nest}});
  verify(graph);
  Value input(Type::kInt32, {rows});
  for (int64_t k = 0; k < rows; ++k) store(input, k, {.i = all[static_cast<size_t>(k)]});
  const Value want = interpret_outputs(graph, {input})[0];
  std::vector<CompilerRow> rows_of_both = compilers();
  for (CompilerRow soft : compilers()) {
    soft.command.push_back("-DARENAC_SOFT_FLOAT");
    rows_of_both.push_back(std::move(soft));
  }
  for (const CompilerRow& compiler : rows_of_both) {
    std::vector<Emitted> batch;
    batch.push_back({compile_graph(graph, "m", {}), {input}});
    run_emitted(batch, compiler);
    ASSERT_EQ(batch[0].fault, "") << compiler.name;
    EXPECT_EQ(batch[0].outputs[0].bytes, want.bytes) << compiler.name;
  }
}

Graph in_floats(const Graph& graph) { return with_integer_sums(with_inlined_elements(graph)); }
Graph in_integers(const Graph& graph) { return with_requantization(in_floats(graph)); }

// Whether an expression of the nests works on floats.
bool has_floats(const Graph& graph) {
  bool has = false;
  for (const Node& node : graph.block)
    for (const Nest& nest : std::get<Nests>(node.body))
      for (const Expr& e : {nest.body, nest.finish})
        has |= !e.empty() && any_of(e, [](const Expr& x) {
          return is_float(x->type) && x->op != Op::kRead && x->op != Op::kConst;
        });
  return has;
}

struct Formula {
  const char* name;
  const char* nodes;  // from x, y (uint8 [1, 3, 6, 6]) and what is dequantised from them, dx and dy, to q
};

constexpr Formula kFormulas[] = {
    {"Conv", "c = Conv<pads = [1, 1, 1, 1]>(dx, dw, db)  q = QuantizeLinear(c, s_c, z_y)"},
    {"ConvRelu", "c = Conv(dx, dw, db)  r = Relu(c)  q = QuantizeLinear(r, s_c, z_y)"},
    {"ConvClip", "c = Conv(dx, dw, db)  r = Clip(c, zero, six)  q = QuantizeLinear(r, s_y, z_y)"},
    {"ConvFloatBias", "c = Conv(dx, dw, fb)  q = QuantizeLinear(c, s_c, z_y)"},
    {"ConvScaled", "c = Conv(dx, dw, db)  r = Mul(c, six)  q = QuantizeLinear(r, s_c, z_y)"},
    {"ConvNegated", "c = Conv(dx, dw, db)  r = Neg(c)  q = QuantizeLinear(r, s_c, z_y)"},
    {"Add", "c = Add(dx, dy)  q = QuantizeLinear(c, s_c, z_x)"},
    {"SubRelu", "c = Sub(dx, dy)  r = Relu(c)  q = QuantizeLinear(r, s_y, z_y)"},
    {"AddConstant", "c = Add(dx, fc)  q = QuantizeLinear(c, s_x, z_y)"},
    {"Mul", "c = Mul(dx, dy)  q = QuantizeLinear(c, s_c, z_y)"},
    {"GlobalAveragePool", "c = GlobalAveragePool(dx)  q = QuantizeLinear(c, s_y, z_y)"},
    {"AveragePool",
     "c = AveragePool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(dx)  q = QuantizeLinear(c, s_y, z_y)"},
    {"MaxPool",
     "c = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(dx)  q = QuantizeLinear(c, s_x, z_x)"},
    {"Sigmoid", "c = Sigmoid(dx)  q = QuantizeLinear(c, s_p, z_y)"},
    {"HardSwish", "c = HardSwish(dx)  q = QuantizeLinear(c, s_y, z_y)"},
    {"LeakyRelu", "c = LeakyRelu<alpha = 0.1>(dx)  q = QuantizeLinear(c, s_y, z_y)"},
    {"Swish",
     "c = Sigmoid(dx)  p = QuantizeLinear(c, s_p, z_y)  dp = DequantizeLinear(p, s_p, z_y)"
     "  m = Mul(dx, dp)  q = QuantizeLinear(m, s_y, z_y)"},
    {"Requantised", "q = QuantizeLinear(dx, s_y, z_y)"},
    {"Nothing", "q = QuantizeLinear(dx, s_x, z_x)"},
};

Graph graph_of(const Formula& formula) {
  return import_text(fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (uint8[1, 3, 6, 6] x, uint8[1, 3, 6, 6] y) => (q)
<float s_x = {{0.0235}}, uint8 z_x = {{127}}, float s_y = {{0.0314}}, uint8 z_y = {{3}}, float s_c = {{0.0412}},
 float s_p = {{0.00390625}}, float zero = {{0}}, float six = {{6}},
 int8[2, 3, 2, 2] w = {{1, -2, 3, 40, 50, -60, 7, 8, 9, 10, -11, 120, 13, 14, -15, 16, 17, 18, 19, 20, -21, 22, 23, 24}},
 float[2] s_w = {{0.011, 0.0017}}, int8[2] z_w = {{0, 0}}, int32[2] b = {{300, -2000}},
 float[2] s_b = {{0.0002585, 0.00003995}}, int32[2] z_b = {{0, 0}}, float[2] fb = {{0.12345, -0.6789}},
 float[3, 1, 1] fc = {{0.25, -0.123, 0.77}}>
{{ dx = DequantizeLinear(x, s_x, z_x)  dy = DequantizeLinear(y, s_y, z_y)
  dw = DequantizeLinear<axis = 0>(w, s_w, z_w)  db = DequantizeLinear<axis = 0>(b, s_b, z_b)
  {} }})",
      formula.nodes));
}

class Quantised : public testing::TestWithParam<Formula> {};

TEST_P(Quantised, IsIntegerArithmetic) {
  const Graph model = graph_of(GetParam()), graph = in_integers(model);
  verify(graph);
  EXPECT_TRUE(has_floats(in_floats(model)));
  EXPECT_FALSE(has_floats(graph)) << dump(graph);
  int64_t wrong = 0, count = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto inputs = random_inputs(model, seed, Numbers::kAny);
    const Value want = interpret_outputs(model, inputs)[0], got = interpret_outputs(graph, inputs)[0];
    for (int64_t k = 0; k < want.count(); ++k, ++count) {
      const int64_t apart = std::abs(load(want, k).i - load(got, k).i);
      ASSERT_LE(apart, 1) << dump(graph);
      wrong += apart;
    }
  }
  EXPECT_LE(wrong, count / 50) << "seldom, next to ties";
}

INSTANTIATE_TEST_SUITE_P(All, Quantised, testing::ValuesIn(kFormulas),
                         [](const auto& p) { return std::string(p.param.name); });

int count_of(Op op, const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.block)
    for (const Nest& nest : std::get<Nests>(node.body))
      visit_expressions(nest, [&](const Expr& e) {
        any_of(e, [&](const Expr& x) {
          count += x->op == op;
          return false;
        });
      });
  return count;
}

// Of a formula that names a code twice, and of one of a table of that code, which is one table then.
TEST(Requantize, LooksUpWhatNamesOneCodeInSeveralPlaces) {
  const std::string conv =
      "c = Conv(dx, dw, fb)  p = QuantizeLinear(c, s_c, z_x)  d = DequantizeLinear(p, s_c, z_x)  ";
  for (const std::string activation :
       {"h = HardSwish(d)",
        "s = Sigmoid(d)  t = QuantizeLinear(s, s_p, z_y)  u = DequantizeLinear(t, s_p, z_y)"
        "  h = Mul(d, u)",
        "h = Add(d, d)"}) {
    const std::string nodes = conv + activation + "  q = QuantizeLinear(h, s_y, z_y)";
    const Graph graph = in_integers(graph_of({"", nodes.c_str()}));
    EXPECT_FALSE(has_floats(graph)) << dump(graph);
    EXPECT_EQ(count_of(Op::kShr, graph), 2) << dump(graph);  // of the sum's rounding, once
    EXPECT_EQ(count_of(Op::kRequantize, graph), 0) << dump(graph);
  }
}

TEST(Requantize, LeavesACopyOfWhatIsQuantisedAsBefore) {
  const Graph graph = in_integers(graph_of(kFormulas[std::size(kFormulas) - 1]));
  ASSERT_EQ(graph.block.size(), 1u);
  EXPECT_NE(copied_read(std::get<Nests>(graph.block[0].body)[0], graph.block[0], graph), nullptr)
      << dump(graph);
}

// Numbers of 8 bits that are added stay what they are: as sums of 64 bits they would take eight times the
// room.
TEST(Requantize, KeepsNarrowOperandsNarrow) {
  std::string numbers;
  for (int k = 0; k < 64; ++k) numbers += fmt::format("{}{}", k == 0 ? "" : ", ", k * 37 % 256 - 128);
  const Graph graph = import_text(fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (int8[64] x) => (int8[64] y)
<float s = {{0.1}}, float t = {{0.05}}, float u = {{0.3}}, int8 z = {{5}}, int8[64] c = {{{}}}> {{
  y = com.microsoft.QLinearAdd(x, s, z, c, t, z, u, z) }})",
      numbers));
  const Graph after = in_integers(graph);
  EXPECT_FALSE(has_floats(after)) << dump(after);
  for (TensorId id : after.block.at(0).reads)
    if (after.tensors[id].constant) {
      EXPECT_LE(after.tensors[id].constant->bytes.size(), 64u) << dump(after);
    }
}

// Scales that no requantisation takes, and those that round everything to nothing.
TEST(Requantize, TakesSaneScalesOnly) {
  const auto graph_with = [](const char* scale) {
    return import_text(fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]> g (int32[4] x) => (int8[4] q)
<float s = {{{}}}, int8 z = {{5}}> {{ dx = DequantizeLinear(x, s)  one = Constant<value_float = 1.0>()
  q = QuantizeLinear(dx, one, z) }})",
                                   scale));
  };
  for (const char* scale : {"1e-37", "0", "0.2499999", "1e-9", "-0.01"}) {
    const Graph graph = graph_with(scale), after = in_integers(graph);
    Value x(Type::kInt32, {4});
    const int64_t all[] = {-2000000000, -1, 3, 2000000000};
    for (int64_t k = 0; k < 4; ++k) store(x, k, {.i = all[k]});
    EXPECT_EQ(interpret_outputs(after, {x})[0].bytes, interpret_outputs(graph, {x})[0].bytes) << scale;
  }
  for (const char* scale : {"0.25", "100000.0"})  // the product may leave int32
    EXPECT_TRUE(has_floats(in_integers(graph_with(scale)))) << scale;
}

}  // namespace
}  // namespace arenac::requantize_test
