// What is too large for a board's code or RAM lies in its store; what is too large for that is refused.
#include "driver/board_memory.h"

#include <gmock/gmock.h>

#include <cstring>

#include "driver/compare.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "tests/firmware.h"

namespace arenac {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class BoardMemory : public Firmware {
 protected:
  // A matrix of 320 KB times a vector.
  Compilation matrix(WeightsForm form = WeightsForm::kC) {
    onnx::ModelProto model;
    EXPECT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[1,320] x) => (float[1,256] y) <float[320,256] w> { y = MatMul(x, w) })")
                    .IsOK());
    onnx::TensorProto& w = *model.mutable_graph()->add_initializer();
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::FLOAT);
    w.add_dims(320);
    w.add_dims(256);
    std::string bytes(320 * 256 * 4, '\0');
    for (size_t k = 0; k < bytes.size(); k += 4) {
      const float element = static_cast<float>(k % 23) - 11;
      std::memcpy(bytes.data() + k, &element, 4);
    }
    w.set_raw_data(bytes);
    write("net.onnx", model.SerializeAsString());
    return compiled(form);
  }
  Compilation compiled(WeightsForm form = WeightsForm::kC) const {
    CompileOptions options;
    options.model = (scratch_.path() / "net.onnx").string();
    options.weights = form;
    options.verbosity = Verbosity::kQuiet;
    return compile(options);
  }
  static std::string fault_on(const Core& core, const Compilation& c) {
    try {
      layout_on(core, c);
      return "none";
    } catch (const UserError& error) {
      return error.what();
    }
  }
};

TEST_F(BoardMemory, KeepsWhatFitsBesideTheCode) {
  const Compilation c = matrix();
  const Core& m4 = *find_core("m4");
  EXPECT_EQ(layout_on(m4, c).linker_script, "");
  EXPECT_EQ(layout_on(m4, c).ram.begin, m4.ram.begin);
}

TEST_F(BoardMemory, PutsLargeConstantsIntoTheStore) {
  const Core& m55 = *find_core("m55");
  for (const WeightsForm form : {WeightsForm::kC, WeightsForm::kIncbin, WeightsForm::kBin}) {
    const Compilation c = matrix(form);
    EXPECT_THAT(layout_on(m55, c).linker_script, HasSubstr("ORIGIN = 0x60000000"));
    if (!is_installed(m55)) continue;
    const std::vector<Value> inputs = seeded_inputs(c, {});
    EXPECT_EQ(difference(build_and_run(c, inputs, {.program = {.board = &m55}}).outputs[0],
                         build_and_run(c, inputs, {}).outputs[0], {.rtol = 1e-5, .atol = 1e-4}),
              std::nullopt);
  }
}

TEST_F(BoardMemory, TakesTheStoreForLargeRuns) {
  write_model("net.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,1,1024,1024] x) => (float[1,1,512,512] y) { y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) })");
  const Compilation c = compiled();
  for (const Core& core : cores()) EXPECT_EQ(layout_on(core, c).ram.begin, core.store.begin) << core.name;
  const Core& m7 = *find_core("m7");
  if (!is_installed(m7)) GTEST_SKIP() << m7.compiler << " or " << m7.emulator << " is not installed";
  const std::vector<Value> inputs = seeded_inputs(c, {});
  EXPECT_EQ(build_and_run(c, inputs, {.program = {.board = &m7}}).outputs,
            build_and_run(c, inputs, {}).outputs);
}

TEST_F(BoardMemory, SaysWhatDoesNotFit) {
  const Compilation c = matrix();
  Core small = *find_core("m4");
  small.code.bytes = 1 << 19, small.store.bytes = 1 << 18;
  EXPECT_THAT(fault_on(small, c),
              AllOf(HasSubstr("--on qemu-m4: the constants of"), HasSubstr("327,680 bytes (320.0K)"),
                    HasSubstr("262,144 bytes (256.0K)"), HasSubstr("--on qemu-m55")));
  small = *find_core("m4");
  small.ram.bytes = small.store.bytes = 1 << 16;
  EXPECT_THAT(fault_on(small, c), AllOf(HasSubstr("a run of"), HasSubstr("65,536 bytes (64.0K)"),
                                        HasSubstr("--optimize ram, a smaller --shape")));
}

}  // namespace
}  // namespace arenac
