// Attention of com.microsoft: heads side by side in the last dimension, what was seen before in tensors of
// its own. Three operators differ in where queries, keys and values come from, and attend() does what they
// share:
//
//   Attention            x W + b = | q q q | k k k | v v v |        one projection, taken apart by columns
//   QAttention           the same of integers
//   MultiHeadAttention   three inputs, or packed together, with one bias for all
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// Queries, keys or values: [batch, heads, length, size], or as a part of the last dimension of [batch,
// length, width] `heads` times `size` elements from `first` on.
struct Heads {
  TensorId id;
  int64_t first, heads, size;
};

// Element [batch, head, place, index in the head], wherever it lies: the parts are never copied out of what
// holds them.
Expr element(const Lowering& node, Formula& f, const Heads& x, const std::vector<Expr>& at) {
  if (node.rank(x.id) == 4) return f.read(x.id, at);
  return f.read(x.id, {at[0], at[2], at[1] * integer(x.size) + at[3] + integer(x.first)});
}

// places, tokens
int64_t length(const Lowering& node, const Heads& x) {
  return node.shape(x.id)[node.rank(x.id) == 4 ? 2 : 1];
}

// The three, and of how many keys the queries know nothing but that they came before.
struct Parts {
  Heads q, k, v;
  int64_t past = 0;
};

// What hides keys in the scores [batch, heads, queries, keys].
struct Mask {
  TensorId index;  // kAbsent, or integers: which keys are real, how many, or where they end and begin
  TensorId bias;   // kAbsent, or numbers that are added
  bool causal;
  double hidden;  // is added to the score of a key that is not real
};

// `index` and `bias` are numbers of inputs, which may be absent. The index has one of four forms:
//
//   [batch]        how many keys are real          [batch, keys]             1: real
//   [2 * batch]    ends, then begins of these      [batch, queries, keys]    1: real for that query
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
//
// Keys that are not real get a finite number added (mask_filter_value): where none is real, the softmax is
// that of the scores. Keys that come after the query are hidden for good, with -infinity; its own is always
// there.
void attend(Lowering& node, const Parts& p, const Mask& m, const Shape& scores) {
  const Type type = node.type(p.q.id), real = compute_type(type);
  const double scale = node.float_attr("scale", 0);
  Formula f(node);
  const auto at = f.axes(scores);
  const Expr d = f.reduced(p.q.size);
  f.sum(element(node, f, p.q, {at[0], at[1], at[2], d}) * element(node, f, p.k, {at[0], at[1], at[3], d}));
  Expr score = f.acc() * (scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(p.q.size)));
  if (m.bias != kAbsent) score = score + cast(real, f.broadcast(m.bias, at));
  if (m.index != kAbsent) score = select(is_real(node, f, m.index, at, scores[0]), score, score + m.hidden);
  if (m.causal)
    score = select(at[3] <= at[2] + integer(p.past), score,
                   constant(real, -std::numeric_limits<double>::infinity()));
  f.finish(score);
  const TensorId weights = softmax_over(node, f.emit(real, scores), {3}, real);

  Formula g(node);
  const Expr b = g.axis(scores[0]), i = g.axis(scores[2]), h = g.axis(p.v.heads), e = g.axis(p.v.size);
  const Expr j = g.reduced(scores[3]);
  const Expr w = g.read(weights, {b, h, i, j});
  g.sum(w * cast(real, element(node, g, p.v, {b, h, j, e})));
  g.store({b, i, h * integer(p.v.size) + e});
  node.out(0, g.emit(type, {scores[0], scores[2], p.v.heads * p.v.size}));
}

constexpr int64_t kMostHeads = 1 << 20;

// Bounded, so that products with extents do not overflow.
int64_t head_count(const Lowering& node) {
  const int64_t heads = node.int_attr("num_heads", 0);
  node.require(heads > 0 && heads <= kMostHeads, "'num_heads' must be positive");
  return heads;
}

// Inputs first to last must be absent.
void require_none(const Lowering& node, int first, int last, const std::string& what) {
  for (int k = first; k <= last; ++k) node.require(!node.has_input(k), what + " is not supported");
}

