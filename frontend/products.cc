#include "frontend/products.h"

#include <algorithm>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

const Expr& without_casts(const Expr& e) { return e->op == Op::kCast ? without_casts(e->args[0]) : e; }

// The axis along which neighbouring elements of the result are stored; -1: none.
int innermost_kept(const Nest& nest) {
  for (size_t d = nest.store.size(); d-- > 0;) {
    const Expr& index = nest.store[d];
    if (index->op == Op::kAxis && index->index >= 0 && nest.axes[index->index].extent > 1)
      return index->index;
  }
  return -1;
}

// Whether windows slide along the axis: an index is more than the axis.
bool slides_along(const Nest& nest, int a) {
  return any_of(nest.body, [&](const Expr& e) {
    return e->op == Op::kRead && std::ranges::any_of(e->args, [&](const Expr& index) {
             return index->op != Op::kAxis && names_axis(index, a);
           });
  });
}

// The axis along which neighbouring results are computed side by side: of convolutions that of the channels.
int axis_of_lanes(const Nest& nest) {
  const int lane = innermost_kept(nest);
  if (lane < 0 || nest.store.size() < 3 || !slides_along(nest, lane)) return lane;
  const Expr& channel = nest.store[1];
  return channel->op == Op::kAxis && channel->index >= 0 ? channel->index : -1;
}

Node identity_of(const Node& reader, TensorId from, TensorId to, const Graph& graph) {
  const Tensor& tensor = graph.tensors[from];
  return {.origin = reader.origin,
          .op = "Identity",
          .reads = {from},
          .writes = {to},
          .body = Nests{copy_nest(tensor.type, tensor.shape)}};
}

// The operand by which a node's only nest reads a factor that it has to share; -1: none.
int shared_factor(const Node& node, const Graph& graph, const std::vector<int>& readers) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests || nests->size() != 1) return -1;
  const auto lanes = product_lanes(nests->front(), node, graph);
  if (!lanes) return -1;
  const int operand = lanes->read->index;
  const TensorId id = node.reads[operand];
  const bool is_input = std::ranges::count(graph.inputs, id) > 0;
  // Weights that the caller passes stay where they are.
  const bool is_shared = is_input ? lanes->axis == innermost_kept(nests->front()) : readers[id] > 1;
  return times_read(nests->front(), operand) == 1 && is_shared ? operand : -1;
}

}  // namespace

std::optional<ProductLanes> product_lanes(const Nest& nest, const Node& node, const Graph& graph) {
  if (!sums_products(nest) || !is_float(nest.body->type)) return std::nullopt;
  const int lane = axis_of_lanes(nest);
  if (lane < 0) return std::nullopt;
  std::vector<Expr> along;
  for (const Expr& factor : nest.body->args) {
    const Expr& read = without_casts(factor);
    if (read->op != Op::kRead || graph.tensors[node.reads[read->index]].constant) return std::nullopt;
    if (!names_axis(read, lane)) continue;
    if (!dimension_along(read->args, lane)) return std::nullopt;
    along.push_back(read);
  }
  return along.size() == 1 ? std::optional(ProductLanes{lane, along.front()}) : std::nullopt;
}

Graph with_own_factors(Graph graph) {
  const std::vector<int> times = times_read(graph);
  Block block;
  for (Node& node : graph.block) {
    if (const int operand = shared_factor(node, graph, times); operand >= 0) {
      const TensorId from = node.reads[operand], own = static_cast<TensorId>(graph.tensors.size());
      graph.tensors.push_back(Tensor(graph.tensors[from]));
      block.push_back(identity_of(node, from, own, graph));
      node.reads[operand] = own;
    }
    block.push_back(std::move(node));
  }
  graph.block = std::move(block);
  return graph;
}

}  // namespace arenac
