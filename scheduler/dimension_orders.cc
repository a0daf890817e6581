#include "scheduler/dimension_orders.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "scheduler/products.h"
#include "scheduler/views.h"
#include "scheduler/windowed.h"

namespace arenac {
namespace {

// Batch, the trailing windowed dimensions by rows or by columns, channels.
std::vector<int64_t> channels_last(const Shape& shape, size_t windowed, Windowed choice) {
  std::vector<int> order = {0};
  for (size_t d = windowed; d < shape.size(); ++d) order.push_back(static_cast<int>(d));
  if (choice == Windowed::kColumns) std::reverse(order.begin() + 1, order.end());
  for (size_t d = 1; d < windowed; ++d) order.push_back(static_cast<int>(d));
  return dense_strides(shape, order);
}

// The first windowed dimension of a tensor in the eyes of a node that slides windows over it; its rank
// without one.
size_t wanted_by_readers(const StorageFacts& facts, TensorId id) {
  const size_t rank = facts.graph.tensors[id].shape.size();
  for (const Node* reader : facts.readers[id]) {
    const Nests* nests = std::get_if<Nests>(&reader->body);
    if (!nests || nests->empty() || facts.graph.tensors[reader->writes[0]].shape.size() != rank) continue;
    if (const size_t first = first_windowed_dimension(nests->front(), rank); first < rank) return first;
  }
  return rank;
}

// Whether all that the node reads of its result's size is the caller's.
bool follows_input(const StorageFacts& facts, const std::vector<Layout>& layouts, const Node& node) {
  bool input = false, other = false;
  for (TensorId id : node.reads) {
    if (facts.graph.tensors[id].constant || facts.count(id) < facts.count(node.writes[0])) continue;
    (is_in_callers_order(facts, layouts[id].root) ? input : other) = true;
  }
  return input && !other;
}

// Calls visit(tensor, read) for what the nest's body reads of tensors that are computed.
template <typename Visit>
void visit_computed(const Graph& graph, const Node& node, const Nest& nest, const Visit& visit) {
  any_of(nest.body, [&](const Expr& e) {
    if (e->op != Op::kRead) return false;
    const TensorId id = node.reads[e->index];
    if (!graph.tensors[id].constant) visit(id, e);
    return false;
  });
}

// How far an access moves in memory with an axis of its nest: 0 where it stays. Along an index that is not
// linear, the stride of its dimension.
int64_t pace_along(int axis, const Layout& layout, const std::vector<Expr>& indices, const Nest& nest) {
  if (const auto address = address_of(layout, indices, nest)) return std::abs(address->coefficient(axis));
  int64_t least = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t factor = std::abs(coefficient_along(indices[d], axis).value_or(1));
    const int64_t stride = std::abs(layout.strides[d]) * factor;
    if (stride > 0 && (least == 0 || stride < least)) least = stride;
  }
  return least;
}

// How far a read moves in memory along each dimension of the write; 0 where it stays.
std::vector<int64_t> paces_of(const Expr& read, const Layout& layout, const Nest& nest) {
  std::vector<int64_t> paces(nest.store.size());
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a) {
    const int d = nest.axes[a].reduced ? -1 : dimension_of(nest, a);
    if (d >= 0) paces[d] = std::max(paces[d], pace_along(a, layout, read->args, nest));
  }
  return paces;
}

// The paces of the largest operand that moves along every dimension, rather of one whose order was chosen
// than of a caller's; none where no operand moves along all.
std::vector<int64_t> paces_of_largest(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                      const Node& node, const Shape& shape) {
  std::vector<int64_t> best;
  std::pair<int64_t, bool> largest = {0, true};
  for (const Nest& nest : std::get<Nests>(node.body))
    visit_computed(facts.graph, node, nest, [&](TensorId id, const Expr& read) {
      const std::pair size = {facts.count(id), !is_in_callers_order(facts, layouts[id].root)};
      if (size <= largest) return;
      std::vector<int64_t> paces = paces_of(read, layouts[id], nest);
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] > 1 && paces[d] == 0) return;
      largest = size;
      best = std::move(paces);
    });
  return best;
}

