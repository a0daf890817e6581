// The memory map of compiled models tells the truth about the graph: who writes a buffer, who reads it, what
// it holds, and how much work a step is.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "frontend/import.h"
#include "frontend/rewrites.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"
#include "planner/csv.h"
#include "planner/planners.h"
#include "scheduler/storage.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/random_layers.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

// Whether the map says of a buffer what the nodes at the steps do with the tensors in it. The first thing
// that is wrong, or nothing.
std::string fault_of(const MapBuffer& buffer, const Schedule& schedule, const Lifetimes& lifetimes) {
  const auto meets = [&](const std::vector<TensorId>& ids) {
    return std::ranges::any_of(ids, [&](TensorId id) { return lifetimes.buffer_of[id] == buffer.id; });
  };
  std::vector<int64_t> writers;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    if (schedule.steps[s].kind != StepKind::kRun) continue;
    const Node& node = *schedule.steps[s].node;
    const auto time = static_cast<int64_t>(s);
    const bool listed = std::ranges::count(buffer.readers, time) > 0;
    if (listed != meets(node.reads)) return "readers differ at " + node.origin;
    if (meets(node.writes)) writers.push_back(time);
  }
  if (writers != buffer.writers) return fmt::format("its writers are {}", fmt::join(writers, " "));
  if (buffer.kind == BufferKind::kInput) return buffer.writer ? "the caller writes an input" : "";
  if (writers.empty()) return "nobody writes it";
  return writers.front() == buffer.writer ? "" : "its writer is " + schedule.steps[writers[0]].node->origin;
}

void expect_true_uses(const MemoryMap& map, const Schedule& schedule, const Lifetimes& lifetimes) {
  for (const MapBuffer& buffer : map.buffers)
    EXPECT_EQ(fault_of(buffer, schedule, lifetimes), "") << buffer.name;
}

// All but names and the pools' sizes.
void expect_the_same(const Problem& read, const Problem& written) {
  ASSERT_EQ(read.buffers.size(), written.buffers.size());
  for (size_t k = 0; k < read.buffers.size(); ++k) {
    const Buffer &a = read.buffers[k], &b = written.buffers[k];
    EXPECT_EQ(std::tie(a.size, a.align, a.begin, a.end, a.pools, a.fixed_offset),
              std::tie(b.size, b.align, b.begin, b.end, b.pools, b.fixed_offset));
  }
  const auto triples = [](const Problem& p) {
    std::set<std::tuple<int, int, int64_t>> all;
    for (const Overlap& o : p.overlaps) all.insert({o.above, o.below, o.distance});
    return all;
  };
  EXPECT_EQ(triples(read), triples(written));
}

