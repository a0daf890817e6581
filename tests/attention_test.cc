// Attention, rotary embedding, linear attention and causal convolution against plain loops over their
// definitions, in the forms that ONNX's own cases leave out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac {
namespace {

Value random_value(Shape shape, int seed) {
  std::mt19937 engine(seed);
  Value value(Type::kFloat32, std::move(shape));
  for (int64_t k = 0; k < value.count(); ++k)
    store(value, k, {.f = static_cast<double>(engine() % 1000) / 500 - 1});
  return value;
}

std::string import_error(const std::string& text) {
  try {
    import_text(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "imported";
}

double at(const Value& v, const std::vector<int64_t>& index) {
  int64_t linear = 0;
  for (size_t d = 0; d < index.size(); ++d) linear = linear * v.shape[d] + index[d];
  const Scalar s = load(v, linear);
  return is_float(v.type) ? s.f : static_cast<double>(s.i);
}

std::string declared(const Value& v, const std::string& name) {
  const char* type = v.type == Type::kFloat32 ? "float" : v.type == Type::kBool ? "bool" : "int64";
  std::string shape;
  for (int64_t extent : v.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ",", extent);
  return fmt::format("{}[{}] {}", type, shape, name);
}

// One node: operands in order, an empty name for one that is left out.
std::vector<Value> run(const std::string& op, int opset, const std::string& attributes,
                       const std::vector<std::optional<Value>>& operands, int outputs) {
  std::string inputs, arguments, results, declarations;
  std::vector<Value> values;
  for (size_t k = 0; k < operands.size(); ++k) {
    arguments += k ? ", " : "";
    if (!operands[k]) continue;
    arguments += fmt::format("x{}", k);
    inputs += (inputs.empty() ? "" : ", ") + declared(*operands[k], fmt::format("x{}", k));
    values.push_back(*operands[k]);
  }
  for (int k = 0; k < outputs; ++k) {
    results += fmt::format("{}y{}", k ? ", " : "", k);
    declarations += fmt::format("{}float[unknown] y{}", k ? ", " : "", k);
  }
  const Graph graph = import_text(fmt::format(
      R"(<ir_version: 8, opset_import: ["" : {}]> g ({}) => ({}) {{ {} = {} {} ({}) }})", opset, inputs,
      declarations, results, op, attributes.empty() ? "" : "<" + attributes + ">", arguments));
  const auto all = interpret(graph, values);
  std::vector<Value> got;
  for (int k = 0; k < outputs; ++k) got.push_back(*all[graph.outputs[k]]);
  return got;
}

// What one run of Attention is asked for.
struct Asked {
  int64_t heads = 2, groups = 2, queries = 3, keys = 4, past = 0;
  int mask = 0;  // 0 none, 1 float [keys], 2 bool [batch,1,queries,keys], 3 bool that hides all of a row,
                 // 4 float [queries, keys - 1]
  bool packed = false, causal = false, lengths = false;
  int64_t left = -1, right = -1;
  double cap = 0;
  int mode = 0;
};

constexpr int64_t kBatch = 2, kSize = 3, kValueSize = 2;

std::string describe(const Asked& a) {
  return fmt::format(
      "heads {} groups {} past {} mask {} packed {} causal {} lengths {} window {} {} cap {} mode {}",
      a.heads, a.groups, a.past, a.mask, a.packed, a.causal, a.lengths, a.left, a.right, a.cap, a.mode);
}

std::optional<Value> mask_of(const Asked& a, int64_t all) {
  if (a.mask == 0) return {};
  if (a.mask == 1) return random_value({all}, 7);
  if (a.mask == 4) return random_value({a.queries, all - 1}, 8);
  Value mask(Type::kBool, {kBatch, 1, a.queries, all});
  for (int64_t k = 0; k < mask.count(); ++k)
    store(mask, k, {.i = a.mask == 3 && k / all % a.queries == 1 ? 0 : k % 3 != 1});
  return mask;
}

// Whether query i of batch b may see key j, and what is added to their score.
bool seen(const Asked& a, const std::optional<Value>& mask, const Value& lengths, int64_t b, int64_t i,
          int64_t j, double& added) {
  int64_t own = i + a.past;
  const auto length = static_cast<int64_t>(at(lengths, {b}));
  if (a.lengths && a.past == 0) own = i + length - a.queries;
  added = 0;
  if (mask && mask->type == Type::kBool && at(*mask, {b, 0, i, j}) == 0) return false;
  if (mask && a.mask == 1) added = at(*mask, {j});
  if (mask && a.mask == 4) {
    if (j >= mask->shape[1]) return false;
    added = at(*mask, {i, j});
  }
  return (!a.lengths || j < length) && (!a.causal || j <= own) && (a.left < 0 || j >= own - a.left) &&
         (a.right < 0 || j <= own + a.right);
}

void check_attention(const Asked& a) {
  SCOPED_TRACE(describe(a));
  const int64_t all = a.past + a.keys;
  const Value q = random_value({kBatch, a.heads, a.queries, kSize}, 1),
              k = random_value({kBatch, a.groups, all, kSize}, 2),
              v = random_value({kBatch, a.groups, all, kValueSize}, 3);
  const Value lengths = integers({kBatch}, {all, all - 1});
  const std::optional<Value> mask = mask_of(a, all);
  // [B,H,S,D] from `first` on, as the operator takes it.
  const auto part = [&](const Value& x, int64_t first, int64_t end, bool packed) {
    const int64_t heads = x.shape[1], size = x.shape[3], length = end - first;
    Value y(Type::kFloat32,
            packed ? Shape{kBatch, length, heads * size} : Shape{kBatch, heads, length, size});
    int64_t n = 0;
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t o = 0; o < (packed ? length : heads); ++o)
        for (int64_t m = 0; m < (packed ? heads : length); ++m)
          for (int64_t d = 0; d < size; ++d)
            store(y, n++, {.f = at(x, {b, packed ? m : o, first + (packed ? o : m), d})});
    return y;
  };
  std::string attributes = fmt::format(
      "is_causal = {}, softcap = {:.1f}, qk_matmul_output_mode = {}, "
      "left_window_size = {}, right_window_size = {}",
      int{a.causal}, a.cap, a.mode, a.left, a.right);
  if (a.packed) attributes += fmt::format(", q_num_heads = {}, kv_num_heads = {}", a.heads, a.groups);
  std::vector<std::optional<Value>> operands = {
      part(q, 0, a.queries, a.packed), part(k, a.past, all, a.packed), part(v, a.past, all, a.packed), mask};
  operands.push_back(a.past ? std::optional(part(k, 0, a.past, false)) : std::nullopt);
  operands.push_back(a.past ? std::optional(part(v, 0, a.past, false)) : std::nullopt);
  operands.push_back(a.lengths ? std::optional(lengths) : std::nullopt);
  const std::vector<Value> got = run("Attention", 25, attributes, operands, 4);

  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t i = 0; i < a.queries; ++i) {
        const int64_t g = h / (a.heads / a.groups);
        std::vector<double> forms[4], &power = forms[3];
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < all; ++j) {
          double score = 0, added;
          for (int64_t d = 0; d < kSize; ++d) score += at(q, {b, h, i, d}) * at(k, {b, g, j, d});
          score /= std::sqrt(static_cast<double>(kSize));
          forms[0].push_back(score);
          if (a.cap > 0) score = std::tanh(score / a.cap) * a.cap;
          forms[1].push_back(score);
          score = seen(a, mask, lengths, b, i, j, added) ? score + added : -INFINITY;
          forms[2].push_back(score);
          most = std::max(most, score);
        }
        for (double score : forms[2]) power.push_back(most == -INFINITY ? 0 : std::exp(score - most));
        for (double p : power) sum += p;
        for (double& p : power) p = sum == 0 ? 0 : p / sum;
        for (int64_t j = 0; j < all; ++j) {
          const double expected = forms[a.mode][j], actual = at(got[3], {b, h, i, j});
          EXPECT_TRUE(expected == actual || std::abs(expected - actual) < 1e-5) << expected << " " << actual;
        }
        for (int64_t d = 0; d < kValueSize; ++d) {
          double y = 0;
          for (int64_t j = 0; j < all; ++j) y += power[j] * at(v, {b, g, j, d});
          EXPECT_NEAR(a.packed ? at(got[0], {b, i, h * kValueSize + d}) : at(got[0], {b, h, i, d}), y, 1e-5);
        }
      }
  EXPECT_EQ(got[1].shape, k.shape);
  EXPECT_EQ(got[1].bytes, k.bytes);
  EXPECT_EQ(got[2].bytes, v.bytes);
}

