// Operators against their definitions written as plain loops, over a sweep of attributes that ONNX's own
// cases leave out: strides with dilations, asymmetric pads, groups, ceil_mode.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"

namespace arenac::operators_test {
namespace {

Value random_value(Shape shape, int seed) {
  std::mt19937 engine(seed);
  Value value(Type::kFloat32, std::move(shape));
  for (int64_t k = 0; k < value.count(); ++k) store(value, k, {.f = static_cast<double>(engine() % 17) - 8});
  return value;
}

double at(const Value& value, int64_t i, int64_t j, int64_t k) {
  return load(value, (i * value.shape[1] + j) * value.shape[2] + k).f;
}

std::vector<double> elements(const Value& value) {
  std::vector<double> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kFloat64, value.type, load(value, k)).f);
  return all;
}

Value run(const std::string& body, const std::string& inputs, const std::vector<Value>& values,
          const std::string& opset = "19") {
  const Graph graph = import_text(fmt::format(R"(<ir_version: 8, opset_import: ["" : {}, "com.microsoft" : 1]>
      g ({}) => (y) {{ {} }})",
                                              opset, inputs, body));
  return *interpret(graph, values)[graph.outputs[0]];
}

struct Window1d {
  int64_t kernel, stride, dilation, begin, end, group;
};

std::string attributes(const Window1d& w) {
  return fmt::format("strides=[{}], dilations=[{}], pads=[{}, {}]", w.stride, w.dilation, w.begin, w.end);
}

std::vector<Window1d> sweep() {
  std::vector<Window1d> all;
  for (int64_t kernel : {1, 2, 3})
    for (int64_t stride : {1, 2, 3, 4})
      for (int64_t dilation : {1, 2, 3})
        for (int64_t begin : {0, 2})
          for (int64_t group : {1, 2}) all.push_back({kernel, stride, dilation, begin, 1, group});
  return all;
}

constexpr int64_t kExtent = 9;

TEST(Conv, MatchesItsDefinition) {
  for (const Window1d& w : sweep()) {
    SCOPED_TRACE(attributes(w));
    const Value x = random_value({1, 4, kExtent}, 1), f = random_value({6, 4 / w.group, w.kernel}, 2);
    const Value y = run(fmt::format("y = Conv<{}, group={}>(x, w)", attributes(w), w.group),
                        fmt::format("float[1, 4, 9] x, float[6, {}, {}] w", 4 / w.group, w.kernel), {x, f});
    const int64_t outputs = (kExtent + w.begin + w.end - (w.kernel - 1) * w.dilation - 1) / w.stride + 1;
    ASSERT_EQ(y.shape, (Shape{1, 6, outputs}));
    for (int64_t m = 0; m < 6; ++m)
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = 0;
        for (int64_t c = 0; c < 4 / w.group; ++c)
          for (int64_t k = 0; k < w.kernel; ++k) {
            const int64_t i = o * w.stride + k * w.dilation - w.begin;
            if (i < 0 || i >= kExtent) continue;
            sum += at(x, 0, m / (6 / w.group) * (4 / w.group) + c, i) * at(f, m, c, k);
          }
        EXPECT_EQ(at(y, 0, m, o), sum) << m << " " << o;
      }
  }
}

