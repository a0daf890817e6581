// Operators of com.microsoft whose weights are packed: several codes to a byte, a scale and a zero point for
// each block of them.
//
//   MatMulNBits    y[i...,n] = bias[n] + sum(k) x[i...,k] * (code[n,k] - zero[n,k/block]) * scale[n,k/block]
//
// Constant codes are unpacked when the model is compiled, into elements of a byte. They become floats where
// they are used.
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <vector>

#include "frontend/ops.h"
#include "frontend/quantize.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

int64_t bits_attr(const Lowering& node) {
  const int64_t bits = node.int_attr("bits", 4);
  node.require(bits == 2 || bits == 4 || bits == 8,
               fmt::format("{} bits are not supported: 2, 4 or 8", bits));
  return bits;
}

constexpr int64_t kLargestBlock = 1 << 20;

int64_t block_attr(const Lowering& node, int64_t fallback) {
  const int64_t block = node.int_attr("block_size", fallback);
  node.require(block > 0 && block <= kLargestBlock, "'block_size' makes no sense");
  return block;
}

Type code_type(int64_t bits) { return bits == 2 ? Type::kUint2 : bits == 4 ? Type::kUint4 : Type::kUint8; }

// The first `extent` codes that the bytes of each row of x hold, the lowest bits first.
TensorId unpacked(Lowering& node, TensorId x, int64_t bits, int64_t extent) {
  Shape shape = node.shape(x);
  const int64_t per_byte = 8 / bits, bytes = (extent * bits + 7) / 8;
  node.require(node.type(x) == Type::kUint8 && !shape.empty() && shape.back() == bytes,
               fmt::format("{} must be uint8 with {} in a row", node.describe(x), bytes));
  shape.back() = extent;
  Formula f(node);
  auto at = f.axes(shape);
  const Expr place = cast(Type::kInt32, at.back() % integer(per_byte)) * static_cast<double>(bits);
  at.back() = at.back() / integer(per_byte);
  const Expr byte = cast(Type::kInt32, f.read(x, at));
  f.body(make(Op::kAnd, {make(Op::kShr, {byte, place}), constant(Type::kInt32, (1 << bits) - 1)}));
  return f.emit(code_type(bits));
}

// A matrix of [columns, inner], each column in blocks.
struct Packed {
  int64_t columns, inner, bits, block;

  int64_t blocks() const { return (inner - 1) / block + 1; }
};

// [inner, columns]: what the columns of input 1, blocks of whole bytes, hold.
TensorId codes(Lowering& node, const Packed& p) {
  const TensorId b = node.in(1);
  const Shape want = {p.columns, p.blocks(), p.block * p.bits / 8};
  node.require(node.shape(b) == want,
               fmt::format("the weights {} must be {}", to_string(node.shape(b)), to_string(want)));
  const TensorId all = unpacked(node, b, p.bits, p.block);
  Formula f(node);
  const Expr k = f.axis(p.inner), n = f.axis(p.columns);
  f.body(f.read(all, {n, k / integer(p.block), k % integer(p.block)}));
  return f.emit(node.type(all));
}

// [columns, extent] of an operand that may have one dimension instead.
TensorId by_column(Lowering& node, int input, int64_t columns, int64_t extent) {
  const TensorId id = node.in(input);
  const Shape shape = node.shape(id), want = {columns, extent};
  node.require(shape == want || shape == Shape{columns * extent},
               fmt::format("input {} {} must be {}", input, to_string(shape), to_string(want)));
  return shape == want ? id : node.apply("Reshape", {id, node.constant_ints(want)});
}

TensorId transposed(Lowering& node, TensorId matrix) { return node.apply("Transpose", {matrix}); }

// [blocks, columns] of input 3.
TensorId zero_points(Lowering& node, const Packed& p) {
  if (!node.has_input(3)) return kAbsent;
  if (is_float(node.type(node.in(3)))) return transposed(node, by_column(node, 3, p.columns, p.blocks()));
  const TensorId bytes = by_column(node, 3, p.columns, (p.blocks() * p.bits + 7) / 8);
  return transposed(node, unpacked(node, bytes, p.bits, p.blocks()));
}

