// What shares memory and when it lives, on models small enough to know the answer.
#include "scheduler/storage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/import.h"
#include "frontend/precision.h"
#include "planner/lifetime.h"
#include "scheduler/liveness.h"
#include "scheduler/schedule.h"

namespace arenac::storage_test {
namespace {

using testing::ElementsAre;

// A scheduled model; tensors are found by the name of the node that wrote them.
struct Scheduled {
  explicit Scheduled(const std::string& text)
      : graph(import_text("<ir_version: 8, opset_import: [\"\" : 17]> " + text)),
        schedule(schedule_layerwise(graph)) {}

  TensorId id(const std::string& name) const {
    for (size_t k = graph.tensors.size(); k-- > 0;)
      if (graph.tensors[k].name == name) return static_cast<TensorId>(k);
    ADD_FAILURE() << "no tensor " << name << " in\n" << dump(graph);
    return 0;
  }
  const Layout& layout(const std::string& name) const { return schedule.layouts[id(name)]; }
  TensorId root(const std::string& name) const { return layout(name).root; }
  Occupancy occupancy(const std::string& name) const {
    return occupancies(graph, schedule.steps, schedule.layouts)[root(name)];
  }
  // The operators that take a step, in order.
  std::vector<std::string> steps() const {
    std::vector<std::string> ops;
    for (const Step& step : schedule.steps)
      if (step.kind == StepKind::kRun) ops.push_back(step.node->op);
    return ops;
  }
  int64_t arena() const {
    int64_t bytes = 0;
    const Lifetimes all = lifetimes(schedule, Io::kExternal, 4);
    for (const Buffer& b : all.problem.buffers) bytes += b.size;
    return bytes;
  }

  Graph graph;
  Schedule schedule;
};

// ---- orders of dimensions

// Maps of one channel each, joined for a convolution: of no order of their own.
TEST(Orders, AreThoseThatReadersWantWhereNoOperandHasOne) {
  const Scheduled m(fmt::format(
      R"(g (float[1, 3, 6, 6] x) => (float z) <float[1, 2, 3, 3] w = {{{}}}> {{ h = Sin(x)
      a = ReduceMean<axes = [1]>(h)  b = ReduceMax<axes = [1]>(h)  j = Concat<axis = 1>(a, b)  z = Conv(j, w) }})",
      fmt::join(std::vector<int>(18, 1), ", ")));
  EXPECT_THAT(m.layout("j").strides, ElementsAre(72, 1, 12, 2));
}

// The best of all pixels of all channels: what is sought in them takes them as they are named.
TEST(Orders, AreThoseOfAKernelThatTakesThemUnderAnotherName) {
  const Scheduled m(fmt::format(
      R"(g (float[1, 4, 6, 6] x, int64[1] k) => (float v, int64 i)
      <float[4, 4, 1, 1] w = {{{}}}, int64[2] flat = {{1, -1}}> {{
      c = Conv(x, w)  h = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(c)  t = Mul(c, h)
      r = Reshape(t, flat)  v, i = TopK(r, k) }})",
      fmt::join(std::vector<int>(16, 1), ", ")));
  EXPECT_THAT(m.layout("h").strides, ElementsAre(144, 1, 24, 4));
  EXPECT_THAT(m.layout("t").strides, ElementsAre(144, 36, 6, 1));
  EXPECT_EQ(m.layout("r").root, m.layout("t").root);
}

TEST(Orders, AreThoseOfWhatIsComputedRatherThanOfInputs) {
  const Scheduled m(fmt::format(
      R"(g (float[1, 4, 6, 6] x) => (float z) <float[4, 4, 1, 1] w = {{{}}}> {{
      c = Conv(x, w)  h = Sin(c)  t = Add(x, h)  e = Cos(t)  z = Conv(e, w) }})",
      fmt::join(std::vector<int>(16, 1), ", ")));
  EXPECT_THAT(m.layout("e").strides, ElementsAre(144, 1, 24, 4));
}

