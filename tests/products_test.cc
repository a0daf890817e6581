// Sums of products of computed tensors: their factors lie so that neighbouring sums are lanes of a vector.
#include "frontend/products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "frontend/import.h"
#include "scheduler/storage.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

using testing::ElementsAre;

struct Lying {
  int64_t distance;                // from one lane's element of the factor to the next one's
  std::vector<std::string> steps;  // the operators that take one
};

// Of the first product in the graph that this text is after with_own_factors().
Lying lying(const std::string& text, Factors factors = Factors::kInLanes) {
  const Graph before = import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text);
  const Graph graph = with_own_factors(before);
  for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(before, graph, seed, Numbers::kAny);
  std::vector<int> order(graph.block.size());
  std::iota(order.begin(), order.end(), 0);
  const Storage storage = assign_storage(graph, order, {.factors = factors});
  Lying found{-1, {}};
  for (const Step& step : storage.steps) {
    found.steps.push_back(step.node->op);
    const Nest& nest = std::get<Nests>(step.node->body).front();
    const auto lanes = product_lanes(nest, *step.node, graph);
    if (!lanes || found.distance >= 0) continue;
    const Layout& layout = storage.layouts[step.node->reads[lanes->read->index]];
    found.distance = address_of(layout, lanes->read->args, nest)->coefficient(lanes->axis);
  }
  return found;
}

constexpr const char* kProjection =
    "int64[3] heads = {5, 2, 4}, float[8, 8] w = {"
    "1,0,0,0,0,0,0,0, 0,1,0,0,0,0,0,0, 0,0,1,0,0,0,0,0, 0,0,0,1,0,0,0,0,"
    "0,0,0,0,1,0,0,0, 0,0,0,0,0,1,0,0, 0,0,0,0,0,0,1,0, 0,0,0,0,0,0,0,1}";

TEST(Products, AreOfAProjectionThatWritesInLanes) {
  const std::string text =
      std::string("(float[5, 8] x, float[2, 5, 4] q) => (float[2, 5, 5] y) <") + kProjection + R"(> {
      k = MatMul(x, w)  k_heads = Reshape(k, heads)  k_turned = Transpose<perm = [1, 2, 0]>(k_heads)
      y = MatMul(q, k_turned) })";
  const Lying in_lanes = lying(text);
  EXPECT_EQ(in_lanes.distance, 1);
  EXPECT_THAT(in_lanes.steps, ElementsAre("MatMul", "MatMul"));
  EXPECT_EQ(lying(text, Factors::kAsWritten).distance, 8);
}

TEST(Products, AreOfACopyInLanesWhereOthersReadTheFactor) {
  // k and q are the same tensor.
  const std::string shared = std::string("(float[5, 8] x) => (float[2, 5, 5] y) <") + kProjection + R"(> {
      k = MatMul(x, w)  k_heads = Reshape(k, heads)  k_turned = Transpose<perm = [1, 2, 0]>(k_heads)
      q = Transpose<perm = [1, 0, 2]>(k_heads)  y = MatMul(q, k_turned) })";
  EXPECT_EQ(lying(shared).distance, 1);
  EXPECT_THAT(lying(shared).steps, ElementsAre("MatMul", "Transpose", "MatMul"));
  EXPECT_THAT(lying(shared, Factors::kAsWritten).steps, ElementsAre("MatMul", "MatMul"));
  // The caller says how an input lies.
  const std::string input = R"((float[5, 8] x, float[6, 8] k) => (float[5, 6] y) {
      y = Gemm<transB = 1>(x, k) })";
  EXPECT_EQ(lying(input).distance, 1);
  EXPECT_THAT(lying(input).steps, ElementsAre("Identity", "Gemm"));
  EXPECT_EQ(lying(input, Factors::kAsWritten).distance, 8);
}

// In groups by rows: k is wanted whole by the first row of scores, and x read again by q, so that k in parts
// would save nothing.
// Weights that are computed lie by output channels.
TEST(Products, AreOfTheChannelsOfAConvolution) {
  const Lying computed =
      lying(R"((float[1, 3, 6, 6] x, float[1, 4] r, float[4, 135] e) => (float[1, 5, 6, 6] y) <
      int64[4] shape = {5, 3, 3, 3}> {
      m = MatMul(r, e)  w = Reshape(m, shape)  a = Relu(x)  y = Conv<pads = [1, 1, 1, 1]>(a, w) })");
  EXPECT_EQ(computed.distance, 1);
  EXPECT_THAT(computed.steps, ElementsAre("MatMul", "Reshape", "Relu", "Conv"));
}

TEST(Products, RunTheFactorThatIsWantedWholeAtOnce) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g
      (float[5, 4] i) => (float[5, 5] y) <float[4, 4] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}> {
      x = Relu(i)  k = MatMul(x, w)  q = Add(x, x)  y = Gemm<transB = 1>(q, k) })");
  const Schedule rows = scheduler_named("rows").schedule(graph, target_named("portable"), kNoDeadline);
  std::map<std::string, int64_t> slabs;
  for (size_t s = 0; s < rows.steps.size(); ++s)
    if (const Stage* stage = stage_of(rows, s)) slabs[rows.steps[s].node->op] = stage->slabs;
  EXPECT_THAT(slabs, testing::Contains(testing::Pair("MatMul", 1)));
  EXPECT_THAT(slabs, testing::Contains(testing::Pair("Gemm", 5)));
}

TEST(Products, StayWhereLanesLieSideBySideOrCannot) {
  // What a node copies is not what it reads it by.
  EXPECT_THAT(lying("(float[4, 8] x, int64[2] a) => (float[2, 8] y) { i = Abs(a)  y = Gather(x, i) }").steps,
              ElementsAre("Abs", "Gather"));
  EXPECT_THAT(lying("(float[5, 8] x, float[8, 6] k) => (float[5, 6] y) { y = MatMul(x, k) }").steps,
              ElementsAre("MatMul"));
  EXPECT_THAT(
      lying(R"((float[1, 2, 4, 4] x, float[3, 2, 3, 3] w) => (float[1, 3, 2, 2] y) { y = Conv(x, w) })")
          .steps,
      ElementsAre("Conv"));
  EXPECT_THAT(lying("(int32[5, 8] x, int32[8, 6] k) => (int32[5, 6] y) { y = MatMul(x, k) }").steps,
              ElementsAre("MatMul"));
}

}  // namespace
}  // namespace arenac
