// What tests of calls of CMSIS-NN share: who computes the calls, and layers that become one.
//
// The functions are those of tests/cmsis_nn, which round as the library does or, with -DONE_ROUNDING, as our
// kernels do; where the environment has a CMSIS_NN_DIR, the library's own.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <span>

#include "driver/compare.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "models/model_table.h"
#include "tests/firmware.h"

namespace arenac {

inline const std::string kStandIn = ARENAC_ROOT "/tests/cmsis_nn";

// What computes the calls.
enum class Library { kGiven, kOneRounding };

// The library's own objects, made once: those of other functions may lack what they call.
inline std::string flags_of_library(const std::string& folder) {
  static const TemporaryFolder objects;
  static const Finished built = run_process(
      {"sh", "-c",
       fmt::format("cc -O2 -ffunction-sections -I{0}/Include -c {0}/Source/ConvolutionFunctions/*.c "
                   "{0}/Source/FullyConnectedFunctions/*.c {0}/Source/NNSupportFunctions/*.c ",
                   folder)},
      objects.path(), 600);
  if (built.status != 0) throw UserError(fmt::format("CMSIS_NN_DIR={}: {}", folder, built.output));
  std::string flags = fmt::format("-O1 -I{}/Include -Wl,--gc-sections", folder);
  for (const auto& entry : std::filesystem::directory_iterator(objects.path()))
    flags += " " + entry.path().string();
  return flags;
}

inline std::string flags_of(Library library) {
  const char* given = getenv("CMSIS_NN_DIR");
  if (library == Library::kGiven && given) return flags_of_library(given);
  return fmt::format("-O1 -I{} -I{} {}/arm_nnfunctions.c{}", ARENAC_ROOT, kStandIn, kStandIn,
                     library == Library::kOneRounding ? " -DONE_ROUNDING" : "");
}

// The functions that the C calls, in order.
inline std::vector<std::string> calls_in(const Compilation& c) {
  const auto file = std::ranges::find(c.files, c.name + ".c", &File::name);
  const std::regex call(R"((arm_\w+)\(&ctx)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(file->bytes.begin(), file->bytes.end(), call), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

class CmsisNn : public Firmware {
 protected:
  Compilation compiled(LayerKernels kernels, Optimize optimize = Optimize::kSpeed,
                       const std::string& target = "cortex-m4") const {
    CompileOptions options = options_for(kernels);
    options.optimize = optimize;
    options.target = target;
    return compile(options);
  }
  CompileOptions options_for(LayerKernels kernels) const {
    CompileOptions options;
    options.model = (scratch_.path() / "net.onnx").string();
    options.target = "cortex-m4";
    options.kernels = kernels;
    options.optimize = Optimize::kSpeed;
    options.weights = WeightsForm::kC;
    options.verbosity = Verbosity::kQuiet;
    return options;
  }

  void expect_steps_apart(const std::vector<Value>& got, const std::vector<Value>& want, int most) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < want.size(); ++k)
      for (int64_t e = 0; e < want[k].count(); ++e)
        EXPECT_LE(std::abs(load(got[k], e).i - load(want[k], e).i), most) << k << ", " << e;
  }

  // One output, so many steps apart at most from that of our kernels; the bits of these where both round
  // alike. Returns the calls.
  std::vector<std::string> expect_the_same(int most_steps) {
    const Compilation own = compiled(LayerKernels::kOwn), called = compiled(LayerKernels::kCmsisNn);
    EXPECT_THAT(calls_in(own), testing::IsEmpty());
    const std::vector<Value> inputs = seeded_inputs(own, {});
    const std::vector<Value> want = build_and_run(own, inputs, {}).outputs;
    EXPECT_EQ(outputs_of(called, inputs, Library::kOneRounding), want);
    expect_steps_apart(outputs_of(called, inputs, Library::kGiven), want, most_steps);
    return calls_in(called);
  }

  std::vector<Value> outputs_of(const Compilation& c, const std::vector<Value>& inputs, Library library,
                                const std::string& more_flags = "") {
    return outputs_with(flags_of(library) + more_flags, c, inputs);
  }
  static std::vector<Value> outputs_with(const std::string& flags, const Compilation& c,
                                         const std::vector<Value>& inputs, const Core* board = nullptr) {
    setenv("CFLAGS", flags.c_str(), 1);
    std::vector<Value> outputs = build_and_run(c, inputs, {.program = {.board = board}}).outputs;
    unsetenv("CFLAGS");
    return outputs;
  }

  void write_bundled(const std::string& name) {
    for (const models::ModelRow& row : models::model_table())
      if (row.name == name) write("net.onnx", row.make().SerializeAsString());
  }
};

// "{3, -1, 4, ...}": so many numbers of that many bits and a sign, each a multiple of `step`.
inline std::string numbers(int64_t count, int bits, int step = 1) {
  std::vector<int64_t> all;
  uint32_t state = static_cast<uint32_t>(count);
  for (int64_t k = 0; k < count; ++k) {
    state = state * 1664525 + 1013904223;
    all.push_back(static_cast<int64_t>(state >> (32 - bits - 1)) - (1 << bits));
    all.back() = all.back() / step * step;
  }
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

struct TestedLayer {
  const char* name;
  const char* function;  // that is to compute it
  std::string image, weights, attributes;
  int64_t weight_count, out;  // elements; channels
  bool per_channel = true;
};
inline void PrintTo(const TestedLayer& row, std::ostream* out) { *out << row.name; }  // for GoogleTest

inline const TestedLayer kLayers[] = {
    {"Padded3x3", "arm_convolve_wrapper_s8", "11,9,8", "6,8,3,3", "<pads = [1,1,1,1]>", 6 * 8 * 9, 6},
    {"OddPadding", "arm_convolve_wrapper_s8", "12,10,5", "7,5,3,4", "<pads = [0,1,2,2], strides = [2,3]>",
     7 * 5 * 12, 7},
    {"Dilated", "arm_convolve_wrapper_s8", "13,12,4", "6,4,3,3", "<pads = [2,2,2,2], dilations = [2,3]>",
     6 * 4 * 9, 6},
    {"Pointwise", "arm_convolve_wrapper_s8", "7,5,8", "12,8,1,1", "", 12 * 8, 12},
    {"PointwiseStrided", "arm_convolve_wrapper_s8", "7,5,8", "12,8,1,1", "<strides = [2,2]>", 12 * 8, 12},
    {"OneScale", "arm_convolve_wrapper_s8", "7,5,8", "12,8,2,2", "", 12 * 8 * 4, 12, false},
    {"Row", "arm_convolve_wrapper_s8", "1,16,6", "8,6,1,5", "<pads = [0,2,0,2]>", 8 * 6 * 5, 8},
    {"RowPaddedBefore", "arm_convolve_wrapper_s8", "1,16,8", "8,8,1,5", "<pads = [0,4,0,0]>", 8 * 8 * 5, 8},
    {"RowPaddedBehind", "arm_convolve_wrapper_s8", "1,16,8", "8,8,1,3", "<pads = [0,0,0,2]>", 8 * 8 * 3, 8},
    {"RowStrided", "arm_convolve_wrapper_s8", "1,16,4", "6,4,1,2", "<strides = [1,3]>", 6 * 4 * 2, 6},
    {"RowStridedOdd", "arm_convolve_wrapper_s8", "1,16,4", "6,4,1,3", "<strides = [1,2]>", 6 * 4 * 3, 6},
    {"RowStridedPadded", "arm_convolve_wrapper_s8", "1,16,4", "6,4,1,5",
     "<pads = [0,1,0,2], strides = [1,2]>", 6 * 4 * 5, 6},
    {"OneChannel", "arm_convolve_wrapper_s8", "7,5,8", "1,8,3,3", "<pads = [1,1,1,1]>", 72, 1},
    {"WholeImage", "arm_convolve_wrapper_s8", "4,3,6", "8,6,4,3", "", 8 * 6 * 12, 8},
    {"Depthwise3x3", "arm_depthwise_conv_wrapper_s8", "8,7,9", "9,1,3,3", "<group = 9, pads = [1,1,1,1]>", 81,
     9},
    {"Depthwise5x4", "arm_depthwise_conv_wrapper_s8", "12,11,9", "9,1,5,4",
     "<group = 9, pads = [2,1,2,2], strides = [2,2]>", 9 * 20, 9},
    {"DepthwiseDilated", "arm_depthwise_conv_wrapper_s8", "12,11,6", "6,1,3,3",
     "<group = 6, pads = [2,2,2,2], dilations = [2,2]>", 54, 6},
};

// Layers of images whose pixels lie one after the other, each of an input of its own. With multiples of
// `step`, a power of two, the scale is its inverse and all sums are whole.
inline std::string network_of(std::span<const TestedLayer> layers, int step = 1) {
  std::string inputs, outputs, constants, nodes;
  for (size_t k = 0; k < layers.size(); ++k) {
    const TestedLayer& layer = layers[k];
    std::vector<float> scales(layer.per_channel && step == 1 ? static_cast<size_t>(layer.out) : 1);
    for (size_t m = 0; m < scales.size(); ++m)
      scales[m] = step > 1 ? 1.0f / static_cast<float>(step) : 0.0031f + 0.0007f * static_cast<float>(m);
    inputs += fmt::format(", int8[1,{}] x{}", layer.image, k);
    outputs += fmt::format(", int8[1,h{0},w{0},c{0}] y{0}", k);
    constants += fmt::format(
        ", int8[{weights}] w{k} = {w}, float[{scale_count}] s{k} = {{{scales}}}, int8[{scale_count}] z{k} = "
        "{{{zeros}}}, int32[{out}] b{k} = {b}",
        fmt::arg("k", k), fmt::arg("weights", layer.weights),
        fmt::arg("w", numbers(layer.weight_count, 6, step)), fmt::arg("scale_count", scales.size()),
        fmt::arg("scales", fmt::join(scales, ", ")),
        fmt::arg("zeros", fmt::join(std::vector<int>(scales.size()), ", ")), fmt::arg("out", layer.out),
        fmt::arg("b", numbers(layer.out, 9, step)));
    nodes += fmt::format(R"(
        image{0} = Transpose<perm = [0,3,1,2]>(x{0})
        layer{0} = QLinearConv{1}(image{0}, one, x_zero, w{0}, s{0}, z{0}, one, y_zero, b{0})
        y{0} = Transpose<perm = [0,2,3,1]>(layer{0}))",
                         k, layer.attributes);
  }
  return fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
      g ({}) => ({}) <float one = {{1.0}}, int8 x_zero = {{-7}}, int8 y_zero = {{9}}{}> {{{}
      }})",
                     inputs.substr(2), outputs.substr(2), constants, nodes);
}
inline std::string network_of(const TestedLayer& layer, int step = 1) {
  return network_of({&layer, 1}, step);
}

}  // namespace arenac
