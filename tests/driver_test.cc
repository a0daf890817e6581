// The driver's parts: command line, files, .npy, child processes, comparison.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "driver/compare.h"
#include "driver/files.h"
#include "driver/npy.h"
#include "driver/options.h"
#include "driver/process.h"
#include "driver/sha256.h"
#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

Options parse(std::vector<const char*> words) {
  words.insert(words.begin(), "arenac");
  return parse_options(static_cast<int>(words.size()), words.data());
}

// The message of the usage error that a command line causes; "" when it causes none.
std::string usage_error(std::vector<const char*> words) {
  try {
    parse(std::move(words));
  } catch (const UserError& error) {
    EXPECT_EQ(error.status, Exit::kUsage);
    return error.what();
  }
  return "";
}

TEST(Options, MistypedWordsAreToldWithTheNearestOne) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"complie", "m.onnx"}, "there is no command 'complie'; did you mean compile?"},
      {{"frobnicate"}, "there are: compile, export, map"},
      {{}, "a command is missing: one of compile, export, map"},
      {{"--versoin"}, "did you mean --version?"},
      {{"compile", "m.onnx", "--optmize", "ram"},
       "compile has no option '--optmize'; did you mean --optimize?"},
      {{"compile", "m.onnx", "--optmize=ram"}, "did you mean --optimize?"},
      {{"map", "m.onnx", "--quiet", "--htm", "x"}, "did you mean --html?"},
      {{"run", "m.onnx", "--input", "d"}, "did you mean --inputs?"},
      {{"plan", "p.csv", "--capcity", "1"}, "did you mean --capacity?"},
      {{"compile", "m.onnx", "--target", "cortex-m5"}, "did you mean cortex-m55?"},
      {{"compile", "m.onnx", "--optimize", "fast"}, "there are: ram, speed, balanced"},
      {{"compile", "m.onnx", "--scheduler", "layer-wise"}, "did you mean layerwise?"},
      {{"compile", "m.onnx", "--planner", "portfoli"}, "did you mean portfolio?"},
      {{"compile", "m.onnx", "--weights", "inkbin"}, "did you mean incbin?"},
      {{"compile", "m.onnx", "--pool", "name=a,sise=4"}, "did you mean size?"},
      {{"compile", "m.onnx", "--pool", "name=a,kind=arenas"}, "did you mean arena?"},
      {{"plan", "p.csv", "--planner", "al"}, "did you mean all?"},
      {{"list", "oprators"}, "did you mean operators?"},
      {{"explain", "a.onnx", "b.onnx"}, "'b.onnx' is one word too many: explain takes MODEL.onnx"},
      {{"explain", "a.onnx", "--", "--b.onnx"}, "'--b.onnx' is one word too many"},
      {{"compile", "a.onnx", "b.onnx"}, "2 models: --together exclusive, sequential or concurrent"},
      {{"compile"}, "MODEL.onnx is required (see arenac compile --help)"},
      {{"compile", "m.onnx", "--time", "soon"}, "'soon' is no number above 0"},
      {{"run", "m.onnx", "--inputs", "d", "--atol", "-1"}, "'-1' is no number from 0 on"}};
  for (const auto& [words, message] : cases) EXPECT_THAT(usage_error(words), testing::HasSubstr(message));
}

TEST(Options, OneQuantumIsAllowedUnlessAToleranceIsGiven) {
  EXPECT_EQ(parse({"run", "m.onnx"}).tolerance.quanta, 1);
  EXPECT_EQ(parse({"run", "m.onnx", "--atol", "0"}).tolerance.quanta, 0);
  EXPECT_EQ(parse({"run", "m.onnx", "--rtol", "0"}).tolerance.quanta, 0);
  EXPECT_EQ(parse({"run", "m.onnx", "--atol", "0", "--quanta", "2"}).tolerance.quanta, 2);
}

