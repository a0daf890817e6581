#include "frontend/zero_points.h"

#include <algorithm>
#include <map>
#include <optional>

#include "frontend/facts.h"
#include "frontend/interpret.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

constexpr int64_t kMostTerms = 1 << 26;  // of the sums of constants: more take long

bool varies_in_sum(const Expr& e, const Nest& nest) {
  return any_of(
      e, [&](const Expr& x) { return x->op == Op::kAxis && x->index >= 0 && nest.axes[x->index].reduced; });
}

// (element - zero) * weight
struct CentredProduct {
  Expr element, zero, weight;
};
std::optional<CentredProduct> centred_product(const Nest& nest, const Operands& operands,
                                              const Graph& graph) {
  const Expr& body = nest.body;
  if (body->op != Op::kMul || body->type != Type::kInt32) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const Expr &difference = body->args[side], &weight = body->args[1 - side];
    if (difference->op != Op::kSub || !is_fixed(weight, operands, graph)) continue;
    const Expr& zero = difference->args[1];
    if (is_fixed(zero, operands, graph) || varies_in_sum(zero, nest)) continue;
    return CentredProduct{difference->args[0], zero, weight};
  }
  return std::nullopt;
}

class Rewriter {
 public:
  explicit Rewriter(Graph graph) : graph_(std::move(graph)) {}

  Graph run() {
    visit_nests(graph_.block, [&](Node& node, Nests& nests) {
      if (nests.size() == 1) rewrite(node, nests.front());
    });
    return std::move(graph_);
  }

 private:
  void rewrite(Node& node, Nest& nest) {
    if (nest.combine != Combine::kSum || nest.accumulate || !nest.where.empty()) return;
    Operands operands{node.reads};
    const auto product = centred_product(nest, operands, graph_);
    if (!product) return;
    const auto weights = sum_of(product->weight, nest, operands);
    if (!weights) return;
    nest.body = product->element * product->weight;
    nest.finish = finished(nest.finish, accumulator(Type::kInt32) - product->zero * *weights);
    node.reads = std::move(operands.ids);
    node = with_used_operands(std::move(node));
  }

  // The sum of the weights alone, read from a constant that has it for each point of the axes that they name.
  std::optional<Expr> sum_of(const Expr& weight, const Nest& nest, Operands& operands) {
    Nest sum;
    sum.combine = Combine::kSum;
    std::map<int, int> axis_of;  // of the sum, per axis of the nest
    Shape shape;
    std::vector<Expr> indices;
    int64_t terms = 1;
    for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a) {
      const Axis& each = nest.axes[a];
      if (!each.reduced && !names_axis(weight, a)) continue;
      axis_of[a] = static_cast<int>(sum.axes.size());
      sum.axes.push_back(each);
      if (__builtin_mul_overflow(terms, each.extent, &terms) || terms > kMostTerms) return std::nullopt;
      if (each.reduced) continue;
      sum.store.push_back(axis(axis_of[a]));
      shape.push_back(each.extent);
      indices.push_back(axis(a));
    }
    sum.body = substitute(
        weight, [&](const Expr& x) { return x->op == Op::kAxis ? axis(axis_of.at(x->index)) : Expr(); });
    std::vector<const Value*> reads;
    for (TensorId id : operands.ids) reads.push_back(graph_.tensors[id].constant.get());
    auto table = std::make_shared<Value>(Type::kInt32, shape);
    run_nest(sum, reads, *table);
    const int operand = operands.of(static_cast<TensorId>(graph_.tensors.size()));
    graph_.tensors.push_back({"sums of weights", Type::kInt32, shape, std::move(table)});
    return read(operand, Type::kInt32, indices);
  }

  Graph graph_;
};

}  // namespace

Graph with_zero_points_outside(Graph graph) { return Rewriter(std::move(graph)).run(); }

}  // namespace arenac
