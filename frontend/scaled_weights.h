// What scales a sum of products by constants, and shifts it, goes into the constants among the factors:
//
//   y[m] = max((sum(k) x[k] * w[m,k] - mean[m]) * s[m] + t[m], 0)      a convolution, BatchNormalization,
//   Relu y[m] = max(sum(k) x[k] * v[m,k] + b[m], 0)                         v = w * s, b = t - mean * s
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph with float sums in that form: where the scale depends on nothing but indices of the weights, and
// nobody else reads these. Weights that are kept in a narrower type stay.
//
// A weight is rounded once more, so the sum is off by half an ulp of each product at most, and rounds as it
// did before; scales that are powers of two keep every bit but the sign of a zero.
Graph with_scaled_weights(Graph graph);

}  // namespace arenac
