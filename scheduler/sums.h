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

// The graph with its sums of three tensors and more added one by one, each as soon as it is there in the best
// order of operators found; again with the order that is best then, as long as the peak of whole layers
// falls. The graph as it is where it never does. Floats round in other places then; what is between two
// additions keeps its name, but holds another sum.
Graph with_reordered_sums(Graph graph, const OrderLimits& limits = {});

}  // namespace arenac