TEST(Options, HelpOfEachCommandShowsItsOwnExamples) {
  for (const char* command : {"compile", "map", "explain", "run", "plan", "verify", "list"}) {
    const std::string help = parse({command, "--help"}).text;
    EXPECT_THAT(help, testing::HasSubstr("Examples:\n  arenac " + std::string(command) + " "));
    for (const char* other : {"compile", "map", "explain", "run", "plan", "verify", "list"})
      if (std::string_view(other) != command) {
        EXPECT_THAT(help, testing::Not(testing::HasSubstr("\n  arenac " + std::string(other) + " ")));
      }
  }
  EXPECT_THAT(parse({"compile", "--help"}).text, testing::HasSubstr("\nMemory and time:"));
}

TEST(Options, CompileReadsEveryBinding) {
  const Options o =
      parse({"compile", "a b.onnx", "-o", "gen", "--dim", "batch=1", "--dim", "p.0=48", "--shape",
             "x:0=1x3x224", "--shape", "s=", "--name", "net", "--ram", "64K", "--depfile", "d"});
  EXPECT_EQ(o.command, Command::kCompile);
  EXPECT_EQ(o.compile.model, "a b.onnx");
  EXPECT_EQ(o.output, "gen");
  EXPECT_EQ(o.compile.import.dims, (std::map<std::string, int64_t>{{"batch", 1}, {"p.0", 48}}));
  EXPECT_EQ(o.compile.import.shapes, (std::map<std::string, Shape>{{"x:0", {1, 3, 224}}, {"s", {}}}));
  EXPECT_EQ(o.compile.name, "net");
  EXPECT_EQ(o.compile.ram, 65536);
  EXPECT_EQ(o.depfile, "d");
}

TEST(Options, ShapesOfSequencesAndOptionals) {
  const ImportOptions o = parse({"compile", "m.onnx", "--shape", "s=2x3,4", "--shape", "one=5", "--shape",
                                 "two=,", "--shape", "o=none"})
                              .compile.import;
  EXPECT_EQ(o.sequences,
            (std::map<std::string, std::vector<Shape>>{{"s", {{2, 3}, {4}}}, {"two", {{}, {}}}}));
  EXPECT_EQ(o.shapes, (std::map<std::string, Shape>{{"one", {5}}}));
  EXPECT_EQ(o.absent, std::set<std::string>{"o"});
}

TEST(Options, RepeatableOptionsTakeOneValueEach) {
  EXPECT_EQ(parse({"compile", "--dim", "batch=1", "net.onnx"}).compile.model, "net.onnx");
}

TEST(Options, ADimensionMayBeNamedLikeAnOption) {
  EXPECT_EQ(parse({"compile", "m.onnx", "--dim=-1=9"}).compile.import.dims.at("-1"), 9);
}

TEST(Options, MapReportsAreRequestedByTheirName) {
  const Options o = parse({"map", "m.json", "--csv", "m.csv"});
  ASSERT_EQ(o.reports.size(), 1u);
  EXPECT_EQ(o.reports[0].report, "csv");
  EXPECT_EQ(o.reports[0].file, "m.csv");
}

TEST(Options, RunDefaultsAreThePromisedTolerances) {
  const Options o = parse({"run", "m.onnx", "--inputs", "d"});
  EXPECT_EQ(o.tolerance.rtol, 1e-3);
  EXPECT_EQ(o.tolerance.atol, 1e-5);
}

TEST(Options, HelpAndVersionArePrinted) {
  EXPECT_EQ(parse({"--version"}).text, "arenac " ARENAC_VERSION "\n");
  EXPECT_THAT(parse({"--help"}).text, HasSubstr("arenac compile kws.onnx"));
  EXPECT_THAT(parse({"run", "--help"}).text, HasSubstr("--inputs"));
}

