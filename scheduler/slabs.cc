#include "scheduler/slabs.h"

#include <algorithm>

#include "frontend/error.h"

namespace arenac {
namespace {

constexpr Rows kElements = {1, INT64_MAX};  // each a row
constexpr int64_t kMostRows = 1 << 17;  // of a storage; beyond, each would be too little to be worth a slab

Interval clipped(Interval a, int64_t count) {
  return {std::max<int64_t>(a.begin, 0), std::min(a.end, count)};
}

// Whether the dimension moves from row to row, and not within one. Rows are the outermost dimension of the
// memory, not of the shape: of [1, C, H, W] that lies channels-last, the dimension H, with a row of W * C
// elements.
bool across_rows(const Layout& layout, const Rows& rows, size_t d) {
  return std::abs(layout.strides[d]) >= rows.size;
}

// Every element of the tensor lies in one row, at a place that does not depend on which: so that a view of
// some channels or columns has rows as well, and one that folds rows into each other has none.
bool in_rows(const Layout& layout, const Rows& rows, const Shape& shape) {
  int64_t low = layout.offset % rows.size, high = low;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] <= 1) continue;
    if (!across_rows(layout, rows, d))
      (layout.strides[d] < 0 ? low : high) += (shape[d] - 1) * layout.strides[d];
    else if (layout.strides[d] % rows.size != 0)
      return false;
  }
  return 0 <= low && high < rows.size;
}

// The indices of the slab's axis, clipped to its extent.
Interval indices_at(const Nest& nest, const NestSlabs& part, int64_t slab) {
  const int64_t from = slab * part.width + part.begin;
  return clipped({from, from + part.width}, part.axis < 0 ? 1 : nest.axes[part.axis].extent);
}

// The rows of the storage that an access touches while the axes run over `axes`; of what is not in rows, [0,
// 1), the only one there is. [0, 0) where nothing is touched. Indices that leave the tensor are guarded
// elsewhere, and clipped here.
Interval rows_touched(const Layout& layout, const Rows& rows, const Shape& shape,
                      const std::vector<Expr>& indices, const std::vector<Interval>& axes,
                      const std::vector<const Tensor*>& operands) {
  if (rows.size == 0) return {0, 1};
  Interval all = {layout.offset / rows.size, layout.offset / rows.size};  // closed
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] <= 1 || !across_rows(layout, rows, d)) continue;
    const Interval index = clipped(interval(indices[d], axes, operands), shape[d]);
    if (index.begin >= index.end) return {0, 0};
    const int64_t step = layout.strides[d] / rows.size;
    all.begin += step * (step > 0 ? index.begin : index.end - 1);
    all.end += step * (step > 0 ? index.end - 1 : index.begin);
  }
  return clipped({all.begin, all.end + 1}, rows.count);
}

// How many slabs, and per nest what slab t computes of it (NestSlabs).
struct Cut {
  int64_t slabs = 1;
  std::vector<NestSlabs> nests;
};

// One slab: every nest as a whole at t = 0.
Cut uncut(const Nests& nests) { return {1, std::vector<NestSlabs>(nests.size(), {-1, 1, 0})}; }

// How one nest writes rows: axis value i writes rows factor * i + [first.begin, first.end); without an axis,
// rows `first`.
struct RowAxis {
  int axis = -1;
  int64_t factor = 0;
  Interval first = {};
};

// `row`: the row that the nest touches, as an index. The axis with the largest factor is what goes from slab
// to slab; all others spread within. Nothing where rows do not ascend along the axes, or come by a reduced
// one or an iteration.
//
//   row 2*i1 + i3, i3 < 2      axis i1, factor 2, first [0, 2): value i1 writes rows [2*i1, 2*i1 + 2)
std::optional<RowAxis> row_axis(const Nest& nest, const Expr& row) {
  const auto form = affine_form(row);
  if (!form) return std::nullopt;
  RowAxis found;
  for (const auto& [a, factor] : form->terms) {
    if (a < 0 || nest.axes[a].reduced || factor < 0) return std::nullopt;
    if (nest.axes[a].extent > 1 && factor > found.factor) found = {a, factor, {}};
  }
  found.first = {form->constant, form->constant + 1};
  for (const auto& [a, factor] : form->terms)
    if (a != found.axis) found.first.end += factor * (nest.axes[a].extent - 1);
  return found;
}

