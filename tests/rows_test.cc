// Which rows a slab touches and how many rows a ring keeps, against closed formulas; groups that must not be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/rewrites.h"
#include "scheduler/accumulate.h"
#include "scheduler/groups.h"
#include "scheduler/second_passes.h"
#include "scheduler/slab_runs.h"
#include "scheduler/storage.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/shadow.h"

namespace arenac {
namespace {

std::string floats(const std::string& name, int64_t m, int64_t c, int64_t k) {
  std::string values = "1";
  for (int64_t n = m * c * k * k; n > 1; --n) values += ", 1";
  return fmt::format("float[{}, {}, {}, {}] {} = {{{}}}", m, c, k, k, name, values);
}

// `body` makes y from a. 1x1 convolutions lay out both channels-last: a as [1, 2, rows, 5].
Graph after_pointwise(int64_t rows, const std::string& y_shape, const std::string& constants,
                      const std::string& body) {
  return import_text(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, 2, {}, 5] x) => (float[{}] z)\n  <{}{}>\n{{\n"
      "  a = Conv<kernel_shape = [1, 1]>(x, pw)\n  {}\n  z = Conv<kernel_shape = [1, 1]>(y, pw)\n}}\n",
      rows, y_shape, floats("pw", 2, 2, 1), constants.empty() ? "" : ", " + constants, body));
}

struct Access {
  std::vector<Interval> read, written;  // per slab
};

// The rows of `a` and of what the step that reads it writes.
Access access_of(const Graph& graph) {
  const Storage storage = assign_storage(graph);
  const auto rows = storage_rows(graph, storage.layouts);
  for (const Step& step : storage.steps)
    for (TensorId id : step.node->reads)
      if (graph.tensors[id].name == "a") {
        const Slabs slabs = slabs_of(*step.node, graph, storage.layouts, rows);
        for (const RowAccess& read : slabs.reads)
          if (read.tensor == id) return {read.rows, slabs.write.rows};
      }
  ADD_FAILURE() << "nothing reads a\n" << dump(graph);
  return {};
}

using Needs = std::function<Interval(int64_t)>;  // rows [begin, end) that row r is computed from

Interval hull_of(const Needs& needs, Interval written, int64_t rows) {
  Interval all = {rows, 0};
  for (int64_t r = written.begin; r < written.end; ++r) {
    const Interval one = {std::max<int64_t>(needs(r).begin, 0), std::min(needs(r).end, rows)};
    if (one.begin < one.end) all = {std::min(all.begin, one.begin), std::max(all.end, one.end)};
  }
  return all;
}

// Every row of y is written by one slab, ascending, which reads what `needs` says, clipped to `rows`, and
// nothing beyond `bound`.
void expect_rows(const Graph& graph, int64_t rows, const Needs& needs, const Needs& bound) {
  const auto [read, written] = access_of(graph);
  ASSERT_GT(read.size(), 1u) << dump(graph);
  int64_t next = 0;
  for (size_t t = 0; t < read.size(); ++t) {
    SCOPED_TRACE(fmt::format("slab {} reads {} to {}", t, read[t].begin, read[t].end));
    const Interval least = hull_of(needs, written[t], rows), most = hull_of(bound, written[t], rows);
    if (written[t].begin < written[t].end) {
      EXPECT_EQ(written[t].begin, next);
      next = written[t].end;
    }
    if (least.begin < least.end) {
      EXPECT_LE(read[t].begin, least.begin);
      EXPECT_GE(read[t].end, least.end);
    }
    if (read[t].begin < read[t].end) {
      EXPECT_GE(read[t].begin, most.begin);
      EXPECT_LE(read[t].end, most.end);
    }
  }
}
void expect_rows(const Graph& graph, int64_t rows, const Needs& needs) {
  expect_rows(graph, rows, needs, needs);
}

struct Window {
  int64_t k, s, p, d;
};
void PrintTo(const Window& w, std::ostream* out) {
  *out << fmt::format("{{k {} s {} p {} d {}}}", w.k, w.s, w.p, w.d);
}
class Windows : public testing::TestWithParam<Window> {};
INSTANTIATE_TEST_SUITE_P(Of, Windows,
                         testing::Values(Window{1, 1, 0, 1}, Window{3, 1, 1, 1}, Window{3, 2, 1, 1},
                                         Window{3, 1, 0, 1}, Window{5, 1, 2, 1}, Window{3, 1, 2, 2},
                                         Window{3, 2, 3, 3}, Window{2, 2, 0, 1}, Window{1, 2, 0, 1},
                                         Window{2, 3, 1, 1}));

constexpr int64_t kRows = 17;
int64_t windows_of(int64_t rows, const Window& w) { return (rows + 2 * w.p - (w.k - 1) * w.d - 1) / w.s + 1; }
int64_t width_of(const Window& w) { return (5 + 2 * (w.k / 2) - w.k) / w.s + 1; }
std::string window_text(const Window& w) {
  return fmt::format(
      "kernel_shape = [{0}, {0}], strides = [{1}, {1}], pads = [{2}, {3}, {2}, {3}], "
      "dilations = [{4}, 1]",
      w.k, w.s, w.p, w.k / 2, w.d);
}
std::string window_shape(const Window& w) {
  return fmt::format("1, 2, {}, {}", windows_of(kRows, w), width_of(w));
}
Needs rows_of(const Window& w) {
  return [w](int64_t r) -> Interval { return {r * w.s - w.p, r * w.s - w.p + (w.k - 1) * w.d + 1}; };
}

TEST_P(Windows, OfConvolutionsAreTheirRows) {
  const Window w = GetParam();
  expect_rows(after_pointwise(kRows, window_shape(w), floats("w", 2, 2, w.k),
                              fmt::format("y = Conv<{}>(a, w)", window_text(w))),
              kRows, rows_of(w));
}

TEST_P(Windows, OfDepthwiseConvolutionsAreTheirRows) {
  const Window w = GetParam();
  expect_rows(after_pointwise(kRows, window_shape(w), floats("w", 2, 1, w.k),
                              fmt::format("y = Conv<group = 2, {}>(a, w)", window_text(w))),
              kRows, rows_of(w));
}

TEST_P(Windows, OfPoolsAreTheirRows) {
  const Window w = GetParam();
  if (w.p >= (w.k - 1) * w.d + 1) GTEST_SKIP() << "a window of padding only";
  expect_rows(after_pointwise(kRows, window_shape(w), "", fmt::format("y = MaxPool<{}>(a)", window_text(w))),
              kRows, rows_of(w));
}

TEST_P(Windows, OfTransposedConvolutionsAreTheirRows) {
  const Window w = GetParam();
  const int64_t reach = (w.k - 1) * w.d, p = std::min(w.p, reach);
  const std::string shape =
      fmt::format("1, 2, {}, {}", (kRows - 1) * w.s + reach + 1 - 2 * p, 4 * w.s + w.k - 2 * (w.k / 2));
  const Graph graph =
      after_pointwise(kRows, shape, floats("w", 2, 2, w.k),
                      fmt::format("y = ConvTranspose<{}>(a, w)", window_text({w.k, w.s, p, w.d})));
  const auto taps = [&](int64_t r) -> Interval {
    Interval rows = {kRows, 0};
    for (int64_t tap = 0; tap < w.k; ++tap)
      if (const int64_t from = r + p - tap * w.d; from % w.s == 0 && 0 <= from && from < kRows * w.s)
        rows = {std::min(rows.begin, from / w.s), std::max(rows.end, from / w.s + 1)};
    return rows;
  };
  expect_rows(graph, kRows, taps, [&](int64_t r) -> Interval {
    return {ceil_div(r + p - reach, w.s), floor_div(r + p, w.s) + 1};
  });
}

TEST(Slabs, OfResizes) {
  for (const int64_t f : {2, 3}) {
    const std::string shape = fmt::format("1, 2, {}, 5", kRows * f),
                      sizes = fmt::format("int64[4] s = {{1, 2, {}, 5}}", kRows * f);
    expect_rows(after_pointwise(kRows, shape, sizes,
                                "y = Resize<mode = \"nearest\", coordinate_transformation_mode = "
                                "\"asymmetric\", nearest_mode = \"floor\">(a, , , s)"),
                kRows, [&](int64_t r) -> Interval {
                  return {r / f, r / f + 1};
                });
    // floor(c) to ceil(c), c = (r + 0.5) / f - 0.5
    const auto linear = [&](int64_t r) -> Interval {
      return {floor_div(2 * r + 1 - f, 2 * f), ceil_div(2 * r + 1 - f, 2 * f) + 1};
    };
    const auto within = [&](int64_t r) -> Interval { return {linear(r).begin, linear(r).begin + 2}; };
    expect_rows(after_pointwise(kRows, shape, sizes, "y = Resize<mode = \"linear\">(a, , , s)"), kRows,
                linear, within);
  }
}

TEST(Slabs, OfPads) {
  expect_rows(after_pointwise(kRows, "1, 2, 20, 5", "int64[8] p = {0, 0, 2, 0, 0, 0, 1, 0}", "y = Pad(a, p)"),
              kRows, [](int64_t r) -> Interval {
                return {r - 2, r - 1};
              });
}

TEST(Slabs, OfDepthToSpace) {
  const Graph graph =
      import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, 2, 6, 5] x) => "
                              "(float[1, 2, 12, 10] z)\n  <{}, {}>\n"
                              "{{\n  a = Conv<kernel_shape = [1, 1]>(x, pw)\n  y = DepthToSpace<blocksize = "
                              "2>(a)\n  z = Conv<kernel_shape = [1, 1]>(y, qw)\n}}\n",
                              floats("pw", 8, 2, 1), floats("qw", 2, 2, 1)));
  expect_rows(graph, 6, [](int64_t r) -> Interval { return {r / 2, r / 2 + 1}; });
}

