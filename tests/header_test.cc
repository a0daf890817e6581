// What firmware finds in the header: scales and how to use them, memory and how to place it, constants and
// whether they are the right ones. Programs are built as users build them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <onnx/defs/parser.h>

#include <tuple>

#include "frontend/type.h"
#include "tests/firmware.h"
#include "tests/tool.h"

namespace arenac {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Header = Firmware;

constexpr const char* kKws = "kws.c kws_weights.c";

constexpr const char* kQuantised = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (uint8[2,2] x, int8[4] z, float[4] f) => (int8[4] y, uint8[4] w, float[4] u)
  <float xs = {0.5}, uint8 xz = {128}, float ys = {0.25}, int8 yz = {-3}, int64[1] four = {4}> {
    r = Reshape(x, four)
    d = DequantizeLinear(r, xs, xz)
    e = DequantizeLinear(z, ys, yz)
    s = Add(d, e)
    t = Add(s, f)
    q = QuantizeLinear(t, ys, yz)
    y = Identity(q)
    w = QuantizeLinear(f, f0, xz)
    f0 = ReduceMax<keepdims = 0>(f)
    u = Neg(t)
  })";

// Every float between whole numbers and halves, and beyond the range.
constexpr const char* kRounds = R"(
#include <kws.h>
#include <math.h>
#include <stdio.h>

static int same(double real, int got, double scale, int zero, int least, int most)
{
    const double whole = nearbyint((double)((float)real / (float)scale)) + zero;
    const int want = whole < least ? least : whole > most ? most : (int)whole;
    if (got != want) printf("%.9g: %d, not %d\n", real, got, want);
    return got == want;
}

int main(void)
{
    int k;
    for (k = -4000; k <= 4000; ++k) {
        const float real = (float)k / 32.0f;
        if (!same((double)real, kws_quantize_input_x(real), 0.5, 128, 0, 255)) return 1;
        if (!same((double)real, kws_quantize_output_y(real), 0.25, -3, -128, 127)) return 2;
    }
    if (kws_quantize_input_x(3e38f) != 255 || kws_quantize_input_x(-3e38f) != 0) return 3;
    if (kws_quantize_output_y((float)HUGE_VAL) != 127 || kws_quantize_output_y(-(float)HUGE_VAL) != -128) return 4;
    for (k = -128; k < 128; ++k)
        if (kws_quantize_output_y(kws_dequantize_output_y((int8_t)k)) != k) return 5;
    return kws_dequantize_input_x(129) == 0.5f && KWS_INPUT_X_SCALE == 0.5f && KWS_OUTPUT_Y_ZERO_POINT == -3 ? 0 : 6;
}
)";

TEST_F(Header, SaysWhatQuantisedIntegersStandFor) {
  compile_text(kQuantised);
  expect_runs(kRounds, kKws);
  EXPECT_THAT(
      read("kws.h"),
      AllOf(HasSubstr("#define KWS_INPUT_Z_SCALE 0.25f"), HasSubstr("#define KWS_INPUT_Z_ZERO_POINT (-3)"),
            Not(HasSubstr("KWS_OUTPUT_W_SCALE")),  // computed
            Not(HasSubstr("KWS_INPUT_F_SCALE")), Not(HasSubstr("KWS_OUTPUT_U_SCALE"))));
}

constexpr const char* kMoved = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (int8[2, 3, 2] x, uint8[4] w, uint8[4] v) => (int8[2, 3, 2] y, uint8[3] a, uint8[5] b, uint8[8] u)
  <float[3] xs = {0.5, 0.25, 2}, int8[3] xz = {1, 0, -2}, float ws = {0.125}, uint8 wz = {7},
   uint8 least = {10}, int64[2] parts = {3, 5}> {
    d = DequantizeLinear(x, xs, xz)
    n = Neg(d)
    y = QuantizeLinear<axis = -2>(n, xs, xz)
    u = Concat<axis = 0>(w, v)
    e = DequantizeLinear(u, ws, wz)
    f = Sqrt(e)
    q = QuantizeLinear(f, ws, wz)
    r = Clip(q, least)
    a, b = Split<axis = 0>(r, parts)
  })";

