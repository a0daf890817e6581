// Fully connected layers read images as they are, where that keeps every bit, and take them by rows.
#include "frontend/unflatten.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/rewrites.h"
#include "scheduler/schedule.h"
#include "scheduler/storage.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Graph graph_of(const std::string& text) {
  return with_inlined_elements(import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text));
}

// The graph's text; the outputs are the same bits as before.
std::string unflattened(const std::string& text) {
  const Graph before = graph_of(text), after = with_unflattened_operands(before);
  for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(before, after, seed, Numbers::kAny);
  return dump(after);
}

// Numbers that differ, and whose sums round.
std::string weights(const char* name, const Shape& shape) {
  std::vector<double> values;
  for (int64_t k = 0; k < element_count(shape); ++k)
    values.push_back(static_cast<double>(k * 7 % 13 - 6) / 10);
  return fmt::format("float[{}] {} = {{{}}}", fmt::join(shape, ", "), name, fmt::join(values, ", "));
}

// {0, 1, ..., 6, 0, ...}, without the braces.
std::string numbers(int64_t count) {
  std::vector<int64_t> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(k % 7);
  return fmt::format("{}", fmt::join(values, ", "));
}

TEST(Unflatten, LetsSumsReadImages) {
  const std::string text = unflattened("(float[2, 3, 4, 5] x) => (float[2, 2] y) <" + weights("w", {60, 2}) +
                                       "> { i = Softmax<axis = 1>(x)  f = Flatten(i)  y = MatMul(f, w) }");
  EXPECT_THAT(text, HasSubstr("float32[2,3,4,5] <-"));
  EXPECT_THAT(text, HasSubstr("i1<2 +i2<3 +i3<4 +i4<5"));
  EXPECT_THAT(text, HasSubstr("[i2, i3, i4, i1]"));  // of the weights
}

TEST(Unflatten, LeadsThroughElementwiseNodes) {
  const std::string text = unflattened(
      "(float[2, 3, 4] x) => (float[2, 2] y) <" + weights("w", {12, 2}) + ", " + weights("b", {12}) +
      "> { i = Softmax<axis = 1>(x)  f = Flatten(i)  s = Softmax<axis = 0>(f)  a = Add(s, b)"
      "  y = MatMul(a, w) }");
  EXPECT_THAT(text, Not(HasSubstr("mod(")));
}

// Between integers and a sum over them may be what flattens them, at any place: the sum is one of integers.
TEST(Unflatten, LeavesSumsOfIntegersApart) {
  const std::string dequantize = "DequantizeLinear({}, s, z)";
  for (const char* type : {"int8", "uint8"})
    for (const char* flatten : {"Flatten({})", "Reshape({}, to)"})
      for (bool before : {false, true}) {
        const std::string first = before ? flatten : dequantize, second = before ? dequantize : flatten;
        const std::string text = fmt::format(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1, 2, 4, 4] x) => (float[1, 3] y)\n"
            "<{0}[32, 3] w = {{{1}}}, float s = {{0.1}}, {0} z = {{3}}, int64[2] to = {{1, 32}}> {{\n"
            "m = MaxPool<kernel_shape = [2, 2], pads = [1, 1, 0, 0]>(x)  q = QuantizeLinear(m, s, z)\n"
            "f = {2}  g = {3}  d = DequantizeLinear(w, s, z)  y = MatMul(g, d) }}",
            type, numbers(96), fmt::format(fmt::runtime(first), "q"), fmt::format(fmt::runtime(second), "f"));
        SCOPED_TRACE(text);
        const Graph imported = import_text(text);
        for (unsigned seed = 0; seed < 3; ++seed)
          assert_same_bits(imported, with_unflattened_operands(imported), seed, Numbers::kAny);
        const std::string all = dump(rewritten(imported, layerwise_peak));
        EXPECT_THAT(all, Not(HasSubstr("mod(")));
        EXPECT_THAT(all,
                    HasSubstr("(cast<int32>(x0[i0, i2, i3, i4]) - 3) * (cast<int32>(x1[i2, i3, i4, i1])"));
      }
}

TEST(Unflatten, StaysWhereSomebodyWantsOneDimension) {
  const auto text = [](const char* outputs, const char* more) {
    return fmt::format(
        "(float[2, 3, 4] x) => (float[2, 2] y, {}) <{}, int64[1] one = {{1}}, int64[1] far = {{9}}> "
        "{{ i = Softmax<axis = 1>(x)  f = Flatten(i)  y = MatMul(f, w)  {} }}",
        outputs, weights("w", {12, 2}), more);
  };
  EXPECT_THAT(unflattened(text("float[2, 12] f", "")), HasSubstr("mod("));
  EXPECT_THAT(unflattened(text("float[2, 12] z", "z = Softmax(f)")), HasSubstr("mod("));
  // A part of it, from the middle of a row.
  EXPECT_THAT(
      unflattened(text("float[2] z", "s = Slice(f, one, far, one)  z = ReduceSum<keepdims = 0>(s, one)")),
      HasSubstr("mod("));
}

