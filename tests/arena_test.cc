// The arena of real models, against the liveness bound of the file's order: views and in-place operators are
// free, every other tensor lives from its write to its last read. The bound comes from the graph alone, by
// rules dumber than those of scheduler/ and planner/: whole storages merge or do not, nothing moves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "frontend/facts.h"
#include "frontend/inline.h"
#include "frontend/precision.h"
#include "planner/lifetime.h"
#include "planner/planners.h"
#include "scheduler/schedule.h"
#include "scheduler/storage.h"
#include "tests/conformance.h"

namespace arenac {
namespace {

class LivenessBound {
 public:
  explicit LivenessBound(const Graph& graph) : graph_(graph), group_(graph.tensors.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    flatten(graph.block);
    for (const Node* node : nodes_)
      if (const auto x = viewed(*node)) group_[node->writes[0]] = of(*x);
    measure();
    for (int s = 0; s < static_cast<int>(nodes_.size()); ++s) overwrite(s);
  }

  // The largest sum of live bytes at one node; the caller's inputs and outputs apart.
  int64_t bytes() const {
    int64_t most = 0;
    for (int s = 0; s < static_cast<int>(nodes_.size()); ++s) {
      int64_t sum = 0;
      for (size_t g = 0; g < lives_.size(); ++g)
        if (lives_[g].begin <= s && s < lives_[g].end && !is_external(static_cast<TensorId>(g)))
          sum += sizes_[g];
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  void flatten(const Block& block) {
    for (const Node& node : block) {
      if (const If* branch = std::get_if<If>(&node.body)) {
        nodes_.push_back(&node);
        flatten(branch->then_block);
        flatten(branch->else_block);
      } else if (const Loop* loop = std::get_if<Loop>(&node.body)) {
        const int begin = static_cast<int>(nodes_.size());
        flatten(loop->body);
        loops_.push_back({begin, static_cast<int>(nodes_.size())});
      } else {
        nodes_.push_back(&node);
      }
    }
  }

  TensorId of(TensorId id) const { return group_[id] == id ? id : of(group_[id]); }
  int64_t size(TensorId id) const { return bytes_of(graph_.tensors[id]); }
  static bool contains(const std::vector<TensorId>& all, TensorId id) {
    return std::find(all.begin(), all.end(), id) != all.end();
  }
  bool is_external(TensorId id) const { return contains(graph_.inputs, id) || contains(graph_.outputs, id); }
  bool is_written_once(TensorId id) const {
    return std::count_if(nodes_.begin(), nodes_.end(),
                         [&](const Node* n) { return contains(n->writes, id); }) <= 1;
  }

  // The row-major element address of an access to a tensor, if it is affine.
  std::optional<Affine> address(TensorId id, const std::vector<Expr>& indices, const Nest& nest) const {
    auto form = affine_address(indices, row_major_strides(graph_.tensors[id].shape), axis_intervals(nest));
    if (form)
      std::erase_if(form->terms,
                    [&](const auto& t) { return t.first >= 0 && nest.axes[t.first].extent == 1; });
    return form;
  }

  // The operand of which the node is a contiguous part under another shape.
  std::optional<TensorId> viewed(const Node& node) const {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || nests->size() != 1 || contains(graph_.outputs, node.writes[0])) return std::nullopt;
    const Nest& nest = nests->front();
    const Expr* read = copied_read(nest, node, graph_);
    if (!read) return std::nullopt;
    const TensorId x = node.reads[(*read)->index];
    if (graph_.tensors[x].constant || !is_written_once(node.writes[0]) || !is_written_once(x))
      return std::nullopt;
    const auto from = address(x, (*read)->args, nest), to = address(node.writes[0], nest.store, nest);
    return from && to && from->terms == to->terms ? std::optional(x) : std::nullopt;
  }

  // Sizes and lives of the storages, views merged.
  void measure() {
    sizes_.resize(group_.size());
    lives_.assign(group_.size(), {static_cast<int64_t>(nodes_.size()), 0});
    const auto touch = [&](TensorId id, int s) {
      if (graph_.tensors[id].constant) return;
      const TensorId g = of(id);
      sizes_[g] = std::max(sizes_[g], size(id));
      lives_[g] = {std::min<int64_t>(lives_[g].begin, s), std::max<int64_t>(lives_[g].end, s + 1)};
    };
    for (int s = 0; s < static_cast<int>(nodes_.size()); ++s) {
      if (viewed(*nodes_[s])) continue;
      for (TensorId id : nodes_[s]->reads) touch(id, s);
      for (TensorId id : nodes_[s]->writes) touch(id, s);
    }
    // What crosses a loop's border lives through the loop. Inner loops come first.
    for (const auto& [begin, end] : loops_)
      for (Interval& life : lives_)
        if (life.begin < end && begin < life.end && !(begin <= life.begin && life.end <= end))
          life = {std::min<int64_t>(life.begin, begin), std::max<int64_t>(life.end, end)};
  }

  // An element-wise operator writes over an operand that dies there; where it writes a graph output, the
  // operand lies in the caller's memory before.
  void overwrite(int s) {
    const Node& node = *nodes_[s];
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || nests->size() != 1 || nests->front().combine != Combine::kNone) return;
    const TensorId out = of(node.writes[0]);
    for (size_t operand = 0; operand < node.reads.size(); ++operand) {
      const TensorId x = node.reads[operand], g = of(x);
      if (graph_.tensors[x].constant || g == out || is_external(g)) continue;
      if (lives_[g].end != s + 1 || lives_[out].begin != s || sizes_[g] != size(node.writes[0])) continue;
      if (!is_read_where_written(node, nests->front(), static_cast<int>(operand))) continue;
      if (is_external(out)) {
        group_[g] = out;
      } else {
        group_[out] = g;
        lives_[g].end = lives_[out].end;
      }
      lives_[is_external(out) ? g : out] = {};
      return;
    }
  }

