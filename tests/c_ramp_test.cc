// The emitted expressions of tables of numbers, compiled and compared with the tables.
#include "codegen/c_ramp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "driver/files.h"
#include "driver/process.h"

namespace arenac {
namespace {

using Ints = std::vector<int64_t>;

// The last row that slab t of a window of k rows at stride s reads, of `rows`.
Ints window_ends(int64_t slabs, int64_t s, int64_t k, int64_t pad, int64_t rows) {
  Ints values;
  for (int64_t t = 0; t < slabs; ++t) values.push_back(std::min(t * s - pad + k, rows) - 1);
  return values;
}

std::vector<Ints> tables() {
  std::vector<Ints> all = {{7},     {4, 4, 4},       {0, 1},          {-1, -1, 0, 0, 1, 1},
                           {-1, 0}, {0, 2, 3, 4, 4}, {0, 5, 5, 6, 90}};
  std::mt19937 random(1);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
  for (int k = 0; k < 300; ++k)
    all.push_back(window_ends(1 + below(40), 1 + below(4), 1 + below(5), below(4), 1 + below(60)));
  for (int k = 0; k < 100; ++k) {  // a resize: (num * t + add) / den, clipped
    const int64_t num = 1 + below(9), den = 1 + below(9), add = below(12) - 6, most = below(40);
    Ints& values = all.emplace_back();
    for (int64_t t = 0, n = 1 + below(40); t < n; ++t)
      values.push_back(std::clamp<int64_t>((num * t + add) / den, 0, most));
  }
  for (int k = 0; k < 100; ++k) {  // anything that ascends
    Ints& values = all.emplace_back();
    for (int64_t v = below(3) - 1, n = 1 + below(20); n > 0; --n, v += below(4)) values.push_back(v);
  }
  return all;
}

TEST(CRamp, ReproducesEveryValue) {
  const std::vector<Ints> all = tables();
  std::string text = "#include <stdio.h>\n", calls;
  for (size_t k = 0; k < all.size(); ++k) {
    const CRamp ramp = c_ramp(all[k], "t0", "table");
    text += fmt::format(
        "static int ramp_{0}(int t0) {{\n  {1}\n  (void)t0;\n  return {2};\n}}\n"
        "static const int want_{0}[] = {{{3}}};\n",
        k, ramp.declaration, ramp.expression, fmt::join(all[k], ", "));
    calls += fmt::format(
        "  for (int t = 0; t < {1}; ++t)\n    if (ramp_{0}(t) != want_{0}[t] && (ramp_{0}(t) >= 0 || "
        "want_{0}[t] >= 0))\n      return printf(\"table {0}[%d]: %d\\n\", t, ramp_{0}(t)), 1;\n",
        k, all[k].size());
  }
  const TemporaryFolder scratch;
  write_files(scratch.path(), {{"ramps.c", text + "int main(void) {\n" + calls + "  return 0;\n}\n"}});
  const Finished built = run_process(
      {"cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "ramps.c", "-o", "ramps"}, scratch.path(), 120);
  ASSERT_EQ(built.status, 0) << built.output;
  const Finished done = run_process({"./ramps"}, scratch.path(), 60);
  EXPECT_EQ(done.status, 0) << done.output;
}

TEST(CRamp, IsShortForWindows) {
  EXPECT_EQ(c_ramp({3, 3, 3}, "t0", "upto").expression, "3");
  EXPECT_EQ(c_ramp({0, 1, 2, 3}, "t0", "upto").expression, "t0");
  EXPECT_EQ(c_ramp({1, 3, 5, 7, 7}, "t0", "upto").expression, "2 * t0 + 1 < 7 ? 2 * t0 + 1 : 7");
  EXPECT_EQ(c_ramp({0, 0, 1, 1, 2}, "t0", "upto").expression, "t0 / 2");
  EXPECT_EQ(c_ramp({1, 3, 5, 7, 7}, "t0", "upto").declaration, "");
}

TEST(CRamp, FallsBackToATable) {
  const CRamp ramp = c_ramp({0, 0, 7, 8, 30, 31}, "t0", "upto1");
  EXPECT_EQ(ramp.declaration, "static const int upto1[6] = {0, 0, 7, 8, 30, 31};");
  EXPECT_EQ(ramp.expression, "upto1[t0]");
}

}  // namespace
}  // namespace arenac