TEST_F(Header, QuantisesByChannelAndWhereElementsAreMoved) {
  compile_text(kMoved);
  EXPECT_THAT(read("kws.h"),
              AllOf(HasSubstr("#define KWS_INPUT_X_CHANNELS 3u /* indices of dimension 1"),
                    HasSubstr("#define KWS_OUTPUT_Y_CHANNELS 3u /* indices of dimension 1"),
                    HasSubstr("#define KWS_INPUT_W_SCALE 0.125f"),
                    HasSubstr("#define KWS_INPUT_V_ZERO_POINT 7"), HasSubstr("#define KWS_OUTPUT_A_SCALE"),
                    HasSubstr("#define KWS_OUTPUT_B_SCALE"), HasSubstr("#define KWS_OUTPUT_U_SCALE")));
  expect_runs(R"(
#include <kws.h>
int main(void)
{
    if (kws_quantize_input_x(3.0f, 0) != 7 || kws_quantize_input_x(3.0f, 1) != 12) return 1;
    if (kws_quantize_input_x(3.0f, 2) != 0 || kws_quantize_input_x(-1e9f, 2) != -128) return 2;  /* 1.5 is 2 */
    if (kws_dequantize_output_y(3, 2) != 10.0f || kws_scale_output_y(1) != 0.25f) return 3;
    return kws_zero_point_output_y(2) == -2 ? 0 : 4;
}
)",
              kKws);
}

TEST_F(Header, QuantisesIntegersOfLessThanAByte) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 10, opset_import: ["" : 21]>
    g (uint8[4] x, int8[4] y) => (float[4] z) <float s = {0.5}> {
      d = DequantizeLinear(x, s)
      e = DequantizeLinear(y, s)
      z = Add(d, e)
    })")
                  .IsOK());
  for (const auto& [input, type] :
       {std::pair(0, Type::kUint4), {1, Type::kInt4}})  // which text does not have
    model.mutable_graph()->mutable_input(input)->mutable_type()->mutable_tensor_type()->set_elem_type(
        info(type).onnx);
  write("kws.onnx", model.SerializeAsString());
  ASSERT_EQ(arenac({"compile", "kws.onnx", "--quiet"}).status, 0);
  expect_runs(R"(
#include <kws.h>
int main(void)
{
    if (kws_quantize_input_x(1e9f) != 15 || kws_quantize_input_x(-1.0f) != 0) return 1;
    if (kws_quantize_input_y(1e9f) != 7 || kws_quantize_input_y(-1e9f) != -8) return 2;
    return kws_quantize_input_y(-0.75f) == -2 && kws_dequantize_input_y(-3) == -1.5f ? 0 : 3;
}
)",
              kKws);
}

TEST_F(Header, OfIntegersThatNoOperatorScalesSaysNothing) {
  compile_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int8[4] x) => (int8[4] y) { y = Abs(x) })");
  EXPECT_THAT(read("kws.h"), Not(HasSubstr("_quantize_")));
}

constexpr const char* kLayers = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[1, 4] x) => (float[1, 4] y)
  <float[4, 4] m = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}> {
    a = MatMul(x, m)
    b = Sigmoid(a)
    y = MatMul(b, m)
  })";

TEST_F(Header, SaysWhatItWasMadeOfAndWhatARunTakes) {
  compile_text(kLayers, {"--target", "cortex-m4", "--optimize", "speed"});
  EXPECT_THAT(read("kws.h"),
              AllOf(HasSubstr("#define KWS_ARENAC_VERSION \"" ARENAC_VERSION "\""),
                    HasSubstr("#define KWS_OPTIONS_GIVEN \"--optimize speed --target cortex-m4\""),
                    HasSubstr("#define KWS_MACS 32u"), HasSubstr("estimated for cortex-m4")));
}

TEST_F(Header, WithIoInTheArenaHasNoPointersToPass) {
  compile_text(kLayers, {"--io", "arena"});
  EXPECT_THAT(read("kws.h"), AllOf(Not(HasSubstr("kws_inputs")), Not(HasSubstr("kws_outputs"))));
  expect_runs(R"(
#include <kws.h>
int main(void)
{
    kws_workspace w;
    int k;
    w.arena = kws_static_arena();
    for (k = 0; k < 4; ++k) kws_input_x(&w)[k] = 1.0f;
    if (kws_invoke() != KWS_OK || !(kws_output_y(&w)[0] > 18.99f)) return 1;
    for (k = 0; k < 4; ++k) kws_input_x(&w)[k] = -1.0f;
    return kws_run(&w) == KWS_OK && kws_output_y(&w)[0] < 0.01f ? 0 : 2;
}
)",
              kKws);
}

