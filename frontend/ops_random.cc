// Random numbers. ONNX leaves the generator open; these are ours. Every run draws the same ones, so that
// generated C keeps no state.
//
// With the attribute `seed`, a whole number: those that ONNX's reference implementation draws, as constants.
// They are those of numpy's RandomState(seed): MT19937 (Matsumoto and Nishimura, "Mersenne Twister", 1998),
// of which two outputs make a number in [0, 1), and the polar method of Marsaglia for normal ones.
//
// Without: the number at element i of an output is a function of the node's name and of i alone, that of
// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014) at position i of
// the key's sequence:
//
//   z = key + (i + 1) * 0x9e3779b97f4a7c15;  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
//   z = (z ^ z >> 27) * 0x94d049bb133111eb
//
// whose upper 24 bits (53 for float64) make a number in [0, 1); the last step of SplitMix64 leaves them as
// they are. The same serves seeds that are no whole numbers, and tensors that are too large for constants.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

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
Expr hashed(const Lowering& node, const std::vector<Expr>& at, const Shape& shape, Type real,
            uint64_t stream) {
  Expr linear = integer(0);
  for (size_t d = 0; d < shape.size(); ++d) linear = linear * integer(shape[d]) + at[d];
  const Expr z = mixed(cast(Type::kUint64, linear), key_of(node, stream));
  if (real == Type::kFloat64) return cast(real, op(Op::kShr, z, bits(11))) * 0x1p-53;
  return cast(real, op(Op::kShr, z, bits(40))) * 0x1p-24;
}

// numpy's RandomState.
class Twister {
 public:
  explicit Twister(uint32_t seed) : words_(seed) {}

