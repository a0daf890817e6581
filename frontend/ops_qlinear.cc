// Quantised operators of com.microsoft, which quantisation tools emit. Scales and zero points of activations
// hold one element; ratios of scales fold. With real = (q - zero) * scale on both sides, a result is
//
//   y = saturate(round(f((a - a_zero) * a_scale, ...) / y_scale) + y_zero)
//
// and where f is linear, scales join to one factor for each operand. These are float formulas: requantize.h
// makes integers of them where it can.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/activation.h"
#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/quantize.h"
#include "frontend/steps.h"
#include "frontend/window.h"

namespace arenac {
namespace {

// Both operands, and the result's target, of an element-wise operator of two.
struct Pair {
  Quantized a, b;
  Quantization y;
};

// Inputs 0 to 2: a with scale and zero point; 3 to 5: b; 6 and 7: scale and zero point of the result, whose
// type is that of its zero point, or a's.
Pair pair_of(const Lowering& node) {
  const Quantized a = quantized_input(node, 0), b = quantized_input(node, 3);
  return {a, b, quantization_at(node, 6, node.type(a.q))};
}

// y = round((a - a_zero) * a_scale / y_scale + (b - b_zero) * b_scale / y_scale) + y_zero
void qlinear_add(Lowering& node) {
  const auto [a, b, y] = pair_of(node);
  const TensorId one = node.scalar(Type::kFloat32, 1);
  // a_scale / y_scale and b_scale / y_scale: nodes of constants, as a rule
  const TensorId ra = scale_ratio(node, a.scale, one, y.scale), rb = scale_ratio(node, b.scale, one, y.scale);
  Formula f(node);
  const auto out = f.axes(broadcast_shape(node, {node.shape(a.q), node.shape(b.q)}));
  const Expr da = centred(f.broadcast(a.q, out), single_zero(node, f, a.zero_point));
  const Expr db = centred(f.broadcast(b.q, out), single_zero(node, f, b.zero_point));
  const Expr term = real(da) * read_single(node, f, ra);
  f.body(saturated(y.type, term + real(db) * read_single(node, f, rb), single_zero(node, f, y.zero_point)));
  node.out(0, f.emit(y.type));
}

// y = round((a - a_zero) * (b - b_zero) * (a_scale * b_scale / y_scale)) + y_zero. The product of two
// differences of bytes is at most 255 * 255, which an int32, and a float32, hold exactly.
void qlinear_mul(Lowering& node) {
  const auto [a, b, y] = pair_of(node);
  const TensorId ratio = scale_ratio(node, a.scale, b.scale, y.scale);
  Formula f(node);
  const auto out = f.axes(broadcast_shape(node, {node.shape(a.q), node.shape(b.q)}));
  const Expr da = centred(f.broadcast(a.q, out), single_zero(node, f, a.zero_point));
  const Expr db = centred(f.broadcast(b.q, out), single_zero(node, f, b.zero_point));
  const Expr steps = real(da * db) * read_single(node, f, ratio);
  f.body(saturated(y.type, steps, single_zero(node, f, y.zero_point)));
  node.out(0, f.emit(y.type));
}

// quantise(function(dequantise(x))) in one node, for functions that are not linear.
TensorId through_reals(Lowering& node, const Quantized& x, const Quantization& y, const Unary& function) {
  Formula f(node);
  const Expr q = f.broadcast(x.q, f.axes(node.shape(x.q)));
  const Expr value =
      real(centred(q, single_zero(node, f, x.zero_point))) * real(read_single(node, f, x.scale));
  const Expr steps = function(value) / real(read_single(node, f, y.scale));
  f.body(saturated(y.type, steps, single_zero(node, f, y.zero_point)));
  return f.emit(y.type);
}

// Where an 8-bit operand and known scales leave 256 results, these fold into a table: the function of every
// code, of a constant operand, is a node of constants. Entry q - lowest is that of code q.
TensorId mapped(Lowering& node, const Quantized& x, const Quantization& y, const Unary& function) {
  const Type type = node.type(x.q);
  for (TensorId v : {x.scale, x.zero_point, y.scale, y.zero_point})
    if (size_of(type) != 1 || (v != kAbsent && !node.is_constant(v)))
      return through_reals(node, x, y, function);
  const int64_t lowest = type == Type::kInt8 ? -128 : 0;
  Value codes = node.table(type, {256});
  for (int64_t k = 0; k < 256; ++k) store(codes, k, {.i = k + lowest});
  const TensorId table =
      through_reals(node, {node.constant(std::move(codes)), x.scale, x.zero_point}, y, function);
  Formula f(node);
  const Expr q = f.broadcast(x.q, f.axes(node.shape(x.q)));
  f.body(f.read(table, {cast(Type::kInt64, q) - integer(lowest)}));
  return f.emit(y.type);
}

// Inputs: x with scale and zero point, then scale and zero point of the result.
void qlinear_unary(Lowering& node, const std::string& function, std::optional<float> alpha) {
  const Quantized x = quantized_input(node, 0);
  const Quantization y = quantization_at(node, 3, node.type(x.q));
  node.out(0, mapped(node, x, y, activation(node, function, alpha)));
}

void qlinear_sigmoid(Lowering& node) { qlinear_unary(node, "Sigmoid", {}); }
void qlinear_leaky_relu(Lowering& node) { qlinear_unary(node, "LeakyRelu", node.float_attr("alpha", 0.01f)); }

// Attribute opset says by which version of Softmax the axis is meant: before 13, all dimensions from it on.
void qlinear_softmax(Lowering& node) {
  const Quantized x = quantized_input(node, 0);
  const Quantization y = quantization_at(node, 3, node.type(x.q));
  const auto dims = softmax_dims(node, x.q, node.int_attr("opset", 13), node.int_attr("axis", -1));
  node.out(0, quantized(node, softmax_over(node, dequantized(node, x), dims, Type::kFloat32), y));
}

// Whether both hold the same bytes, known now; an absent zero point is the same as zeros.
bool same_constant(const Lowering& node, TensorId a, TensorId b) {
  if (a == kAbsent || b == kAbsent) return all_zero(node, a) && all_zero(node, b);
  const auto &x = node.tensor(a).constant, &y = node.tensor(b).constant;
  return x && y && x->type == y->type && x->bytes == y->bytes;
}

// Inputs: scale and zero point of the result, then three a part. Parts that are already quantised as the
// result is are plain copies, which the scheduler may write in place; the others are rescaled, each by a nest
// of its own.
void qlinear_concat(Lowering& node) {
  const Quantization y = quantization_at(node, 0, Type::kUint8);
  node.require(node.input_count() >= 5 && (node.input_count() - 2) % 3 == 0,
               "takes a scale, a zero point, and three inputs a part");
  Shape shape = node.shape(node.in(2));
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = node.normalized_axis(node.attribute("axis").i, rank);
  const TensorId one = node.scalar(Type::kFloat32, 1);
  Formula f(node);
  int64_t offset = 0;
  for (int k = 2; k < node.input_count(); k += 3) {
    const Quantized x = quantized_input(node, k);
    shape[axis] = node.rank(x.q) == rank ? node.shape(x.q)[axis] : 0;
    node.require(node.shape(x.q) == shape, "the parts' shapes differ");
    const TensorId ratio = scale_ratio(node, x.scale, one, y.scale);
    if (offset > 0) f.next_nest();
    const auto at = f.axes(shape);
    const Expr q = f.read(x.q, at);
    const bool copied = node.type(x.q) == y.type && same_constant(node, x.scale, y.scale) &&
                        same_constant(node, x.zero_point, y.zero_point);
    const auto converted = [&] {
      const Expr steps = real(centred(q, single_zero(node, f, x.zero_point))) * read_single(node, f, ratio);
      return saturated(y.type, steps, single_zero(node, f, y.zero_point));
    };
    f.body(copied ? q : converted());
    auto store = at;
    store[axis] = at[axis] + integer(offset);
    f.store(store);
    offset += shape[axis];
  }
  shape[axis] = offset;
  node.out(0, f.emit(y.type, shape));
}

// The sum of x - x_zero over the spatial dimensions, times x_scale / (y_scale * their number): an integer
// sum, and one product and one rounding for each channel.
void qlinear_global_average_pool(Lowering& node) {
  const Quantized x = quantized_input(node, 0);
  const Quantization y = quantization_at(node, 3, node.type(x.q));
  const bool channels_last = node.int_attr("channels_last", 0) != 0;
  node.require(node.rank(x.q) >= 3, "needs an input [N, C, spatial...]");
  // spatial: [2, rank), or [1, rank - 1) with the channels last
  const auto dims = dims_between(2 - channels_last, node.rank(x.q) - channels_last);
  const TensorId part =
      node.scalar(Type::kFloat32, 1.0 / static_cast<double>(reduced_count(node.shape(x.q), dims)));
  const TensorId ratio = scale_ratio(node, x.scale, part, y.scale);
  const TensorId zero = x.zero_point;
  Formula f(node);
  std::vector<Expr> in, store;
  Shape shape = node.shape(x.q);
  for (int64_t d = 0; d < node.rank(x.q); ++d) {
    const bool spatial = d >= dims.front() && d <= dims.back();
    in.push_back(spatial ? f.reduced(shape[d]) : f.axis(shape[d]));
    store.push_back(spatial ? integer(0) : in[d]);
    if (spatial) shape[d] = 1;
  }
  f.sum(centred(f.read(x.q, in), single_zero(node, f, zero)));
  const Expr steps = real(f.acc()) * read_single(node, f, ratio);
  f.finish(saturated(y.type, steps, single_zero(node, f, y.zero_point)));
  f.store(store);
  node.out(0, f.emit(y.type, shape));
}

// Padding is a real 0: it contributes nothing, and counts only on request. Then so does what lies beyond it,
// as onnxruntime, whose operator it is, divides by the whole window.
// With channels_last the tensors are [N, spatial..., C]; windows are worked out as if C came second, and
// indices turned round afterwards.
void qlinear_average_pool(Lowering& node) {
  const Quantized x = quantized_input(node, 0);
  const Quantization y = quantization_at(node, 3, node.type(x.q));
  const bool channels_last = node.int_attr("channels_last", 0) != 0;
  Shape input = node.shape(x.q);
  node.require(input.size() >= 3, "needs an input [N, C, spatial...]");
  // [N, H, W, C] -> [N, C, H, W]
  if (channels_last) std::rotate(input.begin() + 1, input.end() - 1, input.end());
  const Window window =
      parse_window(node, Shape(input.begin() + 2, input.end()), node.attribute("kernel_shape").ints);
  const TensorId ratio = scale_ratio(node, x.scale, node.scalar(Type::kFloat32, 1), y.scale);
  Formula f(node);
  auto in = f.axes({input[0], input[1]});
  const auto spatial = f.axes(output_extents(window));
  Shape shape = {input[0], input[1]};
  for (int64_t extent : output_extents(window)) shape.push_back(extent);
  auto store = in;
  store.insert(store.end(), spatial.begin(), spatial.end());
  const auto taps = tap_axes(f, window);
  for (const Expr& index : window_indices(f, window, spatial, taps)) in.push_back(index);
  if (channels_last)
    for (auto* indices : {&in, &store})
      std::rotate(indices->begin() + 1, indices->begin() + 2, indices->end());
  if (channels_last) std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  f.sum(centred(f.read(x.q, in), single_zero(node, f, x.zero_point)));
  const Counted counted = node.int_attr("count_include_pad", 0) ? Counted::kAll : Counted::kInput;
  const Expr mean =
      real(f.acc()) * read_single(node, f, ratio) / real(averaged_taps(window, spatial, counted));
  f.finish(saturated(y.type, mean, single_zero(node, f, y.zero_point)));
  f.store(store);
  node.out(0, f.emit(y.type, shape));
}

// (sum(k) (a - a_zero) * (b - b_zero) + c) * alpha * a_scale * b_scale, as float32 unless there is a target.
// c is int32, of the scale of the product; b's scale and zero point hold one element or one a column.
void qgemm(Lowering& node) {
  const Quantized a = quantized_input(node, 0), b = quantized_input(node, 3);
  node.require(node.rank(a.q) == 2 && node.rank(b.q) == 2, "multiplies matrices");
  const int64_t ta = node.int_attr("transA", 0) != 0, tb = node.int_attr("transB", 0) != 0;
  const int64_t rows = node.shape(a.q)[ta], inner = node.shape(a.q)[1 - ta],
                columns = node.shape(b.q)[1 - tb];
  node.require(node.shape(b.q)[tb] == inner, "the inner extents differ");
  // without it the result is float32
  TensorId y_scale = optional_input(node, 7);
  const TensorId alpha = node.scalar(Type::kFloat32, node.float_attr("alpha", 1));
  const TensorId ratio = scale_ratio(node, scale_ratio(node, a.scale, alpha, kAbsent), b.scale, y_scale);
  Formula f(node);
  const Expr m = f.axis(rows), n = f.axis(columns), k = f.reduced(inner);
  const Expr qa = ta ? f.read(a.q, {k, m}) : f.read(a.q, {m, k});
  const Expr qb = tb ? f.read(b.q, {n, k}) : f.read(b.q, {k, n});
  const Expr da = centred(qa, single_zero(node, f, a.zero_point));
  f.sum(da * centred(qb, indexed_zero(node, f, b.zero_point, n, columns)));
  Expr total = f.acc();
  if (node.has_input(6)) {
    const TensorId c = node.in(6);
    node.require(node.type(c) == Type::kInt32 &&
                     broadcast_shape(node, {{rows, columns}, node.shape(c)}) == Shape{rows, columns},
                 "the addend does not fit the output");
    total = total + f.broadcast(c, {m, n});
  }
  const Expr value = real(total) * indexed(node, f, ratio, n, columns);
  if (y_scale == kAbsent) {
    f.finish(value);
    return node.out(0, f.emit(Type::kFloat32));
  }
  const Quantization y = quantization_at(node, 7, node.type(a.q));
  f.finish(saturated(y.type, value, single_zero(node, f, y.zero_point)));
  node.out(0, f.emit(y.type));
}

// The float32 product of quantised matrices, plus an optional bias.
TensorId real_product(Lowering& node, const Quantized& a, const Quantized& b, TensorId bias) {
  Formula f(node);
  const IntegerProduct p = integer_product(node, f, a.q, a.zero_point, b.q, b.zero_point);
  Expr y = rescaled(node, f, p, f.acc(), a.scale, b.scale, kAbsent);
  if (bias != kAbsent) {
    node.require(broadcast_shape(node, {node.shape(bias), p.shape}) == p.shape, "the bias does not fit");
    y = y + real(f.broadcast(bias, p.out));
  }
  f.finish(y);
  return f.emit(Type::kFloat32, p.shape);
}

// Inputs: a, b, a_scale, b_scale, a_zero, b_zero, bias.
void matmul_integer_to_float(Lowering& node) {
  const Quantized a{node.in(0), node.in(2), optional_input(node, 4)};
  const Quantized b{node.in(1), node.in(3), optional_input(node, 5)};
  node.out(0, real_product(node, a, b, optional_input(node, 6)));
}

// Inputs: a float, b quantised, b_scale, b_zero, bias. a is quantised by its own extremes, which only the run
// knows.
void dynamic_quantize_matmul(Lowering& node) {
  const Quantized a = dynamically_quantized(node, node.in(0));
  const Quantized b{node.in(1), node.in(2), optional_input(node, 3)};
  node.out(0, real_product(node, a, b, optional_input(node, 4)));
}

// EmbedLayerNormalization of quantised tables: their scales are inputs 8 to 12, their zero points 13 to 17.
// Dequantised first, the rest is that operator; a table of constants folds, and stays bytes by what it was
// folded from.
void qembed_layer_normalization(Lowering& node) {
  OnnxNode real = node.onnx_node();
  real.op = "EmbedLayerNormalization";
  real.inputs = {node.in(0), optional_input(node, 1)};
  for (int k = 2; k < 7; ++k) {
    if (!node.has_input(k)) {
      real.inputs.push_back(kAbsent);
      continue;
    }
    const Quantized table = {node.in(k), node.in(k + 6), optional_input(node, k + 11)};
    real.inputs.push_back(dequantized(node, table));
  }
  real.inputs.push_back(optional_input(node, 7));
  const auto results = node.importer().lower(real);
  for (int k = 0; k < node.output_count(); ++k) node.out(k, results[static_cast<size_t>(k)]);
}

}  // namespace

std::span<const OperatorRow> qlinear_operators() {
  static constexpr OperatorRow kRows[] = {
      {"com.microsoft", "DynamicQuantizeMatMul", 1, dynamic_quantize_matmul},
      {"com.microsoft", "MatMulIntegerToFloat", 1, matmul_integer_to_float, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QEmbedLayerNormalization", 1, qembed_layer_normalization, 1000, "formula", "int32"},
      {"com.microsoft", "QGemm", 1, qgemm, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearAdd", 1, qlinear_add, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearAveragePool", 1, qlinear_average_pool, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearConcat", 1, qlinear_concat, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearGlobalAveragePool", 1, qlinear_global_average_pool, 1000, "formula",
       "int8, uint8"},
      {"com.microsoft", "QLinearLeakyRelu", 1, qlinear_leaky_relu, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearMul", 1, qlinear_mul, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearSigmoid", 1, qlinear_sigmoid, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearSoftmax", 1, qlinear_softmax, 1000, "formula", "int8, uint8"},
  };
  return kRows;
}

}  // namespace arenac
