// Reconstructs 5 frames of 128 mel bands through a bottleneck of 8; the error is the anomaly score.
//
//   [1,640] - 128 - 128 - 128 - 128 - 8 - 128 - 128 - 128 - 128 - [1,640]      dense, all but the last ReLU
#include <fmt/format.h>

#include "models/calibrate.h"
#include "models/topologies.h"

namespace arenac::models {

Network autoencoder() {
  constexpr int64_t kHidden[] = {128, 128, 128, 128, 8, 128, 128, 128, 128};
  Network net(6);
  int x = net.input({1, 640});
  int number = 0;
  for (const int64_t units : kHidden)
    x = net.dense(fmt::format("dense{}", ++number), x, units, Activation::kRelu);
  net.dense("reconstruction", x, 640, Activation::kNone);
  return calibrate(std::move(net));
}

}  // namespace arenac::models
