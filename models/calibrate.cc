#include "models/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace arenac::models {
namespace {

// Few: statistics of a channel are over all its pixels, too.
constexpr int64_t kSamples = 16;
constexpr uint64_t kInputSeed = 2021;
constexpr uint64_t kNormSeed = 2015;

// Outputs of all samples at once, layer by layer: batch normalisation wants the whole batch before the next
// layer runs.
using Values = std::vector<float>;  // of one layer, all samples: [kSamples, C, H, W]

struct Extent {
  int64_t channels, height, width;
  int64_t plane() const { return height * width; }
};

// Of [1,C] a 1x1 image.
Extent extent_of(const std::vector<int64_t>& shape) {
  return shape.size() == 2 ? Extent{shape[1], 1, 1} : Extent{shape[1], shape[2], shape[3]};
}

float& at(Values& values, int64_t index) { return values[static_cast<size_t>(index)]; }
float at(const Values& values, int64_t index) { return values[static_cast<size_t>(index)]; }

// Sample n is constant over runs of 4^(n mod 4) elements: from pure noise to broad stripes.
Values seeded_inputs(const std::vector<int64_t>& shape) {
  const int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  Random random(kInputSeed);
  Values values;
  for (int64_t n = 0; n < kSamples; ++n) {
    const int64_t run = int64_t{1} << (2 * (n % 4));
    float value = 0;
    for (int64_t i = 0; i < size; ++i) values.push_back(value = i % run == 0 ? random.symmetric() : value);
  }
  return values;
}

// Sums of neighbouring channels at once: each takes its products one after the other and waits for no other.
constexpr int64_t kLanes = 8;
using Lanes = std::array<double, kLanes>;

// Weights of channels [m, m + kLanes), zero from `end` on: one vector for each tap.
std::vector<Lanes> lanes_of(const Layer& layer, int64_t fan_in, int64_t m, int64_t end) {
  std::vector<Lanes> taps(static_cast<size_t>(fan_in), Lanes{});
  for (int64_t lane = 0; lane < std::min(kLanes, end - m); ++lane)
    for (int64_t k = 0; k < fan_in; ++k)
      taps[static_cast<size_t>(k)][static_cast<size_t>(lane)] = at(layer.weights, (m + lane) * fan_in + k);
  return taps;
}

// Some channels of one output of a convolution without its bias, in the order c, ky, kx; [y, x] is the output
// position, `in` the group's first plane.
Lanes window_sums(const Layer& layer, const Extent& in, const float* input, const std::vector<Lanes>& weights,
                  std::array<int64_t, 2> place) {
  const Window& window = layer.window;
  const int64_t y0 = place[0] * window.stride[0] - window.pad_begin[0];
  const int64_t x0 = place[1] * window.stride[1] - window.pad_begin[1];
  const int64_t ky_begin = std::max<int64_t>(0, -y0), ky_end = std::min(window.kernel[0], in.height - y0);
  const int64_t kx_begin = std::max<int64_t>(0, -x0), kx_end = std::min(window.kernel[1], in.width - x0);
  // In double, whose products of two floats are exact: only sums round.
  Lanes sums = {};
  for (int64_t c = 0; c < in.channels / layer.groups; ++c) {
    for (int64_t ky = ky_begin; ky < ky_end; ++ky) {
      const float* row = input + c * in.plane() + (y0 + ky) * in.width;
      const Lanes* taps = weights.data() + (c * window.kernel[0] + ky) * window.kernel[1];
      for (int64_t kx = kx_begin; kx < kx_end; ++kx)
        for (size_t lane = 0; lane < kLanes; ++lane)
          sums[lane] += static_cast<double>(row[x0 + kx]) * taps[kx][lane];
    }
  }
  return sums;
}

// A dense layer is the 1x1 convolution of a 1x1 image.
Values convolve(const Layer& layer, const Extent& in, const Values& input) {
  const Extent out = extent_of(layer.shape);
  const int64_t fan_in = static_cast<int64_t>(layer.weights.size()) / out.channels;
  const int64_t group_in = in.channels / layer.groups, group_out = out.channels / layer.groups;
  Values output(static_cast<size_t>(kSamples * out.channels * out.plane()));
  // Lanes never cross a group: its channels read the same planes.
  for (int64_t m = 0, count = 0; m < out.channels; m += count) {
    const int64_t group = m / group_out;
    count = std::min(kLanes, (group + 1) * group_out - m);
    const std::vector<Lanes> weights = lanes_of(layer, fan_in, m, m + count);
    for (int64_t n = 0; n < kSamples; ++n) {
      const float* first = input.data() + (n * in.channels + group * group_in) * in.plane();
      for (int64_t i = 0; i < out.plane(); ++i) {
        const auto sums = window_sums(layer, in, first, weights, {i / out.width, i % out.width});
        for (int64_t lane = 0; lane < count; ++lane)
          at(output, (n * out.channels + m + lane) * out.plane() + i) =
              static_cast<float>(sums[static_cast<size_t>(lane)]);
      }
    }
  }
  return output;
}

// Calls f with every value of channel m, in order.
template <typename F>
void for_channel(Values& values, const Extent& extent, int64_t m, F f) {
  for (int64_t n = 0; n < kSamples; ++n)
    for (int64_t i = 0; i < extent.plane(); ++i)
      f(at(values, (n * extent.channels + m) * extent.plane() + i));
}

// Normalises `output` channel by channel and folds that into the layer. Gain and shift are
// in [1, 2): most units are active, which keeps the signal above the noise of int8 through many layers.
void fold_batch_norm(Layer& layer, Values& output, Random& random) {
  constexpr double kEpsilon = 1e-3;
  const Extent extent = extent_of(layer.shape);
  const double count = static_cast<double>(kSamples * extent.plane());
  const int64_t fan_in = static_cast<int64_t>(layer.weights.size()) / extent.channels;
  for (int64_t m = 0; m < extent.channels; ++m) {
    double mean = 0, variance = 0;
    // Two passes: the variance about the mean, which does not cancel.
    for_channel(output, extent, m, [&](float& v) { mean += v / count; });
    for_channel(output, extent, m, [&](float& v) { variance += (v - mean) * (v - mean) / count; });
    const double gain = (1.5 + 0.5 * random.symmetric()) / std::sqrt(variance + kEpsilon);
    const double shift = 1.5 + 0.5 * random.symmetric() - mean * gain;
    for (int64_t i = m * fan_in; i < (m + 1) * fan_in; ++i)
      at(layer.weights, i) = static_cast<float>(at(layer.weights, i) * gain);
    at(layer.bias, m) = static_cast<float>(shift);
    for_channel(output, extent, m, [&](float& v) { v = static_cast<float>(v * gain + shift); });
  }
}

// Padding takes no part: each window has at least one element of the image.
Values max_pool(const Layer& layer, const Extent& in, const Values& input) {
  const Extent out = extent_of(layer.shape);
  const Window& window = layer.window;
  Values output;
  for (int64_t plane = 0; plane < kSamples * out.channels; ++plane) {
    for (int64_t i = 0; i < out.plane(); ++i) {
      float largest = std::numeric_limits<float>::lowest();
      for (int64_t k = 0; k < window.kernel[0] * window.kernel[1]; ++k) {
        const int64_t y = i / out.width * window.stride[0] - window.pad_begin[0] + k / window.kernel[1];
        const int64_t x = i % out.width * window.stride[1] - window.pad_begin[1] + k % window.kernel[1];
        if (y < 0 || y >= in.height || x < 0 || x >= in.width) continue;
        largest = std::max(largest, at(input, plane * in.plane() + y * in.width + x));
      }
      output.push_back(largest);
    }
  }
  return output;
}

// Mode DCR: channel (by * block + bx) * C + c of the input is channel c at [block * y + by, block * x + bx].
Values depth_to_space(const Layer& layer, const Extent& in, const Values& input) {
  const Extent out = extent_of(layer.shape);
  Values output;
  for (int64_t n = 0; n < kSamples; ++n)
    for (int64_t c = 0; c < out.channels; ++c)
      for (int64_t i = 0; i < out.plane(); ++i) {
        const int64_t y = i / out.width, x = i % out.width, b = layer.block;
        const int64_t channel = (y % b * b + x % b) * out.channels + c;
        output.push_back(at(input, (n * in.channels + channel) * in.plane() + y / b * in.width + x / b));
      }
  return output;
}

Values global_average(const Extent& in, const Values& input) {
  Values output;
  for (int64_t plane = 0; plane < kSamples * in.channels; ++plane) {
    const auto first = input.begin() + plane * in.plane();
    output.push_back(static_cast<float>(std::accumulate(first, first + in.plane(), 0.0) /
                                        static_cast<double>(in.plane())));
  }
  return output;
}

Values concat(const Extent& a_extent, const Values& a, const Extent& b_extent, const Values& b) {
  Values output;
  const int64_t a_size = a_extent.channels * a_extent.plane(), b_size = b_extent.channels * b_extent.plane();
  for (int64_t n = 0; n < kSamples; ++n) {
    output.insert(output.end(), a.begin() + n * a_size, a.begin() + (n + 1) * a_size);
    output.insert(output.end(), b.begin() + n * b_size, b.begin() + (n + 1) * b_size);
  }
  return output;
}

void activate(Activation activation, Values& values) {
  if (activation == Activation::kNone) return;
  const float top = activation == Activation::kRelu6 ? 6.0f : std::numeric_limits<float>::max();
  for (float& value : values) value = std::clamp(value, 0.0f, top);
}

// The output of `layer` before its activation; folds batch normalisation into the layers that have weights.
Values evaluate(Layer& layer, const Network& network, const std::vector<Values>& outputs, Random& norm) {
  const auto input = [&](size_t i) -> const Values& { return outputs[static_cast<size_t>(layer.inputs[i])]; };
  const auto extent = [&](size_t i) { return extent_of(network.shape(layer.inputs[i])); };
  switch (layer.op) {
    case Op::kInput:
      return seeded_inputs(layer.shape);
    case Op::kConv:
    case Op::kDense: {
      Values sums = convolve(layer, extent(0), input(0));
      fold_batch_norm(layer, sums, norm);
      return sums;
    }
    case Op::kAdd: {
      Values sums = input(0);
      std::transform(sums.begin(), sums.end(), input(1).begin(), sums.begin(), std::plus<>());
      return sums;
    }
    case Op::kConcat:
      return concat(extent(0), input(0), extent(1), input(1));
    case Op::kMaxPool:
      return max_pool(layer, extent(0), input(0));
    case Op::kDepthToSpace:
      return depth_to_space(layer, extent(0), input(0));
    case Op::kGlobalAveragePool:
      return global_average(extent(0), input(0));
    case Op::kFlatten:
      return input(0);
    case Op::kSoftmax:
      break;  // the last layer, which calibrate() leaves out
  }
  throw std::logic_error("layer '" + layer.name + "' cannot be calibrated");
}

}  // namespace

Network calibrate(Network network) {
  Random norm(kNormSeed);
  std::vector<Values> outputs;
  for (Layer& layer : network.layers) {
    if (&layer == &network.layers.back() && layer.op == Op::kSoftmax) break;
    Values values = evaluate(layer, network, outputs, norm);
    activate(layer.activation, values);
    // Ranges begin as [0, 0], so that zero is in all of them.
    for (const float value : values)
      layer.range = {std::min(layer.range.low, value), std::max(layer.range.high, value)};
    // Stored integers are compared and moved as they are.
    if (layer.op == Op::kMaxPool) layer.range = network.layers[static_cast<size_t>(layer.inputs[0])].range;
    outputs.push_back(std::move(values));
  }
  return network;
}

}  // namespace arenac::models
