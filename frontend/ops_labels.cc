// Domain ai.onnx.ml: encoders, which exchange labels (numbers or text) for others.
#include <fmt/format.h>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// One side of the mapping, whatever it is spelt as.
Value mapping(const Lowering& node, const std::string& side) {
  if (node.has(side + "_strings")) return node.listed(node.attribute(side + "_strings").strings);
  if (node.has(side + "_tensor")) {
    const auto& tensor = node.attribute(side + "_tensor").tensor;
    node.require(tensor != nullptr, fmt::format("'{}_tensor' is no tensor", side));
    return *tensor;
  }
  if (node.has(side + "_floats")) return node.listed(node.attribute(side + "_floats").floats);
  node.require(node.has(side + "_int64s"),
               fmt::format("'{0}_int64s', '{0}_floats' or '{0}_strings' is missing", side));
  return node.listed(node.attribute(side + "_int64s").ints);
}

Expr default_value(const Lowering& node, Type type) {
  const Type compute = compute_type(type);
  if (node.has("default_tensor")) {
    const auto& tensor = node.attribute("default_tensor").tensor;
    node.require(tensor != nullptr && tensor->count() == 1, "'default_tensor' needs one element");
    node.require((tensor->type == Type::kString) == (type == Type::kString),
                 "'default_tensor' is not of the values' type");
    return constant(compute, convert(compute, tensor->type, load(*tensor, 0)));
  }
  if (type == Type::kString)
    return constant(type, string_scalar(node.string_attr("default_string", "_Unused")));
  if (is_float(type)) return constant(compute, static_cast<double>(node.float_attr("default_float", -0.0F)));
  return cast(compute, integer(node.int_attr("default_int64", -1)));
}

// The value of the first key that x is, or the default value.
void mapped(Lowering& node, Value keys, Value values) {
  const TensorId x = node.in(0);
  const int64_t count = keys.count();
  node.require(count == values.count(), "there are not as many values as keys");
  node.require(keys.type == node.type(x), "the keys' type is not the input's");
  keys.shape = values.shape = {count};
  const Type to = values.type;
  const TensorId key = node.constant(std::move(keys)), value = node.constant(std::move(values));
  const Shape& shape = node.shape(x);
  Formula f(node);  // the first key that fits, or `count`
  {
    const auto out = f.axes(shape);
    const Expr k = f.reduced(count), a = f.read(x, out), b = f.read(key, {k});
    Expr fits = a == b;
    if (is_float(a->type)) fits = fits || (make(Op::kIsNan, {a}) && make(Op::kIsNan, {b}));
    f.reduce(Combine::kMin, select(fits, k, integer(count)));
    f.finish(min(f.acc(), static_cast<double>(count)));
  }
  const TensorId index = f.emit(Type::kInt64, shape);
  Formula g(node);
  const auto out = g.axes(shape);
  const Expr k = g.read(index, out), fallback = default_value(node, to);
  if (count == 0)
    g.body(fallback);
  else
    g.body(select(k < static_cast<double>(count),
                  g.read(value, {max(min(k, static_cast<double>(count - 1)), 0)}), fallback));
  node.out(0, g.emit(to, shape));
}

// Between text and the numbers 0, 1, ... (the first version of LabelEncoder), or those that are given.
void text_mapped(Lowering& node, const std::vector<std::string>& texts, const std::vector<int64_t>& numbers) {
  if (node.type(node.in(0)) == Type::kString)
    mapped(node, node.listed(texts), node.listed(numbers));
  else
    mapped(node, node.listed(numbers), node.listed(texts));
}

void category_mapper(Lowering& node) {
  text_mapped(node, node.attribute("cats_strings").strings, node.attribute("cats_int64s").ints);
}

void label_encoder(Lowering& node) {
  if (node.opset() >= 2) return mapped(node, mapping(node, "keys"), mapping(node, "values"));
  const std::vector<std::string>& texts = node.attribute("classes_strings").strings;
  text_mapped(node, texts, dims_between(0, static_cast<int64_t>(texts.size())));
}

void one_hot_encoder(Lowering& node) {
  const TensorId x = node.in(0);
  const bool is_text = node.type(x) == Type::kString;
  const char* side = is_text ? "cats_strings" : "cats_int64s";
  node.require(node.has(side), fmt::format("'{}' is missing", side));
  Value categories =
      is_text ? node.listed(node.attribute(side).strings) : node.listed(node.attribute(side).ints);
  const int64_t count = categories.count();
  node.require(count > 0, "there are no categories");
  node.require(node.int_attr("zeros", 1) != 0,
               "zeros = 0 (an error for an unknown category) is not supported");
  const TensorId table = node.constant(std::move(categories));
  Formula f(node);
  Shape shape = node.shape(x);
  shape.push_back(count);
  auto out = f.axes(shape);
  const Expr category = f.read(table, {out.back()});
  out.pop_back();
  f.body(cast(Type::kFloat32, cast(category->type, f.read(x, out)) == category));
  node.out(0, f.emit(Type::kFloat32, shape));
}

}  // namespace

std::span<const OperatorRow> label_operators() {
  static constexpr OperatorRow kRows[] = {
      {"ai.onnx.ml", "CategoryMapper", 1, category_mapper},
      {"ai.onnx.ml", "LabelEncoder", 1, label_encoder},
      {"ai.onnx.ml", "OneHotEncoder", 1, one_hot_encoder},
  };
  return kRows;
}

}  // namespace arenac
