// What a model computes or keeps twice is there once.
#include "frontend/common.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/interpret.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"
#include "tests/values.h"

namespace arenac {
namespace {

using ::testing::ElementsAre;

// The operators that are left; the graph's outputs are the same bits as before.
std::vector<std::string> ops_left(const std::string& text) {
  const Graph before = import_text("<ir_version: 8, opset_import: [\"\" : 17]> g " + text);
  const Graph after = with_common_nodes(before);
  for (unsigned seed = 0; seed < 4; ++seed) assert_same_bits(before, after, seed, Numbers::kAny);
  return ops_of(after);
}

TEST(Common, NodesOfTheSameOperandsBecomeOne) {
  EXPECT_THAT(ops_left(R"((float[2, 3] x, float[3, 3] w) => (float[2, 3] y, float[2, 3] z) {
      a = MatMul(x, w)  y = Relu(a)  b = MatMul(x, w)  z = Neg(b) })"),
              ElementsAre("MatMul", "Relu", "Neg"));
}

TEST(Common, EqualConstantsBecomeOneAndSoDoTheirReaders) {
  EXPECT_THAT(ops_left(R"((float[2, 2] x) => (float[2, 2] y, float[2, 2] z)
      <float[2, 2] w = {1, 2, 3, 4}, float[2, 2] v = {1, 2, 3, 4}, float[2, 2] u = {1, 2, 3, 5}> {
      a = MatMul(x, w)  y = Relu(a)  b = MatMul(x, v)  c = MatMul(x, u)  d = Add(b, c)  z = Neg(d) })"),
              ElementsAre("MatMul", "Relu", "MatMul", "Add", "Neg"));
}

TEST(Common, WhatFollowsFromThemIsCommon) {
  EXPECT_THAT(ops_left(R"((float[2, 3] x) => (float[2, 3] y) {
      a = Softmax(x)  b = Softmax(x)  c = Sqrt(a)  d = Sqrt(b)  y = Sub(c, d) })")
                  .size(),
              ops_left(R"((float[2, 3] x) => (float[2, 3] y) { a = Softmax(x)  c = Sqrt(a)  y = Sub(c, c) })")
                  .size());
}

TEST(Common, OtherAttributesAreOtherNodes) {
  EXPECT_THAT(ops_left(R"((float[2, 3] x) => (float[2, 3] y) {
      a = LeakyRelu<alpha = 0.1>(x)  b = LeakyRelu<alpha = 0.2>(x)  y = Sub(a, b) })"),
              ElementsAre("LeakyRelu", "LeakyRelu", "Sub"));
}

TEST(Common, OutputsStay) {
  EXPECT_THAT(ops_left("(float[2, 3] x) => (float[2, 3] y, float[2, 3] z) { y = Exp(x)  z = Exp(x) }"),
              ElementsAre("Exp", "Exp"));
}

// Two carried values begin as the same one and become others.
TEST(Common, WhatALoopAssignsIsNeverTheSame) {
  ops_left(R"((float[3] x) => (float[3] y, float[3] z)
      <int64 n = {3}, bool yes = {1}> {
      a, b = Loop<body = g (int64 i, bool c, float[3] s, float[3] u) => (bool d, float[3] t, float[3] v) {
        d = Identity(c)  t = Sin(s)  v = Cos(u) }>(n, yes, x, x)
      y = Neg(a)  z = Neg(b) })");
}

TEST(Common, WhatBranchesAssignIsNeverTheSame) {
  ops_left(R"((float[3] x, bool which) => (float[3] y, float[3] z) {
      a, b = If<then_branch = g () => (float[3] p, float[3] q) { p = Identity(x)  q = Identity(x) },
                else_branch = h () => (float[3] r, float[3] s) { r = Sin(x)  s = Cos(x) }>(which)
      y = Neg(a)  z = Neg(b) })");
}

TEST(Common, BranchesAskForTheConditionThatIsLeft) {
  EXPECT_THAT(ops_left(R"((float[2] x, float a) => (float[2] y, float[2] z) <float zero = {0}> {
      p = Less(a, zero)  q = Less(a, zero)
      y = If<then_branch = g () => (float[2] s) { s = Sin(x) }, else_branch = h () => (float[2] t) { t = Cos(x) }>(p)
      z = If<then_branch = i () => (float[2] u) { u = Exp(x) }, else_branch = j () => (float[2] v) { v = Neg(x) }>(q)
      })"),
              ElementsAre("Less", "If", "If"));
}

// Reads of what were two tensors at different places: none of them lies where the result is written.
TEST(Common, OperandsThatBecomeOneAreReadAsBefore) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int64[5] x) => (int64[5] y) <int64 axis = {0}> {
      a = CumSum(x, axis)  b = CumSum(x, axis)  y = Gather(a, b) })";
  for (const CompilerRow& compiler : compilers()) {
    std::vector<Emitted> batch;
    batch.push_back({compile_graph(import_text(text), "u0", {}), {integers({5}, {4, -1, -3, 1, 1})}});
    run_emitted(batch, compiler);
    ASSERT_EQ(batch[0].fault, "");
    const Graph& graph = *batch[0].compilation.graph;
    EXPECT_EQ(batch[0].outputs[0].bytes,
              interpret(import_text(text), batch[0].inputs).at(graph.outputs[0])->bytes)
        << dump(graph);
  }
}

TEST(Common, RandomGraphsComputeTheSameBits) {
  int merged = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph before = with_inlined_elements(import_text(random_graph(seed)));
    const Graph after = with_common_nodes(before);
    merged += after.block.size() < before.block.size();
    ASSERT_NO_FATAL_FAILURE(assert_same_bits(before, after, seed, Numbers::kAny));
  }
  EXPECT_GT(merged, 3);
}

}  // namespace
}  // namespace arenac
