// Two convolutions: the smallest network that still has a peak of memory in its middle.
//
//   [1,1,16,16] --conv--> [1,8,16,16] --pool--> [1,8,8,8] --conv--> [1,16,8,8] --mean, dense--> [1,10]
#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {

Network tiny_cnn() {
  Network net(1);
  int x = net.input({1, 1, 16, 16});
  x = net.conv("conv1", x, 8, {.kernel = {3, 3}}, Activation::kRelu);
  x = net.max_pool("pool1", x, {.kernel = {2, 2}, .stride = {2, 2}});
  x = net.conv("conv2", x, 16, {.kernel = {3, 3}}, Activation::kRelu);
  x = net.flatten("features", net.global_average_pool("pool2", x));
  net.softmax("probabilities", net.dense("logits", x, 10, Activation::kNone));
  return calibrate(std::move(net));
}

}  // namespace arenac::models
