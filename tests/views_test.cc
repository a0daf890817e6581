// Views, and what could be one: where their elements lie, and the steps around them.
#include "scheduler/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "frontend/import.h"
#include "scheduler/dimension_orders.h"
#include "scheduler/flat_steps.h"
#include "scheduler/in_place.h"
#include "scheduler/liveness.h"

namespace arenac::views_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Graph graph_of(const std::string& text) {
  return import_text("<ir_version: 8, opset_import: [\"\" : 17]> " + text);
}

// A graph, and the first node in it that is this operator.
struct OneNode {
  OneNode(const std::string& text, const std::string& op) : graph(graph_of(text)) {
    node = &*std::ranges::find(graph.block, op, &Node::op);
  }

  std::optional<Layout> view(const Layout& operand) const {
    return view_layout(*node, *copied_element(*node, graph), operand);
  }
  std::optional<Layout> behind(const Layout& wanted) const { return layout_behind(*node, wanted, graph); }

  Graph graph;
  const Node* node;
};

constexpr const char* kReshape =
    "g (float[2, 12] x) => (float y) <int64[3] s = {2, 3, 4}> { h = Sin(x) v = Reshape(h, s) y = Cos(v) }";
constexpr const char* kTranspose =
    "g (float[2, 6] x) => (float y) { h = Sin(x) v = Transpose(h) y = Cos(v) }";
constexpr const char* kSlice = R"(g (float[5, 2] x) => (float y) <int64[1] a = {1}, int64[1] b = {4}> {
    h = Sin(x) v = Slice(h, a, b) y = Cos(v) })";

TEST(ViewLayout, FollowsItsOperand) {
  EXPECT_EQ(OneNode(kTranspose, "Transpose").view({7, 3, {6, 1}}), (Layout{7, 3, {1, 6}}));
  EXPECT_EQ(OneNode(kSlice, "Slice").view({7, 3, {2, 1}}), (Layout{7, 5, {2, 1}}));
  EXPECT_EQ(OneNode(kReshape, "Reshape").view({7, 0, {24, 2}}), (Layout{7, 0, {24, 8, 2}}));
}

TEST(ViewLayout, IsNoneWhereAddressesAreNotAffine) {
  const OneNode flat("g (float[2, 6] x) => (float y) { h = Sin(x) v = Flatten<axis = 0>(h) y = Cos(v) }",
                     "Flatten");
  EXPECT_TRUE(flat.view({0, 0, {6, 1}}));
  EXPECT_FALSE(flat.view({0, 0, {1, 2}}));
}

TEST(CopiedElement, IsNoneOfWhatComputes) {
  const OneNode sine(kTranspose, "Sin");
  EXPECT_FALSE(copied_element(*sine.node, sine.graph));
}

TEST(LayoutBehind, IsThatInWhichTheViewLiesAsWanted) {
  EXPECT_EQ(OneNode(kTranspose, "Transpose").behind({7, 3, {1, 6}}), (Layout{7, 3, {6, 1}}));
  EXPECT_EQ(OneNode(kReshape, "Reshape").behind({7, 0, {12, 4, 1}}), (Layout{7, 0, {12, 1}}));
}

TEST(LayoutBehind, IsNoneWhereTheOperandWouldNotBeDense) {
  EXPECT_FALSE(OneNode(kReshape, "Reshape").behind({7, 0, {12, 1, 3}}));
}

TEST(Equivalent, LeavesOutDimensionsOfOneElement) {
  EXPECT_TRUE(equivalent({6, 9, 1}, {6, 3, 1}, {4, 1, 6}));
  EXPECT_FALSE(equivalent({6, 3, 1}, {6, 3, 2}, {4, 1, 6}));
}

TEST(DenseStrides, FollowTheOrder) {
  EXPECT_THAT(dense_strides({2, 3, 4}, {0, 1, 2}), ElementsAre(12, 4, 1));
  EXPECT_THAT(dense_strides({2, 3, 4}, {0, 2, 1}), ElementsAre(12, 1, 3));
}

// ---- operands that may lie where a result does

using Operands = std::vector<std::vector<TensorId>>;

Operands harmless(const OneNode& one, Moves moves) {
  std::vector<int> order(one.graph.block.size());
  std::iota(order.begin(), order.end(), 0);
  return harmless_operands(storage_facts(one.graph, flat_steps(one.graph, order), {}), *one.node, moves);
}

TEST(HarmlessOperands, AreThoseOfEachPart) {
  const OneNode concat(R"(g (float[2, 3] x) => (float y, float z) {
      a = Sin(x) b = Cos(x) y = Concat<axis = 0>(a, b) z = Tan(a) })",
                       "Concat");
  const TensorId a = concat.node->reads[0], b = concat.node->reads[1];
  EXPECT_EQ(harmless(concat, Moves::kFirst), (Operands{{a}, {b}}));
  EXPECT_EQ(harmless(concat, Moves::kUnshared), (Operands{{}, {b}}));
}

TEST(HarmlessOperands, AreFirstThoseThatNobodyElseReads) {
  const OneNode sum(R"(g (float[2, 3] x) => (float y, float z) {
      a = Sin(x) b = Cos(x) y = Add(a, b) z = Tan(a) })",
                    "Add");
  const TensorId a = sum.node->reads[0], b = sum.node->reads[1];
  EXPECT_EQ(harmless(sum, Moves::kFirst), (Operands{{a, b}}));
  EXPECT_EQ(harmless(sum, Moves::kUnshared), (Operands{{b, a}}));
}

// ---- steps

TEST(FlatSteps, HavePartnersAroundControlFlow) {
  const Graph graph = graph_of(R"(g (float[2] x, bool c) => (float[2] y) {
      h = Sin(x)
      t = If (c) <then_branch = yes () => (float[2] u) { u = Cos(h) },
                  else_branch = no () => (float[2] w) { w = Tan(h) }>
      y = Sin(t) })");
  std::vector<int> order(graph.block.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<Step> steps = with_partners(flat_steps(graph, order));
  const auto find = [&](StepKind kind) {
    return static_cast<int>(std::ranges::find(steps, kind, &Step::kind) - steps.begin());
  };
  const int begin = find(StepKind::kIf), middle = find(StepKind::kElse), end = find(StepKind::kEndIf);
  EXPECT_LT(begin, middle);
  EXPECT_LT(middle, end);
  EXPECT_EQ(steps.at(begin).partner, middle);
  EXPECT_EQ(steps.at(middle).partner, end);
  EXPECT_EQ(steps.at(end).partner, begin);
  EXPECT_EQ(steps.front().partner, -1);
}

// ---- bytes

TEST(LiveBytes, AreThoseOfAllThatIsLive) {
  EXPECT_THAT(live_bytes({4, 2, 9}, {{0, 2}, {1, 3}, {0, 0}}, 3), ElementsAre(4, 6, 2));
  EXPECT_THAT(live_bytes({}, {}, 0), IsEmpty());
}

TEST(StepsOccupied, AreFromTheFirstToTheLast) {
  EXPECT_THAT(steps_occupied({{{1, 2}, {4, 7}}, {}}), ElementsAre(Interval{0, 4}, Interval{0, 0}));
}

}  // namespace
}  // namespace arenac::views_test
