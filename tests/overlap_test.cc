// How far an output may lie over its dying input: against a trace of every access, for known formulas, and
// what it is worth to known networks.
#include "scheduler/overlap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "frontend/import.h"
#include "planner/lifetime.h"
#include "planner/planners.h"
#include "scheduler/loops.h"
#include "tests/random_nest.h"

namespace arenac {
namespace {

// Walks a nest as emitted C does and notes every byte; the distances that follow by definition.
class Trace {
 public:
  Trace(const Node& node, const Graph& graph, const std::vector<Layout>& layouts,
        const std::vector<LoopPlan>& loops, TensorId input)
      : node_(node), graph_(graph), layouts_(layouts), input_(input) {
    const Nests& nests = std::get<Nests>(node.body);
    for (size_t k = 0; k < nests.size(); ++k)
      if (!is_empty(nests[k]) && !is_elided(nests[k], node, graph, layouts)) walk(nests[k], loops[k]);
  }

  SafeDistances distances = {-kNever, -kNever};
  static constexpr int64_t kNever = int64_t{1} << 40;

 private:
  void walk(const Nest& nest, const LoopPlan& plan) {
    const FlatNest flat = flat_nest(nest, node_, layouts_);
    std::vector<int> kept, reduced;
    for (int a : plan.order) (flat.axes[a].reduced ? reduced : kept).push_back(a);
    point_.assign(flat.axes.size(), 0);
    std::vector<std::vector<int64_t>> block;
    each_block(flat, plan, kept, 0, block, [&] {
      for (const auto& at : block) {
        point_ = at;
        each_point(flat, reduced, 0, [&] {
          if (inside(flat)) read_all(flat.body);
        });
      }
      for (const auto& at : block) {
        point_ = at;
        if (reduced.empty() && !inside(flat)) continue;
        if (!flat.finish.empty()) read_all(flat.finish);
        touch(node_.writes[0], flat.store, [&](int64_t begin, int64_t end) {
          highest_ = std::max(highest_, end), lowest_ = std::min(lowest_, begin);
        });
      }
      block.clear();
    });
  }

  template <typename Body>
  void each_block(const FlatNest& nest, const LoopPlan& plan, const std::vector<int>& kept, size_t k,
                  std::vector<std::vector<int64_t>>& block, const Body& body) {
    if (k == kept.size()) {
      block_points(kept, 0, block);
      return body();
    }
    const int a = kept[k];
    int64_t width = a == plan.vector_axis ? plan.lanes : 1;
    if (a == plan.tile_axis) width *= plan.tile;
    std::vector<Interval> ranges;
    // Pixels at the border come alone.
    const int64_t extent = nest.axes[a].extent;
    const bool alone = a == plan.tile_axis && a != plan.vector_axis;
    for (int64_t i = 0; i < extent; i = ranges.back().end)
      ranges.push_back({i, alone && i == 0 ? 1 : std::min(i + width, extent)});
    if (plan.sweep == Sweep::kDown) std::reverse(ranges.begin(), ranges.end());
    for (const Interval& range : ranges) {
      ranges_.push_back(range);
      each_block(nest, plan, kept, k + 1, block, body);
      ranges_.pop_back();
    }
  }
  void block_points(const std::vector<int>& kept, size_t k, std::vector<std::vector<int64_t>>& block) {
    if (k == kept.size()) return block.push_back(point_);
    for (int64_t i = ranges_[k].begin; i < ranges_[k].end; ++i)
      point_[kept[k]] = i, block_points(kept, k + 1, block);
  }
  template <typename Body>
  void each_point(const FlatNest& nest, const std::vector<int>& axes, size_t k, const Body& body) {
    if (k == axes.size()) return body();
    for (int64_t i = 0; i < nest.axes[axes[k]].extent; ++i)
      point_[axes[k]] = i, each_point(nest, axes, k + 1, body);
  }

