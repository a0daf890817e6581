// Properties of the whole way on random models. Seeds are fixed; ARENAC_SEEDS multiplies their number: 50
// after work on codegen.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

#include "driver/compare.h"
#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "frontend/lower.h"
#include "frontend/rewrites.h"
#include "scheduler/storage.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/random_layers.h"
#include "tests/random_nest.h"
#include "tests/random_operator.h"
#include "tests/shadow.h"
#include "tests/ways.h"

namespace arenac {
namespace {

// The ways of tests/ways.txt in turn, every time round with another scheduler in place of what the way
// prefers.
Way way_of(unsigned seed) {
  const CompileWay& row = way_of_case(seed);
  Way way;
  way.io = row.options.io;
  way.target = static_cast<size_t>(&target_named(row.options.target) - targets().data());
  way.code = code_of(row.options);
  way.pools = row.options.pools;
  way.scheduler = schedulers().at(seed / compile_ways().size() % schedulers().size()).name;
  return way;
}
std::string words(unsigned seed) {
  return fmt::format("seed {}, {}, scheduler {}", seed, way_of_case(seed).words, way_of(seed).scheduler);
}

// A way whose fast pool holds half of what the model needs in one.
Way way_in_two_pools(const Graph& graph, unsigned seed) {
  Way way = way_of(seed);
  way.pools = {};
  const int64_t size = compile_graph(graph, "m", way).plan.pools[0].size;
  way.pools = {{"fast", size / 2}, {"slow", std::nullopt, 64}};
  return way;
}

TEST(RandomGraphs, KeepTheirTensorsInTheArena) {
  unsigned faults = 0;
  for (unsigned seed = 0; seed < seeds(300) && faults < 5; ++seed) {
    const std::string text = random_graph(seed);
    SCOPED_TRACE(words(seed) + "\n" + text);
    try {
      const Compilation c = compile_graph(import_text(text), "m", way_of(seed));
      const std::vector<Value> inputs = random_inputs(*c.graph, seed, Numbers::kWhole);
      std::mt19937 random(seed);
      const std::string fault = shadow_fault(c, inputs, random);
      EXPECT_EQ(fault, "") << dump(*c.graph) << dump(c.schedule);
      faults += !fault.empty();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      ++faults;
    }
  }
}

TEST(RandomGraphs, KeepTheirTensorsInTwoPools) {
  for (unsigned seed = 0; seed < seeds(30); ++seed) {
    const Graph graph = import_text(random_graph(seed));
    const Compilation c = compile_graph(graph, "m", way_in_two_pools(graph, seed));
    EXPECT_LE(c.plan.pools[0].size, *c.lifetimes.problem.pools[0].capacity);
    std::mt19937 random(seed);
    ASSERT_EQ(shadow_fault(c, random_inputs(*c.graph, seed, Numbers::kWhole), random), "") << words(seed);
  }
}

TEST(RandomNests, AreTheSameInTheArena) {
  for (unsigned seed = 0; seed < seeds(300); ++seed) {
    const Compilation c = compile_graph(random_nest(seed), "m", way_of(seed));
    std::mt19937 random(seed);
    ASSERT_EQ(shadow_fault(c, random_inputs(*c.graph, seed, Numbers::kWhole), random), "")
        << words(seed) << "\n"
        << dump(*c.graph) << dump(c.schedule);
  }
}

// ---- single operators

// Runs the nodes of a block, every nest of theirs once as written and once in a random order of its axes;
// says where the two differ.
std::string order_fault(const Block& block, const Graph& graph,
                        std::vector<std::shared_ptr<const Value>>& values, std::vector<int64_t>& iterations,
                        std::mt19937& random) {
  for (const Node& node : block) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) {  // control flow: no further
      run_node(node, graph, values, iterations);
      continue;
    }
    const TensorId out = node.writes[0];
    Value shuffled = values[out] ? *values[out] : Value(graph.tensors[out].type, graph.tensors[out].shape);
    std::vector<const Value*> reads;
    for (TensorId id : node.reads) reads.push_back(values[id].get());
    for (const Nest& nest : *nests) {
      std::vector<int> order(nest.axes.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      run_nest(nest, reads, shuffled, iterations, order);
    }
    run_node(node, graph, values, iterations);
    if (const auto wrong = difference(shuffled, *values[out], tolerance_of(shuffled.type)))
      return fmt::format("{} ({}) in another order: {}", node.origin, node.op, *wrong);
  }
  return "";
}

std::string full_name(const OperatorRow& row) {
  return *row.domain ? fmt::format("{}.{}", row.domain, row.name) : row.name;
}

TEST(Operators, HaveGenerators) {
  std::set<std::string> rows, generated;
  for (const OperatorRow& row : operators()) rows.insert(full_name(row));
  for (const OperatorGenerator& g : operator_generators()) generated.insert(std::string(g.name));
  for (const OperatorWithout& w : operators_without_generator())
    EXPECT_TRUE(generated.insert(std::string(w.name)).second) << w.name << " is in both lists";
  for (const std::string& name : rows)
    EXPECT_TRUE(generated.contains(name)) << name << " wants a row in random_operator.cc";
  for (const std::string& name : generated) EXPECT_TRUE(rows.contains(name)) << name << " is no operator";
}

TEST(Operators, AreTheSameInEveryOrderAndInTheArena) {
  for (const OperatorGenerator& g : operator_generators()) {
    for (unsigned seed = 0; seed < seeds(10); ++seed) {
      const std::string text = random_operator(g, seed);
      SCOPED_TRACE(words(seed) + "\n" + text);
      std::string fault;
      try {
        const Compilation c = compile_graph(import_text(text), "m", way_of(seed));
        const std::vector<Value> inputs = random_inputs(*c.graph, seed, Numbers::kAny);
        std::vector<std::shared_ptr<const Value>> values(c.graph->tensors.size());
        for (size_t k = 0; k < values.size(); ++k) values[k] = c.graph->tensors[k].constant;
        for (size_t k = 0; k < inputs.size(); ++k)
          values[c.graph->inputs[k]] = std::make_shared<Value>(inputs[k]);
        std::vector<int64_t> iterations;
        std::mt19937 random(seed);
        fault = order_fault(c.graph->block, *c.graph, values, iterations, random);
        if (fault.empty()) fault = shadow_fault(c, inputs, random);
        if (!fault.empty()) fault += "\n" + dump(*c.graph) + dump(c.schedule);
      } catch (const std::exception& error) {
        fault = error.what();
      }
      EXPECT_EQ(fault, "");
      if (!fault.empty()) break;
    }
  }
}

// ---- rewrites

// Whether next to a tie an integer of the rewritten graph may be the next one.
bool requantizes(const Graph& graph) {
  const auto is_requantized = [](const Expr& root) {
    return !root.empty() && any_of(root, [](const Expr& e) { return e->op == Op::kRequantize; });
  };
  return std::any_of(graph.block.begin(), graph.block.end(), [&](const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    return nests && std::any_of(nests->begin(), nests->end(), [&](const Nest& nest) {
             return is_requantized(nest.body) || is_requantized(nest.finish);
           });
  });
}

// Runs the rewrites, each on the result of the one before. Says which breaks what its row promises, and notes
// in `taken` which change anything.
std::string rewrite_fault(Graph graph, const std::vector<Value>& inputs, double integers_within,
                          std::set<std::string_view>& taken) {
  std::vector<Value> want = interpret_outputs(graph, inputs);
  for (const Rewrite& row : rewrites()) {
    const std::string before = taken.contains(row.name) ? "" : dump(graph);
    const bool was_requantized = requantizes(graph);
    graph = row.rewrite(std::move(graph), {layerwise_peak, kEveryConstant, {ConstantWidth::kNarrow}});
    verify(graph);
    const double within =
        requantizes(graph) && !was_requantized ? std::max(1.0, integers_within) : integers_within;
    if (!before.empty() && dump(graph) != before) taken.insert(row.name);
    std::vector<Value> got = interpret_outputs(graph, inputs);
    for (size_t k = 0; k < got.size(); ++k) {
      const bool same = row.rounding == Rewrite::Rounding::kSame;
      const Tolerance tolerance = same ? Tolerance{0, 0} : tolerance_of(got[k].type, within);
      if (const auto wrong = difference(got[k], want[k], tolerance))
        return fmt::format("after {}, {}: {}\n{}", row.name, graph.output_names[k], *wrong, dump(graph));
    }
    want = std::move(got);
  }
  return "";
}

// As ONNX has it: -0.3 is rounded to -0, whose reciprocal is negative.
TEST(Round, KeepsTheSignOfZero) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[4] x, double[4] w) => (float[4] y, double[4] z) {
    a = Round(x)  y = Reciprocal(a)  b = Round(w)  z = Reciprocal(b) })";
  for (const CompilerRow& compiler : compilers()) {
    std::vector<Emitted> batch;
    batch.push_back(Emitted{compile_graph(import_text(text), "m0", {})});
    const Graph& graph = *batch[0].compilation.graph;
    for (TensorId id : graph.inputs) {
      Value& x = batch[0].inputs.emplace_back(graph.tensors[id].type, Shape{4});
      for (int64_t k = 0; k < 4; ++k) store(x, k, {.f = std::vector{-0.25, 0.5, -0.5, -0.0}[k]});
    }
    run_emitted(batch, compiler);
    ASSERT_EQ(batch[0].fault, "");
    for (const Value& y : batch[0].outputs)
      for (int64_t k = 0; k < 4; ++k) EXPECT_EQ(load(y, k).f, k == 1 ? INFINITY : -INFINITY) << compiler.name;
  }
}

