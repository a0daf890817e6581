#include "codegen/lower_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "codegen/lower_terms.h"
#include "codegen/ring_places.h"
#include "frontend/interpret.h"
#include "frontend/partial_sums.h"

namespace arenac {
namespace {

// Of the parts of sums: per reduced axis, the widest first. Empty for sums that are exact, and for those that
// go on from what is stored, which have no parts of their own.
std::map<int, std::vector<int64_t>> widths_of(const ScheduledNest& on) {
  std::vector<int> axes;
  std::vector<int64_t> extents;
  if (!on.nest.accumulate && sums_in_parts(on.nest.combine, on.type))
    for (int a : on.plan.order)
      if (on.reduced(a)) axes.push_back(a), extents.push_back(on.extent(a));
  const auto widths = widths_of_parts(extents);
  std::map<int, std::vector<int64_t>> of;
  for (size_t k = 0; k < axes.size(); ++k) of[axes[k]] = widths[k];
  return of;
}

// Loops over the reduced axes and what they do around terms:
//
//   reduce             with_places: divisions of ring places that no loop moves
//     reduced_loops      the outer ones: each narrowed by bounds, in parts of the sums
//       if whole           no pixel goes around a ring or is beyond bounds
//         terms              the inner loops, and in them add_term or add_terms_along
//       else
//         one_by_one         the same for each pixel by itself, or with a division for each read
//
// Both branches add the same terms in the same order; the second costs more and comes seldom, as where a tile
// meets the end of a ring.
class SumLowering {
 public:
  SumLowering(const ScheduledNest& nest, StmtBuilder& at, const Taps* taps = nullptr)
      : on_(nest), at_(at), taps_(taps), widths_(widths_of(nest)) {}

  // Accumulators for the pixels, at their neutral elements.
  Sums new_sums(int lanes, Interval pixels, int level) {
    Sums sums{lanes, pixels, level, {}};
    for (int64_t j = pixels.begin; j < pixels.end; ++j) {
      const std::string name = level == 0 ? fmt::format("acc{}", j) : fmt::format("part{}_{}", level, j);
      sums.registers.push_back(at_.new_register(name, on_.type, lanes));
    }
    at_.put(Declare{sums.registers, constant(on_.type, neutral(on_.nest.combine, on_.type))});
    return sums;
  }

  // Accumulators for the pixels, at what is stored for them: a nest that accumulates goes on from what was
  // written before.
  Sums stored_sums(int lanes, Interval pixels, Type write_type) {
    Sums sums{lanes, pixels, 0, {}};
    for (int64_t j = pixels.begin; j < pixels.end; ++j)
      sums.registers.push_back(at_.new_register(fmt::format("acc{}", j), on_.type, lanes));
    at_.put(Declare{sums.registers, {}});
    for (int64_t j = pixels.begin; j < pixels.end; ++j) {
      const Expr stored = element(kResult, write_type, on_.at_point(on_.nest.store, j, lanes));
      at_.lanes(
          lanes,
          [&] {
            at_.put(Set{at_.at(sums.reg(j)), cast(on_.type, stored)});
          },
          Lanes::Of::kOperands);
    }
    return sums;
  }

  // Accumulators for the pixels, at the zeros that they share.
  Sums sums_from(const Sums& zeros, Interval pixels) {
    Sums sums{zeros.lanes, pixels, 0, {}, true};
    for (int64_t j = pixels.begin; j < pixels.end; ++j)
      sums.registers.push_back(at_.new_register(fmt::format("acc{}", j), on_.type, zeros.lanes));
    at_.put(Declare{sums.registers, {}});
    for (int reg : sums.registers)
      at_.lanes(zeros.lanes, [&] { at_.put(Set{at_.at(reg), at_.at(zeros.registers[0])}); });
    return sums;
  }

