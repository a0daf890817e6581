// The least or greatest of all elements, by lanes.
#include "scheduler/extrema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

using testing::ElementsAre;

// The operators of the graph for a target of 16 lanes; the outputs are the same bits as before.
std::vector<std::string> ops_in_lanes(const std::string& text, const std::string& target = "portable") {
  const Graph before = import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text);
  const Graph after = with_extrema_in_lanes(before, target_named(target));
  for (unsigned seed = 0; seed < 6; ++seed) assert_same_bits(before, after, seed, Numbers::kAny);
  return ops_of(after);
}

TEST(Extrema, OfAllElementsAreOfLanesFirst) {
  EXPECT_THAT(ops_in_lanes("(float[8, 64] x) => (float y) { y = ReduceMax<keepdims = 0>(x) }"),
              ElementsAre("ReduceMax", "ReduceMax"));
  EXPECT_THAT(ops_in_lanes("(int8[2, 8, 32] x) => (int8[1, 1, 1] y) { y = ReduceMin(x) }"),
              ElementsAre("ReduceMin", "ReduceMin"));
  EXPECT_THAT(ops_in_lanes("(float[1, 1, 16, 48] x) => (float[1, 1, 1, 1] y) { y = GlobalMaxPool(x) }"),
              ElementsAre("GlobalMaxPool", "GlobalMaxPool"));
  // What is computed of the result, and of the elements.
  const std::string quantised = R"((float[16, 32] x) => (uint8[16, 32] y, float s, uint8 z) {
      y, s, z = DynamicQuantizeLinear(x) })";
  EXPECT_THAT(ops_in_lanes(quantised), testing::SizeIs(ops_in_lanes(quantised, "cortex-m4").size() + 2));
}

TEST(Extrema, OfFewOrOfRowsStay) {
  EXPECT_THAT(ops_in_lanes("(float[4, 32] x) => (float y) { y = ReduceMax<keepdims = 0>(x) }"),
              ElementsAre("ReduceMax"));
  EXPECT_THAT(ops_in_lanes("(float[8, 63] x) => (float y) { y = ReduceMax<keepdims = 0>(x) }"),
              ElementsAre("ReduceMax"));
  EXPECT_THAT(ops_in_lanes("(float[8, 64] x) => (float[8] y) { y = ReduceMax<axes = [1], keepdims = 0>(x) }"),
              ElementsAre("ReduceMax"));
  EXPECT_THAT(ops_in_lanes("(float[8, 64] x) => (float y) { y = ReduceSum<keepdims = 0>(x) }"),
              ElementsAre("ReduceSum"));
}

}  // namespace
}  // namespace arenac