// Slabs of as many rows as the coarsest nest writes at once; nothing where a nest's rows straddle them.
//
//   a ConvTranspose of stride 2     nest 0 writes rows 2*i, nest 1 rows 2*i + 1: slabs of 2 rows
//   a Concat along the rows         nest 0 writes rows [0, 24), nest 1 [24, 48): slab t is row t
//   a border of 2 rows and a copy   granule 1: the border's axis and the copy's, one behind the other
//
// A nest that writes a single row a step beside a coarser one takes as many steps a slab as the granule has
// rows, which must come out even.
std::optional<Cut> cut_rows(const Nests& nests, const std::vector<Expr>& row_of_store) {
  std::vector<RowAxis> axes;
  int64_t granule = 1;
  Interval written = {INT64_MAX, 0};
  for (size_t k = 0; k < nests.size(); ++k) {
    const auto found = row_axis(nests[k], row_of_store[k]);
    if (!found) return std::nullopt;
    axes.push_back(*found);
    granule = std::max(granule, found->factor);
    const int64_t steps = found->axis < 0 ? 0 : nests[k].axes[found->axis].extent - 1;
    written = {std::min(written.begin, found->first.begin),
               std::max(written.end, found->first.end + found->factor * steps)};
  }
  // slabs begin at multiples of the granule, in the storage's own rows
  const int64_t base = floor_div(written.begin, granule) * granule;
  if (written.end - base > kMostRows) return std::nullopt;
  Cut cut{(written.end - base + granule - 1) / granule, {}};
  for (size_t k = 0; k < nests.size(); ++k) {
    const auto& [axis, factor, at] = axes[k];
    const Interval first = {at.begin - base, at.end - base};
    const int64_t slab = floor_div(first.begin, granule);
    if (axis < 0 || factor == granule) {
      if (first.end > (slab + 1) * granule) return std::nullopt;
      cut.nests.push_back({axis, 1, -slab});
    } else {
      const bool aligned = factor == 1 && first.end == first.begin + 1 && first.begin % granule == 0 &&
                           nests[k].axes[axis].extent % granule == 0;
      if (!aligned) return std::nullopt;
      cut.nests.push_back({axis, granule, -first.begin});
    }
  }
  return cut;
}

// The ways to cut a node's nests are tried, and the best is told with its accesses. What counts is
// `streamed`: bytes of operands that need not be there whole when the first slab runs.
class Facts {
 public:
  Facts(const Node& node, const Graph& graph, const std::vector<Layout>& layouts,
        const std::vector<Rows>& rows, int64_t most_accesses)
      : node_(node),
        nests_(std::get<Nests>(node.body)),
        graph_(graph),
        layouts_(layouts),
        rows_(rows),
        most_accesses_(most_accesses) {
    for (TensorId id : node.reads) operands_.push_back(&graph.tensors[id]);
    for (const Nest& nest : nests_)
      stays_.push_back(rows_of(node.writes[0]).only_written && is_elided(nest, node, graph, layouts));
  }

  // In this order: what the caller passes or takes row by row is cut so, and a recurrence by its rows; a node
  // that sums up an operand, by its operand's rows; else by the rows of what it writes. Only where that
  // streams nothing, by some dimension of the result, if more bytes are streamed by that than lie in the
  // result, which is then there whole.
  Slabs run() const {
    for (TensorId id : {fed_to(node_, graph_), emitted_by(node_, graph_)})
      if (id >= 0) return accesses(*cut_by_dimension(static_cast<size_t>(graph_.by_rows.at(id))));
    if (is_recurrence(node_)) return accesses(*cut_by_storage());
    if (const auto cut = cut_by_operand()) return accesses(*cut);
    const bool in_rows = rows_of(node_.writes[0]).size > 0;
    Slabs best = accesses((in_rows ? cut_by_storage() : std::nullopt).value_or(uncut(nests_)));
    const int64_t least = streamed(best);
    if (in_rows && (least > 0 || !streams(best))) return best;
    // What is written in rows can be read in rows; cut otherwise all of it is there.
    const TensorId out = node_.writes[0];
    const bool is_whole = element_count(shape_of(out)) == element_count(shape_of(layouts_[out].root));
    const bool has_rows = in_rows && best.count > 1 && is_whole && !is_callers(out);
    const int64_t most = std::max(least, has_rows ? bytes_of(graph_.tensors[out]) : 0);
    for (size_t d = 0; d < shape_of(node_.writes[0]).size(); ++d) {
      const auto cut = cut_by_dimension(d);
      if (!cut || cut->slabs < 2) continue;
      Slabs with = accesses(*cut);
      if (streamed(with) > std::max(streamed(best), most)) best = std::move(with);
    }
    return best;
  }

