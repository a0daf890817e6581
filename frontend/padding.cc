#include "frontend/padding.h"

#include <algorithm>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

constexpr int kMostOperations = 12;  // that may be repeated wherever the padded tensor is read

// A node that fills its result and then writes a part of it.
struct Padding {
  TensorId result;
  Expr fill;
  const Nest* inside;
  // Per dimension of the result: the axis of `inside` that walks it (-1: none), and where that begins and
  // ends.
  struct Side {
    int axis;
    int64_t begin, end;
  };
  std::vector<Side> sides;
};

bool contains(const Expr& e, Op op) {
  return any_of(e, [&](const Expr& x) { return x->op == op; });
}

std::optional<std::vector<Padding::Side>> sides_of(const Nest& inside, const Shape& shape) {
  std::vector<Padding::Side> sides;
  std::vector<bool> named(inside.axes.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto place = affine_form(inside.store[d]);
    if (!place || place->terms.size() > 1) return std::nullopt;
    Padding::Side side = {-1, place->constant, place->constant + 1};
    if (!place->terms.empty()) {
      const auto [axis, factor] = place->terms[0];
      if (axis < 0 || factor != 1 || named[axis]) return std::nullopt;
      named[axis] = true;
      side = {axis, place->constant, place->constant + inside.axes[axis].extent};
    }
    sides.push_back(side);
  }
  for (size_t a = 0; a < inside.axes.size(); ++a)
    if (!named[a] && inside.axes[a].extent != 1) return std::nullopt;
  return sides;
}

// Whether the element can be worked out wherever it is read: few operations on operands at its own place.
bool may_be_repeated(const Expr& element) {
  int operations = 0;
  return !any_of(element, [&](const Expr& e) {
    operations += e->op != Op::kRead && e->op != Op::kAxis && e->op != Op::kConst;
    const bool elsewhere =
        e->op == Op::kRead && std::any_of(e->args.begin(), e->args.end(), [](const Expr& index) {
          return index->op != Op::kConst && (index->op != Op::kAxis || index->index < 0);
        });
    return elsewhere || operations > kMostOperations;
  });
}

std::optional<Padding> padding_of(const Node& node, const Graph& graph) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests || nests->size() != 2) return std::nullopt;
  const Nest &fill = (*nests)[0], &inside = (*nests)[1];
  const Tensor& t = graph.tensors[node.writes[0]];
  if (!is_plain(fill) || !is_plain(inside) || fill.body->op != Op::kConst ||
      !dimension_of_axes(fill.store, t.shape, fill.axes) || !may_be_repeated(inside.body))
    return std::nullopt;
  // A 16-bit result rounds all but a copy of what is rounded already.
  const bool copies =
      inside.body->op == Op::kRead && graph.tensors[node.reads[inside.body->index]].type == t.type;
  if (inside.body->type != compute_type(t.type) || (t.type != inside.body->type && !copies))
    return std::nullopt;
  const auto sides = sides_of(inside, t.shape);
  if (!sides) return std::nullopt;
  return Padding{node.writes[0], fill.body, &inside, *sides};
}

class Merger {
 public:
  explicit Merger(Graph graph)
      : graph_(std::move(graph)), reads_(times_read(graph_)), written_(times_written(graph_)) {}

  Graph run() {
    rewrite(graph_.block);
    return without_dead_code(std::move(graph_));
  }

 private:
  // Only where padding and its readers are nodes of one block.
  void rewrite(Block& block) {
    for (Node& node : block)
      for (Block* inner : blocks_of(node)) rewrite(*inner);
    for (size_t p = 0; p < block.size(); ++p) {
      const Node& node = block[p];
      const auto padding = padding_of(node, graph_);
      if (!padding ||
          !std::all_of(node.reads.begin(), node.reads.end(), [&](TensorId id) { return settled(id); }))
        continue;
      std::vector<size_t> readers;
      for (size_t c = p + 1; c < block.size(); ++c)
        if (std::find(block[c].reads.begin(), block[c].reads.end(), padding->result) != block[c].reads.end())
          readers.push_back(c);
      const bool all = static_cast<int>(readers.size()) == reads_[padding->result] &&
                       std::all_of(readers.begin(), readers.end(),
                                   [&](size_t c) { return contributes_nothing(block[c], *padding); });
      if (!all) continue;
      for (size_t c : readers) block[c] = merged(block[c], node, *padding);
    }
  }

