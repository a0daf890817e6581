#include "scheduler/hoisted_sums.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/loop_moments.h"
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

class Hoister {
 public:
  explicit Hoister(Graph graph)
      : graph_(std::move(graph)), written_(times_written(graph_)), read_(times_read(graph_)) {}

  Graph run() {
    Block block;
    for (Node& node : graph_.block) {
      if (static_loop(node)) hoist(node, block);
      block.push_back(std::move(node));
    }
    graph_.block = std::move(block);
    return std::move(graph_);
  }

 private:
  // Moves what can be before the loop there.
  void hoist(Node& node, Block& before) {
    std::set<TensorId> of_loop;
    visit_nodes(node, [&](const Node& inner) { of_loop.insert(inner.writes.begin(), inner.writes.end()); });
    Loop& loop = std::get<Loop>(node.body);
    std::vector<bool> hoists;
    for (const Node& inner : loop.body) hoists.push_back(can_be_before(inner, loop, of_loop));
    const Expr t = iteration(loop.symbol, loop.trips);
    Block body;
    std::map<TensorId, TensorId> of_all;  // per tensor of a moment, that of all
    for (size_t k = 0; k < hoists.size(); ++k) {
      Node& inner = loop.body[k];
      if (!hoists[k]) {
        body.push_back(std::move(inner));
        continue;
      }
      const TensorId moment = inner.writes[0];
      before.push_back(for_all_moments(std::move(inner), loop, t));
      of_all.emplace(moment, before.back().writes[0]);
    }
    for (Node& reader : body)
      for (const auto& [moment, all] : of_all)
        if (std::ranges::count(reader.reads, moment) > 0) read_instead(reader, moment, all, t);
    loop.body = std::move(body);
  }

  // Whether a node of the loop's block sums constants and what was there before, for nests of that block.
  bool can_be_before(const Node& node, const Loop& loop, const std::set<TensorId>& of_loop) const {
    if (!sum_of(node)) return false;
    const TensorId id = node.writes[0];
    return written_[id] == 1 && size_of(graph_.tensors[id].type) >= 4 &&
           std::ranges::none_of(node.reads, [&](TensorId read) { return of_loop.contains(read); }) &&
           only_nests_read(loop.body, id);
  }

  bool only_nests_read(const Block& body, TensorId id) const {
    const auto in_nests = std::ranges::count_if(body, [&](const Node& node) {
      return std::holds_alternative<Nests>(node.body) && std::ranges::count(node.reads, id) > 0;
    });
    return in_nests > 0 && in_nests == read_[id];
  }

  Node for_all_moments(Node node, const Loop& loop, const Expr& t) {
    const auto all = static_cast<TensorId>(graph_.tensors.size());
    Tensor tensor = graph_.tensors[node.writes[0]];
    tensor.shape.insert(tensor.shape.begin(), loop.trips);
    graph_.tensors.push_back(std::move(tensor));
    Nest& nest = std::get<Nests>(node.body).front();
    const Expr moment = axis(static_cast<int>(nest.axes.size()));
    nest = with_substituted(std::move(nest), [&](const Expr& x) { return same(x, t) ? moment : Expr(); });
    nest.axes.push_back({loop.trips, false});
    nest.store.insert(nest.store.begin(), moment);
    node.writes = {all};
    return node;
  }

  static void read_instead(Node& reader, TensorId moment, TensorId all, const Expr& t) {
    const std::vector<TensorId> ids = reader.reads;
    for (Nest& nest : std::get<Nests>(reader.body))
      nest = with_substituted(std::move(nest), [&](const Expr& x) -> Expr {
        if (x->op != Op::kRead || ids[static_cast<size_t>(x->index)] != moment) return {};
        std::vector<Expr> indices = x->args;
        indices.insert(indices.begin(), t);
        return read(x->index, x->type, indices);
      });
    std::ranges::replace(reader.reads, moment, all);
  }

  Graph graph_;
  const std::vector<int> written_, read_;  // times
};

}  // namespace

Graph with_hoisted_sums(Graph graph) { return Hoister(std::move(graph)).run(); }

}  // namespace arenac
