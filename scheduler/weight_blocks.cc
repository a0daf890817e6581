#include "scheduler/weight_blocks.h"

#include <algorithm>
#include <optional>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

// A read of weights, the axis of the nest that is their output channel, and its dimension.
struct Channels {
  Expr read;
  int axis;
  size_t dimension;
};

bool names_any(const std::vector<Expr>& all, int a) {
  return std::ranges::any_of(all, [&](const Expr& e) { return names_axis(e, a); });
}

// The kept axis that is a whole dimension of these weights and moves nothing else that is multiplied.
std::optional<Channels> channels_of(const Expr& weights, const Expr& other, const Nest& nest,
                                    const Shape& shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    const Expr& index = weights->args[d];
    if (index->op != Op::kAxis || index->index < 0) continue;
    const int a = index->index;
    const bool is_whole = !nest.axes[a].reduced && nest.axes[a].extent == shape[d];
    const bool elsewhere =
        dimension_along(weights->args, a) != d || names_axis(other, a) ||
        std::ranges::any_of(nest.where, [&](const Bound& b) { return names_axis(b.index, a); });
    if (is_whole && !elsewhere && names_any(nest.store, a)) return Channels{weights, a, d};
  }
  return std::nullopt;
}

class Blocks {
 public:
  Blocks(Graph graph, const Target& target)
      : graph_(std::move(graph)), target_(target), times_read_(times_read(graph_)) {}

  Graph run() {
    visit_nests(graph_.block, [&](Node& node, Nests& nests) {
      if (nests.size() == 1)
        if (const auto channels = large_weights(node, nests.front())) divide(node, nests.front(), *channels);
    });
    return std::move(graph_);
  }

 private:
  std::optional<Channels> large_weights(const Node& node, const Nest& nest) const {
    if (!sums_products(nest) || nest.accumulate || nest.body->type != Type::kFloat32) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const Expr &weights = nest.body->args[side], &other = nest.body->args[1 - side];
      if (weights->op != Op::kRead) continue;
      const TensorId id = node.reads[weights->index];
      const Tensor& tensor = graph_.tensors[id];
      if (!tensor.constant || times_read_[id] > 1 || times_read(nest, weights->index) > 1 ||
          static_cast<int64_t>(tensor.constant->bytes.size()) <= target_.costs.cache)
        continue;
      const auto channels = channels_of(weights, other, nest, tensor.shape);
      if (channels && tensor.shape[channels->dimension] > target_.lanes &&
          tensor.shape[channels->dimension] % target_.lanes == 0)
        return channels;
    }
    return std::nullopt;
  }

  // The channels are those of a block, and a new axis its lanes.
  void divide(Node& node, Nest& nest, const Channels& channels) {
    const auto& [weights, a, d] = channels;
    const int operand = weights->index, lane = static_cast<int>(nest.axes.size());
    std::vector<Expr> indices = weights->args;
    indices[d] = axis(lane);
    indices.insert(indices.begin(), axis(a));
    node.reads[operand] = in_blocks(node.reads[operand], d);
    const Expr blocked = read(operand, weights->type, indices),
               whole = axis(a) * integer(target_.lanes) + axis(lane);
    nest = with_substituted(std::move(nest), [&](const Expr& x) {
      if (same(x, weights)) return blocked;
      return x->op == Op::kAxis && x->index == a ? whole : Expr();
    });
    nest.axes[a].extent /= target_.lanes;
    nest.axes.push_back({target_.lanes, false});
  }

  // The constant with dimension d as blocks, which come first, and lanes.
  TensorId in_blocks(TensorId id, size_t d) {
    const Tensor& tensor = graph_.tensors[id];
    const int64_t blocks = tensor.shape[d] / target_.lanes;
    Shape shape = tensor.shape;
    shape[d] = target_.lanes;
    const int64_t around =
        element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(d)));
    shape.insert(shape.begin(), blocks);
    auto value = std::make_shared<Value>(tensor.type, shape);
    const std::vector<std::byte>& from = tensor.constant->bytes;
    const auto run =
        static_cast<std::ptrdiff_t>(from.size()) / (around * blocks);  // bytes that stay together
    auto to = value->bytes.begin();
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t row = 0; row < around; ++row)
        to = std::copy_n(from.begin() + (row * blocks + block) * run, run, to);
    graph_.tensors.push_back({tensor.name, tensor.type, shape, std::move(value)});
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  Graph graph_;
  const Target& target_;
  const std::vector<int> times_read_;
};

}  // namespace

Graph with_weight_blocks(Graph graph, const Target& target) {
  if (target.costs.cache == 0) return graph;
  return Blocks(std::move(graph), target).run();
}

}  // namespace arenac
