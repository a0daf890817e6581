// Calls of CMSIS-NN in the C: which layers become one, what they read and write, and what is refused.
#include "tests/cmsis_nn_layers.h"

namespace arenac {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

TEST_F(CmsisNn, LeavesPaddingThatItReadsPastToOurKernels) {
  const auto calls_of = [&](const char* filter, const char* attributes, const char* target) {
    const int64_t weights = std::string(filter) == "6,1,3,3" ? 54 : 24;
    write_model("net.onnx", network_of({"", "", "6,6,6", filter, attributes, weights, 6}));
    return calls_in(compiled(LayerKernels::kCmsisNn, Optimize::kSpeed, target)).size();
  };
  const char* right = "<group = 6, pads = [0,0,0,2]>";  // its unrolled loops read a column behind the image
  EXPECT_EQ(calls_of("6,1,3,3", "<group = 6, pads = [0,0,2,1]>", "cortex-m4"), 1);
  EXPECT_EQ(calls_of("6,1,3,3", right, "cortex-m4"), 0);
  EXPECT_EQ(calls_of("6,1,3,3", right, "cortex-m0"), 0);
  EXPECT_EQ(calls_of("6,1,3,3", right, "cortex-m55"), 1);
  EXPECT_EQ(calls_of("6,1,2,2", "<group = 6, pads = [0,0,2,2]>", "cortex-m4"), 1);
  EXPECT_EQ(calls_of("6,1,2,2", "<group = 6, pads = [0,0,3,3]>", "cortex-m4"),
            0);  // fills more than its scratch
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
  setenv("CFLAGS", (flags_of(Library::kOneRounding) + " -DMORE_SCRATCH=1").c_str(), 1);
  const Finished run = arenac({"run", "net.onnx", "--target", "cortex-m4", "--kernels", "cmsis-nn"});
  unsetenv("CFLAGS");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.output, HasSubstr("a function of CMSIS-NN refused what it was called with"));
}

}  // namespace
}  // namespace arenac
