// Constants that NAME_load copies from flash: runs compute with the copies what they do with the constants
// themselves, and refuse before there are any.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "codegen/memory_map.h"
#include "tests/firmware.h"

namespace arenac {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Load = Firmware;

// A filter that is read most and a matrix of rows * 4 elements.
std::string filter_and_matrix(int rows) {
  std::string numbers = "0.5";
  for (int k = 1; k < rows * 4; ++k) numbers += fmt::format(",{}", k * 37 % 19 - 9);
  return fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 1, 4, {0}] x) => (float[1, 4] y)
    <float[1, 1, 3, 3] kernel = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}, float[{1}, 4] dense = {{{2}}}> {{
      c = Conv<pads = [1, 1, 1, 1]>(x, kernel)
      f = Flatten(c)
      y = MatMul(f, dense)
    }})",
                     rows / 4, rows, numbers);
}

// The words, and pools: the filter is copied.
std::vector<std::string> copying(std::vector<std::string> words) {
  words.insert(words.end(), {"--pool", "name=dtcm,kind=constants,size=512,align=32,section=.dtcm,copy=start",
                             "--pool", "name=rest,kind=constants"});
  return words;
}

// `plain` has its constants in flash.
const std::string kSame = beside_plain(R"(
    w.arena = kws_static_arena();
    in.x = x, out.y = y[1];
#ifdef ITSELF
    if (kws_invoke(&in, &out) != KWS_OK || memcmp(y[0], y[1], sizeof y[0]) != 0) return 2;
#else
    if (kws_run(NULL, &in, &out) != KWS_ENULL || kws_run(&w, &in, &out) != KWS_ELOAD) return 3;
    if (y[1][0] != 0.0f) return 4;
    kws_load();
#endif
    for (k = 0; k < 2; ++k) {
        out.y = y[1 + k];
        if (kws_run(&w, &in, &out) != KWS_OK || memcmp(y[0], y[1 + k], sizeof y[0]) != 0) return 5;
        kws_load();
    }
    return 0;
)");

TEST_F(Load, RunsComputeWithCopiesWhatTheyDoWithTheConstants) {
  // Readable arrays, strings, an assembler file.
  for (const auto& [rows, form] : {std::pair(16, "c"), std::pair(4800, "c"), std::pair(16, "incbin")}) {
    SCOPED_TRACE(fmt::format("{} rows, {}", rows, form));
    compile_text(filter_and_matrix(rows), {"--name", "plain", "--weights", form});
    compile_text(filter_and_matrix(rows), copying({"--name", "kws", "--weights", form}));
    const std::string sources = "kws.c plain.c " + weights_of("kws", form) + weights_of("plain", form);
    expect_runs(kSame, sources);
    expect_runs(kSame, sources + " -DITSELF", {"cc -std=c99"});
    EXPECT_EQ(arenac(copying({"run", "kws.onnx", "--quiet", "--weights", form})).status, 0);
  }
}

TEST_F(Load, TakesNoByteOfTheFlashImage) {
  for (const auto& [compiler, section] : {std::pair("cc", ".dtcm"), std::pair("clang", ".bss.dtcm")}) {
    if (shell(fmt::format("command -v {}", compiler)).status != 0) continue;
    SCOPED_TRACE(compiler);
    compile_text(filter_and_matrix(16),
                 {"--pool", fmt::format("name=dtcm,kind=constants,section={},copy=start", section)});
    const Finished done = shell(fmt::format(
        "{} -c kws.c -o kws.o && {} -c kws_weights.c -o w.o && readelf -SW kws.o | grep -F ' {} '; size -A "
        "w.o",
        compiler, compiler, section));
    EXPECT_THAT(done.output, AllOf(HasSubstr("NOBITS"), ContainsRegex("\\.rodata +29[26] ")));
    EXPECT_THAT(read("kws.h"), AllOf(HasSubstr("KWS_DTCM_SIZE 296u"), HasSubstr("KWS_DTCM_ALIGN 8u")));
  }
}

TEST_F(Load, TheMapHasBothMemories) {
  compile_text(filter_and_matrix(16), {"--pool", "name=dtcm,kind=constants,size=64,copy=start", "--pool",
                                       "name=qspi,kind=constants"});
  const MemoryMap map = memory_map_from_json(read("kws_map.json"));
  EXPECT_EQ(memory_map_from_json(to_json(map)), map);
  std::vector<std::string> regions;
  for (const MapRegion& region : regions_of(map))
    if (region.use == "constants") regions.push_back(fmt::format("{} in {}", region.size, region.memory));
  EXPECT_THAT(regions, testing::UnorderedElementsAre("36 in dtcm", "36 in flash", "256 in qspi"));
  EXPECT_EQ(map.totals.weights, 292);
  EXPECT_THAT(arenac({"map", "kws_map.json"}).output, HasSubstr("36 in dtcm copied from flash, 36 in flash"));
}

