// Schedules in which something is read that is not there, or no longer: refused, and their originals are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "frontend/error.h"
#include "frontend/import.h"
#include "scheduler/verify_rings.h"

namespace arenac {
namespace {

std::string zeros(const std::string& name, int64_t m, int64_t c, int64_t k) {
  std::string values = "0";
  for (int64_t n = m * c * k * k; n > 1; --n) values += ", 0";
  return fmt::format("float[{}, {}, {}, {}] {} = {{{}}}", m, c, k, k, name, values);
}

constexpr auto kConv = "Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>";

// a, of 2 channels, 17 rows and `width` columns, from x; `body` makes y from it, of `channels`; z from y.
Graph image(int64_t width, int64_t channels, const std::string& body) {
  return import_text(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1, 2, 17, {0}] x) => (float[1, 2, 17, {0}] z)\n"
      "  <{1}, {2}, {3}, {4}, {5}>\n{{\n  a = Conv<kernel_shape = [1, 1]>(x, first)\n  {6}\n"
      "  z = Conv<kernel_shape = [1, 1]>(y, last)\n}}\n",
      width, zeros("first", 2, 2, 1), zeros("last", 2, channels, 1), zeros("w", 2, 2, 3),
      zeros("wide", 8, 2, 3), zeros("narrow", 2, 16, 3), body));
}

struct Subject {
  Graph graph;
  Schedule schedule;

  Subject(const std::string& scheduler, Graph made)
      : graph(std::move(made)),
        schedule(scheduler_named(scheduler).schedule(graph, targets().front(), kNoDeadline)) {
    verify_rings(schedule);
  }
  Subject(const Subject&) = delete;

  Layout& layout(const std::string& name) {
    for (size_t id = 0; id < graph.tensors.size(); ++id)
      if (graph.tensors[id].name == name) return schedule.layouts[id];
    throw InternalError("no tensor " + name);
  }
  bool passes() const {
    try {
      verify_rings(schedule);
      return true;
    } catch (const InternalError&) {
      return false;
    }
  }
};

// f(the ring of each storage that has one, and of what lies in it).
int refused_after(Subject& subject, const std::function<bool(Ring&)>& change) {
  int refused = 0;
  auto& layouts = subject.schedule.layouts;
  const auto originals = layouts;
  for (size_t id = 0; id < layouts.size(); ++id) {
    Ring ring = layouts[id].ring;
    if (layouts[id].root != static_cast<TensorId>(id) || !change(ring)) continue;
    for (Layout& layout : layouts)
      if (layout.root == static_cast<TensorId>(id)) layout.ring = ring;
    EXPECT_FALSE(subject.passes()) << subject.graph.tensors[id].name << "\n" << dump(subject.schedule);
    ++refused;
    layouts = originals;
  }
  return refused;
}

TEST(Rings, OfOneRowLessAreRefused) {
  Subject subject("rows", image(5, 2, fmt::format("b = {0}(a, w)\n  y = {0}(b, w)", kConv)));
  EXPECT_EQ(refused_after(subject, [](Ring& ring) { return ring.kept > 1 && ring.kept-- > 0; }), 2);
}

TEST(Rings, OfOneColumnLessAreRefused) {
  for (const std::string scheduler : {"columns", "windows"}) {
    Subject subject(scheduler, image(24, 2, fmt::format("b = {0}(a, w)\n  y = {0}(b, w)", kConv)));
    EXPECT_GE(refused_after(subject,
                            [](Ring& ring) {
                              if (ring.kept < 2) return false;
                              --(ring.columns > 0 ? ring.columns : ring.kept);
                              return true;
                            }),
              1)
        << scheduler << dump(subject.schedule);
  }
}

// Every pull of a stage one slab less.
TEST(Rings, OfAStageThatRunsASlabEarlyAreRefused) {
  for (const std::string scheduler : {"rows", "windows"}) {
    Subject subject(scheduler, image(24, 2, fmt::format("b = {0}(a, w)\n  y = {0}(b, w)", kConv)));
    int pulls = 0;
    for (Group& group : subject.schedule.groups)
      for (Stage& stage : group.stages)
        for (Pull& pull : stage.pulls) {
          const Pull original = pull;
          for (size_t t = 0; t + 1 < pull.upto.size(); ++t) --pull.upto[t];
          EXPECT_FALSE(subject.passes()) << scheduler << dump(subject.schedule);
          pull = original;
          ++pulls;
        }
    EXPECT_GE(pulls, 1) << scheduler;
  }
}

TEST(Rings, OfAChunkThatRunsLateAreRefused) {
  Subject subject("windows", image(24, 2, fmt::format("b = {0}(a, w)\n  y = {0}(b, w)", kConv)));
  int guests = 0;
  for (Group& group : subject.schedule.groups)
    for (Stage& stage : group.stages) {
      if (!stage.seen_through_window()) continue;
      const Stage original = stage;
      for (Interval& chunks : stage.chunks_at) chunks.begin = std::min(chunks.begin + 1, chunks.end);
      EXPECT_FALSE(subject.passes()) << dump(subject.schedule);
      stage = original;
      ++guests;
    }
  EXPECT_GE(guests, 1);
}

