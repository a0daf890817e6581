// Operators of com.microsoft against their definitions, written out in loops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"

namespace arenac::microsoft_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Value random_value(std::mt19937& random, Shape shape) {
  Value value(Type::kFloat32, std::move(shape));
  for (int64_t k = 0; k < value.count(); ++k)
    store(value, k, {.f = static_cast<int>(random() % 41) / 16.0 - 1.25});
  return value;
}

Value integers(Type type, Shape shape, const std::vector<int64_t>& elements) {
  Value value(type, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k) store(value, static_cast<int64_t>(k), {.i = elements[k]});
  return value;
}

double at(const Value& value, const std::vector<int64_t>& index) {
  int64_t k = 0;
  for (size_t d = 0; d < index.size(); ++d) k = k * value.shape[d] + index[d];
  return load(value, k).f;
}

std::vector<double> numbers(const Value& value) {
  std::vector<double> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kFloat64, value.type, load(value, k)).f);
  return all;
}

std::vector<double> output(const std::string& text, const std::vector<Value>& inputs, int k = 0) {
  const Graph graph =
      import_text("<ir_version: 8, opset_import: [\"\" : 16, \"com.microsoft\" : 1]> g " + text);
  return numbers(*interpret(graph, inputs).at(graph.outputs.at(k)));
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-5) << "element " << k;
}

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

TEST(Attention, RefusesAPast) {
  try {
    output(R"((float[1,3,2] x, float[2,6] w, float[6] b, float[2,1,1,4,2] p) => (float[1,3,2] y) {
        y = com.microsoft.Attention <num_heads = 1> (x, w, b, , p)
      })",
           {});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a past is not supported"));
  }
}

TEST(EmbedLayerNormalization, NormalisesTheSumOfEmbeddings) {
  std::mt19937 random(3);
  const Value words = random_value(random, {5, 4}), places = random_value(random, {3, 4}),
              segments = random_value(random, {2, 4}), gamma = random_value(random, {4}),
              beta = random_value(random, {4});
  const std::vector<int64_t> word = {4, 0, 2, 2, 3, 1}, segment = {0, 0, 1, 1, 0, 1};
  const std::vector<Value> inputs = {integers(Type::kInt32, {2, 3}, word),
                                     integers(Type::kInt32, {2, 3}, segment),
                                     words,
                                     places,
                                     segments,
                                     gamma,
                                     beta,
                                     integers(Type::kInt32, {2, 3}, {1, 1, 0, 1, 0, 0})};
  const std::string text =
      R"((int32[2,3] w, int32[2,3] s, float[5,4] we, float[3,4] pe, float[2,4] se, float[4] ga, float[4] be, int32[2,3] m)
      => (float[2,3,4] y, int32[2] count, float[2,3,4] sum) {
      y, count, sum = com.microsoft.EmbedLayerNormalization <epsilon = 0.25> (w, s, we, pe, se, ga, be, m)
    })";
  std::vector<double> y, sum;
  for (int64_t k = 0; k < 6; ++k) {
    double mean = 0, square = 0;
    for (int64_t d = 0; d < 4; ++d) {
      sum.push_back(at(words, {word[k], d}) + at(places, {k % 3, d}) + at(segments, {segment[k], d}));
      mean += sum.back() / 4;
    }
    for (int64_t d = 0; d < 4; ++d) square += std::pow(sum[4 * k + d] - mean, 2) / 4;
    for (int64_t d = 0; d < 4; ++d)
      y.push_back((sum[4 * k + d] - mean) / std::sqrt(square + 0.25) * at(gamma, {d}) + at(beta, {d}));
  }
  expect_near(output(text, inputs, 0), y);
  EXPECT_THAT(output(text, inputs, 1), ElementsAre(2, 1));
  expect_near(output(text, inputs, 2), sum);
}

TEST(ChannelsLast, PoolAndConvolution) {
  EXPECT_THAT(output(R"((uint8[1,2,2,2] x) => (uint8[1,1,2,2] y) {
      y = com.microsoft.NhwcMaxPool <kernel_shape = [2, 1]> (x)
    })",
                     {integers(Type::kUint8, {1, 2, 2, 2}, {1, 8, 3, 4, 5, 6, 7, 2})}),
              ElementsAre(5, 8, 7, 4));
  EXPECT_THAT(output(R"((uint8[1,1,2,2] x) => (uint8[1,1,2,1] y)
      <float one = {1.0}, uint8 zero = {0}, uint8[1,2,1,1] w = {2, 3}> {
      y = com.microsoft.QLinearConv <channels_last = 1> (x, one, zero, w, one, zero, one, zero)
    })",
                     {integers(Type::kUint8, {1, 1, 2, 2}, {1, 10, 2, 20})}),
              ElementsAre(32, 64));
}