TEST(Attention, MatchesItsDefinition) {
  for (const bool packed : {false, true})
    for (const int64_t groups : {1, 2, 4})
      for (const int64_t past : {0, 2})
        for (const int mask : {0, 1, 2, 3, 4})
          for (int round = 0; round < 6; ++round) {
            Asked a{.heads = 4, .groups = groups, .past = past, .mask = mask, .packed = packed};
            a.causal = round % 2;
            a.lengths = round % 3 == 1;
            a.left = round == 2 ? 1 : round == 4 ? 0 : -1;
            a.right = round >= 4 ? 1 : -1;
            a.cap = round % 2 ? 0.5 : 0;
            a.mode = (round + mask) % 4;
            check_attention(a);
          }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const auto refusal = [](const std::string& attributes, const std::string& k, const std::string& mask) {
    return import_error(fmt::format(R"(<ir_version: 8, opset_import: ["" : 25]>
      g (float[2,4,3,8] q, float[{}] k, float[2,2,5,8] v, float[{}] m) => (float[unknown] y) {{
        y = Attention {} (q, k, v, m) }})",
                                    k, mask, attributes));
  };
  EXPECT_EQ(refusal("", "2,2,5,8", "3,5"), "imported");
  EXPECT_NE(refusal("", "2,3,5,8", "3,5").find("heads"), std::string::npos);
  EXPECT_NE(refusal("", "2,2,4,8", "3,5").find("do not fit"), std::string::npos);
  EXPECT_NE(refusal("", "2,2,5,8", "3,6").find("the mask [3,6]"), std::string::npos);
  EXPECT_NE(refusal("", "2,2,40", "3,5").find("heads do not divide"), std::string::npos);
  EXPECT_NE(refusal("<qk_matmul_output_mode = 4>", "2,2,5,8", "3,5").find("0 to 3"), std::string::npos);
  EXPECT_NE(refusal("<left_window_size = -2>", "2,2,5,8", "3,5").find("below -1"), std::string::npos);
  EXPECT_EQ(refusal("<left_window_size = 9223372036854775807>", "2,2,5,8", "3,5"), "imported");
}

