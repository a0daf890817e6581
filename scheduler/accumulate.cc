#include "scheduler/accumulate.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "frontend/facts.h"
#include "frontend/integer_sums.h"
#include "frontend/interpret.h"
#include "frontend/merge.h"
#include "frontend/partial_sums.h"

namespace arenac {
namespace {

constexpr int64_t kLeastReduced = 8;  // elements a result
constexpr int64_t kSmallestPart = 8;  // of the operand's bytes: the sums that all of it goes into

// The elements that the nest takes for each result, and its results.
struct Counts {
  int64_t kept = 1, reduced = 1;
};

Counts counts_of(const Nest& nest) {
  Counts counts;
  for (const Axis& a : nest.axes) (a.reduced ? counts.reduced : counts.kept) *= a.extent;
  return counts;
}

// Whether one of the read's indices names the axis.
bool is_read_along(const Expr& operand, int a) {
  return std::ranges::any_of(operand->args, [&](const Expr& index) { return names_axis(index, a); });
}

// The reads of what is computed and more than one element, and how many are of constants.
struct Operands {
  std::vector<Expr> computed;
  int constants = 0;
};

Operands operands_of(const Nest& nest, const Node& node, const Graph& graph) {
  Operands operands;
  any_of(nest.body, [&](const Expr& e) {
    if (e->op != Op::kRead) return false;
    const Tensor& t = graph.tensors[node.reads[e->index]];
    if (element_count(t.shape) <= 1) return false;
    if (t.constant)
      ++operands.constants;
    else
      operands.computed.push_back(e);
    return false;
  });
  return operands;
}

// Whether all elements of the operand are reduced: each for one result, without constants (pooling), or all
// for every one of few results, if it has rows (fully connected layers).
bool accumulates_one(const Nest& nest, const Expr& operand, const Tensor& tensor, bool has_constants) {
  const auto [kept, reduced] = counts_of(nest);
  bool by_result = false;
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    by_result |= !nest.axes[a].reduced && nest.axes[a].extent > 1 && is_read_along(operand, a);
  if (by_result) return !has_constants && element_count(tensor.shape) == kept * reduced;
  const auto dims = std::count_if(tensor.shape.begin(), tensor.shape.end(), [](int64_t n) { return n > 1; });
  return dims > 1 && element_count(tensor.shape) == reduced &&
         bytes_of(tensor) >= kSmallestPart * kept * size_of(nest.body->type);
}

// Whether the operand is one of a product of two that both have all elements that are reduced, for few
// results: keys and values of an attention without softmax, of all tokens.
bool accumulates_product(const Nest& nest, const Expr& operand, const Tensor& tensor) {
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    if (nest.axes[a].reduced && nest.axes[a].extent > 1 && !is_read_along(operand, a)) return false;
  return bytes_of(tensor) >= kSmallestPart * counts_of(nest).kept * size_of(nest.body->type);
}

// Whether the nest reduces all of large operands to few results and does nothing else with them.
bool accumulates(const Node& node, const Graph& graph) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests || nests->size() != 1 || node.writes.size() != 1) return false;
  const Nest& nest = nests->front();
  if (nest.combine == Combine::kNone || nest.accumulate || !nest.where.empty()) return false;
  const auto [kept, reduced] = counts_of(nest);
  if (kept == 0 || reduced < kLeastReduced) return false;
  const Operands operands = operands_of(nest, node, graph);
  const auto tensor_of = [&](const Expr& e) -> const Tensor& { return graph.tensors[node.reads[e->index]]; };
  const auto& computed = operands.computed;
  if (computed.size() == 1)
    return accumulates_one(nest, computed[0], tensor_of(computed[0]), operands.constants > 0);
  return computed.size() == 2 && operands.constants == 0 && std::ranges::all_of(computed, [&](const Expr& e) {
           return accumulates_product(nest, e, tensor_of(e));
         });
}

// out[i...] at the place that `nest` writes, without the reduced axes.
Nest over_results(const Nest& nest) {
  Nest all;
  all.axes = nest.axes;
  for (Axis& a : all.axes)
    if (a.reduced) a = {1, false};
  all.store = nest.store;
  return all;
}

// The dimensions of a tensor in the order in which most lie in memory: batch, rows, columns, channels. What a
// copy makes of an image lies as its parts do: [batch, group, channel, y, x] as batch, y, x, group, channel.
std::vector<int> order_in_memory(TensorId id, const Graph& graph) {
  const int rank = static_cast<int>(graph.tensors[id].shape.size());
  std::vector<int> order;
  for (int k = 0; k < rank; ++k) order.push_back(k == 0 || rank < 3 ? k : k + 1 < rank ? k + 1 : 1);
  const auto writer = std::ranges::find_if(
      graph.block, [&](const Node& node) { return node.writes == std::vector<TensorId>{id}; });
  const Nests* nests = writer == graph.block.end() ? nullptr : std::get_if<Nests>(&writer->body);
  const Expr* source = nests && nests->size() == 1 ? copied_read(nests->front(), *writer, graph) : nullptr;
  if (!source) return order;
  std::vector<int> as_source;
  for (const int s : order_in_memory(writer->reads[(*source)->index], graph))
    for (int d = 0; d < rank; ++d) {  // those in front move it farther
      const Expr& index = nests->front().store[d];
      if (index->op == Op::kAxis && index->index >= 0 && names_axis((*source)->args[s], index->index) &&
          std::ranges::count(as_source, d) == 0)
        as_source.push_back(d);
    }
  for (const int d : order)
    if (std::ranges::count(as_source, d) == 0) as_source.push_back(d);
  return as_source;
}

