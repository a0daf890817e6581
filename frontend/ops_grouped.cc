// GroupQueryAttention of com.microsoft, as ai.onnx's RotaryEmbedding and Attention: several heads of the
// queries share one of the keys and values, and an item of the batch has as many keys as its count says.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

struct Grouped {
  int64_t batch, length, heads, groups, size;
  int64_t past, present;  // extents of the keys before, and with these
  TensorId counts, total;
};

// How many keys of the past belong to item b: none where all of its keys are new.
Expr keys_before(const Lowering& node, Formula& f, const Grouped& g, const Expr& b) {
  const Expr total = cast(Type::kInt64, read_single(node, f, g.total));
  const Expr count = cast(Type::kInt64, f.read(g.counts, {b}));  // of its keys, less one
  return select(total == integer(g.length), integer(0), max(count + integer(1 - g.length), integer(0)));
}

// Queries, keys or values (k of 0 to 2) as [batch, heads, length, size]: an input each, or side by side.
TensorId part(Lowering& node, const Grouped& g, int k) {
  const bool apart = node.has_input(1);
  const int64_t heads = k == 0 ? g.heads : g.groups,
                skipped = apart || k == 0 ? 0 : g.heads + (k - 1) * g.groups;
  const TensorId x = node.in(apart ? k : 0);
  Formula f(node);
  const auto at = f.axes({g.batch, heads, g.length, g.size});
  f.body(f.read(x, {at[0], at[2], (at[1] + integer(skipped)) * integer(g.size) + at[3]}));
  return f.emit(node.type(x));
}

// Turned by the angle of its place.
TensorId turned(Lowering& node, const Grouped& g, TensorId x) {
  if (node.int_attr("do_rotary", 0) == 0) return x;
  TensorId places = optional_input(node, 9);
  if (places == kAbsent) {
    Formula f(node);
    const auto at = f.axes({g.batch, g.length});
    f.body(keys_before(node, f, g, at[0]) + at[1]);
    places = f.emit(Type::kInt64);
  }
  const Shape cache = node.shape(node.in(7));
  node.require(cache.size() == 2 && cache[1] * 2 <= g.size, "the caches do not fit the heads");
  Attribute interleaved, width;
  interleaved.i = node.int_attr("rotary_interleaved", 0);
  width.i = cache[1] * 2 < g.size ? cache[1] * 2 : 0;
  const OnnxNode turn = {node.onnx_node().origin,
                         "RotaryEmbedding",
                         "",
                         23,
                         {x, node.in(7), node.in(8), places},
                         {"turned"},
                         {{"interleaved", interleaved}, {"rotary_embedding_dim", width}}};
  return node.importer().lower(turn).at(0);
}

// [batch, groups, present, size]: the past (input `past`), x behind what of it counts, and zeros.
TensorId behind_past(Lowering& node, const Grouped& g, TensorId x, int past) {
  const Type type = node.type(x);
  Formula f(node);
  const auto at = f.axes({g.batch, g.groups, g.present, g.size});
  const Expr place = at[2] - keys_before(node, f, g, at[0]);
  const Expr inside = max(min(place, integer(g.length - 1)), integer(0));
  const Expr fresh = f.read(x, {at[0], at[1], inside, at[3]}), nothing = constant(fresh->type, 0);
  Expr old = nothing;
  if (g.past > 0) {
    const Shape want = {g.batch, g.groups, g.past, g.size};
    node.require(node.shape(node.in(past)) == want && node.type(node.in(past)) == type,
                 fmt::format("the past {} must be like {}", node.describe(node.in(past)), to_string(want)));
    old = f.read(node.in(past), {at[0], at[1], min(at[2], integer(g.past - 1)), at[3]});
  }
  f.body(select(place < integer(0), old, select(place < integer(g.length), fresh, nothing)));
  return f.emit(type);
}