TEST(Rewrites, KeepRandomModels) {
  std::set<std::string_view> taken;
  for (unsigned seed = 0; seed < seeds(200); ++seed) {
    const std::string text = seed % 2 ? random_graph(seed) : random_layers(seed);
    const Graph graph = import_text(text);
    ASSERT_EQ(rewrite_fault(graph, random_inputs(graph, seed, Numbers::kWhole), 0, taken), "")
        << "seed " << seed << "\n"
        << text;
  }
  for (const OperatorGenerator& g : operator_generators())
    for (unsigned seed = 0; seed < seeds(6); ++seed) {
      const std::string text = random_operator(g, seed);
      const Graph graph = import_text(text);
      EXPECT_EQ(rewrite_fault(graph, random_inputs(graph, seed, Numbers::kAny), g.integers_within, taken), "")
          << "seed " << seed << "\n"
          << text;
    }
  // Which random models seldom hold.
  const Graph padded = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 1, 3, 4] x) => (float[1, 1, 3, 3] y)
    <int64[8] p = {0, 0, 1, 2, 0, 0, 1, 0}, float[1, 1, 3, 4] w = {1, -2, 3, 4, 5, 6, -7, 8, 9, 1, 2, -3}> {
    r = Relu(x)  q = Pad(r, p)  y = Conv(q, w) })");
  const Graph moved = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2, 3] x) => (uint8[3, 4] y) <float s = {0.5}> {
    a = Sin(x)  b = Cos(x)  c = Concat<axis = 0>(a, b)  t = Transpose(c)  y = QuantizeLinear(t, s) })");
  const Graph chained = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[4, 1, 2] x, float[1, 3, 2] w, float[1, 3, 3] r, float[1, 3, 3] v) => (float[4, 1, 1, 3] y)
    <int64[1] one = {1}> {
    a = RNN<hidden_size = 3>(x, w, r)  b = Squeeze(a, one)  y = RNN<hidden_size = 3>(b, v, r) })");
  std::string weights = "0";
  for (int k = 1; k < 128; ++k) weights += fmt::format(", {}", k * 37 % 128);
  const Graph quantized = import_text(fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[3, 8] x) => (float[3, 16] y) <int8[8, 16] q = {{{}}}, float s = {{0.1}}> {{
    w = DequantizeLinear(q, s)  y = MatMul(x, w) }})",
                                                  weights));
  for (const Graph& graph : {padded, moved, chained, quantized})
    EXPECT_EQ(rewrite_fault(graph, random_inputs(graph, 1, Numbers::kAny), 0, taken), "");
  if (!all_seeds()) return;
  for (const Rewrite& row : rewrites())
    EXPECT_TRUE(taken.contains(row.name)) << row.name << " never changes a model";
}

