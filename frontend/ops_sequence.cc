// Operators that are no loop nest: C kernels along an axis, or over matrices.
#include <fmt/format.h>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

TensorId cumulated(Lowering& node, TensorId x, int64_t axis, int64_t product) {
  const Around a = around(node.shape(x), axis);
  Type type = node.type(x);
  if (type == Type::kInt32) type = Type::kUint32;  // the same bits, without overflow
  if (type == Type::kInt64) type = Type::kUint64;
  node.require(is_float(type) || size_of(type) >= 4, "the element type is not supported");
  const std::vector<int64_t> parameters = {
      a.outer, a.extent, a.inner, node.int_attr("exclusive", 0) != 0, node.int_attr("reverse", 0) != 0,
      product};
  return node.call("cumulate", type, {x}, parameters, {{node.type(x), node.shape(x)}})[0];
}

// CumSum and CumProd. Along an axis that only the run knows: along every axis, and a choice.
template <int kProduct>
void cumulate(Lowering& node) {
  const TensorId x = node.in(0), axis = node.in(1);
  const int64_t rank = node.rank(x);
  node.require(rank > 0, "a scalar has no axis");
  node.require(element_count(node.shape(axis)) == 1 && !is_float(node.type(axis)),
               "one integer axis is needed");
  const TensorId wide = converted(node, x, compute_type(node.type(x)));
  TensorId y;
  if (rank == 1 || node.is_constant(axis)) {
    const bool is_known = node.is_constant(axis);
    const int64_t known = is_known ? node.normalized_axis(node.constant_ints(axis, "the axis")[0], rank) : 0;
    y = cumulated(node, wide, known, kProduct);
  } else {
    std::vector<TensorId> all;
    for (int64_t d = 0; d < rank; ++d) all.push_back(cumulated(node, wide, d, kProduct));
    Formula f(node);
    const auto out = f.axes(node.shape(x));
    const Expr raw = cast(Type::kInt64, f.read(axis, std::vector<Expr>(node.rank(axis), integer(0))));
    Expr value = f.read(all[0], out);
    for (int64_t d = 1; d < rank; ++d) value = select(is_dimension(raw, d, rank), f.read(all[d], out), value);
    f.body(value);
    y = f.emit(node.type(wide));
  }
  node.out(0, converted(node, y, node.type(x)));
}

void det(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape& shape = node.shape(x);
  const size_t rank = shape.size();
  node.require(rank >= 2 && shape[rank - 1] == shape[rank - 2], "the input must be square matrices");
  const Type type = compute_type(node.type(x));
  node.require(is_float(type), "the element type is not supported");
  const Shape batch(shape.begin(), shape.end() - 2);
  const int64_t n = shape[rank - 1];
  const auto y = node.call("det", type, {converted(node, x, type)}, {element_count(batch), n},
                           {{type, batch}, {type, {n, n}}});
  node.out(0, converted(node, y[0], node.type(x)));
}

}  // namespace

std::span<const OperatorRow> sequence_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "CumProd", 26, cumulate<1>, 1000, "kernel", "floats, int32, int64, uint32, uint64"},
      {"", "CumSum", 11, cumulate<0>, 1000, "kernel"},
      {"", "Det", 11, det, 1000, "kernel"},
  };
  return kRows;
}

}  // namespace arenac