TEST(Options, WrongUsageIsExplained) {
  EXPECT_NE(usage_error({}), "");
  EXPECT_NE(usage_error({"frobnicate"}), "");
  EXPECT_NE(usage_error({"compile"}), "");
  EXPECT_NE(usage_error({"compile", "m.onnx", "--nonsense"}), "");
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--dim", "batch"}), HasSubstr("NAME=N"));
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--dim", "batch=-1"}), HasSubstr("no extent"));
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--dim", "batch=99999999999999999999"}),
              HasSubstr("no extent"));
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--shape", "x=1x"}), HasSubstr("no extent"));
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--name", "a-b"}), HasSubstr("a_b"));
  EXPECT_NE(usage_error({"compile", "m.onnx", "--planner", "magic"}), "");
  EXPECT_NE(usage_error({"compile", "m.onnx", "--ram", "-5"}), "");
  EXPECT_NE(usage_error({"compile", "m.onnx", "--quiet", "--verbose"}), "");
  EXPECT_NE(usage_error({"list", "secrets"}), "");
}

TEST(Options, PoolsAreReadFastestFirst) {
  const Options o = parse({"compile", "m.onnx", "--pool", "name=sram,size=64K,align=32,section=.sram",
                           "--pool=name=psram,kind=arena", "--pin", "a=b=psram"});
  ASSERT_EQ(o.compile.pools.size(), 2u);
  EXPECT_EQ(o.compile.pools[0].name, "sram");
  EXPECT_EQ(o.compile.pools[0].capacity, 65536);
  EXPECT_EQ(o.compile.pools[0].align, 32);
  EXPECT_EQ(o.compile.pools[1].capacity, std::nullopt);
  EXPECT_THAT(o.compile.sections, ElementsAre(".sram", ""));
  ASSERT_EQ(o.compile.pins.size(), 1u);
  EXPECT_EQ(o.compile.pins[0].tensor, "a=b");
  EXPECT_EQ(o.compile.pins[0].pool, "psram");
}

TEST(Options, APoolThatCannotBeIsExplained) {
  const auto error = [](std::vector<const char*> more) {
    more.insert(more.begin(), {"compile", "m.onnx"});
    return usage_error(more);
  };
  EXPECT_THAT(error({"--pool", "size=1K"}), HasSubstr("name is missing"));
  EXPECT_THAT(error({"--pool", "name=a,speed=9"}), HasSubstr("'speed' is not name, size"));
  EXPECT_THAT(error({"--pool", "name=a,size=big"}), HasSubstr("no size in bytes"));
  EXPECT_THAT(error({"--pool", "name=a,kind=cache"}), HasSubstr("there are: arena, constants"));
  EXPECT_THAT(error({"--pool", "name=a,align=24"}), HasSubstr("power of two"));
  EXPECT_THAT(error({"--pool", "name=a,section=a b"}), HasSubstr("section"));
  for (const char* name : {"name=a b", "name=2", "name=_a", "name=\xc3\xa4"})
    EXPECT_THAT(error({"--pool", name}), HasSubstr("must be a C identifier")) << name;
  EXPECT_THAT(error({"--pool", "name=a", "--pool", "name=A"}), HasSubstr("a pool 'a' already"));
  EXPECT_THAT(error({"--pin", "x"}), HasSubstr("TENSOR=POOL"));
}

TEST(Options, StatesAreSplitAtTheLastEqualsSign) {
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--state=a"}), HasSubstr("OUT=IN"));
}

TEST(Identifier, ComesFromTheFileName) {
  EXPECT_EQ(identifier_of("dir.d/my-net.v2.onnx"), "my_net_v2");
  EXPECT_EQ(identifier_of("2d.onnx"), "t2d");
  EXPECT_EQ(identifier_of("\xc3\xa4.onnx"), "t");
  EXPECT_EQ(identifier_of("int.onnx"), "int_");
  EXPECT_EQ(identifier_of("math.onnx"), "math_");  // <math.h> is another file
}

