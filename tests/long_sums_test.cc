// Long float sums, of the interpreter and of emitted C, beside the same models in float64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "frontend/import.h"
#include "frontend/interpret.h"
#include "frontend/partial_sums.h"
#include "tests/emitted.h"

namespace arenac {
namespace {

constexpr double kWithin = 1e-5;  // of the largest element of a result

// F stands for the element type, N for the length.
struct Example {
  const char* name;
  const char* graph;
  int64_t longest = 300000;
  int opset = 17;
};

constexpr Example kExamples[] = {
    {"ReduceMean", "g (F[2, N] x) => (F[2, 1] y) { y = ReduceMean<axes = [1]>(x) }"},
    {"ReduceColumns", "g (F[N, 3] x) => (F[1, 3] y) { y = ReduceSum <keepdims = 1> (x, a) }"},
    {"ReducePlanes", "g (F[2, N, 3] x) => (F[2, 1, 1] y) { y = ReduceMean<axes = [1, 2]>(x) }"},
    {"ReduceL2", "g (F[1, N] x) => (F[1, 1] y) { y = ReduceL2<axes = [1]>(x) }"},
    {"ReduceLogSumExp", "g (F[1, N] x) => (F[1, 1] y) { y = ReduceLogSumExp<axes = [1]>(x) }"},
    {"GlobalAveragePool", "g (F[1, 2, N] x) => (F[1, 2, 1] y) { y = GlobalAveragePool(x) }"},
    {"GlobalAveragePool2D", "g (F[1, 2, 9, N] x) => (F[1, 2, 1, 1] y) { y = GlobalAveragePool(x) }", 5000},
    {"AveragePool", "g (F[1, 1, N] x) => (F[1, 1, 1] y) { y = AveragePool<kernel_shape = [N]>(x) }"},
    {"LayerNormalization", "g (F[1, N] x, F[N] s) => (F[1, N] y) { y = LayerNormalization(x, s) }"},
    {"InstanceNormalization",
     "g (F[1, 2, N] x, F[2] s) => (F[1, 2, N] y) { y = InstanceNormalization(x, s, s) }"},
    {"MeanVarianceNormalization",
     "g (F[1, 2, N] x) => (F[1, 2, N] y) { y = MeanVarianceNormalization<axes = [0, 2]>(x) }"},
    {"LpNormalization", "g (F[1, N] x) => (F[1, N] y) { y = LpNormalization(x) }"},
    {"Softmax", "g (F[2, N] x) => (F[2, N] y) { y = Softmax(x) }"},
    {"LogSoftmax", "g (F[2, N] x) => (F[2, N] y) { y = LogSoftmax(x) }"},
    {"MatMul", "g (F[7, N] x, F[N, 5] w) => (F[7, 5] y) { y = MatMul(x, w) }", 20000},
    {"MatMulOfVectors", "g (F[N] x, F[N] w) => (F y) { y = MatMul(x, w) }"},
    {"Gemm", "g (F[3, N] x, F[20, N] w) => (F[3, 20] y) { y = Gemm<transB = 1>(x, w) }", 20000},
    {"ConvOfChannels", "g (F[1, N, 1, 3] x, F[4, N, 1, 1] w) => (F[1, 4, 1, 3] y) { y = Conv(x, w) }", 20000},
    {"ConvOfTaps", "g (F[1, 1, N] x, F[1, 1, N] w) => (F[1, 1, 5] y) { y = Conv<pads = [2, 2]>(x, w) }",
     20000},
    {"ConvTranspose", "g (F[1, N, 4] x, F[N, 2, 3] w) => (F[1, 2, 6] y) { y = ConvTranspose(x, w) }", 5000},
    {"Einsum", "g (F[2, N] x, F[2, N] w) => (F[2] y) { y = Einsum<equation = \"ij,ij->i\">(x, w) }"},
    {"DFT", "g (F[1, N, 1] x) => (F[1, N, 2] y) { y = DFT<axis = 1>(x) }", 1100},
    {"Attention",
     "g (F[1, 1, 2, 4] q, F[1, 1, N, 4] k, F[1, 1, N, 4] v) => (F[1, 1, 2, 4] y) { y = Attention(q, k, v) }",
     20000, 23},
    {"CumSum", "g (F[2, N] x) => (F[2, N] y) { y = CumSum(x, last) }"},
    {"CumSumOfWhatIsBehind",
     "g (F[N, 2] x) => (F[N, 2] y) { y = CumSum<exclusive = 1, reverse = 1>(x, first) }"},
    {"ReduceSumSquare", "g (F[1, N] x) => (F[1, 1] y) { y = ReduceSumSquare<axes = [1]>(x) }"},
    {"ReduceLogSum", "g (F[1, N] x) => (F[1, 1] y) { y = ReduceLogSum<axes = [1]>(x) }"},
    {"LpNormalizationOfOne", "g (F[1, N] x) => (F[1, N] y) { y = LpNormalization<p = 1>(x) }"},
    {"GlobalLpPool", "g (F[1, 1, N] x) => (F[1, 1, 1] y) { y = GlobalLpPool(x) }"},
    {"LpPool", "g (F[1, 1, N] x) => (F[1, 1, 1] y) { y = LpPool<kernel_shape = [N]>(x) }"},
    {"LRN", "g (F[1, N, 1] x) => (F[1, N, 1] y) { y = LRN<size = N, alpha = 10000.0>(x) }", 1000},
    {"GroupNormalization",
     "g (F[1, 2, N] x, F[2] s) => (F[1, 2, N] y) { y = GroupNormalization<num_groups = 2>(x, s, s) }", 300000,
     21},
    {"RMSNormalization", "g (F[1, N] x, F[N] s) => (F[1, N] y) { y = RMSNormalization(x, s) }", 300000, 23},
    {"STFT", "g (F[1, N, 1] x, F[N] w) => (F[1, 1, f, 2] y) { y = STFT(x, long, w) }", 1000},
    {"RNN",
     "g (F[1, 1, N] x, F[1, 2, N] w, F[1, 2, 2] r) => (F[1, 1, 1, 2] y) { y = RNN<hidden_size = 2>(x, w, r) "
     "}",
     20000},
    {"LSTM",
     "g (F[1, 1, N] x, F[1, 8, N] w, F[1, 8, 2] r) => (F[1, 1, 1, 2] y) { y = LSTM<hidden_size = 2>(x, w, r) "
     "}",
     5000},
    {"RoiAlign",
     "g (F[1, 1, 300, N] x) => (F[1, 1, 1, 1] y) { y = RoiAlign<output_height = 1, output_width = 1, "
     "coordinate_transformation_mode = \"output_half_pixel\">(x, whole, image) }",
     1000},
    {"SkipLayerNormalization",
     "g (F[1, 1, N] x, F[1, 1, N] z, F[N] s) => (F[1, 1, N] y) { y = com.microsoft.SkipLayerNormalization(x, "
     "z, s) }"},
};
constexpr int64_t kLengths[] = {1000, 4097, 16000, 65537, 262144};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

Graph graph_of(const Example& example, int64_t length, const std::string& type) {
  std::string text = replaced(example.graph, " F[", " " + type + "[");
  text = replaced(replaced(replaced(text, "(F", "(" + type), "[N", fmt::format("[{}", length)), " N",
                  fmt::format(" {}", length));
  const std::string constants = fmt::format(
      " y) <int64[1] a = {{0}}, int64 first = {{0}}, int64 last = {{1}}, int64 long = {{{0}}}, int64[1] "
      "image = {{0}}, "
      "{1}[1, 4] whole = {{0, 0, {0}, 300}}> {{",
      length, type);
  text = replaced(text, " y) {", constants);
  return import_text(fmt::format("<ir_version: 10, opset_import: [\"\" : {}, \"com.microsoft\" : 1]>\n{}\n",
                                 example.opset, text));
}

// Of one sign, and much alike: the errors of adding them one by one do not cancel.
std::vector<Value> inputs_of(const Graph& graph) {
  std::mt19937 random(7);
  std::vector<Value> inputs;
  for (TensorId id : graph.inputs) {
    Value& value = inputs.emplace_back(graph.tensors[id].type, graph.tensors[id].shape);
    for (int64_t k = 0; k < value.count(); ++k)
      store(value, k, {.f = static_cast<float>(0.1 + 0.02 * (random() % 1024) / 1024.0)});
  }
  return inputs;
}

double error_of(const Value& got, const Value& want) {
  double most = 0, error = 0;
  for (int64_t k = 0; k < want.count(); ++k) {
    most = std::max(most, std::abs(load(want, k).f));
    error = std::max(error, std::abs(load(got, k).f - load(want, k).f));
  }
  return error / most;
}

TEST(LongSums, AreWithinAFewRoundingsOfFloat64) {
  std::vector<Emitted> batch;
  std::vector<Value> exact;
  std::vector<std::string> names;
  for (const Example& example : kExamples)
    for (int64_t length : kLengths) {
      if (length > example.longest) continue;
      const Graph wide = graph_of(example, length, "double");
      exact.push_back(interpret_outputs(wide, inputs_of(wide))[0]);
      const Graph graph = graph_of(example, length, "float");
      const std::vector<Value> inputs = inputs_of(graph);
      names.push_back(fmt::format("{} of {}", example.name, length));
      EXPECT_LT(error_of(interpret_outputs(graph, inputs)[0], exact.back()), kWithin) << names.back();
      batch.push_back(Emitted{
          compile_graph(graph, fmt::format("m{}", batch.size()), {.target = length % 2 ? 1u : 0u}), inputs});
    }
  run_emitted(batch, compilers()[1]);
  for (size_t k = 0; k < batch.size(); ++k) {
    ASSERT_EQ(batch[k].fault, "");
    EXPECT_LT(error_of(batch[k].outputs[0], exact[k]), kWithin) << names[k] << " in C";
  }
}

// Their deviation is a thousandth of their mean, whose rounding is then seen in what they differ by from it.
TEST(LongSums, OfCloseElementsHaveTheirMean) {
  for (const Example& example : kExamples) {
    if (std::string(example.name).find("Normalization") == std::string::npos) continue;
    const auto result = [&](const std::string& type) {
      const Graph graph = graph_of(example, 65537, type);
      std::vector<Value> inputs = inputs_of(graph);
      for (int64_t k = 0; k < inputs[0].count(); ++k) store(inputs[0], k, {.f = k % 2 ? 10.01f : 10.0f});
      return interpret_outputs(graph, inputs)[0];
    };
    EXPECT_LT(error_of(result("float"), result("double")), 3e-4) << example.name;
  }
}

// A pooling of rows that come one by one adds the same parts in memory.
TEST(LongSums, OfRowsAreTheSame) {
  const Example pooling = {"GlobalAveragePool",
                           "g (F[1, 3, 70, N] x, F[8, 3, 1, 1] w) => (F[1, 8, 1, 1] y) { c = Conv(x, w) y = "
                           "GlobalAveragePool(c) }"};
  const Graph wide = graph_of(pooling, 300, "double"), graph = graph_of(pooling, 300, "float");
  const Value exact = interpret_outputs(wide, inputs_of(wide))[0];
  std::vector<Emitted> batch;
  for (const char* scheduler : {"file-order", "rows", "smallest"})
    batch.push_back(Emitted{compile_graph(graph, fmt::format("m{}", batch.size()), {.scheduler = scheduler}),
                            inputs_of(graph)});
  const auto& steps = batch[1].compilation.schedule.steps;
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const Nests* nests = std::get_if<Nests>(&step.node->body);
    return nests && nests->back().accumulate;
  }));
  run_emitted(batch, compilers()[1]);
  for (const Emitted& e : batch) {
    ASSERT_EQ(e.fault, "");
    EXPECT_LT(error_of(e.outputs[0], exact), kWithin);
    EXPECT_EQ(e.outputs[0].bytes, batch[0].outputs[0].bytes);
  }
}

