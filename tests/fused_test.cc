// Layers that run row by row compute what whole layers do, bit for bit, on random models. ARENAC_SEEDS
// multiplies their number.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/import.h"
#include "frontend/interpret.h"
#include "frontend/rewrites.h"
#include "scheduler/hoisted_sums.h"
#include "scheduler/step_facts.h"
#include "scheduler/storage.h"
#include "scheduler/weight_blocks.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/random_layers.h"
#include "tests/same_bits.h"
#include "tests/shadow.h"

namespace arenac {
namespace {

// What the file's order gives, and in groups.
constexpr const char* kSchedulers[] = {"file-order", "fused",   "smallest", "rows",
                                       "columns",    "windows", "strips"};
constexpr size_t kWays = std::size(kSchedulers);
constexpr unsigned kFusedBatch = 16;  // models of a program
// Sums of dozens of values up to 8 that are not whole, in another order. Wrong bytes are further off.
constexpr double kWithin = 1e-3;

Way way_of(unsigned seed, const std::string& scheduler) {
  Way way;
  way.io = seed % 2 ? Io::kArena : Io::kExternal;
  way.target = seed / 2 % targets().size();
  way.scheduler = scheduler;
  way.code = seed / 3 % 2 == 0 ? Code::kFast : Code::kSmall;
  return way;
}

std::string model_text(unsigned seed) { return seed % 4 == 3 ? random_graph(seed) : random_layers(seed); }

bool has_strips(const Schedule& schedule) {
  const StepFacts facts = step_facts(*schedule.graph, schedule.steps, schedule.layouts);
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages)
      if (stage.slabs < facts.steps[stage.step].slabs.count) return true;
  return false;
}

// float[shape] name = {-2, ..., 2, -2, ...}
std::string constant(const std::string& name, const Shape& shape) {
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < element_count(shape); ++k) numbers.push_back(k * 7 % 5 - 2);
  return fmt::format("float[{}] {} = {{{}}}", fmt::join(shape, ", "), name, fmt::join(numbers, ", "));
}

TEST(RandomLayers, KeepTheirRowsInTheArena) {
  unsigned faults = 0, groups = 0, rings = 0, windows = 0, again = 0, strips = 0;
  const unsigned count = seeds(400);
  for (unsigned seed = 0; seed < count && faults < 3; ++seed) {
    const std::string text = random_layers(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    try {
      const Compilation c =
          compile_graph(import_text(text), "m", way_of(seed, kSchedulers[1 + seed / 4 % (kWays - 1)]));
      groups += !c.schedule.groups.empty();
      rings += std::any_of(c.schedule.layouts.begin(), c.schedule.layouts.end(),
                           [](const Layout& layout) { return layout.ring.kept > 0; });
      for (const Group& group : c.schedule.groups)
        windows += std::any_of(group.stages.begin(), group.stages.end(),
                               [](const Stage& stage) { return stage.seen_through_window(); });
      again += work_again(c.schedule) > 0;
      strips += has_strips(c.schedule);
      std::mt19937 random(seed);
      const std::string fault =
          shadow_fault(c, random_inputs(*c.graph, seed, Numbers::kWhole), random, kWithin);
      EXPECT_EQ(fault, "") << dump(*c.graph) << dump(c.schedule);
      faults += !fault.empty();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      ++faults;
    }
  }
  if (!all_seeds()) return;
  EXPECT_GT(groups, count / 2);
  EXPECT_GT(rings, count / 4);
  EXPECT_GT(windows, count / 20);
  EXPECT_GT(again, count / 200);
  EXPECT_GT(strips, count / 200);
}

// What there is to choose from, not what a scheduler makes by itself: also of several orders, storages and
// graphs. Of every `part`-th schedule.
void expect_same_by_every_schedule(const Graph& graph, const Target& target, unsigned seed, size_t part) {
  const Way way = way_of(seed, "");
  std::vector<Schedule> schedules =
      schedules_to_choose_from(graph, Freedom::kSomeAgain, target, kNoDeadline, way.io);
  const std::vector<Value> inputs = random_inputs(graph, seed, Numbers::kWhole);
  std::mt19937 random(seed);
  for (size_t k = seed % part; k < schedules.size(); k += part) {
    const Compilation c =
        compile_schedule(std::make_unique<const Graph>(graph), std::move(schedules[k]), "m", way);
    ASSERT_EQ(shadow_fault(c, inputs, random, kWithin), "") << dump(graph) << dump(c.schedule);
  }
}

void expect_same_by_every_schedule(const std::string& text, unsigned seed, size_t part) {
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  const Target& target = targets().at(way_of(seed, "").target);
  expect_same_by_every_schedule(rewritten(import_text(text), layerwise_peak), target, seed, part);
}

TEST(RandomLayers, AreTheSameByEverySchedule) {
  for (unsigned seed = 200000; seed < 200000 + seeds(60) && !HasFatalFailure(); ++seed)
    expect_same_by_every_schedule(random_layers(seed), seed, 3);
}

// Of a target whose cache holds nothing, all weights of even channels in blocks of two lanes; or those of few
// channels filled up to sixteen.
TEST(WeightBlocks, AreTheSameByEverySchedule) {
  Target target = target_named("portable");
  target.costs.cache = 1;
  unsigned blocked = 0;
  for (unsigned seed = 300000; seed < 300000 + seeds(80) && !HasFatalFailure(); ++seed) {
    target.lanes = seed % 2 == 0 ? 2 : 16;
    const Graph plain = rewritten(import_text(random_layers(seed)), layerwise_peak);
    const Graph graph = with_weight_blocks(plain, target);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, dump(graph)));
    if (graph.tensors.size() == plain.tensors.size()) continue;
    ++blocked;
    assert_same_bits(plain, graph, seed, Numbers::kAny);
    expect_same_by_every_schedule(graph, target, seed, 3);
  }
  if (!all_seeds()) return;
  EXPECT_GT(blocked, 10u);
}

