#include "scheduler/awaited.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>

#include "frontend/merge.h"
#include "scheduler/step_facts.h"

namespace arenac {
namespace {

constexpr int64_t kTimesFewer = 2;      // so many times at least: rows across scales, sums of parts
constexpr double kMostRows = 0.75;      // of an operand, of what takes these one by one
constexpr size_t kMostSkips = 4;        // that are told of
constexpr size_t kMostCandidates = 64;  // that are looked at for these
constexpr size_t kLongestHistory = 24;  // nodes
constexpr int64_t kSmallestSkip = 16;   // of the largest the least part that counts; what is less is kept

bool reads_any(const Node& node, const std::set<TensorId>& ids) {
  return std::ranges::any_of(node.reads, [&](TensorId id) { return ids.contains(id); });
}

bool writes_any(const Node& node, const std::set<TensorId>& ids) {
  return std::ranges::any_of(node.writes, [&](TensorId id) { return ids.contains(id); });
}

// The nodes of a schedule of whole layers, and which rows they touch. Views have no step, and so no slabs of
// their own.
struct NodeRows {
  explicit NodeRows(const Schedule& whole)
      : graph(*whole.graph), layouts(whole.layouts), facts(step_facts(graph, whole.steps, layouts)) {
    for (size_t s = 0; s < whole.steps.size(); ++s)
      slabs_by_node[whole.steps[s].node] = &facts.steps[s].slabs;
  }

  // Null: of a view.
  const Slabs* slabs(const Node& node) const {
    const auto at = slabs_by_node.find(&node);
    return at == slabs_by_node.end() ? nullptr : at->second;
  }
  int64_t rows(TensorId id) const { return facts.rows[layouts[id].root].count; }
  int64_t bytes(TensorId id) const { return bytes_of(graph.tensors[id]); }

  // Whether a slab takes more than `part` of the operand's rows. Views of the operand's source count as it.
  bool takes_more(const Slabs& slabs, TensorId operand, double part) const {
    // rows of the operand's storage, which those of a view are counted in
    const auto most = part * static_cast<double>(rows(operand));
    return std::ranges::any_of(slabs.reads, [&](const RowAccess& read) {
      const auto is_more = [&](Interval i) { return static_cast<double>(i.end - i.begin) > most; };
      return facts.source[read.tensor] == facts.source[operand] && std::ranges::any_of(read.rows, is_more);
    });
  }

  const Graph& graph;
  const std::vector<Layout>& layouts;
  const StepFacts facts;
  std::map<const Node*, const Slabs*> slabs_by_node;
};

// Patterns of "normalise by what all of it says": softmax, squeeze and excitation, layer normalisation over
// rows.
class Reductions {
 public:
  explicit Reductions(const NodeRows& nodes) : nodes_(nodes) {}

  std::vector<Awaited> all() const {
    std::vector<Awaited> found;
    for (const Node& node : nodes_.graph.block)
      if (const Slabs* slabs = nodes_.slabs(node); slabs && slabs->count > 0)
        if (auto readers = waiting(node.writes[0]); !readers.empty())
          found.push_back({node.writes[0], std::move(readers)});
    return found;
  }

 private:
  // Whether the step makes nothing that is ready before it has read all of the tensor: each of its slabs
  // writes what the first one writes.
  bool reduces(const Slabs& slabs, TensorId tensor) const {
    if (slabs.count == 0) return true;
    if (slabs.count > 1) {
      const Interval first = slabs.write.rows.front(), last = slabs.write.rows.back();
      return first.begin < last.end && last.begin < first.end;
    }
    return std::ranges::any_of(slabs.reads, [&](const RowAccess& read) {
      return nodes_.facts.source[read.tensor] == nodes_.facts.source[tensor] &&
             read.rows[0].end - read.rows[0].begin == nodes_.rows(read.tensor);
    });
  }

