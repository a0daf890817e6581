// A graph of one random loop nest: affine indices with any coefficients, several bounds on one axis, every
// combination; what no operator happens to lower to, but the interfaces allow.
//
//   out[i1, i0] = max(k2, k3) x0[2*i0 - k2 + 1, i1] * x1[k3]  where 0 <= 2*i0 - k2 + 1 < 5, 1 <= 3*k3 - k2 <
//   9
#pragma once

#include "frontend/graph.h"

namespace arenac {

Graph random_nest(unsigned seed);

}  // namespace arenac
