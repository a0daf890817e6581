// A nest with the order its loops come in, and what both say of its bounds: what lower_nest.h asks.
//
//   y[p] = sum over k in [0, 3) of x[p + k - 1], where 0 <= p + k - 1 < 8
//
//   p    0 | 1 2 3 4 5 6 | 7                interior(p) = [1, 7): there all terms are within bounds
//
// All of it is interval arithmetic on affine forms: a bound says begin <= c * p + (other axes) + constant <
// end, and what the other axes add lies between two numbers (spread()).
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "codegen/stmt.h"
#include "scheduler/loops.h"

namespace arenac {

using Bounds = std::vector<Bound>;

// That bounds hold; empty: always.
Expr condition(const Bounds& bounds);
// That both hold; an empty one always does.
Expr both(const Expr& a, const Expr& b);

// The number of the axes up to the last that a bound names.
size_t behind_named(const std::vector<int>& axes, const Bounds& bounds);

// For which pixels of a tile the terms are within bounds, by the values of a reduced axis:
//
//   pixels [0, 4) of p in the drawing      k in [0, 1): pixels [1, 4)      k in [1, 3): pixels [0, 4)
struct Taps {
  struct Run {
    Interval values, pixels;
  };
  int axis;
  std::vector<Run> runs;  // ascending; of those with pixels
};

// Asks of one nest and plan; knows nothing of statements. The functions say what holds for every point: where
// they cannot, the answer is the one that leaves the question to the kernel (an empty interior, no taps).
class ScheduledNest {
 public:
  // Refers to the nest and the plan. `names` of the axes may be fewer than these.
  ScheduledNest(const FlatNest& nest, const LoopPlan& plan, std::vector<std::string> names);

  const FlatNest& nest;
  const LoopPlan& plan;
  Type type;                       // of the body
  ByteProducts bytes;              // the plan's, where the layouts are as it expects
  std::vector<std::string> names;  // of the loops over the axes

  // Whether the target has instructions for vectors of products of bytes, added along a sum or in lanes.
  bool has_byte_vectors() const {
    return bytes == ByteProducts::kAlongSumOfVectors ||
           (bytes == ByteProducts::kAcrossLanes && plan.registers == Registers::kVector);
  }
  bool down() const { return plan.sweep == Sweep::kDown; }
  int64_t extent(int a) const { return nest.axes[static_cast<size_t>(a)].extent; }
  bool reduced(int a) const { return nest.axes[static_cast<size_t>(a)].reduced; }
  // Reduced axes with more than one value, outer first.
  std::vector<int> reduced_axes() const;
  // Where an axis comes among the loops; behind all of them: nowhere.
  std::ptrdiff_t depth_of(int a) const;

  Expr index_of(const Affine& form) const;
  // The expression for pixel j of the tile and the lane that runs, of a block of so many.
  Expr at_point(const Expr& e, int64_t j, int lanes) const;
  Expr at_point(const Expr& e, const Expr& j, int lanes) const;

  // Whether it depends on other outer axes or on the number of a slab where along axis p its bounds hold.
  bool varies(int p) const;
  // Where along axis p every bound that depends on p holds for all values of the reduced axes. Bounds that
  // also depend on other outer axes leave nothing.
  Interval interior(int p) const;
  // The same of each bound where it varies, from the one to the other, as far as both are within the axis.
  std::vector<std::pair<Expr, Expr>> varying_interiors(int p) const;
  // `range` of axis p in runs, of which the pixels of each have all of their terms within bounds for the same
  // values of the reduced axes: of a dilated window the pixels that the same taps are beyond the border of.
  // None where bounds name several reduced axes.
  std::vector<Interval> alike(int p, Interval range) const;
  // Of the pixels [tile.begin, tile.end) of axis p; nothing where bounds on p name anything but it and one
  // reduced axis.
  std::optional<Taps> taps_of(int p, Interval tile) const;
  // The bounds that depend on axis p.
  Bounds bounds_on(int p) const;
  // That bounds hold for all pixels of a tile from where it begins, for all values of the `over` axes.
  Expr tile_fits(const Bounds& bounds, int tile, const std::vector<int>& over) const;
  // Whether a form bounds axis a when that runs: reduced axes further in are not known yet.
  bool narrows(const Affine& form, int a) const;
  // Whether a read's address falls as a reduced axis rises, as in a transposed convolution.
  bool walks_backwards() const;
  // Whether pixels of a tile are stored anywhere in a ring.
  bool stores_around() const;

 private:
  // What a form adds at the ends of the axes' ranges: at the least and at the most.
  std::pair<int64_t, int64_t> spread(const Affine& form, const std::vector<int>& over) const;

  std::map<int, int64_t> trips_;  // per symbol of an iteration
};

}  // namespace arenac
