// Attention over heads.
//
//   Attention         y[b,h,i] = sum(j) w[b,h,i,j] * v[b,g,j]
//                     w[b,h,i] = softmax(j) of mask(cap(scale * sum(d) q[b,h,i,d] * k[b,g,j,d]))
//   RotaryEmbedding   y[b,h,s] = x[b,h,s], pairs of its elements turned by an angle that belongs to s
//
// Several heads h of the queries share one head g of the keys and values: h = g * (heads / groups) + r.
//
// Attention is scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017, section 3.2);
// with fewer heads of keys than of queries it is grouped-query attention (Ainslie et al., 2023), with a
// single one multi-query attention (Shazeer, 2019).
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/control.h"
#include "frontend/importer.h"
#include "frontend/onnx_tensor.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// Queries, keys or values: [batch, heads, length, size], or packed, [batch, length, heads * size].
struct Heads {
  TensorId id;
  bool packed;
  int64_t batch, heads, length, size;
};

// heads * size stays far from overflow
constexpr int64_t kMostHeads = 1 << 20;

// Rank 4 is [batch, heads, length, size], whatever the attribute says; rank 3 is packed, and the attribute
// says how many heads its last dimension holds side by side:
//
//   [b, s, | head 0: d d d | head 1: d d d |]        element [b,h,s,d] at [b, s, h * size + d]
Heads heads_of(const Lowering& node, TensorId id, const std::string& attribute) {
  const Shape shape = node.shape(id);
  node.require(is_float(node.type(id)), "is defined on floats only");
  if (shape.size() == 4) return {id, false, shape[0], shape[1], shape[2], shape[3]};
  node.require(shape.size() == 3, fmt::format("{} should have rank 3 or 4", to_string(shape)));
  const int64_t heads = node.int_attr(attribute, 0);
  node.require(heads > 0 && heads <= kMostHeads && shape[2] % heads == 0,
               fmt::format("'{}' = {} heads do not divide {}", attribute, heads, to_string(shape)));
  return {id, true, shape[0], heads, shape[1], shape[2] / heads};
}

// Where element [b,h,s,d] lies.
std::vector<Expr> place(const Heads& x, const Expr& b, const Expr& h, const Expr& s, const Expr& d) {
  if (x.packed) return {b, s, h * integer(x.size) + d};
  return {b, h, s, d};
}

// The same elements, not packed.
Heads unpacked(Lowering& node, const Heads& x) {
  if (!x.packed) return x;
  Formula f(node);
  const std::vector<Expr> at = f.axes({x.batch, x.heads, x.length, x.size});
  f.body(f.read(x.id, place(x, at[0], at[1], at[2], at[3])));
  return {f.emit(node.type(x.id)), false, x.batch, x.heads, x.length, x.size};
}

// x behind the past, input `past` [b,h,p,d], along the sequence; not packed. Without a past, x as it is. A
// decoder that makes one token after the other passes the keys and values of all earlier ones; the standard
// returns the result as present_key and present_value, which are the past of the next call.
//
//   past  | p p p p |         all  | p p p p x x |        two nests: the past at [0, p), x at [p, p + length)
Heads with_past(Lowering& node, const Heads& x, int past) {
  if (!node.has_input(past)) return x;
  const TensorId before = node.in(past);
  const Shape shape = node.shape(before);
  node.require(shape.size() == 4 && shape[0] == x.batch && shape[1] == x.heads && shape[3] == x.size &&
                   node.type(before) == node.type(x.id),
               fmt::format("the past {} does not fit", to_string(shape)));
  Formula f(node);
  f.body(f.read(before, f.axes(shape)));
  f.next_nest();
  const std::vector<Expr> at = f.axes({x.batch, x.heads, x.length, x.size});
  f.body(f.read(x.id, place(x, at[0], at[1], at[2], at[3])));
  f.store({at[0], at[1], at[2] + integer(shape[2]), at[3]});
  Heads all = {kAbsent, false, x.batch, x.heads, shape[2] + x.length, x.size};
  all.id = f.emit(node.type(x.id), {all.batch, all.heads, all.length, all.size});
  return all;
}

// Which keys a query sees: all that none of these forbids.
struct Mask {
  TensorId mask;     // kAbsent, bool (true: seen) or a number to add; broadcast to the scores
  TensorId lengths;  // kAbsent, or how many keys of each batch are real
  int64_t past;      // keys before the first query's own
  bool causal;
  int64_t left, right;  // keys seen before and after the query's own; negative: all
  Shape scores;         // [batch, heads, queries, keys]