// The parts of a concat along rows write rows of their own.
TEST(Slabs, OfAConcatAlongRows) {
  const Graph graph = import_text(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[6, 4] a, float[3, 4] b) => (float[9, 4] y)\n"
      "{\n  y = Concat<axis = 0>(a, b)\n}\n");
  const Storage storage = assign_storage(graph);
  const Slabs slabs =
      slabs_of(*storage.steps.at(0).node, graph, storage.layouts, storage_rows(graph, storage.layouts));
  ASSERT_EQ(slabs.count, 9);
  for (int64_t t = 0; t < 9; ++t) {
    EXPECT_EQ(slabs.write.rows[t], (Interval{t, t + 1}));
    EXPECT_EQ(slabs.reads[0].rows[t], (t < 6 ? Interval{t, t + 1} : Interval{0, 0}));
    EXPECT_EQ(slabs.reads[1].rows[t], (t < 6 ? Interval{0, 0} : Interval{t - 6, t - 5}));
  }
}

// The caller's memory is row-major, its rows are channels; it is written row by row of the image
// nevertheless.
TEST(Slabs, OfAnOutput) {
  const Graph graph = after_pointwise(kRows, "1, 2, 17, 5", "", "y = Relu(a)");
  const Storage storage = assign_storage(graph);
  const Slabs slabs =
      slabs_of(*storage.steps.back().node, graph, storage.layouts, storage_rows(graph, storage.layouts));
  ASSERT_EQ(slabs.count, kRows);
  for (int64_t t = 0; t < kRows; ++t) {
    EXPECT_EQ(slabs.reads[0].rows[t], (Interval{t, t + 1}));
    EXPECT_EQ(slabs.write.rows[t], (Interval{0, 2}));
  }
}

