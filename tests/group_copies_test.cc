// Constants that runs copy into fast memory before the groups that read them: what is computed with the
// copies is what is computed with the constants, wherever these lie and however a run comes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "codegen/memory_map.h"
#include "tests/firmware.h"

namespace arenac::group_copies_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using GroupCopies = Firmware;

std::string numbers(int count) {
  std::string all = "0.5";
  for (int k = 1; k < count; ++k) all += fmt::format(",{}", k * 37 % 19 - 9);
  return all;
}

// Two filters that each pixel reads and a matrix that is read once. The matrix has 8 * n elements.
std::string network(int n) {
  return fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 1, 16, 16] x) => (float[1, {0}] y)
    <float[8, 1, 3, 3] first = {{{1}}}, float[8, 8, 3, 3] second = {{{2}}}, float[8, {0}] dense = {{{3}}}> {{
      a = Conv<pads = [1, 1, 1, 1]>(x, first)
      b = Relu(a)
      c = Conv<pads = [1, 1, 1, 1]>(b, second)
      d = GlobalAveragePool(c)
      f = Flatten(d)
      y = MatMul(f, dense)
    }})",
                     n, numbers(72), numbers(576), numbers(8 * n));
}

std::vector<std::string> copying(std::vector<std::string> words, const std::string& more = "size=4K") {
  words.insert(words.end(), {"--target", "cortex-m4", "--pool",
                             "name=dtcm,kind=constants,section=.dtcm,copy=group," + more});
  return words;
}

// "first [0, 2)" of each copy in a map.
std::vector<std::string> copies_in(const MemoryMap& map) {
  std::vector<std::string> all;
  for (const MapBuffer& b : map.buffers)
    if (b.kind == BufferKind::kCopy) all.push_back(fmt::format("{} [{}, {})", b.name, b.begin, b.end));
  return all;
}

// `plain` reads its constants where they lie. Both compute twice, on memory that was something else's.
const std::string kSame = beside_plain(R"(
    w.arena = kws_static_arena(), w.dtcm = kws_static_dtcm();
    in.x = x, out.y = y[1];
    for (k = 0; k < 2; ++k) {
        memset(w.dtcm, 0x55, KWS_DTCM_SIZE);
        memset(y[1], 0, sizeof y[1]);
        if (kws_run(&w, &in, &out) != KWS_OK || memcmp(y[0], y[1], sizeof y[0]) != 0) return 2;
    }
    w.dtcm = 0;
    return kws_run(&w, &in, &out) == KWS_ENULL && kws_invoke(&in, &out) == KWS_OK ? 0 : 3;
)");

TEST_F(GroupCopies, AreReadForTheConstants) {
  // Readable arrays, strings, an assembler file; whole layers and rows.
  for (const auto& [n, form, optimize] :
       {std::tuple(4, "c", "speed"), std::tuple(4, "c", "ram"), std::tuple(2400, "c", "balanced"),
        std::tuple(4, "incbin", "ram")}) {
    SCOPED_TRACE(fmt::format("{}, {}, {}", n, form, optimize));
    compile_text(network(n),
                 {"--name", "plain", "--weights", form, "--optimize", optimize, "--target", "cortex-m4"});
    compile_text(network(n), copying({"--name", "kws", "--weights", form, "--optimize", optimize}));
    EXPECT_THAT(read("kws.c"), HasSubstr("KWS_COPY((pool_dtcm"));
    const std::string sanitized = std::string(form) == "incbin" ? "" : "-fsanitize=address ";
    expect_runs(kSame, sanitized + "kws.c plain.c " + weights_of("kws", form) + weights_of("plain", form));
  }
}