TEST(Unflatten, LeavesOneOfSeveralDimensionsApart) {
  const std::string text =
      unflattened("(float[2, 3, 4, 5] x) => (float[6, 2] y) <" + weights("w", {20, 2}) +
                  ", int64[2] to = {6, 20}> { i = Softmax<axis = 1>(x)  r = Reshape(i, to)"
                  "  y = MatMul(r, w) }");
  EXPECT_THAT(text, HasSubstr("float32[6,4,5] <-"));
}

// Between the two reshapes each group of channels is one dimension with the image.
TEST(Unflatten, LetsGroupsOfChannelsBeNormalisedWhereTheyAre) {
  const std::string text = unflattened(
      "(float[1, 6, 4, 5] x) => (float[1, 6, 4, 5] y) <int64[3] apart = {0, 3, -1}, int64[4] back = {1, 6, "
      "4, 5}, "
      "float[3] s = {1, 2, 3}, float[3] b = {0, 1, 2}> {"
      " i = Softmax<axis = 1>(x)  g = Reshape(i, apart)  n = InstanceNormalization(g, s, b)"
      "  r = Reshape(n, back)  y = Sigmoid(r) }");
  EXPECT_THAT(text, HasSubstr("float32[1,3,2,4,5]"));
  EXPECT_THAT(text, HasSubstr("[i0, i1 * 2 + i2, i3, i4]"));        // the groups of the image
  EXPECT_THAT(text, HasSubstr("[0, i1 / 2, mod(i1, 2), i2, i3]"));  // the image of the groups
}

// The same bytes by every scheduler, and rows in place of the image.
void expect_rows(const std::string& text, int64_t most_bytes) {
  std::vector<Emitted> batch;
  for (const char* scheduler : {"layerwise", "fused", "rows", "columns", "windows", "strips", "smallest"})
    batch.push_back({compile_graph(graph_of(text), scheduler, {.scheduler = scheduler})});
  for (Emitted& e : batch) e.inputs = random_inputs(*e.compilation.graph, 1, Numbers::kAny);
  run_emitted(batch, compilers()[0]);
  for (const Emitted& e : batch) {
    ASSERT_EQ(e.fault, "");
    EXPECT_EQ(e.outputs[0].bytes, batch[0].outputs[0].bytes) << e.compilation.name;
  }
  EXPECT_LT(batch[1].compilation.plan.pools[0].size, most_bytes);
}

TEST(Unflatten, LetsFullyConnectedLayersTakeRows) {
  // 4 rows of an image, and what columns are rounded to
  expect_rows("(float[1, 1, 24, 24] x) => (float[1, 4] y) <" + weights("c", {6, 1, 3, 3}) + ", " +
                  weights("d", {6, 6, 3, 3}) + ", " + weights("w", {2400, 4}) +
                  "> { a = Conv(x, c)  r = Relu(a)  s = Conv(r, d)  f = Flatten(s)  y = MatMul(f, w) }",
              20 * 6 * 4 * 6);
  expect_rows(
      "(float[1, 2, 24, 24] x) => (float[1, 5] y) <" + weights("c", {4, 2, 3, 3}) + ", " +
          weights("d", {4, 1, 3, 3}) + ", " + weights("w", {256, 5}) +
          "> { a = Conv<pads = [1, 1, 1, 1]>(x, c)  r = Relu(a)  s = Conv<group = 4, strides = [3, 3]>(r, d)"
          "  f = Flatten(s)  y = MatMul(f, w) }",
      24 * 4 * 4 * 5);
}

// The image that is normalised is there once, and rows of what is made of it.
TEST(Unflatten, LetsNormalisedGroupsTakeRows) {
  expect_rows(
      "(float[1, 1, 24, 24] x) => (float[1, 2, 22, 22] y) <" + weights("c", {6, 1, 3, 3}) + ", " +
          weights("d", {2, 6, 3, 3}) +
          ", int64[3] apart = {0, 3, -1}, int64[4] back = {1, 6, 24, 24}, float[3] s = {1, 2, 3}, "
          "float[3] b = {0, 1, 2}> { a = Conv<pads = [1, 1, 1, 1]>(x, c)  g = Reshape(a, apart)"
          "  n = InstanceNormalization(g, s, b)  r = Reshape(n, back)  v = Sigmoid(r)  y = Conv(v, d) }",
      24 * 24 * 6 * 4 + 5 * 24 * 6 * 4);
}

}  // namespace
}  // namespace arenac
