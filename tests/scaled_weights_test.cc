// Scales of sums in the weights: the same bits where scales are powers of two, close to it where they are
// not.
#include "frontend/scaled_weights.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Rewritten {
  Graph before, after;
};

Rewritten rewrite(const std::string& text) {
  Graph before = with_inlined_elements(import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text));
  Graph after = with_scaled_weights(before);
  verify(after);
  return {std::move(before), std::move(after)};
}

// The text of the graph after the rewrite; the outputs are the same bits as before.
std::string exact(const std::string& text) {
  const auto [before, after] = rewrite(text);
  for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(before, after, seed, Numbers::kWhole);
  return dump(after);
}

const char* const kConvolution = "float[2, 1, 1, 2] w = {1, -2, 3, 4}";

TEST(ScaledWeights, TakeWhatConvolutionsAreScaledBy) {
  const auto text = [](const char* after) {
    return fmt::format(
        "(float[1, 1, 3, 4] x) => (float[1, 2, 3, 3] y) <{}, float[2, 1, 1] s = {{2, -4}}, "
        "float[2, 1, 1] b = {{3, 5}}, float half = {{0.5}}> {{ c = Conv(x, w)  {} }}",
        kConvolution, after);
  };
  EXPECT_THAT(exact(text("y = Mul(c, s)")), Not(HasSubstr("then")));
  EXPECT_THAT(exact(text("d = Div(c, s)  y = Add(b, d)")), HasSubstr("then acc + x2["));
  EXPECT_THAT(exact(text("d = Sub(b, c)  e = Mul(half, d)  y = Relu(e)")), HasSubstr("then max(acc + x2["));
}

TEST(ScaledWeights, TakeBatchNormalizations) {
  EXPECT_THAT(exact(fmt::format("(float[1, 1, 3, 4] x) => (float[1, 2, 3, 3] y) <{}, float[2] v = {{4, 16}}, "
                                "float[2] s = {{2, 1}}, float[2] m = {{1, -2}}, float[2] t = {{7, 0}}> "
                                "{{ c = Conv(x, w)  y = BatchNormalization<epsilon = 0.0>(c, s, t, m, v) }}",
                                kConvolution)),
              HasSubstr("then acc + x2["));
}

TEST(ScaledWeights, TakeTheScalesOfGroups) {
  EXPECT_THAT(
      exact("(float[1, 4, 3, 3] x) => (float[1, 4, 3, 3] y) <float[4, 2, 1, 1] w = {1, -2, 3, 4, 5, 6, 7, 8},"
            " float[4, 1, 1] s = {2, 4, 8, 1}> { c = Conv<group = 2>(x, w)  y = Mul(c, s) }"),
      Not(HasSubstr("then")));
}

TEST(ScaledWeights, TakeOneFactorForMatrices) {
  EXPECT_THAT(exact("(float[3, 2] x) => (float[3, 2] y) <float[2, 2] w = {1, -2, 3, 4}, float[2] s = {2, -4}>"
                    " { p = MatMul(x, w)  q = Mul(p, s)  y = Relu(q) }"),
              HasSubstr("then max(acc, 0)"));
}

TEST(ScaledWeights, StayWhereTheScaleIsOfSomethingElse) {
  // Of rows, which the weights do not have; of the run.
  EXPECT_THAT(
      exact("(float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, -2, 3, 4}, float[2, 1] s = {2, -4}>"
            " { p = MatMul(x, w)  y = Mul(p, s) }"),
      HasSubstr("then acc * "));
  EXPECT_THAT(exact("(float[2, 2] x, float[2] s) => (float[2, 2] y) <float[2, 2] w = {1, -2, 3, 4}>"
                    " { p = MatMul(x, w)  y = Mul(p, s) }"),
              HasSubstr("Mul"));
  // Others read them as they are.
  EXPECT_THAT(exact("(float[2, 2] x) => (float[2, 2] y, float[2, 2] z) <float[2, 2] w = {1, -2, 3, 4}>"
                    " { p = MatMul(x, w)  y = Mul(p, p)  q = MatMul(w, x)  two = Constant<value = float "
                    "{2}>()  z = Mul(q, two) }"),
              HasSubstr("then acc * "));
}

TEST(ScaledWeights, LetActivationsThatNameTheSumTwiceSeeItScaled) {
  EXPECT_THAT(exact("(float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, -2, 3, 4}, float[2] s = {2, -4}>"
                    " { p = MatMul(x, w)  q = Mul(p, s)  y = LeakyRelu<alpha = 0.5>(q) }"),
              HasSubstr("acc < 0"));
  EXPECT_THAT(exact("(float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, -2, 3, 4}, float[2] s = {2, -4}>"
                    " { p = MatMul(x, w)  q = Mul(p, s)  y = Add(q, p) }"),
              HasSubstr("Add"));
}

TEST(ScaledWeights, StayWhereTheyAreReadTwice) {
  EXPECT_THAT(exact("(float[2, 3] x) => (float[2] y) <float[3] w = {1, 2, 3}, float s = {2}>"
                    " { p = Einsum<equation = \"ab,b,b->a\">(x, w, w)  y = Mul(p, s) }"),
              HasSubstr("acc * "));
  EXPECT_THAT(exact("(float[8, 1] x) => (float[8] y) <float[4] w = {1, 2, 3, 4}, float s = {2}>"
                    " { a = Add(x, w)  p = MatMul(a, w)  y = Mul(p, s) }"),
              HasSubstr("acc * "));
}

TEST(ScaledWeights, StayWhereAProductIsOutOfRange) {
  for (const char* numbers : {"w = {1e20, 1}, float s = {1e30}", "w = {1e-30, 1}, float s = {1e-20}"})
    EXPECT_THAT(
        exact(fmt::format(
            "(float[3, 2] x) => (float[3] y) <float[2] {}> {{ p = MatMul(x, w)  y = Mul(p, s) }}", numbers)),
        HasSubstr("acc * "));
  EXPECT_THAT(exact("(float[3, 2] x) => (float[3] y) <float[2] w = {0, 1}, float s = {4}>"
                    " { p = MatMul(x, w)  y = Mul(p, s) }"),
              Not(HasSubstr("acc * ")));
}

TEST(ScaledWeights, AreCloseForAnyScales) {
  const auto [before, after] = rewrite(
      "(float[2, 8] x) => (float[2, 2] y) <float[8, 2] w = {1, -2, 3, 4, 5, -6, 7, 8, 9, 1, 2, 3, -4, 5, 6, "
      "7}, "
      "float[2] s = {0.3, -7.1}, float[2] b = {0.7, 0.01}> { p = MatMul(x, w)  q = Mul(p, s)  y = Add(q, b) "
      "}");
  EXPECT_THAT(dump(after), HasSubstr("then acc + "));
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto inputs = random_inputs(before, seed, Numbers::kAny);
    const Value want = interpret_outputs(before, inputs)[0], got = interpret_outputs(after, inputs)[0];
    for (int64_t k = 0; k < want.count(); ++k) EXPECT_NEAR(load(got, k).f, load(want, k).f, 1e-3);
  }
}

}  // namespace
}  // namespace arenac