// What goes into recurrences forwards and backwards, for all moments at once.
TEST(HoistedSums, AreTheSameByEverySchedule) {
  for (const std::string op : {"LSTM", "GRU", "RNN"}) {
    const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[6, 1, 5] x) => (float[6, 2, 1, 4] z)\n  <{}, {}>\n"
        "{{ r = Relu(x)  z = {}<hidden_size = 4, direction = \"bidirectional\">(r, w, v) }}\n",
        constant("w", {2, 4 * gates, 5}), constant("v", {2, 4 * gates, 4}), op);
    SCOPED_TRACE(text);
    const Graph plain = rewritten(import_text(text), layerwise_peak);
    const Graph graph = with_hoisted_sums(plain);
    EXPECT_GE(graph.tensors.size(), plain.tensors.size() + 2);  // each direction
    for (unsigned seed = 0; seed < 4; ++seed) {
      assert_same_bits(plain, graph, seed, Numbers::kAny);
      expect_same_by_every_schedule(graph, targets().at(way_of(seed, "").target), seed, 1);
    }
  }
}

// A dense layer of bytes adds row after row of what it reads to zeros; its weights lie in words.
TEST(Words, AreReadBySumsThatARowIsAddedTo) {
  std::vector<int64_t> weights;
  for (int64_t k = 0; k < 1024 * 32; ++k) weights.push_back(k * 7 % 5 - 2);
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (int8[1, 16, 128] x) => (float[1, 32] z) <int8[1024, 32] w = {{{}}}> {{\n"
      "  a = MaxPool<kernel_shape = [2], strides = [2]>(x)  t = Transpose<perm = [0, 2, 1]>(a)\n"
      "  f = Flatten(t)  m = MatMulInteger(f, w)  z = Cast<to = 1>(m)\n}}\n",
      fmt::join(weights, ", "));
  for (const char* target : {"x86-64-v3", "x86-64-v4", "cortex-m4", "aarch64-dotprod"}) {
    Way way;
    way.scheduler = "rows", way.target = static_cast<size_t>(&target_named(target) - targets().data());
    const Compilation c = compile_graph(import_text(text), "m", way);
    std::mt19937 random(1);
    EXPECT_EQ(shadow_fault(c, random_inputs(*c.graph, 1, Numbers::kAny), random, 0), "") << target;
  }
}

// A recurrence among convolutions in time, and beside a residual; states that begin as inputs.
TEST(Recurrences, AreTheSameByEverySchedule) {
  for (const std::string op : {"LSTM", "GRU", "RNN"}) {
    const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[1, 4, 12, 3] x, float[1, 1, 4] h) => (float[1, 4, 12, 1] z, float[1, 1, 4] last)\n"
        "  <{}, {}, {}, {}, int64[1] one = {{1}}, int64[1] three = {{3}}, int64[3] rows = {{12, 1, "
        "12}}>\n{{\n"
        "  a = Conv<pads = [2, 0, 0, 0]>(x, u)  r = Relu(a)  t = Transpose<perm = [2, 0, 1, 3]>(r)\n"
        "  b = Reshape(t, rows)  y, last = {}<hidden_size = 4>(b, w, v, , , h)\n"
        "  c = Squeeze(y, one)  d = Transpose<perm = [1, 2, 0]>(c)  e = Unsqueeze(d, three)\n"
        "  f = ReduceMax<axes = [3]>(a)  k = Add(e, f)  z = Conv<pads = [1, 0, 1, 0]>(k, s)\n}}\n",
        constant("u", {4, 4, 3, 1}), constant("w", {1, 4 * gates, 12}), constant("v", {1, 4 * gates, 4}),
        constant("s", {4, 4, 3, 1}), op);
    for (unsigned seed = 0; seed < 4; ++seed) expect_same_by_every_schedule(text, seed, 1);
  }
}