TEST(QLinear, SelectionAndMean) {
  EXPECT_THAT(output(R"((bool[3] c, uint8[3] x, uint8[1] y) => (uint8[3] z)
      <float half = {0.5}, float one = {1.0}, uint8 ten = {10}, uint8 zero = {0}> {
      z = com.microsoft.QLinearWhere (c, x, half, ten, y, one, zero, half, zero)
    })",
                     {integers(Type::kBool, {3}, {1, 0, 1}), integers(Type::kUint8, {3}, {12, 13, 20}),
                      integers(Type::kUint8, {1}, {7})}),
              ElementsAre(2, 14, 10));
  EXPECT_THAT(
      output(R"((int8[2,2] x) => (int8[2,1] y) <float half = {0.5}, float one = {1.0}, int8 two = {2}> {
      y = com.microsoft.QLinearReduceMean <axes = [1], keepdims = 1> (x, half, two, one, two)
    })",
             {integers(Type::kInt8, {2, 2}, {2, 10, -6, -2})}),
      ElementsAre(4, -1));
}

TEST(AsInOnnx, TakesTheOperatorOfThatName) {
  EXPECT_THAT(output(R"(() => (float[3] y) <float first = {1.0}, float last = {4.0}> {
      y = com.microsoft.Range (first, last)
    })",
                     {}),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(output(R"((int64[2,2] x) => (int64[2,1,2] y) <int32 axis = {1}> {
      t = com.microsoft.Trilu (x)
      y = com.microsoft.ExpandDims (t, axis)
    })",
                     {integers(Type::kInt64, {2, 2}, {1, 2, 3, 4})}),
              ElementsAre(1, 2, 0, 4));
}

// Row r of the bias is for the rows 2 r and 2 r + 1 of the data, or for r and r + 2.
TEST(BiasSoftmax, TakesARowOfTheBiasForSeveral) {
  std::mt19937 random(5);
  const Value x = random_value(random, {4, 2, 3}), bias = random_value(random, {2, 6});
  for (const bool in_turn : {false, true}) {
    std::vector<double> want;
    for (int64_t r = 0; r < 4; ++r) {
      const auto power = [&](int64_t k) {
        return std::exp(at(x, {r, k / 3, k % 3}) + at(bias, {in_turn ? r / 2 : r % 2, k}));
      };
      double sum = 0;
      for (int64_t k = 0; k < 6; ++k) sum += power(k);
      for (int64_t k = 0; k < 6; ++k) want.push_back(power(k) / sum);
    }
    expect_near(output(fmt::format("(float[4,2,3] x, float[2,6] b) => (float[4,2,3] y) {{ y = "
                                   "com.microsoft.BiasSoftmax<axis = 1, is_inner_broadcast = {}>(x, b) }}",
                                   int{in_turn}),
                       {x, bias}),
                want);
  }
}

TEST(RotaryEmbedding, TakesPositionsFirst) {
  std::mt19937 random(6);
  const Value x = random_value(random, {2, 3, 8}), cosines = random_value(random, {5, 2}),
              sines = random_value(random, {5, 2});
  const auto rotated = [&](const std::string& node, const std::string& positions) {
    return numbers(*interpret(import_text(R"(<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]>
        g (float[2,3,8] x, float[5,2] c, float[5,2] s) => (float[2,3,8] y) <int64)" +
                                          positions + "> { y = " + node + " }"),
                              {x, cosines, sines})
                        .back());
  };
  const auto want = rotated("RotaryEmbedding<num_heads = 2>(x, c, s, p)", "[2,3] p = {2,3,4, 2,3,4}");
  expect_near(rotated("com.microsoft.RotaryEmbedding<num_heads = 2>(x, p, c, s)", "[2,3] p = {2,3,4, 2,3,4}"),
              want);
  expect_near(rotated("com.microsoft.RotaryEmbedding(x, p, c, s)", "[1] p = {2}"), want);
}

TEST(ConvTransposeWithDynamicPads, TakesPadsAsAnOperand) {
  std::mt19937 random(7);
  const Value x = random_value(random, {1, 2, 3, 3}), w = random_value(random, {2, 1, 3, 3}),
              b = random_value(random, {1});
  const std::string operands = "(float[1,2,3,3] x, float[2,1,3,3] w, float[1] b) => (float[1,1,a,b] y) ";
  expect_near(
      output(operands + "<int64[4] p = {1, 0, 1, 1}> { y = "
                        "com.microsoft.ConvTransposeWithDynamicPads<strides = [2, 2]>(x, w, p, b) }",
             {x, w, b}),
      output(operands + "{ y = ConvTranspose<strides = [2, 2], pads = [1, 0, 1, 1]>(x, w, b) }", {x, w, b}));
}

}  // namespace
}  // namespace arenac::microsoft_test
