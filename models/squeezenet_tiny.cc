// SqueezeNet 1.1 with a quarter of the channels and five fire modules.
//
//   conv / 2 - pool - fire fire - pool - fire fire - pool - fire - conv 1x1 to 10 channels - mean - softmax
//
// The one network here with Concat.
#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {
namespace {

// squeeze 1x1 -+- expand 1x1 -+- concat
//              +- expand 3x3 -+
int fire(Network& net, const std::string& name, int x, int64_t squeeze, int64_t expand) {
  x = net.conv(name + "_squeeze", x, squeeze, {}, Activation::kRelu);
  const int narrow = net.conv(name + "_expand1x1", x, expand, {}, Activation::kRelu);
  const int wide = net.conv(name + "_expand3x3", x, expand, {.kernel = {3, 3}}, Activation::kRelu);
  return net.concat(name, narrow, wide);
}

}  // namespace

Network squeezenet_tiny() {
  const Window pool = {.kernel = {3, 3}, .stride = {2, 2}};
  Network net(7);
  int x = net.input({1, 3, 64, 64});
  x = net.max_pool("pool1", net.conv("conv1", x, 16, pool, Activation::kRelu), pool);
  x = fire(net, "fire2", x, 4, 16);
  x = fire(net, "fire3", x, 4, 16);
  x = net.max_pool("pool3", x, pool);
  x = fire(net, "fire4", x, 8, 32);
  x = fire(net, "fire5", x, 8, 32);
  x = net.max_pool("pool5", x, pool);
  x = fire(net, "fire6", x, 12, 48);
  x = net.conv("conv7", x, 10, {}, Activation::kRelu);
  net.softmax("probabilities", net.flatten("logits", net.global_average_pool("pool7", x)));
  return calibrate(std::move(net));
}

}  // namespace arenac::models
