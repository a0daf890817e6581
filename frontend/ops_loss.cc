// Losses, of use at inference where a model reports its own:
//
//   loss[n,d...] = -x[n, t[n,d...], d...] * weight[t[n,d...]]        0 where the target t is ignore_index
#include <fmt/format.h>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// The operands of one element's loss; `weight` may be kAbsent.
struct Loss {
  TensorId x, target, weight;
};

// What one element contributes, at `at` of the target: its weight, and its loss.
struct Terms {
  Expr weight, loss;
};

Terms terms_at(const Lowering& node, Formula& f, const Loss& l, const std::vector<Expr>& at) {
  const Expr t = cast(Type::kInt64, f.read(l.target, at));
  const Expr chosen = min(max(t, 0), integer(node.shape(l.x)[1] - 1));
  std::vector<Expr> index = at;
  index.insert(index.begin() + 1, chosen);
  const Expr x = f.read(l.x, index);
  Expr weight = l.weight == kAbsent ? constant(x->type, 1) : f.read(l.weight, {chosen});
  if (node.has("ignore_index"))
    weight = select(t == integer(node.attribute("ignore_index").i), constant(x->type, 0), weight);
  return {weight, -x * weight};
}

TensorId summed(Lowering& node, const Loss& l, Expr Terms::*term, Type type) {
  Formula f(node);
  std::vector<Expr> at;
  for (int64_t extent : node.shape(l.target)) at.push_back(f.reduced(extent));
  f.sum(terms_at(node, f, l, at).*term);
  return f.emit(type, {});
}

TensorId reduced_loss(Lowering& node, const Loss& l, Type type) {
  const std::string reduction = node.string_attr("reduction", "mean");
  if (reduction == "sum") return summed(node, l, &Terms::loss, type);
  if (reduction == "none") {
    Formula f(node);
    f.body(terms_at(node, f, l, f.axes(node.shape(l.target))).loss);
    return f.emit(type);
  }
  node.require(reduction == "mean", fmt::format("unknown reduction '{}'", reduction));
  const Type real = compute_type(node.type(l.x));
  const auto ratio = [](const Expr& loss, const Expr& weight) { return loss / weight; };
  return pointwise(node, type, ratio, summed(node, l, &Terms::loss, real),
                   summed(node, l, &Terms::weight, real));
}

Loss checked(const Lowering& node) {
  const Loss l{node.in(0), node.in(1), optional_input(node, 2)};
  Shape expected = node.shape(l.x);
  node.require(expected.size() >= 2 && is_float(node.type(l.x)) && expected[1] > 0,
               "needs a float input [N, C, ...]");
  const Shape classes = {expected[1]};
  expected.erase(expected.begin() + 1);
  node.require(node.shape(l.target) == expected && !is_float(node.type(l.target)),
               "the target does not fit the input");
  node.require(
      l.weight == kAbsent || (node.shape(l.weight) == classes && node.type(l.weight) == node.type(l.x)),
      "the weights do not fit the classes");
  return l;
}

void negative_log_likelihood(Lowering& node) {
  const Loss l = checked(node);
  node.out(0, reduced_loss(node, l, node.type(l.x)));
}

void softmax_cross_entropy(Lowering& node) {
  Loss l = checked(node);
  const Type type = node.type(l.x);
  l.x = log_softmax_over(node, l.x, {1}, type);
  node.out(0, reduced_loss(node, l, type));
  if (node.wants(1)) node.out(1, l.x);
}

}  // namespace

std::span<const OperatorRow> loss_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "NegativeLogLikelihoodLoss", 12, negative_log_likelihood},
      {"", "SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy},
  };
  return kRows;
}

}  // namespace arenac