  bool may_hide_all() const { return mask != kAbsent || lengths != kAbsent || left >= 0 || right >= 0; }
};

// -1: no limit. More than any tensor is long is as good as that, and adds up without overflow.
int64_t window_side(const Lowering& node, const std::string& attribute) {
  const int64_t side = node.int_attr(attribute, -1);
  node.require(side >= -1, fmt::format("'{}' = {} is below -1", attribute, side));
  return std::min(side, kMaxElements);
}

// Inputs 3 (attn_mask), 4 (past_key, for its length) and 6 (nonpad_kv_seqlen, since opset 24). Dimensions of
// the mask correspond to those of the scores from the last; each is of that extent, or 1. The last one may be
// shorter.
Mask parse_mask(const Lowering& node, const Heads& q, const Heads& k) {
  Mask m = {optional_input(node, 3),
            optional_input(node, 6),
            node.has_input(4) ? node.shape(node.in(4))[2] : 0,
            node.int_attr("is_causal", 0) != 0,
            window_side(node, "left_window_size"),
            window_side(node, "right_window_size"),
            {q.batch, q.heads, q.length, k.length}};
  if (m.lengths != kAbsent)
    node.require(node.shape(m.lengths) == Shape{q.batch} && !is_float(node.type(m.lengths)),
                 "nonpad_kv_seqlen needs one integer a batch");
  if (m.mask == kAbsent) return m;
  const Shape shape = node.shape(m.mask);
  const std::string problem =
      fmt::format("the mask {} does not fit scores {}", to_string(shape), to_string(m.scores));
  node.require(shape.size() <= 4, problem);
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t extent = m.scores[4 - shape.size() + d];
    const bool shorter = d + 1 == shape.size() && shape[d] > 0 && shape[d] < extent;
    node.require(shape[d] == extent || shape[d] == 1 || shorter, problem);
  }
  return m;
}

Expr both(const Expr& a, const Expr& b) { return a.empty() ? b : a && b; }

// The score at[b,h,i,j] as the mask leaves it: -infinity where the key is not seen, which softmax turns into
// 0. With a past of 2, causal, the queries i see of the keys j:
//
//   j     0 1 2 3 4
//   i=0   x x x . .          own key of i: 2 + i
//   i=1   x x x x .          windows (left 1, right 0) leave i=1 the keys 2 and 3
//   i=2   x x x x x
Expr masked(const Lowering& node, Formula& f, const Mask& m, Expr score, const std::vector<Expr>& at) {
  const Expr i = at[2], j = at[3];
  Expr seen;
  if (m.mask != kAbsent) {
    // A mask of fewer keys hides the rest; until opset 24 one of a single key is broadcast.
    const Shape shape = node.shape(m.mask);
    const int64_t keys = shape.empty() ? 1 : shape.back();
    std::vector<Expr> where = at;
    if (keys < m.scores[3] && (keys > 1 || (node.opset() >= 24 && !shape.empty()))) {
      seen = j < integer(keys);
      where[3] = min(j, static_cast<double>(keys - 1));
    }
    const Expr e = f.broadcast(m.mask, where);
    if (e->type == Type::kBool)
      seen = both(seen, e);
    else
      score = score + cast(score->type, e);
  }
  Expr own = i + integer(m.past);  // the key of query i
  if (m.lengths != kAbsent) {
    const Expr length =
        min(max(cast(Type::kInt64, f.read(m.lengths, {at[0]})), 0), static_cast<double>(m.scores[3]));
    seen = both(seen, j < length);
    // keys are kept by the caller: the queries are the last of those that are real
    if (m.past == 0) own = i + (length - integer(m.scores[2]));
  }
  if (m.causal) seen = both(seen, j <= own);
  if (m.left >= 0) seen = both(seen, own <= j + integer(m.left));
  if (m.right >= 0) seen = both(seen, j <= own + integer(m.right));
  if (seen.empty()) return score;
  return select(seen, score, constant(score->type, -std::numeric_limits<double>::infinity()));
}

