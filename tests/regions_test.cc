// Operators whose reading positions are data, and others without cases of ONNX's own, against plain loops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac::regions_test {
namespace {

using testing::ElementsAre;

Value random_value(Shape shape, int seed, double low = -1, double high = 1) {
  std::mt19937 engine(seed);
  Value value(Type::kFloat32, std::move(shape));
  for (int64_t k = 0; k < value.count(); ++k)
    store(value, k, {.f = low + (high - low) * static_cast<double>(engine() % 1024) / 1024});
  return value;
}

double at(const Value& v, const std::vector<int64_t>& index) {
  int64_t linear = 0;
  for (size_t d = 0; d < index.size(); ++d) linear = linear * v.shape[d] + index[d];
  return convert(Type::kFloat64, v.type, load(v, linear)).f;
}

std::vector<double> numbers(const Value& value) {
  std::vector<double> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kFloat64, value.type, load(value, k)).f);
  return all;
}

// Output k of a graph whose outputs are y0, y1, ...
Value run(const std::string& signature, const std::string& body, const std::vector<Value>& inputs, int k = 0,
          int opset = 22) {
  std::string outputs;
  for (int o = 0; o <= k; ++o) outputs += fmt::format("{}float y{}", o ? ", " : "", o);
  const Graph graph = import_text(
      fmt::format("<ir_version: 8, opset_import: [\"\" : {}, \"ai.onnx.ml\" : 5]> g ({}) => ({}) {{ {} }}",
                  opset, signature, outputs, body));
  return *interpret(graph, inputs)[graph.outputs[k]];
}

// x[c] at (y, e) between its elements; `zero` where a neighbour is outside, else the border is repeated.
enum class Outside { kZero, kBorder };
double between(const Value& x, int64_t n, int64_t c, double y, double e, Outside outside) {
  double sum = 0;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      int64_t row = static_cast<int64_t>(std::floor(y)) + i, column = static_cast<int64_t>(std::floor(e)) + j;
      const double weight = (i ? y - std::floor(y) : 1 - (y - std::floor(y))) *
                            (j ? e - std::floor(e) : 1 - (e - std::floor(e)));
      const bool inside = row >= 0 && row < x.shape[2] && column >= 0 && column < x.shape[3];
      if (outside == Outside::kZero && !inside) continue;
      row = std::clamp<int64_t>(row, 0, x.shape[2] - 1),
      column = std::clamp<int64_t>(column, 0, x.shape[3] - 1);
      sum += weight * at(x, {n, c, row, column});
    }
  return sum;
}

// The average of a region's bin, sample by sample.
double aligned(const Value& x, const Value& regions, int64_t r, int64_t c, const int64_t bin[2],
               const int64_t bins[2], int64_t ratio, bool half) {
  double begin[2], size[2];
  int64_t grid[2];
  for (int d = 0; d < 2; ++d) {
    begin[d] = at(regions, {r, 1 - d}) - (half ? 0.5 : 0);
    size[d] = at(regions, {r, 3 - d}) - at(regions, {r, 1 - d});
    if (!half) size[d] = std::max(size[d], 1.0);
    size[d] /= static_cast<double>(bins[d]);
    grid[d] = ratio > 0 ? ratio : std::max<int64_t>(static_cast<int64_t>(std::ceil(size[d])), 0);
  }
  double sum = 0;
  for (int64_t i = 0; i < grid[0]; ++i)
    for (int64_t j = 0; j < grid[1]; ++j) {
      const double y = begin[0] + size[0] * (static_cast<double>(bin[0]) +
                                             (static_cast<double>(i) + 0.5) / static_cast<double>(grid[0]));
      const double e = begin[1] + size[1] * (static_cast<double>(bin[1]) +
                                             (static_cast<double>(j) + 0.5) / static_cast<double>(grid[1]));
      if (y < -1 || y > static_cast<double>(x.shape[2]) || e < -1 || e > static_cast<double>(x.shape[3]))
        continue;
      sum += between(x, r % 2, c, std::max(y, 0.0), std::max(e, 0.0), Outside::kBorder);
    }
  return sum / static_cast<double>(std::max<int64_t>(grid[0] * grid[1], 1));
}

