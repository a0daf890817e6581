// Element-wise nodes become part of their neighbours, so that their intermediate tensors vanish:
//
//   x int8 --DequantizeLinear--> float32 --Conv--> float32 --Relu--> float32 --QuantizeLinear--> y int8
//   x int8 ------- [sum (x - zero) * scale * w, then round(max(sum, 0) / s) + z] -------------> y int8
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph with fewer and larger nodes that computes the same bits.
//
// A consumer that maps every element of its producer's result to one element of its own, and is its only
// reader, is appended to the producer's nests: to `finish` where they reduce, else to `body`. Its other
// operands are there by then, and its elements are no larger; where they are as large, those operands are
// small, or the producer's own too, so that the order of large ones stays open.
//
// A producer of a few casts, additions and multiplications an element is inlined into the reads of all its
// consumers, whatever they reduce, where its operands take less memory than its result (dequantisation,
// casts) or are there anyway and few elements are computed more than once (a mean that is subtracted).
//
// Left alone are results that a 16-bit type rounds (but for consumers that choose among them and limits of
// that type: it is the same to round what is chosen), graph outputs, what control flow assigns or reads, and
// copies, which the scheduler turns into views.
Graph with_inlined_elements(Graph graph);

}  // namespace arenac