// The same rows at the same numbers, but of another tensor: b in the place of a, which the sum reads later.
TEST(Storages, TellTensorsApart) {
  for (const std::string scheduler : {"rows", "layerwise"}) {
    Subject subject(scheduler,
                    image(5, 2, fmt::format("b = Neg(a)\n  c = {}(b, w)\n  y = Add(a, c)", kConv)));
    ASSERT_NE(subject.layout("a").root, subject.layout("b").root);
    subject.layout("b") = subject.layout("a");
    EXPECT_FALSE(subject.passes()) << scheduler;
  }
}

// b and c are parts of d, channel by channel: either in the other's place, or both in each other's, or one
// channel aside.
TEST(Storages, TellPartsOfOneRowApart) {
  for (const std::string scheduler : {"rows", "layerwise"}) {
    Subject subject(scheduler, image(5, 2,
                                     fmt::format("b = {0}(a, wide)\n  c = {0}(a, wide)\n"
                                                 "  d = Concat<axis = 1>(b, c)\n  y = {0}(d, narrow)",
                                                 kConv)));
    Layout &b = subject.layout("b"), &c = subject.layout("c");
    ASSERT_EQ(b.root, c.root);
    ASSERT_NE(b.offset, c.offset);
    const Layout first = b, second = c;
    b = second;
    EXPECT_FALSE(subject.passes()) << scheduler << ": b where c is";
    b = first, c = first;
    EXPECT_FALSE(subject.passes()) << scheduler << ": c where b is";
    b = second;
    EXPECT_FALSE(subject.passes()) << scheduler << ": swapped";
    b = first, c = second;
    b.offset += 1;
    EXPECT_FALSE(subject.passes()) << scheduler << ": b a channel aside";
    b = first;
    EXPECT_TRUE(subject.passes()) << scheduler;
  }
}

// A step before the one whose result it reads, outside of groups.
TEST(Steps, InAnotherOrderAreRefused) {
  Subject subject("layerwise", image(5, 2, fmt::format("b = {0}(a, w)\n  y = {0}(b, w)", kConv)));
  std::vector<Step>& steps = subject.schedule.steps;
  ASSERT_GE(steps.size(), 4u);
  for (size_t s = 0; s + 1 < steps.size(); ++s) {
    std::swap(steps[s], steps[s + 1]);
    EXPECT_FALSE(subject.passes()) << s;
    std::swap(steps[s], steps[s + 1]);
  }
}

// Log-softmax over an axis that is none of columns, chunk by chunk and in place: each chunk writes a part of
// the row, and the next ones read the rest of it.
TEST(Rings, OfChunksOverAnInnerAxisAreAccepted) {
  for (const SchedulerRow& row : schedulers())
    for (const int axis : {0, 1, 2})
      Subject(row.name,
              import_text(fmt::format(
                  "<ir_version: 8, opset_import: [\"\" : 18]>\ng (float[3, 4, 5] x) => (float[3, 4, 5] y)\n"
                  "  <int64[1] axes = {{{}}}>\n{{\n  m = ReduceMax(x, axes)\n  d = Sub(x, m)\n"
                  "  e = Exp(d)\n  s = ReduceSum(e, axes)\n  l = Log(s)\n  y = Sub(d, l)\n}}\n",
                  axis)));
}

// What a loop or a branch reads by a view was written before it, or within.
// b is made after a and in its place; a is read in a branch or behind it, where only y is written.
TEST(Storages, TellTensorsApartInBranchesAndBehindThem) {
  for (const std::string read : {"Add(a, b)", "Neg(b)"}) {
    Subject subject("layerwise", import_text(fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
        g (bool c, float[4, 2] x) => (float[4, 2] z) {{
          a = Exp(x)
          b = Sin(x)
          y = If (c) <then_branch = t () => (float[4, 2] p) {{ p = {} }},
                      else_branch = e () => (float[4, 2] q) {{ q = Tanh(b) }}>
          d = Mul(a, y)
          z = Sub(d, b)
        }})",
                                                         read)));
    ASSERT_NE(subject.layout("a").root, subject.layout("b").root);
    EXPECT_TRUE(subject.passes());
    subject.layout("b") = subject.layout("a");
    EXPECT_FALSE(subject.passes()) << read << dump(subject.schedule);
  }
}

TEST(Storages, OfViewsInLoopsAndBranchesAreAccepted) {
  for (const SchedulerRow& row : schedulers())
    Subject(row.name, import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2, 6] x, bool c) => (float[2, 6] y, float[3, 4] z)
      <int64 m = {4}, bool yes = {1}, int64[2] turned = {3, 4}, int64[2] back = {2, 6}> {
        n = Neg(x)
        z = If (c) <then_branch = p () => (float[3, 4] u) { v = Reshape(n, turned) u = Exp(v) },
                    else_branch = q () => (float[3, 4] w) { a = Abs(n) w = Reshape(a, turned) }>
        y = Loop (m, yes, n) <body = d (int64 t, bool o, float[2, 6] s) => (bool o, float[2, 6] r) {
          i = Reshape(s, turned) j = Reshape(n, turned) k = Add(i, j) r = Reshape(k, back) }> })"));
}

}  // namespace
}  // namespace arenac