// Doubled scores and doubled shares, of grouped heads.
TEST(FlexAttention, AppliesItsGraphs) {
  const Value q = random_value({1, 4, 3, 2}, 1), k = random_value({1, 2, 5, 2}, 2),
              v = random_value({1, 2, 5, 3}, 3);
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 25, "ai.onnx.preview" : 1]>
    g (float[1,4,3,2] q, float[1,2,5,2] k, float[1,2,5,3] v) => (float[unknown] y) {
      y = ai.onnx.preview.FlexAttention<scale = 0.5,
        score_mod = a (float[1,4,3,5] s) => (float[1,4,3,5] t) { t = Add(s, s) },
        prob_mod = b (float[1,4,3,5] p) => (float[1,4,3,5] r) { r = Add(p, p) }>(q, k, v) })");
  const Value y = *interpret(graph, {q, k, v})[graph.outputs[0]];
  ASSERT_EQ(y.shape, (Shape{1, 4, 3, 3}));
  for (int64_t h = 0; h < 4; ++h)
    for (int64_t i = 0; i < 3; ++i) {
      std::vector<double> powers;
      double sum = 0;
      for (int64_t j = 0; j < 5; ++j) {
        double score = 0;
        for (int64_t d = 0; d < 2; ++d) score += at(q, {0, h, i, d}) * at(k, {0, h / 2, j, d});
        powers.push_back(std::exp(score * 0.5 * 2));
        sum += powers.back();
      }
      for (int64_t d = 0; d < 3; ++d) {
        double expected = 0;
        for (int64_t j = 0; j < 5; ++j) expected += 2 * powers[j] / sum * at(v, {0, h / 2, j, d});
        EXPECT_NEAR(at(y, {0, h, i, d}), expected, 1e-5);
      }
    }
}

