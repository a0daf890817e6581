// Operators that onnxruntime adds: attention over packed projections, and others in disguise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// Queries, keys or values as a part of the last dimension of [batch, length, width]: `heads` times `size`
// elements from `first` on.
struct Heads {
  TensorId id;
  int64_t first, heads, size;
};

Expr element(Formula& f, const Heads& x, const Expr& b, const Expr& h, const Expr& s, const Expr& d) {
  return f.read(x.id, {b, s, h * integer(x.size) + d + integer(x.first)});
}

// What hides keys in the scores [batch, heads, queries, keys].
struct Mask {
  TensorId index;  // kAbsent, or integers: which keys are real, how many, or where they end and begin
  TensorId bias;   // kAbsent, or numbers that are added
  bool causal;
  double hidden;  // is added to the score of a key that is not real
};

Mask parse_mask(const Lowering& node, int index, int bias, const Shape& scores) {
  const Mask m = {optional_input(node, index), optional_input(node, bias),
                  node.int_attr("unidirectional", 0) != 0, node.float_attr("mask_filter_value", -10000)};
  const int64_t batch = scores[0], queries = scores[2], keys = scores[3];
  if (m.index != kAbsent) {
    const Shape shape = node.shape(m.index);
    const bool fits = shape == Shape{batch} || shape == Shape{2 * batch} || shape == Shape{batch, keys} ||
                      shape == Shape{batch, queries, keys};
    node.require(fits && !is_float(node.type(m.index)),
                 fmt::format("the mask {} does not fit scores {}", to_string(shape), to_string(scores)));
  }
  if (m.bias != kAbsent)
    node.require(is_float(node.type(m.bias)) && broadcast_shape(node, {node.shape(m.bias), scores}) == scores,
                 fmt::format("the attention bias {} does not fit scores {}", to_string(node.shape(m.bias)),
                             to_string(scores)));
  return m;
}

// Whether the mask's index has key at[3] of query at[2].
Expr is_real(const Lowering& node, Formula& f, TensorId index, const std::vector<Expr>& at, int64_t batch) {
  const Shape shape = node.shape(index);
  if (shape.size() == 2) return f.read(index, {at[0], at[3]}) > 0;
  if (shape.size() == 3) return f.read(index, {at[0], at[2], at[3]}) > 0;
  const Expr before_end = at[3] < cast(Type::kInt64, f.read(index, {at[0]}));
  if (shape[0] == batch) return before_end;
  return before_end && at[3] >= cast(Type::kInt64, f.read(index, {at[0] + integer(batch)}));
}

// y[b,i,h*n+d] = sum(j) softmax(j) of (scale * sum(e) q[b,i,h,e] k[b,j,h,e] + mask) * v[b,j,h,d]
void attend(Lowering& node, const Heads& q, const Heads& k, const Heads& v, const Mask& m,
            const Shape& scores) {
  const Type type = node.type(q.id), real = compute_type(type);
  const double scale = node.float_attr("scale", 0);
  Formula f(node);
  const auto at = f.axes(scores);
  const Expr d = f.reduced(q.size);
  f.sum(element(f, q, at[0], at[1], at[2], d) * element(f, k, at[0], at[1], at[3], d));
  Expr score = f.acc() * (scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(q.size)));
  if (m.bias != kAbsent) score = score + cast(real, f.broadcast(m.bias, at));
  if (m.index != kAbsent) score = select(is_real(node, f, m.index, at, scores[0]), score, score + m.hidden);
  if (m.causal)
    score = select(at[3] <= at[2], score, constant(real, -std::numeric_limits<double>::infinity()));
  f.finish(score);
  const TensorId weights = softmax_over(node, f.emit(real, scores), {3}, real);

  Formula g(node);
  const Expr b = g.axis(scores[0]), i = g.axis(scores[2]), h = g.axis(v.heads), e = g.axis(v.size);
  const Expr j = g.reduced(scores[3]);
  const Expr w = g.read(weights, {b, h, i, j});
  g.sum(w * cast(real, element(g, v, b, h, j, e)));
  g.store({b, i, h * integer(v.size) + e});
  node.out(0, g.emit(type, {scores[0], scores[2], v.heads * v.size}));
}

