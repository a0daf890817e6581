// Operators whose result depends on shapes and constants alone: known at compile time.
#include <fmt/format.h>

#include <cmath>

#include "frontend/importer.h"
#include "frontend/onnx_tensor.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

void shape(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape all = node.shape(x);
  const int64_t rank = static_cast<int64_t>(all.size());
  const auto bound = [&](const char* name, int64_t fallback) {
    const int64_t at = std::clamp<int64_t>(node.int_attr(name, fallback), -rank, rank);
    return at < 0 ? at + rank : at;
  };
  const int64_t start = bound("start", 0), end = bound("end", rank);
  if (node.importer().extents.contains(x)) {
    const TensorId whole = node.importer().true_shape(x, node.onnx_node().origin);
    Formula f(node);
    f.body(f.read(whole, {f.axis(std::max<int64_t>(end - start, 0)) + integer(start)}));
    return node.out(0, f.emit(Type::kInt64));
  }
  node.out(0, node.constant_ints(start < end ? Shape(all.begin() + start, all.begin() + end) : Shape{}));
}

void size(Lowering& node) {
  Value count = node.table(Type::kInt64, {});
  store(count, 0, {.i = element_count(node.shape(node.in(0)))});
  node.out(0, node.constant(std::move(count)));
}

// The one element of attribute `value`, everywhere.
void constant_of_shape(Lowering& node) {
  const auto declared = node.declared_for(0);
  const Shape shape =
      declared ? assumed_ints(node, node.in(0), *declared) : node.constant_ints(node.in(0), "the shape");
  for (int64_t extent : shape) node.require(extent >= 0, "the shape is negative");
  Type type = Type::kFloat32;
  Expr value = constant(type, 0);
  if (node.has("value")) {
    const auto& one = node.attribute("value").tensor;
    node.require(one && one->count() == 1, "'value' must hold one element");
    type = one->type;
    value = constant(compute_type(type), load(*one, 0));
  }
  Formula f(node);
  f.axes(shape);
  f.body(value);
  node.out(0, f.emit(type));
}

void constant_node(Lowering& node) {
  const auto scalar = [&](Value vector) {
    vector.shape = {};
    return node.constant(std::move(vector));
  };
  if (node.has("value") && node.attribute("value").tensor)
    node.out(0, node.constant(*node.attribute("value").tensor));
  else if (node.has("sparse_value") && node.attribute("sparse_value").tensor)
    node.out(0, node.constant(*node.attribute("sparse_value").tensor));
  else if (node.has("value_float"))
    node.out(0, scalar(node.listed(std::vector{node.attribute("value_float").f})));
  else if (node.has("value_floats"))
    node.out(0, node.constant(node.listed(node.attribute("value_floats").floats)));
  else if (node.has("value_int"))
    node.out(0, scalar(node.listed(std::vector{node.attribute("value_int").i})));
  else if (node.has("value_ints"))
    node.out(0, node.constant(node.listed(node.attribute("value_ints").ints)));
  else if (node.has("value_string"))
    node.out(0, scalar(node.listed(std::vector{node.attribute("value_string").s})));
  else if (node.has("value_strings"))
    node.out(0, node.constant(node.listed(node.attribute("value_strings").strings)));
  else
    node.fail("needs one of the attributes that hold a value");
}

// start, start + delta, ... up to, not including, limit.
void range(Lowering& node) {
  const Type type = node.type(node.in(0));
  for (int k = 0; k < 3; ++k)
    node.require(element_count(node.shape(node.in(k))) == 1 && node.type(node.in(k)) == type,
                 "start, limit and step must be scalars of one type");
  double count = 0;
  auto declared = node.declared_for(0);
  for (int k = 1; k < 3 && !declared; ++k) declared = node.declared_for(k);
  if (declared) {
    node.require(declared->size() == 1, "the result is declared as no vector");
    count = static_cast<double>(declared->at(0));
  } else if (is_float(type)) {
    const double start = node.constant_floats(node.in(0), "the start")[0];
    const double limit = node.constant_floats(node.in(1), "the limit")[0];
    const double delta = node.constant_floats(node.in(2), "the step")[0];
    node.require(delta != 0, "the step is 0");
    count = std::ceil((limit - start) / delta);
  } else {
    const __int128 start = node.constant_ints(node.in(0), "the start")[0];
    const __int128 limit = node.constant_ints(node.in(1), "the limit")[0];
    const __int128 delta = node.constant_ints(node.in(2), "the step")[0];
    node.require(delta != 0, "the step is 0");
    const __int128 span = limit - start;
    count = span == 0 || (span < 0) != (delta < 0)
                ? 0
                : static_cast<double>((span + delta - (delta < 0 ? -1 : 1)) / delta);
  }
  node.require(std::isfinite(count) && count < std::ldexp(1, 40), "the range is endless");
  Formula f(node);
  const Expr i = f.axis(static_cast<int64_t>(std::max(count, 0.0)));
  const auto scalar = [&](int k) {
    return f.read(node.in(k), std::vector<Expr>(node.rank(node.in(k)), integer(0)));
  };
  f.body(scalar(0) + cast(compute_type(type), i) * scalar(2));
  node.out(0, f.emit(type));
}

void eye_like(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.rank(x) == 2, "EyeLike makes matrices");
  const Type type = node.has("dtype")
                        ? type_of_onnx(static_cast<int>(node.attribute("dtype").i), "attribute 'dtype'")
                        : node.type(x);
  const int64_t k = std::clamp<int64_t>(node.int_attr("k", 0), -(int64_t{1} << 41), int64_t{1} << 41);
  Formula f(node);
  const auto at = f.axes(node.shape(x));
  f.body(cast(compute_type(type), at[1] - at[0] == integer(k)));
  node.out(0, f.emit(type));
}

}  // namespace

std::span<const OperatorRow> shape_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Constant", 1, constant_node},
      {"", "ConstantOfShape", 9, constant_of_shape},
      {"", "EyeLike", 9, eye_like},
      {"", "Range", 11, range},
      {"", "Shape", 1, shape},
      {"", "Size", 1, size},
  };
  return kRows;
}

}  // namespace arenac
