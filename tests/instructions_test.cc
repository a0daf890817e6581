// Instructions per multiply-accumulate on microcontrollers stay under ceilings, and the results are this
// machine's. The figures are exact and the same in every run (tests/boards/boards.h); `./dev bench cortex`
// has more of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <regex>
#include <tuple>

#include "codegen/cycles.h"
#include "driver/compare.h"
#include "driver/run.h"
#include "tests/boards/boards.h"
#include "tests/boards/measured_models.h"

namespace arenac {
namespace {

// Instructions per multiply-accumulate at -O2, `--target` as in the table of cores. A ceiling is about 3 %
// above the figure of the day it was set: slower code fails, and so does code that is much faster, for then
// the ceiling is to be lowered.
constexpr double kMargin = 1.03, kLowest = 0.85;

struct Ceiling {
  const char* core;
  const char* model;
  Optimize optimize;
  double instructions;
  bool foreseen = false;  // by the cost model, within 15 %
};
void PrintTo(const Ceiling& row, std::ostream* out) {
  *out << row.core << ", " << row.model;
}  // for GoogleTest

// clang-format off
constexpr Ceiling kCeilings[] = {
    {"m4", "conv3x3_int8",       Optimize::kSpeed,    1.78},
    {"m4", "conv1x1_int8",       Optimize::kSpeed,    1.87},
    {"m4", "depthwise3x3_int8",  Optimize::kSpeed,    6.32},
    {"m4", "dense_int8",         Optimize::kSpeed,    1.77},
    {"m4", "conv3x3_odd_int8",   Optimize::kSpeed,    4.08},
    {"m4", "conv3x3_float",      Optimize::kSpeed,    3.40},
    {"m4", "conv1x1_float",      Optimize::kSpeed,    2.84},
    {"m4", "depthwise3x3_float", Optimize::kSpeed,    6.02},
    {"m4", "dense_float",        Optimize::kSpeed,    3.36},
    {"m4", "conv3x3_odd_float",  Optimize::kSpeed,    4.31},
    {"m4", "ds_cnn_int8",        Optimize::kSpeed,    2.40, true},
    {"m4", "ds_cnn_int8",        Optimize::kBalanced, 2.91, true},
    {"m4", "resnet8_int8",       Optimize::kSpeed,    2.07, true},
    {"m4", "resnet8_int8",       Optimize::kBalanced, 2.21, true},
    {"m4", "mobilenet_v1_025_96_int8",  Optimize::kSpeed,    2.77, true},
    {"m4", "mobilenet_v1_025_96_int8",  Optimize::kBalanced, 2.94, true},
    {"m4", "mobilenet_v2_035_144_int8", Optimize::kSpeed,    3.30, true},
    {"m4", "mobilenet_v2_035_144_int8", Optimize::kBalanced, 3.57, true},
    {"m4", "ds_cnn_float",       Optimize::kBalanced, 3.78},
    {"m3", "conv1x1_int8",       Optimize::kSpeed,    4.50},
    {"m3", "ds_cnn_int8",        Optimize::kSpeed,    3.93, true},
    {"rv32imac", "conv1x1_int8", Optimize::kSpeed,    3.91},
    {"m55", "conv3x3_int8",      Optimize::kSpeed,    0.33},
    {"m55", "conv1x1_int8",      Optimize::kSpeed,    0.40},
    {"m55", "depthwise3x3_int8", Optimize::kSpeed,    2.60},
    {"m55", "dense_int8",        Optimize::kSpeed,    0.49},
    {"m55", "ds_cnn_int8",       Optimize::kSpeed,    0.98, true},
    {"m55", "ds_cnn_int8",       Optimize::kBalanced, 1.31, true},
    {"m55", "resnet8_int8",      Optimize::kSpeed,    0.57, true},
    {"m55", "resnet8_int8",      Optimize::kBalanced, 0.75, true},
    {"m55", "ds_cnn_float",      Optimize::kBalanced, 3.67},
    {"m0", "ds_cnn_int8",        Optimize::kBalanced, 11.90},
};
// clang-format on

const MeasuredModel& model_named(const std::string& name) {
  for (const auto& models : {measured_layers(), measured_networks()})
    for (const MeasuredModel& model : models)
      if (model.name == name) return model;
  throw std::invalid_argument("no measured model is called " + name);
}

struct Instructions : testing::TestWithParam<Ceiling> {};

TEST_P(Instructions, StayUnderTheirCeilingWithTheResultsOfThisMachine) {
  const Ceiling& row = GetParam();
  const Core& core = *find_core(row.core);
  if (!is_installed(core)) GTEST_SKIP() << core.compiler << " or " << core.emulator << " is not installed";
  const Compilation c = compile_for_board(model_named(row.model).make(), core.target, row.optimize);
  const std::vector<Value> inputs = seeded_inputs(c, {});
  const Measured board = measure(c, inputs[0], core, "-O2");
  EXPECT_EQ(difference(board.output, build_and_run(c, inputs, {}).outputs[0], kSameResult), std::nullopt);
  const double figure = static_cast<double>(board.instructions) / static_cast<double>(c.map.totals.macs);
  if (row.foreseen) {
    const std::vector<double> cycles =
        cycles_of(lower(c.schedule, c.lifetimes, c.plan), target_named(core.target));
    const double cost = std::accumulate(cycles.begin(), cycles.end(), 0.0);
    EXPECT_NEAR(cost / static_cast<double>(board.instructions), 1, 0.15) << "by the cost model";
  }
  EXPECT_LE(figure, row.instructions) << "slower than it was";
  EXPECT_GE(figure, row.instructions * kLowest)
      << "faster than it was: set its ceiling to " << fmt::format("{:.2f}", figure * kMargin);
}

INSTANTIATE_TEST_SUITE_P(PerMultiplyAccumulate, Instructions, testing::ValuesIn(kCeilings),
                         [](const auto& test) {
                           const Ceiling& row = test.param;
                           return fmt::format("{}_{}_{}", row.core, row.model,
                                              row.optimize == Optimize::kSpeed ? "speed" : "balanced");
                         });

// At -Os a Cortex-M4 executes at most so many times the instructions of -O2.
constexpr double kMostAtOs = 1.3;

struct SmallCode : testing::TestWithParam<std::tuple<std::string, Optimize>> {};

TEST_P(SmallCode, IsNotMuchSlower) {
  const auto& [model, optimize] = GetParam();
  const Core& core = *find_core("m4");
  if (!is_installed(core)) GTEST_SKIP() << core.compiler << " or " << core.emulator << " is not installed";
  const Compilation c = compile_for_board(model_named(model).make(), core.target, optimize);
  const Value input = seeded_inputs(c, {})[0];
  const auto instructions = [&](const char* level) {
    return static_cast<double>(measure(c, input, core, level).instructions);
  };
  EXPECT_LE(instructions("-Os") / instructions("-O2"), kMostAtOs);
}

INSTANTIATE_TEST_SUITE_P(Of, SmallCode,
                         testing::Combine(testing::Values("ds_cnn_int8", "resnet8_int8",
                                                          "mobilenet_v1_025_96_int8",
                                                          "mobilenet_v2_035_144_int8"),
                                          testing::Values(Optimize::kSpeed, Optimize::kBalanced)),
                         [](const auto& test) {
                           return std::get<0>(test.param) +
                                  (std::get<1>(test.param) == Optimize::kSpeed ? "_speed" : "_balanced");
                         });

// A run on a board says what it and each of its steps takes, as `arenac run --on` prints it: the same that a
// program without hooks counts, and what is outside of all steps is little.
TEST(Profile, SumsUpToTheInstructionsOfARun) {
  const Core& core = *find_core("m4");
  if (!is_installed(core)) GTEST_SKIP() << core.compiler << " or " << core.emulator << " is not installed";
  const Compilation c = compile_for_board(model_named("ds_cnn_int8").make(), core.target, Optimize::kSpeed);
  const std::vector<Value> inputs = seeded_inputs(c, {});
  const RunResult board = build_and_run(c, inputs, {.program = {.board = &core, .profile = true}});
  const RunResult here = build_and_run(c, inputs, {});
  EXPECT_EQ(difference(board.outputs[0], here.outputs[0], kSameResult), std::nullopt);
  const auto run = static_cast<double>(measure(c, inputs[0], core, "-O2").instructions);
  const double steps = std::accumulate(board.spent.begin() + 1, board.spent.end(), 0.0);
  EXPECT_NEAR(board.spent[0] / run, 1, 0.01);
  EXPECT_NEAR(steps / run, 1, 0.01);
}

// Without floating point in hardware an int8 network calls none in software.
struct SoftFloat : testing::TestWithParam<std::string> {};

TEST_P(SoftFloat, IsNotCalledByAnInt8Network) {
  const Core& core = *find_core(GetParam());
  if (!is_installed(core)) GTEST_SKIP() << core.compiler << " or " << core.emulator << " is not installed";
  const std::regex soft_float("__aeabi_(c?[fd]|u?[il]2|h2).*|__(float|fix).*|__[a-z]+[sdt]f[23]?");
  for (const char* model : {"ds_cnn_int8", "resnet8_int8"}) {
    const Compilation c = compile_for_board(model_named(model).make(), core.target, Optimize::kBalanced);
    for (const std::string& name : measure(c, seeded_inputs(c, {})[0], core, "-O2").needed)
      EXPECT_FALSE(std::regex_match(name, soft_float)) << model << " calls " << name;
  }
}

INSTANTIATE_TEST_SUITE_P(On, SoftFloat, testing::Values("m0", "m3", "rv32imac"),
                         [](const auto& test) { return test.param; });

// Bytes of machine code at -Os, `--target cortex-m4`; held from both sides as the instructions are.
struct CodeCeiling {
  const char* model;
  Optimize optimize;
  int64_t bytes;
};
void PrintTo(const CodeCeiling& row, std::ostream* out) { *out << row.model; }  // for GoogleTest

constexpr CodeCeiling kCodeCeilings[] = {
    {"ds_cnn_int8", Optimize::kSpeed, 4190},
    {"ds_cnn_int8", Optimize::kBalanced, 5090},
    {"mobilenet_v2_035_144_int8", Optimize::kSpeed, 8240},
    {"mobilenet_v2_035_144_int8", Optimize::kBalanced, 15000},
    {"mobilenet_v1_025_96_float", Optimize::kSpeed, 6010},
    {"mobilenet_v1_025_96_float", Optimize::kBalanced, 11800},
};

struct CodeBytes : testing::TestWithParam<CodeCeiling> {};

TEST_P(CodeBytes, StayUnderTheirCeiling) {
  const CodeCeiling& row = GetParam();
  const Core& core = *find_core("m4");
  if (!is_installed(core)) GTEST_SKIP() << core.compiler << " or " << core.emulator << " is not installed";
  const Compilation c = compile_for_board(model_named(row.model).make(), core.target, row.optimize);
  const auto bytes = static_cast<double>(measure(c, seeded_inputs(c, {})[0], core, "-Os").text);
  EXPECT_LE(bytes, row.bytes) << "more than it was";
  EXPECT_GE(bytes, static_cast<double>(row.bytes) * kLowest)
      << "less than it was: set its ceiling to " << fmt::format("{:.0f}", bytes * kMargin);
}

INSTANTIATE_TEST_SUITE_P(AtOs, CodeBytes, testing::ValuesIn(kCodeCeilings), [](const auto& test) {
  return fmt::format("{}_{}", test.param.model,
                     test.param.optimize == Optimize::kSpeed ? "speed" : "balanced");
});

}  // namespace
}  // namespace arenac
