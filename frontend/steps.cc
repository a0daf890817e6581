#include "frontend/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontend/importer.h"

namespace arenac {
namespace {

// what becomes of reduced dimensions: extents of 1, or nothing (keepdims of ONNX's reductions)
enum class Keep { kAsOne, kNot };

//   x [2,3,4] over {1}, kAsOne:   out[i0, 0, i2] = after(combine(i1) before(x[i0, i1, i2]))       of [2,1,4]
TensorId reduce(Lowering& node, TensorId x, const std::vector<int64_t>& dims, const Reduction& reduction,
                Type type, Keep keep) {
  Formula f(node);
  Shape shape;
  std::vector<Expr> indices, store;
  for (int64_t d = 0; d < node.rank(x); ++d) {
    const int64_t extent = node.shape(x)[d];
    if (!std::binary_search(dims.begin(), dims.end(), d)) {
      indices.push_back(f.axis(extent));
      store.push_back(indices.back());
      shape.push_back(extent);
      continue;
    }
    indices.push_back(f.reduced(extent));
    if (keep == Keep::kNot) continue;
    store.push_back(integer(0));
    shape.push_back(1);
  }
  // in the compute type of x
  const Expr element = f.read(x, indices);
  f.reduce(reduction.combine, reduction.before ? reduction.before(element) : element);
  if (reduction.after) f.finish(reduction.after(f.acc()));
  f.store(store);
  return f.emit(type, shape);
}

}  // namespace

TensorId reduced(Lowering& node, TensorId x, const std::vector<int64_t>& dims, const Reduction& reduction,
                 Type type) {
  return reduce(node, x, dims, reduction, type, Keep::kAsOne);
}

TensorId reduced_away(Lowering& node, TensorId x, const std::vector<int64_t>& dims,
                      const Reduction& reduction, Type type) {
  return reduce(node, x, dims, reduction, type, Keep::kNot);
}

// 1 for no dims: each element is its own reduction.
int64_t reduced_count(const Shape& shape, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= shape[d];
  return count;
}

// None where end comes before begin.
std::vector<int64_t> dims_between(int64_t begin, int64_t end) {
  std::vector<int64_t> dims(std::max<int64_t>(end - begin, 0));
  std::iota(dims.begin(), dims.end(), begin);
  return dims;
}

// Four nodes: maximum, exponentials, their sum, quotients. With the maximum subtracted the largest
// exponential is 1, so that nothing overflows and the sum is at least 1.
TensorId softmax_over(Lowering& node, TensorId x, const std::vector<int64_t>& dims, Type type) {
  const Type real = compute_type(node.type(x));
  const TensorId m = reduced(node, x, dims, {Combine::kMax}, real);
  const TensorId e = pointwise(
      node, real, [](const Expr& v, const Expr& top) { return exp(v - top); }, x, m);
  const TensorId s = reduced(node, e, dims, {Combine::kSum}, real);
  return pointwise(
      node, type, [](const Expr& v, const Expr& all) { return v / all; }, e, s);
}

// x - max - log(sum(exp(x - max))): the logarithm of a share itself would be -infinity where the share rounds
// to 0.
TensorId log_softmax_over(Lowering& node, TensorId x, const std::vector<int64_t>& dims, Type type) {
  const Type real = compute_type(node.type(x));
  const TensorId m = reduced(node, x, dims, {Combine::kMax}, real);
  const TensorId d = pointwise(
      node, real, [](const Expr& v, const Expr& top) { return v - top; }, x, m);
  const auto exp_of = [](const Expr& v) { return exp(v); };
  const auto log_of = [](const Expr& v) { return log(v); };
  const TensorId l = reduced(node, d, dims, {Combine::kSum, exp_of, log_of}, real);
  return pointwise(
      node, type, [](const Expr& v, const Expr& all) { return v - all; }, d, l);
}

// A float before opset 2. An attribute has one of the two.
double norm_attr(const Lowering& node) {
  if (!node.has("p")) return 2;
  const Attribute& attribute = node.attribute("p");
  const double p = attribute.f != 0 ? attribute.f : static_cast<double>(attribute.i);
  node.require(p >= 1 && std::isfinite(p), "the norm 'p' is at least 1");
  return p;
}

// Before opset 13 the axis may be the rank itself: then there is nothing to normalise over, and no dims.
std::vector<int64_t> softmax_dims(const Lowering& node, TensorId x, int64_t opset, int64_t axis) {
  const int64_t rank = node.rank(x);
  if (opset >= 13) return rank == 0 ? std::vector<int64_t>{} : std::vector{node.normalized_axis(axis, rank)};
  node.require(axis >= -rank && axis <= rank, fmt::format("axis {} is outside rank {}", axis, rank));
  return dims_between(axis < 0 ? axis + rank : axis, rank);
}

//   [2,3,4,5], axis 2   ->   outer 6, extent 4, inner 5
Around around(const Shape& shape, int64_t axis) {
  Around a{1, shape[axis], 1};
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    if (d != axis) (d < axis ? a.outer : a.inner) *= shape[d];
  return a;
}

// An axis that only the run knows, so as an expression: of rank 3, dimension 2 is axis 2 or -1.
Expr is_dimension(const Expr& axis, int64_t d, int64_t rank) {
  return axis == integer(d) || axis == integer(d - rank);
}

// A node without operands, which folds to a constant unless that is too large.
TensorId filled(Lowering& node, Type type, const Shape& shape, double number) {
  Formula f(node);
  f.axes(shape);
  f.body(constant(compute_type(type), number));
  return f.emit(type);
}

// By the rules of convert() (expr.h): floats truncate and saturate to integers.
TensorId converted(Lowering& node, TensorId x, Type type) {
  if (node.type(x) == type) return x;
  Formula f(node);
  f.body(cast(compute_type(type), f.broadcast(x, f.axes(node.shape(x)))));
  return f.emit(type);
}

// The guard is a maximum over "differs": true as soon as one element does. Rank 1, or rank 0 with one
// element.
std::vector<int64_t> assumed_ints(Lowering& node, TensorId id, const std::vector<int64_t>& values) {
  const Shape shape = node.shape(id);
  const auto count = static_cast<int64_t>(values.size());
  node.require(element_count(shape) == count && shape.size() <= 1,
               fmt::format("'{}' {} does not fit the declared shape, which takes {} numbers",
                           printable(node.tensor(id).name), to_string(shape), count));
  if (count == 0) return values;
  Formula f(node);
  const Expr k = f.reduced(count);
  const Expr element = cast(Type::kInt64, f.read(id, std::vector<Expr>(shape.size(), k)));
  f.reduce(Combine::kMax, !(element == f.read(node.constant_ints(values), {k})));
  node.importer().guard(
      f.emit(Type::kBool),
      fmt::format("'{}' is not {}, as the declared shape of '{}' has it", printable(node.tensor(id).name),
                  to_string(values), printable(node.onnx_node().origin)));
  return values;
}

// in() fails for a missing input; this asks.
TensorId optional_input(const Lowering& node, int k) { return node.has_input(k) ? node.in(k) : kAbsent; }

// A literal instead of a read lets formulas fold: a scale of 1 or a zero point of 0 leaves no trace.
Expr read_single(const Lowering& node, Formula& f, TensorId id) {
  node.require(
      element_count(node.shape(id)) == 1,
      fmt::format("'{}' has shape {}, not one element", node.tensor(id).name, to_string(node.shape(id))));
  if (const auto& known = node.tensor(id).constant)
    return constant(compute_type(known->type), load(*known, 0));
  return f.read(id, std::vector<Expr>(node.rank(id), integer(0)));
}

}  // namespace arenac
