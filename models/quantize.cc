#include "models/quantize.h"

#include <algorithm>
#include <cmath>

namespace arenac::models {
namespace {

// Round half to even, the default rounding mode.
int32_t rounded(double value) { return static_cast<int32_t>(std::nearbyint(value)); }

// The scale that brings the largest magnitude to 127; 1 if all are zero.
float symmetric_scale(const float* first, const float* last) {
  float largest = 0;
  for (const float* v = first; v != last; ++v) largest = std::max(largest, std::fabs(*v));
  return largest == 0 ? 1.0f : largest / 127;
}

// Never -128: two products of -128 by -128 add up to 2^15, and kernels that add pairs in int16 hold less.
int8_t to_int8(float value, float scale) {
  return static_cast<int8_t>(std::clamp(rounded(static_cast<double>(value) / scale), -127, 127));
}

}  // namespace

// The zero point is an integer of the range, so that real 0 (padding, ReLU) has no error. A range without
// extent stands for nothing but 0.
QuantParams activation_params(const Range& range, int32_t lowest) {
  if (range.low == range.high) return {1.0f, 0};
  const float scale = (range.high - range.low) / 255;
  return {scale, std::clamp(lowest - rounded(static_cast<double>(range.low) / scale), lowest, lowest + 255)};
}

QuantWeights quantize_weights(const Layer& layer, float input_scale) {
  const size_t fan_in = layer.weights.size() / layer.bias.size();
  QuantWeights quantized;
  for (size_t m = 0; m < layer.bias.size(); ++m) {
    const float* first = layer.weights.data() + m * fan_in;
    const float scale = symmetric_scale(first, first + fan_in);
    quantized.scales.push_back(scale);
    for (const float* w = first; w != first + fan_in; ++w) quantized.values.push_back(to_int8(*w, scale));
    quantized.bias.push_back(rounded(layer.bias[m] / (static_cast<double>(input_scale) * scale)));
  }
  return quantized;
}

QuantVector quantize_symmetric(const std::vector<float>& values) {
  const float scale = symmetric_scale(values.data(), values.data() + values.size());
  QuantVector quantized{{}, scale};
  for (const float value : values) quantized.values.push_back(to_int8(value, scale));
  return quantized;
}

}  // namespace arenac::models