// a is 2 x 5 x 5. A window of all its rows: planes are fewer bytes, written and read one after the other. A
// window of three rows: pixels.
TEST(Slabs, OfPlanes) {
  const auto storage_of = [](const Graph& graph) {
    return assign_storage(graph, {0, 1, 2}, {.windowed = Windowed::kPlanes});
  };
  const Graph wide = after_pointwise(
      5, "1, 2, 3, 3", floats("w", 2, 1, 5),
      "y = Conv<group = 2, kernel_shape = [5, 5], strides = [2, 2], pads = [2, 2, 2, 2]>(a, w)");
  const Storage storage = storage_of(wide);
  const std::vector<Rows> rows = storage_rows(wide, storage.layouts);
  for (int step : {0, 1}) {
    const Slabs slabs = slabs_of(*storage.steps.at(step).node, wide, storage.layouts, rows);
    const RowAccess& planes = step == 0 ? slabs.write : slabs.reads.at(0);
    EXPECT_EQ(storage.layouts[planes.tensor].strides, (std::vector<int64_t>{50, 25, 5, 1}));
    EXPECT_EQ(planes.rows, (std::vector<Interval>{{0, 1}, {1, 2}})) << step;
  }
  const Graph narrow =
      after_pointwise(5, "1, 2, 5, 5", floats("w", 2, 1, 3),
                      "y = Conv<group = 2, kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(a, w)");
  const TensorId a = storage_of(narrow).steps.at(0).node->writes[0];
  EXPECT_EQ(storage_of(narrow).layouts[a].strides, (std::vector<int64_t>{50, 1, 10, 2}));
}