TEST(RotaryEmbedding, MatchesItsDefinition) {
  constexpr int64_t kHeads = 2, kLength = 3, kHead = 6, kPlaces = 5;
  for (const bool packed : {false, true})
    for (const bool interleaved : {false, true})
      for (const int64_t rotated : {2, 4, 6})
        for (const bool by_position : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", packed, interleaved, rotated, by_position));
          const int64_t pairs = rotated / 2;
          const Value x = random_value(
              packed ? Shape{kBatch, kLength, kHeads * kHead} : Shape{kBatch, kHeads, kLength, kHead}, 1);
          const Shape cache = by_position ? Shape{kPlaces, pairs} : Shape{kBatch, kLength, pairs};
          const Value c = random_value(cache, 2), s = random_value(cache, 3);
          const Value positions = integers({kBatch, kLength}, {4, 0, 2, 1, 3, 3});
          const Value y =
              run("RotaryEmbedding", 23,
                  fmt::format("interleaved = {}, num_heads = {}, rotary_embedding_dim = {}", int{interleaved},
                              packed ? kHeads : 0, rotated == kHead ? 0 : rotated),
                  {x, c, s, by_position ? std::optional(positions) : std::nullopt}, 1)[0];
          ASSERT_EQ(y.shape, x.shape);
          for (int64_t b = 0; b < kBatch; ++b)
            for (int64_t h = 0; h < kHeads; ++h)
              for (int64_t i = 0; i < kLength; ++i) {
                const auto element = [&](const Value& from, int64_t d) {
                  return packed ? at(from, {b, i, h * kHead + d}) : at(from, {b, h, i, d});
                };
                const auto angle = [&](const Value& from, int64_t k) {
                  const auto p = static_cast<int64_t>(at(positions, {b, i}));
                  return by_position ? at(from, {p, k}) : at(from, {b, i, k});
                };
                for (int64_t k = 0; k < pairs; ++k) {
                  const int64_t one = interleaved ? 2 * k : k, two = interleaved ? 2 * k + 1 : k + pairs;
                  const double a = element(x, one), e = element(x, two);
                  EXPECT_NEAR(element(y, one), a * angle(c, k) - e * angle(s, k), 1e-6);
                  EXPECT_NEAR(element(y, two), a * angle(s, k) + e * angle(c, k), 1e-6);
                }
                for (int64_t d = rotated; d < kHead; ++d) EXPECT_EQ(element(y, d), element(x, d));
              }
        }
}

// Step by step, with the state as a plain matrix for each batch and head.
TEST(LinearAttention, MatchesItsDefinition) {
  constexpr int64_t kGroups = 2, kLength = 4;
  for (const std::string rule : {"linear", "gated", "delta", "gated_delta"})
    for (const int64_t heads : {2, 4})
      for (const int wide : {0, 1})
        for (const bool past : {false, true}) {
          SCOPED_TRACE(fmt::format("{} heads {} wide {} past {}", rule, heads, wide, past));
          const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
          const Value q = random_value({kBatch, kLength, heads * kSize}, 1),
                      k = random_value({kBatch, kLength, kGroups * kSize}, 2),
                      v = random_value({kBatch, kLength, kGroups * kValueSize}, 3),
                      before = random_value({kBatch, kGroups, kSize, kValueSize}, 4),
                      decay = random_value({kBatch, kLength, wide ? kGroups * kSize : kGroups}, 5),
                      beta = random_value({kBatch, kLength, wide ? kGroups : 1}, 6);
          const auto when = [](bool given, const Value& x) {
            return given ? std::optional(x) : std::nullopt;
          };
          const auto got = run(
              "LinearAttention", 27,
              fmt::format("update_rule = \"{}\", q_num_heads = {}, kv_num_heads = {}", rule, heads, kGroups),
              {q, k, v, when(past, before), when(gated, decay), when(delta, beta)}, 2);
          for (int64_t b = 0; b < kBatch; ++b)
            for (int64_t g = 0; g < kGroups; ++g) {
              double state[kSize][kValueSize] = {};
              for (int64_t d = 0; d < kSize; ++d)
                for (int64_t m = 0; m < kValueSize; ++m)
                  if (past) state[d][m] = at(before, {b, g, d, m});
              for (int64_t t = 0; t < kLength; ++t) {
                double written[kValueSize];
                const auto key = [&](int64_t d) { return at(k, {b, t, g * kSize + d}); };
                for (int64_t m = 0; m < kValueSize; ++m) {
                  double found = 0;
                  for (int64_t d = 0; d < kSize; ++d) {
                    if (gated) state[d][m] *= std::exp(at(decay, {b, t, wide ? g * kSize + d : g}));
                    found += state[d][m] * key(d);
                  }
                  written[m] = at(v, {b, t, g * kValueSize + m});
                  if (delta) written[m] = at(beta, {b, t, wide ? g : 0}) * (written[m] - found);
                  for (int64_t d = 0; d < kSize; ++d) state[d][m] += key(d) * written[m];
                }
                for (int64_t h = g * heads / kGroups; h < (g + 1) * heads / kGroups; ++h)
                  for (int64_t m = 0; m < kValueSize; ++m) {
                    double y = 0;
                    for (int64_t d = 0; d < kSize; ++d) y += at(q, {b, t, h * kSize + d}) * state[d][m];
                    EXPECT_NEAR(at(got[0], {b, t, h * kValueSize + m}), y / std::sqrt(3.0), 1e-4);
                  }
              }
              for (int64_t d = 0; d < kSize; ++d)
                for (int64_t m = 0; m < kValueSize; ++m)
                  EXPECT_NEAR(at(got[1], {b, g, d, m}), state[d][m], 1e-4);
            }
        }
}