// Of a product of two operands that both go on with the outer dimensions of the result: the paces of the
// one that has all but the last. Where the caller chose its order, what it alone has comes first.
//
//   scores[head, token, other] = sum(i) q[head, token, i] * k[head, other, i]     token, head, other
std::vector<int64_t> paces_of_rows(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                   const Node& node, const Shape& shape) {
  const Nest& nest = std::get<Nests>(node.body).front();
  size_t last = shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) last = d;
  std::vector<int64_t> best;
  bool callers_order = false;
  std::vector<bool> shared(shape.size());
  visit_computed(facts.graph, node, nest, [&](TensorId id, const Expr& read) {
    std::vector<int64_t> paces = paces_of(read, layouts[id], nest);
    const bool has_last = last < shape.size() && paces[last] > 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (has_last && paces[d] > 0) shared[d] = true;
      if (!has_last && d != last && shape[d] > 1 && paces[d] == 0) return;
    }
    if (has_last) return;
    best = std::move(paces);
    callers_order = facts.is_input[layouts[id].root];
  });
  if (callers_order)
    for (size_t d = 0; d < shape.size(); ++d) best[d] = d == last ? 0 : shared[d] ? 1 : 2;
  return best;
}

// Dense, the dimensions of the largest paces outermost.
std::vector<int64_t> strides_in_order_of(const std::vector<int64_t>& paces, const Shape& shape) {
  std::vector<int> order(shape.size()), moving;
  std::iota(order.begin(), order.end(), 0);
  const auto moves = [&](int d) { return shape[d] > 1; };  // dimensions of one element lie anywhere
  std::ranges::copy_if(order, std::back_inserter(moving), moves);
  std::ranges::stable_sort(moving, std::greater{}, [&](int d) { return paces[d]; });
  auto next = moving.begin();
  for (int& d : order)
    if (moves(d)) d = *next++;
  return dense_strides(shape, order);
}

// So that the only reader of a result, which renames its elements for one that takes them in the order of
// their names, does not move any; nothing where there is no such reader.
//
//   scores [10, 64, 64] -> reshape [40960] -> topk      by planes
std::optional<std::vector<int64_t>> strides_for_renaming(const StorageFacts& facts,
                                                         const std::vector<Layout>& layouts, TensorId id) {
  const Node* reader = only_reader(facts, id);
  if (!reader || !may_be_view(facts, *reader) || !copied_element(*reader, facts.graph)) return std::nullopt;
  const TensorId renamed = reader->writes[0];
  if (!facts.row_major[renamed]) return std::nullopt;
  const auto layout = layout_behind(*reader, layouts[renamed], facts.graph);
  if (!layout) return std::nullopt;
  return strides_in_order_of(layout->strides, facts.graph.tensors[id].shape);
}

}  // namespace

std::vector<int64_t> dense_strides(const Shape& shape, const std::vector<int>& order) {
  std::vector<int64_t> strides(shape.size(), 1);
  int64_t next = 1;
  for (size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = next;
    next *= shape[order[k]];
  }
  return strides;
}

std::vector<int64_t> preferred_strides(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                       const StorageChoice& choice, const Node& node, TensorId out) {
  const Graph& graph = facts.graph;
  const Shape& shape = graph.tensors[out].shape;
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests || nests->empty()) return row_major_strides(shape);
  // Sums of floats walk the elements as they would the caller's whole tensor (loops.cc), in the same order.
  if (const TensorId fed = fed_to(node, graph); fed >= 0 && is_float(graph.tensors[fed].type))
    return layouts[fed].strides;
  const auto in_lanes = [&](const std::vector<int64_t>& strides) {
    return choice.factors == Factors::kInLanes ? strides_in_lanes(facts, out, strides) : strides;
  };
  // The node's own windows; where all that it reads has the caller's order, those of its readers.
  size_t windowed = first_windowed_dimension(nests->front(), shape.size());
  if (windowed == shape.size() && follows_input(facts, layouts, node))
    windowed = wanted_by_readers(facts, out);
  const Node* reader = only_reader(facts, out);
  if (windowed == 2 && choice.windowed == Windowed::kPlanes && reader &&
      smaller_in_planes(out, node, *reader, graph))
    return row_major_strides(shape);
  if (windowed < shape.size()) return in_lanes(channels_last(shape, windowed, choice.windowed));

  if (auto strides = strides_for_renaming(facts, layouts, out)) return *std::move(strides);
  // As an operand has it, so that both are walked side by side.
  std::vector<int64_t> paces = paces_of_largest(facts, layouts, node, shape);
  if (paces.empty() && nests->size() == 1 && choice.products == Products::kRows)
    paces = paces_of_rows(facts, layouts, node, shape);
  if (paces.empty()) {
    windowed = wanted_by_readers(facts, out);
    if (windowed < shape.size()) return in_lanes(channels_last(shape, windowed, choice.windowed));
  }
  return in_lanes(paces.empty() ? row_major_strides(shape) : strides_in_order_of(paces, shape));
}

}  // namespace arenac