// What is one element long along a dimension between two others has the order of its operand, too.
TEST(Orders, AreThoseOfAnOperandAlsoAroundADimensionThatIsReduced) {
  const Scheduled m(fmt::format(
      R"(g (float[1, 3, 5, 6] x) => (float z) <float[4, 3, 1, 1] w = {{{}}}> {{
      c = Conv(x, w)  h = Transpose<perm = [0, 1, 3, 2]>(c)  e = Sin(h)
      m = ReduceMean<axes = [2]>(e)  n = Cos(m)  z = ReduceMax<axes = [1]>(n) }})",
      fmt::join(std::vector<int>(12, 1), ", ")));
  EXPECT_THAT(m.layout("e").strides, ElementsAre(120, 1, 4, 24));
  EXPECT_THAT(m.layout("m").strides, ElementsAre(20, 1, 4, 4));
}

// ---- views

// `view` reads h, which an operator computes, and another one reads the view.
std::vector<std::string> steps_around(const std::string& shape, const std::string& view,
                                      const std::string& constants) {
  return Scheduled(
             fmt::format(
                 "g (float[{}] x) => (float y, float z) <{}> {{ h = Sin(x) v = {} y = Cos(v) z = Tan(h) }}",
                 shape, constants, view))
      .steps();
}

TEST(Views, CostNothing) {
  const auto only_work = ElementsAre("Sin", "Cos", "Tan");
  EXPECT_THAT(steps_around("2, 6", "Reshape(h, s)", "int64[2] s = {3, 4}"), only_work);
  EXPECT_THAT(steps_around("2, 1, 6", "Squeeze(h, a)", "int64[1] a = {1}"), only_work);
  EXPECT_THAT(steps_around("2, 6", "Unsqueeze(h, a)", "int64[1] a = {1}"), only_work);
  EXPECT_THAT(steps_around("2, 3, 2", "Flatten(h)", "int64 a = {0}"), only_work);
  EXPECT_THAT(steps_around("5, 2", "Slice(h, a, b)", "int64[1] a = {1}, int64[1] b = {4}"), only_work);
  EXPECT_THAT(steps_around("2, 1, 6", "Transpose<perm = [1, 0, 2]>(h)", "int64 a = {0}"), only_work);
  EXPECT_THAT(steps_around("2, 6", "Transpose(h)", "int64 a = {0}"), only_work);
  EXPECT_THAT(steps_around("2, 6", "Identity(h)", "int64 a = {0}"), only_work);
}

TEST(Views, PartsOfASplitLieInTheWhole) {
  const Scheduled m(R"(g (float[6, 2] x) => (float y, float z) <int64[2] s = {2, 4}> {
      h = Sin(x) a, b = Split(h, s) y = Cos(a) z = Tan(b) })");
  EXPECT_THAT(m.steps(), ElementsAre("Sin", "Cos", "Tan"));
  EXPECT_EQ(m.layout("a"), (Layout{m.id("h"), 0, {2, 1}}));
  EXPECT_EQ(m.layout("b"), (Layout{m.id("h"), 4, {2, 1}}));
}

TEST(Views, OfAnInputLieInTheInput) {
  const Scheduled m(
      R"(g (float[6, 2] x) => (float y) <int64[2] s = {3, 4}> { v = Reshape(x, s) y = Cos(v) })");
  EXPECT_EQ(m.root("v"), m.id("x"));
  EXPECT_EQ(m.arena(), 0);
}

TEST(Views, KeepWhatTheyShowAlive) {
  const Scheduled m(R"(g (float[4] x) => (float y, float z) <int64[2] s = {2, 2}, int64[1] k = {0}> {
      h = Sin(x) v = Reshape(h, s) y = Cos(x) z = ReduceSum(v, k) })");
  EXPECT_THAT(m.steps(), ElementsAre("Sin", "Cos", "ReduceSum"));
  EXPECT_THAT(m.occupancy("h"), ElementsAre(Interval{0, 5}));
}