// x as [batch, heads, length, size], behind what is in `past` if there is one: the form in which onnxruntime
// keeps keys and values from call to call.
Heads after(Lowering& node, const Heads& x, TensorId past) {
  Heads all = x;
  if (node.rank(x.id) != 4) {
    Formula f(node);
    const auto at = f.axes({node.shape(x.id)[0], x.heads, length(node, x), x.size});
    f.body(element(node, f, x, at));
    all = {f.emit(node.type(x.id)), 0, x.heads, x.size};
  }
  if (past == kAbsent) return all;
  Shape want = node.shape(all.id);
  if (node.rank(past) == 4) want[2] = node.shape(past)[2];
  node.require(node.shape(past) == want && node.type(past) == node.type(x.id),
               fmt::format("the past {} must be like {}", node.describe(past), to_string(want)));
  Attribute axis;
  axis.i = 2;
  all.id = node.apply("Concat", {past, all.id}, {{"axis", axis}});
  return all;
}

// Number k of the tensors along the first dimension of x, which vanishes.
TensorId part_of(Lowering& node, TensorId x, int64_t k) {
  return node.apply("Gather", {x, node.scalar(Type::kInt64, static_cast<double>(k))});
}

constexpr int kNone = 1000;  // an input that there never is

// Which inputs say what queries see; `past` holds keys, then values.
struct Seen {
  int mask, bias, past;
};

