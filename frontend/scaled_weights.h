// What scales a sum of products by constants, and shifts it, goes into the constants among the factors:
//
//   y[m] = max((sum(k) x[k] * w[m,k] - mean[m]) * s[m] + t[m], 0)      a convolution, BatchNormalization,
//   Relu y[m] = max(sum(k) x[k] * v[m,k] + b[m], 0)                         v = w * s, b = t - mean * s
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph with float sums in that form: where the scale depends on nothing but indices of the weights,
// these are read once and nowhere else, and all products are normal numbers (or the weights were 0). Weights
// that were made of narrower numbers stay, and so do very many.
//
// A weight is rounded once more, and so are scale and shift; the sum then rounds as it did before. Scales
// that are powers of two keep every bit but the sign of a zero.
Graph with_scaled_weights(Graph graph);

}  // namespace arenac
