#include "scheduler/cmsis_nn_layer.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace arenac {
namespace {

// Of extents, and of the elements under a window: CMSIS-NN has some of them in 16 bits.
constexpr int64_t kMostCounted = std::numeric_limits<int16_t>::max();

// Whether the elements follow each other when these dimensions are walked, outermost first.
bool lies_in_order(const Layout& layout, const Shape& shape, const std::vector<int>& dimensions) {
  int64_t stride = 1;
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    if (shape[*d] != 1 && layout.strides[*d] != stride) return false;
    stride *= shape[*d];
  }
  return layout.ring.kept == 0;
}

// Batch, rows, columns, channels of a tensor of batch, channels, rows, columns.
std::vector<int> channels_last(size_t rank) {
  std::vector<int> order(rank, 1);
  std::iota(order.begin() + 1, order.end() - 1, 2);
  order[0] = 0;
  return order;
}

bool is_counted(const CmsisNnLayer& l) {
  const int64_t all[] = {l.n,        l.in_h,  l.in_w,  l.in_c,       l.filter_h,
                         l.filter_w, l.out_h, l.out_w, l.out_c,      l.stride_h,
                         l.stride_w, l.pad_h, l.pad_w, l.dilation_h, l.dilation_w};
  const auto fits = [](int64_t number) { return number <= kMostCounted; };
  const auto addressed = [](int64_t h, int64_t w, int64_t c) {  // none of them is above 2^15
    return h * w * c <= std::numeric_limits<int32_t>::max();
  };
  return std::ranges::all_of(all, fits) && fits(l.filter_h * l.filter_w) &&
         fits(l.filter_h * l.filter_w * l.in_c) && addressed(l.in_h, l.in_w, l.in_c * l.n) &&
         addressed(l.out_h, l.out_w, l.out_c * l.n);
}

class LayerMatcher {
 public:
  explicit LayerMatcher(const LaidOutLayer& of) : of_(of), nest_(of.nest) {
    layer_.input_offset = of.layer.input_offset, layer_.output_offset = of.layer.output_offset;
    layer_.least = of.layer.least, layer_.most = of.layer.most;
  }

  enum class Channels { kSummed, kApart };  // what a pixel of the result takes: all channels, or its own
  std::optional<CmsisNnLayer> convolution(Channels channels) {
    const size_t rank = of_.in.size();
    if (rank < 3 || rank > 4 || of_.out.size() != rank || !has_plain_parts()) return std::nullopt;
    const std::vector<int> order = channels_last(rank);
    if (!lies_in_order(of_.in_layout, of_.in, order) || !lies_in_order(of_.out_layout, of_.out, order))
      return std::nullopt;
    const auto rows = rank == 4 ? window_along(2) : Window{}, columns = window_along(rank - 1);
    if (!rows || !columns) return std::nullopt;
    layer_.n = of_.in[0], layer_.in_c = of_.in[1], layer_.out_c = of_.out[1];
    take(*rows, *columns);
    const bool summed = channels == Channels::kSummed;
    if (summed ? !sums_along(1) : layer_.in_c != layer_.out_c || !(x_[1] == store_[1])) return std::nullopt;
    return checked(channels);
  }

