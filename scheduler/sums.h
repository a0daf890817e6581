// Sums of several tensors, added in the order in which these come to be:
//
//   b = f(a)  c = f(b)  d = f(c)          a, b, c and d are there before the first addition
//   y = (d + c + b) + a
//
//   b = f(a)  s = a + b  c = f(b)  t = s + c  d = f(c)  y = t + d        never more than three
#pragma once

#include "frontend/graph.h"
#include "scheduler/order.h"

namespace arenac {

// kExact: only sums whose result does not depend on it, those of integers. kAny: floats, too, which then
// round in other places.
enum class Reorder : uint8_t { kExact, kAny };

// The graph with its sums of three tensors and more added one by one, each as soon as it is there in the best
// order of operators found; again with the order that is best then, as long as the peak falls. The graph as
// it is where it never does.
Graph with_reordered_sums(Graph graph, Reorder reorder, const OrderLimits& limits = {});

}  // namespace arenac