 private:
  const Shape& shape_of(TensorId id) const { return graph_.tensors[id].shape; }
  const Rows& rows_of(TensorId id) const { return rows_[layouts_[id].root]; }

  std::optional<Cut> cut_by_storage() const {
    const TensorId out = node_.writes[0];
    std::vector<Expr> row;
    for (const Nest& nest : nests_)
      row.push_back(row_index(layouts_[out], rows_of(out), shape_of(out), nest.store));
    return cut_rows(nests_, row);
  }

  // A nest that adds to what the ones before it stored can take its operand row by row: a mean over all
  // places.
  //
  //   y[c] = 0;  y[c] += x[t, c]       slab 0 also runs the first nest, slab t adds row t
  std::optional<Cut> cut_by_operand() const {
    if (nests_.size() != 2 || nests_[0].accumulate || !nests_[1].accumulate) return std::nullopt;
    std::optional<Cut> cut;
    visit_reads(nests_[1], [&](const Expr& e) {
      const TensorId id = node_.reads[e->index];
      if (graph_.tensors[id].constant || rows_of(id).size == 0) return;
      const auto found = row_axis(nests_[1], row_index(layouts_[id], rows_of(id), shape_of(id), e->args));
      const bool one = found && found->axis >= 0 && found->factor == 1 && found->first == Interval{0, 1};
      if (one && nests_[1].axes[found->axis].extent <= kMostRows)
        cut = Cut{nests_[1].axes[found->axis].extent, {{-1, 1, 0}, {found->axis, 1, 0}}};
    });
    return cut;
  }

  std::optional<Cut> cut_by_dimension(size_t d) const {
    std::vector<Expr> row;
    for (const Nest& nest : nests_) row.push_back(nest.store[d]);
    return cut_rows(nests_, row);
  }

  // Lies in an input or output of the graph.
  bool is_callers(TensorId id) const {
    return is_input(id) || std::ranges::count(graph_.outputs, layouts_[id].root) > 0;
  }

  // The caller's memory is there whole, by whatever rows it is read.
  bool is_input(TensorId id) const {
    return std::count(graph_.inputs.begin(), graph_.inputs.end(), layouts_[id].root) > 0;
  }
  bool streams(const Slabs& slabs) const {
    return !std::all_of(slabs.reads.begin(), slabs.reads.end(),
                        [&](const RowAccess& read) { return is_input(read.tensor); });
  }

  // Bytes of operands of which the first slab that touches them needs only a part.
  int64_t streamed(const Slabs& slabs) const {
    int64_t bytes = 0;
    for (const RowAccess& read : slabs.reads) {
      if (is_input(read.tensor)) continue;
      const auto first = std::ranges::find_if(read.rows, [](Interval rows) { return rows.begin < rows.end; });
      if (first != read.rows.end() && first->end < rows_of(read.tensor).count)
        bytes += bytes_of(graph_.tensors[read.tensor]);
    }
    return bytes;
  }

  // The rows that each slab touches, of each operand but constants, and of the result. Too many, and the node
  // is one slab.
  Slabs accesses(const Cut& cut) const {
    if (cut.slabs > 1 && cut.slabs > most_accesses_ / (1 + std::ssize(node_.reads))) {
      Slabs whole = accesses(uncut(nests_));
      whole.too_many = true;
      return whole;
    }
    Slabs slabs{cut.slabs, cut.nests, {}, {node_.writes[0], {}}};
    for (TensorId id : node_.reads)
      if (!graph_.tensors[id].constant) slabs.reads.push_back({id, {}});
    const auto make_room = [&](RowAccess& access) {
      access.rows.resize(cut.slabs);
      if (is_callers(access.tensor)) access.elements.resize(cut.slabs);
    };
    std::ranges::for_each(slabs.reads, make_room);
    make_room(slabs.write);
    for (size_t k = 0; k < nests_.size(); ++k)
      for (int64_t t = 0; t < cut.slabs; ++t) touch(k, cut.nests[k], t, slabs);
    for (RowAccess& read : slabs.reads)
      if (read.tensor == node_.writes[0]) leave_rows_before(read, slabs.write);
    return slabs;
  }

