// Sums of products of dequantised integers, summed as integers:
//
//   y[m] = relu(sum(k)  (float)(x[k] - 3) * 0.5 * (float)w[m,k] * s[m]   + b[m])      float32
//   y[m] = relu((float)(sum(k) (x[k] - 3) * w[m,k]) * (0.5 * s[m])       + b[m])      int32, then float32
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

// The graph in which a float32 sum runs in int32 where its body is a product of integers (casts to float32 of
// expressions in integers) and of scales (what no reduced axis changes), and the sum of the largest products
// fits in int32. The scales multiply the sum. Constants that were folded from narrower ones are read in their
// narrow form there: dequantised weights stay int8.
//
// The integer sum is exact. It is rounded to float32 once and multiplied by the scales: the value that
// `finish` gets is within 3 ulp of the exact real one (a rounding of the sum, of the scales' product, of the
// two's product), where the sum in float32 rounds at every step. A result that is then quantised differs by
// one quantum at most, and only where the real value lies next to a tie.
Graph with_integer_sums(Graph graph);

// What the sums on the way of a nest that sums integers, with operands `reads`, are within: [-most, most];
// INT64_MAX for more than that.
int64_t most_of_sums(const Nest& nest, const std::vector<TensorId>& reads, const Graph& graph);

}  // namespace arenac
