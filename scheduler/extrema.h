// The least or greatest of all elements, as dynamic quantisation asks for it, in two steps:
//
//   y = max(k) x[k]                one comparison after the other
//
//   m[l] = max(k) x[16 * k + l]    the lanes of a vector
//   y = max(l) m[l]
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// The graph in which such nodes of enough elements, side by side in the last dimension, are two where the
// target has vectors. The same bits but for the sign of a zero.
Graph with_extrema_in_lanes(Graph graph, const Target& target);

}  // namespace arenac