TEST_F(GroupCopies, LiveAsLongAsTheirGroup) {
  compile_text(network(4), copying({"--optimize", "speed"}));
  MemoryMap map = memory_map_from_json(read("kws_map.json"));
  EXPECT_EQ(memory_map_from_json(to_json(map)), map);
  EXPECT_THAT(copies_in(map), ElementsAre(HasSubstr("first [0, 1)"), HasSubstr("second [1, 2)")));
  EXPECT_EQ(arenac({"verify", "kws_map.json"}).status, 0);
  EXPECT_THAT(read("kws.h"), AllOf(HasSubstr("KWS_DTCM_SIZE 2304u"), HasSubstr("void *dtcm;")));
  EXPECT_THAT(arenac({"map", "kws_map.json"}).output, HasSubstr("Pool dtcm: 2,304 bytes of 4,096"));
  EXPECT_EQ(map.pools[1].size, 2304);
  EXPECT_EQ(map.totals.weights, 288 + 2304 + 128);
  // In one group of rows both live through it.
  compile_text(network(4), copying({"--optimize", "ram"}));
  map = memory_map_from_json(read("kws_map.json"));
  ASSERT_EQ(map.groups.size(), 1u);
  EXPECT_EQ(copies_in(map).size(), 2u);
  for (const MapBuffer& b : map.buffers)
    if (b.kind == BufferKind::kCopy) {
      EXPECT_EQ(b.begin, map.groups[0].begin);
      EXPECT_EQ(b.end, map.groups[0].end);
      EXPECT_EQ(b.readers.size(), 1u);
    }
  EXPECT_EQ(map.pools[1].size, 2592);
}

TEST_F(GroupCopies, AreThoseThatPayAndFit) {
  const std::vector<std::tuple<std::string, std::string, std::string>> rows = {
      {"size=4K", "KWS_DTCM_SIZE 2304u", ""},
      {"size=1K", "KWS_DTCM_SIZE 288u", "constant 'second' of 2304 bytes"},
      {"size=64", "KWS_DTCM_SIZE 1u", "finds no room in the 64 of pool 'dtcm'"},
      {"size=0", "KWS_DTCM_SIZE 1u", "finds no room in the 0 of pool 'dtcm'"},
      {"wait=4", "KWS_DTCM_SIZE 1u", "no constant is read so often that a copy in pool 'dtcm' pays"},
      {"size=9223372036854775807,align=65536", "KWS_DTCM_ALIGN 65536u", ""}};
  write_model("kws.onnx", network(4));
  for (const auto& [more, size, note] : rows) {
    SCOPED_TRACE(more);
    const Finished done = arenac(copying({"compile", "kws.onnx", "--optimize", "speed"}, more));
    ASSERT_EQ(done.status, 0) << done.output;
    EXPECT_THAT(read("kws.h"), HasSubstr(size));
    EXPECT_EQ(done.output.find("note: ") != std::string::npos, !note.empty()) << done.output;
    EXPECT_THAT(done.output, HasSubstr(note));
    EXPECT_EQ(arenac(copying({"run", "kws.onnx", "--quiet", "--optimize", "speed"}, more)).status, 0);
  }
}

TEST_F(GroupCopies, AreOfWhatLiesInSlowerMemory) {
  const std::vector<std::string> faster = {"--pool", "name=itcm,kind=constants,size=512"};
  const std::vector<std::string> slower = {"--pool", "name=qspi,kind=constants,wait=9"};
  std::vector<std::string> words = faster;
  words = copying(words);
  words.insert(words.end(), slower.begin(), slower.end());
  compile_text(network(4), words);
  EXPECT_THAT(copies_in(memory_map_from_json(read("kws_map.json"))), ElementsAre(HasSubstr("second")));
  words.back() += ",copy=start";
  compile_text(network(4), words);
  EXPECT_THAT(read("kws.c"), HasSubstr("kws_pool_qspi.bytes"));
  words.insert(words.begin(), {"run", "kws.onnx", "--quiet"});
  EXPECT_EQ(arenac(words).status, 0);
}

TEST_F(GroupCopies, APinMakesOne) {
  compile_text(network(4), copying({"--pin", "dense=dtcm", "--optimize", "speed"}));
  EXPECT_THAT(read("kws.c"), HasSubstr(": dense */"));
  const Finished full = arenac(copying({"compile", "kws.onnx", "--pin", "second=dtcm"}, "size=1K"));
  EXPECT_EQ(full.status, 3);
  EXPECT_THAT(full.output, HasSubstr("--pin: constant 'second' of 2304 bytes"));
  const Finished none = arenac(copying({"compile", "kws.onnx", "--pin", "denze=dtcm"}));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.output, HasSubstr("did you mean dense"));
}