  int64_t evaluate(const Expr& e) const {
    if (e->op == Op::kConst) return e->value.i;
    if (e->op == Op::kAxis) return point_.at(e->index);
    const int64_t a = evaluate(e->args[0]), b = e->args.size() > 1 ? evaluate(e->args[1]) : 0;
    return apply(e->op, Type::kInt64, {.i = a}, {.i = b}).i;
  }
  bool inside(const FlatNest& nest) const {
    return std::all_of(nest.where.begin(), nest.where.end(), [&](const Bound& b) {
      return b.begin <= evaluate(b.index) && evaluate(b.index) < b.end;
    });
  }
  void touch(TensorId id, const Expr& index, const std::function<void(int64_t, int64_t)>& bytes) const {
    const int64_t size = size_of(graph_.tensors[id].type);
    const int64_t begin = (layouts_[id].offset + evaluate(index)) * size;
    bytes(begin, begin + size);
  }
  void read_all(const Expr& root) {
    any_of(root, [&](const Expr& e) {
      if (e->op != Op::kRead || layouts_[node_.reads[e->index]].root != input_) return false;
      touch(node_.reads[e->index], e->args[0], [&](int64_t begin, int64_t end) {
        distances.input_above = std::max(distances.input_above, highest_ - begin);
        distances.output_above = std::max(distances.output_above, end - lowest_);
      });
      return false;
    });
  }

  const Node& node_;
  const Graph& graph_;
  const std::vector<Layout>& layouts_;
  const TensorId input_;
  std::vector<int64_t> point_;
  std::vector<Interval> ranges_;
  int64_t highest_ = -kNever, lowest_ = kNever;  // bytes written so far
};

std::vector<LoopPlan> swept(std::vector<LoopPlan> loops, Sweep sweep) {
  for (LoopPlan& plan : loops) plan.sweep = sweep;
  return loops;
}

// Blocks of lanes inside the tiles.
std::vector<LoopPlan> exchanged(std::vector<LoopPlan> loops) {
  for (LoopPlan& plan : loops) {
    const auto v = std::find(plan.order.begin(), plan.order.end(), plan.vector_axis);
    const auto t = std::find(plan.order.begin(), plan.order.end(), plan.tile_axis);
    if (v != plan.order.end() && t != plan.order.end()) std::iter_swap(v, t);
  }
  return loops;
}

TEST(SafeDistances, AreNeverLessThanATraceSays) {
  int traced = 0, exact = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    const Graph graph = random_nest(seed);
    const Schedule schedule = schedule_layerwise(graph, targets()[seed % 2]);  // of vectors and of scalars
    const Node& node = *schedule.steps.at(0).node;
    for (const auto& order : {schedule.loops[0], exchanged(schedule.loops[0])})
      for (const Sweep sweep : {Sweep::kUp, Sweep::kDown})
        for (const TensorId input : graph.inputs) {
          const auto loops = swept(order, sweep);
          const SafeDistances safe = safe_distances(node, graph, schedule.layouts, loops, input);
          const SafeDistances seen = Trace(node, graph, schedule.layouts, loops, input).distances;
          if (seen.input_above == -Trace::kNever) continue;  // nothing is read after a write
          ASSERT_GE(safe.input_above, seen.input_above) << "seed " << seed << "\n" << dump(schedule);
          ASSERT_GE(safe.output_above, seen.output_above) << "seed " << seed << "\n" << dump(schedule);
          ++traced;
          exact += safe.input_above == seen.input_above;
        }
  }
  EXPECT_GT(exact * 10, traced * 6) << "of " << traced;
}

// An int8 network of 8-bit layers, written as ONNX text. Weights are all ones.
class Layers {
 public:
  Layers(int64_t channels, int64_t size) : channels_(channels) {
    text_ = fmt::format("(int8[1,{},{},{}] x) => (int8 y) <float sc = {{1}}, int8 zp = {{0}}", channels, size,
                        size);
  }

  struct Window {
    int64_t kernel, stride, before, after;  // pads
  };
  Layers& conv(int64_t channels, Window w, int64_t groups = 1) {
    constants_ += fmt::format(", int64[4] s{} = {{{}, {}, {}, {}}}", count_, channels, channels_ / groups,
                              w.kernel, w.kernel);
    nodes_ += fmt::format("w{} = ConstantOfShape<value = int8[1]{{1}}>(s{}) ", count_, count_);
    layer(fmt::format("QLinearConv<{}, group = {}>({{}}, sc, zp, w{}, sc, zp, sc, zp)", attributes(w), groups,
                      count_));
    channels_ = channels;
    return *this;
  }
  Layers& depthwise(Window w) { return conv(channels_, w, channels_); }
  Layers& max_pool(Window w) {
    layer(fmt::format("MaxPool<kernel_shape = [{0}, {0}], {1}>({{}})", w.kernel, attributes(w)));
    return *this;
  }
  Graph graph() const {
    return import_text(
        fmt::format("<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]> g {}{}> {{ {} y = "
                    "com.microsoft.QLinearGlobalAveragePool({}, sc, zp, sc, zp) }}",
                    text_, constants_, nodes_, last_));
  }