// The reduced axis of a long float sum of which every value makes a part (partial_sums.h), if those of whole
// layers are these: where its operand lies as order_in_memory() says.
std::optional<int> axis_of_parts(const Node& node, const Graph& graph) {
  const Nest& nest = std::get<Nests>(node.body).front();
  if (!sums_in_parts(nest.combine, nest.body->type)) return std::nullopt;
  std::vector<int> axes;
  std::vector<int64_t> extents;
  any_of(nest.body, [&](const Expr& e) {
    if (e->op != Op::kRead || graph.tensors[node.reads[e->index]].constant) return false;
    for (const int d : order_in_memory(node.reads[e->index], graph)) {
      const Expr& index = e->args[d];
      if (index->op != Op::kAxis || index->index < 0 || !nest.axes[index->index].reduced) continue;
      if (std::find(axes.begin(), axes.end(), index->index) != axes.end()) continue;
      axes.push_back(index->index), extents.push_back(nest.axes[index->index].extent);
    }
    return false;
  });
  const auto widths = widths_of_parts(extents);
  for (size_t k = 0; k < axes.size(); ++k) {
    if (extents[k] == 1) continue;
    const auto is_empty = [](const auto& of_axis) { return of_axis.empty(); };
    const bool fits = widths[k] == std::vector<int64_t>{1} &&
                      std::all_of(widths.begin() + static_cast<long>(k) + 1, widths.end(), is_empty);
    return fits ? std::optional(axes[k]) : std::nullopt;
  }
  return std::nullopt;
}

// Appends a node for the parts of a sum, one per value of an axis, and returns that of the sum of these.
Node append_parts(Node node, int a, Graph& graph, Block& block) {
  Nest sum = std::get<Nests>(node.body).front(), part = sum;
  const Type type = sum.body->type;
  part.axes[a].reduced = false;
  part.finish = {};
  part.store = {axis(a)};
  Shape shape = {sum.axes[a].extent};
  for (int k = 0; k < static_cast<int>(sum.axes.size()); ++k) {
    if (k == a) continue;
    if (sum.axes[k].reduced)
      sum.axes[k].extent = 1;
    else
      part.store.push_back(axis(k)), shape.push_back(sum.axes[k].extent);
  }
  const auto parts = static_cast<TensorId>(graph.tensors.size());
  graph.tensors.push_back({graph.tensors[node.writes[0]].name + "_parts", type, shape, nullptr});
  sum.body = read(static_cast<int>(node.reads.size()), type, part.store);
  Node last = node;
  last.reads.push_back(parts);
  last.body = Nests{sum};
  node.writes = {parts};
  node.body = Nests{part};
  block.push_back(with_used_operands(std::move(node)));
  return with_used_operands(std::move(last));
}

void append_split(Node node, Graph& graph, Block& block) {
  if (const auto a = axis_of_parts(node, graph)) node = append_parts(std::move(node), *a, graph, block);
  Nest nest = std::get<Nests>(node.body).front();
  const TensorId out = node.writes[0], sums = static_cast<TensorId>(graph.tensors.size());
  const Type result = nest.body->type;
  const bool is_short = nest.combine == Combine::kSum && result == Type::kInt32 &&
                        most_of_sums(nest, node.reads, graph) <= std::numeric_limits<int16_t>::max();
  // Where its terms arrive one by one all the same, a wider type takes the place of parts.
  int64_t terms = 1;
  for (const Axis& a : nest.axes)
    if (a.reduced) terms *= a.extent;
  if (nest.combine == Combine::kSum && result == Type::kFloat32 && terms > kLongSum)
    nest.body = cast(Type::kFloat64, nest.body);
  const Type type = is_short ? Type::kInt16 : nest.body->type;  // of what is stored
  graph.tensors.push_back({graph.tensors[out].name + "_sums", type, graph.tensors[out].shape, nullptr});

  Nest clear = over_results(nest), add = nest;
  clear.body = constant(type, neutral(nest.combine, type));
  for (Axis& a : add.axes) a.reduced = false;
  add.accumulate = true;
  add.finish = {};
  Nest finish = over_results(nest);
  const int operand = static_cast<int>(node.reads.size());
  const Expr sum = cast(result, read(operand, type, nest.store));
  finish.body = finished(nest.finish, sum);

  Node finisher = node;
  finisher.reads.push_back(sums);
  finisher.body = Nests{finish};
  node.writes = {sums};
  node.body = Nests{clear, add};
  block.push_back(std::move(node));
  block.push_back(with_used_operands(std::move(finisher)));
}

}  // namespace

Graph with_accumulators(Graph graph) {
  Block block;
  for (const Node& node : graph.block)
    if (accumulates(node, graph))
      append_split(node, graph, block);
    else
      block.push_back(node);
  graph.block = std::move(block);
  return graph;
}

}  // namespace arenac
