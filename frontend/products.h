// Sums of products of two tensors that are both computed, as attention has them:
//
//   scores[h, t, o] = sum(i) q[h, t, i] * k[h, i, o]
//
//   neighbouring results, those of o, share an element of q, and each has one of k of its own
//
// and convolutions whose weights are computed:
//
//   y[m, i, j] = sum(c, u, v) x[c, i + u, j + v] * w[m, c, u, v]         those of m share an element of x
#pragma once

#include <optional>

#include "frontend/graph.h"

namespace arenac {

// In a nest of such a sum: the axis along which neighbouring results are stored (channels of what slides
// windows), and of the two reads the one that moves along it.
struct ProductLanes {
  int axis;
  Expr read;
};
// Nothing where the nest is no such sum, both reads move along that axis, or it is not a dimension of the
// one.
std::optional<ProductLanes> product_lanes(const Nest& nest, const Node& node, const Graph& graph);

// The graph in which each such read is of a tensor that nobody else reads and that is no input: an Identity
// of the tensor, where it is none. The scheduler chooses where it lies, and whether it is a view or a copy.
Graph with_own_factors(Graph graph);

}  // namespace arenac