  // Its elements are the same now and later.
  bool settled(TensorId id) const { return written_[id] <= 1; }

  // ---- the condition

  bool contributes_nothing(const Node& reader, const Padding& padding) const {
    const Nests* nests = std::get_if<Nests>(&reader.body);
    if (!nests) return false;
    const auto reads = [&](const Expr& e) {
      return e->op == Op::kRead && reader.reads[e->index] == padding.result;
    };
    return std::all_of(nests->begin(), nests->end(), [&](const Nest& nest) {
      const auto outside_the_body = [&](const Expr& e) { return !e.empty() && any_of(e, reads); };
      if (outside_the_body(nest.finish)) return false;
      for (const Expr& index : nest.store)
        if (outside_the_body(index)) return false;
      for (const Bound& bound : nest.where)
        if (outside_the_body(bound.index)) return false;
      if (!any_of(nest.body, reads)) return true;
      if (nest.combine != Combine::kSum || nest.accumulate || !places(nest, reader, padding.result))
        return false;
      const Expr with_fill =
          substitute(nest.body, [&](const Expr& e) { return reads(e) ? padding.fill : Expr(); });
      return is_zero_product(with_fill, reader, graph_);
    });
  }

  // The indices at which the nest reads the tensor: the same everywhere, and no reads themselves; else null.
  static const std::vector<Expr>* places(const Nest& nest, const Node& node, TensorId id) {
    const std::vector<Expr>* found = nullptr;
    const bool differ = any_of(nest.body, [&](const Expr& e) {
      if (e->op != Op::kRead || node.reads[e->index] != id) return false;
      if (found && !std::equal(found->begin(), found->end(), e->args.begin(), same)) return true;
      found = &e->args;
      return std::any_of(found->begin(), found->end(), [](const Expr& x) { return contains(x, Op::kRead); });
    });
    return differ ? nullptr : found;
  }

  // ---- the rewrite

  Node merged(Node reader, const Node& node, const Padding& padding) const {
    Operands operands{reader.reads};
    for (Nest& nest : std::get<Nests>(reader.body)) {
      const std::vector<Expr>* at = places(nest, reader, padding.result);
      if (!at) continue;
      const auto intervals = axis_intervals(nest);
      const Shape& shape = graph_.tensors[padding.result].shape;
      std::vector<Expr> axes(padding.inside->axes.size(), integer(0));
      std::vector<Bound> bounds = nest.where;
      for (size_t d = 0; d < shape.size(); ++d) {
        const Padding::Side& side = padding.sides[d];
        const Expr index = simplify_index((*at)[d] - integer(side.begin), intervals);
        if (side.axis >= 0) axes[side.axis] = index;
        if (side.begin == 0 && side.end == shape[d]) continue;
        std::erase_if(bounds, [&](const Bound& b) {  // that the new one implies
          return same(b.index, (*at)[d]) && b.begin <= side.begin && side.end <= b.end;
        });
        bounds.push_back({index, 0, side.end - side.begin});
      }
      nest.body = substitute(nest.body, [&](const Expr& e) -> Expr {
        if (e->op != Op::kRead || reader.reads[e->index] != padding.result) return {};
        return element_at(node, *padding.inside, axes, operands);
      });
      nest.where = std::move(bounds);
    }
    reader.reads = operands.ids;
    return with_used_operands(std::move(reader));
  }

  Graph graph_;
  std::vector<int> reads_, written_;
};

}  // namespace

Graph with_merged_padding(Graph graph) { return Merger(std::move(graph)).run(); }

}  // namespace arenac