// Codes with a scale for each block of `block` of them along dimension `axis`, and zero points likewise, or
// one for all of them.
struct Blocks {
  TensorId codes, scale, zero;  // kAbsent: `middle`
  int64_t axis, block;
  double middle;
};

// (code - zero) * scale
Expr dequantized(const Lowering& node, Formula& f, const Blocks& x, const std::vector<Expr>& at) {
  auto in_block = at;
  in_block[x.axis] = at[x.axis] / integer(x.block);
  const Expr code = f.read(x.codes, at), scale = f.read(x.scale, in_block);
  if (x.zero == kAbsent) return cast(scale->type, centred(code, constant(code->type, x.middle))) * scale;
  const Expr zero = f.read(x.zero, in_block);
  if (is_float(node.type(x.zero))) return (cast(scale->type, code) - cast(scale->type, zero)) * scale;
  return cast(scale->type, centred(code, zero)) * scale;
}

// The codes stay as they are in memory: a model has them to be small.
void matmul_nbits(Lowering& node) {
  const TensorId x = node.in(0);
  const Packed p = {node.int_attr("N", 0), node.int_attr("K", 0), bits_attr(node), block_attr(node, 0)};
  node.require(is_float(node.type(x)) && node.rank(x) > 0 && node.shape(x).back() == p.inner && p.inner > 0 &&
                   p.columns > 0 && p.columns < kMaxElements,
               "'K' must be the last extent of the input, 'N' positive");
  node.require(p.block * p.bits % 8 == 0, "a block must fill whole bytes");
  node.require(!node.has_input(4),
               "'g_idx' is not supported: order the columns of the weights by their group");
  node.require(is_float(node.type(node.in(2))), "the scales must be floating point");
  const Blocks w = {codes(node, p),
                    transposed(node, by_column(node, 2, p.columns, p.blocks())),
                    zero_points(node, p),
                    0,
                    p.block,
                    std::ldexp(1, static_cast<int>(p.bits) - 1)};
  const Shape rows = node.shape(x);
  Formula f(node);
  auto at = f.axes(Shape(rows.begin(), rows.end() - 1));
  const Expr n = f.axis(p.columns), k = f.reduced(p.inner);
  at.push_back(k);
  const Expr element = f.read(x, at);
  f.sum(element * cast(element->type, dequantized(node, f, w, {k, n})));
  if (node.has_input(5)) {
    node.require(node.shape(node.in(5)) == Shape{p.columns}, "the bias does not fit");
    f.finish(f.acc() + cast(element->type, f.read(node.in(5), {n})));
  }
  node.out(0, f.emit(node.type(x)));
}