  // What is known of the tensors that are made of one. Views are it; partial sums are waited for as little as
  // it is; what is reduced comes when all of it has been there.
  //
  //   t [48 rows] -> sums of rows of 8 (partial) -> their sum (reduced) -> gate (reduced) -> t * gate: waits
  struct Made {
    std::set<TensorId> views;    // and itself
    std::set<TensorId> partial;  // sums and the like of parts of it
    std::set<TensorId> reduced;  // what depends on a reduction of all of it
  };
  bool reduces_any(const Node& node, const Slabs& slabs, const std::set<TensorId>& ids) const {
    return std::ranges::any_of(node.reads,
                               [&](TensorId id) { return ids.contains(id) && reduces(slabs, id); });
  }
  // Small beside the tensor, and made without products: it may be kept, or summed again.
  bool is_partial(const Node& node, TensorId tensor) const {
    return multiply_accumulates(node) == 0 &&
           nodes_.bytes(node.writes[0]) <= nodes_.bytes(tensor) / kTimesFewer;
  }

  // The readers of a tensor that read what a reduction of it goes into, too. One pass in the block's order,
  // as each node comes behind what it reads; none where control flow or a C kernel touches any of it, since
  // rows of these are not known.
  std::set<const Node*> waiting(TensorId tensor) const {
    Made made = {{tensor}, {}, {}};
    std::set<const Node*> readers;
    bool seen = false;
    for (const Node& node : nodes_.graph.block) {
      const bool writes = std::ranges::count(node.writes, tensor) > 0;
      seen |= writes;
      if (!seen || writes) continue;
      const bool of_it = reads_any(node, made.views), of_parts = reads_any(node, made.partial),
                 depends = reads_any(node, made.reduced);
      if (!of_it && !of_parts && !depends) continue;
      if (!std::holds_alternative<Nests>(node.body)) return {};
      const Slabs* slabs = nodes_.slabs(node);  // null: a view
      const auto reduces_all = [&] {
        return reduces_any(node, *slabs, made.views) || reduces_any(node, *slabs, made.partial);
      };
      if (depends && slabs && std::ranges::count(node.reads, tensor) > 0) readers.insert(&node);
      std::set<TensorId>* kind = nullptr;
      if (depends || (slabs && reduces_all()))
        kind = &made.reduced;
      else if (!slabs)
        kind = of_it ? &made.views : &made.partial;
      else if (is_partial(node, tensor))
        kind = &made.partial;
      if (kind) kind->insert(node.writes.begin(), node.writes.end());
    }
    return readers;
  }

  const NodeRows& nodes_;
};

// Of one tensor: what is made of it row by row, up to steps that mix its rows, and what depends on these.
// Attention mixes: the result for one token reads keys and values of all.
class Mixing {
 public:
  Mixing(TensorId tensor, const NodeRows& nodes) : nodes_(nodes), tensor_(tensor), made_{tensor} {
    bool seen = false;
    for (const Node& node : nodes_.graph.block) {
      const bool writes = std::ranges::count(node.writes, tensor) > 0;
      if (seen && !writes) follow(node);
      seen |= writes;
    }
  }

  // The tensor with the readers that do not mix it nor make what is mixed, but what is read beside the result
  // of that, and with these and the nodes between to put off. Backwards: what leads to something mixed is
  // needed early; what leads to something that depends on it is late.
  Awaited awaited() const {
    std::set<TensorId> mixed, late;
    for (const auto& [node, id] : mixed_) mixed.insert(id);
    Awaited found = {tensor_, {}};
    for (const Node& node : nodes_.graph.block | std::views::reverse) {
      const bool depends = writes_any(node, depends_);
      if (!depends && writes_any(node, mixed)) {
        mixed.insert(node.reads.begin(), node.reads.end());
        continue;
      }
      if (!depends && !writes_any(node, late)) continue;
      for (const TensorId id : node.reads)
        if (made_.contains(id) && !mixed_.contains({&node, id})) {
          late.insert(id);
          if (id == tensor_) found.readers.insert(&node);
        }
      if (!depends) found.put_off.insert(&node);
    }
    return found;
  }