// Queries, keys and values side by side in `all`: Attention after its projection. Their widths are thirds, or
// as qkv_hidden_sizes says (values may be wider). Past and present are [2, batch, heads, length, size]: keys,
// then values.
void attend_projected(Lowering& node, TensorId all, const Seen& inputs) {
  const int64_t heads = head_count(node), width = node.shape(all).back();
  node.require(node.int_attr("do_rotary", 0) == 0, "'do_rotary' is not supported");
  const auto widths = node.ints_attr("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  node.require(widths.size() == 3 && widths[0] == widths[1], "'qkv_hidden_sizes' makes no sense");
  int64_t first = 0;
  Heads parts[3];
  for (int k = 0; k < 3; ++k) {
    node.require(widths[k] >= 0 && widths[k] <= width && widths[k] % heads == 0,
                 fmt::format("{} heads do not divide {}", heads, widths[k]));
    parts[k] = {all, first, heads, widths[k] / heads};
    first += widths[k];
  }
  node.require(first == width, "the weights and 'qkv_hidden_sizes' do not fit each other");
  Parts p = {parts[0], parts[1], parts[2]};
  if (node.has_input(inputs.past) || node.wants(1)) {
    const TensorId before = optional_input(node, inputs.past);
    node.require(p.k.size == p.v.size, "a past needs keys as wide as values");
    node.require(before == kAbsent || (node.rank(before) == 5 && node.shape(before)[0] == 2),
                 "the past must be [2, batch, heads, length, size]");
    if (before != kAbsent) p.past = node.shape(before)[3];
    p.k = after(node, p.k, before == kAbsent ? kAbsent : part_of(node, before, 0));
    p.v = after(node, p.v, before == kAbsent ? kAbsent : part_of(node, before, 1));
    const auto first_of = [&](TensorId id) { return node.apply("Unsqueeze", {id, node.constant_ints({0})}); };
    Attribute axis;
    node.out(1, node.apply("Concat", {first_of(p.k.id), first_of(p.v.id)}, {{"axis", axis}}));
  }
  const Shape shape = node.shape(all), scores = {shape[0], heads, shape[1], length(node, p.k)};
  attend(node, p, parse_mask(node, inputs.mask, inputs.bias, scores), scores);
}

// Projects the input to queries, keys and values first. Inputs: x, weights, bias, mask, past, attention bias.
void attention(Lowering& node) {
  const TensorId x = node.in(0), w = node.in(1);
  node.require(node.rank(x) == 3 && node.rank(w) == 2 && is_float(node.type(x)),
               "needs an input of rank 3 and weights of rank 2");
  require_none(node, 6, 6, "a past of which only a part counts");
  const Shape shape = {node.shape(x)[0], node.shape(x)[1], node.shape(w)[1]};
  TensorId all = node.apply("MatMul", {x, w});
  if (node.has_input(2)) all = node.apply("Add", {all, node.in(2)});
  node.require(node.shape(all) == shape, "the weights and their bias do not fit each other");
  attend_projected(node, all, {3, 5, 4});
}

// The same with a projection of integers. Inputs: x, weights, bias, x_scale, w_scale, mask, x_zero, w_zero,
// past.
void qattention(Lowering& node) {
  const TensorId x = node.in(0), w = node.in(1);
  node.require(node.rank(x) == 3 && node.rank(w) == 2, "needs an input of rank 3 and weights of rank 2");
  const std::vector<TensorId> operands = {
      x, w, node.in(3), node.in(4), optional_input(node, 6), optional_input(node, 7), node.in(2)};
  const OnnxNode product = {
      node.onnx_node().origin, "MatMulIntegerToFloat", "com.microsoft", 1, operands, {"product"}, {}};
  attend_projected(node, node.importer().lower(product).at(0), {5, kNone, 8});
}

// [batch, length, width]: number `which` of those in dimension 3 of [batch, length, heads, 2 or 3, size].
// Each head has its queries, keys and values together there.
TensorId unpacked(Lowering& node, TensorId x, int64_t which, int64_t heads) {
  const Shape shape = node.shape(x);
  node.require(shape.size() == 5 && shape[2] == heads && which < shape[3],
               fmt::format("the packed {} does not fit {} heads", node.describe(x), heads));
  Formula f(node);
  const auto at = f.axes({shape[0], shape[1], heads, shape[4]});
  f.body(f.read(x, {at[0], at[1], at[2], integer(which), at[3]}));
  f.store({at[0], at[1], at[2] * integer(shape[4]) + at[3]});
  return f.emit(node.type(x), {shape[0], shape[1], heads * shape[4]});
}

// Queries, keys or values of MultiHeadAttention, k of 0 to 2: an input of its own, or packed with others.
TensorId given(Lowering& node, int k, int64_t heads) {
  const bool all_packed = node.rank(node.in(0)) == 5;
  if (all_packed) return unpacked(node, node.in(0), k, heads);
  if (k > 0 && node.rank(node.in(1)) == 5) return unpacked(node, node.in(1), k - 1, heads);
  return node.in(k);
}

// Those with their part of the bias, which begins at `first`. Keys and values that are [batch, heads, length,
// size] were made elsewhere and have theirs.
Heads projected(Lowering& node, int k, int64_t heads, int64_t first) {
  const TensorId x = given(node, k, heads);
  const Shape shape = node.shape(x);
  const bool apart = k > 0 && shape.size() == 4 && shape[1] == heads;
  node.require((apart || (shape.size() == 3 && shape[2] % heads == 0)) && is_float(node.type(x)),
               fmt::format("input {} needs rank 3 and {} heads in its last dimension", k, heads));
  if (apart) return {x, 0, heads, shape[3]};
  if (!node.has_input(3)) return {x, 0, heads, shape[2] / heads};
  const TensorId bias =
      node.apply("Slice", {node.in(3), node.constant_ints({first}), node.constant_ints({first + shape[2]})});
  const TensorId sum = node.apply("Add", {x, bias});
  node.require(node.shape(sum) == shape, "the bias does not fit");
  return {sum, 0, heads, shape[2] / heads};
}

// Inputs: query, key, value, bias, mask, attention bias, past key, past value. Outputs 1 and 2 are the
// present ones, which are made where either is there: without a past, the present is what was given.
void multi_head_attention(Lowering& node) {
  const int64_t heads = head_count(node);
  require_none(node, 8, 9, "a past of which only a part counts");
  node.require(!node.wants(3), "output 3 is not supported");
  Parts p;
  p.q = projected(node, 0, heads, 0);
  p.k = projected(node, 1, heads, heads * p.q.size);
  p.v = projected(node, 2, heads, heads * (p.q.size + p.k.size));
  const Shape q = node.shape(p.q.id);
  node.require(q[0] == node.shape(p.k.id)[0] && q[0] == node.shape(p.v.id)[0] && p.q.size == p.k.size &&
                   length(node, p.k) == length(node, p.v),
               "queries, keys and values do not fit each other");
  for (const auto& [input, part] : {std::pair{6, &p.k}, {7, &p.v}}) {
    if (!node.has_input(input) && !node.wants(input - 5)) continue;
    if (node.has_input(input) && node.rank(node.in(input)) == 4) p.past = node.shape(node.in(input))[2];
    *part = after(node, *part, optional_input(node, input));
    node.out(input - 5, part->id);
  }
  node.require(length(node, p.k) == length(node, p.v), "past keys and values do not fit each other");
  const Shape scores = {q[0], heads, q[1], length(node, p.k)};
  attend(node, p, parse_mask(node, 4, 5, scores), scores);
}

}  // namespace

std::span<const OperatorRow> heads_operators() {
  static constexpr OperatorRow kRows[] = {
      {"com.microsoft", "Attention", 1, attention},
      {"com.microsoft", "MultiHeadAttention", 1, multi_head_attention},
      {"com.microsoft", "QAttention", 1, qattention, 1000, "formula", "int8, uint8"},
  };
  return kRows;
}

}  // namespace arenac
