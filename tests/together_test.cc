// Several models in one program: each computes what it does alone, whatever ran before, between or meanwhile.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "codegen/memory_map.h"
#include "tests/firmware.h"

namespace arenac {
namespace {

using testing::HasSubstr;
using testing::Not;
using Together = Firmware;

// Wide in the middle; keeps a sum from call to call; another one.
constexpr const char* kWide = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[1, 4] x) => (float[1, 4] y)
  <float[4, 64] m, float[64, 4] n> {
    a = MatMul(x, m)
    b = Sigmoid(a)
    c = Softmax(b)
    y = MatMul(c, n)
  })";
constexpr const char* kSum = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[1, 4] x, float[1, 4] before) => (float[1, 4] y, float[1, 4] after) {
    after = Add(x, before)
    y = Softmax(after)
  })";
constexpr const char* kNarrow = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[1, 4] x) => (float[1, 4] y) {
    a = Softmax(x)
    y = Exp(a)
  })";

std::string with_numbers(std::string text) {
  for (const char* name : {"float[4, 64] m", "float[64, 4] n"}) {
    std::string numbers = " = {0.5";
    for (int k = 1; k < 256; ++k) numbers += "," + std::to_string(k * 37 % 19 - 9);
    const size_t at = text.find(name);
    text.insert(at + std::string(name).size(), numbers + "}");
  }
  return text;
}

int64_t arena_of(const std::string& map) { return memory_map_from_json(map).totals.arena; }
int64_t stack_of(const std::string& map) { return memory_map_from_json(map).totals.stack; }

// What each gives alone is written by the first program, with arenas of their own.
constexpr const char* kInTurn = R"(
#include <stdio.h>
#include <string.h>
#include <wide.h>
#include <sum.h>
#include <narrow.h>
static const float x[4] = {0.5f, -1.0f, 2.0f, 0.25f};
int main(int argc, char **argv)
{
    static float y[12][4];
    static float alone[12][4];
    int k, call = 0;
    FILE *file;
    (void)argc, (void)argv;
    if (sum_reset_static() != 0) return 1;
    for (k = 0; k < 4; ++k) {
        const wide_inputs wide_in = {x};
        const sum_inputs sum_in = {x};
        const narrow_inputs narrow_in = {x};
        wide_outputs wide_out;
        sum_outputs sum_out;
        narrow_outputs narrow_out;
        wide_out.y = y[call++], sum_out.y = y[call++], narrow_out.y = y[call++];
        if (wide_invoke(&wide_in, &wide_out) != 0 || sum_invoke(&sum_in, &sum_out) != 0) return 2;
        if (narrow_invoke(&narrow_in, &narrow_out) != 0) return 3;
    }
    file = fopen("alone.bin", "rb");
    if (!file) {
        file = fopen("alone.bin", "wb");
        return file && fwrite(y, sizeof y, 1, file) == 1 && fclose(file) == 0 ? 0 : 4;
    }
    if (fread(alone, sizeof alone, 1, file) != 1 || fclose(file) != 0) return 5;
    return memcmp(y, alone, sizeof y) == 0 ? 0 : 6;
}
)";
constexpr const char* kSources = "wide.c wide_weights.c sum.c sum_weights.c narrow.c narrow_weights.c";