TEST(RoiAlign, MatchesItsDefinition) {
  const Value x = random_value({2, 2, 5, 7}, 1);
  // Inside, across the border, small, far larger than the image, turned round, elsewhere.
  const Value regions = floats({6, 4}, {1,   0.5, 4,  3.25, -2.1, -3.2, 3, 2, 2,  2,  2.5, 2.25,
                                        -40, -30, 50, 60,   4,    4,    2, 1, 90, 90, 99,  99});
  const Value images = integers({6}, {0, 1, 0, 1, 0, 1});
  const int64_t bins[2] = {3, 2};
  for (const int64_t ratio : {0, 1, 2, 3})
    for (const bool half : {false, true}) {
      const Value y =
          run("float[2,2,5,7] x, float[6,4] r, int64[6] i",
              fmt::format("y0 = RoiAlign<output_height = 3, output_width = 2, sampling_ratio = {}, "
                          "coordinate_transformation_mode = \"{}\">(x, r, i)",
                          ratio, half ? "half_pixel" : "output_half_pixel"),
              {x, regions, images});
      ASSERT_EQ(y.shape, (Shape{6, 2, 3, 2}));
      for (int64_t r = 0; r < 6; ++r)
        for (int64_t c = 0; c < 2; ++c)
          for (int64_t i = 0; i < 3; ++i)
            for (int64_t j = 0; j < 2; ++j) {
              const int64_t bin[2] = {i, j};
              EXPECT_NEAR(at(y, {r, c, i, j}), aligned(x, regions, r, c, bin, bins, ratio, half), 1e-4)
                  << r << " " << i << " " << j << " ratio " << ratio << " half " << half;
            }
    }
}

TEST(RoiAlign, EndsWhateverTheRegion) {
  const Value x = random_value({1, 1, 4, 4}, 1);
  for (const double v : std::initializer_list<double>{1e30, -1e30, INFINITY, -INFINITY, NAN, 1e9})
    for (const double w : std::initializer_list<double>{1e30, 0.0, INFINITY, NAN, -1e9}) {
      const Value y =
          run("float[1,1,4,4] x, float[1,4] r, int64[1] i", "y0 = RoiAlign<sampling_ratio = 0>(x, r, i)",
              {x, floats({1, 4}, {v, w, w, v}), integers({1}, {-7})});
      EXPECT_EQ(y.shape, (Shape{1, 1, 1, 1}));
    }
}

TEST(MaxRoiPool, MatchesItsDefinition) {
  const Value x = random_value({2, 2, 6, 5}, 2);
  const Value regions = floats({4, 5}, {0, 0, 0, 4, 5, 1, 1, 2, 3, 3, 1, 3, 4, 9, 9, 0, -9, -9, -5, -6});
  const Value y = run("float[2,2,6,5] x, float[4,5] r",
                      "y0 = MaxRoiPool<pooled_shape = [3, 2], spatial_scale = 0.75>(x, r)", {x, regions});
  ASSERT_EQ(y.shape, (Shape{4, 2, 3, 2}));
  const auto edges = [&](int64_t r, int64_t first, int64_t bin, int64_t bins, int64_t extent) {
    const double begin = std::round(at(regions, {r, first}) * 0.75),
                 end = std::round(at(regions, {r, first + 2}) * 0.75);
    const double size = std::max(end - begin + 1, 1.0) / static_cast<double>(bins);
    const auto clamped = [&](double v) {
      return std::clamp<int64_t>(static_cast<int64_t>(v + begin), 0, extent);
    };
    return std::pair(clamped(std::floor(static_cast<double>(bin) * size)),
                     clamped(std::ceil(static_cast<double>(bin + 1) * size)));
  };
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 2; ++j) {
          const auto rows = edges(r, 2, i, 3, 6), columns = edges(r, 1, j, 2, 5);
          double most = -INFINITY;
          for (int64_t a = rows.first; a < rows.second; ++a)
            for (int64_t b = columns.first; b < columns.second; ++b)
              most = std::max(most, at(x, {static_cast<int64_t>(at(regions, {r, 0})), c, a, b}));
          EXPECT_FLOAT_EQ(at(y, {r, c, i, j}), most == -INFINITY ? 0 : most) << r << " " << i << " " << j;
        }
}

