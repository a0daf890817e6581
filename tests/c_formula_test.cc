// The comments above kernels, and the names of their loops.
#include "codegen/c_formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/c_text.h"
#include "frontend/import.h"
#include "tests/emitted.h"

namespace arenac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string c_of(const std::string& text) {
  return file_named(compile_graph(import_text(text), "m", {}), "m.c");
}

TEST(CFormula, SaysWhatAConvolutionComputesAndNamesItsLoops) {
  const std::string c = c_of(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 2, 9, 8] x, float[5, 2, 3, 3] w, float[5] b) => (float[1, 5, 9, 4] y) {
      y = Conv <pads = [1, 1, 1, 1], strides = [1, 2]> (x, w, b)
    })");
  EXPECT_THAT(
      c, HasSubstr("/* y (Conv):\n   out[0, m, y, x] = acc + x2[m]\n"
                   "   acc = sum(c, ky, kx) x1[0, c, y + ky - 1, x * 2 + kx - 1] * x0[m, c, ky, kx]\n"
                   "   where 0 <= y + ky - 1 < 9, 0 <= x * 2 + kx - 1 < 8\n"
                   "   m < 5, y < 9, x < 4, c < 2, ky < 3, kx < 3 */\nstatic M_NOINLINE void m_conv_0("));
  EXPECT_THAT(c, HasSubstr("for (int ky = low_ky; ky < high_ky; ++ky) {"));
}

TEST(CFormula, NamesAxesOfEverythingElseByLetters) {
  EXPECT_THAT(c_of(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[3, 4] x, float[4, 5] w) => (float[3, 5] y) { y = MatMul(x, w) })"),
              HasSubstr("out[i, j] = sum(k) x1[i, k] * x0[k, j]\n   i < 3, j < 5, k < 4 */"));
  Nest many;
  for (int a = 0; a < 40; ++a) many.axes.push_back({2, a >= 20}), many.store.push_back(axis(a % 20));
  many.body = constant(Type::kFloat32, 0);
  std::vector<std::string> names = axis_names(many);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(CFormula, HasOnlyTheParenthesesThatItNeeds) {
  const Expr x = read(0, Type::kFloat32, {axis(0) * (axis(1) + 2)}), y = read(1, Type::kFloat32, {axis(1)});
  EXPECT_EQ(to_string((x - y) - (x - (y + x)) * y),
            "x0[i0 * (i1 + 2)] - x1[i1] - (x0[i0 * (i1 + 2)] - "
            "(x1[i1] + x0[i0 * (i1 + 2)])) * x1[i1]");
  EXPECT_EQ(to_string(-(y + y) / (y / y)), "-(x1[i1] + x1[i1]) / (x1[i1] / x1[i1])");
  EXPECT_EQ(to_string(y + constant(Type::kFloat32, -1)), "x1[i1] - 1");
  EXPECT_EQ(to_string((y < x && y <= y) || x < y).find("(x1[i1] < "), 1u);
}

TEST(CText, TakesOverAnotherLineByLineWithWhatItUses) {
  CText inner, outer;
  inner.open("if (t0 == 1)");
  inner.put("");
  inner.close();
  inner.use("t0");
  outer.open("for (;;)");
  outer.put(inner);
  outer.close();
  EXPECT_EQ(outer.text(), "for (;;) {\n  if (t0 == 1) {\n\n  }\n}\n");
  EXPECT_TRUE(outer.uses("t0"));
  EXPECT_FALSE(outer.uses("t1"));
}

TEST(CFormula, StaysAComment) {
  EXPECT_EQ(c_block_comment({"a */ b",
                             "?"
                             "?/ /* \\\n"}),
            "/* a *_ b\n   ?_/ /_ __ */\n");
  const std::string text = c_block_comment({std::string(90, 'a') + " b c " + std::string(20, 'd')});
  EXPECT_THAT(text, HasSubstr(" b c\n     ddd"));
}

}  // namespace
}  // namespace arenac
