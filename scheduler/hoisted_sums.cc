#include "scheduler/hoisted_sums.h"

#include <algorithm>
#include <set>

#include "frontend/loop_fusion.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

// The nest of a node that is a sum over its operands.
const Nest* sum_of(const Node& node) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests || nests->size() != 1 || nests->front().combine != Combine::kSum || nests->front().accumulate)
    return nullptr;
  const auto& axes = nests->front().axes;
  return std::ranges::any_of(axes, [](const Axis& a) { return a.reduced && a.extent > 1; }) ? &nests->front()
                                                                                            : nullptr;
}

// The nest with `change` of each of its expressions.
template <typename Change>
Nest changed(Nest nest, const Change& change) {
  const auto apply = [&](Expr& e) {
    if (!e.empty()) e = substitute(e, change);
  };
  for (Bound& bound : nest.where) apply(bound.index);
  for (Expr& index : nest.store) apply(index);
  apply(nest.body);
  apply(nest.finish);
  return nest;
}

class Hoister {
 public:
  explicit Hoister(Graph graph) : graph_(std::move(graph)), written_(times_written(graph_)) {}

  Graph run() {
    Block block;
    for (Node& node : graph_.block) {
      if (const Loop* loop = static_loop(node)) {
        std::set<TensorId> of_loop;
        visit_nodes(node,
                    [&](const Node& inner) { of_loop.insert(inner.writes.begin(), inner.writes.end()); });
        for (const int at : hoistable(*loop, of_loop))
          hoist(std::get<Loop>(node.body), static_cast<size_t>(at), block);
        std::erase_if(std::get<Loop>(node.body).body, [](const Node& inner) { return inner.writes.empty(); });
      }
      block.push_back(std::move(node));
    }
    graph_.block = std::move(block);
    return std::move(graph_);
  }

 private:
  // The nodes of the loop's block that can be before it: of constants and what was there before, read by
  // nests of the same block alone.
  std::vector<int> hoistable(const Loop& loop, const std::set<TensorId>& of_loop) const {
    std::vector<int> all;
    for (int k = 0; k < static_cast<int>(loop.body.size()); ++k) {
      const Node& node = loop.body[k];
      if (!sum_of(node) || written_[node.writes[0]] > 1 || size_of(graph_.tensors[node.writes[0]].type) < 4)
        continue;
      const bool is_apart =
          std::ranges::none_of(node.reads, [&](TensorId id) { return of_loop.contains(id); });
      if (is_apart && only_nests_read(loop.body, node.writes[0])) all.push_back(k);
    }
    return all;
  }

  bool only_nests_read(const Block& body, TensorId id) const {
    if (std::ranges::count(graph_.outputs, id) > 0) return false;
    int in_nests = 0;
    for (const Node& node : body)
      in_nests += std::holds_alternative<Nests>(node.body) && std::ranges::count(node.reads, id) > 0;
    return in_nests > 0 && in_nests == times_read(graph_)[id];
  }

  // Leaves a node that writes nothing in its place.
  void hoist(Loop& loop, size_t at, Block& before) {
    Node node = std::move(loop.body[at]);
    loop.body[at] = Node{.origin = node.origin, .op = node.op, .reads = {}, .writes = {}, .body = Nests{}};
    const TensorId moment = node.writes[0], all = static_cast<TensorId>(graph_.tensors.size());
    Tensor tensor = graph_.tensors[moment];
    tensor.shape.insert(tensor.shape.begin(), loop.trips);
    graph_.tensors.push_back(std::move(tensor));

    Nest& nest = std::get<Nests>(node.body).front();
    const Expr t = iteration(loop.symbol, loop.trips), axis_of_all = axis(static_cast<int>(nest.axes.size()));
    nest = changed(std::move(nest), [&](const Expr& x) { return same(x, t) ? axis_of_all : Expr(); });
    nest.axes.push_back({loop.trips, false});
    nest.store.insert(nest.store.begin(), axis_of_all);
    node.writes = {all};
    before.push_back(std::move(node));

    for (Node& reader : loop.body)
      if (std::ranges::count(reader.reads, moment) > 0) read_instead(reader, moment, all, t);
  }

  static void read_instead(Node& reader, TensorId moment, TensorId all, const Expr& t) {
    const std::vector<TensorId> ids = reader.reads;
    for (Nest& nest : std::get<Nests>(reader.body))
      nest = changed(std::move(nest), [&](const Expr& x) -> Expr {
        if (x->op != Op::kRead || ids[static_cast<size_t>(x->index)] != moment) return {};
        std::vector<Expr> indices = x->args;
        indices.insert(indices.begin(), t);
        return read(x->index, x->type, indices);
      });
    std::ranges::replace(reader.reads, moment, all);
  }

  Graph graph_;
  const std::vector<int> written_;
};

}  // namespace

Graph with_hoisted_sums(Graph graph) { return Hoister(std::move(graph)).run(); }

}  // namespace arenac