// ---- rings

Schedule scheduled_by(const std::string& name, const Graph& graph) {
  return scheduler_named(name).schedule(graph, targets().front(), kNoDeadline);
}

int64_t kept_of(const Schedule& schedule, const std::string& name) {
  const Graph& graph = *schedule.graph;
  for (size_t id = 0; id < graph.tensors.size(); ++id)
    if (graph.tensors[id].name == name) return schedule.layouts[id].ring.kept;
  ADD_FAILURE() << "no tensor " << name;
  return -1;
}

// (k - 1) d + 1 rows for a producer of single rows.
TEST_P(Windows, KeepTheirRows) {
  const Window w = GetParam();
  const Graph graph = after_pointwise(kRows, window_shape(w), floats("w", 2, 2, w.k),
                                      fmt::format("y = Conv<{}>(a, w)", window_text(w)));
  const Schedule schedule = scheduled_by("rows", graph);
  EXPECT_EQ(kept_of(schedule, "a"), (w.k - 1) * w.d + 1) << dump(schedule);
}

// A producer of g rows at a time: (k - 1) d + 1 + g - gcd(g, s), or up to gcd(g, s) - 1 more by the padding.
TEST_P(Windows, KeepWhatAProducerOfSeveralRowsWrites) {
  const Window w = GetParam();
  for (const int64_t g : {2, 3}) {
    const int64_t rows = kRows * g, reach = (w.k - 1) * w.d + 1;
    const Graph graph = after_pointwise(
        kRows, fmt::format("1, 2, {}, {}", windows_of(rows, w), width_of(w)),
        fmt::format("{}, {}", floats("up", 2, 2, 1), floats("w", 2, 2, w.k)),
        fmt::format(
            "b = ConvTranspose<strides = [{0}, 1], output_padding = [{1}, 0]>(a, up)\n  y = Conv<{2}>(b, "
            "w)",
            g, g - 1, window_text(w)));
    const Schedule schedule = scheduled_by("rows", graph);
    int64_t most = 0;  // produced and still needed
    for (int64_t r = 0; r < windows_of(rows, w); ++r) {
      const Interval need = rows_of(w)(r);
      most = std::max(most, std::min(ceil_div(std::max<int64_t>(need.end, 1), g) * g, rows) -
                                std::max<int64_t>(need.begin, 0));
    }
    EXPECT_EQ(kept_of(schedule, "b"), most) << dump(schedule);
    if (std::gcd(g, w.s) == 1) {
      EXPECT_EQ(most, reach + g - 1);
    }
  }
}

// An edge around convolutions: 1 + sum of (k - 1) d - p.
TEST(Rings, OfResidualEdges) {
  for (const int64_t k : {3, 5})
    for (const int64_t d : {1, 2}) {
      const int64_t p = (k - 1) * d / 2;
      const std::string conv = fmt::format(
          "Conv<kernel_shape = [{0}, {0}], pads = [{1}, {1}, {1}, {1}], dilations = [{2}, {2}]>", k, p, d);
      const Graph graph =
          after_pointwise(24, "1, 2, 24, 5", floats("w", 2, 2, k),
                          fmt::format("b = {0}(a, w)\n  c = {0}(b, w)\n  y = Add(c, a)", conv));
      const Schedule schedule = scheduled_by("rows", graph);
      EXPECT_EQ(kept_of(schedule, "a"), std::max(1 + 2 * ((k - 1) * d - p), (k - 1) * d + 1))
          << dump(schedule);
      EXPECT_EQ(kept_of(schedule, "b"), (k - 1) * d + 1) << dump(schedule);
    }
}

// ---- hazards

