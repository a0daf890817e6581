// Operators along an axis that are no loop nest (C kernels), and those whose output's shape follows from the
// data: they are supported where the data are known at compile time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// A shape seen from one axis: [outer, extent, inner].
struct Around {
  int64_t outer = 1, extent, inner = 1;
};

Around around(const Shape& shape, int64_t axis) {
  Around a{1, shape[axis], 1};
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    if (d != axis) (d < axis ? a.outer : a.inner) *= shape[d];
  return a;
}

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
    const int64_t known = rank == 1 ? 0 : node.normalized_axis(node.constant_ints(axis, "the axis")[0], rank);
    y = cumulated(node, wide, known, kProduct);
  } else {
    std::vector<TensorId> all;
    for (int64_t d = 0; d < rank; ++d) all.push_back(cumulated(node, wide, d, kProduct));
    Formula f(node);
    const auto out = f.axes(node.shape(x));
    const Expr raw = cast(Type::kInt64, f.read(axis, std::vector<Expr>(node.rank(axis), integer(0))));
    Expr value = f.read(all[0], out);
    for (int64_t d = 1; d < rank; ++d)
      value = select(raw == static_cast<double>(d) || raw == static_cast<double>(d - rank),
                     f.read(all[d], out), value);
    f.body(value);
    y = f.emit(node.type(wide));
  }
  node.out(0, converted(node, y, node.type(x)));
}

