// How a flat nest is walked: the order of its loops, of which the innermost has unit stride, and the blocks
// of lanes and pixels that one pass computes.
//
//   y[m, p] = sum(k, c) x[p + k, c] * w[m, k, c]
//
//   for blocks of 16 m: for tiles of 6 p: for k: for c: 6 * 16 sums
#pragma once

#include "scheduler/byte_walks.h"
#include "scheduler/flat_nest.h"

namespace arenac {

// Chooses how to walk the nest. Constant operands count as if they had whatever layout serves best.
LoopPlan plan_loops(const Nest& nest, const Node& node, const Graph& graph,
                    const std::vector<Layout>& layouts, const Target& target);

}  // namespace arenac
