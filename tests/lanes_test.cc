// Which elements vectors take at once in the C: the bits are those of scalars.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "frontend/import.h"
#include "frontend/rewrites.h"
#include "scheduler/storage.h"
#include "scheduler/weight_blocks.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac::lanes_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

size_t row_of(const std::string& target) {
  for (size_t k = 0; k < targets().size(); ++k)
    if (targets()[k].name == target) return k;
  throw std::invalid_argument(target);
}

// The C of the graph for vectors. That for a processor without vectors gives the same bits.
std::string text_of(const std::string& model, const std::string& target = "portable") {
  const Graph graph =
      rewritten(import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + model), layerwise_peak);
  std::vector<Emitted> ways;
  for (const std::string& each : {target, std::string("cortex-m0")}) {
    Way way;
    way.target = row_of(each);
    ways.push_back(Emitted{
        compile_graph(with_weight_blocks(graph, target_named(each)), fmt::format("m{}", way.target), way)});
    ways.back().inputs = random_inputs(graph, 1, Numbers::kAny);
  }
  run_emitted(ways, compilers()[0]);
  for (const Emitted& e : ways) {
    EXPECT_EQ(e.fault, "");
    if (!e.fault.empty()) continue;
    EXPECT_EQ(e.outputs[0].bytes, ways[0].outputs[0].bytes);
  }
  return file_named(ways[0].compilation, ways[0].compilation.name + ".c");
}

// An initializer of small numbers.
std::string weights(const std::string& name, const Shape& shape, const std::string& type = "float") {
  std::mt19937 random(static_cast<unsigned>(element_count(shape)));
  std::vector<int> all(static_cast<size_t>(element_count(shape)));
  for (int& x : all) x = static_cast<int>(random() % 15) - 7;
  return fmt::format("{}[{}] {} = {{{}}}", type, fmt::join(shape, ", "), name, fmt::join(all, ", "));
}

// A convolution from 8 channels by random weights, of planes to planes.
std::string conv(int64_t channels, int64_t size, int64_t kernel,
                 const std::string& attributes = "group = 1") {
  return fmt::format("(float[1, 8, {1}, {1}] x) => (z) <{2}> {{ a = Sin(x)  z = Conv<{3}>(a, w) }}", channels,
                     size, weights("w", {channels, 8, kernel, kernel}), attributes);
}

// The pixels of a plane lie side by side, the lanes of a pixel a plane apart.
TEST(Lanes, OfPlanesAreStoredByRowsOfPixels) {
  EXPECT_THAT(text_of(conv(16, 8, 1)), HasSubstr("float rows[80];"));
  EXPECT_THAT(text_of("(float[1, 8, 8, 8] x) => (z) <" + weights("w", {16, 8, 1, 1}) +
                      "> { a = Sin(x)  b = Conv(a, w)  c = MaxPool<kernel_shape = [2, 2]>(b)  z = Cos(c) }"),
              Not(HasSubstr("rows[")));
}

// Three columns are computed as four; nine not as sixteen, where constants may lie in flash memory.
TEST(Lanes, AreFilledWhereThereAreFewColumns) {
  EXPECT_THAT(text_of(conv(3, 8, 3)), HasSubstr("float acc0[4];"));
  EXPECT_THAT(text_of(conv(12, 8, 3)), HasSubstr("float acc0[16];"));
  EXPECT_THAT(text_of(conv(9, 8, 3)), HasSubstr("float acc0[4];"));
  EXPECT_THAT(text_of(conv(4, 8, 3)), HasSubstr("float acc0[4];"));
  // Without pixels zeros would gain nothing.
  EXPECT_THAT(text_of("(float[1, 8] x) => (z) <" + weights("w", {8, 3}) + "> { z = MatMul(x, w) }"),
              HasSubstr("float acc0[3];"));
}

// Additions to one sum wait for each other.
TEST(Lanes, OfOneColumnAreSumsOfSeveralPixels) {
  EXPECT_THAT(text_of(conv(1, 18, 3, "pads = [1, 1, 1, 1]")), HasSubstr("acc5 +="));
}

// Where the same taps are beyond the border, pixels are taken together.
TEST(Lanes, AreOfSeveralPixelsOnTheBordersOfDilatedWindows) {
  const std::string text = text_of(conv(16, 12, 3, "pads = [6, 6, 6, 6], dilations = [6, 6]"));
  EXPECT_THAT(text, AllOf(HasSubstr("acc3[l] +="), Not(HasSubstr("for (int x = 0; x < 12; ++x)"))));
}