  // The loops over the reduced axes around what zeros add alone. It is the same for all pixels where bounds
  // on the tile axis hold, so it is found once for all tiles, and their sums begin with it.
  Sums zeros(int lanes, const Bounds& open) {
    const Sums all{lanes, {0, 1}, 0, {at_.new_register("zero", on_.type, lanes)}};
    at_.put(Declare{all.registers, constant(on_.type, Scalar{.i = 0})});
    const std::vector<int> axes = on_.reduced_axes();
    const std::span<const int> loops(axes);
    reduced_loops(loops.first(axes.size() - 1), open, all, [&](const Bounds& left, const Sums& sums) {
      at_.when(condition(left), [&] { add_shared_zeros(on_, at_, axes.back(), sums); });
    });
    return all;
  }

  // The loops over the reduced axes. Inside of those that move places in rings least, or pixels beyond
  // bounds, they come twice: for when no pixel goes around a ring or is beyond bounds, and for when each has
  // to be looked at. The question stands as far out as it can, and inside of the loops that decide it: asked
  // of a row of a window, it is one comparison for all columns and channels.
  void reduce(const Sums& all, const Bounds& open, const Bounds& moving) {
    const int tile = static_cast<int>(all.registers.size());
    const std::vector<int> axes = on_.reduced_axes();
    placed_ = with_places(on_, at_, axes);
    const Expr& body = placed_.body;
    size_t first = moves_least(body, axes);
    if (is_along(axes, all, body)) first = std::min(first, axes.size() - 1);
    const size_t last = moving.empty() ? first : behind_named(axes, moving);
    first = std::min(first, last);
    const std::span<const int> loops(axes);
    const std::vector<int> moved(loops.begin() + static_cast<std::ptrdiff_t>(first), loops.end());
    const std::vector<int> inner(loops.begin() + static_cast<std::ptrdiff_t>(last), loops.end());
    reduced_loops(loops.first(first), open, all, [&](const Bounds& around, const Sums& sums) {
      const UnwoundBody unwound =
          sums.lanes > 1 ? within_rings(on_, at_, placed_, moved, tile) : UnwoundBody{body, {}};
      const Expr whole = both(on_.tile_fits(moving, tile, {}), unwound.whole);
      const auto inside = [&](const Bounds& left, const Sums& within) {
        const auto straight = [&] { terms(inner, left, within, unwound.body); };
        if (whole.empty()) return straight();
        at_.put(When{whole, at_.body_of(straight),
                     at_.body_of([&] { one_by_one(within, inner, left, moving, body); })});
      };
      reduced_loops(loops.subspan(first, last - first), around, sums, inside);
    });
  }

 private:
  using Content = std::function<void(const Bounds&, const Sums&)>;
  struct Limits {
    Expr low, high;
  };

  // A part of the sums: accumulators of its own, which its end adds to those outside. Where a long float sum
  // is cut is part of its meaning (partial_sums.h), so that blocks, slabs and targets cannot change a bit.
  template <typename Content>
  void part(const Sums& outside, const Content& content) {
    const Sums inside = new_sums(outside.lanes, outside.pixels, outside.level + 1);
    content(inside);
    for (int64_t j = inside.pixels.begin; j < inside.pixels.end; ++j)
      at_.lanes(inside.lanes, [&] {
        at_.put(Set{at_.at(outside.reg(j)), at_.at(outside.reg(j)) + at_.at(inside.reg(j))});
      });
  }

  // Some pixels of a tile: the same registers, fewer of them.
  static Sums of_pixels(const Sums& sums, Interval pixels) {
    Sums some = {sums.lanes, pixels, sums.level, {}, sums.have_zeros};
    for (int64_t j = pixels.begin; j < pixels.end; ++j) some.registers.push_back(sums.reg(j));
    return some;
  }

  // The loops over the `inner` axes, where bounds move pixels for each of those within by itself.
  void one_by_one(const Sums& sums, const std::vector<int>& inner, const Bounds& open, const Bounds& moving,
                  const Expr& body) {
    if (moving.empty()) return terms(inner, open, sums, body);
    for (int64_t j = sums.pixels.begin; j < sums.pixels.end; ++j) {
      Bounds here = moving;
      for (Bound& bound : here) bound.index = on_.at_point(bound.index, j, 1);
      const Sums one = of_pixels(sums, {j, j + 1});
      at_.when(condition(here), [&] { terms(inner, open, one, body); });
    }
  }