constexpr const char* kCalls = R"(
#include <kws.h>
int main(void)
{
    static const float x[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    static float y[4];
    kws_inputs in;
    kws_outputs out;
    in.x = x, out.y = y;
    return kws_invoke(&in, &out) == KWS_OK && (uintptr_t)kws_static_fast() % KWS_FAST_ALIGN == 0 ? 0 : 1;
}
)";

TEST_F(Header, PoolsAreAlignedByWhateverTheCompilerHas) {
  compile_text(kLayers, {"--pool", "name=fast,align=256,section=.fast"});
  expect_runs(kCalls, kKws);
  expect_runs(kCalls,
              std::string(kKws) + " '-DKWS_ALIGNED(n)=__attribute__((aligned(n)))' '-DKWS_SECTION(name)='");
  // As a compiler without attributes.
  if (shell("command -v tcc").status != 0) return;
  EXPECT_EQ(shell("tcc -I. main.c kws.c kws_weights.c -lm -o program && ./program").status, 0);
}

TEST_F(Header, AlignsMemoryOfTheCallersOwn) {
  compile_text(kLayers, {"--pool", "name=fast,align=256", "--pool", "name=slow"});
  expect_runs(R"(
#include <kws.h>
static char odd = 1;
KWS_ALIGNED(KWS_FAST_ALIGN) static unsigned char fast[KWS_FAST_SIZE];
static char odder = 1;
KWS_ALIGNED(KWS_SLOW_ALIGN) static unsigned char slow[KWS_SLOW_SIZE];
int main(void)
{
    static const float x[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    static float y[4];
    kws_workspace w;
    kws_inputs in;
    kws_outputs out;
    w.fast = fast, w.slow = slow, in.x = x, out.y = y;
    return kws_run(&w, &in, &out) == KWS_OK ? 1 - odd * odder : 1;
}
)",
              kKws);
}

// Of clang those do that are called .bss.
TEST_F(Header, ASectionOfAPoolHasNoContents) {
  const std::vector<std::pair<std::string, std::string>> rows = {{"cc", ".fast"}, {"clang", ".bss.fast"}};
  for (const auto& [compiler, section] : rows) {
    if (shell(fmt::format("command -v {}", compiler)).status != 0) continue;
    compile_text(kLayers, {"--pool", "name=fast,section=" + section});
    const Finished done =
        shell(fmt::format("{} -c kws.c -o kws.o && readelf -SW kws.o | grep -F ' {} '", compiler, section));
    EXPECT_THAT(done.output, HasSubstr("NOBITS")) << compiler;
  }
}

TEST_F(Header, APoolThatIsTooSmallStopsTheCompiler) {
  compile_text(kLayers, {"--pool", "name=fast,size=1K"});
  EXPECT_EQ(shell("cc -c kws.c").status, 0);
  const Finished done = shell("cc -DKWS_FAST_CAPACITY=4 -c kws.c");
  EXPECT_NE(done.status, 0);
  EXPECT_THAT(done.output, HasSubstr("KWS_FAST_SIZE is more than KWS_FAST_CAPACITY"));
}

TEST_F(Header, ConstantsOfAnotherProgramDoNotLink) {
  for (const char* form : {"c", "incbin"}) {
    const std::string objects = std::string(form) == "c" ? "kws_weights.c" : "-I. kws_weights.S";
    compile_text(kLayers, {"--weights", form});
    ASSERT_EQ(
        shell(fmt::format("cc -c {} -o old.o && cc -c kws.c && ld -r kws.o old.o -o both.o && nm both.o | "
                          "grep -c ' U kws_'",
                          objects))
            .output,
        "0\n");
    std::string other = kLayers;
    other.replace(other.find("{1, 2, 3"), 8, "{1, 2, 9");
    compile_text(other, {"--weights", form});
    EXPECT_EQ(shell("cc -c kws.c && ld -r kws.o old.o -o both.o && nm both.o | grep -c ' U kws_'").output,
              "1\n");
  }
}

// 36 bytes that a run reads 16 times, and 128 that it reads once.
constexpr const char* kConvAndDense = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[1, 1, 4, 4] x) => (float[1, 2] y)
  <float[1, 1, 3, 3] kernel = {1, 2, 3, 4, 5, 6, 7, 8, 9},
   float[16, 2] dense = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 5, 4, 3, 2}> {
    c = Conv<pads = [1, 1, 1, 1]>(x, kernel)
    f = Flatten(c)
    y = MatMul(f, dense)
  })";

