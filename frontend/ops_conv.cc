// Convolutions.
//
//   Conv             y[n,m,o] = b[m] + sum(c,k) x[n, c, o*s + k*d - p] * w[m,c,k]
//   DeformConv       the same, each tap moved by an offset that is data and multiplied by a mask
//   CausalConvWithState   y[b,c,l] = sum(k) (past, x)[b,c,l + k] * w[c,k], whose end is the next call's past
//   ConvTranspose    y[n,m,i*s + k*d - p] += x[n,c,i] * w[c,m,k], turned round so that y is written once
#include <fmt/format.h>

#include <numeric>

#include "frontend/activation.h"
#include "frontend/ops.h"
#include "frontend/steps.h"
#include "frontend/window.h"

namespace arenac {
namespace {

// Conv: x [N, C, spatial...], w [M, C / groups, kernel...], bias [M]; output m of group g sums over that
// group's channels alone. The spatial dimensions may be any number. com.microsoft.FusedConv adds input 3 and
// applies an activation.
void conv(Lowering& node) {
  const TensorId x = node.in(0), w = node.in(1);
  node.require(node.type(x) == node.type(w) && is_float(node.type(x)), "the operands' types do not fit");
  Formula f(node);
  const Convolution c = convolution(node, f, x, w);
  f.sum(f.read(x, c.x) * f.read(w, c.w));
  Expr y = f.acc();
  if (node.has_input(2)) {
    node.require(node.type(node.in(2)) == node.type(x) && node.shape(node.in(2)) == Shape{c.shape[1]},
                 "the bias does not fit");
    y = y + f.read(node.in(2), {c.channel});
  }
  if (node.has_input(3)) {
    node.require(node.type(node.in(3)) == node.type(x) && node.shape(node.in(3)) == c.shape,
                 "the addend does not fit the output");
    y = y + f.read(node.in(3), c.out);
  }
  if (node.has("activation")) {
    std::vector<float> given;
    if (node.has("activation_params")) given = node.attribute("activation_params").floats;
    y = activation(node, node.attribute("activation").s, nth(given, 0), nth(given, 1))(y);
  }
  if (y->op != Op::kAcc) f.finish(y);
  node.out(0, f.emit(node.type(x), c.shape));
}

// Output extents and padding of a transposed convolution. A full one, where every product has a place,
// reaches
//
//   full = (input - 1) * stride + (kernel - 1) * dilation + 1 + output_padding
//
// positions, of which the padding cuts off both ends. With output_shape, or SAME, the extent is given and the
// padding follows from it; an odd one has the larger half in front but for SAME_UPPER. The end's padding is
// never needed: it is what is left behind `output`. Some exporters' output_shape has batch and channels, too.
Window parse_transposed(const Lowering& node, const Shape& input, const Shape& kernel) {
  const size_t rank = input.size();
  Window window = parse_steps(node, input, kernel);
  const auto extra = node.ints_attr("output_padding", std::vector<int64_t>(rank, 0));
  const auto pads = node.ints_attr("pads", std::vector<int64_t>(2 * rank, 0));
  auto wanted = node.ints_attr("output_shape", {});
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  node.require(extra.size() == rank && pads.size() == 2 * rank && (wanted.empty() || wanted.size() == rank),
               "output_padding, pads or output_shape have the wrong length");
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  for (size_t k = 0; k < rank; ++k) {
    WindowDim& d = window[k];
    for (int64_t v : {extra[k], pads[k], pads[rank + k]})
      node.require(v > -kLargestWindow && v < kLargestWindow, "output_padding or pads make no sense");
    const int64_t full = (d.input - 1) * d.stride + extra[k] + d.span();
    if (wanted.empty() && !same) {
      d.begin = auto_pad == "VALID" ? 0 : pads[k];
      d.output = full - d.begin - (auto_pad == "VALID" ? 0 : pads[rank + k]);
    } else {
      d.output = wanted.empty() ? d.input * d.stride : wanted[k];
      const int64_t total = std::max<int64_t>(full - d.output, 0);
      d.begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    node.require(d.output > 0, "the output is empty");
  }
  return window;
}

// The output positions q*stride + offset, q in [0, outputs), of one dimension: its taps, and where they read.
struct Phase {
  int64_t offset, outputs;  // of q
  int64_t taps;             // tap j is kernel element first + j*step
  int64_t first, step;
  int64_t shift, back;  // input index is q + shift - j*back
};

// A transposed convolution adds x[i] * w[k] to y[o] for all o + begin = i*stride + k*dilation. To write each
// output once, that is solved for the input: with o = q*stride + offset, the taps k are those of
//
//   k*dilation = offset + begin (mod stride)
//
// which depend on the offset alone, and repeat every stride / gcd(dilation, stride). With stride 2, kernel 3,
// begin 1:
//
//   offset 0:  y[2q]     = x[q] * w[1]                        first 1, taps 1, shift 0
//   offset 1:  y[2q + 1] = x[q + 1] * w[0] + x[q] * w[2]      first 0, step 2, taps 2, shift 1, back 1
//
// An offset without taps (stride above the kernel) gets the bias alone. So each phase is a dense convolution
// with a stride of 1 (Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016), and
// no product is computed with the zeros that stretching the input would insert.
std::vector<Phase> phases(const WindowDim& d) {
  const int64_t common = std::gcd(d.dilation, d.stride);
  std::vector<Phase> all;
  for (int64_t offset = 0; offset < std::min(d.stride, d.output); ++offset) {
    Phase p{offset,
            (d.output - offset + d.stride - 1) / d.stride,
            0,
            0,
            d.stride / common,
            0,
            d.dilation / common};
    const auto misses = [&](int64_t k) { return (offset + d.begin - k * d.dilation) % d.stride != 0; };
    while (p.first < std::min(p.step, d.kernel) && misses(p.first)) ++p.first;
    if (p.first < std::min(p.step, d.kernel)) {
      p.taps = (d.kernel - p.first - 1) / p.step + 1;
      p.shift = (offset + d.begin - p.first * d.dilation) / d.stride;
    }
    all.push_back(p);
  }
  return all;
}

struct Transposed {
  TensorId x, w, bias;
  Window window;
  int64_t groups, channels;
};

// Writes the outputs of one phase of every dimension. Indices that can leave the input are bounds of the sum:
// such taps contribute nothing.
void phase_nest(const Lowering& node, Formula& f, const Transposed& t, const std::vector<Phase>& phase) {
  const int64_t inputs = node.shape(t.w)[0] / t.groups;
  const Expr n = f.axis(node.shape(t.x)[0]);
  const auto [group, within, channel] = channel_axes(f, t.groups, t.channels);
  std::vector<Expr> q, store = {n, channel};
  bool empty = false;
  for (size_t k = 0; k < phase.size(); ++k) {
    q.push_back(f.axis(phase[k].outputs));
    store.push_back(q[k] * integer(t.window[k].stride) + integer(phase[k].offset));
    empty |= phase[k].taps == 0;
  }
  f.store(store);
  const auto bias = [&] { return f.read(t.bias, {channel}); };
  if (empty) {
    f.body(t.bias == kAbsent ? constant(compute_type(node.type(t.x)), 0) : bias());
    return;
  }
  const Expr c = f.reduced(inputs);
  std::vector<Expr> x = {n, group * integer(inputs) + c};
  std::vector<Expr> w = {group * integer(inputs) + c, within};
  std::vector<Expr> taps;
  for (const Phase& p : phase) taps.push_back(f.reduced(p.taps));
  for (size_t k = 0; k < phase.size(); ++k) {
    const Phase& p = phase[k];
    x.push_back(q[k] + integer(p.shift) - taps[k] * integer(p.back));
    w.push_back(taps[k] * integer(p.step) + integer(p.first));
    const int64_t low = p.shift - (p.taps - 1) * p.back, high = p.outputs - 1 + p.shift;
    if (low < 0 || high >= t.window[k].input) f.where(x.back(), 0, t.window[k].input);
  }
  f.sum(f.read(t.x, x) * f.read(t.w, w));
  if (t.bias != kAbsent) f.finish(f.acc() + bias());
}

// ConvTranspose: x [N, C, spatial...], w [C, M / groups, kernel...], so that its weights are those of the
// convolution whose gradient it is. One nest a combination of phases: with stride 2 in two dimensions four.
void conv_transpose(Lowering& node) {
  const TensorId x = node.in(0), w = node.in(1);
  const Shape &input = node.shape(x), &weight = node.shape(w);
  node.require(node.type(x) == node.type(w) && is_float(node.type(x)), "the operands' types do not fit");
  node.require(input.size() >= 3 && weight.size() == input.size(),
               fmt::format("weights {} do not fit input {}", to_string(weight), to_string(input)));
  const int64_t groups = node.int_attr("group", 1);
  node.require(groups >= 1 && weight[0] == input[1] && weight[0] % groups == 0 && weight[1] >= 1 &&
                   groups <= weight[0],
               fmt::format("{} groups do not fit input {} and weights {}", groups, to_string(input),
                           to_string(weight)));
  const Shape kernel(weight.begin() + 2, weight.end());
  node.require(node.ints_attr("kernel_shape", kernel) == kernel, "kernel_shape is not that of the weights");
  Transposed t{x, w, node.has_input(2) ? node.in(2) : kAbsent, {}, groups, weight[1] * groups};
  if (t.bias != kAbsent)
    node.require(node.type(t.bias) == node.type(x) && node.shape(t.bias) == Shape{t.channels},
                 "the bias does not fit");
  t.window = parse_transposed(node, Shape(input.begin() + 2, input.end()), kernel);

  // Every combination of one phase a dimension.
  std::vector<std::vector<Phase>> combinations = {{}};
  for (const WindowDim& d : t.window) {
    std::vector<std::vector<Phase>> longer;
    for (const auto& combination : combinations)
      for (const Phase& p : phases(d)) {
        longer.push_back(combination);
        longer.back().push_back(p);
      }
    combinations = std::move(longer);
    node.require(combinations.size() <= 4096, "strides this large are not supported");
  }
  Formula f(node);
  for (size_t k = 0; k < combinations.size(); ++k) {
    if (k > 0) f.next_nest();
    phase_nest(node, f, t, combinations[k]);
  }
  Shape shape = output_extents(t.window);
  shape.insert(shape.begin(), {input[0], t.channels});
  node.out(0, f.emit(node.type(x), std::move(shape)));
}

// Adds up the columns that a convolution would read: the transpose of unfolding an image (im2col), where an
// element is a sum of as many as there are windows over it.
//
//   x [N, C * taps, places]  ->  y [N, C, image...]
//   y[n, c, place * stride + tap * dilation - begin] += x[n, c * taps + tap, place]
//
// Two nests: zeros, then the sum of colliding points; what falls on the padding is dropped.
void col2im(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape image = node.constant_ints(node.in(1), "the image shape");
  const Shape block = node.constant_ints(node.in(2), "the block shape");
  const Window window = parse_window(node, image, block);
  const Shape places = output_extents(window);
  const int64_t taps = element_count(block);
  const Shape& from = node.shape(x);
  node.require(from.size() == 3 && from[1] % taps == 0 && from[2] == element_count(places),
               fmt::format("the columns should number {}", element_count(places)));
  Shape to = {from[0], from[1] / taps};
  to.insert(to.end(), image.begin(), image.end());
  Formula f(node);
  f.axes(to);
  f.body(constant(compute_type(node.type(x)), 0));
  f.next_nest();
  std::vector<Expr> store = f.axes({to[0], to[1]});
  const std::vector<Expr> tap = f.axes(block), place = f.axes(places);
  const auto linear = [](const std::vector<Expr>& at, const Shape& extents) {
    Expr sum = integer(0);
    for (size_t d = 0; d < at.size(); ++d) sum = sum * integer(extents[d]) + at[d];
    return sum;
  };
  f.accumulate(Combine::kSum,
               f.read(x, {store[0], store[1] * integer(taps) + linear(tap, block), linear(place, places)}));
  for (const Expr& index : window_indices(f, window, place, tap)) store.push_back(index);
  f.store(store);
  node.out(0, f.emit(node.type(x), std::move(to)));
}

// The operands of a DeformConv and what follows from their shapes (Dai et al., "Deformable Convolutional
// Networks", 2017; masks: Zhu et al., 2019). Channels of x are in `offset_groups` equal parts that move
// alike:
//
//   offset [N, offset_groups * taps * rank, out...]       a shift of each dimension for each tap and position
//   mask   [N, offset_groups * taps, out...]
struct Deformed {
  TensorId x, offset, mask;  // mask: kAbsent, or a factor for each offset group, tap and output position
  Window window;
  int64_t groups, offset_groups;
};

Deformed deformed_of(const Lowering& node) {
  const TensorId x = node.in(0), w = node.in(1), offset = node.in(2);
  const Shape from = node.shape(x), weight = node.shape(w), moved = node.shape(offset);
  node.require(from.size() >= 3 && weight.size() == from.size() && moved.size() == from.size() &&
                   is_float(node.type(x)) && node.type(w) == node.type(x) &&
                   node.type(offset) == node.type(x),
               "input, weights and offsets differ in rank or type");
  const Shape kernel(weight.begin() + 2, weight.end());
  node.require(node.ints_attr("kernel_shape", kernel) == kernel, "kernel_shape is not that of the weights");
  Deformed d{x,
             offset,
             optional_input(node, 4),
             parse_window(node, Shape(from.begin() + 2, from.end()), kernel),
             node.int_attr("group", 1),
             node.int_attr("offset_group", 1)};
  node.require(d.groups >= 1 && d.offset_groups >= 1 && weight[0] % d.groups == 0 &&
                   from[1] == weight[1] * d.groups && from[1] % d.offset_groups == 0 && from[1] > 0 &&
                   d.offset_groups <= from[1],
               "the groups do not fit the channels");
  Shape wanted = output_extents(d.window);
  const int64_t taps = element_count(kernel);
  wanted.insert(wanted.begin(), {from[0], d.offset_groups * taps});
  if (d.mask != kAbsent)
    node.require(node.shape(d.mask) == wanted && node.type(d.mask) == node.type(x),
                 fmt::format("the mask should be {}", to_string(wanted)));
  wanted[1] *= static_cast<int64_t>(kernel.size());
  node.require(moved == wanted, fmt::format("the offsets should be {}", to_string(wanted)));
  for (const WindowDim& dim : d.window) node.require(dim.input > 0, "the input is empty");
  return d;
}

// x where each tap of each output position has been moved to, interpolated linearly between neighbours, those
// outside being zero: [n, channel, taps..., out...]. Of a position p, the neighbours floor(p) and floor(p) +
// 1 have shares 1 - |p - i|, which add up to 1; in more dimensions shares are multiplied. The two neighbours
// a dimension are a reduced axis, so the interpolation is a sum of 2^rank terms:
//
//   p = 3.25:   0.75 * x[3] + 0.25 * x[4]               p = -0.5:   0 + 0.5 * x[0]
TensorId moved_taps(Lowering& node, const Deformed& d) {
  const Shape from = node.shape(d.x);
  const int64_t per_group = from[1] / d.offset_groups;
  const auto rank = static_cast<int64_t>(d.window.size());
  Formula f(node);
  const Expr n = f.axis(from[0]), g = f.axis(d.offset_groups), within = f.axis(per_group);
  std::vector<Expr> taps;
  for (const WindowDim& dim : d.window) taps.push_back(f.axis(dim.kernel));
  const std::vector<Expr> out = f.axes(output_extents(d.window));
  Expr tap = g;
  for (size_t k = 0; k < taps.size(); ++k) tap = tap * integer(d.window[k].kernel) + taps[k];
  const auto data = [&](TensorId id, const Expr& channel) {
    std::vector<Expr> at = {n, channel};
    at.insert(at.end(), out.begin(), out.end());
    return f.read(id, at);
  };
  const Expr channel = g * integer(per_group) + within;
  std::vector<Expr> in = {n, channel}, store = in;
  Expr weight, inside = constant(Type::kBool, 1);
  for (int64_t k = 0; k < rank; ++k) {
    const WindowDim& dim = d.window[k];
    const Expr offset = data(d.offset, tap * integer(rank) + integer(k));
    const Expr still = out[k] * integer(dim.stride) + taps[k] * integer(dim.dilation) - integer(dim.begin);
    // Farther outside than a neighbour's reach everything is zero; clamping there keeps integers small.
    const Expr p = min(max(cast(offset->type, still) + offset, -2), static_cast<double>(dim.input + 1));
    const Expr i = cast(Type::kInt64, make(Op::kFloor, {p})) + f.reduced(2);
    const Expr share = 1 - absolute(p - cast(p->type, i));
    weight = k == 0 ? share : weight * share;
    inside = k == 0 ? integer(0) <= i && i < integer(dim.input)
                    : inside && integer(0) <= i && i < integer(dim.input);
    in.push_back(min(max(i, 0), static_cast<double>(dim.input - 1)));
  }
  const Expr value = f.read(d.x, in);
  f.sum(select(inside, value * weight, constant(value->type, 0)));
  if (d.mask != kAbsent) f.finish(f.acc() * data(d.mask, tap));
  Shape shape = {from[0], from[1]};
  for (size_t k = 0; k < taps.size(); ++k) shape.push_back(d.window[k].kernel), store.push_back(taps[k]);
  for (size_t k = 0; k < out.size(); ++k) shape.push_back(d.window[k].output), store.push_back(out[k]);
  f.store(store);
  return f.emit(compute_type(node.type(d.x)), shape);
}

// A product of w [M, C / groups, kernel...] with the moved taps, as a convolution's inner sum is.
void deform_conv(Lowering& node) {
  const Deformed d = deformed_of(node);
  const TensorId w = node.in(1), values = moved_taps(node, d);
  const Shape weight = node.shape(w);
  Formula f(node);
  const Expr n = f.axis(node.shape(d.x)[0]);
  const auto [group, within, channel] = channel_axes(f, d.groups, weight[0]);
  const std::vector<Expr> out = f.axes(output_extents(d.window));
  const Expr c = f.reduced(weight[1]);
  const std::vector<Expr> taps = tap_axes(f, d.window);
  std::vector<Expr> at = {n, group * integer(weight[1]) + c}, factor = {channel, c}, store = {n, channel};
  at.insert(at.end(), taps.begin(), taps.end());
  at.insert(at.end(), out.begin(), out.end());
  factor.insert(factor.end(), taps.begin(), taps.end());
  store.insert(store.end(), out.begin(), out.end());
  f.sum(f.read(values, at) * f.read(w, factor));
  if (node.has_input(3)) {
    node.require(node.shape(node.in(3)) == Shape{weight[0]} && node.type(node.in(3)) == node.type(d.x),
                 "the bias does not fit");
    f.finish(f.acc() + f.read(node.in(3), {channel}));
  }
  f.store(store);
  Shape shape = output_extents(d.window);
  shape.insert(shape.begin(), {node.shape(d.x)[0], weight[0]});
  node.out(0, f.emit(node.type(d.x), shape));
}

// A convolution of each channel over time that sees no future: output l is the sum over x[l - taps + 1 .. l].
// What lies before x[0] is the past state, [batch, channels, taps - 1], and the last taps - 1 elements are
// the next one.
//
//   | past  p p | x x x x x |      taps 3         y[0] = p p x,  y[1] = p x x, ...
//               |       s s |      next state
void causal_conv_with_state(Lowering& node) {
  const TensorId x = node.in(0), w = node.in(1);
  const Shape from = node.shape(x), weight = node.shape(w);
  node.require(from.size() == 3 && weight.size() == 3 && is_float(node.type(x)) &&
                   node.type(w) == node.type(x) && weight[0] == from[1] && weight[1] == 1 && weight[2] > 0,
               "x should be [batch,channels,length] and the weights [channels,1,taps]");
  const Shape past = {from[0], from[1], weight[2] - 1};
  TensorId before;
  if (node.has_input(3)) {
    before = node.in(3);
    node.require(node.shape(before) == past && node.type(before) == node.type(x),
                 fmt::format("the past state should be {}", to_string(past)));
  } else {
    before = filled(node, node.type(x), past, 0);
  }
  Attribute axis;
  axis.i = 2;
  const TensorId all = node.apply("Concat", {before, x}, {{"axis", axis}});
  if (node.wants(1)) {
    Formula state(node);
    const auto at = state.axes(past);
    state.body(state.read(all, {at[0], at[1], at[2] + integer(from[2])}));
    node.out(1, state.emit(node.type(x)));
  }
  const std::string how = node.string_attr("activation", "none");
  node.require(how == "none" || how == "silu" || how == "swish", fmt::format("unknown activation '{}'", how));
  Formula f(node);
  const Expr b = f.axis(from[0]), c = f.axis(from[1]), l = f.axis(from[2]), k = f.reduced(weight[2]);
  f.sum(f.read(all, {b, c, l + k}) * f.read(w, {c, integer(0), k}));
  Expr y = f.acc();
  if (node.has_input(2)) {
    node.require(node.shape(node.in(2)) == Shape{from[1]} && node.type(node.in(2)) == node.type(x),
                 "the bias does not fit");
    y = y + f.read(node.in(2), {c});
  }
  f.finish(how == "none" ? y : y / (1 + exp(-y)));
  node.out(0, f.emit(node.type(x)));
}

}  // namespace

std::span<const OperatorRow> conv_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "CausalConvWithState", 27, causal_conv_with_state},
      {"", "Col2Im", 18, col2im, 1000, "formula", kEveryType},
      {"", "Conv", 1, conv},
      {"", "ConvTranspose", 1, conv_transpose},
      {"", "DeformConv", 19, deform_conv},
      {"com.microsoft", "FusedConv", 1, conv},
  };
  return kRows;
}

}  // namespace arenac
