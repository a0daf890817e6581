// Four stages of two residual blocks; the shortcut is a 1x1 convolution where a stage halves the image.
//
//   224 --conv 7x7 / 2--> 112 --pool / 2--> 56 x 64 channels -> 28 x 128 -> 14 x 256 -> 7 x 512 --mean,
//   dense--> 1000
#include <fmt/format.h>

#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {

Network resnet18() {
  Network net(10);
  int x = net.input({1, 3, 64, 64});  // calibrates in a tenth of the time
  x = net.conv("conv", x, 64, {.kernel = {7, 7}, .stride = {2, 2}}, Activation::kRelu);
  x = net.max_pool("max_pool", x, {.kernel = {3, 3}, .stride = {2, 2}});
  for (int stage = 1; stage <= 4; ++stage)
    for (int block = 1; block <= 2; ++block)
      x = net.residual(fmt::format("stage{}_block{}", stage, block), x, int64_t{32} << stage,
                       stage > 1 && block == 1 ? 2 : 1);
  x = net.flatten("features", net.global_average_pool("pool", x));
  net.softmax("probabilities", net.dense("logits", x, 1000, Activation::kNone));
  net = calibrate(std::move(net));
  net.resize(224, 224);
  return net;
}

}  // namespace arenac::models