  // Whether it is read when the mixing is done, as the tensor would be: then it is in memory then, whatever
  // happens to the tensor that is made of it.
  bool keeps(TensorId id) const {
    return std::ranges::any_of(nodes_.graph.block, [&](const Node& node) {
      return writes_any(node, depends_) && std::ranges::count(node.reads, id) > 0;
    });
  }

 private:
  // Whether each slab of a node takes all rows of the operand (nearly), or adds to the same result. What is
  // no nest is taken to.
  bool mixes(const Node& node, TensorId operand) const {
    if (!std::holds_alternative<Nests>(node.body)) return true;
    const Slabs* slabs = nodes_.slabs(node);
    if (!slabs) return false;  // a view
    if (slabs->count <= 1) return true;
    const Interval first = slabs->write.rows.front(), last = slabs->write.rows.back();
    return (first.begin < last.end && last.begin < first.end) ||
           (nodes_.rows(operand) > 1 && nodes_.takes_more(*slabs, operand, kMostRows));
  }

  void follow(const Node& node) {
    bool depends = reads_any(node, depends_);
    for (const TensorId id : node.reads)
      if (made_.contains(id) && mixes(node, id)) depends = true, mixed_.emplace(&node, id);
    if (depends || reads_any(node, made_))
      (depends ? depends_ : made_).insert(node.writes.begin(), node.writes.end());
  }

  const NodeRows& nodes_;
  const TensorId tensor_;
  std::set<TensorId> made_;                           // of the tensor row by row, and itself
  std::set<std::pair<const Node*, TensorId>> mixed_;  // nodes with what of these they mix
  std::set<TensorId> depends_;                        // results of these nodes, and what is made of such
};

// Whether a node may run at another time: what it reads and writes is written by one node.
bool can_move(const Node& node, const std::vector<int>& times_written) {
  const auto at_most_once = [&](TensorId id) { return times_written[id] <= 1; };
  return std::ranges::all_of(node.reads, at_most_once) && std::ranges::all_of(node.writes, at_most_once);
}

// What a node without products makes its result of row by row, if that is one tensor that is read again
// later: computing the result a second time then costs little and needs nothing kept that is not kept anyway.
std::optional<TensorId> source_of(const Node& node, const NodeRows& nodes) {
  const Graph& graph = nodes.graph;
  const Slabs* slabs = nodes.slabs(node);
  if (!slabs || slabs->count <= 1 || node.writes.size() != 1 || multiply_accumulates(node) > 0) return {};
  std::vector<TensorId> large = node.reads;
  std::erase_if(large, [&](TensorId id) {
    return graph.tensors[id].constant || nodes.bytes(id) * kTimesFewer <= nodes.bytes(node.writes[0]);
  });
  if (large.size() != 1 || graph.by_rows.contains(large[0])) return {};  // its rows come once
  // Told before Mixing, which takes longer, is asked whether it is kept.
  const bool is_read_later =
      std::any_of(&node + 1, graph.block.data() + graph.block.size(),
                  [&](const Node& later) { return std::ranges::count(later.reads, large[0]) > 0; });
  return is_read_later ? std::optional(large[0]) : std::nullopt;
}

// The nodes that compute the tensor, in their order; none where it waits across scales to no avail: where it
// takes control flow, the caller's rows or too many nodes to compute it. Operands that are far smaller than
// it are not followed: they may be kept.
std::vector<const Node*> history_of(TensorId tensor, const Graph& graph) {
  const int64_t kept = bytes_of(graph.tensors[tensor]) / kSmallestSkip;
  std::vector<const Node*> history;
  std::set<TensorId> needed = {tensor};
  for (const Node& node : graph.block | std::views::reverse) {
    if (std::ranges::none_of(node.writes, [&](TensorId id) { return needed.contains(id); })) continue;
    const bool is_fed =
        std::ranges::any_of(node.reads, [&](TensorId id) { return graph.by_rows.contains(id); });
    if (is_fed || !std::holds_alternative<Nests>(node.body) || history.size() == kLongestHistory) return {};
    history.push_back(&node);
    for (TensorId id : node.reads)
      if (bytes_of(graph.tensors[id]) > kept) needed.insert(id);
  }
  std::ranges::reverse(history);
  return history;
}

// Skip connections of U-Nets: made at a fine scale, read beside what has gone down to coarse ones and come up
// again. To each tensor a scale, its rows for each of an input's:
//
//   x 1    conv/2 0.5    conv/2 0.25    resize 0.5    concat with the 0.5 before: waits for a quarter
class Scales {
 public:
  explicit Scales(const NodeRows& nodes) : nodes_(nodes), graph_(nodes.graph) {
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
          (!found.empty() && nodes_.bytes(id) < nodes_.bytes(found.front().tensor) / kSmallestSkip))
        break;
      std::vector<const Node*> history = history_of(id, graph_);
      if (auto readers = late_readers(id, history); !readers.empty())
        found.push_back({id, std::move(readers), std::move(history)});
    }
    return found;
  }