// exp(s - max) / sum(exp(s - max)) over the keys; zeros for a query that sees none. Of scores that are all
// -infinity the plain formula makes exp(-infinity + infinity) = NaN, so the powers are selected to be 0, and
// 0 / 0 as well.
TensorId weights_of_seen(Lowering& node, TensorId scores, Type real) {
  const TensorId most = reduced(node, scores, {3}, {Combine::kMax}, node.type(scores));
  const auto power = [&](const Expr& s, const Expr& top) {
    const Expr none = top == constant(top->type, -std::numeric_limits<double>::infinity());
    return select(none, constant(real, 0), exp(cast(real, s) - cast(real, top)));
  };
  const TensorId powers = pointwise(node, real, power, scores, most);
  const TensorId sum = reduced(node, powers, {3}, {Combine::kSum}, real);
  const auto share = [](const Expr& e, const Expr& all) {
    return select(all == 0, constant(e->type, 0), e / all);
  };
  return pointwise(node, real, share, powers, sum);
}

// Scores are held within (-cap, cap), nearly unchanged around 0 (Gemma 2, 2024); a cap of 0 is none.
Expr capped(const Expr& score, double cap) { return cap > 0 ? tanh(score / cap) * cap : score; }

// A nest over the heads of the queries: b, h and, where several share it, the head g of keys and values. Of 6
// heads in 2 groups, h = 3 * g + r with axes g [2] and r [3]: both heads are linear in the axes, which g = h
// / 3 is not.
struct Grouped {
  Expr b, h, g;
};

Grouped grouped_axes(Formula& f, const Heads& q, const Heads& k) {
  const int64_t sharing = k.heads > 0 ? q.heads / k.heads : 1;
  const Expr b = f.axis(q.batch), g = f.axis(k.heads);
  return {b, sharing > 1 ? g * integer(sharing) + f.axis(sharing) : g, g};
}

struct Cut {
  double cap;
  int64_t mode;  // which of the scores the last output holds: 0 plain, 1 capped, 2 masked, 3 shares
};

// The scores [b,h,i,j], scaled, capped and masked, in one nest unless the model asks for an earlier form. The
// cap comes before the mask, as in the standard since its correction (onnx pull request 7867): behind it, a
// cap would make masked scores finite, and their shares larger than 0. An output of the unmasked scores (mode
// 0: plain, 1: capped) is what the first nest stores then, and a second one does the rest.
TensorId scores_of(Lowering& node, const Heads& q, const Heads& k, const Mask& mask, const Cut& cut) {
  const Type real = compute_type(node.type(q.id));
  const double exact = 1 / std::sqrt(q.size);
  const double given = node.float_attr("scale", static_cast<float>(exact));
  const double scale = real == Type::kFloat64 && !node.has("scale") ? exact : given;
  const bool early = node.wants(3) && cut.mode < 2;
  Formula f(node);
  const Grouped a = grouped_axes(f, q, k);
  const Expr i = f.axis(q.length), j = f.axis(k.length), d = f.reduced(q.size);
  f.sum(f.read(q.id, place(q, a.b, a.h, i, d)) * f.read(k.id, place(k, a.b, a.g, j, d)));
  Expr score = f.acc() * scale;
  if (!early || cut.mode == 1) score = capped(score, cut.cap);
  if (!early) score = masked(node, f, mask, score, {a.b, a.h, i, j});
  f.finish(score);
  f.store({a.b, a.h, i, j});
  const TensorId scores = f.emit(real, mask.scores);
  if (!early) return scores;
  node.out(3, converted(node, scores, node.type(q.id)));
  Formula rest(node);
  const std::vector<Expr> at = rest.axes(mask.scores);
  Expr e = rest.read(scores, at);
  if (cut.mode == 0) e = capped(e, cut.cap);
  rest.body(masked(node, rest, mask, e, at));
  return rest.emit(real);
}

// sum(j) weights[b,h,i,j] * v[b,g,j,d], packed as the queries are: [b,h,i,d] or [b,i,h*d].
TensorId weighted_values(Lowering& node, const Heads& q, TensorId weights, const Heads& v) {
  Heads y = q;
  y.size = v.size;
  Formula f(node);
  const Grouped a = grouped_axes(f, q, v);
  const Expr i = f.axis(q.length), d = f.axis(v.size), j = f.reduced(v.length);
  const Expr w = f.read(weights, {a.b, a.h, i, j});
  f.sum(w * cast(w->type, f.read(v.id, place(v, a.b, a.g, j, d))));
  f.store(place(y, a.b, a.h, i, d));
  const Shape shape =
      y.packed ? Shape{y.batch, y.length, y.heads * y.size} : Shape{y.batch, y.heads, y.length, y.size};
  return f.emit(node.type(q.id), shape);
}

