// Reductions of whole images, written so that they can take their operand a few rows at a time.
//
//   out[c] = finish(sum(y,x) in[c,y,x])    becomes    acc[c] = 0;  acc[c] += in[c,y,x] for all y, x;
//                                                     out[c] = finish(acc[c])
//   out[n] = finish(sum(c,y,x) in[c,y,x] * w[c,y,x,n])  likewise
//   out[i,j] = sum(t) keys[t,i] * values[t,j]           likewise, token by token
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph with its reductions of one large operand or of products of two to few results (global pooling,
// means over rows and columns, fully connected layers, attention without softmax) in that form. The order in
// which elements are added stays. Slower by itself: the sums are in memory, long ones of float32 as float64.
Graph with_accumulators(Graph graph);

}  // namespace arenac
