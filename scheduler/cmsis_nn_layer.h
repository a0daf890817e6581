// A layer in the words of CMSIS-NN (arm_nn_types.h), read off its nest and the layouts of what it touches.
//
//   out[0, i1, i2, i3] = sum(i4, i5, i6) x0[0, i4, 2 * i2 + i5 - 1, 2 * i3 + i6 - 1] * x1[i1, i4, i5, i6],
//   ...
//
//   in_c and out_c: extents of i4 and i1; filter_h and filter_w: of i5 and i6; stride_h 2, pad_h 1, ...
#pragma once

#include <optional>
#include <vector>

#include "scheduler/quantized_layer.h"
#include "scheduler/schedule.h"

namespace arenac {

struct CmsisNnLayer {
  int64_t n = 1, in_h = 1, in_w = 1, in_c = 1, filter_h = 1, filter_w = 1, out_h = 1, out_w = 1, out_c = 1;
  int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  int64_t input_offset = 0, output_offset = 0, least = -128, most = 127;
  // Axes of the nest, without those of extent 1: that of the result's channels, -1 if it is one of these;
  // those along which CMSIS-NN has the filter, outermost first.
  int channel = -1;
  std::vector<int> filter_axes = {};
};

// A node of one nest, what it computes, and where its operand and its result lie.
struct LaidOutLayer {
  const Nest& nest;
  const QuantizedLayer& layer;
  const Shape &in, &out;
  const Layout &in_layout, &out_layout;
};

// Nothing where the layer is none of that kind, its image does not lie pixel after pixel with the channels of
// each side by side, or a number is larger than CMSIS-NN counts.
std::optional<CmsisNnLayer> convolution(const LaidOutLayer& of);
std::optional<CmsisNnLayer> depthwise_convolution(const LaidOutLayer& of);  // one filter a channel
std::optional<CmsisNnLayer> fully_connected(const LaidOutLayer& of);

}  // namespace arenac
