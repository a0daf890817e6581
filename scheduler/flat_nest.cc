#include "scheduler/flat_nest.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/partial_sums.h"

namespace arenac {
namespace {

// number % slots, of a number from 0 where it can be: C's remainder is that of such. Where it may be
// negative, a multiple of the modulus is added first, which changes no floor modulo:  (t - 1) % 3  ->  (t +
// 2) % 3
Expr slot_of(const Expr& number, int64_t slots, const std::vector<Interval>& axes) {
  const Expr slot = simplify_index(number % integer(slots), axes);
  if (slot->op != Op::kMod || slot->args[1]->op != Op::kConst) return slot;
  const int64_t least = interval(slot->args[0], axes, {}).begin, modulus = slot->args[1]->value.i;
  if (least >= 0 || least < -kMaxElements) return slot;
  return (slot->args[0] + integer(ceil_div(-least, modulus) * modulus)) % integer(modulus);
}

// In a ring: the row's slot, in it the column's, and the place there. Rows [y, y + 1) of 8 columns of 16
// elements, 3 rows kept:
//
//   element (y, x, c)  ->  128 * (y % 3) + 16 * x + c
Expr ring_index(const Layout& layout, const std::vector<Expr>& indices, const std::vector<Interval>& axes) {
  const Ring& ring = layout.ring;
  const bool columns = ring.columns > 0;
  const int64_t unit = columns ? ring.column : ring.row;
  Expr row = integer(layout.offset / ring.row), column = integer(layout.offset % ring.row / unit),
       within = integer(layout.offset % unit);
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t stride = layout.strides[d];
    const Expr index = simplify_index(indices[d], axes);
    if (is_constant(index, 0)) continue;
    if (std::abs(stride) >= ring.row)
      row = row + index * integer(stride / ring.row);
    else if (std::abs(stride) >= unit)
      column = column + index * integer(stride / unit);
    else
      within = within + index * integer(stride);
  }
  const Expr slot = slot_of(row, ring.kept, axes) * integer(columns ? ring.columns * unit : unit);
  return columns ? within + slot + slot_of(column, ring.columns, axes) * integer(unit) : within + slot;
}

// sum(stride * index), as an affine form of the axes if it is one: then it has no divisions left, and its
// coefficients tell whether loops can be joined. Axes of extent 1 do not occur in it.
Expr flat_index(const Layout& layout, const std::vector<Expr>& indices, const std::vector<Interval>& axes) {
  if (layout.ring.kept > 0) return ring_index(layout, indices, axes);
  if (const auto form = affine_address(indices, layout.strides, axes)) {
    Expr sum = integer(form->constant);
    for (const auto& [a, factor] : form->terms) {
      // Negative axes are iterations, whose trip count only the original expression knows.
      if (a < 0) {
        Expr direct = integer(0);
        for (size_t d = 0; d < indices.size(); ++d) direct = direct + indices[d] * integer(layout.strides[d]);
        return direct;
      }
      if (axes[a].end > 1) sum = sum + axis(a) * integer(factor);
    }
    return sum;
  }
  Expr sum = integer(0);
  for (size_t d = 0; d < indices.size(); ++d)
    sum = sum + simplify_index(indices[d], axes) * integer(layout.strides[d]);
  return sum;
}

// Indices may read themselves (a Gather), so they are made flat first. The read is built as a tree, as read()
// would widen it once more.
Expr flat_expr(const Expr& e, const Node& node, const std::vector<Layout>& layouts,
               const std::vector<Interval>& axes) {
  if (e.empty()) return e;
  return substitute(e, [&](const Expr& inner) -> Expr {
    if (inner->op != Op::kRead) return {};
    const Layout& layout = layouts[node.reads[inner->index]];
    std::vector<Expr> indices;
    for (const Expr& index : inner->args) indices.push_back(flat_expr(index, node, layouts, axes));
    return Expr(std::make_shared<const Expr::Tree>(
        Expr::Tree{Op::kRead, inner->type, {flat_index(layout, indices, axes)}, {}, inner->index}));
  });
}

// Calls `visit` with the address of every access of the nest, and with every other expression that names an
// axis.
template <typename Visit>
void visit_indices(const FlatNest& nest, const Visit& visit) {
  visit(nest.store);
  const auto walk = [&](const Expr& root) {
    if (root.empty()) return;
    any_of(root, [&](const Expr& e) {
      if (e->op == Op::kRead) visit(e->args[0]);
      return false;
    });
  };
  walk(nest.body);
  walk(nest.finish);
}

// An axis named outside affine addresses cannot be joined with another: in a bound, in a value, or within a
// division.
bool joinable(const FlatNest& nest, int a) {
  for (const Bound& bound : nest.where)
    if (names_axis(bound.index, a)) return false;
  bool free = true;
  const auto outside_reads = [&](const Expr& root) {
    if (root.empty()) return;
    substitute(root, [&](const Expr& e) -> Expr {
      if (e->op == Op::kRead) return e;
      if (e->op == Op::kAxis && e->index == a) free = false;
      return {};
    });
  };
  outside_reads(nest.body);
  outside_reads(nest.finish);
  visit_indices(nest, [&](const Expr& index) {
    if (!coefficient_along(index, a)) free = false;
  });
  return free;
}

// Whether walking `inner` to its end and stepping `outer` once moves every address alike: in each of them the
// factor of `outer` is that of `inner` times its extent. 0 and 0 will do: what stands still does so for both.
//
//   x[16*i0 + i1], i1 < 16: seamless          x[20*i0 + i1], i1 < 16: 4 elements lie between
bool seamless(const FlatNest& nest, int outer, int inner) {
  bool fits = true;
  visit_indices(nest, [&](const Expr& index) {
    fits &= *coefficient_along(index, outer) == *coefficient_along(index, inner) * nest.axes[inner].extent;
  });
  return fits;
}

Expr without_axis(const Expr& e, int a) {
  if (e.empty()) return e;
  return substitute(e, [&](const Expr& x) -> Expr {
    if (x->op == Op::kAxis && x->index == a) return integer(0);
    return {};
  });
}

// Whether the parts of a sum follow from the reduced axes. These are then not joined, whatever the layouts:
// the parts are the same in each.
bool sums_long(const FlatNest& nest) {
  return !nest.accumulate && sums_in_parts(nest.combine, nest.body->type) && terms_of(nest) > kLongSum;
}

// Sums of floats over columns that lie side by side go by rows (loops.cc), which are then no seamless walk.
bool sums_columns(const FlatNest& nest, const Node& node, const std::vector<Layout>& layouts) {
  return !nest.accumulate && sums_in_parts(nest.combine, nest.body->type) &&
         std::ranges::any_of(node.reads, [&](TensorId id) { return lies_by_columns(layouts[id]); });
}

// Until no two axes can be joined. The outer one becomes 0, the inner one runs over both; `walks` remembers
// of what, so that the map of loops can still name them.
void join_axes(FlatNest& nest, bool keeps_reduced) {
  const int n = static_cast<int>(nest.axes.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (int outer = 0; outer < n; ++outer)
      for (int inner = 0; inner < n; ++inner) {
        if (outer == inner || nest.axes[outer].reduced != nest.axes[inner].reduced) continue;
        if (nest.axes[outer].reduced && keeps_reduced) continue;
        if (nest.axes[outer].extent <= 1 || nest.axes[inner].extent <= 1) continue;
        if (!joinable(nest, outer) || !joinable(nest, inner) || !seamless(nest, outer, inner)) continue;
        nest.axes[inner].extent *= nest.axes[outer].extent;
        nest.axes[outer].extent = 1;
        nest.walks[inner].insert(nest.walks[inner].begin(), nest.walks[outer].begin(),
                                 nest.walks[outer].end());
        nest.walks[outer].clear();
        nest.store = without_axis(nest.store, outer);
        nest.body = without_axis(nest.body, outer);
        nest.finish = without_axis(nest.finish, outer);
        changed = true;
      }
  }
}

// Whether no two points of the axes that the store names are stored in the same place: sorted by their
// factors, each axis steps over all that the smaller ones reach.
//
//   12*i0 + 4*i1 + i2, i1 < 3, i2 < 4:  1 > 0, 4 > 3, 12 > 3 + 8       apart
//    8*i0 + 4*i1 + i2:                  8 > 3 + 8 fails                perhaps not
bool stores_apart(const FlatNest& nest) {
  const auto form = affine_form(nest.store);
  if (!form) return false;
  std::vector<std::pair<int64_t, int64_t>> paces;  // of each axis, and how far it goes
  for (const auto& [a, factor] : form->terms)
    if (a >= 0) paces.emplace_back(std::abs(factor), std::abs(factor) * (nest.axes[a].extent - 1));
  std::ranges::sort(paces);
  int64_t span = 0;
  for (const auto& [pace, length] : paces) {
    if (pace <= span) return false;
    span += length;
  }
  return true;
}

// Reduces what accumulates over the axes that its store does not name: their terms may be summed in a
// register and be added to memory at once.
void reduce_sums(FlatNest& nest) {
  if (!nest.accumulate || !nest.where.empty() || !stores_apart(nest)) return;
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    nest.axes[a].reduced = !names_axis(nest.store, a);
}

// The axis and the number by which all that takes quotients or remainders of an axis divides it, evenly. An
// axis that is divided by two numbers, or only divided and never taken the remainder of, stays.
std::optional<std::pair<int, int64_t>> taken_apart(const Nest& nest) {
  std::map<int, std::set<int64_t>> divisors;
  std::set<int> with_remainder;
  any_of(nest.body, [&](const Expr& e) {
    const bool divides = e->op == Op::kDiv || e->op == Op::kMod;
    if (!divides || e->args[0]->op != Op::kAxis || e->args[1]->op != Op::kConst) return false;
    divisors[e->args[0]->index].insert(e->args[1]->value.i);
    if (e->op == Op::kMod) with_remainder.insert(e->args[0]->index);
    return false;
  });
  for (const int a : with_remainder) {
    if (a < 0 || nest.axes[a].reduced || divisors[a].size() > 1) continue;
    const int64_t by = *divisors[a].begin();
    if (1 < by && by < nest.axes[a].extent && nest.axes[a].extent % by == 0) return std::pair(a, by);
  }
  return std::nullopt;
}

// Loops over the quotients and remainders of axes instead of divisions: out[i] = x[i / 2, i % 2] becomes
// out[2 * i + j] = x[i, j]. The remainders' axes are behind the nest's. `divided`: see FlatNest.
Nest split(Nest nest, std::vector<int>& divided) {
  divided.assign(nest.axes.size(), -1);
  if (nest.combine != Combine::kNone) return nest;
  while (const auto found = taken_apart(nest)) {
    const auto [a, by] = *found;
    const Expr whole = axis(a) * integer(by) + axis(static_cast<int>(nest.axes.size()));
    nest.axes[a].extent /= by;
    nest.axes.push_back({by, false});
    divided.push_back(a);
    nest = with_substituted(
        std::move(nest), [&](const Expr& x) { return x->op == Op::kAxis && x->index == a ? whole : Expr(); });
  }
  return nest;
}

}  // namespace

