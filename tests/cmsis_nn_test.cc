// Calls of CMSIS-NN in the C: which layers become one, and what they compute beside our own kernels.
//
// The functions are those of tests/cmsis_nn, which round as the library does or, with -DONE_ROUNDING, as our
// kernels do; where the environment has a CMSIS_NN_DIR, the library's own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <onnx/defs/parser.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "driver/compare.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "models/model_table.h"
#include "tests/firmware.h"

namespace arenac {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kStandIn = ARENAC_ROOT "/tests/cmsis_nn";

// What computes the calls.
enum class Library { kGiven, kOneRounding };

// The library's own objects, made once: those of other functions may lack what they call.
std::string flags_of_library(const std::string& folder) {
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

std::string flags_of(Library library) {
  const char* given = getenv("CMSIS_NN_DIR");
  if (library == Library::kGiven && given) return flags_of_library(given);
  return fmt::format("-O1 -I{} -I{} {}/arm_nnfunctions.c{}", ARENAC_ROOT, kStandIn, kStandIn,
                     library == Library::kOneRounding ? " -DONE_ROUNDING" : "");
}

// The functions that the C calls, in order.
std::vector<std::string> calls_in(const Compilation& c) {
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

  // One output, so many steps apart at most from that of our kernels; the bits of these where both round
  // alike. Returns the calls.
  std::vector<std::string> expect_the_same(int most_steps) {
    const Compilation own = compiled(LayerKernels::kOwn), called = compiled(LayerKernels::kCmsisNn);
    EXPECT_THAT(calls_in(own), IsEmpty());
    const std::vector<Value> inputs = seeded_inputs(own, {});
    const std::vector<Value> want = build_and_run(own, inputs, {}).outputs;
    EXPECT_EQ(outputs_of(called, inputs, Library::kOneRounding), want);
    const std::vector<Value> got = outputs_of(called, inputs, Library::kGiven);
    for (int64_t e = 0; e < want[0].count(); ++e)
      EXPECT_LE(std::abs(load(got[0], e).i - load(want[0], e).i), most_steps) << e;
    return calls_in(called);
  }

  std::vector<Value> outputs_of(const Compilation& c, const std::vector<Value>& inputs, Library library) {
    setenv("CFLAGS", flags_of(library).c_str(), 1);
    std::vector<Value> outputs = build_and_run(c, inputs, {}).outputs;
    unsetenv("CFLAGS");
    return outputs;
  }

  void write_bundled(const std::string& name) {
    for (const models::ModelRow& row : models::model_table())
      if (row.name == name) write("net.onnx", row.make().SerializeAsString());
  }
};

// "{3, -1, 4, ...}": so many numbers of that many bits and a sign, each a multiple of `step`.
std::string numbers(int64_t count, int bits, int step = 1) {
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
void PrintTo(const TestedLayer& row, std::ostream* out) { *out << row.name; }  // for GoogleTest

const TestedLayer kLayers[] = {
    {"Padded3x3", "arm_convolve_wrapper_s8", "11,9,8", "6,8,3,3", "<pads = [1,1,1,1]>", 6 * 8 * 9, 6},
    {"OddPadding", "arm_convolve_wrapper_s8", "12,10,5", "7,5,3,4", "<pads = [0,1,2,2], strides = [2,3]>",
     7 * 5 * 12, 7},
    {"Dilated", "arm_convolve_wrapper_s8", "13,12,4", "6,4,3,3", "<pads = [2,2,2,2], dilations = [2,3]>",
     6 * 4 * 9, 6},
    {"Pointwise", "arm_convolve_wrapper_s8", "7,5,8", "12,8,1,1", "", 12 * 8, 12},
    {"PointwiseStrided", "arm_convolve_wrapper_s8", "7,5,8", "12,8,1,1", "<strides = [2,2]>", 12 * 8, 12},
    {"OneScale", "arm_convolve_wrapper_s8", "7,5,8", "12,8,2,2", "", 12 * 8 * 4, 12, false},
    {"Row", "arm_convolve_wrapper_s8", "1,16,6", "8,6,1,5", "<pads = [0,2,0,2]>", 8 * 6 * 5, 8},
    {"OneChannel", "arm_convolve_wrapper_s8", "7,5,8", "1,8,3,3", "<pads = [1,1,1,1]>", 72, 1},
    {"WholeImage", "arm_convolve_wrapper_s8", "4,3,6", "8,6,4,3", "", 8 * 6 * 12, 8},
    {"Depthwise3x3", "arm_depthwise_conv_wrapper_s8", "8,7,9", "9,1,3,3", "<group = 9, pads = [1,1,1,1]>", 81,
     9},
    {"Depthwise5x4", "arm_depthwise_conv_wrapper_s8", "12,11,9", "9,1,5,4",
     "<group = 9, pads = [2,1,2,2], strides = [2,2]>", 9 * 20, 9},
    {"DepthwiseDilated", "arm_depthwise_conv_wrapper_s8", "12,11,6", "6,1,3,3",
     "<group = 6, pads = [2,2,2,2], dilations = [2,2]>", 54, 6},
};

// The layer of images whose pixels lie one after the other. With multiples of `step`, a power of two, the
// scale is its inverse and all sums are whole.
std::string network_of(const TestedLayer& layer, int step = 1) {
  std::vector<float> scales(layer.per_channel && step == 1 ? static_cast<size_t>(layer.out) : 1);
  for (size_t m = 0; m < scales.size(); ++m)
    scales[m] = step > 1 ? 1.0f / static_cast<float>(step) : 0.0031f + 0.0007f * static_cast<float>(m);
  return fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 17]>
      g (int8[1,{image}] x) => (int8[1,h,w,c] y)
      <float one = {{1.0}}, int8 x_zero = {{-7}}, int8 y_zero = {{9}}, int8[{weights}] w = {w},
       float[{scale_count}] s = {{{scales}}}, int8[{scale_count}] z = {{{zeros}}}, int32[{out}] b = {b}> {{
        image = Transpose<perm = [0,3,1,2]>(x)
        layer = QLinearConv{attributes}(image, one, x_zero, w, s, z, one, y_zero, b)
        y = Transpose<perm = [0,2,3,1]>(layer)
      }})",
      fmt::arg("image", layer.image), fmt::arg("weights", layer.weights),
      fmt::arg("w", numbers(layer.weight_count, 6, step)), fmt::arg("scale_count", scales.size()),
      fmt::arg("scales", fmt::join(scales, ", ")),
      fmt::arg("zeros", fmt::join(std::vector<int>(scales.size()), ", ")), fmt::arg("out", layer.out),
      fmt::arg("b", numbers(layer.out, 9, step)), fmt::arg("attributes", layer.attributes));
}

