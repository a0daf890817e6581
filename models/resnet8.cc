// Three residual blocks; the shortcut is a 1x1 convolution where a block halves the image.
//
//   [1,3,32,32] --conv--> 16 channels --block--> 16 --block / 2--> 32 --block / 2--> 64 --mean, dense-->
//   [1,10]
#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {

Network resnet8() {
  Network net(5);
  int x = net.input({1, 3, 32, 32});
  x = net.conv("conv", x, 16, {.kernel = {3, 3}}, Activation::kRelu);
  x = net.residual("block1", x, 16, 1);
  x = net.residual("block2", x, 32, 2);
  x = net.residual("block3", x, 64, 2);
  x = net.flatten("features", net.global_average_pool("pool", x));
  net.softmax("probabilities", net.dense("logits", x, 10, Activation::kNone));
  return calibrate(std::move(net));
}

}  // namespace arenac::models
