#include "scheduler/sums.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "frontend/merge.h"
#include "scheduler/ordered.h"

namespace arenac {
namespace {

// What is added, an expression of one of the block's nodes.
struct Addend {
  size_t node;
  Expr value;
};

struct SumTree {
  size_t root;                // the node that holds the last addition, maybe with more around it
  Expr last;                  // that addition
  std::vector<size_t> inner;  // the nodes of the others, which do nothing else: two less than terms
  std::vector<Addend> terms;
};

// Finds the trees of additions of one element each in a graph's block.
class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), reads_(times_read(graph)), written_(times_written(graph)) {
    for (size_t k = 0; k < graph.block.size(); ++k)
      for (TensorId id : graph.block[k].writes) writer_[id] = k;
  }

  std::vector<SumTree> run() {
    std::vector<SumTree> trees;
    std::vector<bool> taken(graph_.block.size());
    for (size_t k = graph_.block.size(); k-- > 0;) {
      const auto last = taken[k] ? std::nullopt : addition_in(k);
      if (!last) continue;
      SumTree tree{k, *last, {}, {}};
      collect(k, *last, tree);
      for (size_t inner : tree.inner) taken[inner] = true;
      if (tree.terms.size() > 2) trees.push_back(std::move(tree));
    }
    return trees;
  }

 private:
  const Nest* nest_of(size_t k) const {
    const Nests* nests = std::get_if<Nests>(&graph_.block[k].body);
    if (!nests || nests->size() != 1 || !is_plain(nests->front())) return nullptr;
    const Nest& nest = nests->front();
    const Shape& shape = graph_.tensors[graph_.block[k].writes[0]].shape;
    if (nest.axes.size() != shape.size()) return nullptr;
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool walks = same(nest.store[d], axis(static_cast<int>(d)));
      if (nest.axes[d].extent != shape[d] || !(walks || (shape[d] == 1 && is_constant(nest.store[d], 0))))
        return nullptr;
    }
    return &nest;
  }

  // Whether the expression reads anything as large as the node's result that the run computes.
  bool reads_large(size_t k, const Expr& e) const {
    const Node& node = graph_.block[k];
    const int64_t count = element_count(graph_.tensors[node.writes[0]].shape);
    return any_of(e, [&](const Expr& x) {
      if (x->op != Op::kRead) return false;
      const Tensor& t = graph_.tensors[node.reads[x->index]];
      return !t.constant && element_count(t.shape) >= count;
    });
  }

  // The addition of two large operands that is all that the node does with large ones.
  std::optional<Expr> addition_in(size_t k) const {
    const Nest* nest = nest_of(k);
    const Expr* found = nest ? find_addition(k, nest->body) : nullptr;
    if (!found) return std::nullopt;
    const Expr around = substitute(
        nest->body, [&](const Expr& e) { return same(e, *found) ? accumulator(e->type) : Expr(); });
    return reads_large(k, around) ? std::nullopt : std::optional(*found);
  }

  // Outside indices, and what is computed in any case.
  const Expr* find_addition(size_t k, const Expr& e) const {
    if (e->op == Op::kRead || e->op == Op::kSelect) return nullptr;
    if (e->op == Op::kAdd && reads_large(k, e->args[0]) && reads_large(k, e->args[1])) return &e;
    for (const Expr& arg : e->args)
      if (const Expr* found = find_addition(k, arg)) return found;
    return nullptr;
  }

  // The node that computes the term, if it is the sum of two others and of no use but here.
  std::optional<size_t> inner_sum(size_t k, const Expr& term) const {
    if (term->op != Op::kRead) return std::nullopt;
    const TensorId id = graph_.block[k].reads[term->index];
    const auto writer = writer_.find(id);
    const Tensor &from = graph_.tensors[id], &to = graph_.tensors[graph_.block[k].writes[0]];
    if (writer == writer_.end() || reads_[id] != 1 || written_[id] != 1 || from.shape != to.shape ||
        from.type != term->type || !nest_of(writer->second))
      return std::nullopt;
    for (TensorId read : graph_.block[writer->second].reads)  // which is then read later
      if (written_[read] > 1) return std::nullopt;
    if (times_read(nest_of(k)->body, term->index) != 1) return std::nullopt;
    for (size_t d = 0; d < from.shape.size(); ++d)
      if (from.shape[d] > 1 && !same(term->args[d], axis(static_cast<int>(d)))) return std::nullopt;
    const auto sum = addition_in(writer->second);
    return sum && same(*sum, nest_of(writer->second)->body) ? std::optional(writer->second) : std::nullopt;
  }

  void collect(size_t k, const Expr& sum, SumTree& tree) const {
    for (const Expr& term : sum->args) {
      if (const auto inner = inner_sum(k, term)) {
        tree.inner.push_back(*inner);
        collect(*inner, nest_of(*inner)->body, tree);
      } else {
        tree.terms.push_back({k, term});
      }
    }
  }

  const Graph& graph_;
  std::vector<int> reads_, written_;
  std::map<TensorId, size_t> writer_;
};

