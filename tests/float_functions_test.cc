// The functions of float32 against those of double, over floats of every size.
#include "frontend/float_functions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "frontend/interpret.h"

namespace arenac {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kStride = 509;  // of all floats

double unit_in_the_last_place(double x) {
  const double size = std::max(std::abs(x), static_cast<double>(std::numeric_limits<float>::min()));
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

struct Case {
  Op op;
  double (*exact)(double);
  double most;  // units in the last place
};

class FloatFunctions : public testing::TestWithParam<Case> {};

TEST_P(FloatFunctions, AreAsExactAsTheySay) {
  const auto [op, exact, most] = GetParam();
  const FloatFunction& function = *float_function(op);
  double worst = 0;
  float where = 0;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += kStride) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const float got = function.run(x);
    const double wanted = exact(static_cast<double>(x));
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(got));
    } else if (std::isinf(static_cast<float>(wanted))) {
      ASSERT_EQ(got, static_cast<float>(wanted)) << x;
    } else if (const double off = std::abs(got - wanted) / unit_in_the_last_place(wanted); off > worst) {
      worst = off;
      where = x;
    }
  }
  EXPECT_LE(worst, most) << function.name << " of " << where;
  EXPECT_GT(worst, 0.5);  // or they were not compared
}

TEST_P(FloatFunctions, AreWhatTheInterpreterComputes) {
  const auto op = GetParam().op;
  for (const float x : {0.0f, 0.7f, 3.25f, -1.5f}) {
    const double folded = make(op, {constant(Type::kFloat32, x)})->value.f;
    const float ran = float_function(op)->run(x);
    EXPECT_TRUE(folded == ran || (std::isnan(folded) && std::isnan(ran))) << x;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FloatFunctions,
                         testing::Values(Case{Op::kErf, std::erf, 3}, Case{Op::kExp, std::exp, 1.3},
                                         Case{Op::kLog, std::log, 1}, Case{Op::kTanh, std::tanh, 2.6}),
                         [](const auto& p) { return float_function(p.param.op)->name; });

TEST(FloatFunctions, HaveTheirLimits) {
  const auto run = [](Op op, float x) { return float_function(op)->run(x); };
  EXPECT_EQ(run(Op::kErf, kInfinity), 1.0f);
  EXPECT_EQ(run(Op::kErf, -4.0f), -1.0f);
  EXPECT_TRUE(std::signbit(run(Op::kErf, -0.0f)));
  EXPECT_EQ(run(Op::kExp, 0.0f), 1.0f);
  EXPECT_EQ(run(Op::kExp, -kInfinity), 0.0f);
  EXPECT_EQ(run(Op::kExp, kInfinity), kInfinity);
  EXPECT_EQ(run(Op::kExp, 88.7228f), std::exp(88.7228f));
  EXPECT_EQ(run(Op::kExp, -103.9f), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(run(Op::kLog, 1.0f), 0.0f);
  EXPECT_EQ(run(Op::kLog, kInfinity), kInfinity);
  EXPECT_EQ(run(Op::kLog, 0.0f), -kInfinity);
  EXPECT_EQ(run(Op::kLog, -0.0f), -kInfinity);
  EXPECT_TRUE(std::isnan(run(Op::kLog, -1e-30f)));
  EXPECT_EQ(run(Op::kTanh, kInfinity), 1.0f);
  EXPECT_EQ(run(Op::kTanh, -kInfinity), -1.0f);
  EXPECT_TRUE(std::signbit(run(Op::kTanh, -0.0f)));
  EXPECT_EQ(run(Op::kTanh, 1e-30f), 1e-30f);
}

}  // namespace
}  // namespace arenac
