#include <fmt/format.h>

#include <span>

#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {

// Width multiplier 0.25: the paper's table 1 with a quarter of the channels.
Network mobilenet_v1_025_96() {
  struct Block {
    int64_t channels, stride;
  };
  constexpr Block kBlocks[] = {{16, 1},  {32, 2},  {32, 1},  {64, 2},  {64, 1},  {128, 2}, {128, 1},
                               {128, 1}, {128, 1}, {128, 1}, {128, 1}, {256, 2}, {256, 1}};
  Network net(3);
  int x = net.input({1, 3, 96, 96});
  x = net.conv("conv", x, 8, {.kernel = {3, 3}, .stride = {2, 2}}, Activation::kRelu);
  int number = 0;
  for (const auto& [channels, stride] : kBlocks) {
    const std::string block = fmt::format("block{}", ++number);
    x = net.depthwise(block + "_depthwise", x, {.kernel = {3, 3}, .stride = {stride, stride}},
                      Activation::kRelu);
    x = net.conv(block + "_pointwise", x, channels, {}, Activation::kRelu);
  }
  x = net.flatten("features", net.global_average_pool("pool", x));
  net.softmax("probabilities", net.dense("logits", x, 2, Activation::kNone));
  return calibrate(std::move(net));
}

namespace {

// expand 1x1 - depthwise 3x3 - project 1x1, and around it the residual where the shapes agree.
int inverted_residual(Network& net, const std::string& name, int x, int64_t expansion, int64_t channels,
                      int64_t stride) {
  const int64_t in = net.shape(x)[1];
  int y = x;
  if (expansion != 1) y = net.conv(name + "_expand", y, in * expansion, {}, Activation::kRelu6);
  y = net.depthwise(name + "_depthwise", y, {.kernel = {3, 3}, .stride = {stride, stride}},
                    Activation::kRelu6);
  y = net.conv(name + "_project", y, channels, {}, Activation::kNone);
  return stride == 1 && in == channels ? net.add(name + "_add", x, y, Activation::kNone) : y;
}

struct Stage {
  int64_t expansion, channels, repeats, stride;
};

// From the first stage to the classifier.
int inverted_residuals(Network& net, int x, std::span<const Stage> stages, int64_t classes) {
  int number = 0;
  for (const auto& [expansion, channels, repeats, stride] : stages) {
    for (int64_t i = 0; i < repeats; ++i)
      x = inverted_residual(net, fmt::format("block{}", ++number), x, expansion, channels,
                            i == 0 ? stride : 1);
  }
  x = net.conv("last", x, 1280, {}, Activation::kRelu6);
  x = net.flatten("features", net.global_average_pool("pool", x));
  return net.softmax("probabilities", net.dense("logits", x, classes, Activation::kNone));
}

}  // namespace

// Width multiplier 0.35: the paper's table 2, channels scaled and rounded to multiples of 8 as in its
// reference code (which leaves the last convolution at 1280). Ten classes instead of a thousand keep the file
// small.
Network mobilenet_v2_035_144() {
  constexpr Stage kStages[] = {{1, 8, 1, 1},  {6, 8, 2, 2},  {6, 16, 3, 2}, {6, 24, 4, 2},
                               {6, 32, 3, 1}, {6, 56, 3, 2}, {6, 112, 1, 1}};
  Network net(4);
  const int x = net.input({1, 3, 144, 144});
  inverted_residuals(net, net.conv("conv", x, 16, {.kernel = {3, 3}, .stride = {2, 2}}, Activation::kRelu6),
                     kStages, 10);
  return calibrate(std::move(net));
}

// The paper's table 2.
Network mobilenet_v2_100_224() {
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  Network net(9);
  const int x = net.input({1, 3, 64, 64});  // calibrates in a tenth of the time
  inverted_residuals(net, net.conv("conv", x, 32, {.kernel = {3, 3}, .stride = {2, 2}}, Activation::kRelu6),
                     kStages, 1000);
  net = calibrate(std::move(net));
  net.resize(224, 224);
  return net;
}

}  // namespace arenac::models
