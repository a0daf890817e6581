#include "codegen/lower_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "codegen/lower_results.h"
#include "codegen/lower_sums.h"
#include "codegen/scheduled_nest.h"
#include "codegen/stmt_builder.h"
#include "frontend/interpret.h"

namespace arenac {
namespace {

using Holds = SumBlock::Holds;

std::vector<Interval> ranges_of(const std::vector<Axis>& axes) {
  std::vector<Interval> ranges;
  for (const Axis& a : axes) ranges.push_back({0, a.extent});
  return ranges;
}

// The loops around blocks of sums. Which block stands where in them the plan says; what a block is made of is
// lower_sums.h, its terms lower_terms.h, its results lower_results.h.
//
//   reduction    plan                                             loops
//                no vector axis                                   outer | pixels
//                tile and vector axis are one                     outer | blocks of lanes side by side
//                tile axis outside of the vector axis             outer | tiles | blocks of lanes
//                vector axis outside                              outer | blocks of lanes | tiles
//
// Which of the last two, the plan's order says: the weights of a block of lanes stay near while tiles go by,
// or the pixels of a tile while blocks do.
class NestLowering {
 public:
  NestLowering(const FlatNest& nest, const LoopPlan& plan, const KernelOperands& operands,
               std::vector<std::string> names)
      : on_(nest, plan, std::move(names)), at_(ranges_of(nest.axes), plan.lanes), operands_(operands) {}

  Kernel run() {
    if (has_sums(on_.nest))
      reduction();
    else
      pointwise();
    Kernel kernel = at_.finish();
    kernel.widens = widens(on_.nest, on_.plan.vector_axis);
    kernel.names = on_.names;
    return kernel;
  }

 private:
  // Over an axis of the output, in the direction of the plan.
  // The direction matters where the result overlaps what is read: elements are then written behind what is
  // still to be read, or before it.
  template <typename Body>
  void swept(int a, Interval range, int64_t step, const Body& body) {
    at_.put(For{a, integer(range.begin), integer(range.end), step, on_.plan.sweep, at_.body_of(body)});
  }
  // Loops one in the other, the first outermost; of no axes the body alone.
  template <typename Body>
  void nested(std::span<const int> axes, const Body& body) {
    if (axes.empty()) return body();
    swept(axes[0], {0, on_.extent(axes[0])}, 1, [&] { nested(axes.subspan(1), body); });
  }

  // No reduction, or one of single terms onto what stands: loops and a store. Compilers make vectors of these
  // by themselves, whose innermost loop has unit stride.
  void pointwise() {
    std::vector<int> axes;
    for (int a : on_.plan.order)
      if (on_.extent(a) != 1) axes.push_back(a);
    nested(axes, [&] {
      at_.when(condition(on_.nest.where), [&] {
        const Expr target = element(kResult, operands_.write_type, on_.nest.store);
        if (on_.nest.accumulate)
          at_.put(Set{target, make(op_of(on_.nest.combine), {cast(on_.type, target), on_.nest.body})});
        else
          at_.put(Set{target, finished(on_.nest.finish, on_.nest.body)});
      });
    });
  }

  // ---- reductions: outer loops | vector blocks | tiles | accumulators over the reduced axes

  // Axes of one value have no loop. What is outside of blocks comes in the plan's order.
  void reduction() {
    if (on_.plan.vector_axis >= 0 && on_.reduced(on_.plan.vector_axis)) return extremum_of_lanes();
    std::vector<int> axes;
    for (int a : on_.plan.order) {
      const bool outer = !on_.reduced(a) && a != on_.plan.vector_axis && a != on_.plan.tile_axis;
      if (outer && on_.extent(a) != 1) axes.push_back(a);
    }
    nested(axes, [&] {
      if (on_.plan.vector_axis < 0) {
        pixels(1);
      } else if (on_.plan.tile_axis == on_.plan.vector_axis) {
        wide_blocks();
      } else if (on_.depth_of(on_.plan.tile_axis) < on_.depth_of(on_.plan.vector_axis)) {
        tiles([&](int tile, Holds holds, const Taps* taps = nullptr) {
          vectors([&](int lanes) { block({lanes, tile, holds, nullptr, taps}); });
        });
      } else {
        vectors([&](int lanes) { pixels(lanes); });
      }
    });
  }

