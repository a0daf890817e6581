// Inputs whose elements the caller lays out as one plane a channel, for sums that walk along the channels:
//
//   y[m, i, j] = sum over c of x[c, i, j] * w[m, c]      x, by planes: each c lies a plane away from the last
//
//   a = x, channels innermost                            one walk over x; then four channels are one word
//   y[m, i, j] = sum over c of a[c, i, j] * w[m, c]
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// The graph with a copy of each input of bytes that such sums read, where the target multiplies bytes that
// lie side by side with scalar registers. It takes the input's bytes again while they run.
Graph with_input_copies(Graph graph, const Target& target);

}  // namespace arenac
