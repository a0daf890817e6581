#include "scheduler/windowed.h"

#include <algorithm>
#include <cstdlib>

#include "frontend/facts.h"

namespace arenac {
namespace {

// How a reduced axis moves an index that an axis of the output moves too: over separate parts, as groups of
// channels and pooling without overlap have them, or over windows that slide into each other.
enum class Window : uint8_t { kNone, kParts, kSliding };

// How far the reduced axes move an index; nothing where it has none.
std::optional<int64_t> reach_of(const Affine& index, const Nest& nest) {
  std::optional<int64_t> reach;
  for (const auto& [a, factor] : index.terms)
    if (a >= 0 && nest.axes[a].reduced)
      reach = reach.value_or(0) + std::abs(factor) * (nest.axes[a].extent - 1);
  return reach;
}

std::vector<Window> windows(const Nest& nest, size_t rank) {
  std::vector<Window> all(rank, Window::kNone);
  const auto look = [&](const Expr& e) {
    if (e->op != Op::kRead) return false;
    for (const Expr& index : e->args) {
      const auto form = affine_form(index);
      const auto reach = form ? reach_of(*form, nest) : std::nullopt;
      if (!reach) continue;
      for (const auto& [a, factor] : form->terms) {
        const int d = a >= 0 && !nest.axes[a].reduced ? dimension_of(nest, a) : -1;
        if (d >= 0) all[d] = std::max(all[d], *reach < std::abs(factor) ? Window::kParts : Window::kSliding);
      }
    }
    return false;
  };
  any_of(nest.body, look);
  return all;
}

bool slides(const Nest& nest, size_t rank) {
  return std::ranges::count(windows(nest, rank), Window::kSliding) > 0;
}

// Of a read of [batch, channel, y, x]: all of y for an x, or for a few.
bool reads_whole_columns(const Expr& read, const Nest& nest, const Shape& shape) {
  if (shape.size() != 4 || shape[2] == 1) return false;
  const auto y = affine_form(read->args[2]), x = affine_form(read->args[3]);
  return y && x && reach_of(*y, nest).value_or(0) >= shape[2] - 1 &&
         reach_of(*x, nest).value_or(0) < shape[3] - 1;
}

}  // namespace

int dimension_of(const Nest& nest, int a) {
  for (size_t d = 0; d < nest.store.size(); ++d) {
    const auto form = affine_form(nest.store[d]);
    if (form && form->coefficient(a) != 0) return static_cast<int>(d);
  }
  return -1;
}

size_t first_windowed_dimension(const Nest& nest, size_t rank) {
  std::vector<Window> window = windows(nest, rank);
  if (std::find(window.begin(), window.end(), Window::kSliding) != window.end()) {
    // The dimension over which a kernel of 5x1 does not slide is one, too.
    const auto axes = axis_intervals(nest);
    for (size_t d = 0; d < rank; ++d) {
      const Interval indices = interval(nest.store[d], axes, {});
      if (window[d] == Window::kParts && (d < 2 || indices.end - indices.begin == 1))
        window[d] = Window::kNone;
    }
  } else if (rank > 2 && window[1] == Window::kParts && window[2] == Window::kParts) {
    window[1] = Window::kNone;  // groups of channels, 1x1
  }
  const auto moves = [](Window w) { return w != Window::kNone; };
  const auto first = std::find_if(window.begin(), window.end(), moves);
  const bool trailing = first != window.begin() && std::all_of(first, window.end(), moves);
  return trailing ? static_cast<size_t>(first - window.begin()) : rank;
}

bool smaller_in_planes(TensorId id, const Node& writer, const Node& reader, const Graph& graph) {
  const Shape &shape = graph.tensors[id].shape, &result = graph.tensors[reader.writes[0]].shape;
  const Nests *made_by = std::get_if<Nests>(&writer.body), *read_by = std::get_if<Nests>(&reader.body);
  if (!made_by || !read_by || read_by->size() != 1 || shape.size() < 3 || result.size() != shape.size() ||
      result[1] != shape[1] || element_count(shape) == 0 || element_count(result) == 0)
    return false;
  const Nest& nest = read_by->front();
  if (slides(made_by->front(), shape.size()) || first_windowed_dimension(nest, shape.size()) != 2)
    return false;
  int64_t height = 1;  // of a window
  bool by_channel = true;
  visit_reads(nest, [&](const Expr& e) {
    if (reader.reads[e->index] != id) return;
    const auto channel = affine_form(e->args[1]), own = affine_form(nest.store[1]);
    by_channel &= channel && own && without_still_axes(*channel, nest) == without_still_axes(*own, nest);
    if (const auto row = affine_form(e->args[2]))
      height = std::max(height, 1 + reach_of(*row, nest).value_or(0));
  });
  const int64_t row = element_count(shape) / shape[2], plane = element_count(shape) / shape[1];
  const int64_t made = element_count(result);
  const int64_t rows = height < shape[2] ? height - 1 : shape[2];  // in columns, little of one more is there
  return by_channel && plane + made < rows * row + made / result[2];
}

bool reads_whole_columns(const Graph& graph) {
  return std::ranges::any_of(graph.block, [&](const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    bool whole = false;
    for (size_t k = 0; nests && k < nests->size(); ++k)
      visit_reads((*nests)[k], [&](const Expr& e) {
        const Tensor& read = graph.tensors[node.reads[e->index]];
        whole |= !read.constant && reads_whole_columns(e, (*nests)[k], read.shape);
      });
    return whole;
  });
}

}  // namespace arenac