// The type whose arithmetic the softmax is asked for; float32 at least.
Type softmax_type(const Lowering& node, Type real) {
  if (!node.has("softmax_precision")) return real;
  const Type asked = type_of_onnx(static_cast<int>(node.attribute("softmax_precision").i), node.op());
  node.require(is_float(asked), "'softmax_precision' is no float");
  return asked == Type::kFloat64 ? asked : real;
}

// The size of a value may differ from that of queries and keys, and so may the type.
void require_fit(const Lowering& node, const Heads& q, const Heads& k, const Heads& v) {
  node.require(k.heads > 0 ? q.heads % k.heads == 0 : q.heads == 0,
               fmt::format("{} heads of keys do not divide {} of queries", k.heads, q.heads));
  node.require(q.batch == k.batch && q.batch == v.batch && k.heads == v.heads && k.length == v.length &&
                   q.size == k.size && node.type(q.id) == node.type(k.id),
               "queries, keys and values do not fit each other");
}

// Attention of opset 23. Outputs: 0 the result, 1 and 2 the present keys and values, 3 a form of the scores.
// Where every query sees a key, which a causal mask alone leaves true, the plain softmax serves.
void attention(Lowering& node) {
  const Heads q = heads_of(node, node.in(0), "q_num_heads");
  const Heads new_k = heads_of(node, node.in(1), "kv_num_heads");
  const Heads new_v = heads_of(node, node.in(2), "kv_num_heads");
  node.require(q.packed == new_k.packed && q.packed == new_v.packed,
               "queries, keys and values differ in rank");
  const Heads k = with_past(node, new_k, 4), v = with_past(node, new_v, 5);
  require_fit(node, q, k, v);
  const Mask mask = parse_mask(node, q, k);
  const Cut cut = {node.float_attr("softcap", 0), node.int_attr("qk_matmul_output_mode", 0)};
  node.require(cut.mode >= 0 && cut.mode <= 3, "'qk_matmul_output_mode' is 0 to 3");

  const TensorId scores = scores_of(node, q, k, mask, cut);
  const Type real = node.type(scores), precise = softmax_type(node, real);
  const bool plain = !mask.may_hide_all() && precise == real;
  const TensorId weights =
      plain ? softmax_over(node, scores, {3}, real) : weights_of_seen(node, scores, precise);
  node.out(0, weighted_values(node, q, weights, v));
  if (node.wants(1)) node.out(1, unpacked(node, k).id);
  if (node.wants(2)) node.out(2, unpacked(node, v).id);
  if (node.wants(3) && cut.mode >= 2)
    node.out(3, converted(node, cut.mode == 2 ? scores : weights, node.type(q.id)));
}

// What the graph in an attribute makes of x: a tensor of the same shape. x itself without the attribute. The
// graph sees the names around the node, as a branch of an If does.
TensorId modified(Lowering& node, const std::string& attribute, TensorId x) {
  if (!node.has(attribute)) return x;
  const onnx::GraphProto& graph = subgraph(node, attribute);
  node.require(graph.input_size() == 1 && graph.output_size() == 1,
               fmt::format("'{}' should have one input and one output", attribute));
  const Scope scope(node.importer());
  node.importer().bind(graph.input(0).name(), x);
  const TensorId y = lower_body(node, graph).at(0);
  node.require(y >= 0, fmt::format("'{}' yields no tensor", attribute));
  node.require(node.shape(y) == node.shape(x) && is_float(node.type(y)),
               fmt::format("'{}' gives {} {}", attribute, info(node.type(y)).name, to_string(node.shape(y))));
  return y;
}

// Attention without masks, whose scores and shares the model modifies (FlexAttention of ai.onnx.preview). A
// model that masks does so by score_mod, with -infinity: so a query may see nothing, here too.
void flex_attention(Lowering& node) {
  const Heads q = heads_of(node, node.in(0), ""), k = heads_of(node, node.in(1), ""),
              v = heads_of(node, node.in(2), "");
  node.require(!q.packed && !k.packed && !v.packed, "queries, keys and values should have rank 4");
  require_fit(node, q, k, v);
  const Mask nothing = {kAbsent, kAbsent, 0, false, -1, -1, {q.batch, q.heads, q.length, k.length}};
  const TensorId scores = scores_of(node, q, k, nothing, {0, 2});
  const Type precise = softmax_type(node, node.type(scores));
  const TensorId modified_scores = modified(node, "score_mod", converted(node, scores, precise));
  const TensorId shares = weights_of_seen(node, modified_scores, precise);
  node.out(0, weighted_values(node, q, modified(node, "prob_mod", shares), v));
}

