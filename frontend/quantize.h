// Affine quantisation, as every quantised operator needs it:
//
//   real = (q - zero_point) * scale          q = saturate(round_half_to_even(real / scale) + zero_point)
//
// Sums of products run in int32 on q - zero_point. What then multiplies the sum, a ratio of scales, is a node
// of its own, which folds when the scales are constants.
#pragma once

#include "frontend/lower.h"

namespace arenac {

// An integer tensor with its scale and zero point; a zero point of kAbsent is 0.
struct Quantized {
  TensorId q, scale, zero_point;
};

// Inputs k, k+1 and k+2 of a node; the last may be omitted.
Quantized quantized_input(const Lowering& node, int k);

// What a node quantises its result with: scale and zero point are inputs k and k+1, and the element type is
// that of the zero point, or `fallback` without one.
struct Quantization {
  TensorId scale, zero_point;
  Type type;
};
Quantization quantization_at(const Lowering& node, int k, Type fallback);

bool all_zero(const Lowering& node, TensorId zero_point);  // absent, or known to hold only zeros

inline Expr real(const Expr& x) { return cast(Type::kFloat32, x); }

// q - zero in int32; saturate(round(steps) + zero), where `steps` is real / scale. `zero` may be empty: 0.
Expr centred(const Expr& q, const Expr& zero);
Expr saturated(Type type, const Expr& steps, const Expr& zero);

// x held within the finite numbers of a float type, or the numbers of an integer type of less than a byte.
Expr clamped_to(Type type, const Expr& x);

// The zero point where it holds one element (empty if that is known to be 0), and where it may hold one for
// each of `extent` values of the index `at`.
Expr single_zero(const Lowering& node, Formula& f, TensorId zero_point);
Expr indexed_zero(const Lowering& node, Formula& f, TensorId zero_point, const Expr& at, int64_t extent);
// The same for a scale.
Expr indexed(const Lowering& node, Formula& f, TensorId v, const Expr& at, int64_t extent);

// x * y / z of scales in float32, broadcast; z may be kAbsent.
TensorId scale_ratio(Lowering& node, TensorId x, TensorId y, TensorId z);

// To float32 and back, with single scales and zero points.
TensorId dequantized(Lowering& node, const Quantized& x);
TensorId quantized(Lowering& node, TensorId real, const Quantization& to);

// The float32 scale, the uint8 zero point and the elements that DynamicQuantizeLinear gives a float x.
Quantized dynamically_quantized(Lowering& node, TensorId x);

// sum(k) (a - a_zero)[...,m,k] * (b - b_zero)[...,k,n] in int32. Adds the axes batch..., [m], [n], k of
// numpy's matmul to `f` and sets the sum. Zero points (and scales) of `a` hold one element, one a row, or
// broadcast to the output; those of `b` one a column likewise.
struct IntegerProduct {
  Shape shape;
  std::vector<Expr> out;
  Expr row, column;  // 0 for a vector
};
IntegerProduct integer_product(const Lowering& node, Formula& f, TensorId a, TensorId a_zero, TensorId b,
                               TensorId b_zero);

// total * a_scale * b_scale / y_scale (kAbsent: not divided) in float32.
Expr rescaled(Lowering& node, Formula& f, const IntegerProduct& p, const Expr& total, TensorId a_scale,
              TensorId b_scale, TensorId y_scale);

}  // namespace arenac
