#include "codegen/fetches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

namespace arenac {
namespace {

constexpr double kLine = 64;  // bytes that caches fetch at once

}  // namespace

int caches_passed(double bytes, const Costs& costs) {
  if (costs.near_bytes == 0) return 0;
  return (bytes > static_cast<double>(costs.near_bytes)) + (bytes > static_cast<double>(costs.cache));
}

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
