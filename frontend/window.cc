#include "frontend/window.h"

#include <fmt/format.h>

#include "frontend/facts.h"

namespace arenac {
namespace {

// A per-dimension attribute of `count` numbers, each at least `low`; `low` everywhere when absent.
std::vector<int64_t> per_dimension(const Lowering& node, const std::string& name, size_t count, int64_t low) {
  const auto values = node.ints_attr(name, std::vector<int64_t>(count, low));
  node.require(values.size() == count,
               fmt::format("'{}' holds {} numbers, not {}", name, values.size(), count));
  for (int64_t v : values)
    node.require(v >= low && v < kLargestWindow, fmt::format("'{}' holds {}, which makes no sense", name, v));
  return values;
}

// Output extent for explicit padding, below 1 where no window fits. With ceil_mode it suffices that a window
// starts before the end padding: a last window that would lie in it as a whole is left out.
//
//   input 6, kernel 3, stride 2, no padding:   floor((6 - 3) / 2) + 1 = 2
//   with ceil_mode:                            3, the last window has 2 elements
int64_t output_extent(const WindowDim& d, int64_t ceil_mode) {
  const int64_t room = d.input + d.begin + d.end - d.span();
  if (!ceil_mode) return floor_div(room, d.stride) + 1;
  const int64_t extent = ceil_div(room, d.stride) + 1;
  return (extent - 1) * d.stride >= d.input + d.begin ? extent - 1 : extent;
}

// How many taps at output position `out` lie in [low, high) of the padded input, which begins at -begin:
// those before `high` without those before `low`. Where no window passes an end, that side is a number and no
// expression.
//
//   input 5, begin 1, kernel 3:   out 0 has first = -1, so 1 tap before 0:  3 - 1 = 2 taps inside
Expr taps_inside(const WindowDim& d, const Expr& out, int64_t low, int64_t high) {
  const Expr first = out * integer(d.stride) - integer(d.begin);  // position of tap 0
  const auto taps_before = [&](int64_t limit) {
    return (max(limit - first, 0) + integer(d.dilation - 1)) / integer(d.dilation);
  };
  const int64_t last = (d.output - 1) * d.stride + d.span() - 1 - d.begin;
  const Expr end = last < high ? integer(d.kernel) : min(taps_before(high), integer(d.kernel));
  return -d.begin >= low ? end : end - taps_before(low);
}

}  // namespace

// Absent strides and dilations are 1.
Window parse_steps(const Lowering& node, const Shape& input, const Shape& kernel) {
  const size_t rank = input.size();
  node.require(rank >= 1 && rank <= 3, fmt::format("{} spatial dimensions are not supported", rank));
  node.require(kernel.size() == rank, fmt::format("a kernel of shape {} does not fit an input of rank {}",
                                                  to_string(kernel), rank + 2));
  const auto strides = per_dimension(node, "strides", rank, 1);
  const auto dilations = per_dimension(node, "dilations", rank, 1);
  Window window;
  for (size_t k = 0; k < rank; ++k) {
    node.require(input[k] >= 1, "a dimension is empty");
    node.require(kernel[k] >= 1 && kernel[k] < kLargestWindow,
                 fmt::format("a kernel of shape {} makes no sense", to_string(kernel)));
    window.push_back({input[k], kernel[k], 0, strides[k], dilations[k], 0, 0});
  }
  return window;
}

// `pads` lists the begins of all dimensions, then the ends. SAME makes ceil(input / stride) outputs; of an
// odd padding UPPER has the larger half behind, LOWER in front. VALID is no padding.
Window parse_window(const Lowering& node, const Shape& input, const Shape& kernel) {
  Window window = parse_steps(node, input, kernel);
  const size_t rank = input.size();
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  const bool explicit_pads = auto_pad == "NOTSET" || auto_pad.empty();
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  node.require(explicit_pads || same || auto_pad == "VALID", fmt::format("unknown auto_pad '{}'", auto_pad));
  std::vector<int64_t> pads(2 * rank, 0);
  if (explicit_pads) pads = per_dimension(node, "pads", 2 * rank, 0);

  for (size_t k = 0; k < rank; ++k) {
    WindowDim& d = window[k];
    d.begin = pads[k];
    d.end = pads[rank + k];
    if (same) {
      d.output = ceil_div(d.input, d.stride);
      const int64_t total = std::max<int64_t>((d.output - 1) * d.stride + d.span() - d.input, 0);
      d.begin = auto_pad == "SAME_LOWER" ? total - total / 2 : total / 2;
      d.end = total - d.begin;
    } else {
      d.output = output_extent(d, node.int_attr("ceil_mode", 0));
    }
    node.require(d.output > 0,
                 fmt::format("the window ({} wide) is larger than the padded input ({}) in dimension {}",
                             d.span(), d.input + d.begin + d.end, k));
  }
  return window;
}

Shape output_extents(const Window& window) {
  Shape extents;
  for (const WindowDim& d : window) extents.push_back(d.output);
  return extents;
}

std::vector<Expr> tap_axes(Formula& f, const Window& window) {
  std::vector<Expr> taps;
  for (const WindowDim& d : window) taps.push_back(f.reduced(d.kernel));
  return taps;
}

// A dimension whose windows all lie inside needs no bound.
std::vector<Expr> window_indices(Formula& f, const Window& window, const std::vector<Expr>& out,
                                 const std::vector<Expr>& taps) {
  std::vector<Expr> indices;
  for (size_t k = 0; k < window.size(); ++k) {
    const WindowDim& d = window[k];
    const Expr index = out[k] * integer(d.stride) + taps[k] * integer(d.dilation) - integer(d.begin);
    const int64_t last = (d.output - 1) * d.stride + d.span() - 1 - d.begin;
    if (d.begin > 0 || last >= d.input) f.where(index, 0, d.input);
    indices.push_back(index);
  }
  return indices;
}

Expr averaged_taps(const Window& window, const std::vector<Expr>& out, Counted counted) {
  Expr count = integer(1);
  for (size_t k = 0; k < window.size(); ++k) {
    const WindowDim& d = window[k];
    if (counted == Counted::kAll) count = count * integer(d.kernel);
    if (counted == Counted::kPadding) count = count * taps_inside(d, out[k], -d.begin, d.input + d.end);
    if (counted == Counted::kInput) count = count * taps_inside(d, out[k], 0, d.input);
  }
  return count;
}

// One axis less where one would have a single value: of a depthwise convolution, groups and channels are one
// axis.
//
//   4 channels:   1 group  m            2 groups  g, m (channel 2*g + m)            4 groups  g
ChannelAxes channel_axes(Formula& f, int64_t groups, int64_t channels) {
  if (groups == 1) {
    const Expr m = f.axis(channels);
    return {integer(0), m, m};
  }
  const Expr g = f.axis(groups);
  if (channels == groups) return {g, integer(0), g};
  const Expr m = f.axis(channels / groups);
  return {g, m, g * integer(channels / groups) + m};
}

// Input channels of group g are [g * C/groups, (g + 1) * C/groups); w's second dimension counts within a
// group.
Convolution convolution(const Lowering& node, Formula& f, TensorId x, TensorId w) {
  const Shape &input = node.shape(x), &weight = node.shape(w);
  node.require(input.size() >= 3, "a convolution's input needs rank 3 or more");
  node.require(weight.size() == input.size(),
               fmt::format("weights {} do not fit input {}", to_string(weight), to_string(input)));
  const int64_t groups = node.int_attr("group", 1);
  node.require(
      groups >= 1 && weight[0] % groups == 0 && input[1] % groups == 0 && input[1] / groups == weight[1],
      fmt::format("{} groups do not fit input {} and weights {}", groups, to_string(input),
                  to_string(weight)));
  const Shape kernel(weight.begin() + 2, weight.end());
  node.require(node.ints_attr("kernel_shape", kernel) == kernel, "kernel_shape is not that of the weights");
  const Window window = parse_window(node, Shape(input.begin() + 2, input.end()), kernel);

  const Expr n = f.axis(input[0]);
  const auto [group, within, channel] = channel_axes(f, groups, weight[0]);
  const std::vector<Expr> spatial = f.axes(output_extents(window));
  const Expr c = f.reduced(weight[1]);
  const std::vector<Expr> taps = tap_axes(f, window);
  Convolution all{{n, group * integer(weight[1]) + c}, {channel, c}, channel, {n, channel}, {}};
  for (const Expr& index : window_indices(f, window, spatial, taps)) all.x.push_back(index);
  all.w.insert(all.w.end(), taps.begin(), taps.end());
  all.out.insert(all.out.end(), spatial.begin(), spatial.end());
  all.shape = output_extents(window);
  all.shape.insert(all.shape.begin(), {input[0], weight[0]});
  f.store(all.out);
  return all;
}

}  // namespace arenac
