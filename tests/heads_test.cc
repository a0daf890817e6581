// Attention of com.microsoft against its definition, and against itself in other shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/microsoft.h"

namespace arenac::microsoft_test {
namespace {

struct Heads {
  int64_t batch, heads, queries, keys, size, value_size;
};

// `added(b, h, i, j)` is what is added to a score.
template <typename Added>
std::vector<double> attention(const Heads& n, double scale, const Value& q, const Value& k, const Value& v,
                              const Added& added) {
  std::vector<double> y;
  for (int64_t b = 0; b < n.batch; ++b)
    for (int64_t i = 0; i < n.queries; ++i)
      for (int64_t h = 0; h < n.heads; ++h)
        for (int64_t e = 0; e < n.value_size; ++e) {
          double sum = 0, weighted = 0;
          for (int64_t j = 0; j < n.keys; ++j) {
            double score = added(b, h, i, j);
            for (int64_t d = 0; d < n.size; ++d)
              score += scale * at(q, {b, i, h * n.size + d}) * at(k, {b, j, h * n.size + d});
            sum += std::exp(score);
            weighted += std::exp(score) * at(v, {b, j, h * n.value_size + e});
          }
          y.push_back(weighted / sum);
        }
  return y;
}

TEST(MultiHeadAttention, IsASoftmaxOfScoresForEachHead) {
  std::mt19937 random(1);
  const Heads n = {2, 2, 3, 5, 4, 3};
  const Value q = random_value(random, {2, 3, 8}), k = random_value(random, {2, 5, 8}),
              v = random_value(random, {2, 5, 6}), bias = random_value(random, {1, 2, 3, 5});
  const auto got =
      output(R"((float[2,3,8] q, float[2,5,8] k, float[2,5,6] v, float[1,2,3,5] a) => (float[2,3,6] y) {
      y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v, , , a)
    })",
             {q, k, v, bias});
  expect_near(got, attention(n, 0.5, q, k, v, [&](auto, int64_t h, int64_t i, int64_t j) {
                return at(bias, {0, h, i, j});
              }));
}

// The weights are the identity three times: queries, keys and values are the input and a bias.
TEST(Attention, HidesKeysThatAreNotReal) {
  std::mt19937 random(2);
  const Heads n = {2, 1, 3, 3, 2, 2};
  const Value x = random_value(random, {2, 3, 2});
  const std::string projection = "float[2,6] w = {1,0,1,0,1,0, 0,1,0,1,0,1}, float[6] b = {0,0,0,0,0,0}";
  const auto run = [&](const std::string& mask, const std::string& attributes) {
    return output("(float[2,3,2] x) => (float[2,3,2] y) <" + projection + ", int32" + mask +
                      "> { y = com.microsoft.Attention <num_heads = 1, scale = 1.5" + attributes +
                      "> (x, w, b, m) }",
                  {x});
  };
  const auto hidden = [&](const std::vector<std::vector<int>>& real, bool causal = false) {
    return attention(n, 1.5, x, x, x, [&](int64_t b, auto, int64_t i, int64_t j) {
      return real[b][j] && !(causal && j > i) ? 0.0 : -1000.0;
    });
  };
  expect_near(run("[2] m = {2, 3}", ""), hidden({{1, 1, 0}, {1, 1, 1}}));
  expect_near(run("[4] m = {2, 3, 1, 2}", ""), hidden({{0, 1, 0}, {0, 0, 1}}));
  expect_near(run("[2,3] m = {1,0,1, 1,1,0}", ""), hidden({{1, 0, 1}, {1, 1, 0}}));
  expect_near(run("[2,3] m = {1,0,1, 1,1,1}", ", unidirectional = 1"), hidden({{1, 0, 1}, {1, 1, 1}}, true));
}

