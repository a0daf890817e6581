#include "scheduler/second_passes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

#include "frontend/merge.h"
#include "scheduler/awaited.h"

namespace arenac {
namespace {

constexpr size_t kLongestPass = 12;              // nodes that are done again for a tensor
constexpr int64_t kParts[] = {INT64_MAX, 4, 2};  // of the largest tensor, the least that a graph has
constexpr int64_t kSmaller = 2;                  // so many times at least, where less is worth nothing

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

struct Pass {
  const Awaited* awaited;
  std::vector<const Node*> nodes;  // in their order: the last of them computes what is awaited
};

// Passes that have nodes in common do each of these again once, or each pass for itself.
enum class Common : uint8_t { kOnce, kForEach };

// The graph with passes, each before the first of those that wait.
class SecondPasses {
 public:
  SecondPasses(const Graph& graph, Common common) : graph_(graph), common_(common), result_(graph) {
    result_.block.clear();
  }

  Graph with(const std::vector<Pass>& passes) {
    const std::vector<const Node*> order = with_put_off(passes);
    std::map<const Node*, std::vector<const Pass*>> before;  // the node
    for (const Pass& pass : passes) {
      const auto first =
          std::ranges::find_if(order, [&](const Node* node) { return pass.awaited->readers.contains(node); });
      before[*first].push_back(&pass);
    }
    for (const Node* node : order) {
      if (const auto at = before.find(node); at != before.end())
        for (const Pass* pass : at->second) repeat(*pass);
      result_.block.push_back(of_seconds(*node));
    }
    return without_dead_code(std::move(result_));
  }

 private:
  // The nodes in their order, but for those that are put off: each pass's before what reads these.
  std::vector<const Node*> with_put_off(const std::vector<Pass>& passes) const {
    std::vector<const Node*> order;
    for (const Node& node : graph_.block) order.push_back(&node);
    for (const Pass& pass : passes) {
      const auto& late = pass.awaited->put_off;
      std::set<TensorId> made;
      for (const Node* node : late) made.insert(node->writes.begin(), node->writes.end());
      const auto is_late = [&](const Node* node) { return late.contains(node); };
      const auto first = std::ranges::find_if(order, [&](const Node* node) {
        return !is_late(node) &&
               std::ranges::any_of(node->reads, [&](TensorId id) { return made.contains(id); });
      });
      std::stable_partition(order.begin(), first, std::not_fn(is_late));
    }
    return order;
  }

  // The node with the second of what it waits for.
  Node of_seconds(const Node& node) const {
    Node copy = node;
    for (const auto& [awaited, second] : seconds_)
      if (awaited->readers.contains(&node)) std::ranges::replace(copy.reads, awaited->tensor, second);
    return copy;
  }

  void repeat(const Pass& pass) {
    if (common_ == Common::kForEach) again_.clear();
    for (const Node* node : pass.nodes) {
      if (again_.contains(node->writes[0])) continue;
      Node second = of_seconds(*node);
      for (TensorId& id : second.reads)
        if (const auto at = again_.find(id); at != again_.end()) id = at->second;
      for (TensorId& id : second.writes) {
        const Tensor tensor = result_.tensors[id];
        again_[id] = static_cast<TensorId>(result_.tensors.size());
        result_.tensors.push_back(tensor);
        id = again_[id];
      }
      second.is_again = true;
      result_.block.push_back(std::move(second));
    }
    seconds_.emplace_back(pass.awaited, again_.at(pass.awaited->tensor));
  }

  const Graph& graph_;
  const Common common_;
  Graph result_;
  std::map<TensorId, TensorId> again_;  // of what is done again, the second of each
  std::vector<std::pair<const Awaited*, TensorId>> seconds_;
};

void add_if_new(Graph graph, std::vector<Graph>& graphs) {
  if (std::ranges::none_of(graphs, [&](const Graph& known) {
        return std::ranges::equal(known.block, graph.block, {}, &Node::reads, &Node::reads);
      }))
    graphs.push_back(std::move(graph));
}

// Of what waits for a reduction: of all, of the larger ones, of the largest.
void add_behind_reductions(std::vector<Awaited> all, const Graph& graph, std::vector<Graph>& graphs) {
  const Writers writers = writers_of(graph);
  int64_t largest = 0;
  for (const Awaited& awaited : all) largest = std::max(largest, bytes_of(graph.tensors[awaited.tensor]));
  for (const int64_t part : kParts) {
    const auto before = all.size();
    std::erase_if(all, [&](const Awaited& a) { return bytes_of(graph.tensors[a.tensor]) < largest / part; });
    if (!graphs.empty() && all.size() == before) continue;
    for (const Source source : {Source::kSmallest, Source::kNearest}) {
      std::vector<Pass> passes;
      for (const Awaited& awaited : all)
        if (auto nodes = pass_of(awaited.tensor, source, graph, writers); !nodes.empty())
          passes.push_back({&awaited, std::move(nodes)});
      if (!passes.empty()) add_if_new(SecondPasses(graph, Common::kForEach).with(passes), graphs);
    }
  }
}

// Of what waits across scales: of the largest, of the two largest, ..., from the inputs on.
void add_across_scales(const std::vector<Awaited>& all, const Graph& graph, std::vector<Graph>& graphs) {
  std::vector<Pass> passes;
  std::vector<Graph> found;
  for (const Awaited& awaited : all) {
    passes.push_back({&awaited, awaited.made_by});
    add_if_new(SecondPasses(graph, Common::kOnce).with(passes), found);
  }
  std::ranges::move(found | std::views::reverse, std::back_inserter(graphs));
}

}  // namespace

std::vector<Graph> with_second_passes(const Schedule& whole) {
  const AwaitedTensors awaited = awaited_tensors(whole);
  std::vector<Graph> graphs;
  add_behind_reductions(awaited.behind_reductions, *whole.graph, graphs);
  add_across_scales(awaited.across_scales, *whole.graph, graphs);
  return graphs;
}

std::vector<Graph> with_passes_behind_mixing(const Schedule& whole) {
  const std::vector<Awaited> all = awaited_behind_mixing(whole);
  std::vector<Pass> passes;
  for (const Awaited& awaited : all) passes.push_back({&awaited, awaited.made_by});
  if (passes.empty()) return {};
  return {SecondPasses(*whole.graph, Common::kForEach).with(passes)};
}

}  // namespace arenac
