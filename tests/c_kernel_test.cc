// Kernels made by hand, as the text of C functions.
#include "codegen/c_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/register_ranges.h"
#include "codegen/stmt_builder.h"

namespace arenac {
namespace {

std::string text_of(Kernel kernel) {
  Helpers helpers;
  return c_kernel(kernel, {{}, {}, Type::kFloat32}, "k", helpers).signature;
}

// y[n] = 0 with n the larger of an iteration's number and 3.
std::string text_of_larger(int64_t trips) {
  const Expr larger = max(iteration(0, trips), integer(3)), n = axis(kInts);
  Kernel kernel{{}, {{"n", {0, trips}}}, {}, {}, false, {}};
  kernel.body = {{Let{n->index, larger}},
                 {Set{element(kResult, Type::kFloat32, n), constant(Type::kFloat32, 0)}}};
  return text_of(std::move(kernel));
}

TEST(CKernel, ComparesIntsAsSuchAndWhatMayBeBeyondThemWhole) {
  EXPECT_THAT(text_of_larger(10), testing::HasSubstr("const int n = t0 > 3 ? t0 : 3;"));
  EXPECT_THAT(text_of_larger(int64_t{1} << 40), testing::HasSubstr("const int n = (int)(k_max_i64("));
}

// y[0] = value, as text.
std::string text_of_value(const Expr& value) {
  Kernel kernel{{}, {}, {}, {}, false, {}};
  kernel.body = {{Set{element(kResult, value->type, integer(0)), value}}};
  Helpers helpers;
  return c_kernel(kernel, {{value->type, value->type}, {Aliasing::kApart, Aliasing::kApart}, value->type},
                  "k", helpers)
      .signature;
}

TEST(CKernel, HasTheParenthesesThatThePrecedenceOfOperatorsAndCompilersAskFor) {
  const Expr a = read(0, Type::kFloat32, {integer(1)}), b = read(1, Type::kFloat32, {integer(2)});
  EXPECT_THAT(text_of_value((a + b) * a - (a - b)),
              testing::HasSubstr("= (x0[1] + x1[2]) * x0[1] - (x0[1] - x1[2]);"));
  EXPECT_THAT(text_of_value(-(-a) / (b * a)), testing::HasSubstr("/ (x1[2] * x0[1]);"));
  EXPECT_THAT(text_of_value((a < b && b <= a) || !(a == b)),
              testing::HasSubstr("(x0[1] < x1[2] && x1[2] <= x0[1]) || !(x0[1] == x1[2]))"));
  EXPECT_THAT(text_of_value(select(a < b, a + b, b)),
              testing::HasSubstr("= x0[1] < x1[2] ? x0[1] + x1[2] : x1[2];"));
}

// A sum of so many squares of bytes.
std::string text_of_squares(int64_t count) {
  StmtBuilder at({{0, count}}, 1);
  const Expr x = cast(Type::kInt32, read(0, Type::kInt8, {axis(0)}));
  const int sum = at.new_register("acc", Type::kInt32, 1);
  at.put(Declare{{sum}, constant(Type::kInt32, 0)});
  at.loop(0, integer(0), integer(count), 1, [&] { at.put(Set{at.at(sum), at.at(sum) + x * x}); });
  at.put(Set{element(kResult, Type::kInt32, integer(0)), at.at(sum)});
  Helpers helpers;
  return c_kernel(with_register_ranges(at.finish()), {{Type::kInt8}, {Aliasing::kMixed}, Type::kInt32}, "k",
                  helpers)
      .signature;
}

TEST(CKernel, AddsPlainlyWhatCannotLeaveItsType) {
  EXPECT_THAT(text_of_squares(131070), testing::HasSubstr("acc += "));  // and one more: below 2^31
  EXPECT_THAT(text_of_squares(131071), testing::HasSubstr("acc = (int32_t)((uint32_t)acc + (uint32_t)("));
}

// y[l] = x[n + l], n the number of an iteration, or x[l].
std::string text_of_lanes(Type type, bool behind_int) {
  const Expr n = axis(kInts), lane = axis(kLane);
  const Expr at = behind_int ? n + lane : lane;
  Kernel kernel{{}, {{"n", {0, 9}}}, {}, {}, false, {}};
  const Stmt set{Set{element(kResult, type, lane), element(0, type, at)}};
  kernel.body = {{Let{n->index, iteration(0, 9)}}, {Lanes{8, {set}, Lanes::Of::kOperands}}};
  Helpers helpers;
  return c_kernel(kernel, {{type}, {Aliasing::kApart}, type}, "k", helpers).signature;
}

TEST(CKernel, PointsToTheFirstOfBytesThatLanesReadBehindAnInt) {
  EXPECT_THAT(text_of_lanes(Type::kInt8, true), testing::HasSubstr("out[l] = (&x0[n])[l];"));
  EXPECT_THAT(text_of_lanes(Type::kInt8, false), testing::HasSubstr("= x0[l];"));
  EXPECT_THAT(text_of_lanes(Type::kInt32, true), testing::HasSubstr("= x0[l + n];"));
}

}  // namespace
}  // namespace arenac
