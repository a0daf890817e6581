// `arenac compile` and `arenac map` on models that are broken: status 1, one clear message on standard error,
// and no trace in the output folder, whether it was empty or holds the files of an earlier compilation.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "driver/files.h"
#include "driver/process.h"
#include "tests/tool.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

onnx::ModelProto parsed(const std::string& graph) {
  const std::string text = "<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]> " + graph;
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage());
  return model;
}

onnx::ModelProto with_dimension(int64_t extent) {
  onnx::ModelProto model = parsed("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  auto& type = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type.mutable_shape()->mutable_dim(0)->set_dim_value(extent);
  return model;
}

onnx::ModelProto with_element_type(int type) {
  onnx::ModelProto model = parsed("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  return model;
}

onnx::ModelProto with_external_data(const std::string& location) {
  onnx::ModelProto model = parsed("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  onnx::TensorProto& w = *model.mutable_graph()->mutable_initializer(0);
  w.clear_float_data();
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
  return model;
}

onnx::ModelProto with_external_entry(const std::string& key, const std::string& value) {
  onnx::ModelProto model = with_external_data("m.onnx");
  auto& entry = *model.mutable_graph()->mutable_initializer(0)->add_external_data();
  entry.set_key(key);
  entry.set_value(value);
  return model;
}

onnx::ModelProto with_sequence_output(const std::string& nodes, int element_type) {
  onnx::ModelProto model = parsed("g (float[2] x) => (float[2] y) { " + nodes + " }");
  onnx::TypeProto& type = *model.mutable_graph()->mutable_output(0)->mutable_type();
  type.mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(element_type);
  return model;
}

struct BadModel {
  std::string bytes, says;
  int lines = 1;
};

std::vector<BadModel> bad_models() {
  const auto text = [](const std::string& graph) { return parsed(graph).SerializeAsString(); };
  const std::string good = text("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  return {
      {"", "m.onnx"},
      {"no model at all", "not an ONNX model"},
      {good.substr(0, good.size() / 2), "m.onnx"},
      {good.substr(0, good.size() - 1), "truncated"},
      {text("g (float[2] x) => (float[2] y) { a = Add(x, b)  b = Relu(a)  y = Relu(b) }"), "cycle"},
      {text("g (float[2] x) => (float[2] y) { y = Relu(z) }"), "'z', which nothing writes"},
      {text("g (float[2] x, int64[2] z) => (float[2] y) { y = Add(x, z) }"), "float32 [2], int64 [2]"},
      {text("g (float[2, 3] x) => (float[6] y) { y = MatMul(x, x) }"), "node 'y' (MatMul"},
      {text("g (float[2] x) => (float[2] y) { a = Fly(x)  y = my.Swim(a)  b = Walk(x) }"), "Fly", 2},
      {text("g (float[2, n] x) => (float[2, n] y) { y = Relu(x) }"), "--dim n=N", 3},
      {with_dimension(INT64_MAX).SerializeAsString(), "input 'x'"},
      {with_dimension(int64_t{1} << 41).SerializeAsString(), "input 'x'"},
      {with_dimension(-2).SerializeAsString(), "input 'x'"},
      {with_dimension(INT64_MIN).SerializeAsString(), "input 'x'"},
      {with_element_type(onnx::TensorProto::STRING).SerializeAsString(), "cannot be text"},
      {with_element_type(99).SerializeAsString(), "element type 99"},
      {with_external_data("weights.bin").SerializeAsString(), "'weights.bin' is missing"},
      {with_external_entry("offset", "1e3").SerializeAsString(), "'1e3' is no offset"},
      {with_external_entry("offset", " 5").SerializeAsString(), "' 5' is no offset"},
      {with_external_entry("offset", "-1").SerializeAsString(), "'-1' is no offset"},
      {with_external_entry("offset", "-0").SerializeAsString(), "'-0' is no offset"},
      {with_external_entry("length", "0x10").SerializeAsString(), "'0x10' is no length"},
      {with_external_entry("length", "8 ").SerializeAsString(), "'8 ' is no length"},
      {with_external_entry("length", "").SerializeAsString(), "'' is no length"},
      {with_external_entry("length", "99999999999999999999").SerializeAsString(), "is no length"},
      {with_external_entry("length", "9223372036854775807").SerializeAsString(), "reaches past the end"},
      {with_external_entry("offset", "9223372036854775807").SerializeAsString(), "reaches past the end"},
      {text("g (float[2] x) => (int32[2] y) { y = Relu(x) }"),
       "output 'y' is declared as int32, but its value is float32"},
      {text("g (float[2] x) => (float16[2] y, float[2] z) { y = Cast<to = 1>(x)  z = Relu(x) }"),
       "output 'y' is declared as float16, but its value is float32"},
      {with_sequence_output("y = Relu(x)", onnx::TensorProto::FLOAT).SerializeAsString(),
       "output 'y' is declared as a sequence, but its value is a tensor"},
      {text("g (float[2] x) => (float[2] y) { y = SequenceConstruct(x, x) }"),
       "output 'y' is declared as no sequence, but its value is a sequence"},
      {with_sequence_output("y = SequenceConstruct(x, x)", onnx::TensorProto::INT64).SerializeAsString(),
       "output 'y' is declared as int64, but its value is float32"},
      {with_external_data("../weights.bin").SerializeAsString(), "outside the model's folder"},
  };
}

class BadInput : public testing::Test {
 protected:
  Finished arenac(std::vector<std::string> words) {
    words.insert(words.begin(), arenac_tool());
    return run_process(words, scratch_.path(), 60);
  }
  void write_model(const std::string& bytes) { write_files(scratch_.path(), {{"m.onnx", bytes}}); }

  // Path and contents of every file but the model.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(scratch_.path()))
      if (entry.path().filename() != "m.onnx")
        found[entry.path().string()] = entry.is_directory() ? "" : read_file(entry.path());
    return found;
  }

  TemporaryFolder scratch_;
};

TEST_F(BadInput, IsRefusedInAMessage) {
  for (const BadModel& bad : bad_models()) {
    SCOPED_TRACE(bad.says);
    write_model(bad.bytes);
    const Finished done = arenac({"compile", "m.onnx", "-o", "gen", "--depfile", "m.d"});
    EXPECT_EQ(done.status, 1);
    EXPECT_THAT(done.output, StartsWith("arenac: m.onnx: "));
    EXPECT_THAT(done.output, HasSubstr(bad.says));
    EXPECT_EQ(std::count(done.output.begin(), done.output.end(), '\n'), bad.lines) << done.output;
    EXPECT_THAT(files(), IsEmpty());
  }
}

TEST_F(BadInput, EveryUnsupportedNodeIsListed) {
  write_model(parsed("g (float[2] x) => (float[2] y) { a = Fly(x)  y = my.Swim(a)  b = Walk(x) }")
                  .SerializeAsString());
  EXPECT_THAT(arenac({"compile", "m.onnx"}).output, testing::AllOf(HasSubstr("Fly"), HasSubstr("Walk")));
}

TEST_F(BadInput, TheMessageGoesToStandardError) {
  write_model("no model at all");
  const std::string silenced = fmt::format("{} compile m.onnx 2>/dev/null", arenac_tool());
  const Finished done = run_process({"sh", "-c", silenced}, scratch_.path(), 60);
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.output, "");
}

TEST_F(BadInput, LeavesAnEarlierOutputAsItIs) {
  write_model(parsed("g (float[2] x) => (float[2] y) { y = Relu(x) }").SerializeAsString());
  ASSERT_EQ(arenac({"compile", "m.onnx", "-o", "gen", "--depfile", "gen/m.d"}).status, 0);
  ASSERT_EQ(arenac({"map", "m.onnx", "--json", "gen/map.json"}).status, 0);
  const auto before = files();
  for (const BadModel& bad : bad_models()) {
    SCOPED_TRACE(bad.says);
    write_model(bad.bytes);
    EXPECT_EQ(arenac({"compile", "m.onnx", "-o", "gen", "--depfile", "gen/m.d"}).status, 1);
    EXPECT_EQ(arenac({"map", "m.onnx", "--json", "gen/map.json"}).status, 1);
    EXPECT_EQ(files(), before);
  }
}

// Some flipped bits hurt nobody; the others are refused.
TEST_F(BadInput, FlippedBits) {
  const std::string bytes = read_file(ARENAC_ROOT "/models/tiny_cnn.onnx");
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    std::string broken = bytes;
    for (int k = 0; k < 4; ++k) broken[random() % broken.size()] ^= static_cast<char>(1 << random() % 8);
    write_model(broken);
    const Finished done = arenac({"compile", "m.onnx", "-o", "gen", "--quiet"});
    EXPECT_TRUE(done.status == 0 || done.status == 1) << done.output;
    if (done.status == 0) {
      fs::remove_all(scratch_.path() / "gen");
      continue;
    }
    ++refused;
    EXPECT_THAT(done.output, StartsWith("arenac: m.onnx: "));
    EXPECT_THAT(files(), IsEmpty());
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace arenac