// An If in the loop, and a loop, which write by their blocks alone, stay where they are.
TEST(HoistedSums, LeaveControlFlowInTheLoop) {
  const Graph plain = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[1, 3] x, float[3, 3] w, bool more) => (float[1, 3] y) <int64 trips = {4}, float[1, 3] none = {0, 0, 0}> {
      y = Loop (trips, , none) <body = b (int64 t, bool c, float[1, 3] s) => (bool c, float[1, 3] n) {
        p = MatMul(x, w)  q = Add(p, s)
        r = If (more) <then_branch = a () => (float[1, 3] u) { u = Neg(q) },
                       else_branch = e () => (float[1, 3] v) { v = Relu(q) }>
        n = Loop (trips, , r) <body = l (int64 i, bool d, float[1, 3] o) => (bool d, float[1, 3] m) { m = Cos(o) }>
      }> })");
  const Graph graph = with_hoisted_sums(plain);
  EXPECT_GT(graph.tensors.size(), plain.tensors.size());
  for (unsigned seed = 0; seed < 4; ++seed) assert_same_bits(plain, graph, seed, Numbers::kAny);
}

// Sums of what the loop itself writes stay, and those of loops that may end early.
TEST(HoistedSums, StayWhereTheLoopHasASay) {
  const auto hoists = [](const std::string& condition, const std::string& operand) {
    const Graph graph = import_text(
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[1, 3] x, float[3, 3] w, bool more) => (float[1, 3] y) <int64 trips = {4},\n"
        "   float[1, 3] none = {0, 0, 0}> {\n  y = Loop (trips, " +
        condition +
        ", none) <body = b (int64 t, bool c, float[1, 3] s) => (bool c, float[1, 3] n) {\n"
        "    p = MatMul(" +
        operand + ", w)  n = Add(p, s) }> }");
    return with_hoisted_sums(graph).tensors.size() > graph.tensors.size();
  };
  EXPECT_TRUE(hoists("", "x"));
  EXPECT_FALSE(hoists("more", "x"));
  EXPECT_FALSE(hoists("", "s"));
}

// A step before a group writes a part of what the group completes, and what the group reads may not lie
// there.
TEST(PartsOfConcats, AreTheSameByEverySchedule) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[1, 4, 16, 16] x, float[1, 2, 16, 16] p, float[1, 2, 16, 16] q) => (float[1, 2, 16, 16] z)\n"
      "  <{}, {}, {}, {}>\n{{\n"
      "  a = Conv<auto_pad = \"SAME_UPPER\">(x, u)\n  r = Relu(p)\n  b = Conv(a, v)\n"
      "  c = Conv<pads = [1, 1, 1, 1]>(b, w)\n  d = Concat<axis = 1>(r, c, q)\n"
      "  e = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(d)\n  z = Conv(e, s)\n}}\n",
      constant("u", {4, 4, 1, 3}), constant("v", {2, 4, 1, 1}), constant("w", {2, 2, 3, 3}),
      constant("s", {2, 6, 1, 1}));
  for (unsigned seed = 0; seed < 4; ++seed) expect_same_by_every_schedule(text, seed, 1);
}