// b needs rows of a below the one that c overwrites in place: c waits until b has read them.
TEST(Groups, WaitForWhatReadsTheRowsThatTheyOverwrite) {
  const Graph graph = after_pointwise(
      kRows, "1, 2, 17, 5", floats("w", 2, 2, 3),
      "b = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(a, w)\n  c = Neg(a)\n  y = Mul(b, c)");
  const Schedule whole = schedule_layerwise(graph);
  ASSERT_EQ(whole.steps.size(), 5u) << dump(graph);
  const auto root_of = [&](size_t step) { return whole.layouts[whole.steps[step].node->writes[0]].root; };
  ASSERT_EQ(root_of(2), root_of(0)) << "c is in place";
  const StepFacts facts = step_facts(graph, whole.steps, whole.layouts);
  const auto group = [&](int begin, int end) {
    return form_group(whole, facts, begin, end, Keep{.columns = false});
  };
  for (const auto& [begin, end] : {std::pair(0, 4), {1, 4}, {1, 3}, {0, 2}, {2, 4}})
    EXPECT_TRUE(group(begin, end)) << begin << " to " << end;
  const auto plan = group(0, 4);
  ASSERT_TRUE(plan);
  std::vector<int64_t> seen(4);
  // Slab t of c is preceded by slab t + 1 of b, which reads a row more.
  for_each_slab_run(plan->group, [&](const SlabRun& run) {
    if (run.stage == 2) {
      EXPECT_EQ(seen[1], std::min<int64_t>(run.slab + 2, kRows));
    }
    ++seen[run.stage];
  });
  const auto ring = std::ranges::find(plan->rings, root_of(0), &KeptRing::storage);
  ASSERT_NE(ring, plan->rings.end());
  EXPECT_EQ(ring->ring.kept, 3);
}

// The parts of a concat lie between each other in every row: what the later one writes is not the earlier
// one.
TEST(Groups, HaveThePartsOfAConcatInOneRing) {
  const Graph graph =
      after_pointwise(kRows, "1, 2, 17, 5", floats("w", 2, 2, 3) + ", " + floats("v", 2, 4, 3),
                      "b = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(a, w)\n  c = Concat<axis = 1>(a, "
                      "b)\n  y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(c, v)");
  const Schedule schedule = scheduled_by("rows", graph);
  ASSERT_EQ(schedule.groups.size(), 1u) << dump(schedule);
  EXPECT_EQ(kept_of(schedule, "a"), 5) << dump(schedule);
  EXPECT_EQ(kept_of(schedule, "b"), 5) << dump(schedule);
}

// ---- attention

// Encoder blocks of [1, tokens, heads * depth] as exporters write them: attention over normalized tokens and
// a layer of twice the width, each added to its input.
Graph encoder(int64_t blocks, int64_t tokens, int64_t heads, int64_t depth) {
  const int64_t width = heads * depth;
  std::string constants = fmt::format(
      "int64[4] split = {{1, {}, {}, {}}}, int64[3] joined = {{1, {}, {}}}, float scale = {{0.25}}", tokens,
      heads, depth, tokens, width);
  std::string body;
  const auto weights = [&](const std::string& name, int64_t rows, int64_t columns) {
    std::string values = "0.5";
    for (int64_t n = 1; n < rows * columns; ++n)
      values += (n * static_cast<int64_t>(name[0])) % 7 < 3 ? ", -0.25" : ", 0.125";
    constants += fmt::format(",\n   float[{}, {}] {} = {{{}}}", rows, columns, name, values);
  };
  const auto head = [&](const std::string& name, int64_t block, const std::string& order) {
    weights(fmt::format("{}w{}", name, block), width, width);
    body += fmt::format(
        "  {0}p{1} = MatMul(n{1}, {0}w{1})\n  {0}r{1} = Reshape({0}p{1}, split)\n"
        "  {0}{1} = Transpose<perm = [{2}]>({0}r{1})\n",
        name, block, order);
  };
  constants += ",\n   float[" + std::to_string(width) + "] ones = {1";
  for (int64_t n = 1; n < width; ++n) constants += ", 1";
  constants += "}";
  for (int64_t block = 0; block < blocks; ++block) {
    const std::string x = block == 0 ? "x" : fmt::format("y{}", block - 1);
    body += fmt::format("  n{0} = LayerNormalization({1}, ones)\n", block, x);
    head("q", block, "0, 2, 1, 3"), head("k", block, "0, 2, 3, 1"), head("v", block, "0, 2, 1, 3");
    weights(fmt::format("ow{}", block), width, width);
    weights(fmt::format("fw{}", block), width, 2 * width);
    weights(fmt::format("gw{}", block), 2 * width, width);
    body += fmt::format(
        "  s{0} = MatMul(q{0}, k{0})\n  c{0} = Mul(s{0}, scale)\n  p{0} = Softmax<axis = -1>(c{0})\n"
        "  a{0} = MatMul(p{0}, v{0})\n  t{0} = Transpose<perm = [0, 2, 1, 3]>(a{0})\n"
        "  j{0} = Reshape(t{0}, joined)\n  o{0} = MatMul(j{0}, ow{0})\n  b{0} = Add(o{0}, {1})\n"
        "  m{0} = LayerNormalization(b{0}, ones)\n  f{0} = MatMul(m{0}, fw{0})\n  g{0} = Relu(f{0})\n"
        "  h{0} = MatMul(g{0}, gw{0})\n  y{0} = Add(h{0}, b{0})\n",
        block, x);
  }
  return import_text(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, {0}, {1}] x) => (float[1, {0}, {1}] y{2})\n"
      "  <{3}>\n{{\n{4}}}\n",
      tokens, width, blocks - 1, constants, body));
}