  // Of what a recurrence reads of its result: what a slab itself has written is none of what it must find.
  static void leave_rows_before(RowAccess& read, const RowAccess& write) {
    for (size_t t = 0; t < read.rows.size(); ++t)
      read.rows[t].end = std::max(read.rows[t].begin, std::min(read.rows[t].end, write.rows[t].begin));
  }

  // Adds what slab t of nest k touches: the nest's intervals with its axis held to the slab's values. So
  // nothing is assumed of the formula; a table of indices is looked up (facts.h).
  void touch(size_t k, const NestSlabs& part, int64_t t, Slabs& slabs) const {
    const Nest& nest = nests_[k];
    const Interval indices = indices_at(nest, part, t);
    if (indices.begin >= indices.end) return;
    auto axes = axis_intervals(nest);
    if (part.axis >= 0) axes[part.axis] = indices;
    const auto touch_at = [&](RowAccess& access, const std::vector<Expr>& at) {
      const TensorId id = access.tensor;
      const auto touched = [&](const Rows& rows) {
        return rows_touched(layouts_[id], rows, shape_of(id), at, axes, operands_);
      };
      access.rows[t] = hull(access.rows[t], touched(rows_of(id)));
      if (!access.elements.empty()) access.elements[t] = hull(access.elements[t], touched(kElements));
    };
    touch_at(slabs.write, nest.store);
    if (stays_[k]) return;
    visit_reads(nest, [&](const Expr& e) {
      for (RowAccess& read : slabs.reads)
        if (read.tensor == node_.reads[e->index]) touch_at(read, e->args);
    });
  }

  const Node& node_;
  const Nests& nests_;
  const Graph& graph_;
  const std::vector<Layout>& layouts_;
  const std::vector<Rows>& rows_;
  int64_t most_accesses_;
  std::vector<const Tensor*> operands_;
  std::vector<bool> stays_;  // per nest: nobody but the caller reads what it leaves where it is
};

// Per storage, whether it is the caller's and no step reads it but to leave it where it is. Such parts may be
// written in any order, as nobody waits for them.
std::vector<bool> only_written(const Graph& graph, const std::vector<Layout>& layouts) {
  std::vector<bool> all(layouts.size());
  for (TensorId id : whole_outputs(graph)) all[layouts[id].root] = true;
  for (TensorId id : graph.inputs) all[layouts[id].root] = false;
  const auto in_question = [&](TensorId id) { return all[layouts[id].root]; };
  for (const Node& top : graph.block)
    visit_nodes(top, [&](const Node& node) {
      if (std::ranges::none_of(node.reads, in_question)) return;
      const Nests* nests = std::get_if<Nests>(&node.body);
      for (TensorId id : node.reads)
        if (!nests) all[layouts[id].root] = false;
      for (size_t k = 0; nests && k < nests->size(); ++k)
        if (!is_elided((*nests)[k], node, graph, layouts))
          visit_reads((*nests)[k], [&](const Expr& e) { all[layouts[node.reads[e->index]].root] = false; });
    });
  return all;
}

}  // namespace

// The dimension with the largest stride makes the rows, if there are at most kMostRows, and if all tensors in
// the storage have elements of one size and keep to these rows.
std::vector<Rows> storage_rows(const Graph& graph, const std::vector<Layout>& layouts) {
  std::vector<Rows> all(layouts.size());
  for (size_t id = 0; id < layouts.size(); ++id) {
    if (layouts[id].root != static_cast<TensorId>(id)) continue;
    const Shape& shape = graph.tensors[id].shape;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 1 && layouts[id].strides[d] > all[id].size) all[id] = {layouts[id].strides[d], shape[d]};
  }
  for (size_t id = 0; id < layouts.size(); ++id) {
    Rows& rows = all[layouts[id].root];
    const Tensor &t = graph.tensors[id], &root = graph.tensors[layouts[id].root];
    const bool same_unit = size_of(t.type) == size_of(root.type);
    if (rows.size > 0 && (rows.count > kMostRows || !same_unit || !in_rows(layouts[id], rows, t.shape)))
      rows = {};
  }
  const std::vector<bool> written = only_written(graph, layouts);
  for (size_t id = 0; id < all.size(); ++id) all[id].only_written = written[id];
  return all;
}