  double uniform() {  // in [0, 1)
    const uint32_t high = words_() >> 5, low = words_() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

  double normal() {
    if (second_) return *std::exchange(second_, std::nullopt);
    double x, y, square;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    second_ = factor * x;
    return factor * y;
  }

 private:
  std::mt19937 words_;
  std::optional<double> second_;  // of a pair of normal numbers
};

constexpr int64_t kMostConstants = 4096;  // of a tensor: they are weights

// The seed of numbers that are constants.
std::optional<uint32_t> twister_seed(const Lowering& node, const Shape& shape) {
  if (!node.has("seed") || element_count(shape) > kMostConstants) return std::nullopt;
  const Attribute& given = node.attribute("seed");
  const double seed = node.op() == "Dropout" ? static_cast<double>(given.i) : static_cast<double>(given.f);
  if (seed != std::floor(seed) || seed < 0 || seed > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(seed);
}

// One random number for each element of a shape.
class Numbers {
 public:
  Numbers(Lowering& node, Shape shape, Type real)
      : node_(node), shape_(std::move(shape)), real_(real), seed_(twister_seed(node, shape_)) {}

  // In [0, 1).
  Expr uniform(Formula& f, const std::vector<Expr>& at) {
    // As float32 none becomes 1 by rounding.
    if (seed_) return f.read(constants(&Twister::uniform, real_ == Type::kFloat32 ? 1 - 0x1p-24 : 1), at);
    return hashed(node_, at, shape_, real_, 0);
  }

  // Of mean 0 and deviation 1. By the hash with the method of Box and Muller; 1 - u is never zero.
  Expr normal(Formula& f, const std::vector<Expr>& at) {
    if (seed_) return f.read(constants(&Twister::normal, HUGE_VAL), at);
    constexpr double kTurn = 2 * 3.14159265358979323846;
    const Expr radius = sqrt(log(1 - hashed(node_, at, shape_, real_, 0)) * -2);
    return radius * make(Op::kCos, {hashed(node_, at, shape_, real_, 1) * kTurn});
  }

 private:
  TensorId constants(double (Twister::*draw)(), double most) {
    Value value = node_.table(real_, shape_);
    Twister twister(*seed_);
    for (int64_t k = 0; k < value.count(); ++k) store(value, k, {.f = std::min((twister.*draw)(), most)});
    return node_.constant(std::move(value));
  }

  Lowering& node_;
  Shape shape_;
  Type real_;
  std::optional<uint32_t> seed_;
};

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
  Numbers numbers(node, shape, compute_type(type));
  Formula f(node);
  const auto at = f.axes(shape);
  f.body(value(f, numbers, at));
  node.out(0, f.emit(type, shape));
}

void random_uniform(Lowering& node) {
  const double low = node.float_attr("low", 0), high = node.float_attr("high", 1);
  drawn(node, [&](Formula& f, Numbers& numbers, const std::vector<Expr>& at) {
    return numbers.uniform(f, at) * (high - low) + low;
  });
}

void random_normal(Lowering& node) {
  const double mean = node.float_attr("mean", 0), scale = node.float_attr("scale", 1);
  drawn(node, [&](Formula& f, Numbers& numbers, const std::vector<Expr>& at) {
    return numbers.normal(f, at) * scale + mean;
  });
}

// One with the probability p that the input holds: numpy draws that of the rarer outcome.
void bernoulli(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(is_float(node.type(x)), "probabilities should be floats");
  const Type type = type_attr(node, node.type(x));
  const Shape shape = node.shape(x);
  Numbers numbers(node, shape, compute_type(node.type(x)));
  Formula f(node);
  const auto at = f.axes(shape);
  const Expr p = f.read(x, at), u = numbers.uniform(f, at);
  f.body(cast(compute_type(type), select(p <= 0.5, u > 1 - p, u <= p)));
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
  Numbers numbers(node, to, real);
  Formula draw(node);
  draw.body(numbers.uniform(draw, draw.axes(to)));
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
  node.out(1, filled(node, node.opset() < 10 ? node.type(x) : Type::kBool, node.shape(x), 1));
}

// In training an element is dropped with the probability `ratio`, and what is left is scaled up. The model
// may learn at run time whether it is in training.
void dropout(Lowering& node) {
  const TensorId x = node.in(0);
  if (!node.has_input(2)) return untrained_dropout(node, x);
  const TensorId training = node.in(2);
  node.require(is_float(node.type(x)), "only floats can be dropped");
  node.require(node.type(training) == Type::kBool, "training_mode should be bool");
  if (node.has_input(1)) node.require(is_float(node.type(node.in(1))), "the ratio should be a float");
  const Shape shape = node.shape(x);
  const Type real = compute_type(node.type(x));
  const auto ratio_of = [&](Formula& f) {
    return node.has_input(1) ? cast(real, read_single(node, f, node.in(1))) : constant(real, 0.5);
  };
  Numbers numbers(node, shape, real);
  Formula m(node);
  const auto mask_at = m.axes(shape);
  const Expr is_training = read_single(node, m, training);
  if (is_constant(is_training, 0) || is_constant(ratio_of(m), 0)) return untrained_dropout(node, x);
  m.body(select(is_training, ratio_of(m) <= numbers.uniform(m, mask_at), constant(Type::kBool, 1)));
  const TensorId mask = m.emit(Type::kBool);
  Formula f(node);
  const auto at = f.axes(shape);
  const Expr e = f.read(x, at);
  const Expr kept = select(read_single(node, f, training), e * (1 / (1 - ratio_of(f))), e);
  f.body(select(f.read(mask, at), kept, constant(real, 0)));
  node.out(0, f.emit(node.type(x)));
  node.out(1, mask);
}

}  // namespace

std::span<const OperatorRow> random_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Bernoulli", 15, bernoulli},
      {"", "Dropout", 1, dropout},
      {"", "Multinomial", 7, multinomial},
      {"", "RandomNormal", 1, random_normal},
      {"", "RandomNormalLike", 1, random_normal},
      {"", "RandomUniform", 1, random_uniform},
      {"", "RandomUniformLike", 1, random_uniform},
  };
  return kRows;
}

}  // namespace arenac