// RotaryEmbedding of opset 23 (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
// 2021): pair k of a head at place s, as a point (x, y) of the plane, is turned by the angle of s and k,
// whose cosines and sines are given:  (x, y) -> (x cos - y sin, x sin + y cos). What lies behind the rotated
// elements is copied.
//
//   pairs of 8 elements, 6 rotated:      interleaved  a a b b c c . .         else  a b c a b c . .
//
// The caches are [b, s, pairs], or, with positions, [positions, pairs]; a position beyond them is held at the
// end. Three nests: first elements of the pairs, second ones, the rest.
void rotary_embedding(Lowering& node) {
  const Heads x = heads_of(node, node.in(0), "num_heads");
  const TensorId cosines = node.in(1), sines = node.in(2), positions = optional_input(node, 3);
  const int64_t asked = node.int_attr("rotary_embedding_dim", 0);
  const int64_t rotated = asked == 0 ? x.size : asked, pairs = rotated / 2;
  node.require(rotated >= 2 && rotated <= x.size && rotated % 2 == 0,
               fmt::format("{} of {} elements cannot be rotated in pairs", rotated, x.size));
  const Shape cache = node.shape(cosines);
  node.require(
      cache == node.shape(sines) && node.type(cosines) == node.type(sines) && is_float(node.type(cosines)),
      "cosines and sines differ");
  if (positions == kAbsent) {
    node.require(
        cache == Shape{x.batch, x.length, pairs},
        fmt::format("the caches {} should be [{},{},{}]", to_string(cache), x.batch, x.length, pairs));
  } else {
    node.require(cache.size() == 2 && cache[0] > 0 && cache[1] == pairs,
                 fmt::format("the caches {} should hold {} a position", to_string(cache), pairs));
    node.require(node.shape(positions) == Shape{x.batch, x.length} && !is_float(node.type(positions)),
                 "the positions should be an integer for each batch and place");
  }
  const bool interleaved = node.int_attr("interleaved", 0) != 0;
  Formula f(node);
  for (const bool second : {false, true}) {
    if (second) f.next_nest();
    const std::vector<Expr> at = f.axes({x.batch, x.heads, x.length, pairs});
    std::vector<Expr> angle = {at[0], at[2], at[3]};
    if (positions != kAbsent) {
      const Expr p = cast(Type::kInt64, f.read(positions, {at[0], at[2]}));
      angle = {min(max(p, 0), static_cast<double>(cache[0] - 1)), at[3]};
    }
    const Expr here = interleaved ? at[3] * 2 : at[3];
    const Expr there = interleaved ? at[3] * 2 + 1 : at[3] + integer(pairs);
    const Expr a = f.read(x.id, place(x, at[0], at[1], at[2], here));
    const Expr b = f.read(x.id, place(x, at[0], at[1], at[2], there));
    const Expr c = cast(a->type, f.read(cosines, angle)), s = cast(a->type, f.read(sines, angle));
    f.body(second ? s * a + c * b : c * a - s * b);
    f.store(place(x, at[0], at[1], at[2], second ? there : here));
  }
  if (rotated < x.size) {
    f.next_nest();
    const std::vector<Expr> at = f.axes({x.batch, x.heads, x.length, x.size - rotated});
    const std::vector<Expr> same = place(x, at[0], at[1], at[2], at[3] + integer(rotated));
    f.body(f.read(x.id, same));
    f.store(same);
  }
  node.out(0, f.emit(node.type(x.id), node.shape(x.id)));
}