// Sin's result is worth keeping only where its part costs more elsewhere.
TEST(Views, OfAPartAreCopiedWhereTheWholeCostsMore) {
  const auto steps = [](const std::string& end) {
    return Scheduled(
               fmt::format(
                   R"(g (float[100] x) => (float[1] y, float[1] z) <int64[1] a = {{0}}, int64[1] b = {{60}}, int64[1] k = {{0}}> {{
      h = Sin(x) v = Slice(h, a, b) c = Cos(v) d = Tan(v) y = ReduceSum({}, k) e = Add(c, d) z = ReduceSum(e, k) }})",
                   end))
        .steps();
  };
  EXPECT_THAT(steps("v"), ElementsAre("Sin", "Slice", "Cos", "Tan", "ReduceSum", "Add", "ReduceSum"));
  EXPECT_THAT(steps("h"), ElementsAre("Sin", "Cos", "Tan", "ReduceSum", "Add", "ReduceSum"));
}

// ---- in place

TEST(InPlace, AChainOfElementwiseOperatorsNeedsOneBuffer) {
  const Scheduled m(R"(g (float[100] x) => (float y) <int64[1] k = {0}> {
      a = Sin(x) b = Cos(a) c = Tan(b) d = Add(c, x) y = ReduceSum(d, k) })");
  EXPECT_EQ(m.root("a"), m.root("d"));
  EXPECT_EQ(m.arena(), 400);
}

TEST(InPlace, NotIntoWhatIsStillRead) {
  const Scheduled m(R"(g (float[100] x) => (float y) <int64[1] k = {0}> {
      a = Sin(x) b = Cos(a) c = Add(a, b) y = ReduceSum(c, k) })");
  EXPECT_NE(m.root("a"), m.root("b"));
  EXPECT_TRUE(m.root("c") == m.root("a") || m.root("c") == m.root("b"));
  EXPECT_EQ(m.arena(), 800);
}

TEST(InPlace, NotWhenAnElementIsReadElsewhereToo) {
  const Scheduled m(R"(g (float[8] x) => (float y)
      <int64[1] a = {-1}, int64[1] b = {-100}, int64[1] z = {0}, int64[1] k = {0}> {
      h = Sin(x) r = Slice(h, a, b, z, a) c = Add(h, r) y = ReduceSum(c, k) })");
  EXPECT_EQ(m.root("r"), m.root("h")) << "a reversal is a view";
  EXPECT_NE(m.root("c"), m.root("h"));
}

TEST(InPlace, NotWhenAnElementServesSeveral) {
  const Scheduled m(R"(g (float[1, 8] x, float[8, 8] w) => (float y) <int64[2] k = {0, 1}> {
      h = Sin(x) c = Add(h, w) y = ReduceSum(c, k) })");
  EXPECT_NE(m.root("c"), m.root("h"));
}

TEST(InPlace, NeverInputsOrOutputs) {
  const Scheduled m("g (float[8] x) => (float a, float b) { a = Sin(x) b = Cos(a) }");
  EXPECT_EQ(m.root("a"), m.id("a"));
  EXPECT_EQ(m.root("b"), m.id("b"));
}

// ---- concat

TEST(Concat, PartsAreWrittenWhereTheyBelong) {
  const Scheduled m(R"(g (float[2, 3] x) => (float y) {
      a = Sin(x) b = Cos(x) y = Concat<axis = 1>(a, b) })");
  EXPECT_EQ(m.layout("a"), (Layout{m.id("y"), 0, {6, 1}}));
  EXPECT_EQ(m.layout("b"), (Layout{m.id("y"), 3, {6, 1}}));
  EXPECT_EQ(m.arena(), 0);
}

TEST(Concat, NestedPartsToo) {
  const Scheduled m(R"(g (float[2, 3] x) => (float y) {
      a = Sin(x) b = Cos(x) c = Concat<axis = 0>(a, b) d = Tan(x) y = Concat<axis = 0>(d, c) })");
  EXPECT_EQ(m.layout("b"), (Layout{m.id("y"), 12, {3, 1}}));
  EXPECT_EQ(m.arena(), 0);
}

