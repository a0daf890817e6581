#include "frontend/integer_sums.h"

#include <algorithm>
#include <limits>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

// The expression, its operands `operands` now, with constants read in the form that they were folded from.
Expr unfolded(const Expr& e, const Graph& graph, Operands& operands) {
  return substitute(e, [&](const Expr& x) -> Expr {
    if (x->op != Op::kRead) return {};
    const Tensor& tensor = graph.tensors[operands.ids[x->index]];
    return tensor.folded_from ? element_of(*tensor.folded_from, tensor.shape, x->args, operands) : x;
  });
}

// The factors of a product.
struct Factors {
  std::vector<Expr> integers;  // as int32
  std::vector<Expr> scales;    // float32, the same for all that a nest reduces
};

// False where a factor is neither.
bool factor(const Expr& e, const Nest& nest, Factors& all) {
  if (e->op == Op::kMul) return factor(e->args[0], nest, all) && factor(e->args[1], nest, all);
  if (e->op == Op::kCast) {
    const Expr& x = e->args[0];
    if (is_float(x->type) || x->type == Type::kBool || size_of(x->type) > 4) return false;
    return all.integers.push_back(cast(Type::kInt32, x)), true;
  }
  const bool varies = any_of(
      e, [&](const Expr& x) { return x->op == Op::kAxis && x->index >= 0 && nest.axes[x->index].reduced; });
  if (!varies) all.scales.push_back(e);
  return !varies;
}

Expr product(const std::vector<Expr>& factors) {
  Expr all = factors[0];
  for (size_t k = 1; k < factors.size(); ++k) all = all * factors[k];
  return all;
}

class IntegerSummer {
 public:
  explicit IntegerSummer(Graph graph) : graph_(std::move(graph)) {}

  Graph run() {
    visit_nests(graph_.block, [&](Node& node, Nests&) { rewrite(node); });
    return std::move(graph_);
  }

 private:
  void rewrite(Node& node) {
    Nests nests = std::get<Nests>(node.body);
    Operands operands{node.reads};
    bool changed = false;
    for (Nest& nest : nests)
      if (auto summed = in_integers(nest, operands)) nest = std::move(*summed), changed = true;
    if (!changed) return;
    node.reads = std::move(operands.ids);
    node.body = std::move(nests);
    node = with_used_operands(std::move(node));
  }

  std::optional<Nest> in_integers(const Nest& nest, Operands& operands) {
    if (nest.combine != Combine::kSum || nest.accumulate || nest.body->type != Type::kFloat32)
      return std::nullopt;
    Operands more = operands;
    Factors factors;
    if (!factor(unfolded(nest.body, graph_, more), nest, factors) || factors.integers.empty())
      return std::nullopt;
    Nest summed = nest;
    summed.body = product(factors.integers);
    if (most_of_sums(summed, more.ids, graph_) > std::numeric_limits<int32_t>::max()) return std::nullopt;
    operands = std::move(more);
    Expr value = cast(Type::kFloat32, accumulator(Type::kInt32));
    if (!factors.scales.empty()) value = value * tabulated(product(factors.scales), nest, operands, graph_);
    summed.finish = finished(nest.finish, value);
    return summed;
  }

  Graph graph_;
};

}  // namespace

int64_t most_of_sums(const Nest& nest, const std::vector<TensorId>& reads, const Graph& graph) {
  std::vector<const Tensor*> tensors;
  for (TensorId id : reads) tensors.push_back(&graph.tensors[id]);
  const ClosedInterval range = closed_interval(nest.body, axis_intervals(nest), tensors);
  __int128 most = std::max(-static_cast<__int128>(range.low), static_cast<__int128>(range.high));
  for (const Axis& a : nest.axes) {
    if (a.reduced) most *= std::max<int64_t>(a.extent, 1);
    if (most > std::numeric_limits<int64_t>::max()) return std::numeric_limits<int64_t>::max();
  }
  return static_cast<int64_t>(most);
}

Graph with_integer_sums(Graph graph) { return IntegerSummer(std::move(graph)).run(); }

}  // namespace arenac