TEST(ConvTranspose, MatchesItsDefinition) {
  for (const Window1d& w : sweep()) {
    SCOPED_TRACE(attributes(w));
    const int64_t maps = 3;  // outputs of a group
    const Value x = random_value({1, 4, kExtent}, 1), f = random_value({4, maps, w.kernel}, 2);
    const Value b = random_value({maps * w.group}, 3);
    const std::string types =
        fmt::format("float[1, 4, 9] x, float[4, 3, {}] w, float[{}] b", w.kernel, maps * w.group);
    const Value y = run(
        fmt::format("y = ConvTranspose<{}, group={}, output_padding=[1]>(x, w, b)", attributes(w), w.group),
        types, {x, f, b});
    const int64_t outputs = (kExtent - 1) * w.stride + (w.kernel - 1) * w.dilation + 2 - w.begin - w.end;
    ASSERT_EQ(y.shape, (Shape{1, maps * w.group, outputs}));
    std::vector<double> sums(maps * w.group * outputs);
    for (int64_t m = 0; m < maps * w.group; ++m)
      for (int64_t o = 0; o < outputs; ++o) sums[m * outputs + o] = load(b, m).f;
    for (int64_t c = 0; c < 4; ++c)
      for (int64_t m = 0; m < maps; ++m)
        for (int64_t i = 0; i < kExtent; ++i)
          for (int64_t k = 0; k < w.kernel; ++k) {
            const int64_t o = i * w.stride + k * w.dilation - w.begin;
            const int64_t channel = c / (4 / w.group) * maps + m;
            if (o >= 0 && o < outputs) sums[channel * outputs + o] += at(x, 0, c, i) * at(f, c, m, k);
          }
    EXPECT_EQ(elements(y), sums);
  }
}

TEST(AveragePool, MatchesItsDefinition) {
  for (const Window1d& w : sweep()) {
    for (int64_t padding_counts : {0, 1}) {
      for (int64_t ceil_mode : {0, 1}) {
        if (w.begin >= (w.kernel - 1) * w.dilation + 1) continue;  // windows of padding alone
        SCOPED_TRACE(fmt::format("{} ceil {} count {}", attributes(w), ceil_mode, padding_counts));
        const Value x = random_value({1, 1, kExtent}, 1);
        const Value y = run(fmt::format("y = AveragePool<{}, kernel_shape=[{}], ceil_mode={}, "
                                        "count_include_pad={}>(x)",
                                        attributes(w), w.kernel, ceil_mode, padding_counts),
                            "float[1, 1, 9] x", {x});
        for (int64_t o = 0; o < y.shape[2]; ++o) {
          double sum = 0, count = 0;
          for (int64_t k = 0; k < w.kernel; ++k) {
            const int64_t i = o * w.stride + k * w.dilation - w.begin;
            const bool inside = i >= 0 && i < kExtent;
            if (inside) sum += at(x, 0, 0, i);
            count += padding_counts ? i < kExtent + w.end : inside;
          }
          if (count == 0) continue;
          EXPECT_FLOAT_EQ(at(y, 0, 0, o), sum / count) << o;
        }
      }
    }
  }
}

TEST(Pools, WithCeilModeTakeAWindowThatEndsBehindThePadding) {
  Value x(Type::kFloat32, {1, 1, 2});
  store(x, 0, {.f = 3}), store(x, 1, {.f = 5});
  for (const auto& [pool, expected] : {std::pair{"AveragePool", 4}, {"MaxPool", 5}}) {
    const std::string text = fmt::format("y = {}<kernel_shape=[3], strides=[2], ceil_mode=1>(x)", pool);
    EXPECT_THAT(elements(run(text, "float[1, 1, 2] x", {x})), testing::ElementsAre(expected)) << pool;
  }
}

TEST(MaxPool, IndicesNameTheFirstMaximum) {
  Value x(Type::kFloat32, {1, 1, 2, 3});
  for (int64_t k : {1, 3, 5}) store(x, k, {.f = 7});  // 0 7 0 / 7 0 7
  const std::string types = "float[1, 1, 2, 3] x";
  const std::string pool = "v, y = MaxPool<kernel_shape=[2, 2], storage_order={}>(x)";
  EXPECT_THAT(elements(run(fmt::format(fmt::runtime(pool), 0), types, {x})), testing::ElementsAre(1, 1));
  EXPECT_THAT(elements(run(fmt::format(fmt::runtime(pool), 1), types, {x})), testing::ElementsAre(2, 2));
}