 private:
  static std::string attributes(const Window& w) {
    return fmt::format("strides = [{0}, {0}], pads = [{1}, {1}, {2}, {2}]", w.stride, w.before, w.after);
  }
  void layer(const std::string& call) {
    const std::string to = fmt::format("h{}", count_++);
    nodes_ += fmt::format("{} = {} ", to, fmt::format(fmt::runtime(call), last_));
    last_ = to;
  }

  std::string text_, constants_, nodes_, last_ = "x";
  int64_t channels_;
  int count_ = 0;
};

constexpr Layers::Window kSame = {3, 1, 1, 1}, kHalf = {3, 2, 1, 1}, kPoint = {1, 1, 0, 0};

// The second layer of two: 12 x 12 pixels of 32 channels in.
struct Row {
  const char* name;
  Layers layers;
  int64_t together;  // bytes
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

Layers layers() { return Layers(3, 12).conv(32, kSame); }
constexpr int64_t kInput = 12 * 12 * 32;
// Six pixels are computed together, one block of channels after the other.
constexpr int64_t kTile = 6 * 32 - 1;
const Row kRows[] = {
    // A row of pixels and one more are still to be read.
    {"Convolution", layers().conv(32, kSame), kInput + 13 * 32 + kTile},
    {"Depthwise", layers().depthwise(kSame), kInput + 13 * 32 + 5 * 32},
    {"Strided", layers().conv(32, kHalf), kInput + kTile},
    {"Growing", layers().conv(64, kPoint), 2 * kInput + kTile},
    // The first 8 of 16 channels are written before the pixels are read for the others.
    {"Shrinking", layers().conv(16, kPoint), kInput + 6 * 16 - 1},
    {"Causal", layers().conv(32, {3, 1, 2, 0}), kInput + kTile},
    {"Anticausal", layers().conv(32, {3, 1, 0, 2}), kInput + kTile},
    {"Pool", layers().max_pool({2, 2, 0, 0}), kInput},
};

class OneOperator : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Of, OneOperator, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST_P(OneOperator, TakesTheBytesOfTheFormula) {
  const Graph graph = GetParam().layers.graph();
  const Schedule schedule = schedule_layerwise(graph);
  const auto bytes = storage_bytes(graph, schedule.layouts);
  int64_t best = INT64_MAX;
  for (const StorageOverlap& o : schedule.overlaps) {
    if (o.step != 1) continue;
    best = std::min(best, joint_bytes(bytes[o.above], bytes[o.below], o.distance));
    const Node& node = *schedule.steps[1].node;
    const bool up = o.below == schedule.layouts[node.writes[0]].root;
    const SafeDistances seen =
        Trace(node, graph, schedule.layouts, *o.loops, up ? o.above : o.below).distances;
    EXPECT_GE(o.distance, up ? seen.input_above : seen.output_above);
  }
  EXPECT_EQ(best, GetParam().together) << dump(schedule);
}

int64_t arena(const Layers& layers) {
  const Graph graph = layers.graph();
  return plan(lifetimes(schedule_layerwise(graph), Io::kExternal, 16).problem).pools[0].size;
}

Layers mobilenet_v1(int64_t size, int64_t width) {  // in eighths of the paper's width
  Layers net(3, size);
  net.conv(4 * width, kHalf);
  const auto block = [&](int64_t channels, Layers::Window w) {
    net.depthwise(w).conv(channels * width / 8, kPoint);
  };
  block(64, kSame), block(128, kHalf), block(128, kSame), block(256, kHalf), block(256, kSame);
  block(512, kHalf);
  for (int k = 0; k < 5; ++k) block(512, kSame);
  block(1024, kHalf), block(1024, kSame);
  return net;
}

Layers vgg16() {
  Layers net(3, 224);
  for (const auto& [channels, layers] : {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int k = 0; k < layers; ++k) net.conv(channels, kSame);
    net.max_pool({2, 2, 0, 0});
  }
  return net;
}

// At most what the study of diagonal memory optimisation computed for rows.
TEST(Overlap, OfKnownNetworks) {
  EXPECT_LE(arena(mobilenet_v1(224, 8)), 806400);
  EXPECT_LE(arena(mobilenet_v1(128, 2)), 66048);
  EXPECT_LE(arena(vgg16()), 3239936);
}

}  // namespace
}  // namespace arenac
