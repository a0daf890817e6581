#include "scheduler/loops.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "frontend/error.h"
#include "frontend/partial_sums.h"

namespace arenac {
namespace {

// number % slots, of a number from 0 where it can be: C's remainder is that of such.
Expr slot_of(const Expr& number, int64_t slots, const std::vector<Interval>& axes) {
  const Expr slot = simplify_index(number % integer(slots), axes);
  if (slot->op != Op::kMod || slot->args[1]->op != Op::kConst) return slot;
  const int64_t least = interval(slot->args[0], axes, {}).begin, modulus = slot->args[1]->value.i;
  if (least >= 0 || least < -kMaxElements) return slot;
  return (slot->args[0] + integer(ceil_div(-least, modulus) * modulus)) % integer(modulus);
}

// In a ring: the row's slot, in it the column's, and the place there.
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

// An axis named outside affine addresses cannot be joined with another.
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

// Whether walking `inner` to its end and stepping `outer` once moves every address alike.
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

// Of each sum.
int64_t terms_of(const FlatNest& nest) {
  int64_t terms = 1;
  for (const Axis& a : nest.axes)
    if (a.reduced && __builtin_mul_overflow(terms, a.extent, &terms)) return INT64_MAX;
  return terms;
}

// Whether the parts of a sum follow from the reduced axes. These are then not joined, whatever the layouts:
// the parts are the same in each.
bool sums_long(const FlatNest& nest) {
  return !nest.accumulate && sums_in_parts(nest.combine, nest.body->type) && terms_of(nest) > kLongSum;
}

void join_axes(FlatNest& nest) {
  const int n = static_cast<int>(nest.axes.size());
  const bool keeps_reduced = sums_long(nest);
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

std::vector<const Expr*> reads_of(const Expr& body) {
  std::vector<const Expr*> all;
  if (!body.empty())
    any_of(body, [&](const Expr& e) {
      if (e->op == Op::kRead) all.push_back(&e);
      return false;
    });
  return all;
}

// The address as if every row of a ring were in memory.
Expr unwound(const Expr& index) {
  return substitute(index, [](const Expr& e) { return e->op == Op::kMod ? e->args[0] : Expr(); });
}

// Lanes of sums of what was widened: gcc keeps those of more than one 256-bit vector in memory.
constexpr int kWidenedLanes = 8;

// The widest block, a power of two, that spends at most a third more lanes than there are elements, one of
// more than 8 (which takes a processor longer) a quarter more: 12 elements are two blocks of 8, 24 three.
int lanes_for(int64_t extent, int most) {
  for (int lanes = most; lanes >= 4; lanes /= 2) {
    const int64_t part = lanes > 8 ? 4 : 3;
    if (lanes <= extent && ceil_div(extent, lanes) * lanes * part <= extent * (part + 1)) return lanes;
  }
  return static_cast<int>(std::min<int64_t>(extent, most));
}

// Of the widths up to `most` that of the least work: the last tile computes some pixels twice, and every tile
// reads the weights.
int tile_for(int64_t extent, int most) {
  const auto work = [&](int64_t tile) { return (extent + tile - 1) / tile * (tile + 1); };
  int64_t best = std::min<int64_t>(extent, most);
  for (int64_t tile = best - 1; 2 * tile > most; --tile)
    if (work(tile) < work(best)) best = tile;
  return static_cast<int>(best);
}

// Among the axes along which some operand stays in place, rather one that moves along the vector axis, the
// innermost of those that fill a tile; else the longest; -1: none.
int tile_axis(const FlatNest& nest, int vector_axis, int tile) {
  const auto reads = reads_of(nest.body);
  int best = -1;
  const auto stays = [&](const Expr* read, int a) { return coefficient_along((*read)->args[0], a) == 0; };
  const auto some_stays = [&](int a) {
    return std::ranges::any_of(reads, [&](const Expr* read) { return stays(read, a); });
  };
  const auto lanes_stay = [&](int a) {
    return std::ranges::any_of(reads,
                               [&](const Expr* read) { return stays(read, a) && !stays(read, vector_axis); });
  };
  const auto fills = [&](int a) {
    return vector_axis < 0 || lanes_stay(a) ? std::min<int64_t>(nest.axes[a].extent, tile) : 1;
  };
  const auto stride = [&](int a) { return std::abs(coefficient_along(nest.store, a).value_or(INT64_MAX)); };
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a) {
    if (nest.axes[a].reduced || a == vector_axis || nest.axes[a].extent < 2 || !some_stays(a)) continue;
    if (best < 0 || fills(a) > fills(best) || (fills(a) == fills(best) && stride(a) < stride(best))) best = a;
  }
  return best;
}

// Whether no two points of the axes that the store names are stored in the same place.
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

// Reduces what accumulates over the axes that its store does not name.
void reduce_sums(FlatNest& nest) {
  if (!nest.accumulate || !nest.where.empty() || !stores_apart(nest)) return;
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    nest.axes[a].reduced = !names_axis(nest.store, a);
}

// The axis and the number by which all that takes quotients or remainders of an axis divides it, evenly.
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
  join_axes(flat);
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

namespace {

std::optional<ByteFactor> byte_factor(const Expr& e) {
  if (e->op == Op::kAdd || e->op == Op::kSub) {
    if (e->args[1]->op != Op::kConst || std::abs(e->args[1]->value.i) > 255) return std::nullopt;
    auto factor = byte_factor(e->args[0]);
    if (!factor || factor->zero != 0) return std::nullopt;
    factor->zero = e->op == Op::kAdd ? e->args[1]->value.i : -e->args[1]->value.i;
    return factor;
  }
  if (e->op != Op::kCast || e->type != Type::kInt32 || e->args[0]->op != Op::kRead) return std::nullopt;
  if (e->args[0]->type != Type::kInt8 && e->args[0]->type != Type::kUint8) return std::nullopt;
  return ByteFactor{e->args[0], 0};
}

}  // namespace

std::optional<std::array<ByteFactor, 2>> byte_factors(const Expr& body) {
  if (body->op != Op::kMul || body->type != Type::kInt32) return std::nullopt;
  const auto a = byte_factor(body->args[0]), b = byte_factor(body->args[1]);
  if (!a || !b) return std::nullopt;
  return std::array{*a, *b};
}

int innermost_reduced(const FlatNest& nest, const std::vector<int>& order) {
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    if (nest.axes[*at].reduced && nest.axes[*at].extent > 1) return *at;
  return -1;
}

constexpr int64_t kMostApart = 65535 / 7;  // of 8 bytes at 16-bit offsets

bool walks_bytes(const FlatNest& nest, int a, const std::function<bool(const Expr&)>& any_layout) {
  const auto factors = byte_factors(nest.body);
  if (a < 0 || nest.axes[a].extent < kBytes || !factors || nest.combine != Combine::kSum) return false;
  return std::all_of(factors->begin(), factors->end(), [&](const ByteFactor& factor) {
    const auto stride = coefficient_along(factor.read->args[0], a);
    return stride == 1 || (any_layout(factor.read) && stride.value_or(0) != 0);
  });
}

bool walks_bytes_in_vectors(const FlatNest& nest, int a, const std::function<bool(const Expr&)>& any_layout) {
  if (walks_bytes(nest, a, any_layout)) return true;
  const auto factors = byte_factors(nest.body);
  if (a < 0 || nest.axes[a].extent < kBytes || !factors || nest.combine != Combine::kSum) return false;
  for (const Bound& bound : nest.where)
    if (names_axis(bound.index, a)) return false;
  const auto stride = [&](const ByteFactor& factor) { return coefficient_along(factor.read->args[0], a); };
  const auto fit = [&](const ByteFactor& apart, const ByteFactor& near) {
    const int64_t distance = stride(apart).value_or(0);
    return distance > 0 && distance <= kMostApart && !any_layout(apart.read) && fits_int8(near) &&
           (stride(near) == 1 || (any_layout(near.read) && stride(near).value_or(0) != 0));
  };
  return fit((*factors)[0], (*factors)[1]) || fit((*factors)[1], (*factors)[0]);
}

bool walks_bytes_of_pixels(const FlatNest& nest, const LoopPlan& plan,
                           const std::function<bool(const Expr&)>& any_layout) {
  const int a = innermost_reduced(nest, plan.order), p = plan.tile_axis, v = plan.vector_axis;
  const auto factors = byte_factors(nest.body);
  if (a < 0 || p < 0 || v < 0 || p == v || !factors || nest.combine != Combine::kSum) return false;
  if (nest.axes[a].extent < kBytes || nest.axes[p].extent < kBytes) return false;
  for (const Bound& bound : nest.where)
    if (names_axis(bound.index, a) || names_axis(bound.index, v)) return false;
  const auto stride = [](const ByteFactor& factor, int axis) {
    return coefficient_along(factor.read->args[0], axis);
  };
  const auto fit = [&](const ByteFactor& pixels, const ByteFactor& lanes) {
    return stride(pixels, p) == 1 && stride(pixels, v) == 0 && stride(pixels, a).has_value() &&
           stride(lanes, p) == 0 && (stride(lanes, a) == 1 || any_layout(lanes.read));
  };
  return fit((*factors)[0], (*factors)[1]) || fit((*factors)[1], (*factors)[0]);
}

bool fits_int8(const ByteFactor& factor) {
  return factor.zero == (factor.read->type == Type::kInt8 ? 0 : -128);
}

bool walks_bytes_of_lanes(const FlatNest& nest, const LoopPlan& plan,
                          const std::function<bool(const Expr&)>& any_layout) {
  const int a = innermost_reduced(nest, plan.order), v = plan.vector_axis;
  const auto factors = byte_factors(nest.body);
  if (a < 0 || v < 0 || !factors || nest.combine != Combine::kSum || nest.axes[a].extent < kBytes)
    return false;
  for (const Bound& bound : nest.where)
    if (names_axis(bound.index, a) || names_axis(bound.index, v)) return false;
  const auto stride = [](const ByteFactor& factor, int axis) {
    return coefficient_along(factor.read->args[0], axis);
  };
  const auto fit = [&](const ByteFactor& pixels, const ByteFactor& lanes) {
    return stride(pixels, a) == 1 && stride(pixels, v) == 0 && fits_int8(lanes) &&
           stride(lanes, a).value_or(0) != 0 && (stride(lanes, v) == 1 || any_layout(lanes.read));
  };
  return fit((*factors)[0], (*factors)[1]) || fit((*factors)[1], (*factors)[0]);
}

namespace {

// Kept axes: the rest, then the vector blocks, then the tiles.
void order_kept(const FlatNest& nest, LoopPlan& plan) {
  std::stable_sort(plan.order.begin(), plan.order.end(), [&](int a, int b) {
    const auto rank = [&](int x) {
      return nest.axes[x].reduced ? 3 : x == plan.tile_axis ? 2 : x == plan.vector_axis ? 1 : 0;
    };
    return rank(a) < rank(b);
  });
}

// The plan of sums of bytes of pixels (ByteProducts), or of nothing where the nest is not such.
std::optional<LoopPlan> of_pixels(const FlatNest& nest, LoopPlan plan, const Target& target,
                                  const std::function<bool(const Expr&)>& constant) {
  if (target.byte_lanes == 0 || !byte_factors(nest.body)) return std::nullopt;
  const int axes = static_cast<int>(nest.axes.size());
  plan.bytes = ByteProducts::kAlongSumOfPixels;
  plan.lanes = target.byte_lanes, plan.tile = kBytes;
  const std::vector<int> order = plan.order;
  for (int a = 0; a < axes; ++a) {
    if (!nest.axes[a].reduced || nest.axes[a].extent < kBytes) continue;
    plan.order = order;
    std::erase(plan.order, a);
    plan.order.push_back(a);
    for (int v = 0; v < axes; ++v)
      for (int p = 0; p < axes; ++p) {
        if (nest.axes[v].reduced || nest.axes[p].reduced || nest.axes[v].extent < plan.lanes) continue;
        plan.vector_axis = v, plan.tile_axis = p;
        if (!walks_bytes_of_pixels(nest, plan, constant)) continue;
        order_kept(nest, plan);
        return plan;
      }
  }
  return std::nullopt;
}

// The order in which the longest of the reduced axes that fills vectors is innermost; else empty.
std::vector<int> order_of_vectors(const FlatNest& nest, std::vector<int> order,
                                  const std::function<bool(const Expr&)>& constant) {
  int longest = -1;
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a)
    if (nest.axes[a].reduced && walks_bytes_in_vectors(nest, a, constant) &&
        (longest < 0 || nest.axes[a].extent > nest.axes[longest].extent))
      longest = a;
  if (longest < 0) return {};
  std::erase(order, longest);
  order.push_back(longest);
  return order;
}

// Of sums of floats that no vector takes: additions wait for each other, those of several sums do not.
constexpr int kSumsAtOnce = 8;

// Whether it is of floats along rows: of all that it reads, elements that lie side by side.
bool sums_rows(const FlatNest& nest, const std::vector<int>& order) {
  const int inner = innermost_reduced(nest, order);
  if (inner < 0 || !nest.where.empty()) return false;
  const auto reads = reads_of(nest.body);
  return std::ranges::all_of(
      reads, [&](const Expr* read) { return coefficient_along((*read)->args[0], inner) == 1; });
}

// Else the tile axis, where sums and their terms are many; -1: none.
int axis_of_many_sums(const FlatNest& nest) {
  constexpr int64_t kManyTerms = 64, kMany = 2 * kSumsAtOnce;
  const int a = terms_of(nest) < kManyTerms ? -1 : tile_axis(nest, -1, kSumsAtOnce);
  return a >= 0 && nest.axes[a].extent >= kMany ? a : -1;
}

// The innermost of the kept axes in that order; -1: none.
int innermost_kept(const FlatNest& nest, const std::vector<int>& order) {
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    if (!nest.axes[*at].reduced && nest.axes[*at].extent > 1) return *at;
  return -1;
}

// Whether vectors find the least or greatest of what lies side by side along the innermost reduced axis.
bool compares_lanes(const FlatNest& nest, int inner, const Target& target) {
  const bool is_extremum = nest.combine == Combine::kMin || nest.combine == Combine::kMax;
  if (target.registers != Registers::kVector || !is_extremum || nest.accumulate || !nest.where.empty() ||
      inner < 0 || nest.axes[inner].extent < 2 * target.lanes)
    return false;
  const auto reads = reads_of(nest.body);
  return std::ranges::all_of(reads, [&](const Expr* read) {
    const auto pace = coefficient_along((*read)->args[0], inner);
    return pace == 0 || pace == 1;
  });
}

// Whether a constant in blocks of lanes (weight_blocks.h) has another block for each value of the axis.
bool chooses_block(const FlatNest& nest, const Expr& read, int a, int lanes) {
  if (!names_axis(read, a)) return false;
  for (int b = 0; b < static_cast<int>(nest.axes.size()); ++b)
    if (b != a && !nest.axes[b].reduced && nest.axes[b].extent == lanes &&
        coefficient_along(read->args[0], b) == 1)
      return true;
  return false;
}

// What is known of what a nest reads.
struct OperandFacts {
  std::function<bool(const Expr&)> constant;
  std::vector<int64_t> rooms;  // rooms_of
};

// Per axis how many elements of the body's operands there are along it: as many as it has, or where only
// constants move along it, as these have (weight_blocks.h).
std::vector<int64_t> rooms_of(const FlatNest& flat, const Nest& nest, const Node& node, const Graph& graph) {
  std::vector<int64_t> rooms;
  for (size_t a = 0; a < flat.axes.size(); ++a) {
    const int64_t extent = flat.axes[a].extent;
    int64_t room = flat.walks[a].size() == 1 ? INT64_MAX : extent;
    any_of(nest.body, [&](const Expr& e) {
      if (room <= extent || e->op != Op::kRead || !names_axis(e, flat.walks[a].front())) return false;
      const Tensor& tensor = graph.tensors[node.reads[e->index]];
      const auto d = dimension_along(e->args, flat.walks[a].front());
      room = tensor.constant && d ? std::min(room, tensor.shape[*d]) : extent;
      return false;
    });
    rooms.push_back(room == INT64_MAX ? extent : std::max(room, extent));
  }
  return rooms;
}

// The vector axis, the tile axis and their widths, as plan.bytes wants them.
LoopPlan with_blocks(const FlatNest& flat, LoopPlan plan, const Target& target,
                     const OperandFacts& operands) {
  const auto& constant = operands.constant;
  const bool along = is_along_sum(plan.bytes);
  const int most_lanes = along ? target.byte_lanes : target.lanes;
  const int most_pixels = along                       ? target.byte_tile
                          : is_float(flat.body->type) ? target.float_tile
                                                      : target.tile;

  // The vector axis: every streamed read has stride 0 or 1 along it, no bound depends on it, and the result
  // likes it.
  int64_t best = 0;
  for (int a = 0; a < static_cast<int>(flat.axes.size()); ++a) {
    const Axis& axis = flat.axes[a];
    if (axis.reduced || axis.extent < 2) continue;
    bool serves = true;
    for (const Bound& bound : flat.where) serves &= !names_axis(bound.index, a);
    for (const Expr* read : reads_of(flat.body)) {
      const auto stride = coefficient_along((*read)->args[0], a);
      serves &= stride && (constant(*read) || *stride == 0 || *stride == 1);
      if (constant(*read) && chooses_block(flat, *read, a, most_lanes)) serves = false;
    }
    const auto out = coefficient_along(flat.store, a);
    if (!serves || !out) continue;
    const int64_t score = std::min<int64_t>(axis.extent, 4 * most_lanes) * (*out == 1 ? 4 : 1);
    if (score > best) best = score, plan.vector_axis = a;
  }
  if (plan.vector_axis >= 0) {
    const int lanes =
        widens(flat, plan.vector_axis) && !along ? std::min(most_lanes, kWidenedLanes) : most_lanes;
    const int64_t extent = flat.axes[plan.vector_axis].extent,
                  room = operands.rooms[static_cast<size_t>(plan.vector_axis)];
    const bool fills = is_float(flat.body->type) && extent < room && room <= lanes;
    plan.lanes = fills ? static_cast<int>(room) : lanes_for(extent, lanes);
    const bool scalars = target.byte_lanes > 0 && plan.registers == Registers::kScalar;
    if (scalars && plan.lanes == kBytes && walks_bytes(flat, plan.vector_axis, constant))
      plan.bytes = ByteProducts::kAcrossLanes,
      plan.registers =
          target.along_sum == ByteProducts::kAlongSumOfVectors ? Registers::kVector : plan.registers;
    // Narrow blocks leave room for more of them. Scalars of which each is multiplied once per pixel gain
    // little by several of these: it is much code for a load.
    const std::vector<const Expr*> reads = reads_of(flat.body);
    const bool apart = plan.registers == Registers::kScalar &&
                       std::all_of(reads.begin(), reads.end(), [&](const Expr* read) {
                         return coefficient_along((*read)->args[0], plan.vector_axis).value_or(1) != 0;
                       });
    const int tile = apart ? 1 : most_pixels * std::min(2, lanes / plan.lanes);
    plan.tile_axis = tile_axis(flat, plan.vector_axis, tile);
    const int64_t blocks = flat.axes[plan.vector_axis].extent / plan.lanes;
    if (plan.tile_axis >= 0) {
      plan.tile = tile_for(flat.axes[plan.tile_axis].extent, tile);
    } else if (blocks > 1) {
      plan.tile_axis = plan.vector_axis;
      const bool many = !along && plan.registers == Registers::kVector;
      plan.tile = static_cast<int>(std::min<int64_t>(blocks, many ? 4 : most_pixels));
    }
  }
  // Without a vector axis scalars can still share what stays in place, and sums of floats wait for each
  // other.
  if (plan.vector_axis < 0 && plan.registers == Registers::kScalar) {
    plan.tile_axis = tile_axis(flat, -1, target.lanes);
    if (plan.tile_axis >= 0) plan.tile = tile_for(flat.axes[plan.tile_axis].extent, target.lanes);
  }
  if (plan.vector_axis < 0 && plan.registers == Registers::kVector && is_float(flat.body->type)) {
    plan.tile_axis = sums_rows(flat, plan.order) ? innermost_kept(flat, plan.order) : axis_of_many_sums(flat);
    if (plan.tile_axis >= 0) plan.tile = tile_for(flat.axes[plan.tile_axis].extent, kSumsAtOnce);
  }
  order_kept(flat, plan);
  return plan;
}

// How far a read moves along an axis of the flat nest in the caller's row-major tensor.
int64_t pace_of_caller(const Nest& nest, const FlatNest& flat, int operand, const Shape& shape, int a) {
  if (flat.walks[static_cast<size_t>(a)].empty()) return 0;
  const int axis = flat.walks[static_cast<size_t>(a)].front();
  const std::vector<int64_t> strides = row_major_strides(shape);
  int64_t pace = 0;
  visit_reads(nest, [&](const Expr& read) {
    if (read->index != operand || pace != 0) return;
    for (size_t d = 0; d < shape.size(); ++d)
      pace += strides[d] * coefficient_along(read->args[d], axis).value_or(0);
  });
  return std::abs(pace);
}

// The plan in which a constant that the cache does not hold is read once: the loops that choose its blocks
// are outside of those that it stays in place for, where reading the rest for each block is less.
LoopPlan with_weights_outside(const FlatNest& flat, LoopPlan plan, const Node& node, const Graph& graph,
                              const Target& target) {
  if (plan.vector_axis < 0) return plan;
  const Expr* weights = nullptr;
  int64_t others = 0;  // bytes
  for (const Expr* read : reads_of(flat.body)) {
    const Tensor& tensor = graph.tensors[node.reads[(*read)->index]];
    if (tensor.constant && names_axis(*read, plan.vector_axis))
      weights = read;
    else
      others += bytes_of(tensor);
  }
  if (!weights) return plan;
  const auto behind = std::ranges::find_if(plan.order, [&](int a) {
    return flat.axes[a].reduced || a == plan.vector_axis || a == plan.tile_axis;
  });
  const auto chooses = [&](int a) { return names_axis(*weights, a); };
  int64_t blocks = 1, times = 1;
  for (auto a = plan.order.begin(); a != behind; ++a) (chooses(*a) ? blocks : times) *= flat.axes[*a].extent;
  const int64_t bytes = bytes_of(graph.tensors[node.reads[(*weights)->index]]);
  if (bytes > target.costs.cache && bytes * (times - 1) > others * (blocks - 1))
    std::stable_partition(plan.order.begin(), behind, chooses);
  return plan;
}

// The loops, in whatever order costs least but for what caches hold.
LoopPlan walk_of(const FlatNest& flat, const Nest& nest, const Node& node, const Graph& graph,
                 const Target& target) {
  LoopPlan plan;
  plan.registers = target.registers;
  if (target.registers == Registers::kScalar && target.costs.divide > target.costs.call)
    plan.division = Division::kCall;
  plan.order.resize(flat.axes.size());
  std::iota(plan.order.begin(), plan.order.end(), 0);
  const auto reads = reads_of(flat.body);
  const auto constant = [&](const Expr& read) {
    return graph.tensors[node.reads[read->index]].constant != nullptr;
  };

  // Outputs in the order of the result's memory; reduced axes in the order of the largest streamed operand's.
  const Expr* streamed = nullptr;
  int64_t largest = -1;
  for (const Expr* read : reads) {
    const int64_t size = element_count(graph.tensors[node.reads[(*read)->index]].shape);
    if (!constant(*read) && size > largest) streamed = read, largest = size;
  }
  // Where rows come one by one, sums of floats add in the order in which they do where all are there.
  const int fed = streamed && is_float(flat.body->type) && is_fed(graph, node.reads[(*streamed)->index])
                      ? (*streamed)->index
                      : -1;
  const auto key = [&](int a) {
    if (fed >= 0 && flat.axes[a].reduced)
      return pace_of_caller(nest, flat, fed, graph.tensors[node.reads[fed]].shape, a);
    const Expr& index =
        (flat.axes[a].reduced || flat.accumulate) && streamed ? (*streamed)->args[0] : flat.store;
    return std::abs(coefficient_along(unwound(index), a).value_or(0));
  };
  std::stable_sort(plan.order.begin(), plan.order.end(), [&](int a, int b) {
    if (flat.axes[a].reduced != flat.axes[b].reduced) return flat.axes[b].reduced;
    return key(a) > key(b);
  });
  if (!has_sums(flat)) return plan;
  const int inner = innermost_reduced(flat, plan.order);
  if (compares_lanes(flat, inner, target)) {
    plan.vector_axis = inner, plan.lanes = target.lanes;
    return plan;
  }
  const OperandFacts operands = {constant, rooms_of(flat, nest, node, graph)};
  if (target.byte_lanes > 0 && target.registers == Registers::kVector) {
    LoopPlan of_lanes = plan;
    of_lanes.bytes = target.along_sum;
    of_lanes = with_blocks(flat, std::move(of_lanes), target, operands);
    return of_lanes.tile >= kBytes && walks_bytes_of_lanes(flat, of_lanes, constant)
               ? of_lanes
               : with_blocks(flat, std::move(plan), target, operands);
  }
  if (target.byte_lanes > 0 && walks_bytes(flat, inner, constant)) {
    LoopPlan along = plan;
    along.bytes = target.along_sum;
    along = with_blocks(flat, std::move(along), target, operands);
    // Bounds on the sum hold for all of it in the interior of the tile axis.
    const bool has_interior = std::all_of(flat.where.begin(), flat.where.end(), [&](const Bound& bound) {
      return !names_axis(bound.index, inner) ||
             (along.tile_axis >= 0 && names_axis(bound.index, along.tile_axis));
    });
    if (has_interior) return along;
  }
  if (target.along_sum == ByteProducts::kAlongSumOfVectors) {
    LoopPlan vectors = plan;
    vectors.bytes = target.along_sum;
    vectors.order = order_of_vectors(flat, plan.order, constant);
    if (!vectors.order.empty()) return with_blocks(flat, std::move(vectors), target, operands);
  }
  if (const auto pixels = of_pixels(flat, plan, target, constant)) return *pixels;
  return with_blocks(flat, std::move(plan), target, operands);
}

}  // namespace

LoopPlan plan_loops(const Nest& nest, const Node& node, const Graph& graph,
                    const std::vector<Layout>& layouts, const Target& target) {
  const FlatNest flat = flat_nest(nest, node, layouts);
  LoopPlan plan = walk_of(flat, nest, node, graph, target);
  return target.costs.cache == 0 ? plan : with_weights_outside(flat, std::move(plan), node, graph, target);
}

std::optional<WalkedRows> walked_rows(const FlatNest& nest, const LoopPlan& plan, const Expr& read) {
  const int a = innermost_reduced(nest, plan.order), v = plan.vector_axis;
  const auto form = affine_form(read->args[0]);
  if (!form || form->coefficient(v) != 1) return std::nullopt;
  WalkedRows walked{{form->coefficient(a), nest.axes[a].extent}, {}};
  const int64_t row = walked.rows.row, block = row * walked.rows.rows;
  if (row <= 0) return std::nullopt;
  int64_t last = walked.column.constant = form->constant % block;
  for (const auto& [x, factor] : form->terms) {
    if (x == a || factor % block == 0) continue;
    if (x < 0 || factor < 0) return std::nullopt;
    walked.column.terms.emplace_back(x, factor);
    last += factor * (nest.axes[x].extent - 1);
  }
  return walked.column.constant >= 0 && last < row ? std::optional(walked) : std::nullopt;
}

namespace {

// The factor of the lanes of a nest that walks_bytes_of_lanes.
const Expr* lanes_factor(const FlatNest& nest, const LoopPlan& plan) {
  if (!is_along_sum_of_lanes(plan.bytes)) return nullptr;
  if (!walks_bytes_of_lanes(nest, plan, [](const Expr&) { return false; })) return nullptr;
  for (const Expr* read : reads_of(nest.body))
    if (names_axis(*read, plan.vector_axis)) return read;
  return nullptr;
}

}  // namespace

void pack_words(const std::vector<PlannedNest>& nests, const Graph& graph, const std::vector<bool>& called,
                std::vector<Layout>& layouts) {
  std::vector<std::optional<Words>> words(graph.tensors.size());
  for (size_t id = 0; id < words.size(); ++id)
    if (called[id]) words[id] = Words{};
  const auto agree = [&](TensorId id, const Words& wanted) {
    if (!words[id]) words[id] = wanted;
    if (*words[id] != wanted) words[id] = Words{};
  };
  for (const auto& [nest, node, plan] : nests) {
    const FlatNest flat = flat_nest(*nest, *node, layouts);
    const Expr* factor = lanes_factor(flat, *plan);
    std::vector<const Expr*> reads;
    for (const Expr* e : {&flat.body, &flat.finish, &flat.store})
      for (const Expr* read : reads_of(*e)) reads.push_back(read);
    for (const Bound& bound : flat.where)
      for (const Expr* read : reads_of(bound.index)) reads.push_back(read);
    for (const Expr* read : reads) {
      const TensorId id = node->reads[(*read)->index];
      if (!graph.tensors[id].constant) continue;
      const auto walked = read == factor ? walked_rows(flat, *plan, *read) : std::nullopt;
      const int64_t count = element_count(graph.tensors[id].shape);
      const bool whole = walked && count % (walked->rows.row * walked->rows.rows) == 0;
      agree(id, whole ? walked->rows : Words{});
    }
  }
  for (size_t id = 0; id < words.size(); ++id) layouts[id].words = words[id].value_or(Words{});
}

void pack_constants(const Nests& nests, const Node& node, const std::vector<LoopPlan>& plans,
                    const Graph& graph, std::vector<bool>& packed, std::vector<Layout>& layouts) {
  for (size_t k = 0; k < nests.size(); ++k) {
    const LoopPlan& plan = plans[k];
    std::vector<int> depth(std::max(nests[k].axes.size(), plan.order.size()));
    for (size_t p = 0; p < plan.order.size(); ++p) depth[plan.order[p]] = static_cast<int>(p);
    if (plan.vector_axis >= 0 && (!is_along_sum(plan.bytes) || is_along_sum_of_lanes(plan.bytes)))
      depth[plan.vector_axis] = static_cast<int>(plan.order.size());
    auto reads = reads_of(nests[k].body);
    for (const Expr* read : reads_of(nests[k].finish)) reads.push_back(read);
    for (const Expr* read : reads) {
      const TensorId id = node.reads[(*read)->index];
      const Tensor& tensor = graph.tensors[id];
      if (!tensor.constant || packed[id]) continue;
      packed[id] = true;
      const size_t rank = tensor.shape.size();
      std::vector<int> order(rank), key(rank, -1);
      std::iota(order.begin(), order.end(), 0);
      bool plain = true;
      for (size_t d = 0; d < rank; ++d) {
        const auto form = affine_form((*read)->args[d]);
        plain &= form.has_value();
        if (form)
          for (const auto& [a, factor] : form->terms)
            if (a >= 0) key[d] = std::max(key[d], depth[a]);
      }
      if (!plain) continue;
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[a] < key[b]; });
      int64_t next = 1;
      for (size_t p = rank; p-- > 0; next *= tensor.shape[order[p]]) layouts[id].strides[order[p]] = next;
    }
  }
}

}  // namespace arenac