  // Whether the loop over the innermost axis is that of add_terms_along: nothing else happens in it.
  bool is_along(const std::vector<int>& axes, const Sums& sums, const Expr& term) {
    if (is_along_sum(on_.bytes)) return true;
    return !axes.empty() && widths_[axes.back()].empty() && !placed_.found.contains(axes.back()) &&
           has_terms_along(on_, at_, axes.back(), sums, term);
  }

  // The loops over `axes` and a term in the innermost, or all terms along the last axis at once. These ask no
  // bounds of single terms, so no bound may name that axis, nor may taps cut it.
  void terms(const std::vector<int>& axes, const Bounds& bounds, const Sums& sums, const Expr& term) {
    const bool along = is_along(axes, sums, term) && !(taps_ && taps_->axis == axes.back()) &&
                       std::none_of(bounds.begin(), bounds.end(),
                                    [&](const Bound& bound) { return names_axis(bound.index, axes.back()); });
    const std::span<const int> loops(axes);
    reduced_loops(along ? loops.first(axes.size() - 1) : loops, bounds, sums,
                  [&](const Bounds& left, const Sums& within) {
                    at_.when(condition(left), [&] {
                      if (along)
                        add_terms_along(on_, at_, axes.back(), within, term);
                      else
                        add_term(on_, at_, within, term);
                    });
                  });
  }

  // The loops over reduced axes, each narrowed by the bounds of which it is the innermost reduced axis;
  // content(bounds that are left, sums). Where the sums have parts along an axis, there are loops over these
  // around it. Along the axis of taps each run of these adds to the sums of its pixels.
  //
  //   0 <= y + ky - 1 < 8, ky < 3      const int low_ky = max(1 - y, 0), high_ky = min(9 - y, 3);
  //                                    for ky in [low_ky, high_ky)       instead of a question for each term
  void reduced_loops(std::span<const int> axes, Bounds bounds, const Sums& sums, const Content& content) {
    if (axes.empty()) return content(bounds, sums);
    const int a = axes[0];
    const Limits all = {integer(0), integer(on_.extent(a))};
    // One value of the axis: ring places that it moves, and what is inside.
    const auto value = [&](const Bounds&, const Sums& within) {
      const auto [from, to] = placed_.found.equal_range(a);
      for (auto place = from; place != to; ++place) at_.put(place->second);
      const auto inside = [&](const Sums& s) { reduced_loops(axes.subspan(1), bounds, s, content); };
      if (!widths_[a].empty() && widths_[a].back() == 1)  // each value of the axis makes a part
        part(within, inside);
      else
        inside(within);
    };
    if (taps_ && taps_->axis == a) {
      for (const auto& [values, pixels] : taps_->runs)
        parts_of(a, 0, all, {integer(values.begin), integer(values.end)}, of_pixels(sums, pixels), value);
      return;
    }
    // Each bound narrows the limits that the one before has left.
    Expr low = all.low, high = all.high;
    int n = 0;
    std::erase_if(bounds, [&](const Bound& bound) {
      const auto form = affine_form(bound.index);
      if (!form || !on_.narrows(*form, a)) return false;
      narrow(bound, a, fmt::format("{}{}", name(a), n > 0 ? fmt::format("_{}", n) : ""), low, high);
      ++n;
      return true;
    });
    parts_of(a, 0, all, {low, high}, sums, value);
  }

  // The loops over the parts from number k on of several values of axis a, which lie in `whole`, and in the
  // innermost over the values in `wanted`. All parts run, those without wanted values too: an empty part adds
  // its zero, and the parts are cut at the same places whatever bounds leave out.
  //
  //   axis of 10, parts of 4, wanted [3, 9)       . . . 3 | 4 5 6 7 | 8 .        three parts
  void parts_of(int a, size_t k, const Limits& whole, const Limits& wanted, const Sums& sums,
                const Content& content) {
    const int64_t extent = on_.extent(a);
    const std::vector<int64_t>& widths = widths_[a];
    if (k == widths.size() || widths[k] == 1) {
      const Limits all = {integer(0), integer(extent)};
      Limits limits = k == 0 ? wanted : whole;
      if (k > 0 && !(same(wanted.low, all.low) && same(wanted.high, all.high)))
        limits = {at_.let("from_" + name(a), max(wanted.low, whole.low)),
                  at_.let("to_" + name(a), min(wanted.high, whole.high))};
      return at_.loop(a, limits.low, limits.high, 1, [&] { content({}, sums); });
    }
    const int64_t width = widths[k];
    const std::string id = k > 0 ? fmt::format("{}_{}", name(a), k) : name(a);
    const Expr begin = at_.new_int("part_" + id, {0, extent});
    at_.loop(begin->index, whole.low, whole.high, width, [&] {
      Expr end = begin + integer(width);
      if (extent % width != 0)
        end = at_.let("end_" + id, select(whole.high - begin < integer(width), whole.high, end));
      part(sums, [&](const Sums& within) { parts_of(a, k + 1, {begin, end}, wanted, within, content); });
    });
  }

