// The steps that composite operators are made of: one graph node each.
//
//   TensorId m = reduced(node, x, {1}, {.combine = Combine::kMax}, Type::kFloat32);          // [n,1,y,x]
//   TensorId e = pointwise(node, Type::kFloat32,
//                          [](const Expr& x, const Expr& m) { return exp(x - m); }, x, m);   // [n,c,y,x]
#pragma once

#include <functional>
#include <tuple>

#include "frontend/lower.h"

namespace arenac {

// out[i...] = function(operands[i...]...), the operands broadcast by numpy's rule, stored as `type`.
template <typename Function, typename... Ids>
TensorId pointwise(Lowering& node, Type type, const Function& function, Ids... ids) {
  Formula f(node);
  const std::vector<Expr> out = f.axes(broadcast_shape(node, {node.shape(ids)...}));
  f.body(std::apply(function, std::tuple{f.broadcast(ids, out)...}));
  return f.emit(type);
}

using Unary = std::function<Expr(const Expr&)>;

// What a reduction does to an element before, and to the combined value after. Empty: nothing.
struct Reduction {
  Combine combine = Combine::kSum;
  Unary before = {}, after = {};
};

// The reduction of x over `dims` (ascending), which stay as extents of 1.
TensorId reduced(Lowering& node, TensorId x, const std::vector<int64_t>& dims, const Reduction& reduction,
                 Type type);
// The same with the dimensions gone.
TensorId reduced_away(Lowering& node, TensorId x, const std::vector<int64_t>& dims,
                      const Reduction& reduction, Type type);

// The number of elements that one result of such a reduction combines.
int64_t reduced_count(const Shape& shape, const std::vector<int64_t>& dims);

// [begin, end): for dims.
std::vector<int64_t> dims_between(int64_t begin, int64_t end);

// exp(x - max) / sum(exp(x - max)) and its logarithm over `dims`, in x's compute type.
TensorId softmax_over(Lowering& node, TensorId x, const std::vector<int64_t>& dims, Type type);
TensorId log_softmax_over(Lowering& node, TensorId x, const std::vector<int64_t>& dims, Type type);

// The dims that a Softmax-like operator normalises: all from `axis` before opset 13, that one since. `opset`
// is that of ai.onnx.
std::vector<int64_t> softmax_dims(const Lowering& node, TensorId x, int64_t opset, int64_t axis);

// Attribute p of LpPool and GlobalLpPool, whole since opset 2.
double norm_attr(const Lowering& node);

// A shape seen from one axis: [outer, extent, inner].
struct Around {
  int64_t outer = 1, extent, inner = 1;
};
Around around(const Shape& shape, int64_t axis);

// A dimension of a result: `extent` elements, an int64 scalar.
struct Bounded {
  int64_t dim;
  TensorId extent;
};
// Makes x output k, with the room of its bound. Where the extent is known, or the model declares it, x is cut
// to that; a run with another ends with an error.
void put_bounded(Lowering& node, int k, TensorId x, const Bounded& bounded);

// Whether `axis`, which counts from either end of `rank` dimensions, is dimension d.
Expr is_dimension(const Expr& axis, int64_t d, int64_t rank);

// `number` everywhere: a formula, whatever the size.
TensorId filled(Lowering& node, Type type, const Shape& shape, double number);

// x in another type, as Cast does it; x itself if it has that type.
TensorId converted(Lowering& node, TensorId x, Type type);

// `values` as the elements of an integer tensor that only the run knows. A run where it holds others ends
// with an error.
std::vector<int64_t> assumed_ints(Lowering& node, TensorId id, const std::vector<int64_t>& values);

TensorId optional_input(const Lowering& node, int k);  // kAbsent when omitted

// The element of a tensor that holds exactly one, whatever its rank; a literal where it is known.
Expr read_single(const Lowering& node, Formula& f, TensorId id);

}  // namespace arenac
