// How nests are flattened, ordered and blocked, and how constants are packed.
#include "scheduler/loops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "scheduler/weight_blocks.h"

namespace arenac {
namespace {

using testing::ElementsAre;

struct Scheduled {
  explicit Scheduled(const std::string& text)
      : graph(import_text("<ir_version: 8, opset_import: [\"\" : 17]> " + text)),
        schedule(schedule_layerwise(graph)) {}

  const Node& node(size_t step) const { return *schedule.steps.at(step).node; }
  FlatNest flat(size_t step, size_t nest = 0) const {
    return flat_nest(std::get<Nests>(node(step).body)[nest], node(step), schedule.layouts);
  }
  const LoopPlan& plan(size_t step) const { return schedule.loops.at(step).at(0); }

  Graph graph;
  Schedule schedule;
};

std::vector<int64_t> extents(const FlatNest& nest) {
  std::vector<int64_t> all;
  for (const Axis& a : nest.axes)
    if (a.extent != 1) all.push_back(a.extent);
  return all;
}

// 64 channels from 4 by a target of 16 lanes, whose cache holds so many bytes: blocks of channels (4), rows
// (6).
TEST(WeightBlocks, AreReadOncePerImageWhereTheCacheDoesNotHoldThem) {
  const auto outer_extents = [](int64_t cache) {
    const Graph given = import_text(fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1, 4, 8, 8] i) => (float[1, 64, 6, 6] z)\n"
        "<float[64, 4, 3, 3] w = {{{}}}> {{ x = Sin(i)  y = Conv(x, w)  z = Cos(y) }}",
        fmt::join(std::vector<int>(64 * 36, 1), ", ")));
    Target target = target_named("portable");
    target.costs.cache = cache;
    const Graph graph = with_weight_blocks(given, target);
    const Schedule schedule = schedule_layerwise(graph, target);
    const LoopPlan& plan = schedule.loops.at(1).at(0);
    const FlatNest flat = flat_nest(std::get<Nests>(schedule.steps[1].node->body)[0], *schedule.steps[1].node,
                                    schedule.layouts);
    std::vector<int64_t> extents;
    for (int a : plan.order)
      if (flat.axes[a].extent > 1 && !flat.axes[a].reduced && a != plan.tile_axis && a != plan.vector_axis)
        extents.push_back(flat.axes[a].extent);
    return extents;
  };
  EXPECT_THAT(outer_extents(64 * 36 * 4), ElementsAre(6));
  EXPECT_THAT(outer_extents(64 * 36 * 4 - 1), ElementsAre(4, 6));
}

// However many blocks there are, their lanes are what lies side by side.
TEST(WeightBlocks, AreOfTheLanesOfVectors) {
  Target target = target_named("portable");
  target.costs.cache = 1;
  const Graph graph = with_weight_blocks(
      import_text(fmt::format(
          "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1, 2, 3, 3] i) => (float[1, 1024, 3, 3] z)\n"
          "<float[1024, 2, 1, 1] w = {{{}}}> {{ x = Sin(i)  y = Conv(x, w)  z = Cos(y) }}",
          fmt::join(std::vector<int>(2048, 1), ", "))),
      target);
  const Schedule schedule = schedule_layerwise(graph, target);
  const Node& node = *schedule.steps[1].node;
  const FlatNest flat = flat_nest(std::get<Nests>(node.body)[0], node, schedule.layouts);
  const int vector_axis = schedule.loops[1][0].vector_axis;
  EXPECT_EQ(flat.axes[vector_axis].extent, target.lanes);
}

TEST(FlatNest, JoinsAxesWithoutASeam) {
  EXPECT_THAT(extents(Scheduled("g (float[2, 3, 4] x) => (float y) { y = Sin(x) }").flat(0)),
              ElementsAre(24));
  // A row of w is repeated: the seam between the first two axes stays.
  EXPECT_THAT(
      extents(Scheduled("g (float[2, 3, 4] x, float[3, 4] w) => (float y) { y = Add(x, w) }").flat(0)),
      ElementsAre(2, 12));
}

TEST(FlatNest, JoinsReducedAxesOnlyWithEachOther) {
  const FlatNest nest =
      Scheduled("g (float[2, 3, 4, 5] x) => (float y) { y = ReduceMax<axes = [2, 3], keepdims = 0>(x) }")
          .flat(0);
  EXPECT_THAT(extents(nest), ElementsAre(6, 20));
  EXPECT_TRUE(nest.axes.back().reduced);
}

// Channels in groups, shuffled: loops over quotients and remainders, and no divisions.
TEST(FlatNest, TakesAxesApartThatAreDivided) {
  const Scheduled m(
      R"(g (float[1, 6, 5] x) => (float[1, 6, 5] z) <int64[4] apart = {1, 2, 3, 5}, int64[3] back = {1, 6, 5}> {
      a = Reshape(x, apart) b = Transpose<perm = [0, 2, 1, 3]>(a) y = Reshape(b, back) z = Sin(y) })");
  int found = 0;
  for (size_t s = 0; s < m.schedule.steps.size(); ++s) {
    const FlatNest nest = m.flat(s);
    for (size_t a = 0; a < nest.divided.size(); ++a) {
      if (nest.divided[a] < 0) continue;
      ++found;
      EXPECT_EQ(nest.axes[a].extent * nest.axes[static_cast<size_t>(nest.divided[a])].extent, 6);
    }
    EXPECT_FALSE(any_of(nest.body, [](const Expr& e) { return e->op == Op::kDiv || e->op == Op::kMod; }));
  }
  EXPECT_EQ(found, 1);
}

