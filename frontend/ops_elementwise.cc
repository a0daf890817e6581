// Element-wise operators: out[i...] = f(a[i...], b[i...], ...), operands broadcast by numpy's rule.
#include <fmt/format.h>

#include "frontend/ops.h"

namespace arenac {
namespace {

// One operand.
template <auto kFunction>
void unary(Lowering& node) {
  const TensorId x = node.in(0);
  Formula f(node);
  f.body(kFunction(f.broadcast(x, f.axes(node.shape(x)))));
  node.out(0, f.emit(node.type(x)));
}

// Two operands of one type; the result has `kFunction`'s own type: bool for comparisons.
template <auto kFunction>
void binary(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  node.require(node.type(a) == node.type(b), "the operands' types differ");
  Formula f(node);
  const auto out = f.axes(broadcast_shape(node, {node.shape(a), node.shape(b)}));
  const Expr value = kFunction(f.broadcast(a, out), f.broadcast(b, out));
  f.body(value);
  node.out(0, f.emit(value->type == Type::kBool ? Type::kBool : node.type(a)));
}

// One operand and attributes.
template <auto kFunction>
void unary_with_attributes(Lowering& node) {
  const TensorId x = node.in(0);
  Formula f(node);
  f.body(kFunction(f.broadcast(x, f.axes(node.shape(x))), node));
  node.out(0, f.emit(node.type(x)));
}

constexpr auto kRelu = [](const Expr& x) { return max(x, 0); };
constexpr auto kSigmoid = [](const Expr& x) { return 1 / (1 + exp(-x)); };
constexpr auto kLeakyRelu = [](const Expr& x, const Lowering& node) {
  return select(x < 0, x * node.float_attr("alpha", 0.01f), x);
};

constexpr OperatorRow kRows[] = {
    {"", "Add", 7, binary<[](const Expr& a, const Expr& b) { return a + b; }>},
    {"", "LeakyRelu", 6, unary_with_attributes<kLeakyRelu>},
    {"", "Less", 7, binary<[](const Expr& a, const Expr& b) { return a < b; }>},
    {"", "Mul", 7, binary<[](const Expr& a, const Expr& b) { return a * b; }>},
    {"", "Relu", 6, unary<kRelu>},
    {"", "Sigmoid", 6, unary<kSigmoid>},
};

}  // namespace

std::span<const OperatorRow> elementwise_operators() { return kRows; }

}  // namespace arenac
