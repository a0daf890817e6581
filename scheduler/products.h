// How factors of sums of products (frontend/products.h) lie best:
//
//   scores[h, t, o] = sum(i) q[h, t, i] * k[h, i, o]
//
//   neighbouring results are lanes of a vector where the elements of k that they take lie side by side. A
//   projection writes k token by token: k[h, i, o] at 256 * o + 64 * h + i
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// Whether `reader` sums such products of which `factor`, which lies as `layout` says, has the elements for
// neighbouring results apart.
bool lanes_lie_apart(const Node& reader, TensorId factor, const Layout& layout, const Graph& graph);

}  // namespace arenac
