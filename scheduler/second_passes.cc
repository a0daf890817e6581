#include "scheduler/second_passes.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/merge.h"
#include "scheduler/step_facts.h"

namespace arenac {
namespace {

constexpr size_t kLongestPass = 12;              // nodes that are done again for a tensor
constexpr int64_t kParts[] = {INT64_MAX, 4, 2};  // of the largest tensor, the least that a graph has
constexpr int64_t kSmaller = 2;                  // so many times at least, where less is worth nothing

// What waits: `reader` and those after it that depend on all of the tensor read its second pass.
struct Barrier {
  TensorId tensor;
  std::set<const Node*> readers;
};

class Barriers {
 public:
  explicit Barriers(const Schedule& whole)
      : graph_(*whole.graph),
        layouts_(whole.layouts),
        facts_(step_facts(graph_, whole.steps, whole.layouts)) {
    for (size_t s = 0; s < whole.steps.size(); ++s) step_of_[whole.steps[s].node] = static_cast<int>(s);
  }

  std::vector<Barrier> all() const {
    std::vector<Barrier> found;
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

// What a pass begins with.
enum class Source : uint8_t {
  kSmallest,  // the smallest tensor of few nodes before, at most half as large as what the pass computes
  kNearest,   // the nearest that is smaller than that and at most half as large as the largest between them
};
using Writers = std::map<TensorId, const Node*>;

// Of the tensors that are written once.
Writers writers_of(const Graph& graph) {
  Writers writers;
  const std::vector<int> times = times_written(graph);
  for (const Node& node : graph.block)
    for (TensorId id : node.writes)
      if (times[id] == 1) writers[id] = &node;
  return writers;
}

// The largest operand of a node that is no constant, or null.
const TensorId* largest_operand(const Node& node, const Graph& graph) {
  const TensorId* largest = nullptr;
  for (const TensorId& id : node.reads)
    if (!graph.tensors[id].constant &&
        (!largest || bytes_of(graph.tensors[id]) > bytes_of(graph.tensors[*largest])))
      largest = &id;
  return largest;
}

// The nodes that compute a tensor from such a one, in their order.
std::vector<const Node*> pass_of(TensorId tensor, Source source, const Graph& graph, const Writers& writers) {
  std::vector<const Node*> chain;
  size_t best = 0;
  const int64_t size = bytes_of(graph.tensors[tensor]);
  int64_t least = size / kSmaller + 1, passed = size;
  for (TensorId at = tensor; chain.size() < kLongestPass;) {
    const auto writer = writers.find(at);
    if (writer == writers.end() || !std::holds_alternative<Nests>(writer->second->body)) break;
    const TensorId* from = largest_operand(*writer->second, graph);
    if (from && graph.by_rows.contains(*from)) break;  // its rows come once
    chain.push_back(writer->second);
    if (!from) break;
    at = *from;
    const bool is_input = std::ranges::count(graph.inputs, at) > 0;
    const int64_t bytes = is_input ? 0 : bytes_of(graph.tensors[at]);
    if (source == Source::kNearest) least = std::min(size, passed / kSmaller + 1);
    if (bytes < least) best = chain.size(), least = bytes;
    if (is_input || (source == Source::kNearest && best > 0)) break;
    passed = std::max(passed, bytes);
  }
  chain.resize(best);
  std::ranges::reverse(chain);
  return chain;
}

class SecondPasses {
 public:
  SecondPasses(const Graph& graph, const Writers& writers, Source source)
      : graph_(graph), writers_(writers), source_(source), result_(graph) {
    result_.block.clear();
  }

  // Nothing where no barrier has a pass that is worth it.
  std::optional<Graph> of(const std::vector<Barrier>& barriers) {
    std::map<const Node*, std::vector<const Barrier*>> before;  // the node: passes
    for (const Barrier& barrier : barriers)
      for (const Node& node : graph_.block)
        if (barrier.readers.contains(&node)) {
          before[&node].push_back(&barrier);
          break;
        }
    for (const Node& node : graph_.block) {
      if (const auto passes = before.find(&node); passes != before.end())
        for (const Barrier* barrier : passes->second) repeat(*barrier);
      result_.block.push_back(behind_barriers(node));
    }
    if (seconds_.empty()) return std::nullopt;
    return std::move(result_);
  }

 private:
  Node behind_barriers(const Node& node) const {
    Node copy = node;
    for (const auto& [barrier, second] : seconds_)
      if (barrier->readers.contains(&node)) std::ranges::replace(copy.reads, barrier->tensor, second);
    return copy;
  }

  void repeat(const Barrier& barrier) {
    std::map<TensorId, TensorId> again;
    for (const Node* node : pass_of(barrier.tensor, source_, graph_, writers_)) {
      Node second = behind_barriers(*node);
      for (TensorId& id : second.reads)
        if (const auto at = again.find(id); at != again.end()) id = at->second;
      for (TensorId& id : second.writes) {
        const Tensor tensor = result_.tensors[id];
        again[id] = static_cast<TensorId>(result_.tensors.size());
        result_.tensors.push_back(tensor);
        id = again[id];
      }
      second.is_again = true;
      result_.block.push_back(std::move(second));
    }
    if (again.contains(barrier.tensor)) seconds_.emplace_back(&barrier, again[barrier.tensor]);
  }

  const Graph& graph_;
  const Writers& writers_;
  const Source source_;
  Graph result_;
  std::vector<std::pair<const Barrier*, TensorId>> seconds_;
};

}  // namespace

std::vector<Graph> with_second_passes(const Schedule& whole) {
  const Graph& graph = *whole.graph;
  const Writers writers = writers_of(graph);
  std::vector<Barrier> all = Barriers(whole).all();
  int64_t largest = 0;
  for (const Barrier& barrier : all) largest = std::max(largest, bytes_of(graph.tensors[barrier.tensor]));
  std::vector<Graph> graphs;
  for (const int64_t part : kParts) {
    const auto before = all.size();
    std::erase_if(all, [&](const Barrier& b) { return bytes_of(graph.tensors[b.tensor]) < largest / part; });
    if (all.empty() || (!graphs.empty() && all.size() == before)) continue;
    for (const Source source : {Source::kSmallest, Source::kNearest}) {
      auto with = SecondPasses(graph, writers, source).of(all);
      const auto is_known = [&](const Graph& g) {
        return std::ranges::equal(g.block, with->block, {}, &Node::reads, &Node::reads);
      };
      if (with && std::ranges::none_of(graphs, is_known)) graphs.push_back(std::move(*with));
    }
  }
  return graphs;
}

}  // namespace arenac
