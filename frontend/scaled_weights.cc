#include "frontend/scaled_weights.h"

#include "frontend/merge.h"

namespace arenac {
namespace {

// acc * scale + shift; each empty for none.
struct ScaledSum {
  Expr scale, shift;
};

bool names_sum(const Expr& e) {
  return any_of(e, [](const Expr& x) { return x->op == Op::kAcc; });
}

Expr scaled(const Expr& e, Op op, const Expr& by) { return e.empty() ? e : make(op, {e, by}); }

// The expression as such a form, its scale and shift fixed.
std::optional<ScaledSum> affine_in_sum(const Expr& e, const Operands& operands, const Graph& graph) {
  if (e->op == Op::kAcc) return ScaledSum{};
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul && e->op != Op::kDiv) return std::nullopt;
  const size_t side = names_sum(e->args[0]) ? 0 : 1;
  const Expr& other = e->args[1 - side];
  if (!is_fixed(other, operands, graph) || (e->op == Op::kDiv && side == 1)) return std::nullopt;
  auto form = affine_in_sum(e->args[side], operands, graph);
  if (!form) return std::nullopt;
  auto& [scale, shift] = *form;
  switch (e->op) {
    case Op::kAdd:
      shift = shift.empty() ? other : shift + other;
      break;
    case Op::kSub:
      if (side == 0) {
        shift = shift.empty() ? -other : shift - other;
      } else {
        scale = scale.empty() ? constant(e->type, -1) : -scale;
        shift = shift.empty() ? other : other - shift;
      }
      break;
    default:  // kMul, kDiv
      scale = scaled(scale.empty() ? constant(e->type, 1) : scale, e->op, other);
      shift = scaled(shift, e->op, other);
  }
  return form;
}

// The largest part of the expression that is affine in the sum.
std::optional<std::pair<Expr, ScaledSum>> largest_affine(const Expr& e, const Operands& operands,
                                                         const Graph& graph) {
  if (auto form = affine_in_sum(e, operands, graph)) return std::pair(e, std::move(*form));
  for (const Expr& arg : e->args)
    if (names_sum(arg)) return largest_affine(arg, operands, graph);
  return std::nullopt;
}

class WeightScaler {
 public:
  explicit WeightScaler(Graph graph) : graph_(std::move(graph)), reads_(times_read(graph_)) {}

  Graph run() {
    rewrite(graph_.block);
    return std::move(graph_);
  }

 private:
  void rewrite(Block& block) {
    for (Node& node : block) {
      if (If* branch = std::get_if<If>(&node.body)) {
        rewrite(branch->then_block), rewrite(branch->else_block);
      } else if (Loop* loop = std::get_if<Loop>(&node.body)) {
        rewrite(loop->body);
      } else if (Nests* nests = std::get_if<Nests>(&node.body); nests && nests->size() == 1) {
        rewrite(node, nests->front());
      }
    }
  }

  void rewrite(Node& node, Nest& nest) {
    if (nest.combine != Combine::kSum || nest.finish.empty() || !is_float(nest.body->type)) return;
    Operands operands{node.reads};
    const auto found = largest_affine(nest.finish, operands, graph_);
    if (!found || found->second.scale.empty()) return;
    const auto& [part, form] = *found;
    const Expr* weights = weights_for(nest.body, form.scale, operands);
    if (!weights) return;

    const Expr scaled =
        read(operands.of(scaled_weights(*weights, form.scale, operands)), (*weights)->type, (*weights)->args);
    Expr sum = accumulator(nest.body->type);
    if (!form.shift.empty()) sum = sum + tabulated(form.shift, nest, operands, graph_);
    Expr finish = substitute(nest.finish, [&](const Expr& x) { return same(x, part) ? sum : Expr(); });
    // Whatever else names the sum means the one before it was scaled.
    const Expr rest = substitute(
        nest.finish, [&](const Expr& x) { return same(x, part) ? constant(part->type, 0) : Expr(); });
    if (names_sum(rest)) return;
    nest.body = substitute(nest.body, [&](const Expr& x) { return same(x, *weights) ? scaled : Expr(); });
    nest.finish = finish->op == Op::kAcc ? Expr() : std::move(finish);
    node.reads = std::move(operands.ids);
    node = with_used_operands(std::move(node));
  }

  // A factor of the body that can take the scale; null if there is none.
  const Expr* weights_for(const Expr& body, const Expr& scale, const Operands& operands) const {
    if (body->op == Op::kMul) {
      const Expr* left = weights_for(body->args[0], scale, operands);
      return left ? left : weights_for(body->args[1], scale, operands);
    }
    if (body->op != Op::kRead || body->type != scale->type) return nullptr;
    const TensorId id = operands.ids[body->index];
    const Tensor& tensor = graph_.tensors[id];
    if (!tensor.constant || tensor.folded_from || tensor.type != body->type || reads_[id] != 1)
      return nullptr;
    const Expr apart = by_dimension(scale, body, [](int) { return integer(0); });
    const bool covers = !any_of(apart, [](const Expr& x) { return x->op == Op::kAxis; });
    return covers ? &body : nullptr;
  }

  // The scale with `of_dimension` d in place of what the weights' dimension d is indexed by.
  template <typename OfDimension>
  static Expr by_dimension(const Expr& scale, const Expr& weights, const OfDimension& of_dimension) {
    return substitute(scale, [&](const Expr& x) -> Expr {
      for (size_t d = 0; d < weights->args.size(); ++d)
        if (x->op != Op::kConst && same(x, weights->args[d])) return of_dimension(static_cast<int>(d));
      return {};
    });
  }

  TensorId scaled_weights(const Expr& weights, const Expr& scale, Operands operands) {
    const Tensor& tensor = graph_.tensors[operands.ids[weights->index]];
    std::vector<Expr> dims;
    for (size_t d = 0; d < tensor.shape.size(); ++d) dims.push_back(axis(static_cast<int>(d)));
    const Expr by = by_dimension(scale, weights, [](int d) { return axis(d); });
    return add_constant(graph_, tensor.name, tensor.shape, read(weights->index, weights->type, dims) * by,
                        operands);
  }

  Graph graph_;
  std::vector<int> reads_;
};

}  // namespace

Graph with_scaled_weights(Graph graph) { return WeightScaler(std::move(graph)).run(); }

}  // namespace arenac