constexpr int64_t kMostHeads = 1 << 20;

int64_t head_count(const Lowering& node) {
  const int64_t heads = node.int_attr("num_heads", 0);
  node.require(heads > 0 && heads <= kMostHeads, "'num_heads' must be positive");
  return heads;
}

void require_none(const Lowering& node, int first, int last, const std::string& what) {
  for (int k = first; k <= last; ++k) node.require(!node.has_input(k), what + " is not supported");
}

// Projects the input to queries, keys and values first.
void attention(Lowering& node) {
  const TensorId x = node.in(0), w = node.in(1);
  const int64_t heads = head_count(node);
  require_none(node, 4, 4, "a past");
  require_none(node, 6, 6, "a length of the past");
  node.require(node.int_attr("do_rotary", 0) == 0, "'do_rotary' is not supported");
  node.require(node.rank(x) == 3 && node.rank(w) == 2 && is_float(node.type(x)),
               "needs an input of rank 3 and weights of rank 2");
  const int64_t width = node.shape(w)[1];
  const auto widths = node.ints_attr("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  node.require(widths.size() == 3 && widths[0] == widths[1], "'qkv_hidden_sizes' makes no sense");
  int64_t first = 0;
  Heads parts[3];
  TensorId all = node.apply("MatMul", {x, w});
  if (node.has_input(2)) all = node.apply("Add", {all, node.in(2)});
  for (int k = 0; k < 3; ++k) {
    node.require(widths[k] >= 0 && widths[k] <= width && widths[k] % heads == 0,
                 fmt::format("{} heads do not divide {}", heads, widths[k]));
    parts[k] = {all, first, heads, widths[k] / heads};
    first += widths[k];
  }
  const Shape shape = node.shape(x);
  node.require(first == width && node.shape(all) == Shape{shape[0], shape[1], width},
               "the weights, their bias and 'qkv_hidden_sizes' do not fit each other");
  const Shape scores = {shape[0], heads, shape[1], shape[1]};
  attend(node, parts[0], parts[1], parts[2], parse_mask(node, 3, 5, scores), scores);
}

void multi_head_attention(Lowering& node) {
  const int64_t heads = head_count(node);
  require_none(node, 6, 9, "a past");
  const Shape q = node.shape(node.in(0));
  Heads parts[3];
  int64_t first = 0;
  for (int k = 0; k < 3; ++k) {
    const Shape shape = node.shape(node.in(k));
    node.require(shape.size() == 3 && shape[2] % heads == 0 && is_float(node.type(node.in(k))),
                 fmt::format("input {} needs rank 3 and {} heads in its last dimension", k, heads));
    parts[k] = {node.in(k), 0, heads, shape[2] / heads};
    if (node.has_input(3)) {
      const TensorId bias = node.apply(
          "Slice", {node.in(3), node.constant_ints({first}), node.constant_ints({first + shape[2]})});
      parts[k].id = node.apply("Add", {parts[k].id, bias});
      node.require(node.shape(parts[k].id) == shape, "the bias does not fit");
    }
    first += shape[2];
  }
  const Shape k = node.shape(node.in(1)), v = node.shape(node.in(2));
  node.require(q[0] == k[0] && q[0] == v[0] && q[2] == k[2] && k[1] == v[1],
               "queries, keys and values do not fit each other");
  const Shape scores = {q[0], heads, q[1], k[1]};
  attend(node, parts[0], parts[1], parts[2], parse_mask(node, 4, 5, scores), scores);
}

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

}  // namespace

std::span<const OperatorRow> microsoft_operators() {
  static constexpr OperatorRow kRows[] = {
      {"com.microsoft", "Attention", 1, attention},
      {"com.microsoft", "BiasSoftmax", 1, bias_softmax},
      {"com.microsoft", "ConvTransposeWithDynamicPads", 1, conv_transpose_with_dynamic_pads},
      {"com.microsoft", "ExpandDims", 1, expand_dims, 1000, "formula", kEveryType},
      {"com.microsoft", "GatherND", 1, as_in_onnx, 1000, "formula", kEveryType},
      {"com.microsoft", "GridSample", 1, as_in_onnx},
      {"com.microsoft", "MultiHeadAttention", 1, multi_head_attention},
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
