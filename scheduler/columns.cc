#include "scheduler/columns.h"

#include <algorithm>
#include <utility>

namespace arenac {
namespace {

// Per dimension of a tensor the columns that it steps; 0: it stays within one, or goes from row to row.
// Nothing where the place in the row is not one of whole columns. Of [48, 48, 16] in rows of 768, columns of
// 16:
//
//   strides {768, 16, 1}   ->   {0, 1, 0}            every other column, {768, 32, 1}   ->   {0, 2, 0}
std::optional<std::vector<int64_t>> column_steps(const Layout& layout, const Rows& rows, const Rows& columns,
                                                 const Shape& shape) {
  std::vector<int64_t> steps(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t stride = layout.strides[d];
    if (shape[d] <= 1 || std::abs(stride) >= rows.size) continue;
    const bool within = stride < columns.size && (shape[d] - 1) * stride < columns.size;
    if (stride < 0 || (stride % columns.size != 0 && !within)) return std::nullopt;
    steps[d] = stride / columns.size;
  }
  return steps;
}

// The axis that alone is the column of an access, or -1: the column must be that axis and nothing else (no
// offset, no factor), and the axis walk all of them. Then a part of the axis is a part of the columns,
// whatever else the nest does.
int column_axis(const Nest& nest, const Layout& layout, const Rows& rows, const Rows& columns,
                const Shape& shape, const std::vector<Expr>& indices) {
  const auto steps = column_steps(layout, rows, columns, shape);
  if (!steps) return -1;
  Affine column{layout.offset % rows.size / columns.size, {}};
  for (size_t d = 0; d < shape.size(); ++d) {
    if ((*steps)[d] == 0) continue;
    const auto form = affine_form(indices[d]);
    if (!form) return -1;
    column = column + *form * (*steps)[d];
  }
  column = without_still_axes(std::move(column), nest);
  if (column.constant != 0 || column.terms.size() != 1 || column.terms[0].second != 1) return -1;
  const int a = column.terms[0].first;
  return a >= 0 && !nest.axes[a].reduced && nest.axes[a].extent == columns.count ? a : -1;
}

// The columns that an access touches while the axes run over `axes`; all of them where the place in the row
// is not one of whole columns; [0, 0) where it touches nothing. Indices outside the tensor are guarded, and
// not counted.
Interval touched_by(const Layout& layout, const Rows& rows, const Rows& columns, const Shape& shape,
                    const std::vector<Expr>& indices, const std::vector<Interval>& axes,
                    const std::vector<const Tensor*>& operands) {
  const auto steps = column_steps(layout, rows, columns, shape);
  if (!steps) return {0, columns.count};
  const int64_t first = layout.offset % rows.size / columns.size;
  Interval all = {first, first};  // closed
  for (size_t d = 0; d < shape.size(); ++d) {
    if ((*steps)[d] == 0) continue;
    const Interval index = interval(indices[d], axes, operands);
    const Interval inside = {std::max<int64_t>(index.begin, 0), std::min(index.end, shape[d])};
    if (inside.begin >= inside.end) return {0, 0};
    all.begin += (*steps)[d] * inside.begin;
    all.end += (*steps)[d] * (inside.end - 1);
  }
  return {std::max<int64_t>(all.begin, 0), std::min(all.end + 1, columns.count)};
}

}  // namespace

// The dimension with the largest stride below a row's.
Rows columns_of(const Layout& layout, const Rows& rows, const Shape& shape) {
  Rows columns;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && layout.strides[d] < rows.size && layout.strides[d] > columns.size)
      columns = {layout.strides[d], shape[d]};
  return columns;
}

// All accesses of a nest must agree on the axis: a window over neighbouring columns has none, an element-wise
// nest has one.
std::vector<int> column_axes(const Node& node, const Slabs& slabs, TensorId storage, const Rows& rows,
                             const Graph& graph, const std::vector<Layout>& layouts) {
  const Rows columns = columns_of(layouts[storage], rows, graph.tensors[storage].shape);
  const Nests& nests = std::get<Nests>(node.body);
  if (adds_rows(nests, slabs.nests)) return {};
  std::vector<int> axes;
  for (size_t n = 0; n < nests.size(); ++n) {
    const Nest& nest = nests[n];
    // the column of all accesses of this nest so far
    int axis = -1;
    bool one = columns.size > 0;
    const auto touch = [&](TensorId id, const std::vector<Expr>& indices) {
      if (layouts[id].root != storage || graph.tensors[id].constant || !one) return;
      const int a = column_axis(nest, layouts[id], rows, columns, graph.tensors[id].shape, indices);
      one &= a >= 0 && (axis < 0 || a == axis);
      axis = a;
    };
    touch(node.writes[0], nest.store);
    visit_reads(nest, [&](const Expr& e) { touch(node.reads[e->index], e->args); });
    // What clears sums runs once: it touches neither rows nor columns.
    const bool clears = axis < 0 && n + 1 < nests.size() && nests[n + 1].accumulate;
    if (!one || (axis < 0 && !clears) || (axis >= 0 && axis == slabs.nests[n].axis)) return {};
    axes.push_back(axis);
  }
  return axes;
}

// A factor that the axis does not move is read again for each chunk.
ColumnFactors column_factors(const Node& node, const std::vector<int>& axes) {
  const Nests& nests = std::get<Nests>(node.body);
  ColumnFactors factors = ColumnFactors::kNone;
  for (size_t n = 0; n < nests.size(); ++n) {
    if (!sums_products(nests[n])) continue;
    for (const Expr& factor : nests[n].body->args)
      if (!names_axis(factor, axes[n])) return ColumnFactors::kShared;
    factors = ColumnFactors::kOwn;
  }
  return factors;
}

// Chunk c is the indices [c * width, (c + 1) * width) of the axis, which `chunks` divides evenly.
std::vector<Interval> columns_touched(const Node& node, const std::vector<int>& axes, int64_t chunks,
                                      TensorId id, const Rows& rows, const Graph& graph,
                                      const std::vector<Layout>& layouts) {
  const TensorId storage = layouts[id].root;
  const Rows columns = columns_of(layouts[storage], rows, graph.tensors[storage].shape);
  const Nests& nests = std::get<Nests>(node.body);
  std::vector<const Tensor*> operands;
  for (TensorId operand : node.reads) operands.push_back(&graph.tensors[operand]);
  std::vector<Interval> all(chunks, {INT64_MAX, 0});
  for (size_t n = 0; n < nests.size(); ++n)
    for (int64_t c = 0; c < chunks; ++c) {
      auto part = axis_intervals(nests[n]);
      // one chunk is all of the nest
      const int axis = chunks > 1 ? axes[n] : -1;
      if (axis < 0 && c > 0) break;
      const int64_t width = axis < 0 ? 0 : part[axis].end / chunks;
      if (axis >= 0) part[axis] = {c * width, (c + 1) * width};
      const auto touch = [&](TensorId other, const std::vector<Expr>& indices) {
        if (other != id) return;
        const Interval touched =
            touched_by(layouts[id], rows, columns, graph.tensors[id].shape, indices, part, operands);
        if (touched.begin >= touched.end) return;
        all[c] = {std::min(all[c].begin, touched.begin), std::max(all[c].end, touched.end)};
      };
      touch(node.writes[0], nests[n].store);
      visit_reads(nests[n], [&](const Expr& e) { touch(node.reads[e->index], e->args); });
    }
  for (Interval& touched : all)
    if (touched.begin > touched.end) touched = {0, 0};
  return all;
}

}  // namespace arenac