TEST_F(Header, ConstantsThatAreReadMostLieInTheFirstMemory) {
  for (const char* form : {"c", "incbin"}) {
    SCOPED_TRACE(form);
    compile_text(kConvAndDense,
                 {"--weights", form, "--pool", "name=itcm,kind=constants,size=64,section=.itcm", "--pool",
                  "name=qspi,kind=constants,section=.qspi,align=32"});
    const bool in_c = std::string(form) == "c";
    const char* file = in_c ? "kws_weights.c" : "-I. kws_weights.S";
    const Finished sizes = shell(fmt::format("cc -c {} -o w.o && size -A w.o", file));
    EXPECT_THAT(sizes.output, testing::ContainsRegex(in_c ? "\\.itcm +36 " : "\\.itcm +64 "));
    EXPECT_THAT(sizes.output, testing::ContainsRegex("\\.qspi +128 "));
    EXPECT_THAT(read("kws.h"), AllOf(HasSubstr(in_c ? "KWS_ITCM_SIZE 40u" : "KWS_ITCM_SIZE 64u"),
                                     HasSubstr("KWS_QSPI_SIZE 128u"), HasSubstr("KWS_QSPI_ALIGN 32u")));
    EXPECT_THAT(read("kws_map.json"), AllOf(HasSubstr("\"pool\":\"itcm\""), HasSubstr("\"pool\":\"qspi\"")));
    EXPECT_EQ(arenac({"run", "kws.onnx", "--quiet", "--weights", form, "--pool",
                      "name=itcm,kind=constants,size=64,section=.itcm", "--pool", "name=rest,kind=constants"})
                  .status,
              0);
  }
}

TEST_F(Header, NamesOfPoolsOfConstantsAreNotThoseOfItsOwnMacros) {
  const std::vector<std::string> of_constants = {"kind=constants", "kind=constants,copy=start"};
  for (const std::string& kind : of_constants)
    for (const char* name :
         {"weights", "WEIGHTS", "size", "int", "const", "blob", "NAN", "input_x", "load"}) {
      SCOPED_TRACE(fmt::format("{} {}", name, kind));
      compile_text(kConvAndDense, {"--pool", fmt::format("name={},size=64,{}", name, kind), "--pool",
                                   "name=weights_2,kind=constants", "--pool", "name=weights_2_2"});
      const Finished done = shell("cc -std=c99 -Wall -Werror -I. -fsyntax-only kws.c kws_weights.c");
      EXPECT_EQ(done.status, 0) << done.output;
    }
  EXPECT_THAT(read("kws.h"), HasSubstr("KWS_LOAD_SIZE"));
}

TEST_F(Header, NamesOfPoolsAreNotThoseOfOtherMembers) {
  const std::vector<std::pair<std::string, std::string>> rows = {{"weights", "--weights=pointer"},
                                                                 {"WEIGHTS_FILE", "--weights=pointer"},
                                                                 {"at", "--step-cycles=9"},
                                                                 {"done", "--step-cycles=9"},
                                                                 {"row", "--feed=x=2"},
                                                                 {"in", "--step-cycles=9"}};
  write_model("kws.onnx", kConvAndDense);
  for (const auto& [name, option] : rows) {
    const Finished done = arenac({"compile", "kws.onnx", "--pool", "name=" + name, option});
    EXPECT_EQ(done.status, 2);
    EXPECT_THAT(done.output, HasSubstr("--pool name=" + name + ": with --"));
    compile_text(kConvAndDense, {"--pool", "name=" + name});
  }
}