// Heads of a detector: maps of several kinds, joined for each scale, then all positions.
TEST(Concat, NestedPartsOfAnotherShapeToo) {
  const Scheduled s(
      "g (float[1, 2, 4, 4] x, float[1, 3, 4, 4] x2, float[1, 2, 2, 2] z, float[1, 3, 2, 2] z2)\n"
      "  => (float[1, 5, 20] y) <int64[3] flat = {1, 5, -1}> {\n"
      "  a = Sin(x) b = Cos(x2) c = Sin(z) d = Cos(z2)\n"
      "  ab = Concat<axis = 1>(a, b) cd = Concat<axis = 1>(c, d)\n"
      "  f = Reshape(ab, flat) g = Reshape(cd, flat) y = Concat<axis = 2>(f, g)\n}");
  for (const char* part : {"a", "b", "c", "d", "ab", "cd"}) EXPECT_EQ(s.root(part), s.id("y")) << part;
  EXPECT_EQ(s.layout("b").offset, 2 * 20);
  EXPECT_THAT(s.layout("b").strides, ElementsAre(testing::_, 20, 4, 1));
  EXPECT_EQ(s.layout("d").offset, 16 + 2 * 20);
  EXPECT_THAT(s.layout("d").strides, ElementsAre(testing::_, 20, 2, 1));
  EXPECT_EQ(s.arena(), 0);
}

TEST(Concat, OfOneTensorTwiceWritesItOnce) {
  const Scheduled m("g (float[3] x) => (float y) { a = Sin(x) y = Concat<axis = 0>(a, a) }");
  EXPECT_EQ(m.root("a"), m.id("y"));
  EXPECT_EQ(m.arena(), 0);
}

// ---- liveness

TEST(Liveness, WhatALoopReadsFromOutsideLivesThroughIt) {
  const Scheduled m(R"(g (float[4] x) => (float y) <int64 n = {3}, bool yes = {1}> {
      h = Sin(x)
      s = Loop (n, yes, x) <body = b (int64 t, bool c, float[4] u) => (bool d, float[4] w)
        { d = Identity(c)  p = Add(u, h)  q = Cos(p)  w = Tan(q) }>
      y = Sin(s) })");
  int begin = -1, end = -1;
  for (size_t s = 0; s < m.schedule.steps.size(); ++s) {
    if (m.schedule.steps[s].kind == StepKind::kLoop) begin = static_cast<int>(s);
    if (m.schedule.steps[s].kind == StepKind::kEndLoop) end = static_cast<int>(s);
  }
  ASSERT_GT(begin, 0);
  const Occupancy h = m.occupancy("h");
  ASSERT_EQ(h.size(), 1u);
  EXPECT_LE(h[0].begin, 2 * begin);
  EXPECT_GE(h[0].end, 2 * end) << dump(m.schedule);
}

// Storage that an outer loop fills slice by slice holds earlier slices while the next runs, an inner loop
// included.
TEST(Liveness, SlicesLiveThroughInnerLoops) {
  const Scheduled m(R"(g (float[4] x) => (float last, float all) <int64 n = {3}, bool yes = {1}> {
      last, all = Loop (n, yes, x) <body = b (int64 t, bool c, float[4] u) => (bool d, float[4] w, float[4] v) {
        d = Identity(c)
        h = Cos(u)
        w = Loop (n, yes, h) <body = i (int64 t2, bool c2, float[4] p) => (bool d2, float[4] q)
          { d2 = Identity(c2)  q = Sin(p) }>
        v = Cos(w) }>
    })");
  int loop = 0;
  while (m.schedule.steps[loop].kind != StepKind::kLoop) ++loop;
  const Occupancy all = occupancies(m.graph, m.schedule.steps, m.schedule.layouts)[m.graph.outputs[1]];
  ASSERT_EQ(all.size(), 1u);
  EXPECT_LE(all[0].begin, 2 * (loop + 1)) << "earlier slices are kept from the body's first step\n"
                                          << dump(m.schedule);
  EXPECT_GT(all[0].begin, 2 * loop) << "nothing is kept before the loop";
}

