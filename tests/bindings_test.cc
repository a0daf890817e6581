// Symbolic dimensions that nobody bound: what becomes 1, what is asked for, and the command that binds it
// all.
#include "frontend/bindings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/algorithm/string.hpp>
#include <filesystem>

#include "driver/options.h"
#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Graph imported(const std::string& text, const ImportOptions& options = {}) {
  return import_text("<ir_version: 8, opset_import: [\"\" : 17]> " + text, options);
}

std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  try {
    imported(text, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

Shape input_shape(const Graph& graph, size_t k = 0) { return graph.tensors[graph.inputs.at(k)].shape; }

TEST(Batch, BecomesOneWithANote) {
  const Graph graph = imported("g (float[batch_size, 3] x) => (float[batch_size, 3] y) { y = Relu(x) }");
  EXPECT_THAT(input_shape(graph), ElementsAre(1, 3));
  EXPECT_THAT(graph.notes,
              ElementsAre("dimension 'batch_size' of input 'x' is bound to 1; --dim batch_size=N "
                          "changes it"));
}

TEST(Batch, IsOneWhereverItsNameStands) {
  const Graph graph =
      imported("g (float[5, batch, 3] x, float[batch, 3] b) => (float[5, batch, 3] y) { y = Add(x, b) }");
  EXPECT_THAT(input_shape(graph, 0), ElementsAre(5, 1, 3));
  EXPECT_THAT(input_shape(graph, 1), ElementsAre(1, 3));
  EXPECT_EQ(graph.notes.size(), 1u);
}

TEST(Batch, IsTheOnlyOpenDimensionInFront) {
  EXPECT_THAT(input_shape(imported("g (float[rows, 3] x) => (float[rows, 3] y) { y = Relu(x) }")),
              ElementsAre(1, 3));
  EXPECT_THAT(input_shape(imported("g (float[?, 3] x) => (float[?, 3] y) { y = Relu(x) }")),
              ElementsAre(1, 3));
  EXPECT_THAT(refusal("g (float[rows, columns] x) => (float[rows, columns] y) { y = Relu(x) }"),
              HasSubstr("--dim rows=N"));
}

TEST(Batch, IsWhatTheUserSays) {
  const Graph graph =
      imported("g (float[batch, 3] x) => (float[batch, 3] y) { y = Relu(x) }", {.dims = {{"batch", 4}}});
  EXPECT_THAT(input_shape(graph), ElementsAre(4, 3));
  EXPECT_THAT(graph.notes, IsEmpty());
  // What one input's shape binds is bound for all.
  const Graph two =
      imported("g (float[batch, 3] x, float[batch, 3] z) => (float[batch, 3] y) { y = Add(x, z) }",
               {.shapes = {{"x", {7, 3}}}});
  EXPECT_THAT(input_shape(two, 1), ElementsAre(7, 3));
}

TEST(OpenDimensions, AreNamedOnceAndBoundByOneCommand) {
  const std::string text = refusal(
      "g (int64[batch, sequence] ids, int64[batch, sequence] mask) => (int64[batch, sequence] y) "
      "{ y = Add(ids, mask) }");
  EXPECT_THAT(text, HasSubstr("input 'ids': dimension 1 is symbolic: bind it with --dim sequence=N\n"));
  EXPECT_THAT(text, Not(HasSubstr("input 'mask'")));
  EXPECT_TRUE(text.ends_with("\n  arenac compile text --dim batch=1 --dim sequence=128")) << text;
}

TEST(OpenDimensions, WithoutANameAreBoundByShape) {
  const std::string text = refusal("g (float[?, 3, ?, ?] x) => (float[?, 3, ?, ?] y) { y = Relu(x) }");
  EXPECT_TRUE(text.ends_with("\n  arenac compile text --shape x=1x3x224x224")) << text;
  EXPECT_THAT(refusal("g (float[?, 3, ?, 64] x) => (float[?, 3, ?, 64] y) { y = Relu(x) }"),
              HasSubstr("--shape x=1x3x64x64"));
}

// A table of 40 positions: no sequence is longer.
TEST(OpenDimensions, TakeWhatTheModelTakes) {
  const std::string text = refusal(R"(g (float[batch, length, 2] x) => (float[batch, length, 2] y)
      <float[1, 40, 2] w = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
                            0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0},
       int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> {
      s = Shape(x)  n = Slice(s, one, two)  p = Slice(w, zero, n, one)  y = Add(x, p) })");
  EXPECT_THAT(text, HasSubstr("--dim length=32")) << text;
}

TEST(OpenDimensions, OfPastAndPresentAddUp) {
  const std::vector<Declaration> inputs = {{"x", {1, -1}, {"", "now"}}, {"mask", {1, -1}, {"", "now + 3"}}};
  const auto first = [](const ImportOptions&) { return true; };
  EXPECT_EQ(command_that_binds("arenac map m.onnx", inputs, {}, 1, first),
            "arenac map m.onnx --dim now=128 --dim 'now + 3=131'");
}

TEST(DimOption, NamesWhatThereIs) {
  const std::string model = "g (float[batch, sequence] x) => (float[batch, sequence] y) { y = Relu(x) }";
  EXPECT_THAT(refusal(model, {.dims = {{"bacth", 1}, {"sequence", 4}}}),
              HasSubstr("--dim names 'bacth', which is no dimension of the model; did you mean batch?"));
  EXPECT_THAT(refusal("g (float[?, 3] x) => (float[?, 3] y) { y = Relu(x) }", {.dims = {{"?", 1}}}),
              HasSubstr("--shape"));
}

TEST(ShellQuoted, IsOneWordOfAShell) {
  EXPECT_EQ(shell_quoted("batch=1"), "batch=1");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's?"), "'it'\\''s?'");
  EXPECT_EQ(shell_quoted(""), "''");
}

// Real models: imported at the first try, or with the options that the message proposes.
TEST(FirstContact, TakesOneCommandMore) {
  const fs::path folder = fs::path(ARENAC_ROOT) / "../shared/models";
  if (!fs::exists(folder)) GTEST_SKIP() << "../shared/models is absent";
  size_t models = 0, first = 0, pasted = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path model = entry.path() / "model.onnx";
    if (!fs::exists(model)) continue;
    ++models;
    try {
      import_model(model.string());
      ++first;
      continue;
    } catch (const UserError& error) {
      std::vector<std::string> words;
      const std::string text = error.what(), line = text.substr(text.rfind('\n') + 1);
      boost::split(words, line.substr(std::min(line.find("arenac"), line.size())), boost::is_any_of(" "));
      std::vector<const char*> argv;
      for (const std::string& word : words) argv.push_back(word.c_str());
      try {
        import_model(model.string(),
                     parse_options(static_cast<int>(argv.size()), argv.data()).compile.import);
        ++pasted;
      } catch (const UserError& again) {
        ADD_FAILURE() << line << "\n" << again.what();
      }
    }
  }
  RecordProperty("first", static_cast<int>(first));
  EXPECT_EQ(first + pasted, models);
  EXPECT_GE(first * 10, models * 8);
}

}  // namespace
}  // namespace arenac
