// Operators whose result's extent follows from the data. A C kernel finds it, in as much room as there can be
// elements; what is behind them is cut off where the extent is known at compile time or the model declares
// it, and means nothing otherwise (extents.cc).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// The extent that is known now: by folding, or because the model declares it for output `k`.
std::optional<int64_t> known_extent(Lowering& node, int k, const Bounded& bounded) {
  if (node.is_constant(bounded.extent)) return load(*node.tensor(bounded.extent).constant, 0).i;
  const auto declared = node.declared_shape(k);
  if (!declared || bounded.dim >= static_cast<int64_t>(declared->size())) return std::nullopt;
  return declared->at(bounded.dim);
}

}  // namespace

void put_bounded(Lowering& node, int k, TensorId x, const Bounded& bounded) {
  Importer& importer = node.importer();
  Shape shape = node.shape(x);
  const auto known = known_extent(node, k, bounded);
  if (!known) {
    importer.set_extent(x, bounded.dim, bounded.extent);
    return node.out(k, x);
  }
  node.require(*known >= 0 && *known <= shape[bounded.dim],
               fmt::format("output {} is declared with {} elements along dimension {}, of at most {}", k,
                           *known, bounded.dim, shape[bounded.dim]));
  if (!node.is_constant(bounded.extent)) {
    Formula f(node);
    f.body(!(f.read(bounded.extent, {}) == integer(*known)));
    importer.guard(f.emit(Type::kBool),
                   fmt::format("'{}' does not have the {} elements that the model declares",
                               printable(node.onnx_node().origin), *known));
  }
  if (shape[bounded.dim] == *known) return node.out(k, x);
  shape[bounded.dim] = *known;
  Formula f(node);
  f.body(f.read(x, f.axes(shape)));
  node.out(k, f.emit(node.type(x)));
}