  bool is_read_where_written(const Node& node, const Nest& nest, int operand) const {
    const auto written = address(node.writes[0], nest.store, nest);
    const auto elsewhere = [&](const Expr& e) {
      return e->op == Op::kRead && e->index == operand &&
             address(node.reads[operand], e->args, nest) != written;
    };
    return written && !any_of(nest.body, elsewhere) &&
           (nest.finish.empty() || !any_of(nest.finish, elsewhere));
  }

  const Graph& graph_;
  std::vector<const Node*> nodes_;  // in the file's order
  std::vector<Interval> loops_;     // of nodes
  std::vector<TensorId> group_;     // towards the first tensor of the storage
  std::vector<int64_t> sizes_;      // per storage
  std::vector<Interval> lives_;     // per storage, in nodes
};

// Small arenas may differ by what an operator's own temporaries need.
constexpr double kSlack = 1.02;
constexpr int64_t kSlackBytes = 512;

struct Arenas {
  int64_t apart, overlapped;  // bytes: no two buffers sharing any; as planned
};

Arenas planned_arenas(const Graph& graph) {
  Problem problem = lifetimes(schedule_layerwise(graph), Io::kExternal, 16).problem;
  const int64_t overlapped = plan(problem).pools[0].size;
  problem.overlaps.clear();
  return {plan(problem).pools[0].size, overlapped};
}

TEST(Arena, OfTheModelsIsNearTheLivenessBound) {
  const Suite suite = model_suite();
  if (suite.cases.empty()) GTEST_SKIP() << "the models beside the project are absent";
  Arenas sums = {0, 0};
  int64_t bounds = 0;
  std::string table;
  const auto row = [&](const std::string& name, const Arenas& arena, int64_t bound) {
    table += fmt::format("{:<32}{:>12}{:>12}{:>12}{:>8.3f}\n", name, arena.overlapped, arena.apart, bound,
                         static_cast<double>(arena.apart) / static_cast<double>(bound));
  };
  for (const Case& model : suite.cases) {
    const DataSet data = read_data_set(data_sets(model.folder).at(0));
    const Graph graph = import_model(model.model().string(), data.import);
    const Graph precise = with_free_precision(graph, layerwise_peak);
    const Arenas arena = planned_arenas(with_inlined_elements(precise)), before = planned_arenas(precise);
    const int64_t bound = LivenessBound(graph).bytes();
    EXPECT_LE(static_cast<double>(arena.apart - kSlackBytes), kSlack * static_cast<double>(before.apart))
        << model.id;
    EXPECT_LE(static_cast<double>(arena.apart - kSlackBytes), kSlack * static_cast<double>(bound))
        << model.id;
    EXPECT_LE(arena.overlapped, arena.apart) << model.id;
    row(model.id, arena, bound);
    sums.apart += arena.apart, sums.overlapped += arena.overlapped, bounds += bound;
  }
  row("sum", sums, bounds);
  EXPECT_LE(static_cast<double>(sums.apart), kSlack * static_cast<double>(bounds));
  EXPECT_LE(static_cast<double>(sums.overlapped), 0.9 * static_cast<double>(sums.apart));
  if (HasFailure()) fmt::print("{:<32}{:>12}{:>12}{:>12}\n{}", "", "arena", "apart", "bound", table);
}

// The bound itself: one tensor of 400 bytes is live at a time, or h beside its successors.
TEST(Bound, CountsViewsAndInPlaceOperatorsAsNothing) {
  const auto bound = [](const std::string& last) {
    return LivenessBound(import_text(fmt::format(
                             R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[100] x) => (float[1, 1] y) <int64[2] s = {{4, 25}}, int64[2] k = {{0, 1}}> {{
        h = Sin(x) a = Reshape(h, s) b = Cos(a) c = Tan(b) d = Add(c, {}) y = ReduceSum(d, k) }})",
                             last)))
        .bytes();
  };
  EXPECT_EQ(bound("c"), 400);
  EXPECT_EQ(bound("a"), 800);
}

}  // namespace
}  // namespace arenac