 private:
  // Rows of a node's result for each row of the operand; 1 where rows of both cannot be compared, 0 where one
  // takes most rows of the operand. A convolution of stride 2 has 0.5, a Resize to double 2, an attention 0.
  double rows_for_a_row(const Node& node, TensorId operand) const {
    const Slabs* slabs = nodes_.slabs(node);
    const int64_t rows = nodes_.rows(operand);
    if (!slabs || rows == 1) return 1;
    if (slabs->count <= 1 || nodes_.takes_more(*slabs, operand, kMostRows)) return 0;
    return static_cast<double>(slabs->count) / static_cast<double>(rows);
  }

  // What is read beside something else, the largest first, up to kMostCandidates: only such can wait.
  std::vector<TensorId> candidates() const {
    std::set<TensorId> joined;
    for (const Node& node : graph_.block) {
      std::vector<TensorId> activations = node.reads;
      std::erase_if(activations, [&](TensorId id) { return graph_.tensors[id].constant != nullptr; });
      if (activations.size() > 1) joined.insert(activations.begin(), activations.end());
    }
    std::vector<TensorId> all(joined.begin(), joined.end());
    std::ranges::stable_sort(all, std::greater<>(), [&](TensorId id) { return nodes_.bytes(id); });
    all.resize(std::min(all.size(), kMostCandidates));
    return all;
  }

  // The readers that read beside the tensor what comes row by row, but of fewer rows, of the nodes that it is
  // made of. One pass: `made` is what comes of its history at its own scale, `narrow` what has been at half
  // of it or less.
  std::set<const Node*> late_readers(TensorId tensor, const std::vector<const Node*>& history) const {
    if (history.empty()) return {};
    std::set<TensorId> before, made, narrow;
    for (const Node* node : history) before.insert(node->writes.begin(), node->writes.end());
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
      const bool is_narrow = of_narrow || scales_.at(node.writes[0]) <= scales_.at(tensor) / kTimesFewer;
      (is_narrow ? narrow : made).insert(node.writes.begin(), node.writes.end());
    }
    return late;
  }

  const NodeRows& nodes_;
  const Graph& graph_;
  std::map<TensorId, double> scales_;  // rows for each of the inputs', or of what is made of whole tensors
};

}  // namespace

// Both kinds from one look at the rows, which is most of the work.
AwaitedTensors awaited_tensors(const Schedule& whole) {
  const NodeRows nodes(whole);
  return {Reductions(nodes).all(), Scales(nodes).largest()};
}

std::vector<Awaited> awaited_behind_mixing(const Schedule& whole) {
  const NodeRows nodes(whole);
  const std::vector<int> times = times_written(nodes.graph);
  std::vector<Awaited> found;
  for (const Node& node : nodes.graph.block) {
    const auto source = source_of(node, nodes);
    if (!source || !can_move(node, times)) continue;
    const Mixing mixing(node.writes[0], nodes);
    Awaited awaited = mixing.awaited();
    if (awaited.readers.empty() || !mixing.keeps(*source) ||
        !std::ranges::all_of(awaited.put_off, [&](const Node* late) { return can_move(*late, times); }))
      continue;
    awaited.made_by = {&node};
    found.push_back(std::move(awaited));
  }
  return found;
}

}  // namespace arenac