TEST(MapOfRandomModels, NamesWritersAndReaders) {
  constexpr const char* kSchedulers[] = {"layerwise", "fused", "smallest", "rows"};
  size_t late = 0, shared = 0;  // buffers whose life begins before they are written, in a group
  for (unsigned seed = 0; seed < seeds(120); ++seed) {
    const std::string text = seed % 3 == 0 ? random_graph(seed) : random_layers(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    Way way;
    way.io = seed % 2 ? Io::kArena : Io::kExternal;
    if (seed % 5 == 0) way.pools = {{"fast", 1000}, {"slow"}};
    way.scheduler = kSchedulers[seed / 2 % std::size(kSchedulers)];
    const Compilation c = compile_graph(import_text(text), "m", way);
    expect_true_uses(c.map, c.schedule, c.lifetimes);
    EXPECT_EQ(verify(c.map), std::nullopt);
    EXPECT_EQ(memory_map_from_json(to_json(c.map)), c.map);
    expect_the_same(problem_from_csv(dump(c.lifetimes.problem), "p.csv"), c.lifetimes.problem);
    for (const MapBuffer& buffer : c.map.buffers) late += buffer.writer && *buffer.writer > buffer.begin;
    for (const MapBuffer& buffer : c.map.buffers) shared += buffer.writers.size() > 1;
    if (HasFailure()) return;
  }
  EXPECT_GT(late, 20u);
  EXPECT_GT(shared, 20u);
}

TEST(MapOfBundledModels, NamesWritersReadersTypesAndShapes) {
  for (const models::ModelRow& row : models::model_table()) {
    if (std::string_view(row.name).ends_with("_qdq")) continue;  // ever the same layers
    SCOPED_TRACE(row.name);
    Graph graph =
        rewritten(import_bytes(models::serialize(row.make()), std::string(row.name)), layerwise_peak);
    int64_t weights = 0;
    for (const Tensor& tensor : graph.tensors) weights += tensor.constant ? bytes_of(tensor) : 0;
    if (weights > 2'000'000) continue;
    const Schedule schedule = scheduler_named("fused").schedule(graph, targets().front(), kNoDeadline);
    const Lifetimes lives = lifetimes(schedule, Io::kExternal, 16);
    const MemoryMap map = make_map(schedule, lives, plan(lives.problem), Io::kExternal);
    expect_true_uses(map, schedule, lives);
    const Problem read = problem_from_csv(dump(lives.problem), "p.csv");
    EXPECT_EQ(plan(read).pools[0].size, map.totals.arena);
    for (const MapBuffer& buffer : map.buffers) {
      EXPECT_FALSE(buffer.type.empty()) << buffer.name;
      const auto same = [&](const Tensor& t) {
        return t.name == buffer.name && t.shape == buffer.shape && info(t.type).name == buffer.type;
      };
      EXPECT_TRUE(std::ranges::any_of(schedule.graph->tensors, same)) << buffer.name;
    }
  }
}

TEST(MapOfAChain, NamesEachLayersOwnRing) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 64, 64] x) => (float[1, 1, 16, 16] z) {
  a = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)
  b = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (a)
  z = MaxPool <kernel_shape = [4, 4], strides = [4, 4]> (b)
})");
  Way way;
  way.scheduler = "fused";
  const Compilation c = compile_graph(graph, "m", way);
  ASSERT_EQ(c.map.groups.size(), 1u);
  ASSERT_EQ(c.map.buffers.size(), 2u);
  for (const MapBuffer& buffer : c.map.buffers) {
    EXPECT_EQ(buffer.begin, 0);
    EXPECT_EQ(c.map.steps[*buffer.writer].op, buffer.name == "a" ? "MaxPool" : "AveragePool");
    EXPECT_EQ(buffer.readers, std::vector<int64_t>{*buffer.writer + 1});
    EXPECT_EQ(buffer.type, "float32");
    EXPECT_EQ(buffer.shape, (std::vector<int64_t>{1, 1, 64, 64}));
  }
}

// A loop of 5 trips around one of 7 around a product of 4 x 6 and 6 x 4 elements.
TEST(MapOfLoops, CountsTheWorkOfEveryTrip) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4, 4] x, bool stop) => (float[4, 4] z)
<int64 five = {5}, int64 seven = {7}, float[4, 4] w = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}> {
  z = Loop (five, stop, x) <body = outer (int64 i, bool c, float[4, 4] s) => (bool more, float[4, 4] t) {
    more = Identity (c)
    t = Loop (seven, c, s) <body = inner (int64 j, bool d, float[4, 4] u) => (bool again, float[4, 4] v) {
      again = Identity (d)
      m = MatMul (u, w)
      v = Relu (m)
    }>
  }>
})");
  const Compilation c = compile_graph(graph, "m", {});
  EXPECT_EQ(c.map.totals.macs, 5 * 7 * 4 * 4 * 4);
  int64_t whole = 0;
  for (const Node& node : c.graph->block) whole += multiply_accumulates(node);
  EXPECT_EQ(c.map.totals.macs, whole);
}

}  // namespace
}  // namespace arenac
