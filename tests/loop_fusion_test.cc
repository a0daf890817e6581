// Recurrences over the same moments run as one loop, with one moment of what lies between them.
#include "frontend/loop_fusion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/loop_moments.h"
#include "tests/same_bits.h"
#include "tests/values.h"

namespace arenac {
namespace {

struct Fused {
  long loops;
  int64_t most;  // elements of the largest tensor that is written
};

int64_t largest(const Block& block, const Graph& graph) {
  int64_t most = 0;
  for (const Node& node : block) {
    for (const Block* inner : blocks_of(node)) most = std::max(most, largest(*inner, graph));
    for (TensorId id : node.writes) most = std::max(most, element_count(graph.tensors[id].shape));
  }
  return most;
}

// Two recurrent layers of 3 units over 7 moments of 2 numbers, with `between` from a to b and `after` from c
// to y, where the layers' results are [7, 1, 1, 3]. The outputs are the same bits as before.
Fused fused(const std::string& first, const std::string& between, const std::string& second,
            const std::string& after, const std::string& y) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[7, 1, 2] x, float[1, 12, 2] w, float[1, 12, 3] r, float[1, 12, 3] v, float[1, 12, 3] s,
         float[1, 9, 2] gw, float[1, 9, 3] gr, float[3, 3] m, float[2, 3] n, float[1, 3, 3] e) => ()" +
                           y + R"()
      <int64[1] one = {1}, int64[1] zero = {0}, int64[1] last = {6}, int64[1] end = {7}, int64[1] two = {2}, int64[1] three = {3},
       int64[3] flat = {7, 1, 3}> { )" +
                           first + " " + between + " " + second + " " + after + " }";
  const Graph before = with_inlined_elements(import_text(text));
  const Graph after_fusion = with_fused_loops(before);
  verify(after_fusion);
  for (unsigned seed = 0; seed < 4; ++seed) assert_same_bits(before, after_fusion, seed, Numbers::kAny);
  const auto is_loop = [](const Node& node) { return std::holds_alternative<Loop>(node.body); };
  return {std::ranges::count_if(after_fusion.block, is_loop), largest(after_fusion.block, after_fusion)};
}

const std::string kFirst = "a = LSTM<hidden_size = 3>(x, w, r)";
const std::string kSecond = "c = LSTM<hidden_size = 3>(b, v, s)";
const std::string kViews = "a1 = Transpose<perm = [0, 2, 1, 3]>(a)  b = Reshape(a1, flat)";
const std::string kLast = "y = Slice(c, last, end, zero)";
const std::string kOne = "float[1, 1, 1, 3] y", kAll = "float[7, 1, 1, 3] y";

// So many numbers, in the words of a model.
std::string list_of(int count) {
  std::string text = "0.5";
  for (int k = 1; k < count; ++k) text += ", 0." + std::to_string(k);
  return text;
}

TEST(LoopFusion, ChainedLayersRunInStep) {
  const auto [loops, most] = fused(kFirst, kViews, kSecond, kLast, kOne);
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(most, 12);  // the gates of a moment
}

TEST(LoopFusion, WholeResultsStay) {
  const auto [loops, most] = fused(kFirst, kViews, kSecond, "y = Neg(c)", kAll);
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(most, 21);
}

TEST(LoopFusion, WhatIsReadTwiceStaysWhole) {
  EXPECT_EQ(fused(kFirst, kViews, kSecond, "y = Add(c, a)", kAll).loops, 1);
}

TEST(LoopFusion, LayersOfOneMomentComeAlong) {
  for (const char* between : {"b = Relu(a0)", "b = MatMul(a0, m)", "b = Softmax<axis = 2>(a0)"}) {
    const auto [loops, most] =
        fused(kFirst, "a0 = Squeeze(a, one) " + std::string(between), kSecond, kLast, kOne);
    EXPECT_EQ(loops, 1) << between;
    EXPECT_EQ(most, 12) << between;
  }
}

// A layer may take some of what the one before gave and some of what that took.
TEST(LoopFusion, JoinedMomentsComeAlong) {
  const auto [loops, most] =
      fused(kFirst, "a0 = Squeeze(a, one)  a1 = Slice(a0, zero, one, two)  b = Concat<axis = 2>(a1, x)",
            kSecond, kLast, kOne);
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(most, 12);
  EXPECT_EQ(fused(kFirst, "a0 = Squeeze(a, one)  b = Concat<axis = 0>(a0, a0)  b1 = Slice(b, one, end, zero)",
                  "c = LSTM<hidden_size = 3>(b1, v, s)", "y = Slice(c, zero, one, zero)", kOne)
                .loops,
            2);
}

// What makes an output of each moment runs in the loop, so that the layer's result is one moment.
TEST(LoopFusion, OutputsOfEachMomentComeAlong) {
  for (const std::string after :
       {"y = ReduceMean<axes = [3]>(c)", "c1 = Relu(c)  y = ReduceMax<axes = [3]>(c1)",
        "c2 = Neg(c)  c3 = Concat<axis = 3>(c, c2)  y = ReduceSum(c3, three)"}) {
    const auto [loops, most] = fused(kFirst, kViews, kSecond, after, "float[7, 1, 1, 1] y");
    EXPECT_EQ(loops, 1) << after;
    EXPECT_EQ(most, 12) << after;
  }
  // A mean over the moments keeps them.
  EXPECT_EQ(fused(kFirst, kViews, kSecond, "y = ReduceMean<axes = [0]>(c)", "float[1, 1, 1, 3] y").most, 21);
}

