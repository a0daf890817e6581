// Operators that onnxruntime adds: those of ai.onnx in disguise.
#include <fmt/format.h>

#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// The node as one of ai.onnx.
OnnxNode in_onnx(const Lowering& node, int opset) {
  OnnxNode other = node.onnx_node();
  other.domain = "", other.opset = opset;
  return other;
}

// Another node's results are this one's.
void lower_instead(Lowering& node, const OnnxNode& other) {
  const auto results = node.importer().lower(other);
  for (int k = 0; k < node.output_count(); ++k) node.out(k, results[static_cast<size_t>(k)]);
}

// The same as ai.onnx's operator of that name.
void as_in_onnx(Lowering& node) { lower_instead(node, in_onnx(node, 18)); }

// ai.onnx's, its positions an operand earlier. One position is that of the first place, or every place has
// its own; without 'num_heads' the caches tell how large a head is, if all of it is rotated.
void rotary_embedding(Lowering& node) {
  const TensorId x = node.in(0), cosines = node.in(2), sines = node.in(3);
  TensorId positions = node.in(1);
  node.require(node.float_attr("scale", 1) == 1, "a 'scale' other than 1 is not supported");
  node.require(node.int_attr("is_packed_batching", 0) == 0, "'is_packed_batching' is not supported");
  const Shape shape = node.shape(x), cache = node.shape(cosines);
  node.require((shape.size() == 3 || shape.size() == 4) && cache.size() == 2,
               "needs an input of rank 3 or 4 and caches of rank 2");
  node.require(!is_float(node.type(positions)), "the positions must be integers");
  if (node.rank(positions) <= 1 && element_count(node.shape(positions)) == 1) {
    Formula f(node);
    const auto at = f.axes({shape[0], shape[shape.size() - 2]});
    f.body(cast(Type::kInt64, f.read(positions, std::vector<Expr>(node.rank(positions), integer(0)))) +
           at[1]);
    positions = f.emit(Type::kInt64);
  }
  OnnxNode other = in_onnx(node, 23);
  other.inputs = {x, cosines, sines, positions};
  if (shape.size() == 3 && node.int_attr("num_heads", 0) == 0 &&
      node.int_attr("rotary_embedding_dim", 0) == 0 && cache[1] > 0)
    other.attributes["num_heads"].i = shape[2] / (2 * cache[1]);
  lower_instead(node, other);
}

// softmax(data + bias) over all dimensions from 'axis' on. Where the bias has fewer rows of these, each is
// for as many rows in turn, or all of them for the first rows, then again.
void bias_softmax(Lowering& node) {
  const TensorId x = node.in(0), bias = node.in(1);
  const Shape shape = node.shape(x);
  const auto axis = static_cast<size_t>(node.normalized_axis(node.int_attr("axis", 1), node.rank(x)));
  const int64_t rows = element_count({shape.begin(), shape.begin() + axis});
  const int64_t width = element_count({shape.begin() + axis, shape.end()});
  const int64_t biases = width > 0 ? element_count(node.shape(bias)) / width : 0;
  node.require(biases > 0 && biases * width == element_count(node.shape(bias)) && rows % biases == 0 &&
                   node.type(bias) == node.type(x) && is_float(node.type(x)),
               fmt::format("the bias {} does not fit {}", to_string(node.shape(bias)), to_string(shape)));
  const bool in_turn = node.attribute("is_inner_broadcast").i != 0;
  const int64_t times = rows / biases;
  const auto reshaped = [&](TensorId id, const Shape& to) {
    return node.apply("Reshape", {id, node.constant_ints(to)});
  };
  const TensorId sum =
      node.apply("Add", {reshaped(x, in_turn ? Shape{biases, times, width} : Shape{times, biases, width}),
                         reshaped(bias, in_turn ? Shape{biases, 1, width} : Shape{1, biases, width})});
  node.out(0, reshaped(softmax_over(node, sum, {2}, node.type(x)), shape));
}

void conv_transpose_with_dynamic_pads(Lowering& node) {
  OnnxNode other = in_onnx(node, 11);
  other.op = "ConvTranspose";
  if (node.has_input(2)) other.attributes["pads"].ints = node.constant_ints(node.in(2), "the pads");
  other.inputs = {node.in(0), node.in(1), optional_input(node, 3)};
  lower_instead(node, other);
}

void range(Lowering& node) {
  const TensorId start = node.in(0);
  const TensorId step = node.has_input(2) ? node.in(2) : node.scalar(node.type(start), 1);
  node.out(0, node.apply("Range", {start, node.in(1), step}));
}

void expand_dims(Lowering& node) {
  const auto axis = node.constant_ints(node.in(1), "the axis");
  node.require(axis.size() == 1, "the axis must be one number");
  node.out(0, node.apply("Unsqueeze", {node.in(0), node.constant_ints({axis[0]})}));
}