TEST(Gather, OfAConstantProgressionIsAffine) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[8] x) => (float[3] y) <int64[3] i = {-1, 5, 3}> { y = Gather(x, i) })");
  ASSERT_EQ(graph.block.size(), 1u);
  EXPECT_EQ(graph.block[0].reads.size(), 1u) << dump(graph);
  const auto values = interpret(graph, {random_value({8}, 1)});
  const Value x = random_value({8}, 1);
  EXPECT_THAT(elements(*values[graph.outputs[0]]),
              testing::ElementsAre(load(x, 7).f, load(x, 5).f, load(x, 3).f));
}

TEST(Gather, ClampsWhatDataSay) {
  Value i(Type::kInt64, {3});
  store(i, 0, {.i = -100});
  store(i, 1, {.i = 100});
  store(i, 2, {.i = -1});
  const Value x = random_value({4}, 1);
  EXPECT_THAT(elements(run("y = Gather(x, i)", "float[4] x, int64[3] i", {x, i})),
              testing::ElementsAre(load(x, 0).f, load(x, 3).f, load(x, 3).f));
}

TEST(Slice, AttributesOfOldOpsets) {
  const Value x = random_value({4}, 1);
  EXPECT_THAT(elements(run("y = Slice<starts=[-3], ends=[2147483647]>(x)", "float[4] x", {x}, "9")),
              testing::ElementsAre(load(x, 1).f, load(x, 2).f, load(x, 3).f));
}

TEST(Pad, RepeatsAndCrops) {
  Value x(Type::kFloat32, {3});
  for (int64_t k = 0; k < 3; ++k) store(x, k, {.f = static_cast<double>(k)});
  const auto padded = [&](const std::string& mode, const std::string& pads) {
    return elements(run(fmt::format("p = Constant<value_ints=[{}]>() y = Pad<mode=\"{}\">(x, p)", pads, mode),
                        "float[3] x", {x}));
  };
  EXPECT_THAT(padded("reflect", "5, 3"), testing::ElementsAre(1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1));
  EXPECT_THAT(padded("wrap", "2, 4"), testing::ElementsAre(1, 2, 0, 1, 2, 0, 1, 2, 0));
  EXPECT_THAT(padded("edge", "-1, 2"), testing::ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(padded("constant", "-1, 1"), testing::ElementsAre(1, 2, 0));
}

TEST(Einsum, ContractsPairByPair) {
  const Value a = random_value({2, 3}, 1), b = random_value({3, 4}, 2), c = random_value({4, 2}, 3);
  const Value whole = run("y = Einsum<equation=\"ij,jk,kl\">(a, b, c)",
                          "float[2, 3] a, float[3, 4] b, float[4, 2] c", {a, b, c});
  const Value steps =
      run("h = MatMul(a, b) y = MatMul(h, c)", "float[2, 3] a, float[3, 4] b, float[4, 2] c", {a, b, c});
  EXPECT_EQ(whole.shape, (Shape{2, 2}));
  EXPECT_EQ(elements(whole), elements(steps));
}

// A pooled image on its way back to the size of the others: whatever lies between one element and itself.
TEST(Resize, OfOneElementIsThatElement) {
  for (const std::string mode : {"linear", "cubic"})
    for (const std::string coordinates : {"half_pixel", "align_corners", "asymmetric"}) {
      const Graph graph = import_text(fmt::format(
          R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3, 1, 1] x) => (float[1, 3, 5, 4] y)
          <int64[4] s = {{1, 3, 5, 4}}>
          {{ y = Resize<mode = "{}", coordinate_transformation_mode = "{}">(x, , , s) }})",
          mode, coordinates));
      EXPECT_EQ(graph.block.at(0).reads.size(), 1u) << dump(graph);
      Value x(Type::kFloat32, {1, 3, 1, 1});
      for (int64_t k = 0; k < 3; ++k) store(x, k, {.f = 0.1 * static_cast<double>(k + 1)});
      const Value y = interpret_outputs(graph, {x})[0];
      for (int64_t k = 0; k < 60; ++k) EXPECT_EQ(load(y, k).f, load(x, k / 20).f);
    }
}