  // m[l] = max(k) x[16 * k + l], then y = max(l) m[l]; what fills no vector joins that of the first lane.
  // Maxima and minima are the same in any order of their terms, so the bits are those of one after the other;
  // of sums of floats they would not be.
  void extremum_of_lanes() {
    const int v = on_.plan.vector_axis, lanes = on_.plan.lanes;
    std::vector<int> outer, reduced = on_.reduced_axes();
    std::erase(reduced, v);
    for (int a : on_.plan.order)
      if (!on_.reduced(a) && on_.extent(a) != 1) outer.push_back(a);
    const Op op = op_of(on_.nest.combine);
    const Expr none = constant(on_.type, neutral(on_.nest.combine, on_.type));
    const int64_t end = on_.extent(v), whole = end / lanes * lanes;
    nested(outer, [&] {
      const int all = at_.new_register("acc", on_.type, lanes), one = at_.new_register("acc0", on_.type, 1);
      at_.put(Declare{{all}, none});
      nested(reduced, [&] {
        at_.loop(v, integer(0), integer(whole), lanes, [&] {
          at_.lanes(lanes, [&] {
            at_.put(Set{at_.at(all), make(op, {at_.at(all), on_.at_point(on_.nest.body, 0, lanes)})});
          });
        });
        const Expr first = at_.at(all, integer(0));
        if (whole < end)
          at_.loop(v, integer(whole), integer(end), 1, [&] {
            at_.put(Set{first, make(op, {first, on_.nest.body})});
          });
      });
      at_.put(Declare{{one}, none});
      const Expr lane = at_.new_int("lane", Interval{0, lanes});
      at_.loop(lane->index, integer(0), integer(lanes), 1, [&] {
        at_.put(Set{at_.at(one), make(op, {at_.at(one), at_.at(all, lane)})});
      });
      // As of a block of one lane and one pixel.
      store_results(on_, at_, {1, {0, 1}, 0, {one}}, operands_.write_type);
    });
  }

  // All pixels of so many lanes. What their sums share is worked out once where there are several tiles.
  void pixels(int lanes) {
    const int p = on_.plan.tile_axis;
    std::optional<Sums> zeros;
    if (p >= 0 && !on_.varies(p)) {
      const Interval inside = on_.interior(p);
      if (inside.end - inside.begin > on_.plan.tile) zeros = shared_zeros(on_, at_, lanes);
    }
    tiles([&](int tile, Holds holds, const Taps* taps = nullptr) {
      const bool shares = zeros && holds == Holds::kAll;
      block({lanes, tile, holds, shares ? &*zeros : nullptr, taps});
    });
  }

  // Blocks of lanes along the vector axis. An axis shorter than the plan's lanes is one block of all of them:
  // a whole vector is faster than a part of one.
  template <typename Body>
  void vectors(const Body& body) {
    const int v = on_.plan.vector_axis, lanes = on_.plan.lanes;
    if (lanes > on_.extent(v)) return fixed(v, 0, [&] { body(lanes); });  // the last of these are not stored
    stepped(v, {0, on_.extent(v)}, lanes, body);
  }

  // Without pixels to share the weights, several vector blocks side by side keep the arithmetic units busy.
  void wide_blocks() {
    const int v = on_.plan.vector_axis, width = on_.plan.lanes * on_.plan.tile;
    stepped(v, {0, on_.extent(v)}, width, [&](int elements) {
      if (elements % on_.plan.lanes == 0)
        return block({on_.plan.lanes, elements / on_.plan.lanes, Holds::kSome});
      block({elements, 1, Holds::kSome});
    });
  }

  // Whether elements computed twice are the same: not where the result adds to what stands there, nor where
  // it may lie over what is still read.
  bool steps_again() const {
    return !on_.nest.accumulate && std::all_of(operands_.aliasing.begin(), operands_.aliasing.end(),
                                               [](Aliasing s) { return s == Aliasing::kApart; });
  }

  // Covers `range` of axis a in steps of `width`. What is left at the end is covered by a last whole step
  // that computes some elements twice, where that changes nothing; else by a narrower one.
  //
  //   7 values in steps of 3     again: [0 1 2] [3 4 5] [4 5 6]      one loop, i = min(from, 7 - 3)
  //                              else:  [0 1 2] [3 4 5] [6]          a loop, and a block of its own
  //
  // One loop is half the code, and all blocks are whole vectors.
  template <typename Body>
  void stepped(int a, Interval range, int width, const Body& body) {
    const int64_t count = range.end - range.begin, rest = count % width;
    if (count <= 0) return;
    if (count <= width) return fixed(a, range.begin, [&] { body(static_cast<int>(count)); });
    if (rest > 0 && steps_again()) {
      const Expr block = at_.new_int("from_" + on_.names[static_cast<size_t>(a)], range);
      return at_.loop(block->index, integer(range.begin), integer(range.end), width, [&] {
        at_.put(Let{a, min(block, integer(range.end - width))});
        body(width);
      });
    }
    const auto last = [&] {
      if (rest > 0) fixed(a, range.end - rest, [&] { body(static_cast<int>(rest)); });
    };
    if (on_.down()) last();
    swept(a, {range.begin, range.end - rest}, width, [&] { body(width); });
    if (!on_.down()) last();
  }