TEST_F(Together, EachComputesWhatItDoesAlone) {
  write_model("wide.onnx", with_numbers(kWide));
  write_model("sum.onnx", kSum);
  write_model("narrow.onnx", kNarrow);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"wide.onnx"}, {"sum.onnx", "--state", "after=before"}, {"narrow.onnx"}}) {
    std::vector<std::string> command = {"compile", "--quiet", "--optimize", "speed"};
    command.insert(command.end(), words.begin(), words.end());
    ASSERT_EQ(arenac(command).status, 0);
  }
  expect_runs(kInTurn, kSources, {"cc -std=c99"});
  const int64_t wide = arena_of(read("wide_map.json")), sum = arena_of(read("sum_map.json")),
                narrow = arena_of(read("narrow_map.json"));
  std::vector<int64_t> stacks;
  for (const char* name : {"wide", "sum", "narrow"})
    stacks.push_back(stack_of(read(fmt::format("{}_map.json", name))));
  const std::vector<std::string> all = {"compile", "wide.onnx",        "sum.onnx", "narrow.onnx",
                                        "--state", "sum:after=before", "--quiet",  "--optimize",
                                        "speed",   "--name",           "trio",     "--together"};
  for (const char* kind : {"exclusive", "sequential", "concurrent"}) {
    SCOPED_TRACE(kind);
    std::vector<std::string> command = all;
    command.emplace_back(kind);
    const Finished done = arenac(command);
    ASSERT_EQ(done.status, 0) << done.output;
    expect_runs(kInTurn, std::string(kSources) + " trio.c", {"cc -std=c99"});
    const int64_t trio = arena_of(read("trio_map.json"));
    EXPECT_EQ(stack_of(read("trio_map.json")), std::string(kind) == "concurrent"
                                                   ? std::accumulate(stacks.begin(), stacks.end(), int64_t{})
                                                   : std::ranges::max(stacks));
    if (std::string(kind) == "concurrent")
      EXPECT_GE(trio, wide + sum + narrow);
    else  // the state of 16 bytes keeps its place
      EXPECT_LE(trio, std::max({wide, sum, narrow}) + 16);
    EXPECT_EQ(arenac({"verify", "trio_map.json"}).status, 0);
  }
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST_F(Together, KernelsInCommonAreThereOnce) {
  write_model("first.onnx", with_numbers(kWide));
  write_model("second.onnx", with_numbers(kWide));
  ASSERT_EQ(arenac({"compile", "first.onnx", "--quiet", "-o", "alone"}).status, 0);
  ASSERT_EQ(
      arenac({"compile", "first.onnx", "second.onnx", "--together", "exclusive", "--name", "duo", "--quiet"})
          .status,
      0);
  const size_t kernels = count(read("alone/first.c"), "_NOINLINE void ");
  EXPECT_GE(kernels, 3u);
  EXPECT_EQ(count(read("duo.c"), "_NOINLINE void "), kernels);
  EXPECT_EQ(count(read("duo_kernels.h"), "void duo_"), kernels);
  EXPECT_EQ(count(read("first.c") + read("second.c"), "NOINLINE"), 0u);
}

// Kernels of text, of halves and those written in C are declared for models that have none of them.
TEST_F(Together, KernelsAreDeclaredForAll) {
  const auto of = [](const char* body) {
    return fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g {}", body);
  };
  write_model("words.onnx", of("(string[3] x) => (string[6] y) { y = Concat<axis = 0>(x, x) }"));
  write_model("half.onnx", of("(float[4] x) => (float16[4] y) { y = Cast<to = 10>(x) }"));
  write_model("total.onnx", of("(float[2000] x) => (float[2000] y) <int64 a = {0}> { y = CumSum(x, a) }"));
  write_model("narrow.onnx", kNarrow);
  const Finished done = arenac({"compile", "words.onnx", "half.onnx", "total.onnx", "narrow.onnx",
                                "--together", "concurrent", "--name", "all", "--quiet"});
  ASSERT_EQ(done.status, 0) << done.output;
  std::string sources = "all.c";
  for (const char* name : {"words", "half", "total", "narrow"})
    sources += fmt::format(" {0}.c {0}_weights.c", name);
  expect_runs("#include <all.h>\nint main(void) { return all_static_arena() ? 0 : 1; }\n", sources);
}