// The additions of the tree's terms, these in another order, one by one: the last one in the root's node.
std::vector<Node> chain_of(const SumTree& tree, const std::vector<Addend>& terms, const Block& block) {
  const Node& root = block[tree.root];
  const Nest& nest = std::get<Nests>(root.body)[0];
  std::vector<Expr> axes;
  for (size_t d = 0; d < nest.axes.size(); ++d) axes.push_back(axis(static_cast<int>(d)));
  const auto element = [&](const Addend& term, Operands& operands) {
    Nest alone = nest;
    alone.body = term.value;
    return element_at(block[term.node], alone, axes, operands);
  };
  std::vector<Node> chain;
  for (size_t k = 1; k < terms.size(); ++k) {
    const bool is_last = k + 1 == terms.size();
    const Node& place = is_last ? root : block[tree.inner[k - 1]];
    Operands operands;
    if (is_last) operands.ids = root.reads;
    const Expr before = k == 1 ? element(terms[0], operands)
                               : read(operands.of(chain.back().writes[0]), tree.last->type, axes);
    const Expr sum = before + element(terms[k], operands);
    Nest added = nest;
    added.body = is_last
                     ? substitute(nest.body, [&](const Expr& e) { return same(e, tree.last) ? sum : Expr(); })
                     : sum;
    chain.push_back(
        with_used_operands({place.origin, place.op, std::move(operands.ids), place.writes, Nests{added}}));
  }
  return chain;
}

// The graph with the terms of each tree added in the order in which `order` makes them available.
Graph chained(const Graph& graph, const std::vector<SumTree>& trees, const std::vector<int>& order) {
  std::vector<int> written(graph.tensors.size(), -1);  // per tensor: when, -1 for inputs
  for (size_t k = 0; k < graph.block.size(); ++k)
    for (TensorId id : graph.block[order.empty() ? k : static_cast<size_t>(order[k])].writes)
      written[id] = static_cast<int>(k);
  const auto available = [&](const Addend& term) {
    int when = -1;
    any_of(term.value, [&](const Expr& e) {
      if (e->op == Op::kRead) when = std::max(when, written[graph.block[term.node].reads[e->index]]);
      return false;
    });
    return when;
  };

  std::vector<std::vector<Node>> instead;  // per node: what takes its place
  for (const Node& node : graph.block) instead.push_back({node});
  for (const SumTree& tree : trees) {
    std::vector<Addend> terms = tree.terms;
    std::stable_sort(terms.begin(), terms.end(),
                     [&](const Addend& a, const Addend& b) { return available(a) < available(b); });
    for (size_t inner : tree.inner) instead[inner].clear();
    instead[tree.root] = chain_of(tree, terms, graph.block);
  }
  Graph result = graph;
  result.block.clear();
  for (std::vector<Node>& nodes : instead)
    result.block.insert(result.block.end(), std::make_move_iterator(nodes.begin()),
                        std::make_move_iterator(nodes.end()));
  return result;
}

}  // namespace

Graph with_reordered_sums(Graph graph, const OrderLimits& limits) {
  std::vector<SumTree> trees = Finder(graph).run();
  if (trees.empty()) return graph;
  Ordered best = best_order(graph, limits);
  while (!has_passed(limits.deadline)) {
    Graph other = chained(graph, trees, best.order);
    Ordered ordered = best_order(other, limits);
    if (ordered.report.peak >= best.report.peak) break;
    graph = std::move(other), best = std::move(ordered);
    trees = Finder(graph).run();
  }
  return graph;
}

}  // namespace arenac
