// Super resolution of the luma of an image by four: feature extraction, shrinking, mapping and expanding as
// in the paper (d = 56, s = 12, m = 4) on 540x960; the deconvolution at the end is written as the convolution
// and depth-to-space that it equals (Shi et al., Is the deconvolution layer the same as a convolutional
// layer?, 2016), its kernel 3x3 for every one of the 16 phases. ReLU stands for PReLU.
#include <fmt/format.h>

#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {

Network fsrcnn() {
  constexpr int64_t kFeatures = 56, kShrunk = 12, kMappings = 4, kScale = 4;
  Network net(8);
  int x = net.input({1, 1, 27, 48});  // calibrates in a quarter of a percent of the time
  x = net.conv("features", x, kFeatures, {.kernel = {5, 5}}, Activation::kRelu);
  x = net.conv("shrink", x, kShrunk, {}, Activation::kRelu);
  for (int64_t k = 1; k <= kMappings; ++k)
    x = net.conv(fmt::format("map{}", k), x, kShrunk, {.kernel = {3, 3}}, Activation::kRelu);
  x = net.conv("expand", x, kFeatures, {}, Activation::kRelu);
  x = net.conv("phases", x, kScale * kScale, {.kernel = {3, 3}}, Activation::kNone);
  net.depth_to_space("image", x, kScale);
  net = calibrate(std::move(net));
  net.resize(540, 960);
  return net;
}

}  // namespace arenac::models
