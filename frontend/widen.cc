#include <algorithm>

#include "frontend/graph.h"

namespace arenac {
namespace {

bool is_narrow(const Tensor& t) { return is_half(t.type); }

// The node's nests with float32 reads of the operands that are `wide`, 16-bit until now.
void read_wide(Node& node, const std::vector<bool>& wide) {
  const auto rewritten = [&](const Expr& e) {
    return e.empty() ? e : substitute(e, [&](const Expr& x) -> Expr {
      const bool of_wide = x->op == Op::kCast && x->args[0]->op == Op::kRead && wide[x->args[0]->index];
      return of_wide ? cast(x->type, read(x->args[0]->index, Type::kFloat32, x->args[0]->args)) : Expr();
    });
  };
  for (Nest& nest : std::get<Nests>(node.body))
    nest.body = rewritten(nest.body), nest.finish = rewritten(nest.finish);
}

// Calls `visit` with every node of the block that does work, in order.
template <typename Visit>
void for_each_step(Block& block, const Visit& visit) {
  for (Node& node : block) {
    const auto inside = blocks_of(node);
    for (Block* inner : inside) for_each_step(*inner, visit);
    if (inside.empty()) visit(node);
  }
}

// The float32 twin of a 16-bit constant, made at most once.
TensorId widened(Graph& graph, TensorId id, std::map<TensorId, TensorId>& twins) {
  const auto [at, fresh] = twins.emplace(id, static_cast<TensorId>(graph.tensors.size()));
  if (fresh) {
    const Value& narrow = *graph.tensors[id].constant;
    auto wide = std::make_shared<Value>(Type::kFloat32, narrow.shape);
    for (int64_t k = 0; k < narrow.count(); ++k) store(*wide, k, load(narrow, k));
    Nest made = copy_nest(graph.tensors[id].type, narrow.shape);
    made.body = cast(Type::kFloat32, made.body);
    Node folded{graph.tensors[id].name, "Cast", {id}, {at->second}, Nests{std::move(made)}};
    graph.tensors.push_back({graph.tensors[id].name, Type::kFloat32, narrow.shape, std::move(wide),
                             std::make_shared<const Node>(std::move(folded))});
  }
  return at->second;
}

// A nest that only moves or converts elements.
bool is_move(const Nest& nest) {
  const bool casts = nest.body->op == Op::kCast;
  return nest.finish.empty() && (casts ? nest.body->args[0] : nest.body)->op == Op::kRead &&
         (nest.combine == Combine::kNone);
}

// 16-bit tensors that nests alone touch, that one node writes, and that are at most `most` bytes as float32.
std::vector<bool> widenable(Graph& graph, int64_t most) {
  std::vector<int> writers(graph.tensors.size());
  std::vector<bool> may(graph.tensors.size());
  for (size_t id = 0; id < may.size(); ++id) {
    const Tensor& t = graph.tensors[id];
    may[id] = is_narrow(t) && !t.constant && element_count(t.shape) * size_of(Type::kFloat32) <= most;
  }
  const auto forbid = [&](const std::vector<TensorId>& ids) {
    for (TensorId id : ids) may[id] = false;
  };
  forbid(graph.inputs), forbid(graph.outputs);
  for_each_step(graph.block, [&](const Node& node) {
    for (TensorId id : node.writes)
      if (++writers[id] > 1) may[id] = false;
    if (!std::holds_alternative<Nests>(node.body)) forbid(node.reads), forbid(node.writes);
  });
  return may;
}

}  // namespace

Graph with_wide_constants(Graph graph) {
  std::map<TensorId, TensorId> twins;
  for_each_step(graph.block, [&](Node& node) {
    if (!std::holds_alternative<Nests>(node.body)) return;
    std::vector<bool> wide(node.reads.size());
    for (size_t k = 0; k < node.reads.size(); ++k) {
      const Tensor& t = graph.tensors[node.reads[k]];
      wide[k] = t.constant && is_narrow(t);
      if (wide[k]) node.reads[k] = widened(graph, node.reads[k], twins);
    }
    read_wide(node, wide);
  });
  return graph;
}

Graph with_wide_activations(Graph graph, int64_t most) {
  const std::vector<bool> may = widenable(graph, most);
  std::vector<bool> is_wide(graph.tensors.size());
  for_each_step(graph.block, [&](Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) return;
    std::vector<bool> wide;
    for (TensorId id : node.reads) wide.push_back(is_wide[id]);
    const bool moves = std::all_of(nests->begin(), nests->end(), is_move);
    const TensorId out = node.writes[0];
    // What is only moved stays as it is, so that views stay views and a cast to 16 bits rounds.
    if (may[out] && (!moves || std::find(wide.begin(), wide.end(), false) == wide.end())) {
      is_wide[out] = true;
      graph.tensors[out].type = Type::kFloat32;
    }
    read_wide(node, wide);
  });
  return graph;
}

}  // namespace arenac
