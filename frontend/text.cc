#include "frontend/text.h"

#include <fmt/format.h>

#include "frontend/steps.h"

namespace arenac {
namespace {

// The bits of a float format's mantissa, and the exponent of its smallest number.
struct Precision {
  int64_t mantissa, smallest;
};

Precision precision_of(Lowering& node, Type type) {
  if (type == Type::kFloat32) return {24, -149};
  if (type == Type::kFloat16) return {11, -24};
  if (type == Type::kBFloat16) return {8, -133};
  node.fail(fmt::format("{} does not become text: cast it to float32 first", info(type).name));
}

TensorId number_of_text(Lowering& node, TensorId x, Type type) {
  node.require(type != Type::kBool, "text does not become bool: compare it");
  Type parsed = type == Type::kUint64 ? type : Type::kInt64;
  if (is_float(type)) parsed = compute_type(type);
  const Shape shape = node.shape(x);
  const TensorId number =
      node.call("text_number", parsed, {x}, {element_count(shape), kStringBytes, is_float(parsed)},
                {{parsed, shape}})[0];
  return converted(node, number, type);
}

TensorId text_of_number(Lowering& node, TensorId x) {
  const Type type = node.type(x);
  const Shape shape = node.shape(x);
  std::vector<int64_t> parameters = {element_count(shape), kStringBytes};
  if (type == Type::kBool) {
    const auto word = [](const char* text) { return constant(Type::kString, string_scalar(text)); };
    return pointwise(
        node, Type::kString, [&](const Expr& e) { return select(e, word("True"), word("False")); }, x);
  }
  if (!is_float(type)) {
    const Type wide = compute_type(type);
    return node.call("integer_text", wide, {converted(node, x, wide)}, parameters,
                     {{Type::kString, shape}})[0];
  }
  const Precision precision = precision_of(node, type);
  parameters.insert(parameters.end(), {precision.mantissa, precision.smallest});
  return node.call("number_text", Type::kFloat32, {converted(node, x, Type::kFloat32)}, parameters,
                   {{Type::kString, shape}})[0];
}

}  // namespace

TensorId text_converted(Lowering& node, TensorId x, Type type) {
  return type == Type::kString ? text_of_number(node, x) : number_of_text(node, x, type);
}

}  // namespace arenac