namespace {

// y[.., k, ..] = x[.., indices[k], ..].
TensorId taken(Lowering& node, TensorId x, int64_t axis, TensorId indices) {
  Shape shape = node.shape(x);
  const int64_t last = std::max<int64_t>(shape[axis] - 1, 0);
  shape[axis] = node.shape(indices)[0];
  Formula f(node);
  auto at = f.axes(shape);
  at[axis] = max(min(f.read(indices, {at[axis]}), static_cast<double>(last)), 0);
  f.body(f.read(x, std::move(at)));
  return f.emit(node.type(x));
}

// The axis that the operator works along, and x, flattened when there is none.
int64_t axis_or_flat(Lowering& node, TensorId& x) {
  if (node.has("axis")) return node.normalized_axis(node.attribute("axis").i, node.rank(x));
  x = node.apply("Reshape", {x, node.constant_ints({-1})});
  return 0;
}

std::vector<TensorId> true_indices(Lowering& node, TensorId x) {
  Shape parameters = node.shape(x);
  const int64_t rank = node.rank(x), elements = element_count(parameters);
  parameters.insert(parameters.begin(), rank);
  return node.call("nonzero", Type::kBool, {x}, parameters,
                   {{Type::kInt64, {rank, elements}}, {Type::kInt64, {}}});
}

void non_zero(Lowering& node) {
  const auto indices = true_indices(node, converted(node, node.in(0), Type::kBool));
  put_bounded(node, 0, indices[0], {1, indices[1]});
}

void compress(Lowering& node) {
  TensorId x = node.in(0), condition = node.in(1);
  node.require(node.type(condition) == Type::kBool && node.rank(condition) == 1,
               "the condition must be a vector of bool");
  const int64_t axis = axis_or_flat(node, x);
  const int64_t count = std::min(node.shape(condition)[0], node.shape(x)[axis]);
  Formula f(node);
  f.body(f.read(condition, {f.axis(count)}));
  const auto indices = true_indices(node, f.emit(Type::kBool));
  const TensorId flat = node.apply("Reshape", {indices[0], node.constant_ints({-1})});
  put_bounded(node, 0, taken(node, x, axis, flat), {axis, indices[1]});
}

void unique(Lowering& node) {
  TensorId x = node.in(0);
  const int64_t axis = axis_or_flat(node, x);
  const Around a = around(node.shape(x), axis);
  Type type = compute_type(node.type(x));
  if (type == Type::kBool) type = Type::kUint8;
  const std::pair<Type, Shape> slices = {Type::kInt64, {a.extent}};
  const auto groups = node.call("unique", type, {converted(node, x, type)},
                                {a.outer, a.extent, a.inner, node.int_attr("sorted", 1) != 0},
                                {slices, slices, slices, {Type::kInt64, {}}, slices});
  const TensorId count = groups[3];
  put_bounded(node, 0, taken(node, x, axis, groups[0]), {axis, count});
  if (node.wants(1)) put_bounded(node, 1, groups[0], {0, count});
  node.out(2, groups[1]);
  if (node.wants(3)) put_bounded(node, 3, groups[2], {0, count});
}

void non_max_suppression(Lowering& node) {
  const TensorId boxes = node.in(0), scores = node.in(1);
  const Shape b = node.shape(boxes), s = node.shape(scores);
  node.require(b.size() == 3 && b[2] == 4 && s.size() == 3 && s[0] == b[0] && s[2] == b[1],
               "boxes must be [batches, boxes, 4], scores [batches, classes, boxes]");
  node.require(is_float(node.type(boxes)) && is_float(node.type(scores)), "boxes and scores must be floats");
  const Type type = Type::kFloat32;
  const auto option = [&](int k, Type wanted, double fallback) {
    if (!node.has_input(k)) return node.scalar(wanted, fallback);
    Formula f(node);
    f.body(cast(wanted, read_single(node, f, node.in(k))));
    return f.emit(wanted);
  };
  const auto selected =
      node.call("nms", type,
                {converted(node, boxes, type), converted(node, scores, type), option(2, Type::kInt64, 0),
                 option(3, type, 0), option(4, type, -std::numeric_limits<double>::infinity())},
                {s[0], s[1], s[2], node.int_attr("center_point_box", 0) != 0},
                {{Type::kInt64, {element_count(s), 3}}, {Type::kInt64, {}}, {Type::kInt64, {s[2]}}});
  put_bounded(node, 0, selected[0], {0, selected[1]});
}

// The k best. Of a k that only the run knows: as many as the model declares, or as there are elements.
void top_k(Lowering& node) {
  const TensorId x = node.in(0);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", -1), node.rank(x));
  const Around a = around(node.shape(x), axis);
  TensorId count = kAbsent;
  if (node.opset() < 10) {
    count = node.scalar(Type::kInt64, static_cast<double>(node.attribute("k").i));
  } else {
    Formula f(node);
    f.body(cast(Type::kInt64, read_single(node, f, node.in(1))));
    count = f.emit(Type::kInt64);
  }
  const int64_t k = known_extent(node, 0, {axis, count}).value_or(a.extent);
  node.require(k >= 0 && k <= a.extent,
               fmt::format("k = {} is not within the axis's extent {}", k, a.extent));
  const Type type = compute_type(node.type(x));
  node.require(type != Type::kBool, "the element type is not supported");
  Shape shape = node.shape(x);
  shape[axis] = k;
  const auto best = node.call("topk", type, {converted(node, x, type)},
                              {a.outer, a.extent, a.inner, k, node.int_attr("largest", 1) != 0},
                              {{type, shape}, {Type::kInt64, shape}});
  put_bounded(node, 0, converted(node, best[0], node.type(x)), {axis, count});
  put_bounded(node, 1, best[1], {axis, count});
}

}  // namespace

std::span<const OperatorRow> bounded_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Compress", 9, compress, 1000, "kernel"},
      {"", "NonMaxSuppression", 10, non_max_suppression, 1000, "kernel"},
      {"", "NonZero", 9, non_zero, 1000, "kernel"},
      {"", "TopK", 1, top_k, 1000, "kernel"},
      {"", "Unique", 11, unique, 1000, "kernel"},
  };
  return kRows;
}

}  // namespace arenac
