// Attention by tokens: the scores of all heads are never in memory whole, and every bit stays.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac {
namespace {

constexpr int64_t kTokens = 64, kHeads = 4, kWidth = 16;  // of the model, all heads together
constexpr int64_t kScores = 4 * kHeads * kTokens * kTokens;
constexpr int64_t kScoresOfHead = 4 * kTokens + 128;  // of one token, and sums of all of its heads

// Numbers that differ, and whose sums round.
std::string weights(const std::string& name, const Shape& shape) {
  std::vector<double> values;
  for (int64_t k = 0; k < element_count(shape); ++k)
    values.push_back(static_cast<double>(k * 7 % 13 - 6) / 20);
  return fmt::format("float[{}] {} = {{{}}}", fmt::join(shape, ", "), name, fmt::join(values, ", "));
}

// Projections of `from`, and of `memory` for keys and values, into heads, as exporters write them.
std::string heads(const std::string& from, const std::string& memory) {
  return fmt::format(
      "  qp = MatMul({0}, wq)  qr = Reshape(qp, split)  q = Transpose<perm = [0, 2, 1, 3]>(qr)\n"
      "  kp = MatMul({1}, wk)  kr = Reshape(kp, split)  k = Transpose<perm = [0, 2, 3, 1]>(kr)\n"
      "  vp = MatMul({1}, wv)  vr = Reshape(vp, split)  v = Transpose<perm = [0, 2, 1, 3]>(vr)\n",
      from, memory);
}

// `to` is `from`, rounded to int8.
std::string quantised(const std::string& from, const std::string& to) {
  return fmt::format("  {0}8 = QuantizeLinear({0}, step, zero)  {1} = DequantizeLinear({0}8, step, zero)\n",
                     from, to);
}

const char* const kJoin =
    "  o = MatMul(p, v)  ot = Transpose<perm = [0, 2, 1, 3]>(o)  oj = Reshape(ot, joined)\n"
    "  y = MatMul(oj, wo)\n";

std::string model(const std::string& inputs, int64_t batch, const std::string& body) {
  std::string constants;
  for (const char* name : {"wq", "wk", "wv", "wo"}) constants += weights(name, {kWidth, kWidth}) + ", ";
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
      "g ({}) => (float[{}, {}, {}] y)\n  <{} float scale = {{0.5}}, float step = {{0.02}}, int8 zero = "
      "{{3}}, {}, {},\n"
      "   int64[4] split = {{0, 0, {}, {}}}, int64[3] joined = {{0, 0, {}}}>\n{{\n{}}}\n",
      inputs, batch, kTokens, kWidth, constants, weights("mask", {kTokens, kTokens}),
      weights("one", {kWidth}), kHeads, kWidth / kHeads, kWidth, body);
}

std::string tokens(const char* name, int64_t batch = 1) {
  return fmt::format("float[{}, {}, {}] {}", batch, kTokens, kWidth, name);
}

// One head of the pixels of an image, each a token: non-local blocks, and those of diffusion.
std::string pixels() {
  std::string constants;
  for (const char* name : {"wq", "wk", "wv"}) constants += weights(name, {kWidth, kWidth, 1, 1}) + ", ";
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[1, {0}, 16, 16] x) => (float[1, 256, {0}] y)\n  <{1} int64[3] flat = {{1, {0}, 256}}>\n{{"
      "  qc = Conv(x, wq)  qr = Reshape(qc, flat)  q = Transpose<perm = [0, 2, 1]>(qr)\n"
      "  kc = Conv(x, wk)  k = Reshape(kc, flat)\n"
      "  vc = Conv(x, wv)  vr = Reshape(vc, flat)  v = Transpose<perm = [0, 2, 1]>(vr)\n"
      "  s = MatMul(q, k)  p = Softmax<axis = 2>(s)  y = MatMul(p, v)\n}}\n",
      kWidth, constants);
}

