// Arenas of published networks with groups of rows: at most what was calculated for them, with nothing
// computed twice and with a tenth of the multiply-accumulates done again (scheduling notes of the project;
// TinyTS and MCUNetV2 publish 13,824, 13,568, 9,920 and 172,000 bytes for four).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <string>

#include "driver/compile.h"
#include "frontend/import.h"
#include "frontend/rewrites.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"
#include "planner/lifetime.h"
#include "planner/planners.h"
#include "scheduler/storage.h"

namespace arenac {
namespace {

struct Figure {
  const char* model;
  int64_t once, again;  // bytes with int8 operators; float32 takes four times as many
};
void PrintTo(const Figure& figure, std::ostream* out) { *out << figure.model; }

class FusedArena : public ::testing::TestWithParam<Figure> {};

INSTANTIATE_TEST_SUITE_P(Of, FusedArena,
                         ::testing::Values(Figure{"mobilenet_v1_025_96", 12900, 10400},
                                           Figure{"resnet8", 12500, 11800}, Figure{"ds_cnn", 4400, 3850},
                                           Figure{"mobilenet_v2_035_144", 25100, 11700},
                                           Figure{"mobilenet_v2_100_224", 121400, 57700},
                                           Figure{"fsrcnn", 369000, 183000},
                                           Figure{"resnet18", 195500, 172300}),
                         [](const auto& info) { return std::string(info.param.model); });

Graph graph_of(const std::string& model) {
  const auto row = std::find_if(models::model_table().begin(), models::model_table().end(),
                                [&](const models::ModelRow& r) { return r.name == model; });
  return rewritten(import_bytes(models::serialize(row->make()), std::string(row->name)), layerwise_peak);
}

struct Found {
  int64_t arena, work, again;
};

Found found_by(const char* scheduler, const Graph& graph) {
  const Schedule schedule = scheduler_named(scheduler).schedule(graph, targets().front(), kNoDeadline);
  Found found{plan(lifetimes(schedule, Io::kExternal, 16).problem).pools[0].size, 0, work_again(schedule)};
  for (const Node& node : graph.block) found.work += multiply_accumulates(node);
  return found;
}

TEST_P(FusedArena, IsAsSmallAsCalculated) {
  const auto [model, once, again] = GetParam();
  for (int64_t factor : {1, 4}) {
    const Graph graph = graph_of(std::string(model) + (factor == 1 ? "_qop" : ""));
    const Found fused = found_by("fused", graph), smallest = found_by("smallest", graph);
    EXPECT_LE(fused.arena, factor * once);
    EXPECT_EQ(fused.again, 0);
    EXPECT_LE(smallest.arena, factor * again);
    EXPECT_LE(smallest.again, smallest.work / 10);
  }
}

// The input takes 27,648 of the bytes; what the first layers make grows over what they have read of it.
TEST(FusedArena, OfInputsIsWrittenOver) {
  const Graph graph = graph_of("mobilenet_v1_025_96_qop");
  int64_t least = INT64_MAX;
  for (const Schedule& schedule :
       schedules_to_choose_from(graph, Freedom::kSecondPasses, targets().front(), kNoDeadline, Io::kArena))
    least = std::min(least, plan(lifetimes(schedule, Io::kArena, 16).problem).pools[0].size);
  EXPECT_LE(least, 31000);
}

// The joined maps of a detector are the caller's: of what they are computed from a few rows are there, also
// where each map is quantised before.
TEST(FusedArena, OfHeadsThatTheCallerTakesIsAFewRows) {
  const auto zeros = [](const char* name, int64_t in, int64_t size) {
    const std::vector<int> values(4 * in * size * size);
    return fmt::format("float[4, {}, {}, {}] {} = {{{}}}", in, size, size, name, fmt::join(values, ", "));
  };
  const auto arena_of = [&](const char* joined) {
    const Graph graph = rewritten(
        import_text(fmt::format(
            "<ir_version: 8, opset_import: [\"\" : 17]>\n"
            "g (float[1, 2, 32, 32] x, float[1, 8, 16] z) => (float[1, 8, 1040] y)\n"
            "  <{}, {}, {}, int64[3] flat = {{1, 8, -1}}, float step = {{0.1}}, int8 zero = {{3}}> {{\n"
            "  t = Conv<pads = [1, 1, 1, 1]>(x, wt) u = Conv(t, wu) v = Conv(t, wv) s = Sigmoid(v)\n"
            "  {} f = Reshape(us, flat) y = Concat<axis = 2>(f, z)\n}}",
            zeros("wt", 2, 3), zeros("wu", 4, 1), zeros("wv", 4, 1), joined)),
        layerwise_peak);
    return found_by("fused", graph).arena;
  };
  constexpr int64_t kRow = 4 * 32 * 4;  // bytes of t
  EXPECT_LE(arena_of("us = Concat<axis = 1>(u, s)"), 2 * kRow);
  EXPECT_LE(arena_of("u8 = QuantizeLinear(u, step, zero) ud = DequantizeLinear(u8, step, zero)\n"
                     "s8 = QuantizeLinear(s, step, zero) sd = DequantizeLinear(s8, step, zero)\n"
                     "us = Concat<axis = 1>(ud, sd)"),
            3 * kRow);
}

// An image that the caller takes, made better curve after curve: the images between lie by pixels as their
// curves do, not by planes where the caller's will be, and of all a few rows are there.
TEST(FusedArena, OfAnImageMadeBetterStepByStepIsAFewRows) {
  constexpr int64_t kSize = 32, kCurves = 9;
  const auto ones = [&](const char* name, int64_t channels) {
    const std::vector<float> values(kCurves * channels * 9, 0.5f);
    return fmt::format("float[{}, {}, 3, 3] {} = {{{}}}", kCurves, channels, name, fmt::join(values, ", "));
  };
  const Graph graph = rewritten(
      import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                              "g (float[1, 3, {0}, {0}] x) => (float[1, 3, {0}, {0}] y) <{1}, {2}> {{\n"
                              "  h = Conv<pads = [1, 1, 1, 1]>(x, wh) c = Conv<pads = [1, 1, 1, 1]>(h, wc)\n"
                              "  c1, c2, c3 = Split<axis = 1>(c)\n"
                              "  m1 = Mul(x, c1) y1 = Add(x, m1) m2 = Mul(y1, c2) y2 = Add(y1, m2)\n"
                              "  m3 = Mul(y2, c3) y = Add(y2, m3)\n}}",
                              kSize, ones("wh", 3), ones("wc", kCurves))),
      layerwise_peak);
  EXPECT_LE(found_by("fused", graph).arena, 6 * kSize * kCurves * 4);
}

