// Sums in a loop that nothing of the loop goes into, for all its moments before it:
//
//   for t:  g[m] = sum(i) x[t, i] * w[m, i]              w is read anew for each moment
//           h[m] = f(g[m], h)
//
//   a[t, m] = sum(i) x[t, i] * w[m, i]                   one product of matrices
//   for t:  h[m] = f(a[t, m], h)
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// The graph with such sums before the loops of its block that run all their trips; what was there for a
// moment takes memory for all of them. The same bits.
Graph with_hoisted_sums(Graph graph);

}  // namespace arenac
