// Depthwise separable convolutions over 49 frames of 10 cepstral coefficients.
//
//   [1,1,49,10] --conv 10x4 / 2--> [1,64,25,5] --4 blocks of depthwise 3x3, pointwise--> mean --dense-->
//   [1,12]
#include <fmt/format.h>

#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {

Network ds_cnn() {
  constexpr int64_t kChannels = 64, kWords = 12;
  Network net(2);
  int x = net.input({1, 1, 49, 10});
  x = net.conv("conv", x, kChannels, {.kernel = {10, 4}, .stride = {2, 2}}, Activation::kRelu);
  for (int block = 1; block <= 4; ++block) {
    x = net.depthwise(fmt::format("block{}_depthwise", block), x, {.kernel = {3, 3}}, Activation::kRelu);
    x = net.conv(fmt::format("block{}_pointwise", block), x, kChannels, {}, Activation::kRelu);
  }
  x = net.flatten("features", net.global_average_pool("pool", x));
  net.softmax("probabilities", net.dense("logits", x, kWords, Activation::kNone));
  return calibrate(std::move(net));
}

}  // namespace arenac::models