//   [1, 8, 48, 48] channels-last in itself, rows of 384 elements:      indices {n, c, y, x}  ->  y
Expr row_index(const Layout& layout, const Rows& rows, const Shape& shape, const std::vector<Expr>& indices) {
  Expr sum = integer(layout.offset / rows.size);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && across_rows(layout, rows, d))
      sum = sum + indices[d] * integer(layout.strides[d] / rows.size);
  return sum;
}

Slabs slabs_of(const Node& node, const Graph& graph, const std::vector<Layout>& layouts,
               const std::vector<Rows>& rows, int64_t most_accesses) {
  return Facts(node, graph, layouts, rows, most_accesses).run();
}

bool adds_rows(const Nests& nests, const std::vector<NestSlabs>& parts) {
  for (size_t n = 0; n < nests.size(); ++n)
    if (nests[n].accumulate && parts[n].width > 1) return true;
  return false;
}

// Slab T of the result is slabs [T * strip, (T + 1) * strip). A nest that starts in the middle would need a
// shorter first part, so all must begin at slab 0 and run through; one without an axis is in the strip that
// holds its slab.
//
//   48 slabs by 4: 12, and slab 2 reads the hull of what slabs 8 to 11 read
std::optional<Slabs> in_strips(const Slabs& slabs, const Node& node, int64_t strip) {
  if (strip == 1) return slabs;
  if (slabs.count % strip != 0) return std::nullopt;
  const Nests& nests = std::get<Nests>(node.body);
  Slabs strips{slabs.count / strip, slabs.nests, slabs.reads, slabs.write};
  for (size_t n = 0; n < nests.size(); ++n) {
    NestSlabs& part = strips.nests[n];
    if (part.axis < 0)
      part.begin = -(-part.begin / strip);
    else if (part.begin == 0 && nests[n].axes[part.axis].extent == slabs.count * part.width)
      part.width *= strip;
    else
      return std::nullopt;
  }
  const auto gather = [&](std::vector<Interval>& rows) {
    std::vector<Interval> all(strips.count, {0, 0});
    for (int64_t t = 0; t < slabs.count; ++t) all[t / strip] = hull(all[t / strip], rows[t]);
    rows = std::move(all);
  };
  if (!adds_rows(nests, strips.nests)) strips.columns = slabs.columns;
  const auto gather_both = [&](RowAccess& access) {
    gather(access.rows);
    if (!access.elements.empty()) gather(access.elements);
  };
  std::ranges::for_each(strips.reads, gather_both);
  gather_both(strips.write);
  return strips;
}

// InternalError where the stage was made of other slabs.
Slabs slabs_of_stage(const Stage& stage, const Slabs& slabs, const Node& node) {
  const char* const fault = "a stage with other slabs than its node's";
  ARENAC_CHECK(stage.slabs > 0 && slabs.count % stage.slabs == 0, fault);
  auto strips = in_strips(slabs, node, slabs.count / stage.slabs);
  ARENAC_CHECK(strips && strips->nests == stage.nests, fault);
  return std::move(*strips);
}

// [from the slab at which its axis has index 0, to behind the one with its last index).
Interval active_slabs(const Nest& nest, const NestSlabs& part, int64_t slabs) {
  const int64_t extent = part.axis < 0 ? 1 : nest.axes[part.axis].extent;
  return clipped({(-part.begin) / part.width, (extent - part.begin) / part.width}, slabs);
}

//   out[i1] = f(x[i1]), width 4, begin -8       ->       out[4*t - 8 + i1] = f(x[4*t - 8 + i1]), i1 < 4
Nest slab_nest(const Nest& nest, const NestSlabs& part, int symbol, int64_t slabs) {
  if (part.axis < 0) return nest;
  Nest slab = nest;
  slab.axes[part.axis].extent = part.width;
  const Expr index = iteration(symbol, slabs) * integer(part.width) + integer(part.begin) +
                     (part.width > 1 ? axis(part.axis) : integer(0));
  const auto held = [&](Expr& e) {
    if (e.empty()) return;
    e = substitute(
        e, [&](const Expr& x) { return x->op == Op::kAxis && x->index == part.axis ? index : Expr(); });
  };
  for (Expr& e : slab.store) held(e);
  for (Bound& bound : slab.where) held(bound.index);
  held(slab.body);
  held(slab.finish);
  return slab;
}

}  // namespace arenac