  std::optional<CmsisNnLayer> fully_connected() {
    if (of_.in.size() < 2 || of_.out.size() != 2 || !nest_.where.empty() || !has_plain_parts())
      return std::nullopt;
    std::vector<int> order(of_.in.size());  // in which the operand lies
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](int a, int b) { return of_.in_layout.strides[a] > of_.in_layout.strides[b]; });
    if (!lies_in_order(of_.in_layout, of_.in, order) || !lies_in_order(of_.out_layout, of_.out, {0, 1}))
      return std::nullopt;
    for (size_t k = 1; k < order.size(); ++k)
      if (!sums_along(static_cast<size_t>(order[k]))) return std::nullopt;
    layer_.n = of_.in[0], layer_.out_c = of_.out[1];
    for (size_t d = 1; d < of_.in.size(); ++d)
      if (of_.in[d] > kMostCounted || (layer_.in_c *= of_.in[d]) > kMostCounted) return std::nullopt;
    return checked(Channels::kSummed);
  }

 private:
  // One dimension of an image and the filter's.
  struct Window {
    int64_t in = 1, out = 1, taps = 1, stride = 1, pad = 0, dilation = 1;
    int tap_axis = -1;
  };

  // Finds the indices of the operand and of the result without axes that stand still; whether these are one
  // axis each, none is of a loop around the nest, and the batch is the same of both.
  bool has_plain_parts() {
    if (std::ranges::any_of(nest_.axes, [](const Axis& axis) { return axis.extent < 1; })) return false;
    for (const Expr& index : of_.layer.x->args)
      if (!add_form(index, x_)) return false;
    for (const Expr& index : nest_.store)
      if (!add_form(index, store_)) return false;
    for (const Affine& form : store_)
      if (form.constant != 0 || form.terms.size() > 1 || (!form.terms.empty() && form.terms[0].second != 1))
        return false;
    layer_.channel = store_[1].terms.empty() ? -1 : store_[1].terms[0].first;
    return x_[0] == store_[0];
  }

  bool add_form(const Expr& index, std::vector<Affine>& forms) const {
    const auto form = affine_form(index);
    if (!form || (!form->terms.empty() && form->terms[0].first < 0)) return false;
    forms.push_back(without_still_axes(*form, nest_));
    return true;
  }

  bool is_reduced(int axis) const { return nest_.axes[static_cast<size_t>(axis)].reduced; }

  // Whether one reduced axis runs over the dimension of the operand.
  bool sums_along(size_t dimension) {
    const Affine& form = x_[dimension];
    if (of_.in[dimension] == 1) return form == Affine{};
    if (form.constant != 0 || form.terms.size() != 1) return false;
    const auto [axis, factor] = form.terms[0];
    layer_.filter_axes.push_back(axis);
    return factor == 1 && is_reduced(axis) && nest_.axes[axis].extent == of_.in[dimension];
  }

  std::optional<Window> window_along(size_t dimension) const {
    Window window{of_.in[dimension], of_.out[dimension]};
    const Affine &x = x_[dimension], &y = store_[dimension];
    bool moves = y.terms.empty();
    for (const auto& [axis, factor] : x.terms) {
      if (factor < 1) return std::nullopt;
      if (!y.terms.empty() && axis == y.terms[0].first)
        window.stride = factor, moves = true;
      else if (is_reduced(axis) && window.tap_axis < 0)
        window.tap_axis = axis, window.taps = nest_.axes[axis].extent, window.dilation = factor;
      else
        return std::nullopt;
    }
    window.pad = -x.constant;
    // CMSIS-NN's scratch is for windows that hold a pixel of the image or its edge.
    if (!moves || window.pad < 0 || window.pad > (window.taps - 1) * window.dilation) return std::nullopt;
    if ((window.out - 1) * window.stride - window.pad > window.in) return std::nullopt;
    return window;
  }

  void take(const Window& rows, const Window& columns) {
    layer_.in_h = rows.in, layer_.out_h = rows.out, layer_.filter_h = rows.taps;
    layer_.stride_h = rows.stride, layer_.pad_h = rows.pad, layer_.dilation_h = rows.dilation;
    layer_.in_w = columns.in, layer_.out_w = columns.out, layer_.filter_w = columns.taps;
    layer_.stride_w = columns.stride, layer_.pad_w = columns.pad, layer_.dilation_w = columns.dilation;
    for (const int axis : {rows.tap_axis, columns.tap_axis})
      if (axis >= 0) layer_.filter_axes.push_back(axis);
  }

  // Whether the bounds leave out what lies outside the image, and nothing else.
  bool leaves_out_padding() const {
    return std::ranges::all_of(nest_.where, [&](const Bound& bound) {
      const auto form = affine_form(bound.index);
      if (!form) return false;
      const Affine index = without_still_axes(*form, nest_);
      for (size_t d = 2; d < x_.size(); ++d)
        if (index == x_[d] && bound.begin == 0 && bound.end == of_.in[d]) return true;
      return false;
    });
  }

  // The layer, if every reduced axis that moves is in use, once.
  std::optional<CmsisNnLayer> checked(Channels channels) {
    std::vector<int> used = layer_.filter_axes, reduced;
    for (size_t a = 0; a < nest_.axes.size(); ++a)
      if (nest_.axes[a].reduced && nest_.axes[a].extent > 1) reduced.push_back(static_cast<int>(a));
    std::ranges::sort(used);
    const bool offsets = -127 <= layer_.input_offset && layer_.input_offset <= 128 &&
                         -128 <= layer_.output_offset && layer_.output_offset <= 127;
    if (used != reduced || !leaves_out_padding() || !offsets || !is_counted(layer_)) return std::nullopt;
    std::vector<int>& axes = layer_.filter_axes;
    if (layer_.channel >= 0)
      axes.insert(channels == Channels::kSummed ? axes.begin() : axes.end(), layer_.channel);
    return layer_;
  }

  const LaidOutLayer& of_;
  const Nest& nest_;
  CmsisNnLayer layer_;
  std::vector<Affine> x_, store_;  // per dimension
};

}  // namespace

std::optional<CmsisNnLayer> convolution(const LaidOutLayer& of) {
  return LayerMatcher(of).convolution(LayerMatcher::Channels::kSummed);
}

std::optional<CmsisNnLayer> depthwise_convolution(const LaidOutLayer& of) {
  return LayerMatcher(of).convolution(LayerMatcher::Channels::kApart);
}

std::optional<CmsisNnLayer> fully_connected(const LaidOutLayer& of) {
  return LayerMatcher(of).fully_connected();
}

}  // namespace arenac
