#include "frontend/quantize.h"

#include <fmt/format.h>

#include "frontend/steps.h"

namespace arenac {
namespace {

// One element, whatever the rank: models write scales as [] or [1].
bool is_single(const Lowering& node, TensorId v) { return element_count(node.shape(v)) == 1; }

// bool has no quantised form.
void require_integers(const Lowering& node, TensorId q) {
  node.require(!is_float(node.type(q)) && node.type(q) != Type::kBool,
               fmt::format("elements of type {} are not quantised", info(node.type(q)).name));
}

// The parameter of a product's operand: one, one for each index `at` of a vector, or of the output's rank.
// `from_end`: which dimension of the output, counted from its end, `at` is. Where that operand is a vector,
// `at` is no axis, and several parameters must broadcast to the output.
Expr parameter(const Lowering& node, Formula& f, const IntegerProduct& p, TensorId v, const Expr& at,
               size_t from_end) {
  if (is_single(node, v)) return read_single(node, f, v);
  const Shape& shape = node.shape(v);
  if (shape.size() == 1 && at->op == Op::kAxis) {
    node.require(
        p.shape.size() >= from_end && shape[0] == p.shape.end()[-static_cast<int>(from_end)],
        fmt::format("{} scales or zero points do not fit the output {}", shape[0], to_string(p.shape)));
    return f.read(v, {at});
  }
  node.require(
      broadcast_shape(node, {shape, p.shape}) == p.shape,
      fmt::format("scales or zero points {} do not fit the output {}", to_string(shape), to_string(p.shape)));
  return f.broadcast(v, p.out);
}

Expr row_parameter(const Lowering& node, Formula& f, const IntegerProduct& p, TensorId v) {
  return parameter(node, f, p, v, p.row, p.column->op == Op::kAxis ? 2 : 1);
}

Expr column_parameter(const Lowering& node, Formula& f, const IntegerProduct& p, TensorId v) {
  return parameter(node, f, p, v, p.column, 1);
}

}  // namespace

// A missing zero point is 0, of the operand's type.
Quantized quantized_input(const Lowering& node, int k) {
  const Quantized x{node.in(k), node.in(k + 1), optional_input(node, k + 2)};
  require_integers(node, x.q);
  node.require(is_float(node.type(x.scale)), fmt::format("input {} is no scale", k + 1));
  node.require(x.zero_point == kAbsent || node.type(x.zero_point) == node.type(x.q),
               "an operand and its zero point differ in type");
  return x;
}

Quantization quantization_at(const Lowering& node, int k, Type fallback) {
  const Quantization y{node.in(k), optional_input(node, k + 1),
                       node.has_input(k + 1) ? node.type(node.in(k + 1)) : fallback};
  node.require(is_float(node.type(y.scale)), fmt::format("input {} is no scale", k));
  node.require(!is_float(y.type) && y.type != Type::kBool, "the zero point must be an integer");
  return y;
}

// Symmetric quantisation: then no subtraction is left in the formula.
bool all_zero(const Lowering& node, TensorId zero_point) {
  if (zero_point == kAbsent) return true;
  const auto& known = node.tensor(zero_point).constant;
  if (!known) return false;
  for (int64_t k = 0; k < known->count(); ++k)
    if (convert(Type::kFloat64, known->type, load(*known, k)).f != 0) return false;
  return true;
}

// In int32: the difference of two bytes takes 9 bits.
Expr centred(const Expr& q, const Expr& zero) {
  const Expr wide = cast(Type::kInt32, q);
  return zero.empty() ? wide : wide - cast(Type::kInt32, zero);
}

// Rounded to nearest even, then moved, then cast: a cast from float saturates. Types of less than a byte
// saturate at the ends of their own range first, as their arithmetic is that of a byte.
//
//   uint8, steps 2.5, zero 128   ->   2 + 128 = 130          int4, steps 9, zero 0   ->   7
Expr saturated(Type type, const Expr& steps, const Expr& zero) {
  const Expr rounded = make(Op::kRound, {steps});
  const Expr moved = zero.empty() ? rounded : rounded + cast(rounded->type, zero);
  return cast(compute_type(type), info(type).bits ? clamped_to(type, moved) : moved);
}

// float8e8m0 has no negative numbers.
Expr clamped_to(Type type, const Expr& x) {
  if (is_float(type)) return min(max(x, type == Type::kFloat8E8M0 ? 0 : -largest(type)), largest(type));
  const double count = 1 << info(type).bits;
  return info(type).is_signed ? min(max(x, -count / 2), count / 2 - 1) : min(max(x, 0), count - 1);
}

Expr single_zero(const Lowering& node, Formula& f, TensorId zero_point) {
  return all_zero(node, zero_point) ? Expr() : read_single(node, f, zero_point);
}

// A vector of one element an index, or one element for all.
Expr indexed(const Lowering& node, Formula& f, TensorId v, const Expr& at, int64_t extent) {
  if (is_single(node, v)) return read_single(node, f, v);
  node.require(node.shape(v) == Shape{extent}, fmt::format("scales or zero points {} do not fit {} channels",
                                                           to_string(node.shape(v)), extent));
  return f.read(v, {at});
}

Expr indexed_zero(const Lowering& node, Formula& f, TensorId zero_point, const Expr& at, int64_t extent) {
  return all_zero(node, zero_point) ? Expr() : indexed(node, f, zero_point, at, extent);
}

// A node of its own, outside the formula that uses it: it folds where scales are constants.
TensorId scale_ratio(Lowering& node, TensorId x, TensorId y, TensorId z) {
  const auto product = [](const Expr& a, const Expr& b) { return real(a) * real(b); };
  const auto ratio = [](const Expr& a, const Expr& b, const Expr& c) { return real(a) * real(b) / real(c); };
  return z == kAbsent ? pointwise(node, Type::kFloat32, product, x, y)
                      : pointwise(node, Type::kFloat32, ratio, x, y, z);
}

TensorId dequantized(Lowering& node, const Quantized& x) {
  Formula f(node);
  const Expr q = f.broadcast(x.q, f.axes(node.shape(x.q)));
  const Expr scale = real(read_single(node, f, x.scale));
  f.body(real(centred(q, single_zero(node, f, x.zero_point))) * scale);
  return f.emit(Type::kFloat32);
}

// Divides as the standard's QuantizeLinear does: a product with the reciprocal would round otherwise.
TensorId quantized(Lowering& node, TensorId value, const Quantization& to) {
  Formula f(node);
  const Expr x = f.broadcast(value, f.axes(node.shape(value)));
  const Expr steps = real(x) / real(read_single(node, f, to.scale));
  f.body(saturated(to.type, steps, single_zero(node, f, to.zero_point)));
  return f.emit(to.type);
}

// DynamicQuantizeLinear of opset 11: the range of x, widened to hold 0, is 0 to 255.
//
//   scale = (high - low) / 255,  zero = saturate(round(-low / scale)),   low = min(x, 0), high = max(x, 0)
//
// Of zeros alone the range is empty; a scale of 1 leaves them zeros.
Quantized dynamically_quantized(Lowering& node, TensorId x) {
  node.require(node.type(x) == Type::kFloat32, "quantises float32 only");
  const auto all = dims_between(0, node.rank(x));
  const auto not_above = [](const Expr& v) { return min(v, 0); };
  const auto not_below = [](const Expr& v) { return max(v, 0); };
  const TensorId low = reduced_away(node, x, all, {Combine::kMin, {}, not_above}, Type::kFloat32);
  const TensorId high = reduced_away(node, x, all, {Combine::kMax, {}, not_below}, Type::kFloat32);
  const auto scale_of = [](const Expr& a, const Expr& b) {
    return select(a == b, constant(Type::kFloat32, 1), (b - a) / 255);
  };
  const auto zero_of = [](const Expr& a, const Expr& s) { return saturated(Type::kUint8, -a / s, {}); };
  const TensorId scale = pointwise(node, Type::kFloat32, scale_of, low, high);
  const TensorId zero = pointwise(node, Type::kUint8, zero_of, low, scale);
  return {quantized(node, x, {scale, zero, Type::kUint8}), scale, zero};
}

// numpy's matmul: a vector on the left is a row, one on the right a column, and that dimension is none of the
// result's.
//
//   a [5,2,3,4], b [4,6]   ->   [5,2,3,6]        a [4], b [2,4,6]   ->   [2,6]        a [4], b [4]   ->   []
IntegerProduct integer_product(const Lowering& node, Formula& f, TensorId a, TensorId a_zero, TensorId b,
                               TensorId b_zero) {
  Shape sa = node.shape(a), sb = node.shape(b);
  require_integers(node, a);
  require_integers(node, b);
  node.require(!sa.empty() && !sb.empty(), "a scalar is no matrix");
  const bool row = sa.size() == 1, column = sb.size() == 1;  // vectors
  if (row) sa.insert(sa.begin(), 1);
  if (column) sb.push_back(1);
  node.require(sa.back() == sb.end()[-2], "the inner extents differ");
  const Shape batch_a(sa.begin(), sa.end() - 2), batch_b(sb.begin(), sb.end() - 2);

  IntegerProduct p;
  p.shape = broadcast_shape(node, {batch_a, batch_b});
  p.out = f.axes(p.shape);
  const std::vector<Expr> batch = p.out;
  p.row = row ? integer(0) : f.axis(sa.end()[-2]);
  p.column = column ? integer(0) : f.axis(sb.back());
  if (!row) p.out.push_back(p.row), p.shape.push_back(sa.end()[-2]);
  if (!column) p.out.push_back(p.column), p.shape.push_back(sb.back());
  const Expr k = f.reduced(sa.back());
  const auto indices = [&](const Shape& own) {
    std::vector<Expr> all;
    for (size_t d = 0; d < own.size(); ++d)
      all.push_back(own[d] == 1 ? integer(0) : batch[batch.size() - own.size() + d]);
    return all;
  };
  std::vector<Expr> ia = indices(batch_a), ib = indices(batch_b);
  if (!row) ia.push_back(p.row);
  ia.push_back(k);
  ib.push_back(k);
  if (!column) ib.push_back(p.column);
  const Expr qa = f.read(a, ia), qb = f.read(b, ib);
  const Expr za = all_zero(node, a_zero) ? Expr() : row_parameter(node, f, p, a_zero);
  const Expr zb = all_zero(node, b_zero) ? Expr() : column_parameter(node, f, p, b_zero);
  f.sum(centred(qa, za) * centred(qb, zb));
  return p;
}

// If one of the scales is a single number, all scales are one factor a row or a column; else there are two.
Expr rescaled(Lowering& node, Formula& f, const IntegerProduct& p, const Expr& total, TensorId a_scale,
              TensorId b_scale, TensorId y_scale) {
  if (is_single(node, a_scale) || is_single(node, b_scale)) {
    const TensorId ratio = scale_ratio(node, a_scale, b_scale, y_scale);
    return real(total) * (is_single(node, b_scale) ? row_parameter : column_parameter)(node, f, p, ratio);
  }
  const TensorId one = node.scalar(Type::kFloat32, 1);
  const TensorId ratio = scale_ratio(node, b_scale, one, y_scale);
  return real(total) * real(row_parameter(node, f, p, a_scale)) * column_parameter(node, f, p, ratio);
}

}  // namespace arenac