// A pool of rows of rows, whose sums turn with what reads them, and that in turn with its own reader.
TEST(PoolsOfVolumes, AreTheSameByEverySchedule) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[1, 3, 8, 8, 8] x) => (float[1, 6, 4, 4, 4] z)\n"
      "  <{}, {}, float scale = {{1}}, uint8 zero = {{99}}>\n{{\n"
      "  a = Conv<pads = [1, 1, 1, 1, 1, 1]>(x, w)\n"
      "  q = QuantizeLinear(a, scale, zero)\n  d = DequantizeLinear(q, scale, zero)\n"
      "  b = MaxPool<kernel_shape = [2, 2, 2], strides = [2, 2, 2]>(d)\n  z = Conv(b, v)\n}}\n",
      constant("w", {2, 3, 3, 3, 3}), constant("v", {6, 2, 1, 1, 1}));
  for (unsigned seed = 0; seed < 2; ++seed) expect_same_by_every_schedule(text, seed, 1);
}

// Two inverted residuals on small images: of what they expand a plane is in memory at a time, or the rows
// under a window, kept or computed again.
TEST(Expansions, AreTheSameByEverySchedule) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[1, 3, 12, 12] x) => (float[1, 4, 3, 3] z)\n  <{}, {}, {}, {}, {}, {}>\n{{\n"
      "  a = Conv(x, u)\n  b = Conv<group = 12, pads = [2, 2, 2, 2], strides = [2, 2]>(a, v)\n"
      "  c = Conv(b, w)\n  d = Conv(c, p)\n  e = Relu(d)\n"
      "  f = Conv<group = 16, pads = [3, 3, 3, 3], strides = [2, 2]>(e, q)\n  z = Conv(f, r)\n}}\n",
      constant("u", {12, 3, 1, 1}), constant("v", {12, 1, 5, 5}), constant("w", {4, 12, 1, 1}),
      constant("p", {16, 4, 1, 1}), constant("q", {16, 1, 7, 7}), constant("r", {4, 16, 1, 1}));
  for (unsigned seed = 0; seed < 4; ++seed) expect_same_by_every_schedule(text, seed, 1);
}

// Images by rows and by columns, as means over columns want them: sums of floats round alike, those of
// windows, of whole images and of columns.
TEST(Columns, GiveTheSameBytesAsRows) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[1, 2, 9, 14] x) => (float[1, 6, 9, 14] z, float[1, 6, 1, 1] p)\n  <{}, {}, {}>\n{{\n"
      "  a = Conv<pads = [1, 1, 1, 1]>(x, w)  m = ReduceMean<axes = [2]>(a)\n"
      "  t = Conv<pads = [0, 1, 0, 1]>(m, v)  b = Add(a, t)  d = Conv<pads = [1, 1, 1, 1]>(b, u)\n"
      "  z = Tanh(d)  p = GlobalAveragePool(d)\n}}\n",
      constant("w", {6, 2, 3, 3}), constant("v", {6, 6, 1, 3}), constant("u", {6, 6, 3, 3}));
  const Graph graph = rewritten(import_text(text), layerwise_peak);
  std::vector<Emitted> ways;
  bool by_columns = false;
  for (Schedule& schedule :
       schedules_to_choose_from(graph, Freedom::kSomeAgain, targets().front(), kNoDeadline)) {
    by_columns |= std::ranges::any_of(schedule.steps, [&](const Step& step) {
      return lies_by_columns(schedule.layouts[step.node->writes[0]]);
    });
    Emitted& e =
        ways.emplace_back(Emitted{compile_schedule(std::make_unique<const Graph>(graph), std::move(schedule),
                                                   fmt::format("m{}", ways.size()), way_of(0, ""))});
    e.inputs = random_inputs(graph, 1, Numbers::kAny);
  }
  EXPECT_TRUE(by_columns);
  run_emitted(ways, compilers()[0]);
  for (const Emitted& e : ways) {
    ASSERT_EQ(e.fault, "");
    for (size_t k = 0; k < graph.outputs.size(); ++k)
      EXPECT_TRUE(e.outputs[k].bytes == ways[0].outputs[k].bytes) << k << dump(e.compilation.schedule);
  }
}