// Normalized tokens, keys and values are in memory whole, and between blocks their sums; of the scores those
// of one token.
TEST(Attention, RunsTokenByToken) {
  for (const int64_t blocks : {1, 2}) {
    const int64_t tokens = 64, heads = 4, depth = 4;
    Way way;
    way.scheduler = "fused";
    const Compilation c = compile_graph(encoder(blocks, tokens, heads, depth), "m", way);
    const int64_t token = heads * depth * 4, scores = heads * tokens * 4;
    const int64_t whole = (blocks == 1 ? 3 : 4) * tokens * token;
    EXPECT_LE(c.map.pools[0].size, whole + scores + 24 * token) << dump(c.schedule);
    const auto inputs = random_inputs(*c.graph, 1, Numbers::kWhole);
    std::mt19937 random(1);
    EXPECT_EQ(shadow_fault(c, inputs, random), "");
  }
}

// ---- second passes

// What waits for its own mean is computed again, and then in memory for a few rows alone.
TEST(SecondPasses, AreOfWhatWaitsForAReductionOfItself) {
  const Graph graph = after_pointwise(
      64, "1, 16, 64, 5", floats("up", 16, 2, 3) + ", " + floats("down", 2, 16, 1),
      "b = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(a, up)\n  m = GlobalAveragePool(b)\n  s = "
      "Sigmoid(m)\n  c = Mul(b, s)\n  y = Conv<kernel_shape = [1, 1]>(c, down)");
  const auto graphs = with_second_passes(scheduled_by("layerwise", with_accumulators(graph)));
  ASSERT_EQ(graphs.size(), 2u);  // from the input, which is at the caller; from `a`
  Way way;
  way.scheduler = "fused";
  const Compilation once = compile_graph(graph, "m", way);
  for (const size_t g : {0, 1}) {
    EXPECT_EQ(std::ranges::count(graphs[g].block, true, &Node::is_again), g == 0 ? 2 : 1) << dump(graphs[g]);
    const Compilation again = compile_graph(graphs[g], "m", way);
    EXPECT_LT(again.map.totals.arena * 4, once.map.totals.arena) << dump(again.schedule);
    EXPECT_GT(work_again(scheduled_by("layerwise", graphs[g])), 0);
    const auto inputs = random_inputs(graph, 1, Numbers::kWhole);
    std::mt19937 random(1);
    EXPECT_EQ(shadow_fault(again, inputs, random), "");
  }
}