TensorId dequantized(Lowering& node, int input) {
  std::vector<TensorId> operands = {node.in(input), node.in(input + 1)};
  if (node.has_input(input + 2)) operands.push_back(node.in(input + 2));
  return node.apply("DequantizeLinear", operands);
}

// Input `scale`, and the zero point behind it, say how.
TensorId quantized(Lowering& node, TensorId x, int scale, Type type) {
  const TensorId zero = node.has_input(scale + 1) ? node.in(scale + 1) : node.scalar(type, 0);
  return node.apply("QuantizeLinear", {x, node.in(scale), zero});
}

void qlinear_where(Lowering& node) {
  const TensorId chosen = node.apply("Where", {node.in(0), dequantized(node, 1), dequantized(node, 4)});
  node.out(0, quantized(node, chosen, 7, node.type(node.in(1))));
}

void qlinear_reduce_mean(Lowering& node) {
  std::vector<TensorId> operands = {dequantized(node, 0)};
  if (node.has("axes")) operands.push_back(node.constant_ints(node.ints_attr("axes", {})));
  Attribute keep;
  keep.i = node.int_attr("keepdims", 1);
  const TensorId mean = node.apply("ReduceMean", operands, {{"keepdims", keep}});
  node.out(0, quantized(node, mean, 3, node.type(node.in(0))));
}

// Operator `op` on x with its channels moved from the end to dimension 1, and back.
TensorId on_channels_first(Lowering& node, const std::string& op, std::vector<TensorId> operands) {
  const int64_t rank = node.rank(operands[0]);
  node.require(rank >= 3, "the input needs rank 3 or more");
  Attribute to, back;
  to.ints = {0, rank - 1};
  back.ints = {0};
  for (int64_t d = 1; d + 1 < rank; ++d) to.ints.push_back(d);
  for (int64_t d = 2; d < rank; ++d) back.ints.push_back(d);
  back.ints.push_back(1);
  operands[0] = node.apply("Transpose", {operands[0]}, {{"perm", to}});
  auto attributes = node.onnx_node().attributes;
  attributes.erase("channels_last");
  return node.apply("Transpose", {node.apply(op, operands, attributes)}, {{"perm", back}});
}

void nhwc_max_pool(Lowering& node) { node.out(0, on_channels_first(node, "MaxPool", {node.in(0)})); }

void qlinear_conv(Lowering& node) {
  if (node.int_attr("channels_last", 0) == 0) return as_in_onnx(node);
  std::vector<TensorId> operands;
  for (int k = 0; k < node.input_count(); ++k) operands.push_back(k < 8 ? node.in(k) : node.operand(k));
  node.out(0, on_channels_first(node, "QLinearConv", operands));
}

// y[m,n] = sum(k) (a[m,k] - b[n,k])^2, or its root.
void distances(Lowering& node) {
  const TensorId a = node.in(0), b = node.in(1);
  const std::string metric = node.string_attr("metric", "sqeuclidean");
  node.require(metric == "sqeuclidean" || metric == "euclidean", fmt::format("unknown metric '{}'", metric));
  node.require(node.rank(a) == 2 && node.rank(b) == 2 && node.shape(a)[1] == node.shape(b)[1] &&
                   node.type(a) == node.type(b) && is_float(node.type(a)),
               "needs two matrices of floats with as many columns");
  Formula f(node);
  const Expr m = f.axis(node.shape(a)[0]), n = f.axis(node.shape(b)[0]), k = f.reduced(node.shape(a)[1]);
  const Expr difference = f.read(a, {m, k}) - f.read(b, {n, k});
  f.sum(difference * difference);
  if (metric == "euclidean") f.finish(sqrt(f.acc()));
  node.out(0, f.emit(node.type(a)));
}

}  // namespace

std::span<const OperatorRow> microsoft_operators() {
  static constexpr OperatorRow kRows[] = {
      {"com.microsoft", "BiasSoftmax", 1, bias_softmax},
      {"com.microsoft", "CDist", 1, distances},
      {"com.microsoft", "ConvTransposeWithDynamicPads", 1, conv_transpose_with_dynamic_pads},
      {"com.microsoft", "ExpandDims", 1, expand_dims, 1000, "formula", kEveryType},
      {"com.microsoft", "GatherND", 1, as_in_onnx, 1000, "formula", kEveryType},
      {"com.microsoft", "GridSample", 1, as_in_onnx},
      {"com.microsoft", "NhwcMaxPool", 1, nhwc_max_pool, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "Pad", 1, as_in_onnx, 1000, "formula", "floats, integers"},
      {"com.microsoft", "QLinearConv", 1, qlinear_conv, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearReduceMean", 1, qlinear_reduce_mean, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "QLinearWhere", 1, qlinear_where, 1000, "formula", "int8, uint8"},
      {"com.microsoft", "Range", 1, range, 1000, "formula", "floats, integers"},
      {"com.microsoft", "RotaryEmbedding", 1, rotary_embedding},
      {"com.microsoft", "Trilu", 1, as_in_onnx, 1000, "formula", kEveryType},
  };
  return kRows;
}

}  // namespace arenac