TEST(FlatNest, AddressesFollowTheLayout) {
  // h is transposed: its view has the strides of the whole swapped.
  const Scheduled m("g (float[2, 3] x, float[3, 2] w) => (float y) { h = Transpose(x) y = Add(h, w) }");
  const FlatNest nest = m.flat(0);
  const auto form = [&](int operand) {
    Affine found;
    any_of(nest.body, [&](const Expr& e) {
      if (e->op == Op::kRead && e->index == operand) found = *affine_form(e->args[0]);
      return false;
    });
    return found;
  };
  EXPECT_EQ(form(0), (Affine{0, {{0, 1}, {1, 3}}}));
  EXPECT_EQ(form(1), (Affine{0, {{0, 2}, {1, 1}}}));
  EXPECT_EQ(*affine_form(nest.store), (Affine{0, {{0, 2}, {1, 1}}}));
}

TEST(PlanLoops, BlocksAConvolutionByItsChannels) {
  const Scheduled m(R"(g (float[1, 4, 9, 9] x, float[32, 4, 3, 3] w0) => (float y) <float[1] one = {1}> {
      y = Conv<pads = [1, 1, 1, 1]>(x, w0) })");
  const LoopPlan& plan = m.plan(0);
  const FlatNest nest = m.flat(0);
  ASSERT_GE(plan.order.size(), 4u);
  bool reduced = false;
  for (int a : plan.order) {
    EXPECT_GE(nest.axes[a].reduced, reduced) << "reduced axes are innermost";
    reduced = nest.axes[a].reduced;
  }
}

TEST(PlanLoops, WalksAResultInTheOrderOfItsMemory) {
  const Scheduled m("g (float[3, 5] x, float[5, 3] w) => (float y) { h = Transpose(x) y = Add(h, w) }");
  EXPECT_THAT(m.plan(0).order, ElementsAre(0, 1));
}

TEST(PackConstants, GivesWeightsTheOrderOfTheLoops) {
  // 16 lanes of output channels are neighbours: the first dimension of w becomes its innermost.
  std::string weights;
  for (int k = 0; k < 16 * 3; ++k) weights += (k ? ", " : "") + std::to_string(k);
  const Scheduled m("g (float[1, 3, 4, 4] x) => (float y) <float[16, 3, 1, 1] w = {" + weights +
                    "}, int64[2] k = {1, 2}> { c = Conv(x, w) y = ReduceSum(c, k) }");
  const Node& conv = m.node(0);
  for (TensorId id : conv.reads) {
    const Tensor& t = m.graph.tensors[id];
    if (!t.constant || t.shape.size() != 4) continue;
    EXPECT_EQ(m.schedule.layouts[id].strides[0], 1) << dump(m.schedule);
    EXPECT_EQ(m.schedule.layouts[id].strides[1], 16);
    return;
  }
  FAIL() << "no weights among the operands";
}

TEST(PackConstants, KeepsEveryElement) {
  const Scheduled m(
      R"(g (float[2, 3] x) => (float y) <float[3, 4] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}> {
      y = MatMul(x, w) })");
  for (size_t id = 0; id < m.graph.tensors.size(); ++id)
    EXPECT_EQ(span_of(m.schedule.layouts[id], m.graph.tensors[id].shape),
              element_count(m.graph.tensors[id].shape));
}

// Nodes that are copies of inputs.
int64_t input_copies(const std::string& model, const std::string& target, Freedom freedom) {
  const Graph graph = import_text("<ir_version: 8, opset_import: [\"\" : 17]> " + model);
  const std::vector<Schedule> all =
      schedules_to_choose_from(graph, freedom, target_named(target), kNoDeadline);
  return std::ranges::count_if(all.at(0).steps, [](const Step& step) { return step.node->is_copy; });
}

// The same of a convolution of so many channels.
int64_t input_copies(int64_t channels, const std::string& target, Freedom freedom) {
  std::string zeros = "0";
  for (int64_t k = 1; k < 4 * channels; ++k) zeros += ", 0";
  return input_copies(fmt::format("g (uint8[1, {0}, 6, 5] x) => (int32[1, 4, 6, 5] y) "
                                  "<int8[4, {0}, 1, 1] w = {{{1}}}> {{ y = ConvInteger(x, w) }}",
                                  channels, zeros),
                      target, freedom);
}

TEST(InputCopies, AreMadeOfManyChannelsWhereThatPays) {
  EXPECT_EQ(input_copies(16, "cortex-m4", Freedom::kWholeLayers), 1);
  EXPECT_EQ(input_copies(3, "cortex-m4", Freedom::kWholeLayers), 0);
  EXPECT_EQ(input_copies(16, "cortex-m4", Freedom::kSecondPasses), 0);
  EXPECT_EQ(input_copies(16, "cortex-m3", Freedom::kWholeLayers), 0);
  EXPECT_EQ(input_copies(16, "portable", Freedom::kWholeLayers), 0);
  EXPECT_EQ(input_copies("g (uint8[1, 16, 8] x, int8[8, 4] w) => (int32[1, 16, 4] y) "
                         "{ y = MatMulInteger(x, w) }",
                         "cortex-m4", Freedom::kWholeLayers),
            0);
}

}  // namespace
}  // namespace arenac