// What the codes of bitsandbytes stand for: floats of 4 bits, and quantiles of the normal distribution.
constexpr float kFloat4[] = {0, 0.00520833f,  0.66666667f,  1,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
                             0, -0.00520833f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
constexpr float kNormalFloat4[] = {
    -1,          -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f, 0,
    0.07958030f, 0.16093020f,  0.24611230f,  0.33791524f,  0.44070983f,  0.56261700f,  0.72295684f,  1};

// [inner, columns]: the codes of input 1, column by column, two to a byte, the first in its upper half.
TensorId bnb4_codes(Lowering& node, const Packed& p) {
  const TensorId b = node.in(1);
  const int64_t bytes = (p.columns * p.inner + 1) / 2;
  node.require(node.type(b) == Type::kUint8 && element_count(node.shape(b)) == bytes,
               fmt::format("the weights are {} and must be {} bytes", node.describe(b), bytes));
  const TensorId flat = node.apply("Reshape", {b, node.constant_ints({bytes})});
  Formula f(node);
  const Expr k = f.axis(p.inner), n = f.axis(p.columns), at = n * integer(p.inner) + k;
  const Expr byte = cast(Type::kInt32, f.read(flat, {at / integer(2)}));
  const Expr place = 4 - cast(Type::kInt32, at % integer(2)) * 4;
  f.body(make(Op::kAnd, {make(Op::kShr, {byte, place}), constant(Type::kInt32, 15)}));
  return f.emit(Type::kUint4);
}

// Blocks are of all columns one behind the other; each has its greatest magnitude.
void matmul_bnb4(Lowering& node) {
  const TensorId x = node.in(0), scale = node.in(2);
  const Packed p = {node.int_attr("N", 0), node.int_attr("K", 0), 4, block_attr(node, 0)};
  const Shape rows = node.shape(x);
  node.require(is_float(node.type(x)) && !rows.empty() && rows.back() == p.inner && p.inner > 0 &&
                   p.columns > 0 && p.columns < kMaxElements / p.inner,
               "'K' must be the last extent of the input, 'N' positive");
  node.require(node.int_attr("transB", 1) == 1, "'transB' of 0 is not supported");
  const int64_t blocks = (p.columns * p.inner - 1) / p.block + 1, kind = node.int_attr("quant_type", 0);
  node.require(is_float(node.type(scale)) && node.shape(scale) == Shape{blocks},
               fmt::format("the scales must be {}", to_string({blocks})));
  node.require(kind == 0 || kind == 1, fmt::format("'quant_type' {} is unknown", kind));
  const std::span<const float> values = kind == 0 ? kFloat4 : kNormalFloat4;
  const TensorId table = node.constant(node.listed(std::vector<float>(values.begin(), values.end())));
  const TensorId code = bnb4_codes(node, p);
  Formula f(node);
  auto at = f.axes(Shape(rows.begin(), rows.end() - 1));
  const Expr n = f.axis(p.columns), k = f.reduced(p.inner);
  at.push_back(k);
  const Expr element = f.read(x, at);
  const Expr place = cast(Type::kInt64, f.read(code, {k, n})) % integer(std::ssize(values));
  const Expr value = f.read(table, {place});
  const Expr size = cast(value->type, f.read(scale, {(n * integer(p.inner) + k) / integer(p.block)}));
  f.sum(element * cast(element->type, value * size));
  node.out(0, f.emit(node.type(x)));
}

// Codes of a type of their own, or several to a byte of the last dimension; the zero points likewise.
Blocks block_quantized(Lowering& node) {
  const TensorId data = node.in(0), scale = node.in(2);
  const int64_t bits = bits_attr(node), rank = node.rank(data);
  Blocks x = {data,
              scale,
              optional_input(node, 3),
              node.normalized_axis(node.int_attr("quantize_axis", 1), rank),
              block_attr(node, 128),
              0};
  node.require(node.rank(scale) == rank && is_float(node.type(scale)),
               "the scales must be floating point and have the rank of the data");
  if (node.type(data) == Type::kUint8) {
    node.require(x.axis == rank - 1, "'quantize_axis' of packed data must be the last");
    x.codes = unpacked(node, data, bits, node.shape(data).back() * 8 / bits);
    if (x.zero != kAbsent) x.zero = unpacked(node, x.zero, bits, node.shape(scale).back());
    x.middle = std::ldexp(1, static_cast<int>(bits) - 1);
  }
  Shape want = node.shape(x.codes);
  want[x.axis] = (want[x.axis] + x.block - 1) / x.block;
  node.require(node.shape(scale) == want && (x.zero == kAbsent || node.shape(x.zero) == want),
               fmt::format("the scales and zero points must be {}", to_string(want)));
  return x;
}

void gather_block_quantized(Lowering& node) {
  Blocks x = block_quantized(node);
  const TensorId indices = node.in(1);
  const int64_t axis = node.normalized_axis(node.int_attr("gather_axis", 0), node.rank(x.codes));
  node.require(axis != x.axis, "'gather_axis' and 'quantize_axis' are the same");
  Attribute gathered;
  gathered.i = axis;
  for (TensorId* id : {&x.codes, &x.scale, &x.zero})
    if (*id != kAbsent) *id = node.apply("Gather", {*id, indices}, {{"axis", gathered}});
  if (axis < x.axis) x.axis += node.rank(indices) - 1;
  Formula f(node);
  const auto at = f.axes(node.shape(x.codes));
  f.body(dequantized(node, f, x, at));
  node.out(0, f.emit(node.type(x.scale)));
}

}  // namespace

std::span<const OperatorRow> packed_operators() {
  static constexpr OperatorRow kRows[] = {
      {"com.microsoft", "GatherBlockQuantized", 1, gather_block_quantized, 1000, "formula",
       "int4, uint4, uint8"},
      {"com.microsoft", "MatMulBnb4", 1, matmul_bnb4},
      {"com.microsoft", "MatMulNBits", 1, matmul_nbits},
  };
  return kRows;
}

}  // namespace arenac
