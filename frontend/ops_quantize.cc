// Quantised operators of the standard: conversions, and products and convolutions in integers.
#include <fmt/format.h>

#include "frontend/importer.h"
#include "frontend/onnx_tensor.h"
#include "frontend/ops.h"
#include "frontend/quantize.h"
#include "frontend/steps.h"
#include "frontend/window.h"

namespace arenac {
namespace {

// The scale or zero point of element `at` of x: one for all, one for each index of 'axis', or one for each
// block of 'block_size' along it.
Expr parameter(const Lowering& node, Formula& f, TensorId v, TensorId x, std::vector<Expr> at) {
  const Shape &shape = node.shape(v), &whole = node.shape(x);
  if (shape.size() <= 1 && element_count(shape) == 1) return read_single(node, f, v);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", 1), node.rank(x));
  const int64_t block = node.int_attr("block_size", 0);
  const std::string misfit =
      fmt::format("scale or zero point {} does not fit {}", to_string(shape), to_string(whole));
  if (block == 0) {
    node.require(shape == Shape{whole[axis]}, misfit);
    return f.read(v, {at[axis]});
  }
  node.require(block > 0 && shape.size() == whole.size(), misfit);
  for (size_t d = 0; d < whole.size(); ++d) {
    const bool blocked = static_cast<int64_t>(d) == axis;
    node.require(shape[d] == (blocked ? (whole[d] - 1) / block + 1 : whole[d]), misfit);
  }
  at[axis] = at[axis] / integer(block);
  return f.read(v, at);
}

// The attribute output_dtype, 0 or absent meaning `fallback`.
Type output_type(const Lowering& node, Type fallback) {
  const int64_t wanted = node.int_attr("output_dtype", 0);
  if (wanted == 0) return fallback;
  return type_of_onnx(static_cast<int>(wanted),
                      fmt::format("node '{}' ({})", printable(node.onnx_node().origin), node.op()));
}

void quantize_linear(Lowering& node) {
  const TensorId x = node.in(0), scale = node.in(1), zero = optional_input(node, 2);
  const Type type = zero == kAbsent ? output_type(node, Type::kUint8) : node.type(zero);
  node.require(is_float(node.type(scale)), "the scale must be floating point");
  const bool is_small = is_float(type) && size_of(type) == 1;
  node.require((!is_float(type) || is_small) && type != Type::kBool && output_type(node, type) == type,
               "the zero point's type does not fit");
  Formula f(node);
  const auto at = f.axes(node.shape(x));
  const Expr s = parameter(node, f, scale, x, at);
  const Expr steps = cast(s->type, f.read(x, at)) / s;
  const Expr origin = all_zero(node, zero) ? Expr() : parameter(node, f, zero, x, at);
  if (is_small) {
    const Expr moved = cast(Type::kFloat32, origin.empty() ? steps : steps + cast(steps->type, origin));
    f.body(node.int_attr("saturate", 1) ? clamped_to(type, moved) : moved);
  } else {
    f.body(saturated(type, steps, origin));
  }
  node.out(0, f.emit(type));
}

void dequantize_linear(Lowering& node) {
  const bool is_small = is_float(node.type(node.in(0))) && size_of(node.type(node.in(0))) == 1;
  const Quantized x =
      is_small ? Quantized{node.in(0), node.in(1), optional_input(node, 2)} : quantized_input(node, 0);
  const Type type = output_type(node, node.type(x.scale));
  node.require(is_float(type) && is_float(node.type(x.scale)) &&
                   (x.zero_point == kAbsent || node.type(x.zero_point) == node.type(x.q)),
               "the operands' types do not fit");
  Formula f(node);
  const auto at = f.axes(node.shape(x.q));
  const Expr s = parameter(node, f, x.scale, x.q, at);
  const Expr zero = all_zero(node, x.zero_point) ? Expr() : parameter(node, f, x.zero_point, x.q, at);
  const Expr q = f.read(x.q, at);
  const Expr steps = zero.empty() ? q : is_small ? q - zero : centred(q, zero);
  f.body(cast(s->type, steps) * s);
  node.out(0, f.emit(type));
}

void dynamic_quantize_linear(Lowering& node) {
  const Quantized x = dynamically_quantized(node, node.in(0));
  node.out(0, x.q);
  if (node.wants(1)) node.out(1, x.scale);
  if (node.wants(2)) node.out(2, x.zero_point);
}

void matmul_integer(Lowering& node) {
  Formula f(node);
  const IntegerProduct p =
      integer_product(node, f, node.in(0), optional_input(node, 2), node.in(1), optional_input(node, 3));
  node.out(0, f.emit(Type::kInt32, p.shape));
}

void qlinear_matmul(Lowering& node) {
  const Quantized a = quantized_input(node, 0), b = quantized_input(node, 3);
  const Quantization y = quantization_at(node, 6, node.type(a.q));
  Formula f(node);
  const IntegerProduct p = integer_product(node, f, a.q, a.zero_point, b.q, b.zero_point);
  const Expr steps = rescaled(node, f, p, f.acc(), a.scale, b.scale, y.scale);
  f.finish(saturated(y.type, steps, single_zero(node, f, y.zero_point)));
  node.out(0, f.emit(y.type, p.shape));
}

// Sets the sum of a convolution of x - x_zero by w - w_zero. Padding is a real 0, so it contributes nothing.
Convolution integer_convolution(const Lowering& node, Formula& f, TensorId x, TensorId x_zero, TensorId w,
                                TensorId w_zero) {
  for (TensorId q : {x, w})
    node.require(!is_float(node.type(q)) && node.type(q) != Type::kBool, "the operands must be integers");
  const Convolution c = convolution(node, f, x, w);
  const Expr qx = f.read(x, c.x), qw = f.read(w, c.w);
  const Expr zx = single_zero(node, f, x_zero);
  const Expr zw = indexed_zero(node, f, w_zero, c.channel, c.shape[1]);
  f.sum(centred(qx, zx) * centred(qw, zw));
  return c;
}

void conv_integer(Lowering& node) {
  Formula f(node);
  const Convolution c =
      integer_convolution(node, f, node.in(0), optional_input(node, 2), node.in(1), optional_input(node, 3));
  node.out(0, f.emit(Type::kInt32, c.shape));
}

void qlinear_conv(Lowering& node) {
  const Quantized x = quantized_input(node, 0), w = quantized_input(node, 3);
  const Quantization y = quantization_at(node, 6, node.type(x.q));
  const TensorId ratio = scale_ratio(node, x.scale, w.scale, y.scale);
  Formula f(node);
  const Convolution c = integer_convolution(node, f, x.q, x.zero_point, w.q, w.zero_point);
  Expr total = f.acc();
  if (node.has_input(8)) {
    node.require(node.type(node.in(8)) == Type::kInt32 && node.shape(node.in(8)) == Shape{c.shape[1]},
                 "the bias does not fit");
    total = total + f.read(node.in(8), {c.channel});
  }
  const Expr steps = cast(Type::kFloat32, total) * indexed(node, f, ratio, c.channel, c.shape[1]);
  f.finish(saturated(y.type, steps, single_zero(node, f, y.zero_point)));
  node.out(0, f.emit(y.type, c.shape));
}

}  // namespace

std::span<const OperatorRow> quantize_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "ConvInteger", 10, conv_integer},
      {"", "DequantizeLinear", 10, dequantize_linear},
      {"", "DynamicQuantizeLinear", 11, dynamic_quantize_linear},
      {"", "MatMulInteger", 10, matmul_integer},
      {"", "QLinearConv", 10, qlinear_conv},
      {"", "QLinearMatMul", 10, qlinear_matmul},
      {"", "QuantizeLinear", 10, quantize_linear},
      {"com.microsoft", "DequantizeLinear", 1, dequantize_linear, 1000, "formula", "integers"},
      {"com.microsoft", "QuantizeLinear", 1, quantize_linear},
  };
  return kRows;
}

}  // namespace arenac
