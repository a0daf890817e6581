// What narrows elements comes before what moves them:
//
//   c = Conv(...)  d = Dequantize(...)  j = Concat(c, d)  t = Transpose(j)  y = Quantize(t)      float32
//   c = Conv(...)  d = Dequantize(...)  p = Quantize(c)  q = Quantize(d)  j = Concat(p, q)  y = Transpose(j)
//
// The movements then move fewer bytes, and the narrowing node can join the one that makes its elements.
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph in which an element-wise node whose result is of a smaller type than the one operand it has
// besides constants comes before the copies of which that operand is made, as far as nothing else reads what
// they copy, and no more elements are narrowed than before. The same bits.
Graph with_early_narrowing(Graph graph);

}  // namespace arenac