class EmittedC : public testing::TestWithParam<CompilerRow> {
 protected:
  // Each compiler has seeds of its own.
  static unsigned number() {
    unsigned k = 0;
    while (std::string(compilers()[k].name) != GetParam().name) ++k;
    return k;
  }
};
INSTANTIATE_TEST_SUITE_P(By, EmittedC, testing::ValuesIn(compilers()), [](const auto& row) {
  std::string name;
  for (const char* c = row.param.name; *c; ++c)
    if (std::isalnum(static_cast<unsigned char>(*c))) name += *c;
  return name;
});

// Models with the texts and the numbers of their seeds, compiled, run and compared, kBatch to a program.
constexpr size_t kBatch = 48;
struct Model {
  std::string text;  // empty: what `make` makes
  unsigned seed;
  Numbers numbers = Numbers::kWhole;
  double integers_within = 0;
  Graph (*make)(unsigned seed) = random_nest;
};
Graph graph_of(const Model& m) { return m.text.empty() ? m.make(m.seed) : import_text(m.text); }

void expect_interpreted(std::vector<Emitted>& batch, const Model* models, const CompilerRow& compiler) {
  run_emitted(batch, compiler);
  int faults = 0;
  for (size_t k = 0; k < batch.size() && faults < 3; ++k) {
    const Emitted& e = batch[k];
    const Graph& graph = *e.compilation.graph;
    SCOPED_TRACE(
        fmt::format("{}, {}, {}:\n{}", compiler.name, e.compilation.name, words(models[k].seed),
                    models[k].text.empty() ? dump(graph) + dump(e.compilation.schedule) : models[k].text));
    EXPECT_EQ(e.fault, "");
    if (!e.fault.empty()) return;
    // What the rewrites made of the model, and the model itself.
    for (const Graph& meant : {graph, graph_of(models[k])}) {
      const bool differs = requantizes(graph) && !requantizes(meant);
      const double within = differs ? std::max(1.0, models[k].integers_within) : models[k].integers_within;
      const std::vector<Value> want = interpret_outputs(meant, e.inputs);
      for (size_t j = 0; j < want.size(); ++j) {
        const auto wrong = difference(e.outputs[j], want[j], tolerance_of(e.outputs[j].type, within));
        EXPECT_FALSE(wrong) << graph.output_names[j] << ": " << *wrong;
        faults += wrong.has_value();
      }
    }
  }
}

