// Inputs that come row by row, and outputs that go so: against the same models with whole images.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "driver/compare.h"
#include "driver/files.h"
#include "driver/process.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "frontend/import.h"
#include "models/model_table.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/random_layers.h"

namespace arenac {
namespace {

using testing::HasSubstr;

constexpr const char* kSchedulers[] = {"layerwise", "fused",   "smallest", "rows",
                                       "columns",   "windows", "strips"};

bool has_rows(const Graph& graph, TensorId id) {
  return std::ranges::any_of(graph.tensors[id].shape, [](int64_t extent) { return extent > 1; }) &&
         element_count(graph.tensors[id].shape) > 0;
}

// What is read as well lies in another order where it is emitted: sums of what reads it may round elsewhere.
bool is_read(const Graph& graph, TensorId id) {
  return std::ranges::any_of(graph.block, [&](const Node& node) {
    const std::vector<TensorId> read = tensors_read(node);
    return std::ranges::count(read, id) + std::ranges::count(node.reads, id) > 0;
  });
}

// An input, and of the outputs every other one, row by row; of an odd seed along any dimension.
Way fed_way(const Graph& graph, unsigned seed) {
  Way way;
  way.scheduler = kSchedulers[seed % std::size(kSchedulers)];
  way.target = seed % targets().size();
  way.io = seed % 3 == 1 ? Io::kArena : Io::kExternal;
  way.code = seed % 2 == 0 ? Code::kFast : Code::kSmall;
  const auto rows = [&](const std::string& name, TensorId id) {
    CallerRows found{name, {}};
    const Shape& shape = graph.tensors[id].shape;
    if (const size_t d = seed / 2 % shape.size(); seed % 2 == 1 && shape[d] > 1) found.dimension = d;
    return found;
  };
  for (size_t k = 0; k < graph.inputs.size() && way.fed.empty(); ++k)
    if (has_rows(graph, graph.inputs[k])) way.fed.push_back(rows(graph.input_names[k], graph.inputs[k]));
  for (size_t k = seed % 2; k < graph.outputs.size(); k += 2)
    if (has_rows(graph, graph.outputs[k]) && !is_read(graph, graph.outputs[k]))
      way.emitted.push_back(rows(graph.output_names[k], graph.outputs[k]));
  return way;
}

TEST(Feed, OfRandomModelsGivesTheSame) {
  constexpr unsigned kBatch = 12;
  unsigned rings = 0, fed = 0, same = 0, rounded = 0;
  const unsigned count = seeds(48);
  for (unsigned begin = 0; begin < count && !HasFailure(); begin += kBatch) {
    std::vector<Emitted> batch;
    std::vector<std::string> texts;
    for (unsigned seed = begin; seed < std::min(begin + kBatch, count); ++seed) {
      const std::string text = seed % 4 == 3 ? random_graph(seed) : random_layers(seed);
      SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
      const Graph graph = import_text(text);
      const Way by_rows = fed_way(graph, seed);
      Way whole = by_rows;
      whole.fed.clear(), whole.emitted.clear();
      texts.push_back(fmt::format("seed {} by {}\n{}", seed, by_rows.scheduler, text));
      for (const Way& way : {whole, by_rows}) {
        batch.push_back(Emitted{compile_graph(import_text(text), fmt::format("m{}", batch.size()), way)});
        batch.back().inputs = random_inputs(graph, seed, Numbers::kWhole);
      }
      const Schedule& schedule = batch.back().compilation.schedule;
      fed += !by_rows.fed.empty();
      for (const Step& step : schedule.steps)
        rings += step.kind == StepKind::kRun && fed_to(*step.node, *schedule.graph) >= 0 &&
                 schedule.layouts[step.node->writes[0]].ring.kept > 0;
    }
    run_emitted(batch, compilers()[begin / kBatch % compilers().size()]);
    for (size_t k = 0; k < batch.size(); k += 2) {
      SCOPED_TRACE(texts[k / 2]);
      ASSERT_EQ(batch[k].fault, "");
      ASSERT_EQ(batch[k + 1].fault, "");
      for (size_t o = 0; o < batch[k].outputs.size(); ++o) {
        const Value &whole = batch[k].outputs[o], &by_rows = batch[k + 1].outputs[o];
        const auto wrong = difference(by_rows, whole, {1e-4, 1e-3});
        ASSERT_FALSE(wrong) << batch[k].compilation.graph->output_names[o] << ": " << *wrong << "\n"
                            << dump(batch[k + 1].compilation.schedule);
        (by_rows.bytes == whole.bytes ? same : rounded) += 1;
      }
    }
  }
  if (!all_seeds()) return;
  // Where a layer without windows comes first, its rows lie in the order of the input's: sums of floats round
  // elsewhere.
  EXPECT_LT(rounded, same / 20);
  EXPECT_GT(fed, count / 2);
  EXPECT_GT(rings, count / 6);
}

std::string ones(const std::string& name, const std::string& shape, int count) {
  std::string values = "0.5";
  for (int k = 1; k < count; ++k) values += k % 3 == 0 ? ", 1" : ", -0.25";
  return fmt::format("float[{}] {} = {{{}}}", shape, name, values);
}

// A convolution over moments, a recurrent layer of them and one more: moments are taken and handed on one by
// one, and few are in memory.
TEST(Feed, TakesTheMomentsOfARecurrence) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, 4, 32] x) => (float[1, 4, 32] y)\n"
      "  <{}, {}, {}, int64[1] one = {{1}}>\n{{\n"
      "  a = Conv<pads = [1, 1]>(x, u)  b = Transpose<perm = [2, 0, 1]>(a)\n"
      "  c = GRU<hidden_size = 4>(b, w, v)  d = Squeeze(c, one)  e = Transpose<perm = [1, 2, 0]>(d)\n"
      "  y = Conv<pads = [2, 0]>(e, u)\n}}\n",
      ones("u", "4, 4, 3", 48), ones("w", "1, 12, 4", 48), ones("v", "1, 12, 4", 48));
  std::vector<Emitted> batch;
  for (const bool by_rows : {false, true}) {
    Way way{.scheduler = "smallest"};
    if (by_rows) way.fed = {{"x"}}, way.emitted = {{"y"}};
    batch.push_back(Emitted{compile_graph(import_text(text), fmt::format("m{}", batch.size()), way)});
    batch.back().inputs = random_inputs(*batch.back().compilation.graph, 1, Numbers::kWhole);
  }
  EXPECT_LT(batch[1].compilation.plan.pools[0].size, 512);  // of 32 moments of 4 floats
  run_emitted(batch, compilers()[0]);
  for (const Emitted& e : batch) ASSERT_EQ(e.fault, "");
  EXPECT_EQ(batch[1].outputs[0].bytes, batch[0].outputs[0].bytes);
}