// What query i sees: of [batch, 1, length, present] which keys, or with a bias what is added to the scores.
TensorId mask(Lowering& node, const Grouped& g) {
  const int64_t window = node.int_attr("local_window_size", -1);
  const TensorId bias = optional_input(node, 10);
  Shape shape = {g.batch, 1, g.length, g.present};
  if (bias != kAbsent) shape = broadcast_shape(node, {shape, node.shape(bias)});
  node.require(shape.size() == 4 && shape[3] == g.present, "the bias does not fit the scores");
  Formula f(node);
  const auto at = f.axes(shape);
  const Expr last = keys_before(node, f, g, at[0]) + at[2];
  Expr seen = at[3] <= last;
  if (window > 0) seen = seen && at[3] > last - integer(window);
  if (bias == kAbsent) {
    f.body(seen);
    return f.emit(Type::kBool);
  }
  const Expr added = f.broadcast(bias, at);
  f.body(select(seen, added, constant(added->type, -std::numeric_limits<double>::infinity())));
  return f.emit(node.type(bias));
}

// The extent of the keys with these: what the total says, or the model declares, or the most that there can
// be.
int64_t present_extent(const Lowering& node, const Grouped& g) {
  if (node.is_constant(g.total)) return std::max(g.past, node.constant_ints(g.total, "the total length")[0]);
  const auto declared = node.declared_shape(1);
  return declared && declared->size() == 4 ? (*declared)[2] : g.past + g.length;
}

Grouped grouped(Lowering& node) {
  const Shape q = node.shape(node.in(0));
  Grouped g = {
      0, 0, node.int_attr("num_heads", 0), node.int_attr("kv_num_heads", 0), 0, 0, 0, node.in(5), node.in(6)};
  node.require(q.size() == 3 && is_float(node.type(node.in(0))), "the queries need rank 3");
  node.require(g.groups > 0 && g.groups <= g.heads && g.heads <= q[2] && g.heads % g.groups == 0,
               "'kv_num_heads' must divide 'num_heads'");
  const int64_t across = node.has_input(1) ? g.heads : g.heads + 2 * g.groups;
  node.require(q[2] % across == 0, fmt::format("{} heads do not divide {}", across, q[2]));
  g.batch = q[0], g.length = q[1], g.size = q[2] / across;
  for (int k : {1, 2})
    node.require(!node.has_input(1) || node.shape(node.in(k)) == Shape{g.batch, g.length, g.groups * g.size},
                 "queries, keys and values do not fit each other");
  node.require(element_count(node.shape(g.counts)) == g.batch && element_count(node.shape(g.total)) == 1,
               "needs a count of keys for each item, and one total");
  g.counts = node.apply("Reshape", {g.counts, node.constant_ints({g.batch})});
  if (node.has_input(3) && node.rank(node.in(3)) == 4) g.past = node.shape(node.in(3))[2];
  g.present = present_extent(node, g);
  node.require(
      g.length > 0 && g.present >= std::max(g.past, g.length) && g.present <= g.past + g.length,
      fmt::format("{} keys in all do not fit {} of the past and {} new", g.present, g.past, g.length));
  return g;
}

void group_query_attention(Lowering& node) {
  for (int k = 11; k < node.input_count(); ++k)
    node.require(!node.has_input(k), fmt::format("input {} is not supported", k));
  node.require(node.int_attr("smooth_softmax", 0) <= 0, "'smooth_softmax' is not supported");
  node.require(!node.wants(3), "output 3 is not supported");
  const Grouped g = grouped(node);
  const TensorId k = behind_past(node, g, turned(node, g, part(node, g, 1)), 3);
  const TensorId v = behind_past(node, g, part(node, g, 2), 4);
  const std::vector<TensorId> operands = {turned(node, g, part(node, g, 0)), k, v, mask(node, g)};
  OnnxNode attention = {node.onnx_node().origin, "Attention", "", 23, operands, {"attended"}, {}};
  for (const char* name : {"scale", "softcap"})
    if (node.float_attr(name, 0) != 0) attention.attributes[name] = node.attribute(name);
  const TensorId y = node.importer().lower(attention).at(0);
  Formula f(node);
  const auto at = f.axes({g.batch, g.length, g.heads, g.size});
  f.body(f.read(y, {at[0], at[2], at[1], at[3]}));
  f.store({at[0], at[1], at[2] * integer(g.size) + at[3]});
  node.out(0, f.emit(node.type(y), {g.batch, g.length, g.heads * g.size}));
  node.out(1, k);
  node.out(2, v);
}

}  // namespace

std::span<const OperatorRow> grouped_operators() {
  static constexpr OperatorRow kRows[] = {
      {"com.microsoft", "GroupQueryAttention", 1, group_query_attention},
  };
  return kRows;
}

}  // namespace arenac