// Means of many elements are made of sums of parts.
TEST(SecondPasses, AreOfWhatWaitsForSumsOfParts) {
  for (const int64_t size : {8, 64}) {
    const Graph graph =
        import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                "g (float[1, 4, {0}, {0}] x) => (float[1, 4, {0}, {0}] z) <{1}> {{\n"
                                "  a = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w)\n"
                                "  m = GlobalAveragePool(a)  s = Sigmoid(m)  b = Mul(a, s)\n"
                                "  z = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(b, w)\n}}\n",
                                size, floats("w", 4, 4, 3)));
    EXPECT_EQ(with_second_passes(scheduled_by("layerwise", with_accumulators(graph))).size(), 1u) << size;
  }
}

// Two scales: what joins them waits, with `c`, for what comes of the pooled `c`.
Graph two_scales() {
  return import_text(
      fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                  "g (float[1, 2, 64, 16] x) => (float[1, 1, 64, 16] y)\n"
                  "<{}, {}, {}, {}, {}, float[4] twice = {{1, 1, 2, 2}}, int64[1] channels = {{1}}> {{\n"
                  "  a = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, v)  b = Relu(a)\n"
                  "  c = Conv<kernel_shape = [1, 1]>(b, w)\n"
                  "  d = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(c)\n"
                  "  e = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(d, up)\n"
                  "  f = Conv<kernel_shape = [3, 3], pads = [8, 8, 8, 8], dilations = [8, 8]>(e, wide)\n"
                  "  h = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(f, down)\n"
                  "  i = Resize<mode = \"nearest\">(h, , twice)  j = Concat<axis = 1>(i, c)\n"
                  "  y = ReduceSum<keepdims = 1>(j, channels)\n}}\n",
                  floats("v", 4, 2, 3), floats("w", 4, 4, 1), floats("up", 16, 4, 3),
                  floats("wide", 16, 16, 3), floats("down", 4, 16, 3)));
}

// What waits for a deep branch of fewer rows is computed again, from the input.
TEST(SecondPasses, AreOfWhatWaitsAcrossScales) {
  const Graph graph = rewritten(two_scales(), layerwise_peak);
  const auto graphs = with_second_passes(scheduled_by("layerwise", with_accumulators(graph)));
  ASSERT_EQ(graphs.size(), 1u);
  EXPECT_EQ(std::ranges::count(graphs[0].block, true, &Node::is_again), 2) << dump(graphs[0]);
  Way way;
  way.scheduler = "fused";
  const Compilation made = compile_graph(graph, "m", way);
  EXPECT_GT(work_again(made.schedule), 0) << dump(made.schedule);
  EXPECT_EQ(work_again_in_rows(made.schedule), 0);
  way.scheduler = "rows";
  EXPECT_LT(made.map.totals.arena * 4, compile_graph(graph, "m", way).map.totals.arena * 3);
  const auto inputs = random_inputs(graph, 1, Numbers::kWhole);
  std::mt19937 random(1);
  EXPECT_EQ(shadow_fault(made, inputs, random), "");
}

// A shortcut waits for few rows where what it passes has as many as it.
TEST(SecondPasses, AreNotOfShortcuts) {
  for (const char* stride : {"1", "2"}) {
    const Graph graph = import_text(
        fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                    "g (float[1, 8, 32, 32] x) => (float[N, 8, H, W] y) <{1}, {2}> {{\n"
                    "  a = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w)\n"
                    "  b = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [{0}, {0}]>(a, w)\n"
                    "  c = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(b, w)\n"
                    "  s = Conv<kernel_shape = [1, 1], strides = [{0}, {0}]>(a, v)\n  y = Add(s, c)\n}}\n",
                    stride, floats("w", 8, 8, 3), floats("v", 8, 8, 1)));
    EXPECT_TRUE(with_second_passes(scheduled_by("layerwise", with_accumulators(graph))).empty()) << stride;
  }
}