// What one run passes on to the next is what a run over all sees: of four places the last two come later.
TEST(MultiHeadAttention, SeesThePast) {
  std::mt19937 random(10);
  const Value q = random_value(random, {2, 4, 6}), k = random_value(random, {2, 4, 6}),
              v = random_value(random, {2, 4, 8}), bias = random_value(random, {20});
  const auto run = [&](const std::string& results, int result) {
    return output("(float[2,4,6] q, float[2,4,6] k, float[2,4,8] v, float[20] b) => (" + results + R"( y)
      <int64[2] parts = {2, 2}> {
        q1, q2 = Split<axis = 1>(q, parts)
        k1, k2 = Split<axis = 1>(k, parts)
        v1, v2 = Split<axis = 1>(v, parts)
        y1, key, value = com.microsoft.MultiHeadAttention<num_heads = 2, unidirectional = 1>(q1, k1, v1, b)
        y2, keys, values = com.microsoft.MultiHeadAttention<num_heads = 2, unidirectional = 1>(q2, k2, v2, b, , , key, value)
        joined = Concat<axis = 1>(y1, y2)
        whole, all_keys, all_values = com.microsoft.MultiHeadAttention<num_heads = 2, unidirectional = 1>(q, k, v, b)
        y = Identity()" +
                      (result == 0   ? "joined"
                       : result == 1 ? "whole"
                       : result == 2 ? "values"
                                     : "all_values") +
                      ") }",
                  {q, k, v, bias});
  };
  expect_near(run("float[2,4,8]", 0), run("float[2,4,8]", 1));
  expect_near(run("float[2,2,4,4]", 2), run("float[2,2,4,4]", 3));
}

TEST(MultiHeadAttention, UnpacksQueriesKeysAndValues) {
  std::mt19937 random(11);
  const Value x = random_value(random, {2, 3, 2, 3, 2});
  const auto run = [&](const std::string& operands) {
    return output(
        "(float[2,3,2,3,2] x) => (float[2,3,4] y) <int64 i = {0}, int64 j = {1}, int64 k = {2}, "
        "int64[1] a = {1}, int64[1] b = {3}, int64[3] s = {2, 3, 4}> { q4 = Gather<axis = 3>(x, i) "
        "k4 = Gather<axis = 3>(x, j) v4 = Gather<axis = 3>(x, k) q = Reshape(q4, s) k3 = Reshape(k4, s) "
        "v = Reshape(v4, s) kv = Slice(x, a, b, b) y = com.microsoft.MultiHeadAttention<num_heads = 2>(" +
            operands + ") }",
        {x});
  };
  expect_near(run("x"), run("q, k3, v"));
  expect_near(run("q, kv"), run("q, k3, v"));
}

// The same of Attention, and of its product of integers.
TEST(Attention, SeesThePast) {
  std::mt19937 random(12);
  const Value x = random_value(random, {2, 4, 2}), w = random_value(random, {2, 12}),
              b = random_value(random, {12});
  const auto run = [&](const std::string& result) {
    return output(R"((float[2,4,2] x, float[2,12] w, float[12] b) => (y) <int64[2] parts = {3, 1}> {
        x1, x2 = Split<axis = 1>(x, parts)
        y1, past = com.microsoft.Attention<num_heads = 2, unidirectional = 1>(x1, w, b)
        y2, present = com.microsoft.Attention<num_heads = 2, unidirectional = 1>(x2, w, b, , past)
        joined = Concat<axis = 1>(y1, y2)
        whole, all = com.microsoft.Attention<num_heads = 2, unidirectional = 1>(x, w, b)
        y = Identity()" +
                      result + ") }",
                  {x, w, b});
  };
  expect_near(run("joined"), run("whole"));
  expect_near(run("present"), run("all"));
}

TEST(QAttention, IsAttentionOfWhatItsOperandsStandFor) {
  std::mt19937 random(13);
  const auto run = [&](const std::string& result) {
    std::mt19937 again(14);
    std::vector<int64_t> x(12), w(24);
    for (int64_t& e : x) e = again() % 256;
    for (int64_t& e : w) e = again() % 100;
    return output(R"((uint8[2,3,2] x, int8[2,12] w, int32[2] m) => (float[2,3,4] y) <float xs = {0.02},
        float ws = {0.01}, uint8 xz = {128}, int8 wz = {50}, float[12] b = {1,2,3,4,5,6,7,8,9,10,11,12}> {
        rx = DequantizeLinear(x, xs, xz)
        rw = DequantizeLinear(w, ws, wz)
        real = com.microsoft.Attention<num_heads = 2>(rx, rw, b, m)
        whole = com.microsoft.QAttention<num_heads = 2>(x, w, b, xs, ws, m, xz, wz)
        y = Identity()" +
                      result + ") }",
                  {integers(Type::kUint8, {2, 3, 2}, x), integers(Type::kInt8, {2, 12}, w),
                   integers(Type::kInt32, {2}, {2, 3})});
  };
  expect_near(run("whole"), run("real"));
}

// Of four places the last comes later, behind a past that has room for more than it holds.
TEST(GroupQueryAttention, IsAttentionThatSeesThePast) {
  std::mt19937 random(16);
  const std::vector<Value> inputs = {random_value(random, {1, 4, 16}), random_value(random, {1, 4, 8}),
                                     random_value(random, {1, 4, 8}), random_value(random, {5, 2}),
                                     random_value(random, {5, 2})};
  const auto run = [&](const std::string& result) {
    const Graph graph = import_text(R"(<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]>
        g (float[1,4,16] q, float[1,4,8] k, float[1,4,8] v, float[5,2] cos, float[5,2] sin) => (y)
        <int64[2] parts = {3, 1}, int32[1] two = {2}, int32[1] three = {3}, int32 t3 = {3}, int32 t4 = {4},
         int64[1,4] places = {0, 1, 2, 3}, int64[8] room = {0, 0, 0, 0, 0, 0, 1, 0}> {
        rq = RotaryEmbedding<num_heads = 4>(q, cos, sin, places)
        rk = RotaryEmbedding<num_heads = 2>(k, cos, sin, places)
        want = Attention<is_causal = 1, q_num_heads = 4, kv_num_heads = 2>(rq, rk, v)
        whole, keys, values = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1>(
            q, k, v, , , three, t4, cos, sin)
        q1, q2 = Split<axis = 1>(q, parts)
        k1, k2 = Split<axis = 1>(k, parts)
        v1, v2 = Split<axis = 1>(v, parts)
        y1, some_keys, some_values = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1>(
            q1, k1, v1, , , two, t3, cos, sin)
        more_keys = Pad(some_keys, room)
        more_values = Pad(some_values, room)
        side = Concat<axis = 2>(q2, k2, v2)
        y2, all_keys, all_values = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1>(
            side, , , more_keys, more_values, three, t4, cos, sin)
        joined = Concat<axis = 1>(y1, y2)
        y = Identity()" + result + ") }");
    return numbers(*interpret(graph, inputs).at(graph.outputs.at(0)));
  };
  expect_near(run("whole"), run("want"));
  expect_near(run("joined"), run("want"));
  expect_near(run("all_keys"), run("keys"));
  expect_near(run("all_values"), run("values"));
}

TEST(GroupQueryAttention, LooksBackAsFarAsItsWindow) {
  std::mt19937 random(17);
  const Value x = random_value(random, {1, 5, 6});
  const auto run = [&](const std::string& result) {
    return output(
        R"((float[1,5,6] x) => (y) <int32[1] four = {4}, int32 five = {5}, int64[3] parts = {2, 2, 2},
        float[1,1,5,5] far = {0,0,0,0,0, 0,0,0,0,0, -1000,0,0,0,0, -1000,-1000,0,0,0, -1000,-1000,-1000,0,0}> {
        q, k, v = Split<axis = 2>(x, parts)
        windowed = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1, local_window_size = 2>(
            x, , , , , four, five)
        biased = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(x, , , , , four, five, , , , far)
        y = Identity()" +
            result + ") }",
        {x});
  };
  expect_near(run("windowed"), run("biased"));
}

}  // namespace
}  // namespace arenac::microsoft_test
