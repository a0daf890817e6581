// The accumulators of a reduction while it runs: of all lanes of some pixels of a tile.
//
//   float acc0[4], acc1[4];                     pixels [0, 2) of 4 lanes, level 0: the whole sums
//     float part1_0[4], part1_1[4];             level 1: parts of them (partial_sums.h), added at their end
//
// Some of a tile's pixels are a Sums, too, with their own of the same registers: borders and taps add to
// these.
#pragma once

#include <utility>
#include <vector>

#include "codegen/stmt.h"

namespace arenac {

struct Sums {
  int lanes;
  Interval pixels;
  int level;
  std::vector<int> registers;  // per pixel
  bool have_zeros = false;     // that pixels share (shared_zeros() in lower_sums.h)

  int reg(int64_t pixel) const { return registers[static_cast<size_t>(pixel - pixels.begin)]; }
};

using Exchange = std::vector<std::pair<Expr, Expr>>;  // one formula by another

inline Expr replaced(const Expr& body, const Exchange& exchange) {
  return substitute(body, [&](const Expr& e) {
    for (const auto& [from, to] : exchange)
      if (same(e, from)) return to;
    return Expr();
  });
}

}  // namespace arenac