// Two runs at the same time, part by part.
constexpr const char* kInParts = R"(
#include <kws.h>
#include <plain.h>
#include <string.h>
static double own[2][2][(KWS_ARENA_SIZE + KWS_DTCM_SIZE) / sizeof(double) + 1];
int main(void)
{
    static float x[2][KWS_INPUT_X_COUNT];
    static float y[2][2][KWS_OUTPUT_Y_COUNT];
    kws_workspace w[2];
    int status[2], k;
    size_t e;
    for (k = 0; k < 2; ++k) {
        plain_inputs plain_in;
        plain_outputs plain_out;
        kws_inputs in;
        kws_outputs out;
        for (e = 0; e < KWS_INPUT_X_COUNT; ++e) x[k][e] = (float)(e * (size_t)(7 + k) % 11) - 5.0f;
        plain_in.x = in.x = x[k], plain_out.y = y[k][0], out.y = y[k][1];
        if (plain_invoke(&plain_in, &plain_out) != PLAIN_OK) return 1;
        w[k].arena = own[k][0], w[k].dtcm = own[k][1];
        if (kws_begin(&w[k], &in, &out) != KWS_OK) return 2;
    }
    do {
        status[0] = kws_step(&w[0]);
        status[1] = kws_step(&w[1]);
    } while (status[0] == KWS_MORE && status[1] == KWS_MORE);
    if (status[0] != KWS_OK || status[1] != KWS_OK) return 3;
    return memcmp(y[0][0], y[0][1], sizeof y[0][0]) || memcmp(y[1][0], y[1][1], sizeof y[1][0]) ? 4 : 0;
}
)";

TEST_F(GroupCopies, OutliveThePartsOfARun) {
  for (const char* optimize : {"speed", "ram"}) {
    SCOPED_TRACE(optimize);
    compile_text(network(4), {"--name", "plain", "--optimize", optimize, "--target", "cortex-m4"});
    compile_text(network(4), copying({"--name", "kws", "--optimize", optimize, "--step-cycles", "500"}));
    expect_runs(kInParts, "-fsanitize=address kws.c plain.c kws_weights.c plain_weights.c");
  }
}

TEST_F(GroupCopies, AreMadeInRunsOfAnyKind) {
  write_model("kws.onnx", network(4));
  for (const char* words :
       {"--weights=pointer", "--weights=bin", "--io=arena", "--feed=x=2", "--step-cycles=999"}) {
    SCOPED_TRACE(words);
    const Finished plain = arenac({"run", "kws.onnx", "--target", "cortex-m4", words, "--outputs", "plain"});
    const Finished done = arenac(copying({"run", "kws.onnx", words, "--outputs", "kws"}));
    EXPECT_EQ(done.status, 0) << done.output;
    EXPECT_EQ(read("kws/output_0.pb"), read("plain/output_0.pb"));
  }
}

TEST_F(GroupCopies, OnABoardGiveTheSameBits) {
  if (shell("command -v qemu-system-arm && command -v arm-none-eabi-gcc").status != 0)
    GTEST_SKIP() << "qemu-system-arm and arm-none-eabi-gcc are not installed";
  write_model("kws.onnx", network(4));
  for (const char* board : {"qemu-m4", "qemu-m7"}) {
    const Finished plain =
        arenac({"run", "kws.onnx", "--target", "cortex-m4", "--on", board, "--outputs", "plain"});
    const Finished done = arenac(copying({"run", "kws.onnx", "--on", board, "--outputs", "kws"}));
    ASSERT_EQ(done.status, 0) << done.output;
    EXPECT_EQ(read("kws/output_0.pb"), read("plain/output_0.pb"));
  }
}

constexpr const char* kByDma = R"(
#include <kws.h>
#include <string.h>
size_t dma_bytes;
void dma(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    dma_bytes += size;
}
int main(void)
{
    static float x[KWS_INPUT_X_COUNT];
    static float y[KWS_OUTPUT_Y_COUNT];
    kws_inputs in;
    kws_outputs out;
    in.x = x, out.y = y;
    return kws_invoke(&in, &out) == KWS_OK && dma_bytes == 288 + 2304 ? 0 : 1;
}
)";