// Boxes of a detector with two anchors a pixel, which the caller takes anchor after anchor: they come row by
// row of the image.
TEST(FusedArena, OfBoxesThatTheCallerTakesByAnchorsIsAFewRows) {
  const std::vector<int> ones(10 * 2 * 9, 1);
  const Graph graph = rewritten(
      import_text(fmt::format(
          "<ir_version: 8, opset_import: [\"\" : 17]>\n"
          "g (float[1, 2, 16, 16] x, float[1, 8, 5] z) => (float[1, 520, 5] y)\n"
          "  <float[10, 2, 3, 3] w = {{{}}}, int64[5] apart = {{1, 2, 5, 16, 16}}, int64[2] parts = {{2, "
          "3}},\n"
          "   int64[3] flat = {{1, 512, 5}}, float two = {{2}}> {{\n"
          "  t = Conv<pads = [1, 1, 1, 1]>(x, w) r = Reshape(t, apart) p = Transpose<perm = [0, 1, 3, 4, "
          "2]>(r)\n"
          "  s = Sigmoid(p) a, b = Split<axis = 4>(s, parts) m = Mul(a, two) c = Concat<axis = 4>(m, b)\n"
          "  f = Reshape(c, flat) y = Concat<axis = 1>(f, z)\n}}",
          fmt::join(ones, ", "))),
      layerwise_peak);
  EXPECT_LE(found_by("fused", graph).arena, 3 * 16 * 10 * 4);
}