TEST(Identifier, OfALongNameIsItsBeginning) {
  const std::string most(kLongestName, 'a');
  EXPECT_EQ(identifier_of(most + ".onnx"), most);
  EXPECT_EQ(identifier_of("elsewhere/" + most + "b.onnx"), most);
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--name", (most + "b").c_str()}),
              AllOf(HasSubstr("has 49 letters, and 48 are the most"), HasSubstr("'" + most + "' would do")));
  EXPECT_EQ(usage_error({"compile", "m.onnx", "--name", most.c_str()}), "");
  EXPECT_THAT(usage_error({"compile", "m.onnx", "--pool", ("name=" + std::string(37, 'p')).c_str()}),
              HasSubstr("37 letters, and 36 are the most"));
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Files, AreWrittenTogetherIntoANewFolder) {
  const TemporaryFolder scratch;
  const fs::path folder = scratch.path() / "a" / "b";
  write_files(folder, {{"x.c", "1"}, {"y.h", std::string("\0\n", 2)}});
  EXPECT_THAT(names_in(folder), ElementsAre("x.c", "y.h"));
  EXPECT_EQ(read_file(folder / "y.h"), std::string("\0\n", 2));
  write_files(folder, {{"x.c", ""}});
  EXPECT_EQ(read_file(folder / "x.c"), "");
}

TEST(Files, NothingIsLeftWhenOneCannotBeWritten) {
  const TemporaryFolder scratch;
  fs::create_directory(scratch.path() / "y.h");
  EXPECT_THROW(write_files(scratch.path(), {{"x.c", "1"}, {"y.h", "2"}}), UserError);
  EXPECT_THAT(names_in(scratch.path()), ElementsAre("y.h"));
  EXPECT_THROW(write_files(scratch.path() / "new", {{"x.c", "1"}, {"x.c/y.h", "2"}}), UserError);
  EXPECT_THAT(names_in(scratch.path()), ElementsAre("y.h"));
}

TEST(Files, FoldersInTheirNamesAreMade) {
  const TemporaryFolder scratch;
  write_files(scratch.path() / "gen", {{"src/x.c", "1"}, {"include/deep/x.h", "2"}});
  EXPECT_EQ(read_file(scratch.path() / "gen/include/deep/x.h"), "2");
  EXPECT_EQ(read_file(scratch.path() / "gen/src/x.c"), "1");
}

TEST(Files, AFileInTheWayOfTheFolderIsAnError) {
  const TemporaryFolder scratch;
  write_files(scratch.path(), {{"gen", "a file"}});
  EXPECT_THROW(write_files(scratch.path() / "gen", {{"x.c", "1"}}), UserError);
  EXPECT_EQ(read_file(scratch.path() / "gen"), "a file");
}

TEST(Files, TemporaryFolderIsGoneAtTheEnd) {
  fs::path path;
  {
    const TemporaryFolder scratch;
    path = scratch.path();
    write_files(path / "deep", {{"x", "1"}});
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(path));
}

// An .npy file of format 1.0.
std::string npy(const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY\x01";
  text += '\0';
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  return text + header + data;
}

