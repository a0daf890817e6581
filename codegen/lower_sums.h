// One block of a reduction: the loops over the reduced axes around its terms.
//
//   acc0 = 0, acc1 = 0                                  two pixels p, p + 1
//   for ky in [low, high): for kx: acc0 += ..., acc1 += ...
//
// Bounds narrow the loops they can; the rest is asked of every term. Of a tile of which it is known where it
// lies, each run of taps adds to the sums of the pixels that have it:
//
//   for ky: { for kx in [0, 1): acc1 += ... }  { for kx in [1, 3): acc0 += ..., acc1 += ... }
#pragma once

#include <optional>

#include "codegen/scheduled_nest.h"
#include "codegen/stmt_builder.h"
#include "codegen/sums.h"

namespace arenac {

// `lanes` along the vector axis for each of `tile` pixels.
struct SumBlock {
  int lanes, tile;
  // Whether bounds on the tile axis hold: for all pixels; for some or none; that is known inside of the loops
  // that move pixels beyond bounds, of which none is the innermost; or of each of the taps for some pixels.
  enum class Holds : uint8_t { kAll, kSome, kInside, kTaps } holds;
  const Sums* zeros = nullptr;  // of blocks where all hold, what shared_zeros() gave
  const Taps* taps = nullptr;   // kTaps; of an axis of which no values share parts of the sums
};

// Whether several values of a reduced axis make one part of a sum (partial_sums.h): then all pixels of a
// block have the same.
bool shares_parts(const ScheduledNest& nest, int a);

// Of products of bytes in whole vectors: what the zero of the pixels' factor adds to the sum of each pixel
// where bounds on the tile axis hold, before the loop over the tiles:
//
//   zero0 = z * (w[0] + w[1] + ...)
//   for p: acc0 = zero0 + (x[p] * w[0] + x[p + 1] * w[1] + ...)
//
// Nothing where there is no such factor.
std::optional<Sums> shared_zeros(const ScheduledNest& nest, StmtBuilder& at, int lanes);

// Puts the block's sums, from the neutral element or what is stored on; gives the accumulators.
Sums sum_block(const ScheduledNest& nest, StmtBuilder& at, SumBlock block, Type write_type);

}  // namespace arenac
