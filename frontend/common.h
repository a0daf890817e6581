// What is computed twice, or kept twice, is there once:
//
//   a = Conv(x, w);  y = Relu(a);  b = Conv(x, v);  z = Neg(b)        v is as w
//   a = Conv(x, w);  y = Relu(a);                   z = Neg(a)
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph without the nodes that compute what an earlier one of their block has computed from the same
// operands (Cocke, "Global common subexpression elimination", 1970), and with one constant for all of the
// same type, shape and bytes. The same bits. Graph outputs stay, and so does what control flow assigns and
// what reads that. What constants were folded from is forgotten.
Graph with_common_nodes(Graph graph);

}  // namespace arenac
