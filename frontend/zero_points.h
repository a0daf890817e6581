// Zero points that only the run knows, as dynamic quantisation has them, outside of the sums that they are
// in:
//
//   acc[i, j] = sum(k) (x[i, k] - z) * w[k, j]
//   acc[i, j] = sum(k) x[i, k] * w[k, j]  -  z * (sum(k) w[k, j])       the second sum is a constant
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph in which an int32 sum of products of such a difference and of constants sums the products without
// the zero point, if no bound leaves terms out and the zero point is the same for all terms. The same bits:
// sums of int32 wrap.
Graph with_zero_points_outside(Graph graph);

}  // namespace arenac