// A tenth from each tree.
TEST(LongSums, OfTreesAreOfParts) {
  constexpr int kTrees = 60000;
  std::string ids, zeros, numbers, weights, modes;
  for (int k = 0; k < kTrees; ++k) {
    const char* comma = k ? ", " : "";
    ids += fmt::format("{}{}", comma, k);
    zeros += fmt::format("{}0", comma);
    numbers += fmt::format("{}0.0", comma);
    weights += fmt::format("{}0.1", comma);
    modes += fmt::format("{}\"LEAF\"", comma);
  }
  const Graph graph = import_text(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 3]> g (float[1, 1] x) => (float[1, 1] y) "
      "{{ y = "
      "ai.onnx.ml.TreeEnsembleRegressor<n_targets = 1, nodes_treeids = [{0}], nodes_nodeids = [{1}], "
      "nodes_featureids = [{1}], nodes_values = [{2}], nodes_modes = [{3}], nodes_truenodeids = [{1}], "
      "nodes_falsenodeids = [{1}], target_treeids = [{0}], target_nodeids = [{1}], target_ids = [{1}], "
      "target_weights = [{4}]>(x) }}",
      ids, zeros, numbers, modes, weights));
  const double want = kTrees * static_cast<double>(0.1f);
  EXPECT_NEAR(load(interpret_outputs(graph, inputs_of(graph))[0], 0).f, want, kWithin * want);
}