TEST(Liveness, BranchesShareMemory) {
  const Scheduled m(R"(g (bool c, float[100] x, float[100] w) => (float y) <int64[1] k = {0}> {
      s = If (c) <then_branch = t () => (float[1] p) { a = Sin(x) b = Cos(a) e = Add(a, b) p = ReduceSum(e, k) },
                  else_branch = f () => (float[1] q) { g = Tan(w) h = Exp(g) i = Mul(g, h) q = ReduceSum(i, k) }>
      y = Sin(s) })");
  for (const char* mine : {"a", "b"})
    for (const char* other : {"g", "h"})
      EXPECT_FALSE(collide(m.occupancy(mine), m.occupancy(other), -1)) << mine << " and " << other;
  EXPECT_TRUE(collide(m.occupancy("a"), m.occupancy("b"), -1));
}

// ---- precision

// At the peak are a and b. After it c, its view and d are float32, until an output rounds.
TEST(Precision, IsRaisedWhereTheArenaDoesNotGrow) {
  const Graph narrow = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float16[20, 10, 5] x) => (float16[4] y) <int64[1] last = {-1}, int64[2] s = {4, 5}> {
        a = Sin(x)  b = ReduceSum<keepdims = 0>(a, last)  c = ReduceSum<keepdims = 0>(b, last)
        v = Reshape(c, s)  d = Cos(v)  y = ReduceSum<keepdims = 0>(d, last) })");
  const Graph graph = with_free_precision(narrow, layerwise_peak);
  verify(graph);
  EXPECT_EQ(assign_storage(graph).peak, assign_storage(narrow).peak);
  std::map<std::string, Type> types;
  for (const Tensor& t : graph.tensors) types[t.name] = t.type;
  for (const char* name : {"a", "b", "x", "y"}) EXPECT_EQ(types[name], Type::kFloat16) << name;
  for (const char* name : {"c", "v", "d"}) EXPECT_EQ(types[name], Type::kFloat32) << name;
}

TEST(Precision, ACastRounds) {
  const Graph graph = with_free_precision(import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[4] x) => (float[4] y) { a = Sin(x)  b = Cast<to = 10>(a)  y = Cast<to = 1>(b) })"),
                                          layerwise_peak);
  EXPECT_THAT(dump(graph), testing::HasSubstr("float16[4]"));
}

TEST(Collide, LeavesOutOneHalfStep) {
  EXPECT_TRUE(collide({{0, 3}}, {{2, 5}}, -1));
  EXPECT_FALSE(collide({{0, 3}}, {{2, 5}}, 2));
  EXPECT_TRUE(collide({{0, 4}}, {{2, 5}}, 2));
  EXPECT_FALSE(collide({{0, 2}, {6, 8}}, {{2, 6}}, -1));
  EXPECT_TRUE(collide({{0, 2}, {6, 8}}, {{2, 7}}, -1));
}

// C does not let a float* and an int32_t* meet, whatever the bytes; characters meet all.
TEST(Storage, IsSharedByTypesThatMayMeetOnly) {
  const auto shares = [](const char* from, int to, const char* type) {
    const Scheduled s(fmt::format(
        "g ({0}[9] x, int64 axis) => ({1}[9] z) {{ h = CumSum(x, axis) v = Cast<to = {2}>(h) z = Neg(v) }}",
        from, type, to));
    return s.root("h") == s.root("v");
  };
  EXPECT_FALSE(shares("float", 6, "int32"));
  EXPECT_FALSE(shares("int32", 1, "float"));
}

}  // namespace
}  // namespace arenac::storage_test