// wide and narrow take turns, and sum, which keeps something, may interrupt either.
TEST_F(Together, KindsMayBeWithinKinds) {
  write_model("wide.onnx", with_numbers(kWide));
  write_model("sum.onnx", kSum);
  write_model("narrow.onnx", kNarrow);
  const auto alone = [&](const std::vector<std::string>& words) {
    std::vector<std::string> command = {"compile", "--quiet", "--optimize", "speed"};
    command.insert(command.end(), words.begin(), words.end());
    EXPECT_EQ(arenac(command).status, 0);
    return read(words[0].substr(0, words[0].find('.')) + "_map.json");
  };
  const std::string wide = alone({"wide.onnx"}), sum = alone({"sum.onnx", "--state", "after=before"}),
                    narrow = alone({"narrow.onnx"});
  expect_runs(kInTurn, kSources, {"cc -std=c99"});
  const auto mixed = [&](const std::string& turns, const std::vector<std::string>& more = {}) {
    write("turns.json", turns);
    std::vector<std::string> command = {
        "compile",    "wide.onnx", "sum.onnx", "narrow.onnx", "--state",    "sum:after=before", "--quiet",
        "--optimize", "speed",     "--name",   "trio",        "--together", "turns.json"};
    command.insert(command.end(), more.begin(), more.end());
    return arenac(command);
  };
  ASSERT_EQ(mixed(R"({"concurrent": ["sum", {"exclusive": ["narrow", "wide"]}]})").status, 0);
  expect_runs(kInTurn, std::string(kSources) + " trio.c", {"cc -std=c99"});
  const std::string trio = read("trio_map.json");
  EXPECT_THAT(trio, HasSubstr("concurrent(sum, exclusive(narrow, wide))"));
  const auto padded = [](int64_t bytes) { return (bytes + 15) / 16 * 16; };
  EXPECT_LE(arena_of(trio), padded(arena_of(sum)) + padded(std::max(arena_of(wide), arena_of(narrow))));
  EXPECT_GE(arena_of(trio), arena_of(sum) + std::max(arena_of(wide), arena_of(narrow)));
  EXPECT_EQ(stack_of(trio), stack_of(sum) + std::max(stack_of(wide), stack_of(narrow)));
  EXPECT_EQ(arenac({"verify", "trio_map.json"}).status, 0);

  // What is concurrent with sum lies elsewhere, and so does all of sum, which keeps something, while wide
  // runs.
  ASSERT_EQ(mixed(R"({"sequential": [{"concurrent": ["sum", "narrow"]}, "wide"]})").status, 0);
  expect_runs(kInTurn, std::string(kSources) + " trio.c", {"cc -std=c99"});
  EXPECT_GE(arena_of(read("trio_map.json")), arena_of(sum) + arena_of(wide));
  EXPECT_EQ(arenac({"verify", "trio_map.json"}).status, 0);

  const auto refusal = [&](const std::string& turns, const std::vector<std::string>& more = {}) {
    const Finished done = mixed(turns, more);
    EXPECT_EQ(done.status, 2);
    return done.output;
  };
  EXPECT_THAT(refusal("{"), HasSubstr("turns.json: is no JSON"));
  EXPECT_THAT(refusal(R"(["wide", "sum", "narrow"])"), HasSubstr("expected a model's name, or one kind"));
  EXPECT_THAT(refusal(R"({"exclusive": ["wide"]})"), HasSubstr("two and more"));
  EXPECT_THAT(refusal(R"({"concurent": ["wide", "sum", "narrow"]})"), HasSubstr("did you mean concurrent?"));
  EXPECT_THAT(refusal(R"({"exclusive": ["wide", "sum", "narow"]})"), HasSubstr("did you mean narrow?"));
  EXPECT_THAT(refusal(R"({"exclusive": ["wide", "sum", "wide"]})"), HasSubstr("'wide' is there twice"));
  EXPECT_THAT(refusal(R"({"exclusive": ["wide", "sum"]})"), HasSubstr("nothing of the model 'narrow'"));
  std::string deep;
  for (int k = 0; k < 100'000; ++k) deep += R"({"exclusive": ["wide", )";
  for (int k = 0; k < 100'000; ++k) deep += "\"sum\"]}";
  EXPECT_THAT(refusal(deep), HasSubstr("turns.json: "));
  const std::vector<std::string> connect = {"--io", "arena", "--connect", "wide.y=narrow.x"};
  EXPECT_THAT(refusal(R"({"sequential": ["sum", {"concurrent": ["wide", "narrow"]}]})", connect),
              HasSubstr("do not run one after the other"));
  EXPECT_EQ(mixed(R"({"concurrent": ["sum", {"sequential": ["wide", "narrow"]}]})", connect).status, 0);
}

// In the middle of one the other runs.
constexpr const char* kInterrupt = R"(
#include <string.h>
#include <duo.h>
static const float x[4] = {0.5f, -1.0f, 2.0f, 0.25f};
static float narrow_y[4];
static int interrupts;
static void take(void *user, size_t row, const float *data)
{
    const narrow_inputs in = {x};
    narrow_outputs out;
    out.y = narrow_y;
    memcpy((float *)user + row, data, sizeof *data);
    if (narrow_invoke(&in, &out) == 0) ++interrupts;
}
int main(void)
{
    static float y[2][8];
    static const float rows[8] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f};
    int k;
    for (k = 0; k < 2; ++k) {
        rows_inputs in;
        rows_outputs out;
        in.x = rows;
        out.y.row = take, out.y.user = y[k];
        if (rows_invoke(&in, &out) != 0) return 1;
    }
    if (interrupts != 16 || memcmp(y[0], y[1], sizeof y[0]) != 0) return 2;
    for (k = 0; k < 8; ++k)
        if (y[0][k] != (k > 0 ? rows[k - 1] : 0.0f) + rows[k] + (k < 7 ? rows[k + 1] : 0.0f)) return 3;
    return 0;
}
)";

