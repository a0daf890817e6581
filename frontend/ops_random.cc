// Random numbers. ONNX leaves the generator open; this is ours.
//
// Generated C keeps no state, so that it is re-entrant: the number at element i of an output is a function of
// the node's key and of i alone, and every run draws the same numbers. The function is SplitMix64 (Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", 2014) at position i of the key's sequence:
//
//   z = key + (i + 1) * 0x9e3779b97f4a7c15;  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
//   z = (z ^ z >> 27) * 0x94d049bb133111eb
//
// whose upper 24 bits (53 for float64) make a number in [0, 1); the last step of SplitMix64 leaves them as
// they are. The key comes from the attribute `seed`, or from the node's name where there is none, so two
// nodes draw different numbers and the same model always draws the same.
#include <fmt/format.h>

#include <bit>

#include "frontend/onnx_tensor.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15, kFirst = 0xbf58476d1ce4e5b9, kSecond = 0x94d049bb133111eb;

Expr bits(uint64_t value) { return constant(Type::kUint64, Scalar{.i = static_cast<int64_t>(value)}); }
Expr op(Op o, const Expr& a, const Expr& b) { return make(o, {a, b}); }

// 64 bits of which the upper ones are random, from a position in the key's sequence.
Expr mixed(const Expr& position, uint64_t key) {
  const Expr z = bits(key) + (position + bits(1)) * bits(kGolden);
  const Expr y = op(Op::kXor, z, op(Op::kShr, z, bits(30))) * bits(kFirst);
  return op(Op::kXor, y, op(Op::kShr, y, bits(27))) * bits(kSecond);
}

uint64_t key_of(const Lowering& node, uint64_t stream) {
  uint64_t seed = 0xcbf29ce484222325;  // FNV-1a of the name
  for (const unsigned char c : node.onnx_node().origin) seed = (seed ^ c) * 0x100000001b3;
  if (node.has("seed")) {
    const Attribute& given = node.attribute("seed");
    seed = node.op() == "Dropout" ? static_cast<uint64_t>(given.i) : std::bit_cast<uint32_t>(given.f);
  }
  const Expr key = mixed(bits(stream), seed);
  return static_cast<uint64_t>(mixed(key, ~seed)->value.i);
}

// A number in [0, 1) for the element at `at` of a tensor of this shape; another one for each stream.
Expr uniform(const Lowering& node, const std::vector<Expr>& at, const Shape& shape, Type real,
             uint64_t stream = 0) {
  Expr linear = integer(0);
  for (size_t d = 0; d < shape.size(); ++d) linear = linear * integer(shape[d]) + at[d];
  const Expr z = mixed(cast(Type::kUint64, linear), key_of(node, stream));
  if (real == Type::kFloat64) return cast(real, op(Op::kShr, z, bits(11))) * 0x1p-53;
  return cast(real, op(Op::kShr, z, bits(40))) * 0x1p-24;
}

// The type that attribute `dtype` names.
Type type_attr(const Lowering& node, Type fallback) {
  if (!node.has("dtype")) return fallback;
  return type_of_onnx(static_cast<int>(node.attribute("dtype").i), fmt::format("operator {}", node.op()));
}

// A tensor of `value` at each element, of the shape and type that the attributes or the operand `like` give.
template <typename Function>
void drawn(Lowering& node, const Function& value) {
  const bool like = node.op().ends_with("Like");
  const Shape shape = like ? node.shape(node.in(0)) : node.attribute("shape").ints;
  const Type type = type_attr(node, like ? node.type(node.in(0)) : Type::kFloat32);
  node.require(is_float(type), fmt::format("random numbers of type {} are not defined", info(type).name));
  element_count(shape);
  Formula f(node);
  f.body(value(f.axes(shape), shape, compute_type(type)));
  node.out(0, f.emit(type, shape));
}

void random_uniform(Lowering& node) {
  const double low = node.float_attr("low", 0), high = node.float_attr("high", 1);
  drawn(node, [&](const std::vector<Expr>& at, const Shape& shape, Type real) {
    return uniform(node, at, shape, real) * (high - low) + low;
  });
}

// The method of Box and Muller; 1 - u is never zero.
void random_normal(Lowering& node) {
  constexpr double kTurn = 2 * 3.14159265358979323846;
  const double mean = node.float_attr("mean", 0), scale = node.float_attr("scale", 1);
  drawn(node, [&](const std::vector<Expr>& at, const Shape& shape, Type real) {
    const Expr radius = sqrt(log(1 - uniform(node, at, shape, real, 0)) * -2);
    return radius * make(Op::kCos, {uniform(node, at, shape, real, 1) * kTurn}) * scale + mean;
  });
}

