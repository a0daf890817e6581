// Element-wise operators: out[i...] = f(a[i...], b[i...], ...), operands broadcast by numpy's rule.
//
// Most are rows of the table at the end: a template for the number and types of operands, and a formula. The
// templates take both as arguments (`auto` template parameters), so that a row is a plain function pointer:
//
//   {"", "Abs", 1, unary<kNumber, kFn<Op::kAbs>>}      y = |x|, of all types but bool
#include <fmt/format.h>

#include <cmath>

#include "frontend/activation.h"
#include "frontend/importer.h"
#include "frontend/onnx_tensor.h"
#include "frontend/ops.h"
#include "frontend/quantize.h"
#include "frontend/steps.h"
#include "frontend/text.h"

namespace arenac {
namespace {

// The element types that an operator is defined on.
constexpr auto kAny = [](Type) { return true; };
constexpr auto kNumber = [](Type t) { return t != Type::kBool; };
constexpr auto kReal = [](Type t) { return is_float(t); };
constexpr auto kInteger = [](Type t) { return !is_float(t) && t != Type::kBool; };
constexpr auto kLogical = [](Type t) { return t == Type::kBool; };

// Fails, naming the type, unless the operator is defined on it.
template <auto kOn>
void require_type(const Lowering& node, TensorId x) {
  node.require(kOn(node.type(x)),
               fmt::format("is not defined on elements of type {}", info(node.type(x)).name));
}

template <auto kOn>
void require_same_type(const Lowering& node, TensorId a, TensorId b) {
  require_type<kOn>(node, a);
  node.require(node.type(a) == node.type(b), "the operands' types differ");
}

// One operand.
template <auto kOn, auto kFunction>
void unary(Lowering& node) {
  const TensorId x = node.in(0);
  require_type<kOn>(node, x);
  node.out(0, pointwise(node, node.type(x), kFunction, x));
}

// One operand and attributes.
template <auto kOn, auto kFunction>
void with_attributes(Lowering& node) {
  const TensorId x = node.in(0);
  require_type<kOn>(node, x);
  node.out(0, pointwise(
                  node, node.type(x), [&](const Expr& e) { return kFunction(e, node); }, x));
}

// Two operands of one type, which is also that of the result.
template <auto kOn, auto kFunction>
void binary(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  require_same_type<kOn>(node, a, b);
  node.out(0, pointwise(node, node.type(a), kFunction, a, b));
}

// Floats to bool.
template <auto kFunction>
void predicate(Lowering& node) {
  const TensorId x = node.in(0);
  require_type<kReal>(node, x);
  node.out(0, pointwise(
                  node, Type::kBool, [&](const Expr& e) { return kFunction(e, node); }, x));
}

// Two operands of one type to bool.
template <auto kOn, auto kFunction>
void comparison(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  require_same_type<kOn>(node, a, b);
  node.out(0, pointwise(node, Type::kBool, kFunction, a, b));
}

// One or more operands of one type, combined from the left; `kFinish` also learns how many there were.
template <auto kFunction, auto kFinish>
void variadic(Lowering& node) {
  node.require(node.input_count() >= 1 && node.input_count() <= 1024, "takes 1 to 1024 operands");
  std::vector<Shape> shapes;
  for (int k = 0; k < node.input_count(); ++k) {
    require_same_type<kNumber>(node, node.in(k), node.in(0));
    shapes.push_back(node.shape(node.in(k)));
  }
  Formula f(node);
  const auto out = f.axes(broadcast_shape(node, shapes));
  Expr all = f.broadcast(node.in(0), out);
  for (int k = 1; k < node.input_count(); ++k) all = kFunction(all, f.broadcast(node.in(k), out));
  f.body(kFinish(all, node.input_count()));
  node.out(0, f.emit(node.type(node.in(0))));
}

constexpr auto kAsItIs = [](const Expr& x, int) { return x; };

// Formulas that more than one row, or more than one line, needs.

Expr clamped(const Expr& x, double low, double high) { return min(max(x, low), high); }
// Exponentials that overflow to infinity are fine: 1 / infinity is the 0 that a sigmoid tends to.
Expr sigmoid(const Expr& x) { return 1 / (1 + exp(-x)); }
Expr zero(const Expr& x) { return constant(x->type, 0); }
// log(1 + exp(x)) with an exponent that is never positive, so that nothing overflows: log(1 + e^x) = x +
// log(e^-x + 1), used for x > 0.
Expr softplus(const Expr& x) { return max(x, 0) + log(1 + exp(-absolute(x))); }
// x times the probability that a normal variable is below it (Hendrycks and Gimpel, "Gaussian Error Linear
// Units", 2016), and the paper's approximation by tanh.
Expr gelu(const Expr& x) { return x * (1 + make(Op::kErf, {x * std::sqrt(0.5)})) * 0.5; }
Expr tanh_gelu(const Expr& x) {
  return x * (1 + tanh((x + x * x * x * 0.044715) * std::sqrt(2 / 3.14159265358979323846))) * 0.5;
}

// The activations that recurrent cells and fused nodes know too.
// Relu is defined on integers as well since opset 14.
void named_activation(Lowering& node) {
  const TensorId x = node.in(0);
  if (node.op() != "Relu") require_type<kReal>(node, x);
  std::optional<float> alpha;
  if (node.has("alpha")) alpha = node.attribute("alpha").f;
  node.out(0, pointwise(node, node.type(x), activation(node, node.op(), alpha), x));
}

// Attributes are read when the formula is made, and are literals in it.
constexpr auto kAffine = [](const Expr& x, const Lowering& node) {
  return x * node.float_attr("alpha", 1) + node.float_attr("beta", 0);
};
constexpr auto kParametricSoftplus = [](const Expr& x, const Lowering& node) {
  return softplus(x * node.float_attr("beta", 1)) * node.float_attr("alpha", 1);
};
constexpr auto kScaledTanh = [](const Expr& x, const Lowering& node) {
  return tanh(x * node.float_attr("beta", 1)) * node.float_attr("alpha", 1);
};
constexpr auto kScale = [](const Expr& x, const Lowering& node) { return x * node.float_attr("scale", 1); };
constexpr auto kHardSigmoid = [](const Expr& x, const Lowering& node) {
  return clamped(x * node.float_attr("alpha", 0.2f) + node.float_attr("beta", 0.5f), 0, 1);
};
// The sign of 0 is that 0, and of NaN it is NaN.
constexpr auto kSign = [](const Expr& x) {
  if (!info(x->type).is_signed) return min(x, 1);
  return select(x > 0, constant(x->type, 1), select(x < 0, constant(x->type, -1), x));
};
// The defaults are the numbers for which activations keep mean 0 and variance 1 from layer to layer
// (Klambauer et al., "Self-Normalizing Neural Networks", 2017).
constexpr auto kSelu = [](const Expr& x, const Lowering& node) {
  const double alpha = node.float_attr("alpha", 1.67326319217681884765625f);
  const double gamma = node.float_attr("gamma", 1.05070102214813232421875f);
  return select(x > 0, x, (exp(x) - 1) * alpha) * gamma;
};
constexpr auto kCelu = [](const Expr& x, const Lowering& node) {
  const double alpha = node.float_attr("alpha", 1);
  return select(x > 0, x, (exp(x / alpha) - 1) * alpha);
};
constexpr auto kSwish = [](const Expr& x, const Lowering& node) {
  return x * sigmoid(x * node.float_attr("alpha", 1));
};
constexpr auto kQuickGelu = [](const Expr& x, const Lowering& node) {
  return x * sigmoid(x * node.float_attr("alpha", 1.702f));
};
constexpr auto kGelu = [](const Expr& x, const Lowering& node) {
  const std::string how = node.string_attr("approximate", "none");
  node.require(how == "none" || how == "tanh", fmt::format("unknown approximation '{}'", how));
  return how == "tanh" ? tanh_gelu(x) : gelu(x);
};
constexpr auto kIsInf = [](const Expr& x, const Lowering& node) {
  const bool positive = node.int_attr("detect_positive", 1), negative = node.int_attr("detect_negative", 1);
  const Expr infinite = make(Op::kIsInf, {x});
  if (positive && negative) return infinite;
  if (!positive && !negative) return constant(Type::kBool, 0);
  return infinite && (positive ? x > 0 : x < 0);
};

// Swish of the first operand, times the second.
void swiglu(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  require_same_type<kReal>(node, a, b);
  node.require(node.shape(a) == node.shape(b), "the operands' shapes differ");
  const auto formula = [&](const Expr& x, const Expr& gate) { return kSwish(x, node) * gate; };
  node.out(0, pointwise(node, node.type(a), formula, a, b));
}

// x + bias below -lambd, x - bias above lambd, 0 between. Integers compute in float64 so that a fractional
// threshold keeps its meaning.
void shrink(Lowering& node) {
  const TensorId x = node.in(0);
  const double bias = node.float_attr("bias", 0), threshold = node.float_attr("lambd", 0.5f);
  require_type<kNumber>(node, x);
  const auto shrunk = [&](const Expr& e) {
    const Expr v = is_float(e->type) ? e : cast(Type::kFloat64, e);
    return select(v < -threshold, v + bias, select(v > threshold, v - bias, zero(v)));
  };
  node.out(0, pointwise(node, node.type(x), shrunk, x));
}

// Bounds are attributes before opset 11 and scalar inputs since; either may be missing. The upper one is
// applied last: where min is above max, the standard wants max everywhere. Literals and reads come in the
// same places, so a constant bound leaves no operand.
void clip(Lowering& node) {
  const TensorId x = node.in(0);
  require_type<kNumber>(node, x);
  Formula f(node);
  Expr y = f.broadcast(x, f.axes(node.shape(x)));
  for (int k : {1, 2})
    if (node.has_input(k)) require_same_type<kNumber>(node, node.in(k), x);
  if (node.has("min")) y = max(y, node.attribute("min").f);
  if (node.has_input(1)) y = max(y, read_single(node, f, node.in(1)));
  if (node.has("max")) y = min(y, node.attribute("max").f);
  if (node.has_input(2)) y = min(y, read_single(node, f, node.in(2)));
  f.body(y);
  node.out(0, f.emit(node.type(x)));
}

// x + bias, then an activation: com.microsoft.FastGelu and BiasGelu.
template <auto kFunction>
void biased(Lowering& node) {
  const TensorId x = node.in(0);
  require_type<kReal>(node, x);
  if (!node.has_input(1)) return node.out(0, pointwise(node, node.type(x), kFunction, x));
  require_same_type<kReal>(node, x, node.in(1));
  const auto formula = [](const Expr& a, const Expr& bias) { return kFunction(a + bias); };
  node.out(0, pointwise(node, node.type(x), formula, x, node.in(1)));
}

// x below 0 times its slope. The slope broadcasts to x and not the other way, "unidirectional" in the
// standard's words.
void prelu(Lowering& node) {
  const TensorId x = node.in(0), slope = node.in(1);
  require_same_type<kNumber>(node, x, slope);
  const auto formula = [](const Expr& v, const Expr& s) {
    return info(v->type).is_signed ? select(v < 0, v * s, v) : v;
  };
  const TensorId y = pointwise(node, node.type(x), formula, x, slope);
  node.require(node.shape(y) == node.shape(x), "the slope does not broadcast to the input");
  node.out(0, y);
}

// The result has the base's type. Integers with a float exponent compute in float64.
Expr power(const Expr& x, const Expr& y) {
  if (is_float(x->type)) return pow(x, cast(x->type, y));
  if (is_float(y->type)) return pow(cast(Type::kFloat64, x), cast(Type::kFloat64, y));
  return pow(x, cast(x->type, y));
}

// The common constant exponents need no pow: one exponent for all elements, known at compile time, of a float
// base. The square of a layer normalisation costs one product so. Of other exponents each element calls pow.
void power(Lowering& node) {
  const TensorId x = node.in(0), y = node.in(1);
  require_type<kNumber>(node, x);
  require_type<kNumber>(node, y);
  const bool known = node.is_constant(y) && element_count(node.shape(y)) == 1 && is_float(node.type(x));
  const double exponent = known ? node.constant_floats(y, "the exponent")[0] : 0;
  const auto formula = [&](const Expr& a, const Expr& b) {
    if (exponent == 1) return a;
    if (exponent == 2) return a * a;
    if (exponent == 3) return a * a * a;
    if (exponent == 0.5) return sqrt(a);
    return power(a, b);
  };
  node.out(0, pointwise(node, node.type(x), formula, x, y));
}

// The sign of the divisor, or with fmod that of the dividend:
//
//             fmod 0    fmod 1
//   -7, 3        2        -1          integers: x - x / 3 * 3, as division truncates
//    7, -3      -2         1          floats: by magnitudes, where both remainders are the same
void modulo(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  require_same_type<kNumber>(node, a, b);
  const bool fmod = node.int_attr("fmod", 0) != 0;
  node.require(fmod || !is_float(node.type(a)), "floating point needs fmod = 1");
  const auto formula = [&](const Expr& x, const Expr& y) {
    if (!fmod) return x % y;
    if (!is_float(x->type)) return x - x / y * y;
    const Expr rest = absolute(x) % absolute(y);
    return select(x < 0, -rest, rest);
  };
  node.out(0, pointwise(node, node.type(a), formula, a, b));
}

// The standard has it on unsigned integers. By the width or more, nothing is left.
void bit_shift(Lowering& node) {
  const std::string direction = node.string_attr("direction", "");
  node.require(direction == "LEFT" || direction == "RIGHT", "'direction' must be LEFT or RIGHT");
  const TensorId x = node.in(0), by = node.in(1);
  require_same_type<kInteger>(node, x, by);
  const Op op = direction == "LEFT" ? Op::kShl : Op::kShr;
  node.out(0, pointwise(
                  node, node.type(x),
                  [&](const Expr& a, const Expr& b) {
                    return make(op, {a, b});
                  },
                  x, by));
}

// All three operands broadcast; no arithmetic, so any type will do.
void where(Lowering& node) {
  const TensorId c = node.in(0), yes = node.in(1), no = node.in(2);
  require_type<kLogical>(node, c);
  require_same_type<kAny>(node, yes, no);
  node.out(0, pointwise(node, node.type(yes), &select, c, yes, no));
}

Type type_attribute(const Lowering& node) {
  return type_of_onnx(static_cast<int>(node.attribute("to").i),
                      fmt::format("node '{}' ({})", printable(node.onnx_node().origin), node.op()));
}

// A power of two at least or at most as large as the float32 x, which is positive: what its bits round to.
// Below the exponent a float32 has 23 bits of mantissa; a carry out of them is one more in the exponent,
// twice the number.
//
//   x = 1.25 * 2^e:  up  + 0x7fffff carries -> 2^(e+1)      down + 0 -> 2^e      nearest  + 0x400000 -> 2^e
//
// What is not positive, and NaN, stays for the conversion to float8e8m0 to deal with.
Expr power_of_two(const Lowering& node, const Expr& x) {
  const std::string how = node.string_attr("round_mode", "up");
  node.require(how == "up" || how == "down" || how == "nearest", fmt::format("unknown round_mode '{}'", how));
  const double half = how == "up" ? 0x007fffff : how == "down" ? 0 : 0x00400000;
  const Expr bits = bit_cast(Type::kUint32, x) + half, shift = constant(Type::kUint32, 23);
  const Expr power = make(Op::kShl, {make(Op::kShr, {bits, shift}), shift});
  return select(x > 0, bit_cast(Type::kFloat32, power), x);
}

// Cast and CastLike: by way of the target's compute type, as `convert` defines it. Floats of 8 bits hold what
// is too large at their largest number, unless `saturate` is 0.
void cast_to(Lowering& node, Type type) {
  const TensorId x = node.in(0);
  if (node.type(x) == type) return node.out(0, x);
  if (node.type(x) == Type::kString || type == Type::kString)
    return node.out(0, text_converted(node, x, type));
  const bool saturates = is_float(type) && size_of(type) == 1 && node.int_attr("saturate", 1) != 0;
  const auto formula = [&](const Expr& e) {
    // To less than a byte it is the low bits of the integer that are kept.
    const bool wraps = !is_float(type) && info(type).bits && is_float(e->type);
    Expr y = cast(compute_type(type), wraps ? cast(Type::kInt32, e) : e);
    if (type == Type::kFloat8E8M0) y = power_of_two(node, y);
    return saturates ? clamped_to(type, y) : y;
  };
  node.out(0, pointwise(node, type, formula, x));
}

// The same bits of the same width. What is stored as one type and computed in another has no such bits in
// formulas.
void bit_cast(Lowering& node) {
  const TensorId x = node.in(0);
  const Type type = type_attribute(node);
  const bool arithmetic = compute_type(type) == type && compute_type(node.type(x)) == node.type(x);
  node.require(size_of(type) == size_of(node.type(x)), "the types differ in size");
  node.require(arithmetic, "floats of 16 bits and less are not supported");
  node.out(0, pointwise(
                  node, type, [&](const Expr& e) { return arenac::bit_cast(type, e); }, x));
}

template <Op kOp>
constexpr auto kFn = [](const Expr& x) { return make(kOp, {x}); };
template <Op kOp>
constexpr auto kFn2 = [](const Expr& a, const Expr& b) {
  return make(kOp, {a, b});
};

// -0.3 becomes -0: the sign of a zero is not Op::kRound's.
constexpr auto kRoundToEven = [](const Expr& x) {
  const Expr whole = make(Op::kRound, {x});
  return select(whole == 0.0, x * 0.0, whole);
};

constexpr auto kGreater = [](const Expr& a, const Expr& b) { return a > b; };
constexpr auto kGreaterOrEqual = [](const Expr& a, const Expr& b) { return a >= b; };
constexpr auto kAverage = [](const Expr& sum, int count) { return sum / count; };

}  // namespace

std::span<const OperatorRow> elementwise_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Abs", 1, unary<kNumber, kFn<Op::kAbs>>},
      {"", "Acos", 7, unary<kReal, kFn<Op::kAcos>>},
      {"", "Acosh", 9, unary<kReal, kFn<Op::kAcosh>>},
      {"", "Add", 1, binary<kNumber, kFn2<Op::kAdd>>},
      {"", "Affine", 1, with_attributes<kReal, kAffine>, 10},  // experimental, but old exporters wrote it
      {"", "And", 1, binary<kLogical, kFn2<Op::kAnd>>},
      {"", "Asin", 7, unary<kReal, kFn<Op::kAsin>>},
      {"", "Asinh", 9, unary<kReal, kFn<Op::kAsinh>>},
      {"", "Atan", 7, unary<kReal, kFn<Op::kAtan>>},
      {"", "Atanh", 9, unary<kReal, kFn<Op::kAtanh>>},
      {"", "BitCast", 26, bit_cast, 1000, "formula", kEveryType},
      {"", "BitShift", 11, bit_shift},
      {"", "BitwiseAnd", 18, binary<kInteger, kFn2<Op::kAnd>>, 1000, "formula", "integers"},
      {"", "BitwiseNot", 18, unary<kInteger, kFn<Op::kNot>>, 1000, "formula", "integers"},
      {"", "BitwiseOr", 18, binary<kInteger, kFn2<Op::kOr>>, 1000, "formula", "integers"},
      {"", "BitwiseXor", 18, binary<kInteger, kFn2<Op::kXor>>, 1000, "formula", "integers"},
      {"", "Cast", 1, [](Lowering& node) { cast_to(node, type_attribute(node)); }},
      {"", "CastLike", 15, [](Lowering& node) { cast_to(node, node.type(node.in(1))); }},
      {"", "Ceil", 1, unary<kReal, kFn<Op::kCeil>>},
      {"", "Celu", 12, with_attributes<kReal, kCelu>},
      {"", "Clip", 1, clip},
      {"", "Cos", 7, unary<kReal, kFn<Op::kCos>>},
      {"", "Cosh", 9, unary<kReal, kFn<Op::kCosh>>},
      {"", "Div", 1, binary<kNumber, kFn2<Op::kDiv>>},
      {"", "Elu", 1, named_activation},
      {"", "Equal", 1, comparison<kAny, kFn2<Op::kEq>>, 1000, "formula", "floats, integers, bool, string"},
      {"", "Erf", 9, unary<kReal, kFn<Op::kErf>>},
      {"", "Exp", 1, unary<kReal, kFn<Op::kExp>>},
      {"", "Floor", 1, unary<kReal, kFn<Op::kFloor>>},
      {"", "Gelu", 20, with_attributes<kReal, kGelu>},
      {"", "Greater", 1, comparison<kNumber, kGreater>},
      {"", "GreaterOrEqual", 12, comparison<kNumber, kGreaterOrEqual>},
      {"", "HardSigmoid", 1, with_attributes<kReal, kHardSigmoid>},
      {"", "HardSwish", 14,
       unary<kReal, [](const Expr& x) { return x * clamped(x * (1.0 / 6) + 0.5, 0, 1); }>},
      {"", "IsInf", 10, predicate<kIsInf>},
      {"", "IsNaN", 9, predicate<[](const Expr& x, const Lowering&) { return make(Op::kIsNan, {x}); }>},
      {"", "LeakyRelu", 1, named_activation},
      {"", "Less", 1, comparison<kNumber, kFn2<Op::kLt>>},
      {"", "LessOrEqual", 12, comparison<kNumber, kFn2<Op::kLe>>},
      {"", "Log", 1, unary<kReal, kFn<Op::kLog>>},
      {"", "Max", 1, variadic<kFn2<Op::kMax>, kAsItIs>},
      {"", "Mean", 1, variadic<kFn2<Op::kAdd>, kAverage>},
      {"", "Min", 1, variadic<kFn2<Op::kMin>, kAsItIs>},
      {"", "Mish", 18, unary<kReal, [](const Expr& x) { return x * tanh(softplus(x)); }>},
      {"", "Mod", 10, modulo},
      {"", "Mul", 1, binary<kNumber, kFn2<Op::kMul>>},
      {"", "Neg", 1, unary<kNumber, kFn<Op::kNeg>>},
      {"", "Not", 1, unary<kLogical, kFn<Op::kNot>>},
      {"", "Or", 1, binary<kLogical, kFn2<Op::kOr>>},
      {"", "PRelu", 1, prelu},
      {"", "ParametricSoftplus", 1, with_attributes<kReal, kParametricSoftplus>, 10},  // as Affine
      {"", "Pow", 1, power},
      {"", "Reciprocal", 1, unary<kReal, [](const Expr& x) { return 1 / x; }>},
      {"", "Relu", 1, named_activation},
      {"", "Round", 11, unary<kReal, kRoundToEven>},
      {"", "Scale", 1, with_attributes<kReal, kScale>, 10},            // as Affine
      {"", "ScaledTanh", 1, with_attributes<kReal, kScaledTanh>, 10},  // as Affine
      {"", "Selu", 1, with_attributes<kReal, kSelu>},
      {"", "Shrink", 9, shrink},
      {"", "Sigmoid", 1, named_activation},
      {"", "Sign", 9, unary<kNumber, kSign>},
      {"", "Sin", 7, unary<kReal, kFn<Op::kSin>>},
      {"", "Sinh", 9, unary<kReal, kFn<Op::kSinh>>},
      {"", "Softplus", 1, unary<kReal, softplus>},
      {"", "Softsign", 1, named_activation},
      {"", "Sqrt", 1, unary<kReal, kFn<Op::kSqrt>>},
      {"", "Sub", 1, binary<kNumber, kFn2<Op::kSub>>},
      {"", "Sum", 1, variadic<kFn2<Op::kAdd>, kAsItIs>},
      {"", "SwiGLU", 28, swiglu},
      {"", "Swish", 24, with_attributes<kReal, kSwish>},
      {"", "Tan", 7, unary<kReal, kFn<Op::kTan>>},
      {"", "Tanh", 1, named_activation},
      {"", "ThresholdedRelu", 1, named_activation},
      {"", "Where", 9, where},
      {"", "Xor", 1, binary<kLogical, kFn2<Op::kXor>>},
      {"com.microsoft", "BiasGelu", 1, biased<gelu>},
      {"com.microsoft", "FastGelu", 1, biased<tanh_gelu>},
      {"com.microsoft", "Gelu", 1, unary<kReal, gelu>},
      {"com.microsoft", "QuickGelu", 1, with_attributes<kReal, kQuickGelu>},
  };
  return kRows;
}

}  // namespace arenac
