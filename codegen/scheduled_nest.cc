#include "codegen/scheduled_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/error.h"
#include "frontend/interpret.h"

namespace arenac {
namespace {

// The scheduler plans products of bytes before layouts of constants are chosen, "as if they had whatever
// layout serves best"; what they have by now decides. Nothing but speed is lost where it is not what was
// hoped for.
ByteProducts bytes_at_once(const FlatNest& nest, const LoopPlan& plan) {
  const auto as_it_is = [](const Expr&) { return false; };
  const bool vectors = plan.bytes == ByteProducts::kAlongSumOfVectors;
  const bool along = plan.bytes == ByteProducts::kAlongSum || vectors;
  const int a = along ? innermost_reduced(nest, plan.order) : plan.vector_axis;
  if (vectors) return walks_bytes_in_vectors(nest, a, as_it_is) ? plan.bytes : ByteProducts::kOne;
  if (is_along_sum_of_lanes(plan.bytes))
    return walks_bytes_of_lanes(nest, plan, as_it_is) ? plan.bytes : ByteProducts::kOne;
  const bool fits = plan.bytes == ByteProducts::kAlongSumOfPixels
                        ? walks_bytes_of_pixels(nest, plan, as_it_is)
                        : walks_bytes(nest, a, as_it_is);
  return fits ? plan.bytes : ByteProducts::kOne;
}

// The trips of the loops around the nest, per symbol of an iteration that it names.
std::map<int, int64_t> trips_of(const FlatNest& nest) {
  std::map<int, int64_t> trips;
  const auto look = [&](const Expr& root) {
    if (root.empty()) return;
    any_of(root, [&](const Expr& e) {
      if (is_iteration(e)) trips[-1 - e->index] = e->extent;
      return false;
    });
  };
  look(nest.store), look(nest.body), look(nest.finish);
  for (const Bound& bound : nest.where) look(bound.index);
  return trips;
}

// The pixels p of an axis, of any, with c * p + at within a bound; c > 0. Both ends round up: begin is the
// first pixel inside, end the first one behind.
Interval pixels_within(const Bound& bound, int64_t c, int64_t at) {
  return {ceil_div(bound.begin - at, c), ceil_div(bound.end - at, c)};
}

}  // namespace

Expr both(const Expr& a, const Expr& b) {
  if (a.empty()) return b;
  return b.empty() ? a : a && b;
}

// begin <= index and index < end of each, as one formula; of no bounds empty and not "true", so that no
// statement is made for it.
Expr condition(const Bounds& bounds) {
  Expr all;
  for (const Bound& bound : bounds)
    all = both(both(all, integer(bound.begin) <= bound.index), bound.index < integer(bound.end));
  return all;
}

// Loops up to there decide whether bounds hold; from there on the answer stays.
size_t behind_named(const std::vector<int>& axes, const Bounds& bounds) {
  const auto named = [&](int a) {
    return std::ranges::any_of(bounds, [&](const Bound& bound) { return names_axis(bound.index, a); });
  };
  return static_cast<size_t>(std::find_if(axes.rbegin(), axes.rend(), named).base() - axes.begin());
}

// Words lie in another order than addresses say, so that only the walk that takes them as words may read
// them.
ScheduledNest::ScheduledNest(const FlatNest& flat, const LoopPlan& loops, std::vector<std::string> of_axes)
    : nest(flat),
      plan(loops),
      type(flat.body->type),
      bytes(bytes_at_once(flat, loops)),
      names(std::move(of_axes)),
      trips_(trips_of(flat)) {
  // Another nest of the node may read words: one that adds to what this one begins.
  const auto is_plain = [&](const Expr* read) { return flat.words[(*read)->index].row == 0; };
  for (const Expr* e : {&flat.body, &flat.finish})
    ARENAC_CHECK(is_along_sum_of_lanes(bytes) || std::ranges::all_of(reads_of(*e), is_plain),
                 "words are read as such");
  names.resize(flat.axes.size());
  for (size_t a = 0; a < names.size(); ++a)
    if (names[a].empty()) names[a] = fmt::format("i{}", a);
}

// In the plan's order, which is the order that sums are added in.
std::vector<int> ScheduledNest::reduced_axes() const {
  std::vector<int> axes;
  for (int a : plan.order)
    if (reduced(a) && extent(a) != 1) axes.push_back(a);
  return axes;
}

std::ptrdiff_t ScheduledNest::depth_of(int a) const {
  return std::find(plan.order.begin(), plan.order.end(), a) - plan.order.begin();
}

// Iterations need their trip counts again: an affine form has only their numbers.
Expr ScheduledNest::index_of(const Affine& form) const {
  Expr sum = integer(form.constant);
  for (const auto& [a, factor] : form.terms)
    sum = (a < 0 ? iteration(-1 - a, trips_.at(-1 - a)) : axis(a)) * integer(factor) + sum;
  return sum;
}

Expr ScheduledNest::at_point(const Expr& e, int64_t j, int lanes) const {
  return at_point(e, integer(j), lanes);
}

// Pixels are neighbours along the tile axis; where that is the vector axis as well, "pixel" j is a block of
// lanes further on. Of a single lane the lane has no index.
Expr ScheduledNest::at_point(const Expr& e, const Expr& j, int lanes) const {
  return substitute(e, [&](const Expr& x) -> Expr {
    if (x->op != Op::kAxis) return {};
    if (x->index != plan.tile_axis && x->index != plan.vector_axis) return {};
    const int step = plan.tile_axis != plan.vector_axis ? 1 : plan.lanes;
    const Expr pixel = x->index == plan.tile_axis ? x + j * integer(step) : x;
    return x->index == plan.vector_axis && lanes > 1 ? pixel + axis(kLane) : pixel;
  });
}

// Whether the interior is another one from call to call or from row to row, but can be computed: every bound
// is affine and rises with p.
bool ScheduledNest::varies(int p) const {
  bool any = false;
  for (const Bound& bound : bounds_on(p)) {
    const auto form = affine_form(bound.index);
    // An axis that runs against its bound, or jumps, has no interior that is computed so simply.
    if (!form || form->coefficient(p) <= 0) return false;
    for (const auto& [a, factor] : form->terms) any |= a < 0 || (a != p && !reduced(a));
  }
  return any;
}

// An affine form is least and greatest at ends of ranges, each axis by itself.
std::pair<int64_t, int64_t> ScheduledNest::spread(const Affine& form, const std::vector<int>& over) const {
  int64_t low = 0, high = 0;
  for (const int a : over) {
    const int64_t far = form.coefficient(a) * (extent(a) - 1);
    low += std::min<int64_t>(far, 0), high += std::max<int64_t>(far, 0);
  }
  return {low, high};
}

// Those of other axes are asked where these run.
Bounds ScheduledNest::bounds_on(int p) const {
  Bounds all;
  std::ranges::copy_if(nest.where, std::back_inserter(all),
                       [&](const Bound& bound) { return names_axis(bound.index, p); });
  return all;
}

// interior() of each bound, as ints that the kernel computes: what stands still in a call (iterations, outer
// axes) is `rest`. (limit - rest) / c, rounded up.
std::vector<std::pair<Expr, Expr>> ScheduledNest::varying_interiors(int p) const {
  std::vector<std::pair<Expr, Expr>> all;
  for (const Bound& bound : bounds_on(p)) {
    const Affine form = *affine_form(bound.index);
    const int64_t c = form.coefficient(p);
    const auto [low, high] = spread(form, reduced_axes());
    Affine rest = form * -1;
    std::erase_if(rest.terms, [&](const auto& term) {
      return term.first == p || (term.first >= 0 && reduced(term.first));
    });
    // The division rounds up, but towards zero below that, where no pixel is.
    const auto behind = [&](int64_t limit) {
      return index_of(rest + Affine{limit + c - 1, {}}) / integer(c);
    };
    all.emplace_back(behind(bound.begin - low), behind(bound.end - high));
  }
  return all;
}

// A bound holds for a whole tile where it holds for the first pixel with the least, and for the last with the
// most, that the other axes add: begin <= first + low, and first + high + c * (tile - 1) < end.
Expr ScheduledNest::tile_fits(const Bounds& bounds, int tile, const std::vector<int>& over) const {
  Expr all;
  for (const Bound& bound : bounds) {
    const Affine form = *affine_form(bound.index);
    const auto [low, high] = spread(form, over);
    Affine first = form;
    std::erase_if(first.terms,
                  [&](const auto& term) { return std::ranges::find(over, term.first) != over.end(); });
    const Affine last = first + Affine{high + form.coefficient(plan.tile_axis) * (tile - 1), {}};
    all = both(both(all, integer(bound.begin) <= index_of(first + Affine{low, {}})),
               index_of(last) < integer(bound.end));
  }
  return all;
}

// The part of the axis in which kernels need not ask: of a window of 3 with padding 1, all but one pixel at
// each end.
Interval ScheduledNest::interior(int p) const {
  Interval inside = {0, extent(p)};
  for (const Bound& bound : bounds_on(p)) {
    const auto form = affine_form(bound.index);
    if (!form || form->coefficient(p) <= 0) return {0, 0};
    for (const auto& [a, factor] : form->terms)
      if (a != p && (a < 0 || !reduced(a))) return {0, 0};
    const auto [low, high] = spread(*form, reduced_axes());
    const int64_t c = form->coefficient(p);
    inside.begin = std::max(inside.begin, pixels_within(bound, c, form->constant + low).begin);
    inside.end = std::min(inside.end, pixels_within(bound, c, form->constant + high).end);
  }
  return inside.begin < inside.end ? inside : Interval{0, 0};
}

// Every end of a range in which a tap is within bounds ends a run: between two of these, no tap comes or
// goes.
//
//   0 <= p + 4 * k - 4 < 16, k < 3      p in [0, 4) lacks tap 0 | [4, 12) has all | [12, 16) lacks tap 2
std::vector<Interval> ScheduledNest::alike(int p, Interval range) const {
  std::set<int64_t> ends = {range.begin, range.end};
  const auto within = [&](int64_t end) { ends.insert(std::clamp(end, range.begin, range.end)); };
  for (const Bound& bound : bounds_on(p)) {
    const auto form = affine_form(bound.index);
    const int64_t c = form ? form->coefficient(p) : 0;
    Affine taps = form.value_or(Affine{});
    std::erase_if(taps.terms, [&](const auto& term) { return term.first == p; });
    if (c <= 0 || taps.terms.size() > 1 || (taps.terms.size() == 1 && !reduced(taps.terms[0].first)))
      return {};
    const int64_t count = taps.terms.empty() ? 1 : extent(taps.terms[0].first);
    for (int64_t tap = 0; tap < count; ++tap) {
      const int64_t at = taps.constant + (taps.terms.empty() ? 0 : taps.terms[0].second * tap);
      const Interval inside = pixels_within(bound, c, at);
      within(inside.begin), within(inside.end);
    }
  }
  std::vector<Interval> runs;
  for (auto end = std::next(ends.begin()); end != ends.end(); ++end) runs.push_back({*std::prev(end), *end});
  return runs;
}

// Of one bound with one window alone. Neighbouring taps with the same pixels are one run, so that the middle
// of a window is one loop.
std::optional<Taps> ScheduledNest::taps_of(int p, Interval tile) const {
  const Bounds bounds = bounds_on(p);
  const auto form = bounds.size() == 1 ? affine_form(bounds[0].index) : std::nullopt;
  if (!form || form->terms.size() != 2 || form->coefficient(p) <= 0) return std::nullopt;
  const int a = form->terms[0].first == p ? form->terms[1].first : form->terms[0].first;
  if (a < 0 || !reduced(a)) return std::nullopt;
  Taps taps{a, {}};
  for (int64_t tap = 0; tap < extent(a); ++tap) {
    const auto [begin, end] =
        pixels_within(bounds[0], form->coefficient(p), form->constant + form->coefficient(a) * tap);
    const Interval pixels = {std::max(tile.begin, begin) - tile.begin, std::min(tile.end, end) - tile.begin};
    if (pixels.begin >= pixels.end) continue;
    if (!taps.runs.empty() && taps.runs.back().pixels == pixels && taps.runs.back().values.end == tap)
      taps.runs.back().values.end = tap + 1;
    else
      taps.runs.push_back({{tap, tap + 1}, pixels});
  }
  return taps;
}

// Bounds of several reduced axes narrow the innermost of them, where the others are known.
bool ScheduledNest::narrows(const Affine& form, int a) const {
  if (form.coefficient(a) == 0) return false;
  // Reduced axes further in are not known yet.
  for (const auto& [x, factor] : form.terms)
    if (x >= 0 && x != a && reduced(x) && depth_of(x) > depth_of(a)) return false;
  return true;
}

// Where gcc's vectoriser is not to be trusted (lower_terms.cc has the example).
bool ScheduledNest::walks_backwards() const {
  return any_of(nest.body, [&](const Expr& e) {
    if (e->op != Op::kRead) return false;
    return std::any_of(plan.order.begin(), plan.order.end(),
                       [&](int a) { return reduced(a) && coefficient_along(e->args[0], a).value_or(0) < 0; });
  });
}

// Then two pixels of a tile may be far from each other, or at the same distance the other way.
bool ScheduledNest::stores_around() const {
  return any_of(nest.store,
                [&](const Expr& e) { return e->op == Op::kMod && names_axis(e, plan.tile_axis); });
}

}  // namespace arenac