struct Case {
  const char* name;
  std::string text;
  int64_t arena;  // bytes
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  const std::string plain = "  s = MatMul(q, k)  m = Mul(s, scale)  p = Softmax<axis = 3>(m)\n",
                    masked =
                        "  qs = Mul(q, scale)  s = MatMul(qs, k)  m = Add(s, mask)\n"
                        "  p = Softmax<axis = 3>(m)\n",
                    in_heads = fmt::format("float[1, {}, {}, {}]", kHeads, kTokens, kWidth / kHeads);
  return {
      {"Plain", model(tokens("x"), 1, heads("x", "x") + plain + kJoin), kScores / 4},
      {"Masked", model(tokens("x"), 1, heads("x", "x") + masked + kJoin), kScores / 4},
      {"Cross", model(tokens("x") + ", " + tokens("c"), 1, heads("x", "c") + plain + kJoin), kScores / 4},
      {"OfHeads",
       model(
           fmt::format("{0} q, {0} v, float[1, {1}, {2}, {3}] k", in_heads, kHeads, kWidth / kHeads, kTokens),
           1, plain + kJoin),
       kScoresOfHead},
      {"Block",
       model(tokens("x"), 1,
             "  n = LayerNormalization(x, one)\n" + heads("n", "n") + plain +
                 "  o = MatMul(p, v)  ot = Transpose<perm = [0, 2, 1, 3]>(o)  oj = Reshape(ot, joined)\n"
                 "  z = MatMul(oj, wo)  r = Add(z, x)  l = LayerNormalization(r, one)\n"
                 "  f = MatMul(l, wq)  g = Relu(f)  h = MatMul(g, wk)  y = Add(h, r)\n"),
       kScores / 2},
      {"MultiHead",
       model(
           tokens("x"), 1,
           fmt::format("  a = MatMul(x, wq)  b = MatMul(x, wk)  c = MatMul(x, wv)\n"
                       "  d = com.microsoft.MultiHeadAttention<num_heads = {}>(a, b, c)  y = MatMul(d, wo)\n",
                       kHeads)),
       kScores / 4},
      {"Packed",
       model(tokens("x"), 1,
             fmt::format("  wa = Concat<axis = 1>(wq, wk, wv)  ba = Concat<axis = 0>(one, one, one)\n"
                         "  d = com.microsoft.Attention<num_heads = {}>(x, wa, ba)  y = MatMul(d, wo)\n",
                         kHeads)),
       kScores / 2},
      {"Quantised",
       model(tokens("x"), 1,
             quantised("x", "xd") + heads("xd", "xd") + quantised("q", "qd") + quantised("k", "kd") +
                 quantised("v", "vd") + "  s = MatMul(qd, kd)\n" + quantised("s", "sd") +
                 "  e = Softmax<axis = 3>(sd)\n" + quantised("e", "p") + kJoin),
       kScores / 4},
      {"Pixels", pixels(), kScores},  // of 256 tokens: 4 * kScores
  };
}

class Tokens : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Of, Tokens, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Tokens, NeverHoldAllScores) {
  const Graph graph = import_text(GetParam().text);
  std::vector<Emitted> ways;
  for (const char* scheduler : {"layerwise", "fused", "smallest"}) {
    Way way;
    way.scheduler = scheduler;
    Emitted& e = ways.emplace_back(Emitted{compile_graph(graph, fmt::format("m{}", ways.size()), way)});
    e.inputs = random_inputs(*e.compilation.graph, 1, Numbers::kAny);
  }
  EXPECT_GE(ways[0].compilation.plan.pools[0].size, kScores);
  for (size_t w = 1; w < ways.size(); ++w)
    EXPECT_LE(ways[w].compilation.plan.pools[0].size, GetParam().arena);
  run_emitted(ways, compilers()[0]);
  for (const Emitted& e : ways) {
    EXPECT_EQ(e.fault, "");
    if (e.fault.empty()) {
      EXPECT_EQ(e.outputs[0].bytes, ways[0].outputs[0].bytes);
    }
  }
}

}  // namespace
}  // namespace arenac
