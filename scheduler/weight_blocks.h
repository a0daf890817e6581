// Weights that a cache does not hold, a block of lanes after the other:
//
//   y[i, m] = sum(k) x[i, k] * w[k, m]                    lanes of one k after the other: a row apart
//   y[i, 16 * m + l] = sum(k) x[i, k] * w[m, k, l]        side by side
//
//   w is read from its beginning to its end, and where all i come within a block (loops.cc), once
//
// And weights of fewer columns than a vector has lanes, with columns of zeros up to a power of two (of bytes,
// to what byte_lanes.h says), so that a vector holds them:
//
//   y[i, m] = sum(k) x[i, k] * w[k, m], m < 3              w: a b c 0  d e f 0  ..., read for m < 4
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// The graph with the constants of sums of products that nobody else reads: those of float32 that take more
// bytes than the target's cache in blocks of its lanes, where these come out even, or if they are converted,
// as (float)w[k, m] * s[m], of twice as many; those of fewer columns than lanes, read for several pixels, of
// float32 and of bytes that vectors multiply along the sum, with columns of zeros. The same bits.
Graph with_weight_blocks(Graph graph, const Target& target);

}  // namespace arenac