// LinearAttention: the keys and values seen so far are summed up in a state s[b,g,d,m] of fixed size, updated
// for each place t of the sequence,
//
//   s = exp(decay[d]) * s + k[d] * u[m]
//   u = v, or beta * (v[m] - sum(d) exp(decay[d]) s[d,m] k[d] erase[d])
//   y[t,m] = scale * sum(d) q[d] s[d,m]
//
// so a loop over t carries it. The time is linear in the length, the memory independent of it. The sources of
// the update rules: linear, Katharopoulos et al., "Transformers are RNNs", 2020; gated, Yang et al., "Gated
// Linear Attention", 2024; delta, Schlag et al., "Linear Transformers Are Secretly Fast Weight Programmers",
// 2021, where what the state says of the key is replaced and not added to; gated_delta, Yang et al., 2024.
struct LinearAttention {
  Lowering& node;
  Heads q, k, v;
  TensorId decay, beta, erase;  // kAbsent where the update rule has none
  double scale;

  Shape state() const { return {q.batch, k.heads, k.size, v.size}; }
};

// Inputs: queries, keys, values (all packed), past state, decay, beta, erase. Which of the last three there
// are has to agree with the update rule:
//
//   linear       -            gated        decay
//   delta        beta         gated_delta  decay, beta            and erase, if given, with beta only
//
// A decay holds a number for each element of a key or for each head; beta one for each head or for all.
LinearAttention linear_of(Lowering& node) {
  LinearAttention l{node,
                    heads_of(node, node.in(0), "q_num_heads"),
                    heads_of(node, node.in(1), "kv_num_heads"),
                    heads_of(node, node.in(2), "kv_num_heads"),
                    optional_input(node, 4),
                    optional_input(node, 5),
                    optional_input(node, 6),
                    node.float_attr("scale", 0)};
  if (l.scale == 0) l.scale = 1 / std::sqrt(static_cast<double>(l.q.size));
  node.require(l.q.packed && l.k.packed && l.v.packed, "queries, keys and values should have rank 3");
  node.require(l.q.heads % l.k.heads == 0 && l.q.batch == l.k.batch && l.q.batch == l.v.batch &&
                   l.q.length == l.k.length && l.q.length == l.v.length && l.q.size == l.k.size &&
                   l.q.length > 0,
               "queries, keys and values do not fit each other");
  const std::string rule = node.string_attr("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta",
             delta = rule == "delta" || rule == "gated_delta";
  node.require(gated || delta || rule == "linear", fmt::format("unknown update_rule '{}'", rule));
  node.require(gated == (l.decay != kAbsent) && delta == (l.beta != kAbsent) && (delta || l.erase == kAbsent),
               fmt::format("update_rule '{}' and the inputs given do not agree", rule));
  const auto check = [&](TensorId id, std::initializer_list<int64_t> widths) {
    if (id == kAbsent) return;
    const Shape shape = node.shape(id);
    const bool fits = shape.size() == 3 && shape[0] == l.q.batch && shape[1] == l.q.length &&
                      std::find(widths.begin(), widths.end(), shape[2]) != widths.end();
    node.require(fits && is_float(node.type(id)), fmt::format("a gate {} does not fit", to_string(shape)));
  };
  check(l.decay, {l.k.heads, l.k.heads * l.k.size});
  check(l.beta, {l.k.heads, 1});
  check(l.erase, {l.k.heads * l.k.size});
  return l;
}

// As float32, in which the state is kept, whatever the types of the operands.
Expr element(Formula& f, const Heads& x, const Expr& b, const Expr& h, const Expr& t, const Expr& d) {
  return cast(Type::kFloat32, f.read(x.id, place(x, b, h, t, d)));
}

// The state as place t begins: decayed. The exponentials are a node of their own, as they are needed once for
// each row of the state and not for each of its elements.
TensorId decayed(const LinearAttention& l, TensorId state, const Expr& t) {
  if (l.decay == kAbsent) return state;
  const bool shared = l.node.shape(l.decay)[2] == l.k.heads;
  Formula gate(l.node);
  const Expr b = gate.axis(l.q.batch), h = gate.axis(l.k.heads), d = gate.axis(l.k.size);
  const Expr at = shared ? h : h * integer(l.k.size) + d;
  gate.body(exp(cast(Type::kFloat32, gate.read(l.decay, {b, t, at}))));
  const TensorId gates = gate.emit(Type::kFloat32);
  Formula f(l.node);
  const auto i = f.axes(l.state());
  f.body(f.read(state, i) * f.read(gates, {i[0], i[1], i[2]}));
  return f.emit(Type::kFloat32);
}

// What is written at place t for the key: u of [batch, heads, size of a value]. `state` is already decayed.
TensorId update(const LinearAttention& l, TensorId state, const Expr& t) {
  Formula f(l.node);
  const Expr b = f.axis(l.q.batch), h = f.axis(l.k.heads), m = f.axis(l.v.size);
  if (l.beta == kAbsent) {
    f.body(element(f, l.v, b, h, t, m));
    return f.emit(Type::kFloat32);
  }
  const Expr d = f.reduced(l.k.size);
  Expr key = element(f, l.k, b, h, t, d);
  if (l.erase != kAbsent)
    key = key * cast(Type::kFloat32, f.read(l.erase, {b, t, h * integer(l.k.size) + d}));
  f.sum(f.read(state, {b, h, d, m}) * key);
  const Expr beta =
      cast(Type::kFloat32, f.read(l.beta, {b, t, l.node.shape(l.beta)[2] == 1 ? integer(0) : h}));
  f.finish(beta * (element(f, l.v, b, h, t, m) - f.acc()));
  return f.emit(Type::kFloat32);
}

// The state after place t.
TensorId advanced(const LinearAttention& l, TensorId before, const Expr& t) {
  const TensorId state = decayed(l, before, t), value = update(l, state, t);
  Formula f(l.node);
  const auto i = f.axes(l.state());
  f.body(f.read(state, i) + element(f, l.k, i[0], i[1], t, i[2]) * f.read(value, {i[0], i[1], i[3]}));
  return f.emit(Type::kFloat32);
}

// Writes place t of the output `to`, [batch, length, heads * size]: its other places stay as they are.
void answer(const LinearAttention& l, TensorId state, const Expr& t, TensorId to) {
  Formula f(l.node);
  const Grouped a = grouped_axes(f, l.q, l.k);
  const Expr m = f.axis(l.v.size), d = f.reduced(l.q.size);
  f.sum(element(f, l.q, a.b, a.h, t, d) * f.read(state, {a.b, a.g, d, m}));
  f.finish(f.acc() * l.scale);
  f.store({a.b, a.h, m});
  const Shape shape = {l.q.batch, l.q.heads, l.v.size};
  const TensorId values = f.emit(Type::kFloat32, shape);
  Nest nest = copy_nest(Type::kFloat32, shape);
  nest.store = {axis(0), t, axis(1) * integer(l.v.size) + axis(2)};
  l.node.importer().add_node({l.node.onnx_node().origin, l.node.op(), {values}, {to}, Nests{nest}});
}

//   state = past, or zeros
//   for t < length:  next = advance(state, t);  y[t] = answer(next, t);  state = next
//
// A single place has the literal 0 for t, so that its indices fold; output 1 is the state after the last
// place.
void linear_attention(Lowering& node) {
  const LinearAttention l = linear_of(node);
  Importer& importer = node.importer();
  const std::string& origin = node.onnx_node().origin;
  const Type type = node.type(l.q.id);
  TensorId past = node.has_input(3) ? node.in(3) : filled(node, type, l.state(), 0);
  const Type kept = node.type(past);
  node.require(node.shape(past) == l.state() && is_float(kept),
               fmt::format("the past state should be {}", to_string(l.state())));
  const TensorId y =
      importer.add_tensor(origin, Type::kFloat32, {l.q.batch, l.q.length, l.q.heads * l.v.size});
  const TensorId state = importer.add_tensor(origin, Type::kFloat32, l.state());
  importer.assign(state, converted(node, past, Type::kFloat32), origin);
  const int symbol = importer.new_symbol();
  const Expr t = l.q.length == 1 ? integer(0) : iteration(symbol, l.q.length);
  const auto step = [&] {
    const TensorId next = advanced(l, state, t);
    answer(l, next, t, y);
    importer.assign(state, next, origin);
  };
  Block body = importer.in_block(step);
  importer.add_node({origin, node.op(), {}, {}, Loop{symbol, l.q.length, {}, {}, std::move(body)}});
  node.out(0, converted(node, y, type));
  if (node.wants(1)) node.out(1, converted(node, state, kept));
}

}  // namespace

std::span<const OperatorRow> attention_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Attention", 23, attention},
      {"", "LinearAttention", 27, linear_attention, 1000, "control"},
      {"", "RotaryEmbedding", 23, rotary_embedding},
      {"ai.onnx.preview", "FlexAttention", 1, flex_attention},
  };
  return kRows;
}

}  // namespace arenac