// An attention without softmax: a sum of all keys and values, which queries are multiplied by. All three are
// made of `n`, which `made` says, and `added` is added to the result.
Graph linear_attention(const std::string& made, const std::string& added) {
  const auto matrix = [](const std::string& name) {
    std::string values = "1";
    for (int n = 1; n < 64; ++n) values += (n * static_cast<int>(name.back())) % 7 < 3 ? ", -1" : ", 1";
    return fmt::format("float[8, 8] {} = {{{}}}", name, values);
  };
  return import_text(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[1, 256, 8] x) => (float[1, 256, 8] y) <{}, {}, {}, {}, float[8] s = {{1, 1, 1, 1, 1, 1, 1, "
      "1}}, "
      "float[1, 1, 8] half = {{2, 2, 2, 2, 2, 2, 2, 2}}> {{\n"
      "  a = MatMul(x, w)\n  n = {}\n"
      "  q = MatMul(n, wq)  k = MatMul(n, wk)  v = MatMul(n, wv)\n"
      "  t = Transpose<perm = [0, 2, 1]>(k)  m = MatMul(t, v)  o = MatMul(q, m)\n  y = Add({}, o)\n}}\n",
      matrix("w"), matrix("wq"), matrix("wk"), matrix("wv"), made, added));
}

// Keys and values go into sums token by token; what was normalized for them is normalized again for queries.
TEST(SecondPasses, AreOfWhatQueriesWaitWith) {
  const Graph graph = linear_attention("LayerNormalization(a, s)", "a");
  const auto graphs = with_passes_behind_mixing(scheduled_by("layerwise", with_accumulators(graph)));
  ASSERT_EQ(graphs.size(), 1u);
  EXPECT_EQ(std::ranges::count(graphs[0].block, true, &Node::is_again), 1) << dump(graphs[0]);
  EXPECT_EQ(graphs[0].tensors[graphs[0].block.back().reads[1]].name, "o");
  Way way;
  way.scheduler = "fused";
  const Compilation made = compile_graph(graph, "m", way);
  const int64_t token = 8 * 4, tokens = 256, sums = 8 * token;
  EXPECT_LE(made.map.totals.arena, tokens * token + sums + 32 * token) << dump(made.schedule);
  EXPECT_EQ(work_again(made.schedule), 0);
  const auto inputs = random_inputs(graph, 1, Numbers::kWhole);
  std::mt19937 random(1);
  EXPECT_EQ(shadow_fault(made, inputs, random), "");
}

// What is added to the result would wait all the same, and rows that the caller passes come once.
TEST(SecondPasses, AreNotOfWhatIsKeptOrComesOnce) {
  const auto passes = [](const Graph& graph) {
    return with_passes_behind_mixing(scheduled_by("layerwise", with_accumulators(graph))).size();
  };
  EXPECT_EQ(passes(linear_attention("Div(a, half)", "n")), 0u);
  Graph fed = linear_attention("LayerNormalization(x, s)", "x");
  EXPECT_EQ(passes(fed), 1u);
  fed.by_rows[fed.inputs[0]] = 1;  // tokens
  EXPECT_EQ(passes(fed), 0u);
}

// Softmax and normalization of rows wait for reductions of their own row.
TEST(SecondPasses, AreNotOfRowsThatWaitForThemselves) {
  EXPECT_TRUE(with_second_passes(scheduled_by("layerwise", encoder(1, 16, 2, 4))).empty());
}

Graph two_convolutions() {
  return after_pointwise(kRows, "1, 2, 17, 5", floats("w", 2, 2, 3),
                         "b = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(a, w)\n  y = "
                         "Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(b, w)");
}

// What the property tests rely on: the shadow arena sees a ring that is too small, and a slab that ran late.
TEST(Rings, OfOneRowLessGiveOtherNumbers) {
  Way way;
  way.scheduler = "rows";
  Compilation c = compile_graph(two_convolutions(), "m", way);
  const auto inputs = random_inputs(*c.graph, 1, Numbers::kWhole);
  std::mt19937 random(1);
  EXPECT_EQ(shadow_fault(c, inputs, random), "");
  int rings = 0;
  for (Layout& layout : c.schedule.layouts) {
    if (layout.ring.kept < 2) continue;
    --layout.ring.kept;
    EXPECT_NE(shadow_fault(c, inputs, random), "");
    ++layout.ring.kept;
    ++rings;
  }
  EXPECT_EQ(rings, 2);
}

TEST(Schedules, WithOverlapsInAnotherOrderThanTheStepsAreRefused) {
  const Graph graph = two_convolutions();
  Schedule schedule = scheduled_by("rows", graph);
  schedule.overlaps = {{0, 1, 0, 2, nullptr}, {0, 1, 0, 1, nullptr}};
  EXPECT_THROW(verify(schedule), InternalError);
}

}  // namespace
}  // namespace arenac
