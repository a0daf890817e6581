// A layer of int8, read off its nest: a sum of products with constants and what makes int8 of it.
//
//   out[i0, i1] = sum(i2) (x0[i0, i2] + 128) * x1[i1, i2]
//                 then int8(min(max(requantize(acc + x2[i1], x3[i1]) - 3, -128), 127))
//
//   x = x0[i0, i2], weight = x1[i1, i2], bias = x2[i1], scale = x3[i1]; input_offset 128, output_offset -3
#pragma once

#include <optional>

#include "frontend/graph.h"

namespace arenac {

struct QuantizedLayer {
  Expr x, weight;    // reads of int8, the second one of a constant
  Expr bias, scale;  // int32, float32: literals or reads of constants; an empty bias is none
  int64_t input_offset, output_offset, least, most;
};

// Nothing where a node is anything else.
std::optional<QuantizedLayer> quantized_layer(const Node& node, const Graph& graph);

}  // namespace arenac