  // begin <= rest + c*i < end as limits of i, which so far runs over [low, high), where low >= 0.
  void narrow(const Bound& bound, int a, const std::string& id, Expr& low, Expr& high) {
    const Affine form = *affine_form(bound.index);
    const int64_t c = form.coefficient(a);
    Affine rest = form;
    std::erase_if(rest.terms, [&](const auto& term) { return term.first == a; });
    // Distances to the near and the far bound, counted so that i moves away from `near`.
    const Affine near = c > 0 ? rest * -1 + Affine{bound.begin, {}} : rest + Affine{1 - bound.end, {}};
    const Affine far = c > 0 ? rest * -1 + Affine{bound.end, {}} : rest + Affine{1 - bound.begin, {}};
    // The division rounds up, but towards zero where that is negative, and then the other limit holds.
    const int64_t step = std::abs(c);
    const auto divided = [&](const Affine& x) {
      return (on_.index_of(x) + integer(step - 1)) / integer(step);
    };
    low = at_.let("low_" + id, max(at_.let("first_" + id, divided(near)), low));
    high = at_.let("high_" + id, min(at_.let("behind_" + id, divided(far)), high));
  }

  const std::string& name(int a) const { return on_.names[static_cast<size_t>(a)]; }

  const ScheduledNest& on_;
  StmtBuilder& at_;
  const Taps* taps_;  // null: bounds narrow the loops
  std::map<int, std::vector<int64_t>> widths_;
  PlacedBody placed_;
};

}  // namespace

bool shares_parts(const ScheduledNest& nest, int a) {
  const std::vector<int64_t> widths = widths_of(nest)[a];
  return !widths.empty() && widths.front() > 1;
}

// Bounds that name the innermost axis would leave terms out of a vector; then there are none.
std::optional<Sums> shared_zeros(const ScheduledNest& nest, StmtBuilder& at, int lanes) {
  const std::vector<int> axes = nest.reduced_axes();
  if (axes.empty() || nest.nest.accumulate || !has_shared_zeros(nest, at)) return std::nullopt;
  Bounds open;
  for (const Bound& bound : nest.nest.where) {
    if (names_axis(bound.index, axes.back())) return std::nullopt;
    if (!names_axis(bound.index, nest.plan.tile_axis)) open.push_back(bound);
  }
  return SumLowering(nest, at).zeros(lanes, open);
}

// Which bounds the block has to ask: of those on the tile axis none where all hold or taps say so, all inside
// of the loops (`open`), or once for the tile (`moving`).
Sums sum_block(const ScheduledNest& nest, StmtBuilder& at, SumBlock block, Type write_type) {
  SumLowering lowering(nest, at, block.taps);
  const Interval pixels = {0, block.tile};
  const Sums all = block.zeros            ? lowering.sums_from(*block.zeros, pixels)
                   : nest.nest.accumulate ? lowering.stored_sums(block.lanes, pixels, write_type)
                                          : lowering.new_sums(block.lanes, pixels, 0);
  Bounds open, moving;
  for (const Bound& bound : nest.nest.where)
    if (block.holds == SumBlock::Holds::kSome || !names_axis(bound.index, nest.plan.tile_axis))
      open.push_back(bound);
    else if (block.holds == SumBlock::Holds::kInside)
      moving.push_back(bound);
  lowering.reduce(all, open, moving);
  return all;
}

}  // namespace arenac
