// A convolutional network before it becomes ONNX: layers with weights, in an order that can run.
//
//   Network net(7);                                            // 7: the seed of its weights
//   int x = net.input({1, 1, 49, 10});
//   x = net.conv("conv1", x, 64, {.kernel = {10, 4}, .stride = {2, 2}}, Activation::kRelu);
//   x = net.depthwise("dw1", x, {.kernel = {3, 3}}, Activation::kRelu);
//   x = net.softmax("probabilities", net.dense("logits", net.flatten("features", x), 12, Activation::kNone));
//   const Network ready = calibrate(std::move(net));           // calibrate.h
//   onnx::ModelProto model = float_model("ds_cnn", ready);     // export.h, also as int8
//
// Layers are named by the index that the calls return. Tensors are [1,C,H,W] or [1,C]; padding is
// TensorFlow's SAME: output extent = ceil(input extent / stride), an odd pad goes to the end.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/random.h"

namespace arenac::models {

enum class Op {
  kInput,
  kConv,
  kDense,
  kAdd,
  kConcat,
  kMaxPool,
  kGlobalAveragePool,
  kDepthToSpace,
  kFlatten,
  kSoftmax
};
enum class Activation { kNone, kRelu, kRelu6 };

// Height first, as in ONNX.
struct Window {
  std::array<int64_t, 2> kernel = {1, 1};
  std::array<int64_t, 2> stride = {1, 1};
  std::array<int64_t, 2> pad_begin = {0, 0};  // filled in by Network
  std::array<int64_t, 2> pad_end = {0, 0};    // filled in by Network
};

// The values that calibration saw, zero included.
struct Range {
  float low = 0;
  float high = 0;
};

// One operator and its activation, which quantised models round together. Which members count, its `op` says.
struct Layer {
  std::string name = {};
  Op op = Op::kInput;
  std::vector<int> inputs = {};
  std::vector<int64_t> shape = {};  // of the output
  Activation activation = Activation::kNone;
  Window window = {};               // kConv, kMaxPool
  int64_t groups = 1;               // kConv
  int64_t block = 1;                // kDepthToSpace
  std::vector<float> weights = {};  // kConv: [M, C/groups, kh, kw]; kDense: [M, C]
  std::vector<float> bias = {};     // [M]
  Range range = {};                 // of the output, after calibrate()
};

class Network {
 public:
  explicit Network(uint64_t seed) : random_(seed) {}

  int input(const std::vector<int64_t>& shape);
  int conv(const std::string& name, int x, int64_t channels, Window window, Activation activation);
  int depthwise(const std::string& name, int x, Window window, Activation activation);
  int dense(const std::string& name, int x, int64_t units, Activation activation);
  int add(const std::string& name, int a, int b, Activation activation);
  int concat(const std::string& name, int a, int b);  // along the channels
  int max_pool(const std::string& name, int x, Window window);
  int depth_to_space(const std::string& name, int x, int64_t block);  // ONNX's mode DCR
  int global_average_pool(const std::string& name, int x);
  int flatten(const std::string& name, int x);  // [1,C,1,1] to [1,C]
  int softmax(const std::string& name, int x);  // only as the last layer

  // Two 3x3 convolutions and a shortcut around them, which is a 1x1 convolution where the stride is not 1 (He
  // et al. 2016, figure 2). Its layers are named NAME_conv1, NAME_conv2, NAME_shortcut and NAME_add.
  int residual(const std::string& name, int x, int64_t channels, int64_t stride);

  // The same layers and weights for images of another size.
  void resize(int64_t height, int64_t width);

  const std::vector<int64_t>& shape(int layer) const { return layers[static_cast<size_t>(layer)].shape; }

  std::vector<Layer> layers;

 private:
  // Puts the layer behind those there are; returns its index.
  int append(Layer layer);
  // A convolution of layer.groups groups with as many output channels: its padding, shape and weights.
  int grouped_conv(Layer layer, int64_t channels);

  Random random_;
};

}  // namespace arenac::models
