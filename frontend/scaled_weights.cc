#include "frontend/scaled_weights.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

constexpr int64_t kMostWeights = 1 << 24;  // elements: more take long
constexpr int64_t kMostScales = 1 << 16;

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

// Whether the tensor was folded from numbers and their scales, and not from floats of fewer bits alone.
bool was_scaled(const Tensor& tensor) {
  if (!tensor.folded_from) return false;
  const Expr& element = std::get<Nests>(tensor.folded_from->body).front().body;
  return element->op != Op::kCast || !is_float(element->args[0]->type);
}

class WeightScaler {
 public:
  explicit WeightScaler(Graph graph) : graph_(std::move(graph)), reads_(times_read(graph_)) {}

  Graph run() {
    visit_nests(graph_.block, [&](Node& node, Nests& nests) {
      if (nests.size() == 1) rewrite(node, nests.front());
    });
    return std::move(graph_);
  }

 private:
  void rewrite(Node& node, Nest& nest) {
    if (nest.combine != Combine::kSum || nest.finish.empty() || !is_float(nest.body->type)) return;
    Operands operands{node.reads};
    const auto found = largest_affine(nest.finish, operands, graph_);
    if (!found || found->second.scale.empty() || names_sum_beside(nest.finish, found->first)) return;
    const auto& [part, form] = *found;
    const auto weights = weights_for(nest.body, nest, form.scale, operands);
    if (!weights) return;
    const Expr shift = form.shift.empty() ? Expr() : tabulated(form.shift, nest, operands, graph_);
    if (!shift.empty() && shift->op == Op::kRead && !is_finite(operands.ids[shift->index])) return;
    const auto scaled = scaled_weights(*weights, form.scale, operands);
    if (!scaled) return;

    const Expr read_scaled = read(operands.of(*scaled), (*weights)->type, (*weights)->args);
    Expr sum = accumulator(nest.body->type);
    if (!shift.empty()) sum = sum + shift;
    Expr finish = substitute(nest.finish, [&](const Expr& x) { return same(x, part) ? sum : Expr(); });
    nest.body =
        substitute(nest.body, [&](const Expr& x) { return same(x, *weights) ? read_scaled : Expr(); });
    nest.finish = finish->op == Op::kAcc ? Expr() : std::move(finish);
    node.reads = std::move(operands.ids);
    node = with_used_operands(std::move(node));
  }

  // Whether the sum as it is before it is scaled is of use, too.
  static bool names_sum_beside(const Expr& e, const Expr& part) {
    if (same(e, part)) return false;
    return e->op == Op::kAcc || std::any_of(e->args.begin(), e->args.end(),
                                            [&](const Expr& arg) { return names_sum_beside(arg, part); });
  }

  bool is_finite(TensorId constant) const {
    const Value& value = *graph_.tensors[constant].constant;
    for (int64_t k = 0; k < value.count(); ++k)
      if (!std::isfinite(load(value, k).f)) return false;
    return true;
  }

  // A factor of the body, read there only, that can take the scale.
  std::optional<Expr> weights_for(const Expr& factor, const Nest& nest, const Expr& scale,
                                  const Operands& operands) const {
    if (factor->op == Op::kMul) {
      auto left = weights_for(factor->args[0], nest, scale, operands);
      return left ? left : weights_for(factor->args[1], nest, scale, operands);
    }
    if (factor->op != Op::kRead || factor->type != scale->type) return std::nullopt;
    const TensorId id = operands.ids[factor->index];
    const Tensor& tensor = graph_.tensors[id];
    if (!tensor.constant || was_scaled(tensor) || tensor.type != factor->type || reads_[id] != 1 ||
        tensor.constant->count() > kMostWeights)
      return std::nullopt;
    const Expr apart = by_dimension(scale, factor, [](int) { return integer(0); });
    bool covers = !any_of(apart, [](const Expr& x) { return x->op == Op::kAxis; });
    for (size_t d = 0; d < tensor.shape.size(); ++d)  // all of each dimension is read
      covers &= interval(factor->args[d], axis_intervals(nest), {}) == Interval{0, tensor.shape[d]};
    return times_read(nest.body, factor->index) == 1 && covers ? std::optional(factor) : std::nullopt;
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

  // Nothing where a product is out of the type's range.
  std::optional<TensorId> scaled_weights(const Expr& weights, const Expr& scale, const Operands& operands) {
    const Expr by = by_dimension(scale, weights, [](int d) { return axis(d); });
    const Tensor& tensor = graph_.tensors[operands.ids[weights->index]];
    Shape extents = tensor.shape;  // of the scale
    for (size_t d = 0; d < extents.size(); ++d)
      if (!names_axis(by, static_cast<int>(d))) extents[d] = std::min<int64_t>(extents[d], 1);
    if (element_count(extents) > kMostScales) return std::nullopt;
    const Value factors = fixed_value(extents, by, operands, graph_);

    auto products = std::make_shared<Value>(*tensor.constant);
    const auto strides = row_major_strides(extents);
    const double least = tensor.type == Type::kFloat64 ? DBL_MIN : FLT_MIN;
    for (int64_t k = 0; k < products->count(); ++k) {
      int64_t rest = k, at = 0;
      for (size_t d = extents.size(); d-- > 0; rest /= tensor.shape[d])
        if (extents[d] > 1) at += rest % tensor.shape[d] * strides[d];
      const double weight = load(*products, k).f;
      store(*products, k, {.f = weight * load(factors, at).f});
      const double product = load(*products, k).f;
      if (!std::isfinite(product) || (std::abs(product) < least && product != weight)) return std::nullopt;
    }
    Tensor scaled = {tensor.name, tensor.type, tensor.shape, std::move(products)};
    graph_.tensors.push_back(std::move(scaled));
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  Graph graph_;
  std::vector<int> reads_;
};

}  // namespace

Graph with_scaled_weights(Graph graph) { return WeightScaler(std::move(graph)).run(); }

}  // namespace arenac