TEST(DeformConv, MatchesItsDefinition) {
  for (const int64_t groups : {1, 2})
    for (const int64_t offset_groups : {1, 2, 4})
      for (const bool masked : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", groups, offset_groups, masked));
        constexpr int64_t kRows = 4, kColumns = 2;  // of the output
        const Value x = random_value({2, 4, 7, 6}, 1), w = random_value({6, 4 / groups, 2, 3}, 2),
                    offset = random_value({2, offset_groups * 12, kRows, kColumns}, 3, -3, 3),
                    b = random_value({6}, 4), mask = random_value({2, offset_groups * 6, kRows, kColumns}, 5);
        std::vector<Value> inputs = {x, w, offset, b};
        if (masked) inputs.push_back(mask);
        const Value y =
            run(fmt::format("float[2,4,7,6] x, float[6,{},2,3] w, float[2,{},4,2] o, float[6] b{}",
                            4 / groups, offset_groups * 12,
                            masked ? fmt::format(", float[2,{},4,2] m", offset_groups * 6) : ""),
                fmt::format("y0 = DeformConv<group = {}, offset_group = {}, pads = [1, 0, 1, 1], "
                            "strides = [2, 2], dilations = [1, 2]>(x, w, o, b{})",
                            groups, offset_groups, masked ? ", m" : ""),
                inputs);
        ASSERT_EQ(y.shape, (Shape{2, 6, kRows, kColumns}));
        for (int64_t n = 0; n < 2; ++n)
          for (int64_t m = 0; m < 6; ++m)
            for (int64_t i = 0; i < kRows; ++i)
              for (int64_t j = 0; j < kColumns; ++j) {
                double sum = at(b, {m});
                for (int64_t c = 0; c < 4 / groups; ++c)
                  for (int64_t tap = 0; tap < 6; ++tap) {
                    const int64_t channel = m / (6 / groups) * (4 / groups) + c,
                                  g = channel / (4 / offset_groups), k = g * 6 + tap;
                    const double row =
                        static_cast<double>(i * 2 - 1 + tap / 3) + at(offset, {n, 2 * k, i, j});
                    const double column =
                        static_cast<double>(j * 2 + tap % 3 * 2) + at(offset, {n, 2 * k + 1, i, j});
                    sum += at(w, {m, c, tap / 3, tap % 3}) * (masked ? at(mask, {n, k, i, j}) : 1) *
                           between(x, n, channel, row, column, Outside::kZero);
                  }
                EXPECT_NEAR(at(y, {n, m, i, j}), sum, 1e-4);
              }
      }
}

TEST(TensorScatter, WritesFromEachBatchesIndexOn) {
  const Value cache = floats({2, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7}),
              update = floats({2, 2, 1}, {10, 11, 12, 13});
  const auto scattered = [&](const std::string& mode, int64_t first, int64_t second) {
    return numbers(run("float[2,4,1] c, float[2,2,1] u, int64[2] i",
                       fmt::format("y0 = TensorScatter<mode = \"{}\">(c, u, i)", mode),
                       {cache, update, integers({2}, {first, second})}, 0, 24));
  };
  EXPECT_THAT(scattered("linear", 0, 2), ElementsAre(10, 11, 2, 3, 4, 5, 12, 13));
  EXPECT_THAT(scattered("linear", 99, -99), ElementsAre(0, 1, 10, 11, 12, 13, 6, 7));  // held inside
  EXPECT_THAT(scattered("circular", 3, 5), ElementsAre(11, 1, 2, 10, 4, 12, 13, 7));
  EXPECT_THAT(scattered("circular", -1, 1), ElementsAre(11, 1, 2, 10, 4, 12, 13, 7));
}

TEST(TfIdfVectorizer, WeighsItsCounts) {
  const Value x = integers({2, 6}, {1, 2, 1, 3, 2, 1, 7, 7, 7, 2, 1, 2});
  const auto counted = [&](const std::string& mode) {
    return numbers(
        run("int64[2,6] x",
            fmt::format("y0 = TfIdfVectorizer<mode = \"{}\", min_gram_length = 1, max_gram_length = 2, "
                        "max_skip_count = 1, ngram_counts = [0, 2], ngram_indexes = [2, 0, 3, 5], "
                        "pool_int64s = [1, 7, 2, 1, 7, 7], weights = [0.5, 2.0, -1.0, 3.0]>(x)",
                        mode),
            {x}));
  };
  // Columns: 7 alone, -, 1 alone, 2 then 1 with at most one word between, -, 7 then 7.
  EXPECT_THAT(counted("TF"), ElementsAre(0, 0, 3, 2, 0, 0, 3, 0, 1, 1, 0, 3));
  EXPECT_THAT(counted("IDF"), ElementsAre(0, 0, 0.5, -1, 0, 0, 2, 0, 0.5, -1, 0, 3));
  EXPECT_THAT(counted("TFIDF"), ElementsAre(0, 0, 1.5, -2, 0, 0, 6, 0, 0.5, -1, 0, 9));
}