// Each moment takes the mean over the frequencies of that moment and its neighbours: by columns a few moments
// are there, by rows all of the spectrum.
TEST(FusedArena, OfMeansOverColumnsIsAFewColumns) {
  const auto ones = [](const char* name, const std::vector<int64_t>& shape) {
    const std::vector<float> values(element_count(shape), 0.5f);
    return fmt::format("float[{}] {} = {{{}}}", fmt::join(shape, ", "), name, fmt::join(values, ", "));
  };
  constexpr int64_t kFrequencies = 16, kMoments = 100, kChannels = 4;
  const Graph graph = rewritten(
      import_text(fmt::format(
          "<ir_version: 8, opset_import: [\"\" : 17]>\n"
          "g (float[1, 1, {0}, {1}] x) => (float[1, {2}, {0}, {1}] y)\n"
          "  <{3}, {4}, {5}> {{\n"
          "  a = Conv<pads = [1, 1, 1, 1]>(x, wa) m = ReduceMean<axes = [2]>(a)\n"
          "  t = Conv<pads = [0, 1, 0, 1]>(m, wt) b = Add(a, t) y = Conv<pads = [1, 1, 1, 1]>(b, wy)\n}}",
          kFrequencies, kMoments, kChannels, ones("wa", {kChannels, 1, 3, 3}),
          ones("wt", {kChannels, kChannels, 1, 3}), ones("wy", {kChannels, kChannels, 3, 3}))),
      layerwise_peak);
  EXPECT_LE(found_by("fused", graph).arena, 8 * kFrequencies * kChannels * 4);
}

// Arenas of ../shared/memory by --optimize, at most as many cycles more than whole layers where that says so.
void expect_arenas(Optimize optimize, double slowdown, const std::map<std::string, int64_t>& most) {
  const std::filesystem::path folder = std::filesystem::path(ARENAC_ROOT) / "../shared/memory";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "../shared/memory is absent";
  for (const auto& [name, bytes] : most) {
    CompileOptions options;
    options.model = (folder / (name + ".onnx")).string();
    options.verbosity = Verbosity::kQuiet;
    options.optimize = optimize;
    options.slowdown = slowdown;
    EXPECT_LE(compile(options).map.totals.arena, bytes) << name;
  }
}

// A few rows, or keys and values, whatever that takes of time.
TEST(SharedNetworks, AreAsSmallAsCalculated) {
  expect_arenas(Optimize::kBalanced, std::numeric_limits<double>::infinity(),
                {{"add_skip_q", 6432},
                 {"at_1h", 140000},
                 {"at_heads_in", 140000},
                 {"attn1", 140000},
                 {"cat_dense3_q", 20000},
                 {"cat_fire_q", 13000},
                 {"cat_skip_q", 13000},
                 {"cat_up_q", 24000},
                 {"flat_a_q", 700},
                 {"flat_b_q", 700},
                 {"flat_d_q", 700},
                 {"lstm_kws", 4000},
                 {"mcunet_in0_q", 10700},
                 {"mcunet_vww1_q", 12800}});
}

// Sums of fully connected layers are in registers for a row, chunks as wide as that takes. Heads run one
// after the other, a few tokens each.
TEST(SharedNetworks, AreHardlyLargerInLittleTime) {
  expect_arenas(Optimize::kBalanced, CompileOptions().slowdown,
                {{"add_skip_q", 6432},
                 {"at_1h", 140000},
                 {"at_heads_in", 4200},
                 {"attn1", 140000},
                 {"cat_dense3_q", 20000},
                 {"cat_fire_q", 13000},
                 {"cat_skip_q", 13000},
                 {"cat_up_q", 24000},
                 {"flat_a_q", 700},
                 {"flat_b_q", 700},
                 {"flat_d_q", 700},
                 {"mcunet_in0_q", 10700},
                 {"mini_mb7_h5_q", 6240}});
}

// Windows computed again in chunks of a column, and planes of expansions on small images.
TEST(SharedNetworks, AreSmallerWithATenthDoneAgain) {
  expect_arenas(Optimize::kRam, 0, {{"mcunet_in0_q", 9100}, {"mcunet_vww1_q", 10400}});
}

}  // namespace
}  // namespace arenac
