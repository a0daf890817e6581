// How precisely 16-bit models compute.
//
//   conv1_out float16 1.5M   pool1 float16 378K   ...   conv10 float16 330K   pool10 float16 2K
//        the arena's peak                               -> float32 660K       -> float32 4K
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The most bytes that live at a time when a graph's nodes run whole. What stages behind this one know.
using PeakOf = int64_t (*)(const Graph& graph);

// The graph with float32 in place of 16-bit activations up to some size: the largest for which that peak is
// no higher. What costs nothing is not rounded.
Graph with_free_precision(Graph graph, PeakOf peak_of);

}  // namespace arenac