TEST_F(Header, APinSaysWhereAConstantLies) {
  compile_text(kConvAndDense, {"--pool", "name=itcm,kind=constants,size=128", "--pool",
                               "name=qspi,kind=constants", "--pin", "dense=itcm"});
  EXPECT_THAT(read("kws.h"), AllOf(HasSubstr("KWS_ITCM_SIZE 128u"), HasSubstr("KWS_QSPI_SIZE 40u")));
  EXPECT_THAT(read("kws_weights.c"),
              AllOf(HasSubstr("KWS_CONST_ITCM float kws_"), HasSubstr("KWS_CONST_QSPI float kws_")));
  const std::vector<std::tuple<std::vector<std::string>, int, std::string>> rows = {
      {{"--pool", "name=itcm,kind=constants,size=100"},
       3,
       "constant 'dense' of 128 bytes finds no room in itcm"},
      {{"--pool", "name=itcm,kind=constants", "--pin", "denze=itcm"}, 2, "did you mean dense"},
      {{"--pool", "name=itcm,kind=constants", "--weights", "pointer"}, 2, "you place the bytes yourself"},
      {{"--pool", "name=arena,kind=constants"}, 2, "the arena has this name"},
      {{"--pool", "name=itcm,kind=constants", "--pool", "name=ITCM"}, 2, "there is a pool 'itcm' already"}};
  for (const auto& [words, status, said] : rows) {
    std::vector<std::string> all = {"compile", "kws.onnx"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished done = arenac(all);
    EXPECT_EQ(done.status, status) << done.output;
    EXPECT_THAT(done.output, HasSubstr(said));
  }
}

constexpr const char* kWatched = R"(
#include <kws.h>
#include <hooks.h>
#include <stdio.h>
int hooks = 0;
int main(void)
{
    static const float x[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    static float y[2][4];
    kws_workspace w;
    kws_inputs in;
    kws_outputs out;
    int k, parts = 0, status;
    in.x = x, out.y = y[0];
    w.arena = kws_static_arena();
    if (kws_begin(&w, NULL, &out) != KWS_ENULL || kws_begin(&w, &in, &out) != KWS_OK) return 1;
    while ((status = kws_step(&w)) == KWS_MORE) {
        out.y = y[1];
        ++parts;
    }
    if (status != KWS_OK || kws_step(&w) != KWS_EORDER || parts + 1 != KWS_PARTS || hooks != KWS_STEP_COUNT) return 2;
    if (kws_invoke(&in, &out) != KWS_OK || hooks != 2 * KWS_STEP_COUNT) return 3;
    for (k = 0; k < KWS_STEP_COUNT; ++k)
        if (kws_steps[k].cycles == 0) return 4;
    return y[0][0] == y[1][0] && y[0][3] == y[1][3] ? 0 : 5;
}
)";

TEST_F(Header, ARunComesInPartsWithAHookBeforeEachStep) {
  compile_text(kLayers, {"--step-cycles", "1", "--optimize", "speed"});
  write("hooks.h", "extern int hooks;\n");
  expect_runs(kWatched, std::string(kKws) +
                            " '-DKWS_HOOK(step)=++hooks' '-DKWS_HOOK_HEADER=\"hooks.h\"' -DKWS_STEP_TABLE");
  EXPECT_EQ(arenac({"run", "kws.onnx", "--step-cycles", "1", "--quiet"}).status, 0);
  EXPECT_EQ(arenac({"compile", "kws.onnx", "--step-cycles", "1", "--feed", "x"}).status, 2);
}

constexpr const char* kSets = R"(
#include <kws.h>
#include <stdio.h>
#include <stdlib.h>
static const void *set(const char *name)
{
    static double memory[3][KWS_WEIGHTS_FILE_SIZE / sizeof(double) + 1];
    static int sets;
    FILE *const file = fopen(name, "rb");
    if (!file || fread(memory[sets], 1, KWS_WEIGHTS_FILE_SIZE, file) != KWS_WEIGHTS_FILE_SIZE) exit(9);
    fclose(file);
    return memory[sets++];
}
int main(void)
{
    static const float x[4] = {1.0f, 0.0f, 0.0f, 0.0f};
    static float y[2][4];
    const void *const one = set("one.bin");
    const void *const two = set("two.bin");
    kws_inputs in;
    kws_outputs out;
    in.x = x, out.y = y[0];
    if (kws_invoke(one, &in, &out) != KWS_OK) return 1;
    out.y = y[1];
    if (kws_invoke(two, &in, &out) != KWS_OK || y[0][0] == y[1][0]) return 2;
    if (kws_invoke(NULL, &in, &out) != KWS_ENULL) return 3;
    return kws_invoke(set("other.bin"), &in, &out) == KWS_EWEIGHTS ? 0 : 4;
}
)";

TEST_F(Header, OneProgramServesSeveralSetsOfWeights) {
  compile_text(kLayers, {"--weights", "pointer"});
  const std::string code = read("kws.c");
  write("one.bin", read("kws_weights.bin"));
  write("other.bin", "no" + read("kws_weights.bin"));
  std::string other = kLayers;
  other.replace(other.find("{1, 2, 3"), 8, "{2, 2, 3");
  compile_text(other, {"--weights", "pointer"});
  EXPECT_EQ(read("kws.c"), code);
  write("two.bin", read("kws_weights.bin"));
  expect_runs(kSets, "kws.c");
  EXPECT_EQ(shell(arenac_tool() + " run kws.onnx --weights pointer --quiet").status, 0);
}

}  // namespace
}  // namespace arenac