TEST_F(Load, APinSaysWhatIsCopied) {
  compile_text(filter_and_matrix(16), {"--pool", "name=flash,kind=constants", "--pool",
                                       "name=dtcm,kind=constants,copy=start", "--pin", "dense=dtcm"});
  EXPECT_THAT(read("kws.h"), AllOf(HasSubstr("KWS_DTCM_SIZE 256u"), HasSubstr("KWS_FLASH_SIZE 40u")));
  EXPECT_THAT(read("kws.c"), AllOf(HasSubstr("kws_copy("), HasSubstr(", 256u);"), Not(HasSubstr("36u);"))));
}

constexpr const char* kBeginsLater = R"(
#include <kws.h>
int main(void)
{
    static float x[KWS_INPUT_X_COUNT];
    static float y[4];
    kws_workspace w;
    kws_inputs in;
    kws_outputs out;
    int status;
    in.x = x, out.y = y;
    w.arena = kws_static_arena();
    if (kws_begin(&w, &in, &out) != KWS_ELOAD || kws_run(&w, &in, &out) != KWS_ELOAD) return 1;
    kws_load();
    if (kws_begin(&w, &in, &out) != KWS_OK) return 2;
    while ((status = kws_step(&w)) == KWS_MORE) {}
    return status;
}
)";

TEST_F(Load, IsBeforePartsAndRowsToo) {
  compile_text(filter_and_matrix(16), copying({"--step-cycles", "1"}));
  expect_runs(kBeginsLater, "kws.c kws_weights.c");
  for (const char* words : {"--step-cycles=1", "--feed=x=2"})
    EXPECT_EQ(arenac(copying({"run", "kws.onnx", "--quiet", words})).status, 0) << words;
}

// The second has no constants to copy.
constexpr const char* kBoth = R"(
#include <both.h>
int main(void)
{
    static float x[KWS_INPUT_X_COUNT];
    static float y[4];
    const kws_inputs in = {x};
    const kws_outputs out = {y};
    const exp_inputs exp_in = {x};
    const exp_outputs exp_out = {y};
    kws_workspace w;
    exp_workspace v;
    w.arena = v.arena = both_static_arena();
    kws_load();
    if (kws_run(&w, &in, &out) != KWS_OK || exp_run(&v, &exp_in, &exp_out) != EXP_ELOAD) return 1;
    LOAD();
    return exp_run(&v, &exp_in, &exp_out) == EXP_OK && exp_invoke(&exp_in, &exp_out) == EXP_OK ? 0 : 2;
}
)";

TEST_F(Load, IsEachModelsOfSeveral) {
  write_model("kws.onnx", filter_and_matrix(16));
  write_model("exp.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 4] x) => (float[1, 4] y) { a = Softmax(x) y = Exp(a) })");
  const Finished done =
      arenac({"compile", "kws.onnx", "exp.onnx", "--together", "exclusive", "--name", "both", "--quiet",
              "--pool", "name=flash,kind=constants", "--pool",
              "name=dtcm,kind=constants,section=.dtcm,copy=start", "--pin", "kws:kernel=dtcm"});
  ASSERT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(read("both.h"), HasSubstr("void both_load(void);"));
  for (const char* load : {"exp_load", "both_load"})
    expect_runs(kBoth, fmt::format("-DLOAD={} both.c kws.c exp.c kws_weights.c exp_weights.c", load));
}

TEST_F(Load, IsOfConstantsInC) {
  write_model("kws.onnx", filter_and_matrix(16));
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"--pool", "name=dtcm,kind=constants,copy=now"}, "copy is 'now', but only 'start' (NAME_load"},
      {{"--pool", "name=dtcm,copy=start"}, "copy=start is for kind=constants"},
      {{"--pool", "name=dtcm,kind=constants,copi=start"}, "did you mean copy"},
      {{"--pool", "name=dtcm,kind=constants,copy=start", "--weights", "pointer"},
       "you place the bytes yourself"}};
  for (const auto& [words, said] : rows) {
    std::vector<std::string> all = {"compile", "kws.onnx"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished refused = arenac(all);
    EXPECT_EQ(refused.status, 2) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr(said));
  }
}

}  // namespace
}  // namespace arenac
