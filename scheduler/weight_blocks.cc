#include "scheduler/weight_blocks.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "frontend/facts.h"
#include "frontend/merge.h"
#include "scheduler/byte_lanes.h"
#include "scheduler/byte_walks.h"
#include "scheduler/flat_nest.h"

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

constexpr int kConverted = 2;  // times the lanes: sums of converted weights take several vectors at once
constexpr int64_t kFewestLanes = 4;  // of a vector

// Columns that fill a vector: as many or more. Where constants may have to fit a flash memory, at most a
// third more.
int64_t in_vectors(int64_t columns, Type type, const Target& target) {
  const int64_t filled =
      is_float(type)
          ? std::max(kFewestLanes, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))))
          : byte_room_for(columns, target);
  const bool is_large_machine = target.features[0] != '\0';
  return is_large_machine || 3 * filled <= 4 * columns ? filled : columns;
}

class Blocks {
 public:
  Blocks(Graph graph, const Target& target)
      : graph_(std::move(graph)), target_(target), times_read_(times_read(graph_)) {}

  Graph run() {
    visit_nests(graph_.block, [&](Node& node, Nests& nests) {
      const auto channels = nests.size() == 1 ? weights_of(node, nests.front()) : std::nullopt;
      if (!channels) return;
      const TensorId id = node.reads[channels->read->index];
      const int64_t columns = graph_.tensors[id].shape[channels->dimension];
      const bool bytes = is_bytes(nests.front()), factor = bytes || is_factor(channels->read, nests.front());
      const int lanes = bytes ? target_.byte_lanes : factor ? target_.lanes : kConverted * target_.lanes;
      if (!bytes && columns > lanes && columns % lanes == 0 && !cached(id))
        divide(node, nests.front(), *channels, lanes);
      else if (factor && 1 < columns && columns < lanes && has_pixels(nests.front(), *channels))
        node.reads[channels->read->index] = with_zeros(id, channels->dimension);
    });
    return std::move(graph_);
  }

 private:
  bool cached(TensorId id) const {
    return static_cast<int64_t>(graph_.tensors[id].constant->bytes.size()) <= target_.costs.cache;
  }

  // Whether it sums products of bytes that vectors of the target multiply along the sum.
  bool is_bytes(const Nest& nest) const {
    return is_along_sum_of_lanes(target_.along_sum) && byte_factors(nest.body) &&
           std::ranges::any_of(nest.axes, [](const Axis& a) { return a.reduced && a.extent >= kBytes; });
  }

  // Whether what is read is a factor as it is, and not converted.
  static bool is_factor(const Expr& read, const Nest& nest) {
    return std::ranges::any_of(nest.body->args, [&](const Expr& e) { return same(e, read); });
  }

  static bool has_pixels(const Nest& nest, const Channels& channels) {
    for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
      if (!nest.axes[a].reduced && nest.axes[a].extent > 1 && a != channels.axis) return true;
    return false;
  }

  // The read of the largest operand in a factor: of weights, and not of their scales. Null: there is none.
  const Expr* most_read(const Expr& factor, const Node& node) const {
    const Expr* most = nullptr;
    const auto elements = [&](const Expr& e) {
      return element_count(graph_.tensors[node.reads[e->index]].shape);
    };
    for (const Expr* read : reads_of(factor))
      if (!most || elements(*read) > elements(*most)) most = read;
    return most;
  }

  // Constants that alone move along a kept axis, all of which they have.
  std::optional<Channels> weights_of(const Node& node, const Nest& nest) const {
    if (!sums_products(nest) || nest.accumulate) return std::nullopt;
    if (nest.body->type != Type::kFloat32 && !is_bytes(nest)) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const Expr* weights = most_read(nest.body->args[side], node);
      if (!weights) continue;
      const TensorId id = node.reads[(*weights)->index];
      const Tensor& tensor = graph_.tensors[id];
      if (!tensor.constant || times_read_[id] > 1 || times_read(nest, (*weights)->index) > 1) continue;
      if (const auto channels = channels_of(*weights, nest.body->args[1 - side], nest, tensor.shape))
        return channels;
    }
    return std::nullopt;
  }

  // The channels are those of a block, and a new axis its lanes.
  void divide(Node& node, Nest& nest, const Channels& channels, int lanes) {
    const auto& [weights, a, d] = channels;
    const int operand = weights->index, lane = static_cast<int>(nest.axes.size());
    std::vector<Expr> indices = weights->args;
    indices[d] = axis(lane);
    indices.insert(indices.begin(), axis(a));
    node.reads[operand] = in_blocks(node.reads[operand], d, lanes);
    const Expr blocked = read(operand, weights->type, indices), whole = axis(a) * integer(lanes) + axis(lane);
    nest = with_substituted(std::move(nest), [&](const Expr& x) {
      if (same(x, weights)) return blocked;
      return x->op == Op::kAxis && x->index == a ? whole : Expr();
    });
    nest.axes[a].extent /= lanes;
    nest.axes.push_back({lanes, false});
  }

  // The constant with as many elements of dimension d as fill a vector, zeros behind.
  TensorId with_zeros(TensorId id, size_t d) {
    const Tensor& tensor = graph_.tensors[id];
    Shape shape = tensor.shape;
    shape[d] = in_vectors(shape[d], tensor.type, target_);
    if (shape == tensor.shape || tensor.constant->bytes.empty()) return id;
    auto value = std::make_shared<Value>(tensor.type, shape);
    const std::vector<std::byte>& from = tensor.constant->bytes;
    const int64_t around =
        element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(d)));
    const auto run = static_cast<std::ptrdiff_t>(from.size()) / around;
    const auto room = static_cast<std::ptrdiff_t>(value->bytes.size()) / around;
    for (int64_t row = 0; row < around; ++row)
      std::copy_n(from.begin() + row * run, run, value->bytes.begin() + row * room);
    graph_.tensors.push_back({tensor.name, tensor.type, shape, std::move(value)});
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  // The constant with dimension d as blocks, which come first, and lanes.
  TensorId in_blocks(TensorId id, size_t d, int lanes) {
    const Tensor& tensor = graph_.tensors[id];
    const int64_t blocks = tensor.shape[d] / lanes;
    Shape shape = tensor.shape;
    shape[d] = lanes;
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
