// What an access costs that a first-level cache does not hold: what was touched long ago is fetched again.
//
//   for j in [0, 8):                 w in blocks of 32 columns, 8 KB each of its 64 KB:
//     for i in [0, 10):                while i moves on, a block is near,
//       for k in [0, 64):              so that a tenth of the reads of w wait for the second-level cache
//         acc += x[64 * i + k] * w[256 * k + 32 * j .. + 32]
#pragma once

#include <optional>
#include <span>

#include "scheduler/schedule.h"

namespace arenac {

// A loop around an access: how often it turns, and by how many bytes each turn moves the access; nothing
// where it moves, but not by the same each time.
struct MovingLoop {
  double turns = 1;
  std::optional<double> distance = 0;
};

// Which cache no longer holds what was touched so many bytes ago: 0 none of them, 1 the first, 2 the second.
int caches_passed(double bytes, const Costs& costs);

// Units of Costs, on average of one access to `bytes` in these loops, the outermost first. `between` are the
// bytes that are touched from one run of them all to the next.
double fetching(double bytes, std::span<const MovingLoop> around, double between, const Costs& costs);

}  // namespace arenac
