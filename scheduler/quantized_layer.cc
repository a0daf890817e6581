#include "scheduler/quantized_layer.h"

#include <algorithm>
#include <limits>

namespace arenac {
namespace {

bool is_literal(const Expr& e) { return e->op == Op::kConst; }

// value + by
struct Shifted {
  Expr value;
  int64_t by;
};

Shifted shifted(const Expr& e) {
  if (e->op == Op::kSub && is_literal(e->args[1])) return {e->args[0], -e->args[1]->value.i};
  if (e->op != Op::kAdd) return {e, 0};
  for (const int k : {0, 1})
    if (is_literal(e->args[k])) return {e->args[1 - k], e->args[k]->value.i};
  return {e, 0};
}

class Reader {
 public:
  Reader(const Node& node, const Graph& graph) : node_(node), graph_(graph) {}

  std::optional<QuantizedLayer> layer(const Nest& nest) {
    if (nest.combine != Combine::kSum || nest.accumulate || nest.finish.empty()) return std::nullopt;
    if (nest.body->op != Op::kMul || nest.body->type != Type::kInt32) return std::nullopt;
    const Expr &a = nest.body->args[0], &b = nest.body->args[1];
    if ((!factors(a, b) && !factors(b, a)) || !result(nest.finish)) return std::nullopt;
    return layer_;
  }

 private:
  bool is_constant_read(const Expr& e) const {
    return e->op == Op::kRead && graph_.tensors[node_.reads[e->index]].constant != nullptr;
  }
  bool is_known(const Expr& e, Type type) const {
    return e->type == type && (is_literal(e) || is_constant_read(e));
  }

  bool factors(const Expr& x, const Expr& weight) {
    const auto widens_int8 = [](const Expr& e) {
      return e->op == Op::kCast && e->type == Type::kInt32 && e->args[0]->op == Op::kRead &&
             e->args[0]->type == Type::kInt8;
    };
    const auto [value, by] = shifted(x);
    if (!widens_int8(value) || !widens_int8(weight)) return false;
    layer_.x = value->args[0], layer_.weight = weight->args[0], layer_.input_offset = by;
    return is_constant_read(layer_.weight) && !is_constant_read(layer_.x);
  }

  // From what is stored inwards: a minimum or maximum around others clamps what these do.
  bool result(const Expr& finish) {
    if (finish->op != Op::kCast || finish->type != Type::kInt8) return false;
    int64_t least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
    Expr e = finish->args[0];
    for (; (e->op == Op::kMin || e->op == Op::kMax) && is_literal(e->args[1]); e = e->args[0])
      (e->op == Op::kMin ? most : least) = std::clamp(e->args[1]->value.i, least, most);
    if (least < std::numeric_limits<int8_t>::min() || most > std::numeric_limits<int8_t>::max()) return false;
    const auto [value, by] = shifted(e);
    if (value->op != Op::kRequantize || !is_known(value->args[1], Type::kFloat32)) return false;
    layer_.least = least, layer_.most = most, layer_.output_offset = by;
    layer_.scale = value->args[1];
    return sum(value->args[0]);
  }

  bool sum(const Expr& e) {
    if (e->op == Op::kAcc) return true;
    if (e->op != Op::kAdd) return false;
    const int acc = e->args[0]->op == Op::kAcc ? 0 : 1;
    layer_.bias = e->args[1 - acc];
    return e->args[acc]->op == Op::kAcc && is_known(layer_.bias, Type::kInt32);
  }

  const Node& node_;
  const Graph& graph_;
  QuantizedLayer layer_ = {};
};

}  // namespace

std::optional<QuantizedLayer> quantized_layer(const Node& node, const Graph& graph) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests || nests->size() != 1 || graph.tensors[node.writes[0]].type != Type::kInt8) return std::nullopt;
  return Reader(node, graph).layer(nests->front());
}

}  // namespace arenac