TEST_F(Together, OneMayInterruptTheOther) {
  write_model("rows.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 1, 8, 1] x) => (float[1, 1, 8, 1] y) <float[1, 1, 3, 1] w = {1, 1, 1}> {
      a = Conv<pads = [1, 0, 1, 0]>(x, w)
      y = Identity(a)
    })");
  write_model("narrow.onnx", kNarrow);
  const Finished done = arenac({"compile", "rows.onnx", "narrow.onnx", "--together", "concurrent", "--emit",
                                "rows:y", "--name", "duo", "--quiet"});
  ASSERT_EQ(done.status, 0) << done.output;
  expect_runs(kInterrupt, "rows.c rows_weights.c narrow.c narrow_weights.c duo.c");
}

constexpr const char* kPipeline = R"(
#include <pipe.h>
int main(void)
{
    wide_workspace w;
    narrow_workspace n;
    float y;
    int k;
    w.arena = pipe_static_arena();
    n.arena = w.arena;
    for (k = 0; k < 4; ++k) wide_input_x(&w)[k] = (float)k;
    if (wide_run(&w) != 0 || wide_output_y(&w) != narrow_input_x(&n)) return 1;
    y = 0.0f;
    if (narrow_run(&n) != 0) return 2;
    for (k = 0; k < 4; ++k) y += narrow_output_y(&n)[k];
    return y > 4.0f && y < 7.0f ? 0 : 3;
}
)";

TEST_F(Together, AnOutputIsTheNextInputInPlace) {
  write_model("wide.onnx", with_numbers(kWide));
  write_model("narrow.onnx", kNarrow);
  const std::vector<std::string> words = {"compile",    "wide.onnx", "narrow.onnx", "--together",
                                          "sequential", "--io",      "arena",       "--name",
                                          "pipe",       "--quiet",   "--connect"};
  const auto connected = [&](const std::string& connection) {
    std::vector<std::string> all = words;
    all.push_back(connection);
    return arenac(all);
  };
  ASSERT_EQ(connected("wide.y=narrow.x").status, 0);
  expect_runs(kPipeline, "wide.c wide_weights.c narrow.c narrow_weights.c pipe.c");
  EXPECT_THAT(connected("wide.z=narrow.x").output, HasSubstr("'z' is no output of wide"));
  EXPECT_THAT(connected("narrow.y=wide.x").output, HasSubstr("narrow runs before wide"));
  EXPECT_EQ(connected("wide.y").status, 2);
}