  // A block in which axis a has one value.
  template <typename Body>
  void fixed(int a, int64_t value, const Body& body) {
    at_.put(Braces{at_.body_of([&] {
      at_.put(Let{a, integer(value)});
      body();
    })});
  }

  // Covers the tile axis: body(tile, holds), or body(tile, Holds::kTaps, taps). Tiles are whole where all
  // pixels have all terms, so that no term asks for bounds; around that interior:
  //
  //   p   0 | 1 2 3 | 4 5 6 | 7          bounds known: border | whole tiles | border
  //       0 1 2 | 3 4 5 | 6 7            whole tiles at the ends, too, by runs of taps (edges())
  //       each tile asks                 where other axes decide, too (tiles_or_borders());
  //                                      or the kernel finds the interior itself (varying_interior())
  template <typename Body>
  void tiles(const Body& body) {
    const int p = on_.plan.tile_axis;
    if (p < 0) return body(1, Holds::kSome);
    if (on_.varies(p)) return bounds_are_outer(p) ? tiles_or_borders(body) : varying_interior(body);
    // Of single pixels of floats the borders cost more code than they save.
    const bool once = on_.plan.registers == Registers::kScalar && on_.plan.tile == 1 && is_float(on_.type);
    const Interval inside = once ? Interval{0, 0} : on_.interior(p);
    if (const std::vector<Edge> ends = edges(inside); !ends.empty()) return with_edges(ends, body);
    const Interval before = {0, inside.begin}, after = {inside.end, on_.extent(p)};
    border(on_.down() ? after : before, body);
    stepped(p, inside, on_.plan.tile, [&](int tile) { body(tile, Holds::kAll); });
    border(on_.down() ? before : after, body);
  }

  // A tile at an end of the tile axis.
  struct Edge {
    Interval pixels;
    Taps taps;
  };

  // Whole tiles around what is outside of the interior, where vectors add to the sums of many pixels at once:
  // one pixel at a time waits for each addition. None where much code would come of it, where the result is
  // written downwards, and where pixels would have different parts of sums (shares_parts()), whose bits would
  // change.
  std::vector<Edge> edges(Interval inside) const {
    constexpr int kFewest = 4;       // pixels
    constexpr size_t kMostRuns = 4;  // of taps
    const int64_t end = on_.extent(on_.plan.tile_axis), tile = std::min<int64_t>(on_.plan.tile, end);
    if (on_.plan.registers != Registers::kVector || tile < kFewest || on_.down()) return {};
    std::vector<Interval> ends;
    if (tile == end) {
      ends = {{0, end}};
    } else {
      if (inside.begin > tile || end - inside.end > tile) return {};
      if (inside.begin > 0) ends.push_back({0, tile});
      if (inside.end < end) ends.push_back({ends.empty() ? end - tile : std::max(tile, end - tile), end});
    }
    std::vector<Edge> all;
    // Every end needs taps of one form, or none has them: half of it would be no shorter.
    for (const Interval& pixels : ends) {
      auto taps = on_.taps_of(on_.plan.tile_axis, pixels);
      if (!taps || taps->runs.size() > kMostRuns || adds_along(taps->axis) || shares_parts(on_, taps->axis))
        return {};
      all.push_back({pixels, std::move(*taps)});
    }
    return all;
  }

  // Whether an instruction may add terms along that axis, which is for those of whole tiles.
  bool adds_along(int a) const {
    const auto reads = reads_of(on_.nest.body);
    return a == on_.reduced_axes().back() &&
           !std::ranges::all_of(reads, [](const Expr* read) { return (*read)->type == Type::kFloat32; });
  }

  // The tiles at the ends and those between them.
  template <typename Body>
  void with_edges(const std::vector<Edge>& edges, const Body& body) {
    const int p = on_.plan.tile_axis;
    Interval between = {0, on_.extent(p)};
    const auto put = [&](const Edge& edge) {
      const int tile = static_cast<int>(edge.pixels.end - edge.pixels.begin);
      fixed(p, edge.pixels.begin, [&] { body(tile, Holds::kTaps, &edge.taps); });
    };
    for (const Edge& edge : edges)
      if (edge.pixels.begin == 0)
        put(edge), between.begin = edge.pixels.end;
      else
        between.end = edge.pixels.begin;
    stepped(p, between, on_.plan.tile, [&](int tile) { body(tile, Holds::kAll); });
    if (edges.back().pixels.begin > 0) put(edges.back());
  }

