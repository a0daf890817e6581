// Layers and networks by calls of CMSIS-NN, beside our own kernels: on this machine, and on boards of each of
// the cores that the library has sources for.
#include "tests/cmsis_nn_layers.h"

namespace arenac {
namespace {

using testing::ElementsAre;

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

// The library of the environment as a board's compiler takes it, else the stand-in.
std::string flags_on_boards() {
  const char* given = getenv("CMSIS_NN_DIR");
  if (!given) return flags_of(Library::kGiven);
  std::string flags = fmt::format("-O2 -w -ffunction-sections -Wl,--gc-sections -I{}/Include", given);
  for (const char* folder : {"ConvolutionFunctions", "FullyConnectedFunctions", "NNSupportFunctions"})
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("{}/Source/{}", given, folder)))
      if (entry.path().extension() == ".c") flags += " " + entry.path().string();
  return flags;
}

// One of each of the library's kinds: plain C, DSP instructions, Helium.
class CmsisNnCores : public CmsisNn, public testing::WithParamInterface<const char*> {
 protected:
  const Core& core() const { return *find_core(GetParam()); }
  // Which of them the stand-in is to be on this machine.
  std::string kind() const {
    return core().name == "m0" ? " -DPLAIN_CORE" : core().name == "m55" ? " -DARM_MATH_MVEI" : "";
  }
  Compilation compiled_for(LayerKernels kernels) const {
    return compiled(kernels, Optimize::kSpeed, core().target);
  }
};

TEST_P(CmsisNnCores, ComputeAllLayers) {
  write_model("net.onnx", network_of(kLayers));
  const Compilation own = compiled_for(LayerKernels::kOwn), called = compiled_for(LayerKernels::kCmsisNn);
  const std::vector<Value> inputs = seeded_inputs(own, {}), want = build_and_run(own, inputs, {}).outputs;
  EXPECT_EQ(calls_in(called).size(), std::size(kLayers));
  EXPECT_EQ(outputs_of(called, inputs, Library::kOneRounding, kind()), want);
  if (!is_installed(core())) GTEST_SKIP() << core().compiler << " or " << core().emulator << " is missing";
  expect_steps_apart(outputs_with(flags_on_boards(), called, inputs, &core()), want, 1);
}

INSTANTIATE_TEST_SUITE_P(All, CmsisNnCores, testing::Values("m0", "m4", "m55"),
                         [](const auto& test) { return std::string(test.param); });

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
