// Words of the command line that contradict each other, say something twice, or say what cannot be.
#include "driver/option_words.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <filesystem>

#include "driver/files.h"
#include "driver/process.h"
#include "frontend/error.h"
#include "frontend/import.h"
#include "tests/tool.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST(BytesOfSize, HaveUnitsOf1024) {
  EXPECT_EQ(bytes_of_size("0"), 0);
  EXPECT_EQ(bytes_of_size("0x10000"), 65536);
  EXPECT_EQ(bytes_of_size("100b"), 100);
  for (const char* text : {"64K", "64k", "64 KB", "64KiB", "64ki", "65536"})
    EXPECT_EQ(bytes_of_size(text), 65536) << text;
  EXPECT_EQ(bytes_of_size("3M"), 3 << 20);
  EXPECT_EQ(bytes_of_size("7E"), int64_t{7} << 60);
  EXPECT_EQ(bytes_of_size("9223372036854775807"), INT64_MAX);
  for (const char* text :
       {"", "K", "-1", "+1", "1.5K", "1KK", "1ib", "1e3", "0x", "64 Q", "8E", "9223372036854775808",
        "18446744073709551616", "18446744073709551617", "99999999999999999999", "16777216T"})
    EXPECT_EQ(bytes_of_size(text), std::nullopt) << text;
}

ImportOptions bound(const BindingWords& words) {
  ImportOptions import;
  bind_inputs(words, import);
  return import;
}

TEST(BindingWords, MayComeAgainWithTheSame) {
  const ImportOptions import =
      bound({{"a=1", "b=2", "a=1"}, {"x=2x3", "x=2x3", "s=none", "s=none"}, {"v=1,2", "v=1,2"}});
  EXPECT_EQ(import.dims, (std::map<std::string, int64_t>{{"a", 1}, {"b", 2}}));
  EXPECT_EQ(import.shapes.at("x"), (Shape{2, 3}));
  for (const BindingWords& words : {BindingWords{{"a=1", "b=1", "a=2"}, {}, {}},
                                    {{}, {"x=2", "x=3"}, {}},
                                    {{}, {"x=2", "x=none"}, {}},
                                    {{}, {"x=2,2", "x=2"}, {}},
                                    {{}, {}, {"v=1", "v=1,1"}}})
    EXPECT_THROW(bound(words), UserError);
}

TEST(PoolOf, TakesEachKeyOnce) {
  EXPECT_EQ(pool_of("name=a,size=1K,align=0x20").pool.capacity, 1024);
  for (const char* text :
       {"name=a,name=a", "name=a,size=1,size=1", "name=a,align=8,align=16", "name=a,kind=arena,kind=arena"})
    EXPECT_THROW(pool_of(text), UserError) << text;
}

class OptionWords : public testing::Test {
 protected:
  OptionWords() {
    onnx::ModelProto model;
    const auto parsed = onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
        g (float[batch, 3, height, 4] x, float[batch, height] z) => (float y) {
          a = ReduceMax<keepdims = 0>(x)  b = ReduceMax<keepdims = 0>(z)  y = Add(a, b) })");
    EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    write_files(scratch_.path(), {{"m.onnx", model.SerializeAsString()}});
  }
  Finished arenac(const std::string& words) const {
    return run_process({"sh", "-c", arenac_tool() + " " + words}, scratch_.path(), 60);
  }
  size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(scratch_.path()), {}));
  }
  // A mistake of the command line: said, and nothing is left behind.
  void refuses(const std::string& words, const std::string& says) const {
    const size_t before = count();
    const Finished done = arenac("compile m.onnx -o gen --depfile m.d " + words);
    EXPECT_EQ(done.status, 2) << words;
    EXPECT_THAT(done.output, HasSubstr(says)) << words;
    EXPECT_EQ(count(), before) << words;
  }

  TemporaryFolder scratch_;
};

TEST_F(OptionWords, ThatContradictEachOtherAreRefused) {
  refuses("--shape x=1x3x4x4 --dim height=5",
          "m.onnx: input 'x': --shape x=1x3x4x4 gives [1,3,4,4], which --dim height=5 contradicts: it is "
          "dimension 2");
  refuses("--dim height=5 --dim batch=1 --dim height=6", "--dim height=5 and --dim height=6 contradict");
  refuses("--shape x=1x3x4x4 --shape x=1x3x5x4", "--shape x=1x3x4x4 and --shape x=1x3x5x4 contradict");
  refuses("--dim height=5 --pool name=a,size=1K,size=2K",
          "--pool name=a,size=1K,size=2K: 'size' is there twice");
  refuses("--dim height=5 --ram 18446744073709551617", "'18446744073709551617' is no size in bytes");
}

TEST_F(OptionWords, OfAShapeThatTheInputCannotHaveAreMended) {
  refuses("--shape x=1,3,4,4",
          "m.onnx: input 'x' is a tensor and no sequence, for which commas are; 'x' is between extents: "
          "--shape x=1x3x4x4");
  refuses("--shape x=1x3x4", "--shape x=1x3x4 gives [1,3,4], but the model takes 4 dimensions");
  refuses("--shape x=1x2x4x4", "--shape x=1x2x4x4 gives [1,2,4,4], but dimension 1 is 3 in the model");
  refuses("--shape x=none", "input 'x' is a tensor, which cannot be left out by --shape x=none");
}

// Two inputs may have what the model calls alike, where the user says so.
TEST_F(OptionWords, OfOneShapeEachHold) {
  EXPECT_EQ(arenac("compile m.onnx -o gen --shape x=1x3x5x4 --shape z=1x7 --dim batch=1").status, 0);
}

TEST_F(OptionWords, AreNotWhatAFileOfAnotherShapeIsBlamedFor) {
  fs::create_directory(scratch_.path() / "data");
  write_files(scratch_.path() / "data",
              {{"input_0.pb", held_file({"x"}, {{Value(Type::kFloat32, {1, 2, 4, 4})}})},
               {"input_1.pb", held_file({"z"}, {{Value(Type::kFloat32, {1, 4})}})}});
  const Finished done = arenac("run m.onnx --inputs data");
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.output,
              HasSubstr("m.onnx: input 'x': its file gives [1,2,4,4], but dimension 1 is 3 in the model"));
  EXPECT_THAT(done.output, Not(HasSubstr("--shape")));
}

// All outputs are there, or none.
TEST_F(OptionWords, OfAFileThatCannotBeWrittenLeaveNoOther) {
  for (const char* depfile : {"none/m.d", "/dev/full", "m.onnx/m.d", "."}) {
    const Finished done = arenac(std::string("compile m.onnx -o gen --dim height=5 --depfile ") + depfile);
    EXPECT_EQ(done.status, 2) << depfile;
    EXPECT_THAT(done.output, HasSubstr("cannot be written")) << depfile;
    EXPECT_EQ(count(), 1u) << depfile;
  }
  for (const char* into : {"> /dev/full", ">&-"}) {
    EXPECT_EQ(arenac(std::string("compile m.onnx -o gen --dim height=5 --depfile - ") + into).status, 2)
        << into;
    EXPECT_EQ(count(), 1u) << into;
  }
  EXPECT_EQ(arenac("map m.onnx --dim height=5 --html m.html --csv m.csv --svg none/m.svg").status, 2);
  EXPECT_EQ(count(), 1u);
}

}  // namespace
}  // namespace arenac
