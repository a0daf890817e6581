// Zeros around an operand of a sum become bounds of the sum:
//
//   p = 0 everywhere, p[i + 1] = x[i];  y[i] = sum(k) p[i + k] * w[k]
//   y[i] = sum(k where 0 <= i + k - 1 < n) x[i + k - 1] * w[k]
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph without the padded copies of tensors that only sums of products read, for which the padding
// contributes nothing: what is in it makes the product 0, and the other factors are finite whatever the run
// brings. The sums are the same bits. A dequantised or cast tensor is padded as well as a copied one.
Graph with_merged_padding(Graph graph);

}  // namespace arenac