// Two images at the same time, in two arenas; rows out of turn.
constexpr const char* kTwoCameras = R"(
#include <stdio.h>
#include <string.h>

static float image[2][M_INPUT_X_COUNT], y[3][M_OUTPUT_Y_ROWS * M_OUTPUT_Y_ROW_COUNT];
static double arenas[2][M_ARENA_SIZE / 8 + 8];
static m_workspace w[2];
static m_workspace *busy;
static int inner = -1;

static void take(void *user, size_t row, const float *data)
{
    memcpy((float *)user + row * M_OUTPUT_Y_ROW_COUNT, data, M_OUTPUT_Y_ROW_COUNT * sizeof *data);
    if (busy) inner = m_feed(busy, image[0]); /* in the middle of a call */
}

int main(void)
{
    int k, r, status;
    m_workspace run;
    m_inputs in;
    m_outputs out;
    for (k = 0; k < M_INPUT_X_COUNT; ++k) image[0][k] = (float)(k % 7), image[1][k] = (float)(k % 5);
    for (k = 0; k < 2; ++k) {
        w[k].arena = (void *)(((uintptr_t)arenas[k] + M_ARENA_ALIGN - 1) / M_ARENA_ALIGN * M_ARENA_ALIGN);
        w[k].out.y.row = take, w[k].out.y.user = y[k];
    }
    if (m_feed(&w[0], NULL) != M_ENULL || m_feed(NULL, image[0]) != M_ENULL) return 1;
    for (r = 0; r < 3; ++r)
        if (m_feed(&w[1], image[0] + r * M_INPUT_X_ROW_COUNT) != M_MORE) return 2;
    if (m_reset(&w[1]) != M_OK) return 3; /* the frame was no good */
    for (r = 0; r < (int)M_INPUT_X_ROWS; ++r)
        for (k = 0; k < 2; ++k) {
            busy = k == 0 ? &w[0] : NULL;
            status = m_feed(&w[k], image[k] + r * M_INPUT_X_ROW_COUNT);
            if (status != (r + 1 < (int)M_INPUT_X_ROWS ? M_MORE : M_OK)) return 4;
        }
    if (inner != M_EORDER) return 5;
    busy = NULL;
    w[0].row = -1;
    if (m_feed(&w[0], image[0]) != M_EORDER || m_reset(&w[0]) != M_OK || m_feed(&w[0], image[0]) != M_MORE) return 6;
    for (k = 0; k < 2; ++k) { /* the next image in the same arena, whole */
        run = w[0];
        in.x = image[k];
        out.y.row = take, out.y.user = y[2];
        if (m_run(&run, &in, &out) != M_OK) return 7;
        if (memcmp(y[2], y[k], sizeof y[k]) != 0) return 8 + k;
    }
    if (memcmp(y[0], y[1], sizeof y[0]) == 0) return 10;
    puts("fed");
    return 0;
}
)";

