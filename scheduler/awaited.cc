#include "scheduler/awaited.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "scheduler/step_facts.h"

namespace arenac {
namespace {

constexpr int64_t kSmaller = 2;         // so many times at least: rows across scales, sums of parts
constexpr size_t kMostSkips = 4;        // that are told of
constexpr size_t kMostCandidates = 64;  // that are looked at for these
constexpr size_t kLongestHistory = 24;  // nodes
constexpr int64_t kSmallestSkip = 16;   // of the largest the least part that counts; what is less is kept

class Reductions {
 public:
  explicit Reductions(const Schedule& whole)
      : graph_(*whole.graph),
        layouts_(whole.layouts),
        facts_(step_facts(graph_, whole.steps, whole.layouts)) {
    for (size_t s = 0; s < whole.steps.size(); ++s) step_of_[whole.steps[s].node] = static_cast<int>(s);
  }

  std::vector<Awaited> all() const {
    std::vector<Awaited> found;
    for (const Node& node : graph_.block)
      if (const auto at = step_of_.find(&node);
          at != step_of_.end() && facts_.steps[at->second].slabs.count > 0)
        if (auto readers = waiting(node.writes[0]); !readers.empty())
          found.push_back({node.writes[0], std::move(readers)});
    return found;
  }

 private:
  // Whether the step makes nothing that is ready before it has read all of the tensor: each of its slabs
  // writes what the first one writes.
  bool reduces(int step, TensorId source) const {
    const Slabs& slabs = facts_.steps[step].slabs;
    if (slabs.count == 0) return true;
    if (slabs.count > 1) {
      const Interval first = slabs.write.rows.front(), last = slabs.write.rows.back();
      return first.begin < last.end && last.begin < first.end;
    }
    return std::ranges::any_of(slabs.reads, [&](const RowAccess& read) {
      return facts_.source[read.tensor] == source &&
             read.rows[0].end - read.rows[0].begin == facts_.rows[layouts_[read.tensor].root].count;
    });
  }

  // What is known of the tensors that are made of one.
  struct Made {
    std::set<TensorId> views;    // and itself
    std::set<TensorId> partial;  // sums and the like of parts of it
    std::set<TensorId> reduced;  // what depends on a reduction of all of it
  };
  static bool reads(const Node& node, const std::set<TensorId>& ids) {
    return std::ranges::any_of(node.reads, [&](TensorId id) { return ids.contains(id); });
  }
  bool reduces_any(const Node& node, int step, const std::set<TensorId>& ids) const {
    return std::ranges::any_of(
        node.reads, [&](TensorId id) { return ids.contains(id) && reduces(step, facts_.source[id]); });
  }
  bool is_partial(const Node& node, TensorId tensor) const {
    return multiply_accumulates(node) == 0 &&
           bytes_of(graph_.tensors[node.writes[0]]) <= bytes_of(graph_.tensors[tensor]) / kSmaller;
  }

  // The readers of a tensor that read what a reduction of it goes into, too.
  std::set<const Node*> waiting(TensorId tensor) const {
    Made made = {{tensor}, {}, {}};
    std::set<const Node*> readers;
    bool seen = false;
    for (const Node& node : graph_.block) {
      const bool writes = std::ranges::count(node.writes, tensor) > 0;
      seen |= writes;
      if (!seen || writes) continue;
      const bool of_it = reads(node, made.views), of_parts = reads(node, made.partial),
                 depends = reads(node, made.reduced);
      if (!of_it && !of_parts && !depends) continue;
      if (!std::holds_alternative<Nests>(node.body)) return {};
      const auto at = step_of_.find(&node);
      const bool is_view = at == step_of_.end();
      const auto reduces_all = [&] {
        return reduces_any(node, at->second, made.views) || reduces_any(node, at->second, made.partial);
      };
      if (depends && !is_view && std::ranges::count(node.reads, tensor) > 0) readers.insert(&node);
      std::set<TensorId>* kind = nullptr;
      if (depends || (!is_view && reduces_all()))
        kind = &made.reduced;
      else if (is_view)
        kind = of_it ? &made.views : &made.partial;
      else if (is_partial(node, tensor))
        kind = &made.partial;
      if (kind) kind->insert(node.writes.begin(), node.writes.end());
    }
    return readers;
  }

  const Graph& graph_;
  const std::vector<Layout>& layouts_;
  const StepFacts facts_;
  std::map<const Node*, int> step_of_;
};

class Scales {
 public:
  explicit Scales(const Schedule& whole)
      : graph_(*whole.graph), layouts_(whole.layouts), facts_(step_facts(graph_, whole.steps, layouts_)) {
    for (size_t s = 0; s < whole.steps.size(); ++s) step_of_[whole.steps[s].node] = static_cast<int>(s);
    for (const Node& node : graph_.block) {
      double scale = 0;
      for (TensorId id : node.reads)
        if (!graph_.tensors[id].constant)
          scale = std::max(scale, (scales_.contains(id) ? scales_[id] : 1) * rows_for_a_row(node, id));
      for (TensorId id : node.writes) scales_[id] = scale > 0 ? scale : 1;
    }
  }

