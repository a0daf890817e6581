#include "scheduler/in_place.h"

#include <algorithm>
#include <set>

#include "scheduler/views.h"

namespace arenac {
namespace {

// Calls visit(read) for what an expression reads.
template <typename Visit>
void visit_reads(const Expr& expression, const Visit& visit) {
  any_of(expression, [&](const Expr& e) {
    if (e->op == Op::kRead) visit(e);
    return false;
  });
}

// One of the nests of a node.
struct WrittenPart {
  std::vector<Interval> box;  // per dimension what the write covers, of several nests
  std::set<int> operands;     // that it computes with; those of bounds and indices do not count
  bool copies = false;        // whether it does nothing but that
};

std::vector<WrittenPart> parts_of(const Node& node, const Graph& graph) {
  const Nests& nests = std::get<Nests>(node.body);
  std::vector<WrittenPart> parts;
  for (const Nest& nest : nests) {
    WrittenPart& part = parts.emplace_back();
    const auto add = [&](const Expr& read) { part.operands.insert(read->index); };
    visit_reads(nest.body, add);
    if (!nest.finish.empty()) visit_reads(nest.finish, add);
    if (nests.size() == 1) break;
    part.copies = copied_read(nest, node, graph) != nullptr;
    const auto axes = axis_intervals(nest);
    for (const Expr& index : nest.store) part.box.push_back(interval(index, axes, {}));
  }
  return parts;
}

bool are_disjoint(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d].end <= b[d].begin || b[d].end <= a[d].begin) return true;
  return false;
}

// Whether an operand may lie where part k writes, for all that the others do: they write elsewhere, or (k
// being the first) later and without reading it; later ones only read it where part k stores it as it is.
bool is_harmless(const std::vector<WrittenPart>& parts, size_t k, int operand) {
  for (size_t other = 0; other < parts.size(); ++other) {
    if (other == k) continue;
    const bool read = parts[other].operands.contains(operand);
    if (read && other > k && !parts[k].copies) return false;
    if ((read || k != 0) && !are_disjoint(parts[other].box, parts[k].box)) return false;
  }
  return true;
}

// The only element of an operand that a nest reads for one that it writes; null where it reads several, or
// reduces them.
const Expr* only_element(const Nest& nest, int operand) {
  const Expr* only = nullptr;
  bool alike = true;
  const auto look = [&](const Expr& read) {
    if (read->index != operand) return;
    if (!only) only = &read;
    for (size_t d = 0; d < read->args.size(); ++d) alike &= same(read->args[d], (*only)->args[d]);
  };
  visit_reads(nest.body, look);
  if (only && nest.combine != Combine::kNone) return nullptr;
  if (!nest.finish.empty()) visit_reads(nest.finish, look);
  return alike ? only : nullptr;
}

// Per dimension the axis of the nest that runs over it, -1 for what is one element long; nothing where an
// index is anything else, or an axis runs over several dimensions or over a part of one.
std::optional<std::vector<int>> axes_over(const Expr& read, const Shape& shape, const Nest& nest) {
  std::vector<int> axes;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Expr& index = read->args[d];
    if (is_constant(index, 0) && shape[d] == 1) {
      axes.push_back(-1);
      continue;
    }
    if (index->op != Op::kAxis || index->index < 0 || std::ranges::count(axes, index->index) > 0)
      return std::nullopt;
    const Axis& axis = nest.axes[index->index];
    if (axis.extent != shape[d] || axis.reduced) return std::nullopt;
    axes.push_back(index->index);
  }
  return axes;
}

// Of an operand that a nest copies whole and dense under another shape: to the caller in whatever order that
// is, else to dense storage in the order in which the operand lies.
std::optional<Layout> reshaped_place(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                     const Node& node, const Nest& nest, const Expr& read) {
  const TensorId x = node.reads[read->index], out = node.writes[0];
  if (!copied_read(nest, node, facts.graph) || facts.count(x) != facts.count(out)) return std::nullopt;
  if (facts.is_output[layouts[out].root] && copied_element(node, facts.graph))
    if (auto layout = layout_behind(node, layouts[out], facts.graph)) return layout;
  const auto from = address_of(layouts[x], read->args, nest), to = address_of(layouts[out], nest.store, nest);
  if (!from || !to) return std::nullopt;
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    if (nest.axes[a].extent > 1 && from->coefficient(a) != to->coefficient(a)) return std::nullopt;
  return Layout{layouts[out].root, to->constant - from->constant + layouts[x].offset, layouts[x].strides};
}

// Whether C lets a nest write a tensor where it reads another.
bool may_overwrite(const Tensor& from, const Tensor& to) {
  return size_of(from.type) == size_of(to.type) && may_meet(from.type, to.type);
}

}  // namespace

std::vector<std::vector<TensorId>> harmless_operands(const StorageFacts& facts, const Node& node,
                                                     Moves moves) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests) return {};
  std::vector<std::vector<TensorId>> result(nests->size());
  if (node.is_copy || is_recurrence(node) || facts.count(node.writes[0]) == 0) return result;
  const std::vector<WrittenPart> parts = parts_of(node, facts.graph);
  const auto readers = [&](TensorId id) { return facts.readers[id].size(); };
  for (size_t k = 0; k < parts.size(); ++k) {
    for (const int operand : parts[k].operands) {
      const TensorId x = node.reads[operand];
      const bool is_shared = parts.size() > 1 && readers(x) > 1;
      if (moves == Moves::kUnshared && is_shared) continue;
      if (is_harmless(parts, k, operand)) result[k].push_back(x);
    }
    if (moves == Moves::kUnshared) std::ranges::stable_sort(result[k], {}, readers);
  }
  return result;
}

std::optional<Layout> place_in_result(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                      const Node& node, const Nest& nest, TensorId x) {
  // Another operand in the same storage may be read at another place.
  const auto meets = [&](TensorId other) { return other != x && layouts[other].root == layouts[x].root; };
  if (std::ranges::any_of(node.reads, meets)) return std::nullopt;
  const Tensor &from = facts.graph.tensors[x], &to = facts.graph.tensors[node.writes[0]];
  if (!may_overwrite(from, to) || nest.accumulate) return std::nullopt;
  const Expr* read =
      only_element(nest, static_cast<int>(std::ranges::find(node.reads, x) - node.reads.begin()));
  const auto address = read ? address_of(layouts[node.writes[0]], nest.store, nest) : std::nullopt;
  if (!address) return std::nullopt;
  const auto axes = axes_over(*read, from.shape, nest);
  if (!axes) return reshaped_place(facts, layouts, node, nest, *read);
  // Axes of the output that do not index x would read one element for several writes.
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    if (!nest.axes[a].reduced && nest.axes[a].extent > 1 && std::ranges::count(*axes, a) == 0)
      return std::nullopt;
  for (const auto& [a, factor] : address->terms)
    if (a < 0) return std::nullopt;
  Layout place{layouts[node.writes[0]].root, address->constant, {}};
  for (const int a : *axes) place.strides.push_back(a < 0 ? 0 : address->coefficient(a));
  return place;
}

}  // namespace arenac
