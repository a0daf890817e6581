// Recurrences in step: loops of the same trip count become one, and what lies between them is kept for one
// moment.
//
//   for t: h[t] = f(x[t], ..)                         for t: h[0] = f(x[t], ..)
//   r = Relu(h)                               ->             r[0] = Relu(h[0])
//   for u: y[u] = g(r[u], ..)                                y[0] = g(r[0], ..)
//   z = y[last]                                       z = y[0]
#pragma once

#include <limits>

#include "frontend/graph.h"

namespace arenac {

// Fuses a top-level loop with a later one of the same constant trip count (Kennedy and McKinley, "Maximizing
// loop parallelism and improving data locality via loop fusion and distribution", 1993) that reads what the
// earlier one writes only at its own iteration, with the nodes between that compute one moment from one
// moment; outputs that do so, and take little, follow into the loop, and so does what it alone reads
// (loop_sinking.h). Of a tensor that is written at [t], read at [t] in the loop, and after it only at the
// last moment, one element of that dimension stays (array contraction). Time runs the same way in both: a
// loop that runs backwards over what one wrote forwards needs all of it. The same bits; no work is added.
//
// Loops whose constants are more bytes than `most_constants` together stay apart: a processor's cache holds
// those of one of them from one moment to the next, and not of both.
inline constexpr int64_t kEveryConstant = std::numeric_limits<int64_t>::max();
Graph with_fused_loops(Graph graph, int64_t most_constants = kEveryConstant);

}  // namespace arenac
