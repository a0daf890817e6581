// Sliding windows: what convolutions and pooling have in common.
//
//   input   . . 0 1 2 3 4 5 . .       pads 2, 2 (dots), extent 6
//   window  k   k   k                 kernel 3, dilation 2; then moved by the stride
//
//   input index of output position y and tap k:   y * stride + k * dilation - begin
#pragma once

#include "frontend/lower.h"

namespace arenac {

// One spatial dimension of a window.
struct WindowDim {
  int64_t input, kernel, output;  // extents
  int64_t stride, dilation;
  int64_t begin, end;  // padding before and after the input

  int64_t span() const { return (kernel - 1) * dilation + 1; }  // input positions from first to last tap
};
using Window = std::vector<WindowDim>;

constexpr int64_t kLargestWindow = int64_t{1} << 20;  // of every attribute: products with extents fit

// The input and kernel extents with attributes strides and dilations; no padding, output 0.
Window parse_steps(const Lowering& node, const Shape& input, const Shape& kernel);

// The window of a Conv or pooling node over an input with these spatial extents: attributes strides,
// dilations, pads, auto_pad, ceil_mode. Fails where they contradict each other or leave no output.
Window parse_window(const Lowering& node, const Shape& input, const Shape& kernel);

Shape output_extents(const Window& window);

// Adds a reduced axis for the taps of each dimension.
std::vector<Expr> tap_axes(Formula& f, const Window& window);

// The input index of each dimension at output position `out` and taps `taps`. An index that can leave the
// input is guarded: taps in the padding contribute nothing.
std::vector<Expr> window_indices(Formula& f, const Window& window, const std::vector<Expr>& out,
                                 const std::vector<Expr>& taps);

// How many taps at output position `out` an average divides by: those on the input, or also those on the
// padding, or also those beyond it, which ceil_mode brings.
enum class Counted { kInput, kPadding, kAll };
Expr averaged_taps(const Window& window, const std::vector<Expr>& out, Counted counted);

// The channel axes of a grouped convolution with M output channels: axis g if there are several groups, axis
// m unless every group has one output channel.
struct ChannelAxes {
  Expr group;    // 0 when there is one group
  Expr within;   // the group; 0 when it has one channel
  Expr channel;  // among all M
};
ChannelAxes channel_axes(Formula& f, int64_t groups, int64_t channels);

// The axes n, [g], [m], spatial..., c, taps... of a convolution of x[N,C,spatial...] by
// w[M,C/groups,kernel...], and where they read. The caller multiplies, sums, finishes and emits:
//
//   const Convolution c = convolution(node, f, x, w);
//   f.sum(f.read(x, c.x) * f.read(w, c.w));
//   node.out(0, f.emit(type, c.shape));
struct Convolution {
  std::vector<Expr> x, w;  // indices
  Expr channel;            // of the output, for the bias and per-channel scales
  std::vector<Expr> out;   // all indices of the output
  Shape shape;             // of the output
};
Convolution convolution(const Lowering& node, Formula& f, TensorId x, TensorId w);

}  // namespace arenac
