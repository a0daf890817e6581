// Operators of com.microsoft against their definitions, written out in loops.
#include "tests/microsoft.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace arenac::microsoft_test {
namespace {

using testing::ElementsAre;

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

TEST(ChannelsLast, AveragePool) {
  const Value x = integers(Type::kUint8, {1, 3, 2, 2}, {1, 80, 3, 40, 50, 6, 7, 20, 9, 10, 110, 12});
  const auto run = [&](const std::string& result) {
    return output(
        R"((uint8[1,3,2,2] x) => (uint8[1,2,2,2] y) <float half = {0.5}, float one = {1.0}, uint8 z = {3}> {
        t = Transpose<perm = [0, 3, 1, 2]>(x)
        first = com.microsoft.QLinearAveragePool<kernel_shape = [2, 2], pads = [0, 0, 0, 1]>(t, one, z, half, z)
        moved = Transpose<perm = [0, 2, 3, 1]>(first)
        last = com.microsoft.QLinearAveragePool<kernel_shape = [2, 2], pads = [0, 0, 0, 1], channels_last = 1>(x, one, z, half, z)
        y = Identity()" +
            result + ") }",
        {x});
  };
  EXPECT_EQ(run("last"), run("moved"));
}

TEST(FusedMatMul, HasTheBatchBehindTheFirstDimension) {
  std::mt19937 random(15);
  const Value a = random_value(random, {3, 2, 5, 4}), b = random_value(random, {4, 2, 5, 6});
  const auto run = [&](const std::string& result) {
    return output(R"((float[3,2,5,4] a, float[4,2,5,6] b) => (float[2,5,3,6] y) {
        ta = Transpose<perm = [1, 2, 0, 3]>(a)
        tb = Transpose<perm = [1, 2, 0, 3]>(b)
        plain = MatMul(ta, tb)
        fused = com.microsoft.FusedMatMul<transBatchA = 1, transBatchB = 1>(a, b)
        y = Identity()" +
                      result + ") }",
                  {a, b});
  };
  expect_near(run("fused"), run("plain"));
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

TEST(CDist, IsTheDistanceOfEachPairOfRows) {
  std::mt19937 random(18);
  const Value a = random_value(random, {2, 3}), b = random_value(random, {4, 3});
  for (const bool root : {false, true}) {
    std::vector<double> want;
    for (int64_t k = 0; k < 8; ++k) {
      double sum = 0;
      for (int64_t d = 0; d < 3; ++d) sum += std::pow(at(a, {k / 4, d}) - at(b, {k % 4, d}), 2);
      want.push_back(root ? std::sqrt(sum) : sum);
    }
    const std::string metric = root ? "euclidean" : "sqeuclidean";
    expect_near(
        output("(float[2,3] a, float[4,3] b) => (float[2,4] y) { y = com.microsoft.CDist<metric = \"" +
                   metric + "\">(a, b) }",
               {a, b}),
        want);
  }
}

TEST(QEmbedLayerNormalization, IsThatOfWhatItsTablesStandFor) {
  const auto run = [&](const std::string& result) {
    return output(R"((int32[1,3] w, int32[1,3] s) => (float[1,3,2] y) <uint8[4,2] we = {9,1,3,7,5,2,8,6},
        uint8[3,2] pe = {1,2,3,4,5,9}, uint8[2,2] se = {9,1,2,8}, uint8[2] g = {3,9}, uint8[2] b = {6,2},
        float h = {0.5}, float q = {0.25}, float o = {1.0}, uint8 z = {4}, uint8 n = {0}> {
        rw = DequantizeLinear(we, h, z)
        rp = DequantizeLinear(pe, q, n)
        rs = DequantizeLinear(se, o, z)
        rg = DequantizeLinear(g, h, n)
        rb = DequantizeLinear(b, q, z)
        real, count = com.microsoft.EmbedLayerNormalization(w, s, rw, rp, rs, rg, rb)
        whole, same = com.microsoft.QEmbedLayerNormalization(w, s, we, pe, se, g, b, , h, q, o, h, q, z, n, z, n, z)
        y = Identity()" +
                      result + ") }",
                  {integers(Type::kInt32, {1, 3}, {3, 0, 2}), integers(Type::kInt32, {1, 3}, {0, 1, 1})});
  };
  expect_near(run("whole"), run("real"));
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

// The element of `code` bits at place k of bytes, the lowest bits first.
int64_t code_at(const std::vector<int64_t>& bytes, int64_t first, int64_t k, int64_t bits) {
  return bytes[first + k * bits / 8] >> (k * bits % 8) & ((1 << bits) - 1);
}

std::vector<int64_t> random_bytes(std::mt19937& random, size_t count) {
  std::vector<int64_t> bytes(count);
  for (int64_t& b : bytes) b = random() % 256;
  return bytes;
}

// Three columns of 21 elements in blocks of 16: the second block of each is filled up.
TEST(MatMulNBits, UnpacksBlocks) {
  std::mt19937 random(8);
  for (const int64_t bits : {2, 4, 8}) {
    const Value x = random_value(random, {2, 21}), scales = random_value(random, {6}),
                bias = random_value(random, {3});
    const int64_t blob = 2 * bits, zero_bytes = bits == 8 ? 2 : 1;
    const auto codes = random_bytes(random, 6 * blob), zeros = random_bytes(random, 3 * zero_bytes);
    const auto want = [&](const auto& zero) {
      std::vector<double> y;
      for (int64_t m = 0; m < 2; ++m)
        for (int64_t n = 0; n < 3; ++n) {
          y.push_back(at(bias, {n}));
          for (int64_t k = 0; k < 21; ++k) {
            const int64_t block = 2 * n + k / 16, code = code_at(codes, block * blob, k % 16, bits);
            y.back() += at(x, {m, k}) * (code - zero(n, k / 16)) * at(scales, {block});
          }
        }
      return y;
    };
    const auto got = [&](const std::string& zero) {
      return output(fmt::format("(float[2,21] x, uint8[3,2,{}] w, float[6] s, float[3] b, uint8[{}] z) => "
                                "(float[2,3] y) {{ y = com.microsoft.MatMulNBits<K = 21, N = 3, bits = {}, "
                                "block_size = 16>(x, w, s, {}, , b) }}",
                                blob, zeros.size(), bits, zero),
                    {x, integers(Type::kUint8, {3, 2, blob}, codes), scales, bias,
                     integers(Type::kUint8, {3 * zero_bytes}, zeros)});
    };
    expect_near(got("z"),
                want([&](int64_t n, int64_t j) { return code_at(zeros, n * zero_bytes, j, bits); }));
    expect_near(got(""), want([&](auto, auto) { return int64_t{1} << (bits - 1); }));
  }
}

// Columns of three elements, blocks of two: one block has elements of both columns.
TEST(MatMulBnb4, LooksUpWhatCodesStandFor) {
  const auto got = [&](int kind) {
    return output(fmt::format(R"((float[1,3] x) => (float[1,2] y)
        <uint8[3] w = {{62, 210, 64}}, float[3] s = {{1, 2, 4}}> {{
        y = com.microsoft.MatMulBnb4<K = 3, N = 2, block_size = 2, quant_type = {}>(x, w, s) }})",
                              kind),
                  {[] {
                    Value x(Type::kFloat32, {1, 3});
                    for (int64_t k = 0; k < 3; ++k) store(x, k, {.f = std::ldexp(1, static_cast<int>(k))});
                    return x;
                  }()});
  };
  // The codes are 3, 14, 13 and 2, 4, 0.
  expect_near(got(0), {1 - 2 * 0.16666667 - 8 * 0.5, 2 * 0.66666667 + 8 * 0.33333333});
  expect_near(got(1), {-0.39491749 + 2 * 0.72295684 + 8 * 0.56261700, -2 * 0.52507305 - 8 * 0.28444138 - 16});
}

TEST(GatherBlockQuantized, GathersAlongTheOtherDimension) {
  std::mt19937 random(9);
  const auto codes = random_bytes(random, 3 * 16), zeros = random_bytes(random, 3);
  const Value scales = random_value(random, {3, 2});
  const std::vector<int64_t> rows = {2, 0, -2, 1};
  const auto got = [&](const std::string& zero) {
    return output(
        "(uint8[3,16] x, int64[2,2] i, float[3,2] s, uint8[3,1] z) => (float[2,2,32] y) { y = "
        "com.microsoft.GatherBlockQuantized<block_size = 16>(x, i, s" +
            zero + ") }",
        {integers(Type::kUint8, {3, 16}, codes), integers(Type::kInt64, {2, 2}, rows), scales,
         integers(Type::kUint8, {3, 1}, zeros)});
  };
  std::vector<double> packed, middle;
  for (const int64_t row : {2, 0, 1, 1})
    for (int64_t k = 0; k < 32; ++k) {
      const int64_t code = code_at(codes, 16 * row, k, 4);
      packed.push_back((code - code_at(zeros, row, k / 16, 4)) * at(scales, {row, k / 16}));
      middle.push_back((code - 8) * at(scales, {row, k / 16}));
    }
  expect_near(got(", z"), packed);
  expect_near(got(""), middle);
}

}  // namespace
}  // namespace arenac::microsoft_test