// In this order: divisions become loops, indices become addresses, sums into memory become sums in registers,
// axes are joined, and axes of one point vanish from all expressions.
FlatNest flat_nest(const Nest& given, const Node& node, const std::vector<Layout>& layouts) {
  std::vector<int> divided;
  const Nest nest = split(given, divided);
  const auto axes = axis_intervals(nest);
  FlatNest flat{nest.axes, nest.combine, nest.accumulate, nest.where, {}, {}, {}, {}, std::move(divided), {}};
  for (TensorId id : node.reads) flat.words.push_back(layouts[id].words);
  for (int a = 0; a < static_cast<int>(flat.axes.size()); ++a)
    flat.walks.push_back(flat.axes[a].extent != 1 ? std::vector<int>{a} : std::vector<int>{});
  for (Bound& bound : flat.where) bound.index = flat_expr(bound.index, node, layouts, axes);
  std::vector<Expr> store;
  for (const Expr& index : nest.store) store.push_back(flat_expr(index, node, layouts, axes));
  flat.store = flat_index(layouts[node.writes[0]], store, axes);
  flat.body = flat_expr(nest.body, node, layouts, axes);
  flat.finish = flat_expr(nest.finish, node, layouts, axes);
  reduce_sums(flat);
  join_axes(flat, sums_long(flat) || sums_columns(flat, node, layouts));
  for (int a = 0; a < static_cast<int>(flat.axes.size()); ++a) {
    if (flat.axes[a].extent != 1) continue;
    for (Bound& bound : flat.where) bound.index = without_axis(bound.index, a);
    flat.store = without_axis(flat.store, a);
    flat.body = without_axis(flat.body, a);
    flat.finish = without_axis(flat.finish, a);
  }
  return flat;
}

