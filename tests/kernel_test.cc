// The C kernels, the operators folded at compile time beside them, and the classical models that use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "frontend/kernels.h"
#include "tests/values.h"

namespace arenac::kernel_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> numbers(const Value& value) {
  std::vector<double> all;
  for (int64_t e = 0; e < value.count(); ++e)
    all.push_back(convert(Type::kFloat64, value.type, load(value, e)).f);
  return all;
}

std::vector<double> output(const Graph& graph, const std::vector<Value>& inputs, int k = 0) {
  return numbers(*interpret(graph, inputs).at(graph.outputs.at(k)));
}

std::string refusal(const std::string& text) {
  try {
    import_text(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "imported";
}

const std::string kHead = "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 3]> ";

// Every instance against a sort, over shapes, k and many equal elements.
TEST(TopK, AgreesWithASort) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto type = static_cast<Type>(random() % 13);
    KernelFunction* run = kernel("topk").instance(type);
    if (run == nullptr) continue;
    const auto outer = static_cast<int64_t>(random() % 3), extent = static_cast<int64_t>(1 + random() % 20),
               inner = static_cast<int64_t>(1 + random() % 3),
               k = static_cast<int64_t>(random() % (extent + 1));
    const bool largest = random() % 2;
    Value x(type, {outer, extent, inner}), y(type, {outer, k, inner}), where(Type::kInt64, {outer, k, inner});
    for (int64_t e = 0; e < x.count(); ++e) {
      const auto n = static_cast<int64_t>(random() % 9);
      store(x, e, is_float(type) ? Scalar{.f = static_cast<double>(n) - 4} : Scalar{.i = n});
    }
    const void* reads[] = {x.bytes.data()};
    void* writes[] = {y.bytes.data(), where.bytes.data()};
    const int64_t parameters[] = {outer, extent, inner, k, largest};
    run(reads, writes, parameters);
    const auto all = numbers(x);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto at = [&](int64_t e) { return all[(o * extent + e) * inner + i]; };
        std::vector<int64_t> order(extent);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return largest ? at(a) > at(b) : at(a) < at(b); });
        for (int64_t e = 0; e < k; ++e) {
          ASSERT_EQ(load(where, (o * k + e) * inner + i).i, order[e])
              << info(type).name << " round " << round;
          ASSERT_EQ(numbers(y)[(o * k + e) * inner + i], at(order[e]));
        }
      }
  }
}

TEST(TopK, OfAModel) {
  const Graph graph =
      import_text(kHead + R"(g (float[2, 4] x) => (float[2, 2] v, int64[2, 2] i) <int64[1] k = {2}> {
      v, i = TopK <axis = 1, largest = 0> (x, k) })");
  const Value x = floats({2, 4}, {3, 1, 2, 0, 5, 5, 4, 5});
  EXPECT_THAT(output(graph, {x}, 0), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(output(graph, {x}, 1), ElementsAre(3, 1, 2, 0));
}

TEST(CumSum, ExclusiveAndReverse) {
  const Graph graph = import_text(kHead + R"(g (float[2, 3] x) => (float[2, 3] y) <int64 axis = {-1}> {
      y = CumSum <exclusive = 1, reverse = 1> (x, axis) })");
  EXPECT_THAT(output(graph, {floats({2, 3}, {1, 2, 3, 4, 5, 6})}), ElementsAre(5, 3, 0, 11, 6, 0));
}

TEST(CumSum, AlongAnAxisThatThereIs) {
  for (const char* axis : {"1", "5", "-2", "-9223372036854775807"})
    EXPECT_THROW(import_text(kHead + "g (float[3] x) => (float[3] y) <int64 axis = {" + axis +
                             "}> { y = CumSum(x, axis) }"),
                 UserError)
        << axis;
}

TEST(DataDependent, FoldsWhatIsKnown) {
  const Graph graph = import_text(
      kHead +
      R"(g (float[3, 2] x) => (int64[n, m] where, float[n, m] kept, int64[n] y, int64[n] i, int64[n] v, int64[n] c)
    <bool[3] flags = {1, 0, 1}, int64[5] five = {7, 2, 7, 3, 2}> {
      where = NonZero(flags)
      kept = Compress <axis = 0> (x, flags)
      y, i, v, c = Unique(five)
    })");
  const Value x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(output(graph, {x}, 0), ElementsAre(0, 2));
  EXPECT_THAT(output(graph, {x}, 1), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(output(graph, {x}, 2), ElementsAre(2, 3, 7));
  EXPECT_THAT(output(graph, {x}, 3), ElementsAre(1, 3, 0));
  EXPECT_THAT(output(graph, {x}, 4), ElementsAre(2, 0, 2, 1, 0));
  EXPECT_THAT(output(graph, {x}, 5), ElementsAre(2, 1, 2));
}

TEST(DataDependent, SelectsBoxes) {
  const Graph graph = import_text(kHead + R"(g (float[1] x) => (int64[n, 3] s, float[1] y)
    <float[1, 4, 4] boxes = {0, 0, 1, 1,  0, 0.1, 1, 1.1,  0, 5, 1, 6,  0, 5, 1, 6.1}, float[1, 1, 4] scores = {0.5, 0.9, 0.8, 0.1},
     int64[1] most = {3}, float[1] iou = {0.5}, float[1] least = {0.2}> {
      s = NonMaxSuppression(boxes, scores, most, iou, least)
      y = Relu(x)
    })");
  EXPECT_THAT(output(graph, {floats({1}, {1})}), ElementsAre(0, 0, 1, 0, 0, 2));
}

const std::string kTree =
    R"(nodes_treeids = [0, 0, 0, 0, 0], nodes_nodeids = [0, 1, 2, 3, 4], nodes_featureids = [0, 0, 1, 0, 0],
  nodes_modes = ["BRANCH_LEQ", "LEAF", "BRANCH_LT", "LEAF", "LEAF"], nodes_values = [0.5, 0.0, 2.0, 0.0, 0.0],
  nodes_truenodeids = [1, 0, 3, 0, 0], nodes_falsenodeids = [2, 0, 4, 0, 0])";