void expect_interpreted(const std::vector<Model>& models, const CompilerRow& compiler) {
  for (size_t begin = 0; begin < models.size(); begin += kBatch) {
    const size_t end = std::min(begin + kBatch, models.size());
    std::vector<Emitted> batch;
    for (size_t k = begin; k < end; ++k) {
      const Model& m = models[k];
      Emitted& e =
          batch.emplace_back(Emitted{compile_graph(graph_of(m), fmt::format("m{}", k), way_of(m.seed))});
      e.inputs = random_inputs(*e.compilation.graph, m.seed, m.numbers);
    }
    expect_interpreted(batch, &models[begin], compiler);
  }
}

TEST_P(EmittedC, OfRandomGraphs) {
  std::vector<Model> models;
  for (unsigned k = 0; k < seeds(8); ++k) {
    const unsigned seed = 100000 * (1 + number()) + k;
    models.push_back({random_graph(seed), seed});
  }
  expect_interpreted(models, GetParam());
}

TEST_P(EmittedC, InTwoPools) {
  std::vector<Model> models;
  std::vector<Emitted> batch;
  bool both = false;
  for (unsigned k = 0; k < seeds(6); ++k) {
    const unsigned seed = 100000 * (1 + number()) + k;
    models.push_back({random_graph(seed), seed});
    const Graph graph = import_text(models[k].text);
    Emitted& e = batch.emplace_back(
        Emitted{compile_graph(graph, fmt::format("m{}", k), way_in_two_pools(graph, seed))});
    e.inputs = random_inputs(graph, seed, Numbers::kWhole);
    both |= e.compilation.plan.pools[0].size > 0 && e.compilation.plan.pools[1].size > 0;
  }
  EXPECT_TRUE(both || !all_seeds());
  expect_interpreted(batch, models.data(), GetParam());
}