// One with the probability that the input holds.
void bernoulli(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(is_float(node.type(x)), "probabilities should be floats");
  const Type type = type_attr(node, node.type(x));
  const Shape shape = node.shape(x);
  Formula f(node);
  const auto at = f.axes(shape);
  const Expr p = f.read(x, at);
  f.body(cast(compute_type(type), uniform(node, at, shape, p->type) < p));
  node.out(0, f.emit(type));
}

// Classes with the probabilities softmax(x): the number of classes whose cumulated share a number in [0, 1)
// reaches.
void multinomial(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape shape = node.shape(x);
  node.require(shape.size() == 2 && shape[1] > 0 && is_float(node.type(x)),
               "the input should be [batch, classes], of floats");
  const int64_t samples = node.int_attr("sample_size", 1);
  const Type type = type_attr(node, Type::kInt32);
  node.require(type == Type::kInt32 || type == Type::kInt64, "classes are int32 or int64");
  const Shape to = {shape[0], samples};
  element_count(to);
  const Type real = compute_type(node.type(x));
  const TensorId shares = softmax_over(node, x, {1}, real);
  const TensorId sums = node.apply("CumSum", {shares, node.scalar(Type::kInt64, 1)});
  Formula draw(node);
  draw.body(uniform(node, draw.axes(to), to, real));
  const TensorId draws = draw.emit(real);
  Formula f(node);
  const Expr b = f.axis(shape[0]), s = f.axis(samples), c = f.reduced(shape[1]);
  const Expr reached = f.read(draws, {b, s}) * f.read(sums, {b, integer(shape[1] - 1)});
  f.sum(cast(Type::kInt64, f.read(sums, {b, c}) <= reached));
  f.finish(cast(type, min(f.acc(), static_cast<double>(shape[1] - 1))));
  node.out(0, f.emit(type));
}

// x as it is, and a mask of ones.
void untrained_dropout(Lowering& node, TensorId x) {
  node.out(0, x);
  if (!node.wants(1)) return;
  Value mask(node.opset() < 10 ? node.type(x) : Type::kBool, node.shape(x));
  const Scalar one = is_float(mask.type) ? Scalar{.f = 1} : Scalar{.i = 1};
  for (int64_t k = 0; k < mask.count(); ++k) store(mask, k, one);
  node.out(1, node.constant(std::move(mask)));
}

// In training an element is dropped with the probability `ratio`, and what is left is scaled up. The model
// may learn at run time whether it is in training.
void dropout(Lowering& node) {
  const TensorId x = node.in(0);
  if (!node.has_input(2)) return untrained_dropout(node, x);
  node.require(is_float(node.type(x)), "only floats can be dropped");
  node.require(node.type(node.in(2)) == Type::kBool, "training_mode should be bool");
  if (node.has_input(1)) node.require(is_float(node.type(node.in(1))), "the ratio should be a float");
  const Shape shape = node.shape(x);
  const auto is_false = [&](Formula& f) { return is_constant(read_single(node, f, node.in(2)), 0); };
  const auto ratio_of = [&](Formula& f, Type real) {
    return node.has_input(1) ? cast(real, read_single(node, f, node.in(1))) : constant(real, 0.5);
  };
  Formula f(node);
  const auto at = f.axes(shape);
  const Expr e = f.read(x, at), ratio = ratio_of(f, e->type);
  if (is_false(f) || is_constant(ratio, 0)) return untrained_dropout(node, x);
  const Expr kept = ratio <= uniform(node, at, shape, e->type);
  const Expr trained = select(kept, e * (1 / (1 - ratio)), constant(e->type, 0));
  f.body(select(read_single(node, f, node.in(2)), trained, e));
  node.out(0, f.emit(node.type(x)));
  if (!node.wants(1)) return;
  Formula m(node);
  const auto mask_at = m.axes(shape);
  const Expr left = ratio_of(m, e->type) <= uniform(node, mask_at, shape, e->type);
  m.body(select(read_single(node, m, node.in(2)), left, constant(Type::kBool, 1)));
  node.out(1, m.emit(Type::kBool));
}

}  // namespace

std::span<const OperatorRow> random_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Bernoulli", 15, bernoulli},
      {"", "Dropout", 7, dropout},
      {"", "Multinomial", 7, multinomial},
      {"", "RandomNormal", 1, random_normal},
      {"", "RandomNormalLike", 1, random_normal},
      {"", "RandomUniform", 1, random_uniform},
      {"", "RandomUniformLike", 1, random_uniform},
  };
  return kRows;
}

}  // namespace arenac