TEST(Npy, ReadsShapeTypeAndData) {
  const float numbers[] = {1, -2, 3.5f, 0, 5, 6};
  const std::string data(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const Value v =
      npy_value(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }     \n", data), "x.npy");
  EXPECT_EQ(v.type, Type::kFloat32);
  EXPECT_EQ(v.shape, (Shape{2, 3}));
  EXPECT_EQ(load(v, 2).f, 3.5);
  const Value scalar =
      npy_value(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", "\x07"), "s");
  EXPECT_EQ(scalar.shape, Shape{});
  EXPECT_EQ(load(scalar, 0).i, 7);
}

TEST(Npy, ReadsText) {
  const std::string header = "{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }\n";
  const Value v = npy_value(npy(header, std::string("ab\0abc", 6)), "x");
  EXPECT_EQ(text_of(load(v, 0)), "ab");
  EXPECT_EQ(text_of(load(v, 1)), "abc");
  EXPECT_THROW(npy_value(npy(header, "abcab"), "x"), UserError);
  EXPECT_THROW(npy_value(npy("{'descr': '|S64', 'fortran_order': False, 'shape': (0,), }\n", ""), "x"),
               UserError);
}

TEST(Npy, RefusesWhatItCannotRead) {
  const std::string good = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n", "ab");
  EXPECT_NO_THROW(npy_value(good, "x"));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(npy_value(good.substr(0, size), "x"), UserError) << size;
  EXPECT_THROW(npy_value(good + "c", "x"), UserError);
  for (const char* header :
       {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (4,), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }"})
    EXPECT_THROW(npy_value(npy(header, "abcd"), "x"), UserError) << header;
}

TEST(Process, ReturnsStatusAndOutput) {
  const Finished done = run_process({"sh", "-c", "echo out; echo err >&2; pwd; exit 3"}, "/", 10);
  EXPECT_EQ(done.status, 3);
  EXPECT_EQ(done.output, "out\nerr\n/\n");
  EXPECT_EQ(run_process({"sh", "-c", "kill -SEGV $$"}, "/", 10).status, 128 + 11);
}

TEST(Process, IsEndedAfterItsTime) {
  EXPECT_THROW(run_process({"sh", "-c", "sleep 100"}, "/", 1), UserError);
}

TEST(Process, AMissingProgramIsTheUsersMistake) {
  EXPECT_THROW(run_process({"no-such-program-here"}, "/", 10), UserError);
}

TEST(Sha256, AgreesWithPublishedValues) {  // FIPS 180-4 examples
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

Value floats(std::vector<float> numbers) {
  Value v(Type::kFloat32, {static_cast<int64_t>(numbers.size())});
  std::memcpy(v.bytes.data(), numbers.data(), v.bytes.size());
  return v;
}

TEST(Compare, QuantisedOutputsAreComparedInQuanta) {
  const Tolerance one = {.quanta = 1, .quantum = 0.25}, two = {.quanta = 2, .quantum = 0.25};
  EXPECT_EQ(difference(floats({0.5f}), floats({0.25f}), one), std::nullopt);
  EXPECT_EQ(difference(floats({0.5f}), floats({0}), two), std::nullopt);
  const auto text = difference(floats({0.5f}), floats({0}), one);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("off by 0.5, 2 quanta of 0.25, 1 allowed"));
  EXPECT_NE(difference(floats({0.5f}), floats({0.25f}), {}), std::nullopt);
}

TEST(Compare, ToleranceIsRelativeToTheExpectedValue) {
  EXPECT_EQ(difference(floats({1000}), floats({1000.9f}), {}), std::nullopt);
  EXPECT_NE(difference(floats({1000}), floats({1002}), {}), std::nullopt);
  EXPECT_EQ(difference(floats({0}), floats({0.9e-5f}), {}), std::nullopt);
  EXPECT_NE(difference(floats({0}), floats({1.2e-5f}), {}), std::nullopt);
}

TEST(Compare, NamesTheWorstElement) {
  const auto text = difference(floats({0, 1, 7}), floats({0, 2, 3}), {});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("element [2] is 7, expected 3 (off by 4); 2 of 3"));
}

TEST(Compare, SpecialValuesEqualThemselvesOnly) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(difference(floats({nan, inf, -inf}), floats({nan, inf, -inf}), {}), std::nullopt);
  EXPECT_NE(difference(floats({nan}), floats({1}), {}), std::nullopt);
  EXPECT_NE(difference(floats({1}), floats({nan}), {}), std::nullopt);
  EXPECT_NE(difference(floats({1}), floats({inf}), {}), std::nullopt);
  EXPECT_NE(difference(floats({inf}), floats({1}), {}), std::nullopt);
  EXPECT_NE(difference(floats({inf}), floats({-inf}), {}), std::nullopt);
}

TEST(Compare, TypesShapesAndIntegersAreExact) {
  Value a(Type::kInt64, {2}), b(Type::kInt64, {2});
  store(a, 0, {.i = 1000000});
  store(b, 0, {.i = 1000001});
  EXPECT_NE(difference(a, b, {}), std::nullopt);
  EXPECT_EQ(difference(a, b, {.atol = 1}), std::nullopt);
  EXPECT_NE(difference(Value(Type::kInt32, {2}), Value(Type::kInt64, {2}), {}), std::nullopt);
  EXPECT_NE(difference(Value(Type::kInt32, {2}), Value(Type::kInt32, {2, 1}), {}), std::nullopt);
}

}  // namespace
}  // namespace arenac
