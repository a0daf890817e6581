// From real numbers to stored integers: see export.h for the scheme.
//
//   activation_params({-1, 3}, -128)        scale 4 / 255, zero point -64: -1 is -128, 0 is -64, 3 is 127
//
// Quotients are of doubles and rounded to nearest even, so that every machine stores the same integers.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network.h"

namespace arenac::models {

// real = scale * (stored - zero_point).
struct QuantParams {
  float scale;
  int32_t zero_point;
};

// Maps `range` onto the 256 values that begin at `lowest` (-128 or 0).
QuantParams activation_params(const Range& range, int32_t lowest);

struct QuantWeights {
  std::vector<int8_t> values;  // as layer.weights
  std::vector<float> scales;   // [M]
  std::vector<int32_t> bias;   // [M], of scale input_scale * scales[m]
};

// Per output channel, symmetric: the largest magnitude of a channel is 127. `input_scale` is that of what the
// layer reads.
QuantWeights quantize_weights(const Layer& layer, float input_scale);

struct QuantVector {
  std::vector<int8_t> values;
  float scale;
};

// Symmetric, one scale.
QuantVector quantize_symmetric(const std::vector<float>& values);

}  // namespace arenac::models