TEST(CausalConvWithState, ContinuesWhereTheLastCallEnded) {
  constexpr int64_t kChannels = 3, kLength = 7;
  const Value x = random_value({kBatch, kChannels, kLength}, 1), b = random_value({kChannels}, 3);
  for (const int64_t taps : {1, 2, 4}) {
    SCOPED_TRACE(taps);
    const Value w = random_value({kChannels, 1, taps}, 2);
    const auto piece = [&](int64_t begin, int64_t end) {
      Value part(Type::kFloat32, {kBatch, kChannels, end - begin});
      for (int64_t k = 0; k < part.count(); ++k)
        store(part, k, load(x, k / (end - begin) * kLength + begin + k % (end - begin)));
      return part;
    };
    const std::string silu = "activation = \"silu\"";
    const auto first = run("CausalConvWithState", 27, silu, {piece(0, 3), w, b}, 2);
    const auto second = run("CausalConvWithState", 27, silu, {piece(3, kLength), w, b, first[1]}, 2);
    for (int64_t n = 0; n < kBatch; ++n)
      for (int64_t c = 0; c < kChannels; ++c) {
        for (int64_t l = 0; l < kLength; ++l) {
          double sum = at(b, {c});
          for (int64_t k = 0; k < taps; ++k)
            if (l + k - (taps - 1) >= 0) sum += at(x, {n, c, l + k - (taps - 1)}) * at(w, {c, 0, k});
          const double y = l < 3 ? at(first[0], {n, c, l}) : at(second[0], {n, c, l - 3});
          EXPECT_NEAR(y, sum / (1 + std::exp(-sum)), 1e-5);
        }
        for (int64_t k = 0; k + 1 < taps; ++k)
          EXPECT_EQ(at(second[1], {n, c, k}), at(x, {n, c, kLength - taps + 1 + k}));
      }
  }
}

// The default scale has the precision of the operands: 1 / sqrt(3) is no float.
TEST(Attention, DefaultScaleOfDoublesIsADouble) {
  const Graph graph = import_text(
      "<ir_version: 10, opset_import: [\"\" : 23]>\n"
      "g (double[1, 1, 1, 3] q, double[1, 1, 2, 3] k, double[1, 1, 2, 1] v) => (double[1, 1, 1, 1] y) {\n"
      "  y = Attention(q, k, v) }");
  Value q(Type::kFloat64, {1, 1, 1, 3}), k(Type::kFloat64, {1, 1, 2, 3}), v(Type::kFloat64, {1, 1, 2, 1});
  for (int64_t e = 0; e < 3; ++e) store(q, e, {.f = 1}), store(k, e, {.f = 1});
  store(v, 0, {.f = 1});
  const double share = 1 / (1 + std::exp(-3 / std::sqrt(3.0)));
  EXPECT_NEAR(load(interpret_outputs(graph, {q, k, v})[0], 0).f, share, 1e-14);
}

}  // namespace
}  // namespace arenac