// Two layers of 12 x 2 + 12 x 3 and 2 x 12 x 3 weights, 132 in all, of 4 bytes each.
TEST(LoopFusion, LayersOfMoreConstantsThanACacheHoldsStayApart) {
  const Graph graph = with_inlined_elements(import_text(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[7, 1, 2] x) => (float[7, 1, 1, 3] y)
         <float[1, 12, 2] w = {)" +
      list_of(24) + "}, float[1, 12, 3] r = {" + list_of(36) + "}, float[1, 12, 3] v = {" + list_of(36) +
      "}, float[1, 12, 3] s = {" + list_of(36) + "}, int64[3] flat = {7, 1, 3}> { " + kFirst + " " + kViews +
      " " + kSecond + " y = Neg(c) }"));
  for (const auto& [most, loops] : {std::pair(int64_t{4 * 132 - 1}, 2), {int64_t{4 * 132}, 1}}) {
    const Graph result = with_fused_loops(graph, most);
    EXPECT_EQ(std::ranges::count_if(result.block, static_loop), loops) << most;
  }
}

// What the layer alone reads of what is computed before it, moment by moment, is there for one moment.
TEST(LoopFusion, WhatPrecedesALayerMomentByMomentComesAlong) {
  const std::string backwards = "c = LSTM<hidden_size = 3, direction = \"reverse\">(b, v, s)";
  for (const char* before : {"b = MatMul(x, n)", "d = MatMul(x, n)  f = Tanh(d)  b = Softmax<axis = 2>(f)"}) {
    EXPECT_EQ(fused("", before, kSecond, kLast, kOne).most, 12) << before;
    EXPECT_EQ(fused("", before, backwards, "y = Slice(c, zero, one, zero)", kOne).most, 12) << before;
  }
}

TEST(LoopFusion, WhatPrecedesALayerOtherwiseStaysWhole) {
  const auto most = [](const char* before, const char* layer, const std::string& after) {
    return fused("", before, layer, after, kOne).most;
  };
  const char* lstm = "c = LSTM<hidden_size = 3>(b, v, s)";
  // Others read it, or the layer runs both ways.
  EXPECT_EQ(
      most("b = MatMul(x, n)", lstm, "l = Slice(c, last, end, zero)  k = ReduceSum(b, zero)  y = Add(l, k)"),
      21);
  EXPECT_EQ(most("b = MatMul(x, n)",
                 "c0 = LSTM<hidden_size = 3>(b, v, s)  c1 = LSTM<hidden_size = 3, direction = "
                 "\"reverse\">(b, v, s)  "
                 "c = Add(c0, c1)",
                 kLast),
            21);
  // It takes neighbours.
  EXPECT_EQ(most("t = Transpose<perm = [1, 2, 0]>(x)  p = AveragePool<kernel_shape = [2], pads = [1, 0]>(t)\n"
                 "b = Transpose<perm = [2, 0, 1]>(p)",
                 "c = LSTM<hidden_size = 3>(b, w, r)", kLast),
            14);
  // Its weights would be read again for each moment, and it is a third of the work.
  EXPECT_EQ(most("b = MatMul(x, n)", "c = RNN<hidden_size = 3>(b, e, e)", kLast), 21);
}

TEST(LoopFusion, OtherCells) {
  EXPECT_EQ(fused("a = GRU<hidden_size = 3>(x, gw, gr)", kViews, kSecond, kLast, kOne).loops, 1);
}

TEST(LoopFusion, BothBackwards) {
  const std::string backwards = "<hidden_size = 3, direction = \"reverse\">";
  const std::string first = "a = LSTM" + backwards + "(x, w, r)",
                    second = "c = LSTM" + backwards + "(b, v, s)";
  const auto [loops, most] = fused(first, kViews, second, "y = Slice(c, zero, one, zero)", kOne);
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(most, 12);
  EXPECT_EQ(fused(kFirst, kViews, second, kLast, kOne).loops, 2);
  EXPECT_EQ(fused(first, kViews, kSecond, kLast, kOne).loops, 2);
}

TEST(LoopFusion, WhatNeedsOtherMomentsWaits) {
  EXPECT_EQ(fused(kFirst, "a0 = Squeeze(a, one)  b = Softmax<axis = 0>(a0)", kSecond, kLast, kOne).loops, 2);
  EXPECT_EQ(fused(kFirst, "a0 = Squeeze(a, one)  b = CumSum(a0, zero)", kSecond, kLast, kOne).loops, 2);
}

// The second layer begins as the first one ends.
TEST(LoopFusion, StatesThatAreHandedOnWait) {
  EXPECT_EQ(fused("a, h = LSTM<hidden_size = 3>(x, w, r)", kViews,
                  "c = LSTM<hidden_size = 3>(b, v, s, , , h)", kLast, kOne)
                .loops,
            2);
}

// What is after the loop reads all moments and the last state.
TEST(LoopFusion, SumsWithTheLastStateAreAfterTheLoop) {
  EXPECT_EQ(
      fused("a, h = LSTM<hidden_size = 3>(x, w, r)", "b0 = Add(a, h)", "c = Relu(b0)", kLast, kOne).loops, 1);
}

}  // namespace
}  // namespace arenac