// A pixel at a border is in a tile with others, which have other taps of the window.
TEST(Lanes, AreOfWholeTilesAtBorders) {
  EXPECT_THAT(text_of(conv(16, 20, 3, "pads = [1, 1, 1, 1]")),
              AllOf(HasSubstr("for (int kx = 1; kx < 3; ++kx)"), HasSubstr("for (int kx = 0; kx < 2; ++kx)"),
                    Not(HasSubstr("low_kx"))));
  // Of one tile, of causal windows, of steps, of more taps than are worth the code.
  for (const char* window :
       {"pads = [1, 1, 1, 1]", "pads = [2, 2, 0, 0]", "pads = [0, 0, 2, 2], strides = [2, 2]",
        "pads = [2, 2, 2, 2], dilations = [2, 2]"})
    for (const int64_t size : {5, 13, 22}) text_of(conv(16, size, 3, window));
  EXPECT_THAT(text_of(conv(16, 16, 11, "pads = [5, 5, 5, 5]")), HasSubstr("low_kx"));
}

// Long sums are of parts: of a tap each, or of many taps together.
TEST(Lanes, AtBordersAddTheSameParts) {
  const auto text = [](const Shape& shape, const std::string& x, const std::string& pads) {
    return text_of(fmt::format("(float{0} x) => (z) <{1}> {{ a = Sin(x)  z = Conv<pads = {2}>(a, w) }}", x,
                               weights("w", shape), pads));
  };
  EXPECT_THAT(text({8, 256, 3, 3}, "[1, 256, 5, 13]", "[1, 1, 1, 1]"),
              AllOf(HasSubstr("part1_0[l] +="), HasSubstr("for (int kx = 1; kx < 3; ++kx)")));
  EXPECT_THAT(text({8, 2, 1, 600}, "[1, 2, 2, 620]", "[0, 1, 0, 1]"), HasSubstr("part1_0[l] +="));
}

// Whatever the order, it is the greatest.
TEST(Lanes, OfRowsFindTheGreatest) {
  EXPECT_THAT(text_of("(float[6, 37] x) => (z) { z = ReduceMax<axes = [1]>(x) }"),
              AllOf(HasSubstr("acc[16]"), HasSubstr("< 37")));
  EXPECT_THAT(text_of("(float[6, 31] x) => (z) { z = ReduceMax<axes = [1]>(x) }"), Not(HasSubstr("acc[16]")));
}

// A quantised convolution from 8 channels to so many.
std::string quantised_conv(int channels) {
  return fmt::format(
      R"((float[1, 8, 6, 6] x) => (int8[1, {0}, 6, 6] z)
      <float s = {{0.03}}, int8 o = {{-5}}, float t = {{0.002}}, int8 p = {{0}}, {1}> {{
      q = QuantizeLinear(x, s, o)  a = DequantizeLinear(q, s, o)
      v = DequantizeLinear(w, t, p)  b = Conv<pads = [1, 1, 1, 1]>(a, v)
      z = QuantizeLinear(b, s, o) }})",
      channels, weights("w", {channels, 8, 3, 3}, "int8"));
}

// Channels are computed as what fills vectors: of 4, 8 and 16 lanes, or of 4 and 8.
TEST(Lanes, OfBytesAreThoseOfTheFewestVectors) {
  for (const auto& [channels, v3, v4] :
       {std::tuple(3, 4, 4), {5, 8, 8}, {9, 12, 16}, {24, 8, 24}, {40, 16, 20}}) {
    EXPECT_THAT(text_of(quantised_conv(channels), "x86-64-v3"),
                HasSubstr(fmt::format("int32_t acc0[{}];", v3)));
    EXPECT_THAT(text_of(quantised_conv(channels), "x86-64-v4"),
                HasSubstr(fmt::format("int32_t acc0[{}];", v4)));
  }
}

// A quantised convolution from so many channels, and a table of its codes.
std::string with_table(int channels) {
  return fmt::format(
      R"((int8[1, {}, 6, 6] x) => (int8[1, 16, 6, 6] z)
      <float s = {{0.03}}, int8 o = {{-5}}, float[16] t = {{{}}}, int8[16] p = {{{}}}, {}> {{
      a = DequantizeLinear(x, s, o)  v = DequantizeLinear<axis = 0>(w, t, p)  b = Conv(a, v)
      c = QuantizeLinear(b, s, o)  d = DequantizeLinear(c, s, o)  e = HardSwish(d)  z = QuantizeLinear(e, s, o) }})",
      channels, fmt::join(std::vector<double>(16, 0.002), ", "), fmt::join(std::vector<int>(16, 0), ", "),
      weights("w", {16, channels, 1, 1}, "int8"));
}

// Codes are vectors; what a table has for them is looked up one by one.
TEST(Lanes, OfCodesAreLookedUpApart) {
  EXPECT_THAT(text_of(with_table(8)), AllOf(HasSubstr("int8_t codes["), HasSubstr("codes[l")));
}

// An instruction stores codes of all lanes; the sums of these are scalars.
TEST(Lanes, OfCodesAreReadWhereInstructionsStoreThem) {
  EXPECT_THAT(text_of(with_table(24), "cortex-m55"), AllOf(HasSubstr("requantized_s8_lanes(codes, 1,"),
                                                           HasSubstr("codes[3]"), Not(HasSubstr("codes_3"))));
}

}  // namespace
}  // namespace arenac::lanes_test
