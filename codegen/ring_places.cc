#include "codegen/ring_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/sums.h"

namespace arenac {
namespace {

// Numbers of slots in the reads: affine modulo a constant.
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

}  // namespace

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
    const Expr place = at.new_int(fmt::format("p{}", placed.count++), slot);
    exchange.emplace_back(slot, place);
    if (moved_by < 0)
      at.put(Let{place->index, slot});
    else
      placed.found.emplace(moved_by, Let{place->index, slot});
  }
  placed.body = replaced(placed.body, exchange);
  return placed;
}

UnwoundBody within_rings(const ScheduledNest& nest, StmtBuilder& at, const PlacedBody& placed,
                         const std::vector<int>& inner, int tile) {
  UnwoundBody unwound = {placed.body, {}};
  Exchange exchange;
  int places = placed.count;
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
    const Expr place = at.let(fmt::format("p{}", places++), nest.index_of(start) % integer(slots) - pixel);
    unwound.whole = both(unwound.whole, pixel + place < integer(slots - far));
    exchange.emplace_back(slot, nest.index_of(rest) + pixel + place);
  }
  unwound.body = replaced(placed.body, exchange);
  return unwound;
}

}  // namespace arenac
