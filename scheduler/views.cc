#include "scheduler/views.h"

namespace arenac {
namespace {

// How far one step of an index moves, where the axes move so far: of a quotient so many of the axis, of a sum
// one of its fastest term.
int64_t pace_of_one(const Expr& index, const std::vector<int64_t>& paces) {
  if (index->op == Op::kMod) return pace_of_one(index->args[0], paces);
  if (index->op == Op::kDiv && index->args[1]->op == Op::kConst)
    return index->args[1]->value.i * pace_of_one(index->args[0], paces);
  for (int a = 0; a < static_cast<int>(paces.size()); ++a)
    if (coefficient_along(index, a) == 1) return paces[a];
  return 0;
}

// An axis of the nest, not the number of an iteration.
bool is_axis(const Expr& index) { return index->op == Op::kAxis && index->index >= 0; }

}  // namespace

const Expr* copied_element(const Node& node, const Graph& graph) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  return nests && nests->size() == 1 ? copied_read(nests->front(), node, graph) : nullptr;
}

std::optional<Layout> view_layout(const Node& node, const Expr& element, const Layout& operand) {
  const Nest& nest = std::get<Nests>(node.body).front();
  const auto address = address_of(operand, element->args, nest);
  if (!address) return std::nullopt;
  Layout view{operand.root, address->constant, std::vector<int64_t>(nest.store.size(), 0)};
  std::vector<bool> stored(nest.axes.size());
  for (size_t d = 0; d < nest.store.size(); ++d) {
    const Expr& index = nest.store[d];
    if (is_axis(index) && !stored[index->index]) {
      view.strides[d] = address->coefficient(index->index);
      stored[index->index] = true;
    } else if (!is_constant(index, 0)) {
      return std::nullopt;
    }
  }
  for (const auto& [a, factor] : address->terms)
    if (a < 0 || !stored[a]) return std::nullopt;  // depends on an iteration
  return view;
}

std::optional<Layout> layout_behind(const Node& view, const Layout& wanted, const Graph& graph) {
  const Nest& nest = std::get<Nests>(view.body).front();
  const Expr& element = *copied_element(view, graph);
  std::vector<int64_t> paces(nest.axes.size());  // how far the view moves along each axis
  for (size_t d = 0; d < nest.store.size(); ++d)
    if (is_axis(nest.store[d])) paces[nest.store[d]->index] = wanted.strides[d];
  const Shape& shape = graph.tensors[view.reads[element->index]].shape;
  Layout layout{wanted.root, wanted.offset, std::vector<int64_t>(shape.size())};
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) layout.strides[d] = pace_of_one(element->args[d], paces);
  const auto seen = view_layout(view, element, layout);
  if (!seen || seen->offset != wanted.offset ||
      !equivalent(seen->strides, wanted.strides, graph.tensors[view.writes[0]].shape))
    return std::nullopt;
  return layout;
}

bool equivalent(const std::vector<int64_t>& a, const std::vector<int64_t>& b, const Shape& shape) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && a[d] != b[d]) return false;
  return true;
}

std::optional<Layout> layout_as_view(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                     const Node& node) {
  const Expr* from = copied_element(node, facts.graph);
  if (!from) return std::nullopt;
  auto view = view_layout(node, *from, layouts[node.reads[(*from)->index]]);
  const TensorId out = node.writes[0];
  const Shape& shape = facts.graph.tensors[out].shape;
  if (view && facts.row_major[out] && !equivalent(view->strides, row_major_strides(shape), shape))
    return std::nullopt;
  return view;
}

void Views::add(const View& view) {
  const int next = static_cast<int>(all.size());
  number[view.node->writes[0]] = next;
  of[view.of].push_back(next);
  all.push_back(view);
}

}  // namespace arenac