  // Of the tile axis what is outside of the interior: pixel by pixel, but for long runs of pixels that the
  // same terms are missing of.
  template <typename Body>
  void border(Interval range, const Body& body) {
    constexpr int64_t kLong = 4;
    const int p = on_.plan.tile_axis;
    struct Run {
      Interval range;
      bool tiled;
    };
    std::vector<Run> runs;
    for (const Interval& alike : on_.alike(p, range)) {
      const bool tiled = on_.plan.tile > 1 && alike.end - alike.begin >= kLong;
      if (!tiled && !runs.empty() && !runs.back().tiled)
        runs.back().range.end = alike.end;
      else
        runs.push_back({alike, tiled});
    }
    if (runs.empty()) runs.push_back({range, false});
    if (on_.down()) std::ranges::reverse(runs);
    for (const auto& [pixels, tiled] : runs)
      if (tiled)
        stepped(p, pixels, on_.plan.tile, [&](int tile) { body(tile, Holds::kSome); });
      else if (pixels.begin < pixels.end)
        swept(p, pixels, 1, [&] { body(1, Holds::kSome); });
  }

  // Whether all loops that move pixels of axis p beyond bounds have another loop over terms inside of them.
  bool bounds_are_outer(int p) const {
    const std::vector<int> axes = on_.reduced_axes();
    return behind_named(axes, on_.bounds_on(p)) < axes.size();
  }

  // The same where the kernel asks of each tile whether bounds hold, and of one on the border in its loops.
  template <typename Body>
  void tiles_or_borders(const Body& body) {
    const int p = on_.plan.tile_axis;
    stepped(p, {0, on_.extent(p)}, on_.plan.tile, [&](int tile) {
      if (tile == 1) return body(tile, Holds::kSome);
      at_.put(When{on_.tile_fits(on_.bounds_on(p), tile, on_.reduced_axes()),
                   at_.body_of([&] { body(tile, Holds::kAll); }),
                   at_.body_of([&] { body(tile, Holds::kInside); })});
    });
  }

  // The same where the kernel finds the interior, which may be less than a tile:
  //
  //   first_p = where the first bound begins to hold, low_p, high_p, ...     for each bound on p
  //   [0, inside_p)        pixel by pixel
  //   [inside_p, last_p)   whole tiles, the last one again where it may be
  //   [last_p, extent)     pixel by pixel
  //
  // Where no whole tile fits, inside_p = last_p, and all is pixel by pixel.
  template <typename Body>
  void varying_interior(const Body& body) {
    const int p = on_.plan.tile_axis, width = on_.plan.tile;
    const auto each = [&](const Expr& begin, const Expr& end) {
      at_.put(For{p, begin, end, 1, on_.plan.sweep, at_.body_of([&] { body(1, Holds::kSome); })});
    };
    const Expr none = integer(0), all = integer(on_.extent(p)), tile = integer(width);
    if (width == 1) return each(none, all);
    const std::string& name = on_.names[static_cast<size_t>(p)];
    Expr first = none, end = all;
    std::string id = name;  // of a bound
    // The interior of all bounds is where that of each one is.
    for (const auto& [inside, outside] : on_.varying_interiors(p)) {
      first = at_.let("low_" + id, max(at_.let("first_" + id, inside), first));
      end = at_.let("high_" + id, min(at_.let("behind_" + id, outside), end));
      id += "_";
    }
    first = at_.let("inside_" + name, min(first, all));
    // A select instead of a statement: the loops behind it are then empty where no tile fits.
    const Expr fits = first + tile <= end;
    if (steps_again()) {
      const Expr last = at_.let("last_" + name, select(fits, end, first));
      each(none, first);
      const Expr block = at_.new_int("from_" + name, {0, on_.extent(p)});
      at_.loop(block->index, first, last, width, [&] {
        at_.put(Let{p, min(block, last - tile)});
        body(width, Holds::kAll);
      });
      return each(last, all);
    }
    const Expr last = at_.let("last_" + name, select(fits, first + (end - first) / tile * tile, first));
    each(on_.down() ? last : none, on_.down() ? all : first);
    at_.put(For{p, first, last, width, on_.plan.sweep, at_.body_of([&] { body(width, Holds::kAll); })});
    each(on_.down() ? none : last, on_.down() ? first : all);
  }

  void block(const SumBlock& sums) {
    store_results(on_, at_, sum_block(on_, at_, sums, operands_.write_type), operands_.write_type);
  }

  ScheduledNest on_;
  StmtBuilder at_;
  const KernelOperands& operands_;
};

}  // namespace

Kernel lower_nest(const FlatNest& nest, const LoopPlan& plan, const KernelOperands& operands,
                  std::vector<std::string> names) {
  return NestLowering(nest, plan, operands, std::move(names)).run();
}

}  // namespace arenac