class CmsisNnLayers : public CmsisNn, public testing::WithParamInterface<TestedLayer> {};

TEST_P(CmsisNnLayers, RoundToANeighbourAtMost) {
  write_model("net.onnx", network_of(GetParam()));
  EXPECT_THAT(expect_the_same(1), ElementsAre(GetParam().function));
}

TEST_P(CmsisNnLayers, AreExactWhereNothingIsRounded) {
  write_model("net.onnx", network_of(GetParam(), 16));
  EXPECT_THAT(expect_the_same(0), ElementsAre(GetParam().function));
}

INSTANTIATE_TEST_SUITE_P(All, CmsisNnLayers, testing::ValuesIn(kLayers),
                         [](const auto& test) { return std::string(test.param.name); });

// A layer whose operand is an image, channel after channel for the weights and pixel after pixel in memory.
constexpr const char* kFlattened = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (int8[2,4,3,5] x) => (int8[2,7] y)
  <float one = {1.0}, int8 z = {-7}, float s = {0.02}, int8 none = {0}, int64[2] flat = {2, 60}, int8[60,7] w = WEIGHTS> {
    image = Transpose<perm = [0,3,1,2]>(x)
    features = Reshape(image, flat)
    y = QLinearMatMul(features, one, z, w, s, none, one, z)
  })";

TEST_F(CmsisNn, ConnectsFullyInTheOrderOfTheOperand) {
  write_model("net.onnx", std::regex_replace(kFlattened, std::regex("WEIGHTS"), numbers(420, 6)));
  EXPECT_THAT(expect_the_same(1), ElementsAre("arm_fully_connected_s8"));
  EXPECT_THAT(calls_in(compiled(LayerKernels::kCmsisNn, Optimize::kSpeed, "cortex-m55")),
              ElementsAre("arm_convolve_wrapper_s8"));
}

// Two signals, a moment after the other.
constexpr const char* kSignals = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (int8[2,21,6] x) => (int8[2,t,5] y)
  <float one = {1.0}, int8 z = {-7}, float s = {0.02}, int8 none = {0}, int8[5,6,4] w = WEIGHTS> {
    signal = Transpose<perm = [0,2,1]>(x)
    layer = QLinearConv<pads = [1,2], strides = [2]>(signal, one, z, w, s, none, one, z)
    y = Transpose<perm = [0,2,1]>(layer)
  })";

TEST_F(CmsisNn, TakesASignalForAnImageOfOneRow) {
  write_model("net.onnx", std::regex_replace(kSignals, std::regex("WEIGHTS"), numbers(120, 6)));
  EXPECT_THAT(expect_the_same(1), ElementsAre("arm_convolve_wrapper_s8"));
}