// The outputs of a model by each way, interpreted by the first and equal bytes by the others.
void expect_same(const Emitted* ways, const std::string& text) {
  SCOPED_TRACE(text);
  const Graph& graph = *ways[0].compilation.graph;
  for (size_t w = 0; w < kWays; ++w) EXPECT_EQ(ways[w].fault, "");
  if (testing::Test::HasFailure()) return;
  const auto values = interpret(graph, ways[0].inputs);
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const Value& first = ways[0].outputs[k];
    const auto wrong = difference(first, *values[graph.outputs[k]], {1e-4, kWithin});
    EXPECT_FALSE(wrong) << graph.output_names[k] << ": " << *wrong;
    for (size_t w = 1; w < kWays; ++w)
      EXPECT_TRUE(ways[w].outputs[k].bytes == first.bytes)
          << graph.output_names[k] << " by " << kSchedulers[w] << "\n"
          << dump(graph) << dump(ways[w].compilation.schedule);
  }
}

// What a model gives by each way.
void expect_same_by_all(const std::string& text, Numbers numbers) {
  for (size_t compiler = 0; compiler < 2; ++compiler) {
    std::vector<Emitted> ways;
    for (const char* scheduler : kSchedulers) {
      Emitted& e = ways.emplace_back(
          Emitted{compile_graph(import_text(text), fmt::format("m{}", ways.size()), way_of(0, scheduler))});
      e.inputs = random_inputs(*e.compilation.graph, 1, numbers);
    }
    run_emitted(ways, compilers().at(compiler));
    expect_same(ways.data(), text);
  }
}

// Rows wide enough for tiles of pixels between the borders, and chunks that begin with one.
TEST(WideRows, GiveTheSameBytes) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, 3, 16, 21] x) => (float[1, 3, 16, 21] z)\n"
      "  <{}, {}, {}, {}>\n{{\n"
      "  a = Conv<pads = [1, 1, 1, 1]>(x, w)\n  b = Conv<pads = [1, 1, 1, 1], group = 20>(a, d)\n"
      "  c = Conv(b, p)\n  e = Conv<pads = [1, 1, 1, 1], group = 20>(c, d)\n"
      "  z = Conv<pads = [1, 1, 1, 1]>(e, q)\n}}\n",
      constant("w", {20, 3, 3, 3}), constant("d", {20, 1, 3, 3}), constant("p", {20, 20, 1, 1}),
      constant("q", {3, 20, 3, 3}));
  expect_same_by_all(text, Numbers::kWhole);
}

// Sums of parts, of numbers that round: the parts are the same in rows and in whole layers.
TEST(LongSums, GiveTheSameBytes) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, 3, 12, 13] x) => (float[1, 2, 12, 13] z)\n"
      "  <{}, {}, {}>\n{{\n"
      "  a = Conv<pads = [1, 1, 1, 1]>(x, w)\n  b = Conv<pads = [2, 2, 2, 2]>(a, d)\n"
      "  z = Conv<pads = [1, 1, 1, 1]>(b, q)\n}}\n",
      constant("w", {70, 3, 3, 3}), constant("d", {130, 70, 5, 5}), constant("q", {2, 130, 3, 3}));
  expect_same_by_all(text, Numbers::kAny);
}

class FusedC : public testing::TestWithParam<CompilerRow> {};
INSTANTIATE_TEST_SUITE_P(By, FusedC, testing::ValuesIn(compilers()), [](const auto& row) {
  std::string name;
  for (const char* c = row.param.name; *c; ++c)
    if (std::isalnum(static_cast<unsigned char>(*c))) name += *c;
  return name;
});

TEST_P(FusedC, GivesTheSameBytes) {
  unsigned number = 0;
  while (std::string(compilers()[number].name) != GetParam().name) ++number;
  const unsigned from = 100000 * (1 + number), count = seeds(5);
  for (unsigned begin = from; begin < from + count && !HasFailure(); begin += kFusedBatch) {
    std::vector<Emitted> batch;
    for (unsigned seed = begin; seed < std::min(begin + kFusedBatch, from + count); ++seed)
      for (const char* scheduler : kSchedulers) {
        Emitted& e = batch.emplace_back(Emitted{compile_graph(
            import_text(model_text(seed)), fmt::format("m{}", batch.size()), way_of(seed, scheduler))});
        e.inputs = random_inputs(*e.compilation.graph, seed, Numbers::kWhole);
      }
    run_emitted(batch, GetParam());
    for (size_t k = 0; k < batch.size() && !HasFailure(); k += kWays) {
      const unsigned seed = begin + static_cast<unsigned>(k / kWays);
      expect_same(&batch[k], fmt::format("{}, seed {}\n{}", GetParam().name, seed, model_text(seed)));
    }
  }
}

}  // namespace
}  // namespace arenac