void top_k(Lowering& node) {
  const TensorId x = node.in(0);
  int64_t k = 0;
  if (node.opset() < 10) {
    k = node.attribute("k").i;
  } else {
    const auto ks = node.constant_ints(node.in(1), "k");
    node.require(ks.size() == 1, "one k is needed");
    k = ks[0];
  }
  const int64_t axis = node.normalized_axis(node.int_attr("axis", -1), node.rank(x));
  const Around a = around(node.shape(x), axis);
  node.require(k >= 0 && k <= a.extent,
               fmt::format("k = {} is not within the axis's extent {}", k, a.extent));
  const Type type = compute_type(node.type(x));
  node.require(type != Type::kBool, "the element type is not supported");
  Shape shape = node.shape(x);
  shape[axis] = k;
  const auto results = node.call("topk", type, {converted(node, x, type)},
                                 {a.outer, a.extent, a.inner, k, node.int_attr("largest", 1) != 0},
                                 {{type, shape}, {Type::kInt64, shape}});
  node.out(0, converted(node, results[0], node.type(x)));
  node.out(1, results[1]);
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

// ---- outputs whose shape follows from the data

const Value& known(const Lowering& node, TensorId id, const std::string& what) {
  const auto& value = node.tensor(id).constant;
  node.require(value != nullptr,
               fmt::format("data-dependent output shape: {} is computed at run time; arenac needs "
                           "every shape at compile time",
                           what));
  return *value;
}

TensorId ints(Lowering& node, Shape shape, const std::vector<int64_t>& elements) {
  Value value(Type::kInt64, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k) store(value, static_cast<int64_t>(k), {.i = elements[k]});
  return node.constant(std::move(value));
}

// y[.., k, ..] = x[.., indices[k], ..].
TensorId taken(Lowering& node, TensorId x, int64_t axis, const std::vector<int64_t>& indices) {
  const Around a = around(node.shape(x), axis);
  Shape shape = node.shape(x);
  shape[axis] = static_cast<int64_t>(indices.size());
  if (indices.empty()) return node.constant(Value(node.type(x), std::move(shape)));
  const TensorId table = node.constant_ints(indices);
  Formula f(node);
  auto out = f.axes(shape);
  const Expr k = f.read(table, {out[axis]});
  out[axis] = max(min(k, static_cast<double>(a.extent - 1)), 0);
  f.body(f.read(x, std::move(out)));
  return f.emit(node.type(x));
}

TensorId flattened(Lowering& node, TensorId x) {
  return node.apply("Reshape", {x, node.constant_ints({-1})});
}

void non_zero(Lowering& node) {
  const TensorId x = node.in(0);
  const Value& value = known(node, x, "which elements are not zero");
  const auto strides = row_major_strides(value.shape);
  const int64_t rank = node.rank(x);
  std::vector<int64_t> at;
  for (int64_t k = 0; k < value.count(); ++k) {
    const Scalar e = load(value, k);
    if (is_float(value.type) ? e.f != 0 : e.i != 0) at.push_back(k);
  }
  const auto count = static_cast<int64_t>(at.size());
  std::vector<int64_t> indices;
  for (int64_t d = 0; d < rank; ++d)
    for (int64_t k : at) indices.push_back(k / strides[d] % value.shape[d]);
  node.out(0, ints(node, {rank, count}, indices));
}

void compress(Lowering& node) {
  TensorId x = node.in(0);
  const Value condition = known(node, node.in(1), "which slices to keep");
  node.require(condition.type == Type::kBool, "the condition must be bool");
  int64_t axis = 0;
  if (node.has("axis"))
    axis = node.normalized_axis(node.attribute("axis").i, node.rank(x));
  else
    x = flattened(node, x);
  std::vector<int64_t> indices;
  for (int64_t k = 0; k < std::min(condition.count(), node.shape(x)[axis]); ++k)
    if (load(condition, k).i) indices.push_back(k);
  node.out(0, taken(node, x, axis, indices));
}

void unique(Lowering& node) {
  TensorId x = node.in(0);
  int64_t axis = 0;
  if (node.has("axis"))
    axis = node.normalized_axis(node.attribute("axis").i, node.rank(x));
  else
    x = flattened(node, x);
  const Value value = known(node, x, "which elements are equal");
  const Around a = around(value.shape, axis);
  // The elements of slice s, in order.
  const auto element = [&](int64_t s, int64_t k) {
    return load(value, (k / a.inner * a.extent + s) * a.inner + k % a.inner);
  };
  const auto less = [&](int64_t s, int64_t t) {
    for (int64_t k = 0; k < a.outer * a.inner; ++k) {
      const Scalar left = element(s, k), right = element(t, k);
      if (apply(Op::kLt, value.type, left, right).i) return true;
      if (apply(Op::kLt, value.type, right, left).i) return false;
    }
    return false;
  };
  std::map<int64_t, std::vector<int64_t>, decltype(less)> groups(less);  // by their first member
  for (int64_t s = 0; s < a.extent; ++s) groups[s].push_back(s);
  std::vector<std::vector<int64_t>> order;
  for (const auto& [first, members] : groups) order.push_back(members);
  if (node.int_attr("sorted", 1) == 0)
    std::sort(order.begin(), order.end(), [](const auto& p, const auto& q) { return p[0] < q[0]; });
  std::vector<int64_t> firsts, counts, inverse(a.extent);
  for (size_t k = 0; k < order.size(); ++k) {
    firsts.push_back(order[k][0]);
    counts.push_back(static_cast<int64_t>(order[k].size()));
    for (int64_t s : order[k]) inverse[s] = static_cast<int64_t>(k);
  }
  const auto count = static_cast<int64_t>(order.size());
  node.out(0, taken(node, x, axis, firsts));
  node.out(1, ints(node, {count}, firsts));
  node.out(2, ints(node, {a.extent}, inverse));
  node.out(3, ints(node, {count}, counts));
}

// One box as [y1, y2) x [x1, x2).
struct Box {
  double y1, x1, y2, x2;
  double area() const { return (y2 - y1) * (x2 - x1); }
};

Box box_at(const Value& boxes, int64_t at, int64_t center_point) {
  double v[4];
  for (int64_t k = 0; k < 4; ++k) v[k] = load(boxes, at * 4 + k).f;
  if (center_point) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

void non_max_suppression(Lowering& node) {
  const std::string what = "which boxes remain";
  const Value boxes = known(node, node.in(0), what), scores = known(node, node.in(1), what);
  const Shape &b = boxes.shape, &s = scores.shape;
  node.require(b.size() == 3 && b[2] == 4 && s.size() == 3 && s[0] == b[0] && s[2] == b[1],
               "boxes must be [batches, boxes, 4], scores [batches, classes, boxes]");
  const auto option = [&](int k, double fallback) {
    if (!node.has_input(k)) return fallback;
    const auto values = node.constant_floats(node.in(k), "a threshold");
    node.require(values.size() == 1, "thresholds are scalars");
    return values[0];
  };
  const double limit = option(2, 0), iou = option(3, 0);
  const double threshold = option(4, -std::numeric_limits<double>::infinity());
  std::vector<int64_t> selected;
  for (int64_t n = 0; n < s[0]; ++n)
    for (int64_t c = 0; c < s[1]; ++c) {
      const auto score = [&](int64_t k) { return load(scores, (n * s[1] + c) * s[2] + k).f; };
      const auto box = [&](int64_t k) {
        return box_at(boxes, n * b[1] + k, node.int_attr("center_point_box", 0));
      };
      std::vector<int64_t> order, kept;
      for (int64_t k = 0; k < s[2]; ++k)
        if (score(k) > threshold) order.push_back(k);
      std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return score(p) > score(q); });
      for (int64_t k : order) {
        if (static_cast<double>(kept.size()) >= limit) break;
        if (std::none_of(kept.begin(), kept.end(), [&](int64_t q) { return overlap(box(k), box(q)) > iou; }))
          kept.push_back(k);
      }
      for (int64_t k : kept) selected.insert(selected.end(), {n, c, k});
    }
  node.out(0, ints(node, {static_cast<int64_t>(selected.size()) / 3, 3}, selected));
}

constexpr OperatorRow kRows[] = {
    {"", "Compress", 9, compress},
    {"", "CumProd", 26, cumulate<1>, 1000, "kernel"},
    {"", "CumSum", 11, cumulate<0>, 1000, "kernel"},
    {"", "Det", 11, det, 1000, "kernel"},
    {"", "NonMaxSuppression", 10, non_max_suppression},
    {"", "NonZero", 9, non_zero},
    {"", "TopK", 1, top_k, 1000, "kernel"},
    {"", "Unique", 11, unique},
};

}  // namespace

std::span<const OperatorRow> sequence_operators() { return kRows; }

}  // namespace arenac