bool has_sums(const FlatNest& nest) {
  return nest.combine != Combine::kNone &&
         (!nest.accumulate ||
          std::ranges::any_of(nest.axes, [](const Axis& a) { return a.reduced && a.extent > 1; }));
}

bool widens_read(const Expr& e) {
  return e->op == Op::kCast && size_of(e->type) != size_of(e->args[0]->type) && !reads_of(e).empty();
}

bool widens(const FlatNest& nest, int vector_axis) {
  return vector_axis >= 0 &&
         any_of(nest.body, [&](const Expr& e) { return widens_read(e) && names_axis(e, vector_axis); });
}

std::vector<const Expr*> reads_of(const Expr& body) {
  std::vector<const Expr*> all;
  if (!body.empty())
    any_of(body, [&](const Expr& e) {
      if (e->op == Op::kRead) all.push_back(&e);
      return false;
    });
  return all;
}

int64_t terms_of(const FlatNest& nest) {
  int64_t terms = 1;
  for (const Axis& a : nest.axes)
    if (a.reduced && __builtin_mul_overflow(terms, a.extent, &terms)) return INT64_MAX;
  return terms;
}

int innermost_reduced(const FlatNest& nest, const std::vector<int>& order) {
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    if (nest.axes[*at].reduced && nest.axes[*at].extent > 1) return *at;
  return -1;
}

}  // namespace arenac
