#include "codegen/fetches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

namespace arenac {
namespace {

constexpr double kLine = 64;  // bytes that caches fetch at once

}  // namespace

// Bytes touched since then, as if a cache kept the last that it holds (LRU, and no two lines in each other's
// way).
int caches_passed(double bytes, const Costs& costs) {
  if (costs.near_bytes == 0) return 0;
  return (bytes > static_cast<double>(costs.near_bytes)) + (bytes > static_cast<double>(costs.cache));
}

// From the innermost loop outwards, until what is touched no longer fits the first cache. Up to there every
// byte is fetched once and then near; that many bytes, shared by the accesses, are fetched anew whenever the
// loops around turn. From where depends on how much is touched in between: all that the loop around touches.
//
//   range    from the first byte to the last, where strides overlap: a window of 3 over a row touches the row
//   places   accesses of loops that move it: those of others are repeats
//
// The smaller of both, in bytes, is what is touched. (Reuse and localised iterations as in Wolf and Lam, "A
// Data Locality Optimizing Algorithm", PLDI 1991, in numbers instead of vectors.)
double fetching(double bytes, std::span<const MovingLoop> around, double between, const Costs& costs) {
  double accesses = 1, places = 1, range = bytes;  // of the loops so far, from the innermost on
  double share = bytes;                            // of the bytes near, for each access
  double beyond = between;                         // bytes from one touch of these to the next
  for (const MovingLoop& loop : around | std::views::reverse) {
    accesses *= loop.turns;
    if (loop.distance != 0) places *= loop.turns;
    range +=
        loop.distance ? std::abs(*loop.distance) * (loop.turns - 1) : std::numeric_limits<double>::infinity();
    const double touched = std::min(places * bytes, range);
    if (caches_passed(touched, costs) > 0) {
      beyond = touched;
      break;
    }
    share = touched / accesses;
  }
  const double each[] = {0, costs.fetch, costs.far_fetch};
  return share / kLine * each[caches_passed(beyond, costs)];
}

}  // namespace arenac
