#include "models/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace arenac::models {
namespace {

// SAME padding of `window` over an input of [1,C,H,W].
Window with_same_padding(Window window, const std::vector<int64_t>& shape) {
  for (size_t i = 0; i < 2; ++i) {
    const int64_t in = shape[2 + i];
    const int64_t out = (in + window.stride[i] - 1) / window.stride[i];
    const int64_t pad = std::max<int64_t>(0, (out - 1) * window.stride[i] + window.kernel[i] - in);
    window.pad_begin[i] = pad / 2;
    window.pad_end[i] = pad - pad / 2;
  }
  return window;
}

// ceil(input / stride) in both directions, whatever the kernel: that is what SAME means.
std::vector<int64_t> window_output(const Window& window, const std::vector<int64_t>& in, int64_t channels) {
  return {1, channels, (in[2] + window.stride[0] - 1) / window.stride[0],
          (in[3] + window.stride[1] - 1) / window.stride[1]};
}

// Of depth-to-space.
std::vector<int64_t> spread(const std::vector<int64_t>& in, int64_t channels, int64_t block) {
  return {1, channels, in[2] * block, in[3] * block};
}

// He, Zhang, Ren, Sun: Delving Deep into Rectifiers (2015), section 2.2, as the bound of a uniform
// distribution.
double he_bound(int64_t fan_in) { return std::sqrt(6.0 / static_cast<double>(fan_in)); }

}  // namespace

int Network::append(Layer layer) {
  layers.push_back(std::move(layer));
  return static_cast<int>(layers.size()) - 1;
}

// There is one: everything else knows it by its name.
int Network::input(const std::vector<int64_t>& shape) {
  return append({.name = "input", .op = Op::kInput, .shape = shape});
}

// Weights are drawn in the order of the calls, so a network's seed and its text decide all of its numbers.
// Biases are 0 until calibration folds a normalisation into them.
int Network::grouped_conv(Layer layer, int64_t channels) {
  const auto& in = shape(layer.inputs[0]);
  const int64_t fan_in = in[1] / layer.groups * layer.window.kernel[0] * layer.window.kernel[1];
  layer.window = with_same_padding(layer.window, in);
  layer.shape = window_output(layer.window, in, channels);
  layer.weights = random_.uniform(channels * fan_in, he_bound(fan_in));
  layer.bias.assign(static_cast<size_t>(channels), 0.0f);
  return append(std::move(layer));
}

int Network::conv(const std::string& name, int x, int64_t channels, Window window, Activation activation) {
  return grouped_conv(
      {.name = name, .op = Op::kConv, .inputs = {x}, .activation = activation, .window = window}, channels);
}

int Network::depthwise(const std::string& name, int x, Window window, Activation activation) {
  const int64_t channels = shape(x)[1];
  return grouped_conv({.name = name,
                       .op = Op::kConv,
                       .inputs = {x},
                       .activation = activation,
                       .window = window,
                       .groups = channels},
                      channels);
}

// Of [1,C]: a 1x1 convolution of a 1x1 image, for calibration.
int Network::dense(const std::string& name, int x, int64_t units, Activation activation) {
  const int64_t fan_in = shape(x)[1];
  return append({.name = name,
                 .op = Op::kDense,
                 .inputs = {x},
                 .shape = {1, units},
                 .activation = activation,
                 .weights = random_.uniform(units * fan_in, he_bound(fan_in)),
                 .bias = std::vector<float>(static_cast<size_t>(units), 0.0f)});
}

// Of equal shapes: nothing is broadcast.
int Network::add(const std::string& name, int a, int b, Activation activation) {
  return append(
      {.name = name, .op = Op::kAdd, .inputs = {a, b}, .shape = shape(a), .activation = activation});
}

int Network::concat(const std::string& name, int a, int b) {
  std::vector<int64_t> both = shape(a);
  both[1] += shape(b)[1];
  return append({.name = name, .op = Op::kConcat, .inputs = {a, b}, .shape = both});
}

int Network::max_pool(const std::string& name, int x, Window window) {
  window = with_same_padding(window, shape(x));
  return append({.name = name,
                 .op = Op::kMaxPool,
                 .inputs = {x},
                 .shape = window_output(window, shape(x), shape(x)[1]),
                 .window = window});
}

int Network::depth_to_space(const std::string& name, int x, int64_t block) {
  return append({.name = name,
                 .op = Op::kDepthToSpace,
                 .inputs = {x},
                 .shape = spread(shape(x), shape(x)[1] / (block * block), block),
                 .block = block});
}

int Network::global_average_pool(const std::string& name, int x) {
  return append({.name = name, .op = Op::kGlobalAveragePool, .inputs = {x}, .shape = {1, shape(x)[1], 1, 1}});
}

int Network::flatten(const std::string& name, int x) {
  return append({.name = name, .op = Op::kFlatten, .inputs = {x}, .shape = {1, shape(x)[1]}});
}

int Network::softmax(const std::string& name, int x) {
  return append({.name = name, .op = Op::kSoftmax, .inputs = {x}, .shape = shape(x)});
}

// The last activation comes behind the sum, as in the paper.
int Network::residual(const std::string& name, int x, int64_t channels, int64_t stride) {
  int y =
      conv(name + "_conv1", x, channels, {.kernel = {3, 3}, .stride = {stride, stride}}, Activation::kRelu);
  y = conv(name + "_conv2", y, channels, {.kernel = {3, 3}}, Activation::kNone);
  if (stride != 1) x = conv(name + "_shortcut", x, channels, {.stride = {stride, stride}}, Activation::kNone);
  return add(name + "_add", x, y, Activation::kRelu);
}

// Weights do not depend on the image, so that a network can be calibrated on a small one and then be of the
// size that it is for. Ranges stay those of the small image: close enough for models that recognise nothing.
void Network::resize(int64_t height, int64_t width) {
  for (Layer& layer : layers) {
    const std::vector<int64_t> in = layer.inputs.empty() ? std::vector<int64_t>{} : shape(layer.inputs[0]);
    switch (layer.op) {
      case Op::kInput:
        layer.shape = {1, layer.shape[1], height, width};
        break;
      case Op::kConv:
      case Op::kMaxPool:
        layer.window = with_same_padding(layer.window, in);
        layer.shape = window_output(layer.window, in, layer.shape[1]);
        break;
      case Op::kAdd:
        layer.shape = in;
        break;
      case Op::kConcat:
        layer.shape = {1, layer.shape[1], in[2], in[3]};
        break;
      case Op::kDepthToSpace:
        layer.shape = spread(in, layer.shape[1], layer.block);
        break;
      case Op::kGlobalAveragePool:
      case Op::kFlatten:
      case Op::kDense:
      case Op::kSoftmax:
        break;  // [1,C] or [1,C,1,1], whatever the image
    }
  }
}

}  // namespace arenac::models