TEST(Resize, NearestByAWholeFactorNeedsNoTable) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[1, 1, 3, 4] x) => (float[1, 1, 6, 8] y) <float[4] s = {1, 1, 2, 2}>
      { y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">(x, , s) })");
  ASSERT_EQ(graph.block.size(), 1u);
  EXPECT_EQ(graph.block[0].reads.size(), 1u) << dump(graph);
}

// Without nearest_mode it rounds down where it enlarges and up where it shrinks, each dimension for itself.
TEST(Resize, NearestOfOpset10RoundsAway) {
  const Value x = random_value({1, 1, 5, 5}, 3);
  const Value y = run("s = Constant<value_floats = [1.0, 1.0, 0.6, 1.4]>() y = Resize(x, s)",
                      "float[1,1,5,5] x", {x}, "10");
  ASSERT_EQ(y.shape, (Shape{1, 1, 3, 7}));
  constexpr int64_t kRows[] = {0, 2, 4}, kColumns[] = {0, 0, 1, 2, 2, 3, 4};
  for (int64_t k = 0; k < 21; ++k)
    EXPECT_EQ(load(y, k).f, load(x, 5 * kRows[k / 7] + kColumns[k % 7]).f) << k;
}

// What lies between integers is cut off, as onnxruntime and ONNX's reference do.
TEST(Resize, LinearOfIntegersTruncates) {
  Value x(Type::kInt8, {1, 1, 3});
  for (const auto& [k, v] : {std::pair{0, 1}, {1, 4}, {2, -7}}) store(x, k, {.i = v});
  const Value y = run(
      R"(s = Constant<value_floats = [1.0, 1.0, 2.0]>() y = Resize<mode = "linear", coordinate_transformation_mode = "asymmetric">(x, , s))",
      "int8[1,1,3] x", {x});
  EXPECT_THAT(elements(y), testing::ElementsAre(1, 2, 4, -1, -7, -7));
}

TEST(LayerNormalization, HasAFloatMeanOfDoubles) {
  const Graph graph =
      import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g (double[2,3] x, double[3] s) =>
      (double[2,3] y, float[2,1] m, float[2,1] i) { y, m, i = LayerNormalization(x, s) })");
  for (const int k : {1, 2}) EXPECT_EQ(graph.tensors[graph.outputs[k]].type, Type::kFloat32);
}

// Models are hostile: each of these once divided by zero, overflowed or looped for long in some importer.
TEST(Operators, RefuseNonsense) {
  const char* bodies[] = {
      "y = Reshape(x, s)",
      "y = AveragePool<kernel_shape=[9223372036854775807, 1]>(x)",
      "y = MaxPool<kernel_shape=[1, 1], strides=[0, 1]>(x)",
      "y = MaxPool<kernel_shape=[2, 2], pads=[-9223372036854775808, 0, 0, 0]>(x)",
      "y = Split<num_outputs=0>(x)",
      "y = DepthToSpace<blocksize=0>(x)",
      "y = Pad(x, p)",
      "y = Transpose<perm=[0, 0, 1, 2]>(x)",
      "y = Gather<axis=9>(x, s)",
      "y = Tile(x, p)",
      "y = Einsum<equation=\"ab->ab.\">(x)",
  };
  for (const char* body : bodies) {
    const std::string text = fmt::format(R"(<ir_version: 8, opset_import: ["" : 18]>
        g (float[1, 2, 4, 4] x) => (float[unknown] y)
        <int64[3] s = {{0, 0, 9223372036854775807}},
         int64[8] p = {{-9223372036854775808, 0, 0, 0, 9223372036854775807, 0, 0, 0}}> {{ {} }})",
                                         body);
    EXPECT_THROW(import_text(text), UserError) << body;
  }
}

}  // namespace
}  // namespace arenac::operators_test
