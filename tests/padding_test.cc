// Padding becomes bounds of the sums that read it, where that keeps every bit.
#include "frontend/padding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/interpret.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

using testing::ElementsAre;

// The operators that are left; the outputs are the same bits as before.
std::vector<std::string> merged_ops(const std::string& text) {
  const Graph before =
      with_inlined_elements(import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text));
  const Graph after = with_merged_padding(before);
  for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(before, after, seed, Numbers::kAny);
  return ops_of(after);
}

TEST(Padding, GoesIntoConvolutions) {
  EXPECT_THAT(merged_ops(R"((float[1, 1, 3, 4] x) => (float[1, 1, 3, 3] y)
      <int64[8] p = {0, 0, 1, 2, 0, 0, 1, 0}, float[1, 1, 3, 4] w = {1, -2, 3, 4, 5, 6, -7, 8, 9, 1, 2, -3}> {
      r = Relu(x)  q = Pad(r, p)  y = Conv(q, w) })"),
              ElementsAre("Relu", "Conv"));
}

TEST(Padding, OfQuantisedTensorsIsTheZeroPoint) {
  const auto text = [](int fill) {
    return fmt::format(R"((int8[1, 1, 4] x) => (float[1, 1, 5] y)
      <int64[6] p = {{0, 0, 1, 0, 0, 1}}, float s = {{0.5}}, int8 z = {{3}}, int8 fill = {{{}}}, float[1, 1, 2] w = {{1, -2}}> {{
      q = Pad(x, p, fill)  d = DequantizeLinear(q, s, z)  y = Conv(d, w) }})",
                       fill);
  };
  EXPECT_THAT(merged_ops(text(3)), ElementsAre("Conv"));
  EXPECT_THAT(merged_ops(text(0)), ElementsAre("Pad", "Conv"));
  EXPECT_THAT(merged_ops(R"((int8[1, 1, 4] x) => (float[1, 1, 5] y)
      <int64[6] p = {0, 0, 1, 0, 0, 1}, float s = {0.5}, int8 z = {3}, float[1, 1, 2] w = {1, -2}> {
      d = DequantizeLinear(x, s, z)  q = Pad(d, p)  y = Conv(q, w) })"),
              ElementsAre("Conv"));
}

TEST(Padding, StaysWhereItContributes) {
  const std::string weights = "float[1, 1, 2] w = {1, -2}", pads = "int64[6] p = {0, 0, 1, 0, 0, 1}";
  // Not zero.
  EXPECT_THAT(merged_ops("(float[1, 1, 4] x) => (float[1, 1, 5] y) <" + weights + ", " + pads +
                         ", float one = {1}> { q = Pad(x, p, one)  y = Conv(q, w) }"),
              ElementsAre("Pad", "Conv"));
  // The weights may be infinite.
  EXPECT_THAT(merged_ops("(float[1, 1, 4] x, float[1, 1, 2] w) => (float[1, 1, 5] y) <" + pads +
                         "> { q = Pad(x, p)  y = Conv(q, w) }"),
              ElementsAre("Pad", "Conv"));
  // Somebody needs it: a maximum, an output.
  EXPECT_THAT(merged_ops("(float[1, 1, 4] x) => (float[1, 1, 5] y, float[1, 1, 5] z) <" + weights + ", " +
                         pads + "> { q = Pad(x, p)  y = Conv(q, w)  z = MaxPool<kernel_shape = [2]>(q) }"),
              ElementsAre("Pad", "Conv", "MaxPool"));
  EXPECT_THAT(merged_ops("(float[1, 1, 4] x) => (float[1, 1, 5] y, float[1, 1, 6] q) <" + weights + ", " +
                         pads + "> { q = Pad(x, p)  y = Conv(q, w) }"),
              ElementsAre("Pad", "Conv"));
  // A crop.
  EXPECT_THAT(merged_ops("(float[1, 1, 4] x) => (float[1, 1, 3] y) <" + weights +
                         ", int64[6] p = {0, 0, -1, 0, 0, 1}> { q = Pad(x, p)  y = Conv(q, w) }"),
              ElementsAre("Pad", "Conv"));
}

TEST(Padding, KeepsTheBitsOfRandomConvolutions) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int channels = 1 + below(3), groups = below(2) ? channels : 1, kernel = 1 + below(3);
    std::vector<int> pads(8), inner(4);
    for (int d : {1, 2, 3})
      if (d > 1 || groups == 1) pads[d] = below(3), pads[4 + d] = below(3);
    for (int& p : inner) p = below(2);
    const int in = channels + pads[1] + pads[5], out = groups == 1 ? 1 + below(3) : channels;
    std::vector<float> weights(static_cast<size_t>(out * (groups == 1 ? in : 1) * kernel * kernel));
    for (float& w : weights) w = static_cast<float>(below(17)) / 4 - 2;
    const std::string text = fmt::format(
        "(float[2, {}, 5, 4] x) => (float[a, b, c, d] y) <int64[8] p = {{{}}}, float[{}, {}, {}, {}] w = "
        "{{{:.2f}}}> "
        "{{ q = Pad(x, p)  z = Conv<group = {}, strides = [{}, {}], pads = [{}]>(q, w)  y = Relu(z) }}",
        channels, fmt::join(pads, ", "), out, groups == 1 ? in : 1, kernel, kernel, fmt::join(weights, ", "),
        groups, 1 + below(2), 1 + below(3), fmt::join(inner, ", "));
    SCOPED_TRACE(text);
    EXPECT_THAT(merged_ops(text), ElementsAre("Conv+Relu"));
  }
}

}  // namespace
}  // namespace arenac
