// Loops over time written as rows compute what they did, and let what surrounds them run row by row.
#include "scheduler/recurrences.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/compile.h"
#include "frontend/import.h"
#include "frontend/loop_moments.h"
#include "frontend/rewrites.h"
#include "scheduler/storage.h"
#include "tests/emitted.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

// Layers of 3 units over 7 moments of 2 numbers, of which y is made.
std::string layers(const std::string& y, const std::string& nodes) {
  return R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[7, 1, 2] x, float[1, 3, 2] w, float[1, 3, 3] r, float[1, 12, 2] lw, float[1, 12, 3] lr,
         float[1, 12, 3] lv, float[1, 9, 2] gw, float[1, 9, 3] gr, float[1, 1, 3] h, float[3] s) => ()" +
         y + R"()
      <int64[1] one = {1}, int64[1] zero = {0}, int64[1] last = {6}, int64[1] end = {7}> { )" +
         nodes + " }";
}
constexpr const char* kAll = "float[7, 1, 1, 3] y";

struct Result {
  Graph graph;
  long loops, recurrences;
};

Result as_rows(const std::string& text) {
  const Graph before = rewritten(import_text(text), layerwise_peak);
  Result result{with_recurrences(before), 0, 0};
  verify(result.graph);
  for (unsigned seed = 0; seed < 4; ++seed) assert_same_bits(before, result.graph, seed, Numbers::kAny);
  for (const Node& node : result.graph.block) {
    result.loops += static_loop(node) != nullptr;
    result.recurrences += is_recurrence(node);
  }
  return result;
}

TEST(Recurrences, AreLoopsOverTime) {
  for (const char* layer : {"y = RNN<hidden_size = 3>(x, w, r)", "y = GRU<hidden_size = 3>(x, gw, gr, , , h)",
                            "y = LSTM<hidden_size = 3>(x, lw, lr, , , h)"}) {
    const Result result = as_rows(layers(kAll, layer));
    EXPECT_EQ(result.loops, 0) << layer;
    EXPECT_EQ(result.recurrences, 1) << layer;
  }
}

// What is read behind the loop of its last iteration alone.
TEST(Recurrences, LeaveTheirLastRow) {
  const Result both =
      as_rows(layers("float[1, 1, 3] y, float[1, 1, 3] c", "_, y, c = LSTM<hidden_size = 3>(x, lw, lr)"));
  EXPECT_EQ(both.recurrences, 1);
  const Result last = as_rows(
      layers("float[1, 1, 1, 3] y", "a = GRU<hidden_size = 3>(x, gw, gr)  y = Slice(a, last, end, zero)"));
  EXPECT_EQ(last.recurrences, 1);
}

// Layers that run in one loop, one behind the other, are recurrences of their own.
TEST(Recurrences, AreSeparateWhereOneFollowsTheOther) {
  const Result result = as_rows(layers(
      kAll,
      "a = LSTM<hidden_size = 3>(x, lw, lr)  b = Squeeze(a, one)  y = LSTM<hidden_size = 3>(b, lv, lr)"));
  EXPECT_EQ(result.loops, 0);
  EXPECT_EQ(result.recurrences, 2);
}

// A Scan that carries a sum, what came before, and what is made of neither.
TEST(Recurrences, MayDelay) {
  const Result result = as_rows(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[5, 3] x, float[3] a, float[3] b) => (float[3] sum, float[5, 3] y, float[5, 3] z) {
      sum, _, y, z = Scan<num_scan_inputs = 1, body = f (float[3] s, float[3] p, float[3] e)
          => (float[3] t, float[3] n, float[3] u, float[3] v) {
        d = Sub(e, p)  t = Add(s, d)  n = Relu(e)  u = Mul(t, p)  v = Neg(e)
      }>(a, b, x) })");
  EXPECT_EQ(result.loops, 0);
  EXPECT_EQ(result.recurrences, 1);
}

// States that change places, and two that begin differently but go on with the same.
TEST(Recurrences, KeepWhatEachStateBeginsWith) {
  for (const char* body : {"m = Identity(q)  n = Add(p, e)", "m = Add(p, e)  n = Identity(m)"}) {
    const Result result = as_rows(fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[5, 3] x, float[3] a, float[3] b) => (float[3] k, float[3] l, float[5, 3] y) {{
      k, l, y = Scan<num_scan_inputs = 1, body = f (float[3] p, float[3] q, float[3] e)
          => (float[3] m, float[3] n, float[3] u) {{ {}  u = Sub(p, q) }}>(a, b, x) }})",
                                              body));
    EXPECT_EQ(result.loops, 0) << body;
  }
}

TEST(Recurrences, AreNotLoopsThatRunBackwardsOrEndEarly) {
  EXPECT_EQ(as_rows(layers(kAll, "y = RNN<hidden_size = 3, direction = \"reverse\">(x, w, r)")).loops, 1);
  const auto of_states = [](const char* condition, const char* type) {
    return fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[3] x, bool more) => ({1}[3] k, float[3] l) <int64 trips = {{4}}, {1}[3] none = {{0, 0, 0}}> {{
      k, l = Loop (trips, {0}, none, x) <body = b (int64 t, bool c, {1}[3] p, float[3] q)
          => (bool c, {1}[3] m, float[3] n) {{ i = Cast<to = 1>(p)  n = Sub(i, q)  j = CastLike(n, p)  m = Sub(j, p) }}> }})",
                       condition, type);
  };
  EXPECT_EQ(as_rows(of_states("", "float")).recurrences, 1);
  EXPECT_EQ(as_rows(of_states("more", "float")).recurrences, 0);
  EXPECT_EQ(as_rows(of_states("", "int32")).recurrences, 0);
}

// 40 frames of 16 numbers: two convolutions in time, a layer of 8 units, and one more convolution. Rows of
// windows are in memory, whole results are 40 * 8 * 4 = 1,280 bytes each.
TEST(Recurrences, RunRowByRowWithWhatSurroundsThem) {
  const auto weights = [](const char* name, const char* shape, int64_t count) {
    std::string numbers = "0.5";
    for (int64_t k = 1; k < count; ++k) numbers += fmt::format(", {}", (k * 7 % 5 - 2) * 0.125);
    return fmt::format("float[{}] {} = {{{}}}", shape, name, numbers);
  };
  const std::string text = fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1, 16, 40] x) => (float[1, 2, 40] y)
      <{}, {}, {}, {}, {}, int64[1] axis = {{1}}> {{
      a = Conv<pads = [1, 1]>(x, u)  b = Relu(a)  c = Conv<pads = [2, 0]>(b, v)  d = Transpose<perm = [2, 0, 1]>(c)
      e = GRU<hidden_size = 8>(d, w, r)  f = Squeeze(e, axis)  h = Transpose<perm = [1, 2, 0]>(f)
      y = Conv<pads = [1, 1]>(h, s) }})",
      weights("u", "8, 16, 3", 384), weights("v", "8, 8, 3", 192), weights("w", "1, 24, 8", 192),
      weights("r", "1, 24, 8", 192), weights("s", "2, 8, 3", 48));
  Way way;
  way.scheduler = "fused";
  const Compilation c = compile_graph(import_text(text), "m", way);
  EXPECT_TRUE(
      std::ranges::any_of(c.schedule.steps, [](const Step& step) { return is_recurrence(*step.node); }));
  EXPECT_LE(c.plan.pools[0].size, 1000);
}

}  // namespace
}  // namespace arenac
