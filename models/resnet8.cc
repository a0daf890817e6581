// Three residual blocks; the shortcut is a 1x1 convolution where a block halves the image.
#include <fmt/format.h>

#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {
namespace {

int residual(Network& net, const std::string& name, int x, int64_t channels, int64_t stride) {
  int y = net.conv(name + "_conv1", x, channels, {.kernel = {3, 3}, .stride = {stride, stride}},
                   Activation::kRelu);
  y = net.conv(name + "_conv2", y, channels, {.kernel = {3, 3}}, Activation::kNone);
  if (stride != 1)
    x = net.conv(name + "_shortcut", x, channels, {.stride = {stride, stride}}, Activation::kNone);
  return net.add(name + "_add", x, y, Activation::kRelu);
}

}  // namespace

Network resnet8() {
  Network net(5);
  int x = net.input({1, 3, 32, 32});
  x = net.conv("conv", x, 16, {.kernel = {3, 3}}, Activation::kRelu);
  x = residual(net, "block1", x, 16, 1);
  x = residual(net, "block2", x, 32, 2);
  x = residual(net, "block3", x, 64, 2);
  x = net.flatten("features", net.global_average_pool("pool", x));
  net.softmax("probabilities", net.dense("logits", x, 10, Activation::kNone));
  return calibrate(std::move(net));
}

}  // namespace arenac::models