TEST_F(GroupCopies, AreMadeByWhatTheBuildSays) {
  write("hooks.h",
        "#include <stddef.h>\n#ifdef __cplusplus\nextern \"C\"\n#endif\n"
        "void dma(void *to, const void *from, size_t size);\n");
  compile_text(network(4), copying({}));
  expect_runs(kByDma, R"(-D'KWS_HOOK_HEADER="hooks.h"' -D'KWS_COPY(t,f,s)=dma(t,f,s)' kws.c kws_weights.c)",
              {"cc -std=c99", "clang -std=c99"});
}

TEST_F(GroupCopies, AreTheSameEachTime) {
  compile_text(network(4), copying({}));
  const std::string c = read("kws.c"), map = read("kws_map.json");
  compile_text(network(4), copying({}));
  EXPECT_EQ(read("kws.c"), c);
  EXPECT_EQ(read("kws_map.json"), map);
}

constexpr const char* kBoth = R"(
#include <both.h>
int main(void)
{
    static float x[KWS_INPUT_X_COUNT];
    static float y[4], z[8];
    kws_inputs in;
    kws_outputs out;
    other_inputs other_in;
    other_outputs other_out;
    in.x = other_in.x = x, out.y = y, other_out.y = z;
    return kws_invoke(&in, &out) == KWS_OK && other_invoke(&other_in, &other_out) == OTHER_OK &&
                   BOTH_DTCM_SIZE == SIZE
               ? 0
               : 1;
}
)";

TEST_F(GroupCopies, OfSeveralModelsLieByHowTheseRun) {
  write_model("kws.onnx", network(4));
  write_model("other.onnx", network(8));
  for (const auto& [kind, size] :
       {std::pair("exclusive", 2592), std::pair("sequential", 2592), std::pair("concurrent", 2592 + 288)}) {
    SCOPED_TRACE(kind);
    const Finished done = arenac(copying({"compile", "kws.onnx", "other.onnx", "--together", kind, "--name",
                                          "both", "--optimize", "ram", "--quiet"},
                                         "size=3K"));
    ASSERT_EQ(done.status, 0) << done.output;
    expect_runs(kBoth, fmt::format("-DSIZE={} both.c kws.c other.c kws_weights.c other_weights.c", size),
                {"cc -std=c99"});
    EXPECT_EQ(arenac({"verify", "both_map.json"}).status, 0);
  }
}

TEST_F(GroupCopies, OfWhatCannotBeAreRefused) {
  write_model("kws.onnx", network(4));
  const std::string pool = "name=dtcm,kind=constants,copy=group";
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"--pool", "name=dtcm,copy=group"}, "copy=group is for kind=constants"},
      {{"--pool", "name=dtcm,wait=3"}, "wait is for kind=constants"},
      {{"--pool", pool + ",wait=-1"}, "wait is '-1', but the cycles that a read waits are 0 to 10000"},
      {{"--pool", pool + ",wait=10001"}, "are 0 to 10000"},
      {{"--pool", pool, "--pool", "name=b,kind=constants,copy=group"}, "only one pool has copy=group"},
      {{"--pool", "name=Arena,kind=constants,copy=group"}, "the arena has this name"},
      {{"--pool", pool, "--pool", "name=DTCM"}, "there is a pool 'dtcm' already"},
      {{"--pool", "name=at,kind=constants,copy=group", "--step-cycles", "9"},
       "with --step-cycles the C has"}};
  for (const auto& [words, said] : rows) {
    std::vector<std::string> all = {"compile", "kws.onnx"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished refused = arenac(all);
    EXPECT_EQ(refused.status, 2) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr(said));
  }
  for (const char* name : {"weights", "weights_2", "int", "SIZE", "arena_size", "CAPACITY", "copy", "NAN"}) {
    compile_text(network(4), {"--pool", fmt::format("name={},kind=constants,copy=group", name), "--pool",
                              "name=rest,kind=constants"});
    EXPECT_EQ(shell("cc -std=c99 -Wall -Werror -fsyntax-only kws.c kws_weights.c").status, 0) << name;
  }
}

}  // namespace
}  // namespace arenac::group_copies_test
