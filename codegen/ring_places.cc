#include "codegen/ring_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/sums.h"

namespace arenac {
namespace {

// Numbers of slots in the reads: affine modulo a constant.
// Each once, in the order in which they come: names p0, p1, ... are then the same for the same nest.
std::vector<Expr> slots_in(const Expr& body) {
  std::vector<Expr> all;
  any_of(body, [&](const Expr& e) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Expr& x) { return same(x, e); });
    if (e->op == Op::kMod && e->type == Type::kInt64 && e->args[1]->op == Op::kConst && !known &&
        affine_form(e->args[0]))
      all.push_back(e);
    return false;
  });
  return all;
}

// A place number % slots = (outside % slots + inside) % slots, where `inside` is at least 0 and below slots:
// a comparison where loops advance, instead of a division. `outside`, a division, does not change with them.
struct SteppedPlace {
  Affine outside, inside;
};
std::optional<SteppedPlace> stepped_place(const ScheduledNest& nest, const Affine& number, int64_t slots) {
  if (nest.plan.division != Division::kCall) return std::nullopt;
  SteppedPlace place = {number, {}};
  int64_t far = 0;
  for (const auto& [a, by] : number.terms) {
    // What moves outside of the sum's loops changes the place once for each sum: a division there is cheap
    // enough.
    if (a < 0 || !nest.reduced(a)) continue;
    if (by < 0) return std::nullopt;
    std::erase_if(place.outside.terms, [&](const auto& term) { return term.first == a; });
    place.inside = place.inside + Affine{0, {{a, by}}};
    far += by * (nest.extent(a) - 1);
  }
  // The step along the reduced axes goes around once at most, or one subtraction would not do.
  if (far == 0 || far >= slots) return std::nullopt;
  return place;
}

// Of two places in a row of so many slots, each within them.
// The sum is below twice `slots`, so one subtraction is its remainder.
Expr gone_around(const Expr& sum, int64_t slots) {
  return select(sum < integer(slots), sum, sum - integer(slots));
}

}  // namespace

// The axis that moves a slot by the least: inside of a window's rows come columns and channels, which do not
// move it, or, where a ring is of columns, by one column.
size_t moves_least(const Expr& body, const std::vector<int>& axes) {
  size_t first = axes.size();
  int64_t least = INT64_MAX;
  for (const Expr& slot : slots_in(body))
    for (size_t k = 0; k < axes.size(); ++k) {
      const int64_t by = affine_form(slot->args[0])->coefficient(axes[k]);
      if (by > 0 && by < least) least = by, first = k;
    }
  return first;
}

// Names for places that no loop of the block changes in its inside. A place that the innermost axis moves
// would be found as often as it is used, and one that tile or lane move is another for each: these stay as
// they are.
PlacedBody with_places(const ScheduledNest& nest, StmtBuilder& at, const std::vector<int>& axes) {
  PlacedBody placed = {nest.nest.body, {}, 0};
  Exchange exchange;
  for (const Expr& slot : slots_in(placed.body)) {
    const Affine number = *affine_form(slot->args[0]);
    const auto moves = [&](int a) { return a >= 0 && number.coefficient(a) != 0; };
    int moved_by = -1;
    for (int a : axes)
      if (moves(a)) moved_by = a;
    if (moves(nest.plan.tile_axis) || moves(nest.plan.vector_axis) || axes.empty() || moved_by == axes.back())
      continue;
    const int64_t slots = slot->args[1]->value.i;
    const std::string name = fmt::format("p{}", placed.count++);
    if (const auto stepped = moved_by < 0 ? std::nullopt : stepped_place(nest, number, slots)) {
      const Expr start = at.let("start_" + name, nest.index_of(stepped->outside) % integer(slots));
      const Expr place = at.new_int(name, {0, slots});
      exchange.emplace_back(slot, place);
      placed.found.emplace(moved_by,
                           Let{place->index, gone_around(start + nest.index_of(stepped->inside), slots)});
      continue;
    }
    const Expr place = at.new_int(name, slot);
    exchange.emplace_back(slot, place);
    if (moved_by < 0)
      at.put(Let{place->index, slot});
    else
      placed.found.emplace(moved_by, Let{place->index, slot});
  }
  placed.body = replaced(placed.body, exchange);
  return placed;
}

// Instead of (start + inner) % slots, start % slots + inner, as long as the whole of it stays below slots:
// the last pixel of the tile at the last values of the inner axes decides. Then addresses are sums again.
// `pixel` is taken off and added again because the place is that of the tile's first pixel and at_point()
// moves it on for the others.
UnwoundBody within_rings(const ScheduledNest& nest, StmtBuilder& at, const PlacedBody& placed,
                         const std::vector<int>& inner, int tile) {
  UnwoundBody unwound = {placed.body, {}};
  Exchange exchange;
  int places = placed.count;
  // Blocks of lanes side by side are no pixels that a place moves with.
  const int p = nest.plan.tile_axis == nest.plan.vector_axis ? -1 : nest.plan.tile_axis;
  for (const Expr& slot : slots_in(placed.body)) {
    const int64_t slots = slot->args[1]->value.i;
    Affine start = *affine_form(slot->args[0]), rest;
    int64_t far = 0;
    bool moves = false, rises = true;
    for (int a : inner) {
      const int64_t by = start.coefficient(a);
      std::erase_if(start.terms, [&](const auto& term) { return term.first == a; });
      if (by == 0) continue;
      rest = rest + Affine{0, {{a, by}}};
      far += by * (nest.extent(a) - 1);
      moves = true, rises &= by > 0;
    }
    const int64_t step = p < 0 ? 0 : start.coefficient(p);
    far += step * (tile - 1);
    if (!moves || !rises || step < 0 || far >= slots || start.coefficient(nest.plan.vector_axis) != 0)
      continue;
    const Expr pixel = step > 0 ? axis(p) * integer(step) : integer(0);
    const std::string name = fmt::format("p{}", places++);
    const auto stepped = stepped_place(nest, start, slots);
    const Expr first =
        stepped ? gone_around(at.let("start_" + name, nest.index_of(stepped->outside) % integer(slots)) +
                                  nest.index_of(stepped->inside),
                              slots)
                : nest.index_of(start) % integer(slots);
    const Expr place = at.let(name, first - pixel);
    unwound.whole = both(unwound.whole, pixel + place < integer(slots - far));
    exchange.emplace_back(slot, nest.index_of(rest) + pixel + place);
  }
  unwound.body = replaced(placed.body, exchange);
  return unwound;
}

}  // namespace arenac