// Networks: what rounds elsewhere in one layer goes through those behind it, so that only where both round
// alike there is a bound.
class CmsisNnNetworks : public CmsisNn, public testing::WithParamInterface<std::pair<const char*, size_t>> {};

TEST_P(CmsisNnNetworks, GiveTheBitsOfOurKernels) {
  const auto [name, fewest] = GetParam();
  write_bundled(name);
  const Compilation own = compiled(LayerKernels::kOwn), called = compiled(LayerKernels::kCmsisNn);
  const std::vector<Value> inputs = seeded_inputs(own, {});
  EXPECT_EQ(outputs_of(called, inputs, Library::kOneRounding), build_and_run(own, inputs, {}).outputs);
  EXPECT_GE(calls_in(called).size(), fewest);
  EXPECT_EQ(called.map.totals.macs, own.map.totals.macs);
}

INSTANTIATE_TEST_SUITE_P(All, CmsisNnNetworks,
                         testing::Values(std::pair("ds_cnn_qdq", 10), std::pair("ds_cnn_qop", 9),
                                         std::pair("resnet8_qdq", 10),
                                         std::pair("mobilenet_v1_025_96_qop", 20)),
                         [](const auto& test) { return std::string(test.param.first); });

TEST_F(CmsisNn, HasItsScratchInTheArena) {
  write_bundled("ds_cnn_qdq");
  const Compilation c = compiled(LayerKernels::kCmsisNn);
  int64_t scratch = 0;
  for (const MapBuffer& buffer : c.map.buffers) {
    if (buffer.kind != BufferKind::kScratch) continue;
    EXPECT_EQ(buffer.end, buffer.begin + 1) << buffer.name;
    scratch += buffer.size;
  }
  // Two columns of 10x4 int16, and of 64 channels of five pointwise layers; logits are one with a scale each.
  EXPECT_EQ(scratch, 2 * 2 * (10 * 4 + 5 * 64));
  EXPECT_THAT(compiled(LayerKernels::kCmsisNn, Optimize::kSpeed, "cortex-m55").map.buffers,
              testing::Contains(testing::Field(&MapBuffer::size, 4 * 124 * 3 * 3)));
}

TEST_F(CmsisNn, LeavesRowsToOurKernels) {
  write_bundled("resnet8_qdq");
  const Compilation c = compiled(LayerKernels::kCmsisNn, Optimize::kRam);
  ASSERT_FALSE(c.schedule.groups.empty());
  EXPECT_LT(calls_in(c).size(), 10);
  const std::vector<Value> inputs = seeded_inputs(c, {});
  EXPECT_EQ(outputs_of(c, inputs, Library::kOneRounding),
            build_and_run(compiled(LayerKernels::kOwn), inputs, {}).outputs);
}

TEST_F(CmsisNn, LeavesWhatItHasNotToOurKernels) {
  const auto calls_of = [&](const std::string& from, const std::string& to) {
    write_model("net.onnx", std::regex_replace(network_of(kLayers[0]), std::regex(from), to));
    return calls_in(compiled(LayerKernels::kCmsisNn)).size();
  };
  EXPECT_EQ(calls_of("layer", "layer"), 1);
  EXPECT_EQ(calls_of(R"(\{0, 0, 0, 0, 0, 0\})", "{0, 0, 1, 0, 0, 0}"), 0);  // zero points of weights
  EXPECT_EQ(calls_of("0\\.0031", "2.3e-10"), 0);      // a scale below those that CMSIS-NN has
  EXPECT_EQ(calls_of("1,11,9,8", "1,32768,1,8"), 0);  // what it would count in 16 bits
}

TEST_F(CmsisNn, IsForCortexM) {
  write_model("net.onnx", network_of(kLayers[0]));
  for (const char* target : {"portable", "rv32imc", "x86-64-v3"}) {
    const Finished done = arenac({"compile", "net.onnx", "--kernels", "cmsis-nn", "--target", target});
    EXPECT_EQ(done.status, 2);
    EXPECT_THAT(done.output,
                AllOf(HasSubstr("--kernels cmsis-nn: CMSIS-NN is for Cortex-M"), HasSubstr(target)));
  }
}

TEST_F(CmsisNn, IsNotInOurOwnC) {
  write_bundled("ds_cnn_qdq");
  for (const char* kernels : {"", "--kernels own"}) {
    const Finished done = shell(fmt::format("{} compile net.onnx --target cortex-m4 --quiet {} -o 'out {}'",
                                            arenac_tool(), kernels, kernels));
    ASSERT_EQ(done.status, 0) << done.output;
  }
  EXPECT_EQ(read("out --kernels own/net.c"), read("out /net.c"));
  EXPECT_THAT(read("out /net.c") + read("out /net.h"), Not(HasSubstr("arm_nn")));
  EXPECT_THAT(read("out /net.h"), Not(HasSubstr("ELIBRARY")));
}