TEST(BatchNormalization, TrainsAsItsOpsetDoes) {
  const Value x = random_value({3, 2, 4}, 1), scale = random_value({2}, 2), bias = random_value({2}, 3),
              mean = random_value({2}, 4), variance = random_value({2}, 5, 1, 2);
  const std::string signature = "float[3,2,4] x, float[2] s, float[2] b, float[2] m, float[2] v";
  const std::vector<Value> inputs = {x, scale, bias, mean, variance};
  for (int64_t c = 0; c < 2; ++c) {
    double m = 0, v = 0;
    for (int64_t k = 0; k < 12; ++k) m += at(x, {k / 4, c, k % 4}) / 12;
    for (int64_t k = 0; k < 12; ++k) v += std::pow(at(x, {k / 4, c, k % 4}) - m, 2) / 12;
    const double expected[] = {0, at(mean, {c}) * 0.75 + m * 0.25, at(variance, {c}) * 0.75 + v * 0.25, m, v};
    for (const int opset : {7, 9, 15}) {
      const bool old = opset < 14;
      const std::string body =
          fmt::format("y0, y1, y2{} = BatchNormalization<momentum = 0.75{}>(x, s, b, m, v)",
                      old ? ", y3, y4" : "", old ? "" : ", training_mode = 1");
      for (int k = 1; k < (old ? 5 : 3); ++k)
        EXPECT_NEAR(at(run(signature, body, inputs, k, opset), {c}), expected[k], 1e-5) << opset << " " << k;
      const Value y = run(signature, body, inputs, 0, opset);
      for (int64_t k = 0; k < 12; ++k)
        EXPECT_NEAR(at(y, {k / 4, c, k % 4}),
                    (at(x, {k / 4, c, k % 4}) - m) / std::sqrt(v + 1e-5) * at(scale, {c}) + at(bias, {c}),
                    1e-4);
    }
  }
}

TEST(BatchNormalization, OfEachPlace) {
  const Value x = random_value({3, 2, 2}, 1), scale = random_value({2, 2}, 2), bias = random_value({2, 2}, 3),
              mean = random_value({2, 2}, 4), variance = random_value({2, 2}, 5, 1, 2);
  const Value y =
      run("float[3,2,2] x, float[2,2] s, float[2,2] b, float[2,2] m, float[2,2] v",
          "y0 = BatchNormalization<spatial = 0>(x, s, b, m, v)", {x, scale, bias, mean, variance}, 0, 7);
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t k = 0; k < 4; ++k)
      EXPECT_NEAR(at(y, {n, k / 2, k % 2}),
                  (at(x, {n, k / 2, k % 2}) - load(mean, k).f) / std::sqrt(load(variance, k).f + 1e-5) *
                          load(scale, k).f +
                      load(bias, k).f,
                  1e-5);
}

// The text form has no NaN: 99 stands for one.
Graph import_with_nans(const std::string& text) {
  onnx::ModelProto model;
  onnx::OnnxParser(text.c_str()).Parse(model);
  for (onnx::AttributeProto& attribute : *model.mutable_graph()->mutable_node(0)->mutable_attribute())
    if (attribute.has_t())
      for (float& v : *attribute.mutable_t()->mutable_float_data())
        if (v == 99) v = NAN;
  return import_bytes(model.SerializeAsString(), "text");
}

// Two trees; the second asks for members of the sets {1, 3, 7} and {2}.
TEST(TreeEnsemble, AsksForMembersOfSets) {
  const auto scores = [&](int how) {
    const Graph graph = import_with_nans(fmt::format(
        R"(<ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 5]> g (float[5, 2] x) => (float y) {{
          y = ai.onnx.ml.TreeEnsemble<n_targets = 2, aggregate_function = {}, tree_roots = [0, 1],
            nodes_featureids = [0, 1, 1], nodes_modes = uint8[3] {{0, 6, 6}}, nodes_splits = float[3] {{0.5, 0, 0}},
            membership_values = float[6] {{1, 3, 7, 99, 2, 99}}, nodes_missing_value_tracks_true = [0, 0, 1],
            nodes_truenodeids = [0, 2, 3], nodes_trueleafs = [1, 1, 1], nodes_falsenodeids = [1, 2, 4],
            nodes_falseleafs = [1, 0, 1], leaf_targetids = [0, 0, 0, 1, 0],
            leaf_weights = float[5] {{1, 2, 4, 8, 16}}>(x) }})",
        how));
    const Value x = floats({5, 2}, {0, 3, 1, 7, 1, 2, 0, 5, 0, NAN});
    return numbers(*interpret(graph, {x})[graph.outputs[0]]);
  };
  EXPECT_THAT(scores(1), ElementsAre(5, 0, 6, 0, 2, 8, 17, 0, 1, 8));
  EXPECT_THAT(scores(0), ElementsAre(2.5, 0, 3, 0, 1, 4, 8.5, 0, 0.5, 4));
  EXPECT_THAT(scores(2), ElementsAre(1, 0, 2, 0, 2, 8, 1, 0, 1, 8));
  EXPECT_THAT(scores(3), ElementsAre(4, 0, 4, 0, 2, 8, 16, 0, 1, 8));
}

}  // namespace
}  // namespace arenac::regions_test