TEST(Trees, Regress) {
  const Graph graph = import_text(kHead + R"(g (float[4, 2] x) => (float[4, 1] y) {
      y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, base_values = [100.0], target_treeids = [0, 0, 0], target_nodeids = [1, 3, 4],
        target_ids = [0, 0, 0], target_weights = [1.0, 2.0, 3.0], )" +
                                  kTree + R"(> (x) })");
  EXPECT_THAT(output(graph, {floats({4, 2}, {0.5, 9, 0.6, 1.9, 0.6, 2, 7, 0})}),
              ElementsAre(101, 102, 103, 102));
}

TEST(Trees, Classify) {
  const Graph graph = import_text(kHead + R"(g (float[3, 2] x) => (int64[3] l, float[3, 3] p) {
      l, p = ai.onnx.ml.TreeEnsembleClassifier <classlabels_int64s = [7, 8, 9], class_treeids = [0, 0, 0], class_nodeids = [1, 3, 4],
        class_ids = [2, 0, 1], class_weights = [1.0, 2.0, 3.0], )" +
                                  kTree + R"(> (x) })");
  const Value x = floats({3, 2}, {0, 0, 1, 0, 1, 5});
  EXPECT_THAT(output(graph, {x}, 0), ElementsAre(9, 7, 8));
  EXPECT_THAT(output(graph, {x}, 1), ElementsAre(0, 0, 1, 2, 0, 0, 0, 3, 0));
}

TEST(Trees, RefuseCycles) {
  EXPECT_THAT(refusal(kHead + R"(g (float[4, 2] x) => (float[4, 1] y) {
      y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, target_treeids = [0], target_nodeids = [2], target_ids = [0],
        target_weights = [1.0], nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0],
        nodes_modes = ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], nodes_values = [0.5, 0.0, 2.0],
        nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [1, 0, 0]> (x) })"),
              HasSubstr("cycle"));
}

TEST(Classical, LinearSvmScalerLabels) {
  const Graph graph = import_text(
      kHead +
      R"(g (float[2, 2] x, int64[3] k) => (int64[2] l, float[2, 2] p, float[2, 1] r, float[2, 2] s, float[3] e, float[2, 2] n) {
      l, p = ai.onnx.ml.LinearClassifier <classlabels_ints = [4, 5], coefficients = [1.0, 0.0, 0.0, 1.0], intercepts = [0.0, 0.5]> (x)
      r = ai.onnx.ml.SVMRegressor <kernel_type = "RBF", kernel_params = [0.5, 0.0, 0.0], n_supports = 1, support_vectors = [1.0, 2.0], coefficients = [2.0], rho = [1.0]> (x)
      s = ai.onnx.ml.Scaler <offset = [1.0], scale = [2.0, 3.0]> (x)
      e = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_floats = [10.0, 20.0], default_float = -1.0> (k)
      n = ai.onnx.ml.Normalizer <norm = "L1"> (x)
    })");
  Value k(Type::kInt64, {3});
  for (int64_t i = 0; i < 3; ++i) store(k, i, {.i = 2 - i});
  const std::vector<Value> in = {floats({2, 2}, {1, 2, 3, -1}), k};
  EXPECT_THAT(output(graph, in, 0), ElementsAre(5, 4));
  EXPECT_THAT(output(graph, in, 1), ElementsAre(1, 2.5, 3, -0.5));
  EXPECT_NEAR(output(graph, in, 2)[0], 3, 1e-6);
  EXPECT_NEAR(output(graph, in, 2)[1], 1 + 2 * std::exp(-6.5), 1e-6);
  EXPECT_THAT(output(graph, in, 3), ElementsAre(0, 3, 4, -6));
  EXPECT_THAT(output(graph, in, 4), ElementsAre(20, 10, -1));
  EXPECT_THAT(output(graph, in, 5), ElementsAre(1.0F / 3, 2.0F / 3, 0.75, -0.25));
}

}  // namespace
}  // namespace arenac::kernel_test
