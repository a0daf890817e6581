// What narrows elements comes before what moves them, where that keeps every bit and narrows no more.
#include "frontend/narrow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

using testing::ElementsAre;

// The operators in their order; the outputs are the same bits as before.
std::vector<std::string> ops_after(const std::string& text) {
  const Graph before = import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text);
  const Graph after = with_early_narrowing(before);
  verify(after);
  for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(before, after, seed, Numbers::kAny);
  return ops_of(after);
}

TEST(Narrowing, ComesBeforeMovements) {
  EXPECT_THAT(ops_after(R"((float[2, 6] x) => (uint8[3, 4] y) <float s = {0.5}, int64[2] shape = {3, 4}> {
      r = Sin(x)  t = Transpose(r)  v = Reshape(t, shape)  y = QuantizeLinear(v, s) })"),
              ElementsAre("Sin", "QuantizeLinear", "Transpose", "Reshape"));
  EXPECT_THAT(ops_after(R"((float[2, 3] x) => (int8[3, 4] y) {
      a = Sin(x)  b = Cos(x)  c = Concat<axis = 0>(a, b)  t = Transpose(c)
      f = Floor(t)  y = Cast<to = 3>(f) })"),
              ElementsAre("Sin", "Cos", "Concat", "Transpose", "Floor", "Cast"));  // no copies before it
  EXPECT_THAT(ops_after(R"((float[2, 3] x) => (int8[3, 4] y) {
      a = Sin(x)  b = Cos(x)  c = Concat<axis = 0>(a, b)  t = Transpose(c)  y = Cast<to = 3>(t) })"),
              ElementsAre("Sin", "Cos", "Cast", "Cast", "Concat", "Transpose"));
}

TEST(Narrowing, StaysBehindWhatOthersRead) {
  EXPECT_THAT(ops_after(R"((float[2, 3] x) => (uint8[3, 2] y, float[3, 2] z) <float s = {0.5}> {
      r = Sin(x)  t = Transpose(r)  y = QuantizeLinear(t, s)  z = Neg(t) })"),
              ElementsAre("Sin", "Transpose", "QuantizeLinear", "Neg"));
  EXPECT_THAT(ops_after(R"((float[2, 3] x) => (uint8[3, 2] y, float[3, 2] t) <float s = {0.5}> {
      r = Sin(x)  t = Transpose(r)  y = QuantizeLinear(t, s) })"),
              ElementsAre("Sin", "Transpose", "QuantizeLinear"));
  EXPECT_THAT(ops_after(R"((float[2, 3] x) => (uint8[3, 2] y, float[2, 3] z) <float s = {0.5}> {
      r = Sin(x)  t = Transpose(r)  y = QuantizeLinear(t, s)  z = Neg(r) })"),
              ElementsAre("Sin", "Transpose", "QuantizeLinear", "Neg"));
}

TEST(Narrowing, StaysBehindSlicesAndPlacesThatDataDecides) {
  EXPECT_THAT(ops_after(R"((float[2, 4] x) => (uint8[2, 2] y)
      <float s = {0.5}, int64[1] zero = {0}, int64[1] two = {2}, int64[1] one = {1}> {
      r = Sin(x)  t = Slice(r, zero, two, one)  y = QuantizeLinear(t, s) })"),
              ElementsAre("Sin", "Slice", "QuantizeLinear"));
  EXPECT_THAT(ops_after(R"((float[4] x, int64[9] i) => (uint8[9] y) <float s = {0.5}, int64 three = {3}> {
      r = Sin(x)  k = Mod(i, three)  t = Gather(r, k)  y = QuantizeLinear(t, s) })"),
              ElementsAre("Sin", "Mod", "Gather", "QuantizeLinear"));
}

TEST(Narrowing, StaysWhereItDependsOnThePlace) {
  EXPECT_THAT(ops_after(R"((float[2, 3] x) => (uint8[3, 2] y)
      <float[2] s = {0.5, 0.25}, uint8[2] z = {1, 2}> {
      r = Sin(x)  t = Transpose(r)  y = QuantizeLinear(t, s, z) })"),
              ElementsAre("Sin", "Transpose", "QuantizeLinear"));
}

}  // namespace
}  // namespace arenac
