// Zero points of the run leave the sums of products that they are in, where that keeps every bit.
#include "frontend/zero_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

// Whether the sum of the graph's only node subtracts nothing that the run computes afterwards; the outputs
// are the same bits.
bool leaves(const std::string& text) {
  const Graph before =
      with_inlined_elements(import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text));
  const Graph after = with_zero_points_outside(before);
  for (unsigned seed = 0; seed < 4; ++seed) assert_same_bits(before, after, seed, Numbers::kAny);
  EXPECT_EQ(after.block.size(), 1u);
  const Node& node = after.block.front();
  const auto is_computed = [&](const Expr& e) {
    return e->op == Op::kRead && !after.tensors[node.reads[e->index]].constant;
  };
  return !any_of(std::get<Nests>(node.body).front().body,
                 [&](const Expr& e) { return e->op == Op::kSub && any_of(e->args[1], is_computed); });
}

TEST(ZeroPoints, OfTheRunLeaveProductsWithConstants) {
  EXPECT_TRUE(leaves(R"((uint8[3, 4] x, uint8 z) => (int32[3, 2] y)
      <int8[4, 2] w = {127, -128, 127, -128, 5, 6, -7, 8}> { y = MatMulInteger(x, w, z) })"));
  EXPECT_TRUE(leaves(R"((uint8[2, 3, 4] x, uint8 z) => (float[2, 3, 2] y)
      <int8[4, 2] w = {1, 2, 3, 4, 5, 6, -7, 8}> { i = MatMulInteger(x, w, z)  y = Cast<to = 1>(i) })"));
  // One for each row.
  EXPECT_TRUE(leaves(R"((int8[3, 4] x, int8[3] z) => (int32[3, 2] y)
      <int8[4, 2] w = {1, 2, 3, 4, 5, 6, -7, 8}> { y = MatMulInteger(x, w, z) })"));
  // Constants with zero points of their own; the other way round.
  EXPECT_TRUE(leaves(R"((uint8[3, 4] x, uint8 z) => (int32[3, 2] y)
      <uint8[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 255}, uint8 c = {128}> { y = MatMulInteger(x, w, z, c) })"));
  EXPECT_TRUE(leaves(R"((uint8[4, 2] x, uint8 z) => (int32[3, 2] y)
      <uint8[3, 4] w = {1, 2, 3, 4, 5, 6, 7, 255, 9, 10, 11, 12}, uint8 c = {128}> { y = MatMulInteger(w, x, c, z) })"));
  EXPECT_TRUE(leaves(R"((uint8[1, 4, 2, 2] x, uint8 z) => (int32[1, 2, 2, 2] y)
      <int8[2, 4, 1, 1] w = {1, 2, 3, 4, 5, 6, -7, 8}> { y = ConvInteger(x, w, z) })"));
}

TEST(ZeroPoints, StayWhereTheyDifferFromTermToTerm) {
  // Bounds leave terms out at the borders.
  EXPECT_FALSE(leaves(R"((uint8[1, 1, 4, 4] x, uint8 z) => (int32[1, 2, 4, 4] y)
      <int8[2, 1, 3, 3] w = {1, 2, 3, 4, 5, 6, -7, 8, 9, 1, 2, 3, 4, 5, 6, -7, 8, 9}> {
      y = ConvInteger<pads = [1, 1, 1, 1]>(x, w, z) })"));
  // Both are computed.
  EXPECT_FALSE(leaves(R"((uint8[3, 4] x, uint8[4, 2] w, uint8 z, uint8 c) => (int32[3, 2] y) {
      y = MatMulInteger(x, w, z, c) })"));
}

}  // namespace
}  // namespace arenac