TEST_P(EmittedC, OfRandomNests) {
  std::vector<Model> models;
  for (unsigned k = 0; k < seeds(8); ++k) {
    const unsigned seed = 100000 * (1 + number()) + k;
    models.push_back({"", seed});
  }
  expect_interpreted(models, GetParam());
}

// y = sum over j < 3, i < 4 of x[i] * w[19*j + 3 - i]
Graph reading_backwards() {
  Graph graph;
  graph.name = "backwards";
  for (const auto& [name, extent] : {std::pair{"x", 4}, {"w", 42}, {"y", 1}})
    graph.tensors.push_back({name, Type::kFloat32, {extent}, nullptr});
  graph.inputs = {0, 1}, graph.input_names = {"x", "w"};
  graph.outputs = {2}, graph.output_names = {"y"};
  Nest nest;
  nest.axes = {{1, false}, {3, true}, {4, true}};
  nest.store = {axis(0)};
  nest.combine = Combine::kSum;
  nest.body = read(0, Type::kFloat32, {axis(2)}) *
              read(1, Type::kFloat32, {axis(1) * integer(19) + integer(3) - axis(2)});
  graph.block.push_back({"backwards", "Nest", {0, 1}, {2}, Nests{nest}});
  return graph;
}

// Which gcc 12.2 -O3 does wrong where it may vectorise: see lower_nest.cc, accumulate.
TEST_P(EmittedC, OfReadsBackwards) {
  std::vector<Emitted> batch;
  batch.push_back({compile_graph(reading_backwards(), "m", {})});
  batch[0].inputs = random_inputs(*batch[0].compilation.graph, 1, Numbers::kWhole);
  const Model model{.text = "", .seed = 1, .make = [](unsigned) { return reading_backwards(); }};
  expect_interpreted(batch, &model, GetParam());
}

// Of which some are converted at once: what pixels of a convolution share, channel by channel, and results.
TEST_P(EmittedC, OfHalves) {
  const auto numbers = [](int count) {
    std::string list;
    for (int k = 0; k < count; ++k) list += fmt::format("{}{}", k > 0 ? ", " : "", k * 7 % 11 - 5);
    return list;
  };
  const std::string text = fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float16[1, 3, 7, 37] x) => (float16[1, 16, 3, 18] y)
    <float[24, 3, 3, 3] f = {{{}}}, float[16, 24, 1, 1] g = {{{}}}> {{
    v = CastLike(f, x)  w = CastLike(g, x)
    c = Conv<strides = [2, 2]>(x, v)  r = Relu(c)  d = Conv(r, w)  y = Relu(d) }})",
                                       numbers(24 * 27), numbers(16 * 24));
  std::vector<Model> models;
  for (unsigned seed = 0; seed < compile_ways().size(); ++seed) models.push_back({text, seed});
  expect_interpreted(models, GetParam());
  const std::string source = file_named(compile_graph(import_text(text), "m", way_of(0)), "m.c");
  EXPECT_THAT(source, testing::HasSubstr("half_to_float_lanes(float0, &"));
  EXPECT_THAT(source, testing::HasSubstr("float_to_half_lanes(&"));
}

TEST_P(EmittedC, OfTensorsWithoutElements) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2, 0, 4] x, float[0] z, float[2] w) => (float[2, 4] y, float[0] n, float[2] c) {
    y = ReduceL2<axes = [1], keepdims = 0>(x)  n = Neg(z)  c = Concat<axis = 0>(w, z) })";
  std::vector<Model> models;
  for (unsigned seed = 0; seed < compile_ways().size(); ++seed) models.push_back({text, seed});
  expect_interpreted(models, GetParam());
}

// Every operator by some compiler; with many seeds, by more of them.
TEST_P(EmittedC, OfOperators) {
  std::vector<Model> models;
  const auto& all = operator_generators();
  for (size_t k = 0; k < all.size(); ++k) {
    const unsigned turn = (k + number()) % compilers().size();
    for (unsigned seed = turn; seed < seeds(1); seed += compilers().size())
      models.push_back(
          {random_operator(all[k], 1000 * number() + seed), seed, Numbers::kAny, all[k].integers_within});
  }
  expect_interpreted(models, GetParam());
}

}  // namespace
}  // namespace arenac