TEST_F(CmsisNn, BuildsWithoutWarningsWhereItsHeaderIs) {
  write_bundled("ds_cnn_qdq");
  const Finished done = arenac(
      {"compile", "net.onnx", "--target", "cortex-m4", "--kernels", "cmsis-nn", "--optimize", "speed"});
  ASSERT_EQ(done.status, 0) << done.output;
  for (const std::string compiler : {"cc -std=c99", "clang -std=c99", "cc -x c++"}) {
    if (shell("command -v " + compiler.substr(0, compiler.find(' '))).status != 0) continue;
    const std::string command = compiler + " -Wall -Wextra -pedantic -Wconversion -Werror -c net.c -o net.o";
    const Finished built = shell(command + " -I" + kStandIn);
    EXPECT_EQ(built.status, 0) << compiler << built.output;
    EXPECT_THAT(shell(command + " 2>&1 | head -3").output,
                HasSubstr("give the compiler the library's folder Include (-I)"));
    EXPECT_THAT(shell(command + " -DARM_MATH_MVEI -I" + kStandIn).output, HasSubstr("--target cortex-m55"));
  }
}

TEST_F(CmsisNn, ReadsItsConstantsInEveryForm) {
  write_model("net.onnx", std::regex_replace(kFlattened, std::regex("WEIGHTS"), numbers(420, 6)));
  const Compilation own = compiled(LayerKernels::kOwn);
  const std::vector<Value> inputs = seeded_inputs(own, {}), want = build_and_run(own, inputs, {}).outputs;
  for (const WeightsForm form : {WeightsForm::kIncbin, WeightsForm::kPointer}) {
    CompileOptions options = options_for(LayerKernels::kCmsisNn);
    options.weights = form;
    EXPECT_EQ(outputs_of(compile(options), inputs, Library::kOneRounding), want);
  }
}

TEST_F(CmsisNn, ReadsItsConstantsInCopies) {
  write_bundled("ds_cnn_qop");
  const Compilation own = compiled(LayerKernels::kOwn);
  const std::vector<Value> inputs = seeded_inputs(own, {}), want = build_and_run(own, inputs, {}).outputs;
  CompileOptions options = options_for(LayerKernels::kCmsisNn);
  options.constants.group = GroupPool{.pool = {"dtcm"}};
  const Compilation called = compile(options);
  EXPECT_GE(std::ranges::count(called.map.buffers, BufferKind::kCopy, &MapBuffer::kind), 9);
  EXPECT_EQ(outputs_of(called, inputs, Library::kOneRounding), want);
}

// What a function refuses ends the run: here by more scratch than the plan has.
TEST_F(CmsisNn, SaysWhereItRefuses) {
  write_model("net.onnx", network_of(kLayers[0]));
  const Finished done = arenac({"compile", "net.onnx", "--target", "cortex-m4", "--kernels", "cmsis-nn"});
  ASSERT_EQ(done.status, 0) << done.output;
  write("main.c",
        "#include \"net.h\"\n"
        "int main(void) {\n"
        "  static int8_t x[11 * 9 * 8], y[11 * 9 * 6];\n"
        "  const net_inputs in = {x};\n  const net_outputs out = {y};\n"
        "  return net_invoke(&in, &out) == NET_ELIBRARY ? 0 : 1;\n}\n");
  const Finished ran =
      shell(fmt::format("cc -I{0} -I{1} main.c net.c net_weights.c {1}/arm_nnfunctions.c "
                        "-DMORE_SCRATCH=1 -lm -o program && ./program",
                        ARENAC_ROOT, kStandIn));
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(CmsisNn, RunsOnAnEmulatedCortexM4) {
  const Core& core = *find_core("m4");
  if (!is_installed(core)) GTEST_SKIP() << core.compiler << " or " << core.emulator << " is not installed";
  write_bundled("ds_cnn_qop");
  const Compilation own = compiled(LayerKernels::kOwn), called = compiled(LayerKernels::kCmsisNn);
  const std::vector<Value> inputs = seeded_inputs(own, {});
  setenv("CFLAGS", flags_of(Library::kOneRounding).c_str(), 1);
  const RunResult board = build_and_run(called, inputs, {.program = {.board = &core}});
  unsetenv("CFLAGS");
  EXPECT_EQ(
      difference(board.outputs[0], build_and_run(own, inputs, {}).outputs[0], {.rtol = 1e-5, .atol = 1e-6}),
      std::nullopt);
}

}  // namespace
}  // namespace arenac