// Each of one step, in place where nobody reads the old values: what two read stays for the second.
TEST_F(Together, ConnectsModelsThatComputeInPlace) {
  const auto write_operator = [&](const char* name, const char* op) {
    write_model(name, fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[1, 4] x) => (float[1, 4] y) {{ y = {}(x) }})",
                                  op));
  };
  write_operator("first.onnx", "Neg");
  write_operator("second.onnx", "Exp");
  write_operator("third.onnx", "Abs");
  const Finished done = arenac({"compile", "first.onnx", "second.onnx", "third.onnx", "--together",
                                "sequential", "--io", "arena", "--name", "all", "--quiet", "--connect",
                                "first.y=second.x", "--connect", "first.y=third.x"});
  ASSERT_EQ(done.status, 0) << done.output;
  expect_runs(R"(
#include <all.h>
int main(void)
{
    first_workspace a;
    second_workspace b;
    third_workspace c;
    int k;
    a.arena = b.arena = c.arena = all_static_arena();
    for (k = 0; k < 4; ++k) first_input_x(&a)[k] = (float)k;
    if (first_run(&a) != 0 || second_run(&b) != 0) return 1;
    for (k = 0; k < 4; ++k)
        if (second_output_y(&b)[k] > 1.0f) return 2;
    if (third_run(&c) != 0) return 3;
    for (k = 0; k < 4; ++k)
        if (third_output_y(&c)[k] != (float)k) return 4;
    return 0;
}
)",
              "first.c second.c third.c all.c -lm");
}

TEST_F(Together, WarnsOfAConnectionBetweenScales) {
  const auto model = [](const char* first, const char* second) {
    return fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
  g (int8[4] x) => (int8[4] y) <float first = {{{}}}, float second = {{{}}}, int8 zero = {{3}}> {{
    a = DequantizeLinear(x, first, zero)
    b = Sin(a)
    y = QuantizeLinear(b, second, zero)
  }})",
                       first, second);
  };
  write_model("a.onnx", model("0.5", "0.25"));
  write_model("same.onnx", model("0.25", "1"));
  write_model("other.onnx", model("0.125", "1"));
  const auto connected = [&](const std::string& to) {
    return arenac({"compile", "a.onnx", to + ".onnx", "--together", "sequential", "--io", "arena",
                   "--connect", "a.y=" + to + ".x"});
  };
  EXPECT_THAT(connected("same").output, Not(HasSubstr("warning")));
  const Finished done = connected("other");
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.output,
              HasSubstr("a writes 'y' by the scale 0.25 and the zero point 3, other reads 'x' by 0.125"));
}

TEST_F(Together, SaysWhatItTakesAndWhatDoesNotFit) {
  write_model("wide.onnx", with_numbers(kWide));
  write_model("narrow.onnx", kNarrow);
  const Finished alone = arenac({"compile", "wide.onnx", "narrow.onnx"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.output, HasSubstr("--together exclusive, sequential or concurrent"));
  EXPECT_EQ(arenac({"compile", "wide.onnx", "wide.onnx", "--together", "exclusive"}).status, 2);
  EXPECT_EQ(arenac({"compile", "wide.onnx", "--together", "exclusive"}).status, 2);
  EXPECT_EQ(arenac({"compile", "wide.onnx", "narrow.onnx", "--together", "concurrent", "--ram", "64"}).status,
            3);
  const Finished map = arenac({"map", "wide.onnx", "narrow.onnx", "--together", "exclusive"});
  EXPECT_EQ(map.status, 0) << map.output;
  EXPECT_THAT(map.output, testing::AllOf(HasSubstr("wide: "), HasSubstr("narrow: ")));
}

}  // namespace
}  // namespace arenac