  std::vector<Awaited> largest() const {
    std::vector<Awaited> found;
    for (const TensorId id : candidates()) {
      if (found.size() == kMostSkips ||
          (!found.empty() && bytes(id) < bytes(found.front().tensor) / kSmallestSkip))
        break;
      if (auto readers = late_readers(id); !readers.empty()) found.push_back({id, std::move(readers)});
    }
    return found;
  }

 private:
  int64_t bytes(TensorId id) const { return bytes_of(graph_.tensors[id]); }

  // Rows of a node's result for each row of the operand; 1 where rows of both cannot be compared, 0 where one
  // takes most rows of the operand.
  double rows_for_a_row(const Node& node, TensorId operand) const {
    const auto step = step_of_.find(&node);
    if (step == step_of_.end()) return 1;  // a view
    const Slabs& slabs = facts_.steps[step->second].slabs;
    const int64_t rows = facts_.rows[layouts_[operand].root].count;
    if (rows == 1) return 1;
    const auto takes_most = [&](const RowAccess& read) {
      return facts_.source[read.tensor] == facts_.source[operand] &&
             std::ranges::any_of(read.rows, [&](Interval i) { return 4 * (i.end - i.begin) > 3 * rows; });
    };
    if (slabs.count <= 1 || std::ranges::any_of(slabs.reads, takes_most)) return 0;
    return static_cast<double>(slabs.count) / static_cast<double>(rows);
  }

  // What is read beside something else, the largest first.
  std::vector<TensorId> candidates() const {
    std::set<TensorId> joined;
    for (const Node& node : graph_.block) {
      std::vector<TensorId> activations = node.reads;
      std::erase_if(activations, [&](TensorId id) { return graph_.tensors[id].constant != nullptr; });
      if (activations.size() > 1) joined.insert(activations.begin(), activations.end());
    }
    std::vector<TensorId> all(joined.begin(), joined.end());
    std::ranges::stable_sort(all, std::greater<>(), [&](TensorId id) { return bytes(id); });
    all.resize(std::min(all.size(), kMostCandidates));
    return all;
  }

  // The readers that read beside the tensor what comes row by row, but of fewer rows, of the nodes that it is
  // made of.
  std::set<const Node*> late_readers(TensorId tensor) const {
    const auto history = history_of(tensor, graph_);
    if (!history) return {};
    std::set<TensorId> before, made, narrow;
    for (const Node* node : *history) before.insert(node->writes.begin(), node->writes.end());
    std::set<const Node*> late;
    for (const Node& node : graph_.block) {
      if (!std::holds_alternative<Nests>(node.body)) continue;
      const auto comes_of = [&](const std::set<TensorId>& ids) {
        return std::ranges::any_of(
            node.reads, [&](TensorId id) { return ids.contains(id) && rows_for_a_row(node, id) > 0; });
      };
      const bool of_narrow = comes_of(narrow);
      if (of_narrow && std::ranges::count(node.reads, tensor) > 0) late.insert(&node);
      if (before.contains(node.writes[0]) || (!of_narrow && !comes_of(before) && !comes_of(made))) continue;
      const bool is_narrow = of_narrow || scales_.at(node.writes[0]) <= scales_.at(tensor) / kSmaller;
      (is_narrow ? narrow : made).insert(node.writes.begin(), node.writes.end());
    }
    return late;
  }

  const Graph& graph_;
  const std::vector<Layout>& layouts_;
  const StepFacts facts_;
  std::map<const Node*, int> step_of_;
  std::map<TensorId, double> scales_;  // rows for each of the inputs', or of what is made of whole tensors
};

}  // namespace

std::optional<std::vector<const Node*>> history_of(TensorId tensor, const Graph& graph) {
  const int64_t kept = bytes_of(graph.tensors[tensor]) / kSmallestSkip;
  std::vector<const Node*> history;
  std::set<TensorId> needed = {tensor};
  for (const Node& node : graph.block | std::views::reverse) {
    if (std::ranges::none_of(node.writes, [&](TensorId id) { return needed.contains(id); })) continue;
    const bool is_fed =
        std::ranges::any_of(node.reads, [&](TensorId id) { return graph.by_rows.contains(id); });
    if (is_fed || !std::holds_alternative<Nests>(node.body) || history.size() == kLongestHistory)
      return std::nullopt;
    history.push_back(&node);
    for (TensorId id : node.reads)
      if (bytes_of(graph.tensors[id]) > kept) needed.insert(id);
  }
  std::ranges::reverse(history);
  if (history.empty()) return std::nullopt;
  return history;
}

std::vector<Awaited> behind_reductions(const Schedule& whole) { return Reductions(whole).all(); }

std::vector<Awaited> across_scales(const Schedule& whole) { return Scales(whole).largest(); }

}  // namespace arenac