// A running sum never falls where nothing is taken away, and what is before an element is what was up to the
// one before it, also where parts are full.
TEST(LongSums, ThatRunNeverFall) {
  constexpr int64_t kLength = 70000;
  const auto sums_of = [&](const char* exclusive) {
    const Graph graph = import_text(fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[{}] x) => (float[n] y) <int64 axis = {{0}}> "
        "{{ y = CumSum<exclusive = {}>(x, axis) }}",
        kLength, exclusive));
    std::vector<Value> inputs = inputs_of(graph);
    for (int64_t k = 0; k < kLength; ++k)
      if (k % 3 != 0) store(inputs[0], k, {.f = k % 256 == 0 ? 1e-9f : 0.0f});
    return interpret_outputs(graph, inputs)[0];
  };
  const Value up_to = sums_of("0"), before = sums_of("1");
  for (int64_t k = 1; k < kLength; ++k) {
    ASSERT_LE(load(up_to, k - 1).f, load(up_to, k).f) << k;
    ASSERT_EQ(load(up_to, k - 1).f, load(before, k).f) << k;
  }
}

using Widths = std::vector<std::vector<int64_t>>;
Widths widths(std::vector<int64_t> extents) { return widths_of_parts(extents); }

TEST(PartsOfSums, AreWholeAxesWhereThatDoes) {
  EXPECT_EQ(widths({3, 3, 100}), (Widths{{}, {}, {}}));
  EXPECT_EQ(widths({3, 3, 128}), (Widths{{1}, {}, {}}));
  EXPECT_EQ(widths({3, 3, 256}), (Widths{{}, {1}, {}}));
  EXPECT_EQ(widths({5, 5, 64}), (Widths{{1}, {}, {}}));
  EXPECT_EQ(widths({1000, 4}), (Widths{{64}, {}}));
  EXPECT_EQ(widths({16000}), (Widths{{256}}));
  EXPECT_EQ(widths({262144}), (Widths{{65536, 256}}));
  EXPECT_EQ(widths({INT64_MAX, 0, INT64_MAX}), (Widths{{}, {}, {}}));
}

// No more than a few hundred terms or parts are added one by one, however the axes are.
TEST(PartsOfSums, AreFew) {
  std::mt19937 random(1);
  for (int k = 0; k < 2000; ++k) {
    std::vector<int64_t> extents(1 + random() % 4);
    for (int64_t& extent : extents) extent = 1 + random() % (random() % 2 ? 10 : 3000);
    const Widths all = widths(extents);
    int64_t terms = 1, added = 1;
    for (int64_t extent : extents) terms *= extent;
    if (terms <= kLongSum) continue;
    for (size_t a = extents.size(); a-- > 0;) {
      int64_t inner = 1;
      for (size_t w = all[a].size(); w-- > 0; inner = all[a][w]) {
        EXPECT_LE(added * (all[a][w] / inner), 400);
        added = 1;
      }
      added *= (extents[a] + inner - 1) / inner;
    }
    EXPECT_LE(added, 400);
  }
}

}  // namespace
}  // namespace arenac
