// Nodes that only rename elements of an operand. Their results need no storage: they lie in that of the
// operand, wherever this lies.
//
//   h [2, 6] with strides [6, 1]      v = Transpose(h): [6, 2] with strides [1, 6], a view of h
#pragma once

#include <optional>
#include <vector>

#include "scheduler/storage_facts.h"

namespace arenac {

// The element of an operand that a node copies with its only nest; null where it does anything else.
const Expr* copied_element(const Node& node, const Graph& graph);

// The layout of the result of a node that copies this element of an operand that lies so, as a view of that;
// nothing where the addresses of its elements are not affine there.
std::optional<Layout> view_layout(const Node& node, const Expr& element, const Layout& operand);

// How the operand of a view must lie for the view to lie as wanted; nothing where it cannot.
//
//   out[c, p] = in[c, p / 40, p % 40]      wanted [2000, 1]: in lies as [2000, 40, 1]
std::optional<Layout> layout_behind(const Node& view, const Layout& wanted, const Graph& graph);

// Whether elements lie at the same distances: the strides of dimensions of one element tell nothing.
bool equivalent(const std::vector<int64_t>& a, const std::vector<int64_t>& b, const Shape& shape);

// The layout of the result of a node as a view of its operand, which lies as `layouts` say; nothing where it
// is none, or is row-major and would not be so.
std::optional<Layout> layout_as_view(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                     const Node& node);

struct View {
  const Node* node;
  TensorId of;  // the operand, perhaps a view itself
};

// Views, earlier steps first: before their own views.
struct Views {
  std::vector<View> all;
  std::vector<std::vector<int>> of;  // per tensor: the numbers of its views
  std::vector<int> number;           // per tensor: which view it is; -1: none

  explicit Views(size_t tensors) : of(tensors), number(tensors, -1) {}
  void add(const View& view);
};

}  // namespace arenac