std::string two_convolutions() {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, 2, 12, 6] x) => (float[1, 2, 12, 6] y)\n"
      "  <{}>\n{{\n  a = Conv<pads = [1, 1, 1, 1]>(x, v)\n  y = Conv<pads = [1, 1, 1, 1]>(a, v)\n}}\n",
      ones("v", "2, 2, 3, 3", 36));
}

TEST(Feed, TakesRowsOfTwoImagesInTurn) {
  for (const char* scheduler : {"layerwise", "smallest"})
    for (const CompilerRow& compiler : compilers()) {
      if (compiler.language != CompilerRow::Language::kC) continue;
      SCOPED_TRACE(fmt::format("{} {}", scheduler, compiler.name));
      Way way{.scheduler = scheduler};
      way.fed = {{"x"}}, way.emitted = {{"y"}};
      const Compilation c = compile_graph(import_text(two_convolutions()), "m", way);
      const TemporaryFolder folder;
      write_files(folder.path(), c.files);
      write_files(folder.path(), {{"main.c", fmt::format("#include \"{}.h\"\n", c.name) + kTwoCameras}});
      std::vector<std::string> command = compiler.command;
      std::erase(command, "-Wconversion");
      std::erase(command, "-pedantic");
      command.insert(command.end(),
                     {"-Wno-sign-compare", "main.c", "m.c", "m_weights.c", "-lm", "-o", "program"});
      const Finished built = run_process(command, folder.path(), 100);
      ASSERT_EQ(built.status, 0) << built.output;
      const Finished done = run_process({"./program"}, folder.path(), 100);
      EXPECT_EQ(done.status, 0) << done.output << file_named(c, "m.c");
      EXPECT_THAT(done.output, HasSubstr("fed"));
    }
}

TEST(Feed, HoldsThreeRowsUnderAWindow) {
  Way way{.scheduler = "fused"};
  way.fed = {{"x"}};
  const Compilation c = compile_graph(import_text(two_convolutions()), "m", way);
  for (const Step& step : c.schedule.steps)
    if (fed_to(*step.node, *c.graph) >= 0) {
      EXPECT_EQ(c.schedule.layouts[step.node->writes[0]].ring.kept, 3) << dump(c.schedule);
    }
}

class FedModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Bundled, FedModel,
                         testing::Values("tiny_cnn", "ds_cnn_qop", "resnet8_qdq", "mobilenet_v1_025_96_qop",
                                         "squeezenet_tiny"));

// Bundled models, as each preference has them.
TEST_P(FedModel, GivesTheSameBytes) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx";
  const auto row =
      std::ranges::find(models::model_table(), GetParam(), [](const auto& r) { return std::string(r.name); });
  ASSERT_NE(row, models::model_table().end());
  write_files(folder.path(), {{"model.onnx", row->make().SerializeAsString()}});
  CompileOptions options;
  options.model = file.string();
  options.verbosity = Verbosity::kQuiet;
  const Compilation whole = compile(options);
  const auto inputs = seeded_inputs(whole, options);
  const RunResult want = build_and_run(whole, inputs, {});
  for (Optimize optimize : {Optimize::kBalanced, Optimize::kRam, Optimize::kSpeed}) {
    options.optimize = optimize;
    options.fed = {{whole.graph->input_names[0]}};
    const Compilation c = compile(options);
    const RunResult got = build_and_run(c, inputs, {});
    for (size_t k = 0; k < want.outputs.size(); ++k)
      EXPECT_TRUE(got.outputs[k].bytes == want.outputs[k].bytes) << static_cast<int>(optimize);
  }
}

std::string message_of(const std::string& text, const std::vector<CallerRows>& fed,
                       const std::vector<CallerRows>& emitted) {
  try {
    (void)with_caller_rows(import_text(text), fed, emitted);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Feed, WrongNamesAreExplained) {
  const std::string text = two_convolutions();
  EXPECT_THAT(message_of(text, {{"z"}}, {}), HasSubstr("--feed z: no input has this name; there are: x"));
  EXPECT_THAT(message_of(text, {}, {{"x"}}), HasSubstr("--emit x: no output has this name; there are: y"));
  EXPECT_THAT(message_of(text, {{"x", 4}}, {}), HasSubstr("--feed x=4: the tensor has the shape [1,2,12,6]"));
  EXPECT_THAT(message_of(text, {{"x"}, {"x"}}, {}), HasSubstr("--feed is for one input"));
  EXPECT_THAT(message_of(text, {}, {{"y"}, {"y"}}), HasSubstr("given twice"));
  EXPECT_THAT(message_of(text, {{"x", 0}}, {}), HasSubstr("--feed x=0: there is one row"));
}

// An image of three channels that is made better step by step for the caller: it comes by rows, not by
// channels.
TEST(Feed, FollowsTheRowsOfAnImageThatItsResultIsMadeOf) {
  const std::vector<int> ones(3 * 3 * 9, 1);
  const Graph graph = with_caller_rows(
      import_text(
          fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                      "g (float[1, 3, 9, 8] x) => (float[1, 3, 9, 8] y) <float[3, 3, 3, 3] w = {{{}}}> {{\n"
                      "  c = Conv<pads = [1, 1, 1, 1]>(x, w) m1 = Mul(x, c) y1 = Add(x, m1)\n"
                      "  m2 = Mul(y1, c) y = Add(y1, m2)\n}}",
                      fmt::join(ones, ", "))),
      {{"x"}}, {});
  EXPECT_EQ(graph.by_rows.at(graph.inputs[0]), 2);
}

// What reads all rows is named.
TEST(Feed, OfWhatReadsAllRowsIsRefused) {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[8, 5] x) => (float[8, 5] y)\n"
      "{ t = Transpose<perm = [1, 0]>(x)  p = MatMul(x, t)  y = MatMul(p, x) }\n";
  Way way{.scheduler = "fused"};
  way.fed = {{"x", 0}};
  const Compilation c = compile_graph(import_text(text), "m", way);
  const auto reader = needs_all_rows(c.schedule);
  ASSERT_TRUE(reader);
  EXPECT_THAT(*reader, HasSubstr("(MatMul): "));
  EXPECT_THAT(*reader, HasSubstr("all 8 rows of 't'"));
}

}  // namespace
}  // namespace arenac
