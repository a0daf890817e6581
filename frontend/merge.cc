#include "frontend/merge.h"

#include <algorithm>
#include <set>

#include "frontend/error.h"
#include "frontend/facts.h"
#include "frontend/interpret.h"

namespace arenac {

// Nodes have few operands: a linear search is the fastest.
int Operands::of(TensorId id) {
  const auto at = std::find(ids.begin(), ids.end(), id);
  if (at == ids.end()) return ids.push_back(id), static_cast<int>(ids.size()) - 1;
  return static_cast<int>(at - ids.begin());
}

// Operands are numbered anew in the order in which the nests first read them:
//
//   reads {a, b, b, c}, body x1[i] + x2[i] * x3[i]     ->     reads {b, c}, body x0[i] + x0[i] * x1[i]
//
// Indices may read, too: they come before what they index.
Node with_used_operands(Node node) {
  Operands used;
  const auto renumbered = [&](const auto& self, const Expr& e) -> Expr {
    if (e.empty()) return e;
    return substitute(e, [&](const Expr& x) -> Expr {
      if (x->op != Op::kRead) return {};
      std::vector<Expr> indices;
      for (const Expr& index : x->args) indices.push_back(self(self, index));
      return read(used.of(node.reads[x->index]), x->type, std::move(indices));
    });
  };
  const auto renumber = [&](Expr& e) { e = renumbered(renumbered, e); };
  for (Nest& nest : std::get<Nests>(node.body)) visit_expressions(nest, renumber);
  node.reads = std::move(used.ids);
  return node;
}

// Each index must be an axis of exactly the dimension's extent that no other index is, or the 0 of a
// dimension of 1; then points and elements correspond one to one. An offset, a stride or a reduced axis:
// nothing.
std::optional<std::vector<int>> dimension_of_axes(const std::vector<Expr>& indices, const Shape& shape,
                                                  const std::vector<Axis>& axes) {
  std::vector<int> dimension(axes.size(), -1);
  for (size_t d = 0; d < indices.size(); ++d) {
    if (is_constant(indices[d], 0) && shape[d] == 1) continue;
    // an iteration's number is negative: none
    const int a = indices[d]->op == Op::kAxis ? indices[d]->index : -1;
    if (a < 0 || dimension[a] >= 0 || axes[a].reduced || axes[a].extent != shape[d]) return std::nullopt;
    dimension[a] = static_cast<int>(d);
  }
  for (size_t a = 0; a < axes.size(); ++a)
    if (axes[a].extent != 1 && dimension[a] < 0) return std::nullopt;
  return dimension;
}

// 0: an input or a constant. 1: its elements are the same whenever it is read. More: control flow assigns it.
std::vector<int> times_written(const Graph& graph) {
  std::vector<int> written(graph.tensors.size());
  const auto count = [&](const auto& self, const Block& block) -> void {
    for (const Node& node : block) {
      const auto inside = blocks_of(node);
      for (const Block* inner : inside) self(self, *inner);
      if (!inside.empty()) continue;  // its writes are those of its blocks
      for (TensorId id : node.writes) ++written[id];
      if (writes_by_iteration(node)) written[node.writes[0]] = 2;
    }
  };
  count(count, graph.block);
  return written;
}

// Nodes, not reads in their formulas: a node counts as often as it lists the tensor.
std::vector<int> times_read(const Graph& graph) {
  std::vector<int> read(graph.tensors.size());
  for (TensorId id : graph.outputs) ++read[id];
  const auto count = [&](const auto& self, const Block& block) -> void {
    for (const Node& node : block) {
      for (TensorId id : tensors_read(node)) ++read[id];
      for (const Block* inner : blocks_of(node)) self(self, *inner);
    }
  };
  count(count, graph.block);
  return read;
}

int times_read(const Expr& e, int operand) {
  int count = 0;
  any_of(e, [&](const Expr& x) {
    count += x->op == Op::kRead && x->index == operand;
    return false;
  });
  return count;
}

int times_read(const Nest& nest, int operand) {
  int count = 0;
  visit_reads(nest, [&](const Expr& read) { count += read->index == operand; });
  return count;
}

// Whether it also writes all of its result is dimension_of_axes' question.
bool is_plain(const Nest& nest) {
  return nest.combine == Combine::kNone && nest.where.empty() && nest.finish.empty();
}

//   y[i0] = x[i0] * 2, axes {k + 1}   ->   x[k + 1] * 2
Expr element_at(const Node& node, const Nest& nest, const std::vector<Expr>& axes, Operands& operands) {
  const auto at_axes = [&](const auto& self, const Expr& e) -> Expr {
    return substitute(e, [&](const Expr& x) -> Expr {
      if (x->op == Op::kAxis && x->index >= 0) return axes[x->index];
      if (x->op != Op::kRead) return {};
      std::vector<Expr> inner;
      for (const Expr& index : x->args) inner.push_back(self(self, index));
      return read(operands.of(node.reads[x->index]), x->type, std::move(inner));
    });
  };
  return at_axes(at_axes, nest.body);
}

// From the result's indices to the axes, by what the store says:
//
//   y[i1, i0] = f(x[i0, i1]),  y at {r, c}   ->   axes {c, r}   ->   f(x[c, r])
Expr element_of(const Node& node, const Shape& shape, const std::vector<Expr>& indices, Operands& operands) {
  const Nest& nest = std::get<Nests>(node.body)[0];
  std::vector<Expr> axes;
  const auto dimensions = dimension_of_axes(nest.store, shape, nest.axes);
  ARENAC_CHECK(dimensions, "the axes are the result's dimensions");
  for (int d : *dimensions) axes.push_back(d < 0 ? integer(0) : indices[d]);
  return element_at(node, nest, axes, operands);
}

bool is_fixed(const Expr& e, const Operands& operands, const Graph& graph) {
  return !any_of(e, [&](const Expr& x) {
    return x->op == Op::kAcc || is_iteration(x) ||
           (x->op == Op::kRead && !graph.tensors[operands.ids[x->index]].constant);
  });
}

// By the interpreter, so with the very bits that folding would give.
Value fixed_value(const Shape& shape, const Expr& element, const Operands& operands, const Graph& graph) {
  Nest nest = copy_nest(element->type, shape);
  nest.body = element;
  std::vector<const Value*> reads;  // null: not read
  for (TensorId id : operands.ids) reads.push_back(graph.tensors[id].constant.get());
  Value value(element->type, shape);
  run_nest(nest, reads, value);
  return value;
}

//   s[i1] * 0.5 / t[i1], both known, of 16 numbers    ->    table[i1], 16 numbers that are computed once
//
// Not where the table would hold more elements than what it is made of: a scalar times an axis is no reason
// for one.
Expr tabulated(const Expr& e, const Nest& nest, Operands& operands, Graph& graph) {
  std::set<int> axes;
  int64_t read_from = 0;  // elements
  any_of(e, [&](const Expr& x) {
    if (x->op == Op::kAxis) axes.insert(x->index);
    if (x->op == Op::kRead) read_from += element_count(graph.tensors[operands.ids[x->index]].shape);
    return false;
  });
  if (read_from == 0 || axes.size() > 1 || e->op == Op::kRead || !is_fixed(e, operands, graph)) return e;
  const Expr element = substitute(e, [](const Expr& x) { return x->op == Op::kAxis ? axis(0) : Expr(); });
  const int64_t extent = axes.empty() ? 1 : nest.axes[*axes.begin()].extent;
  if (extent > read_from) return e;
  auto table = std::make_shared<const Value>(fixed_value({extent}, element, operands, graph));
  const int operand = operands.of(static_cast<TensorId>(graph.tensors.size()));
  graph.tensors.push_back({"table", e->type, {extent}, std::move(table)});
  return read(operand, e->type, {axes.empty() ? integer(0) : axis(*axes.begin())});
}

}  // namespace arenac
