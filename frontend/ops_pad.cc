// Padding and cropping: out[i] = x[i - begin], with some rule for the elements that x lacks.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// Padding of one dimension; negative numbers crop.
struct Padding {
  int64_t begin = 0, end = 0;
};

Shape padded_shape(const Lowering& node, const Shape& from, const std::vector<Padding>& padding) {
  Shape to;
  for (size_t d = 0; d < from.size(); ++d) {
    for (int64_t v : {padding[d].begin, padding[d].end})
      node.require(v > -kMaxElements && v < kMaxElements, "the padding is out of range");
    to.push_back(from[d] + padding[d].begin + padding[d].end);
    node.require(to[d] >= 0, fmt::format("the padding takes away more than dimension {} has", d));
  }
  return to;
}

// A fill, then a copy of what is left of x.
TensorId padded(Lowering& node, TensorId x, const std::vector<Padding>& padding, TensorId value) {
  const Shape& from = node.shape(x);
  const Shape to = padded_shape(node, from, padding);
  const auto pads = [](const Padding& p) { return p.begin != 0 || p.end != 0; };
  if (std::none_of(padding.begin(), padding.end(), pads)) return x;
  Formula f(node);
  f.axes(to);
  if (value == kAbsent)
    f.body(constant(compute_type(node.type(x)), 0));
  else if (node.is_constant(value))
    f.body(constant(compute_type(node.type(x)), load(*node.tensor(value).constant, 0)));
  else
    f.body(f.read(value, std::vector<Expr>(node.rank(value), integer(0))));
  f.next_nest();
  std::vector<Expr> in, out;
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t first = std::max<int64_t>(padding[d].begin, 0);
    const int64_t last = std::min(to[d], from[d] + padding[d].begin);
    const Expr i = f.axis(std::max<int64_t>(last - first, 0));
    out.push_back(i + integer(first));
    in.push_back(i + integer(first - padding[d].begin));
  }
  f.body(f.read(x, in));
  f.store(out);
  return f.emit(node.type(x), to);
}

// Index i of a dimension that extends beyond [0, n) by repetition.
Expr extended(const std::string& mode, const Expr& i, int64_t n) {
  if (n == 1) return integer(0);
  if (mode == "wrap") return i % integer(n);
  if (mode == "reflect") {  // a triangle wave that turns at 0 and n - 1
    const Expr phase = i % integer(2 * (n - 1));
    return min(min(phase, 2 * (n - 1) - phase), integer(n - 1));
  }
  return min(max(i, 0), integer(n - 1));  // edge, and where only what lies inside counts
}

std::vector<Padding> parse_padding(const Lowering& node) {
  const int64_t rank = node.rank(node.in(0));
  const bool attribute = node.opset() < 11;
  const auto pads = attribute ? node.attribute("pads").ints : node.constant_ints(node.in(1), "the padding");
  std::vector<int64_t> axes;
  if (node.has_input(3)) {
    axes = node.constant_ints(node.in(3), "the axes");
  } else {
    for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
  }
  node.require(pads.size() == 2 * axes.size(), "'pads' has the wrong length");
  std::vector<Padding> padding(rank);
  for (size_t k = 0; k < axes.size(); ++k)
    padding[node.normalized_axis(axes[k], rank)] = {pads[k], pads[axes.size() + k]};
  return padding;
}

// Padding that only the run knows, of a result whose shape the model declares.
TensorId padded_at_run_time(Lowering& node, TensorId x, const Shape& to, const std::string& mode) {
  const Shape from = node.shape(x);
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t count = node.has_input(3) ? element_count(node.shape(node.in(3))) : rank;
  node.require(to.size() == from.size() && count <= rank && element_count(from) > 0 &&
                   node.shape(node.in(1)) == Shape{2 * count} &&
                   (!node.has_input(3) || node.rank(node.in(3)) == 1),
               "the declared shape does not fit");
  Formula f(node);
  const std::vector<Expr> out = f.axes(to);
  std::vector<Expr> in;
  Expr inside;
  for (int64_t d = 0; d < rank; ++d) {
    Expr begin = integer(0);
    for (int64_t k = 0; k < count; ++k) {
      const auto element = [&](int input) {
        return cast(Type::kInt64, f.read(node.in(input), {integer(k)}));
      };
      const Expr axis = node.has_input(3) ? element(3) : integer(k);
      const Expr pads = min(max(element(1), integer(-kMaxElements)), integer(kMaxElements));
      begin = select(is_dimension(axis, d, rank), pads, begin);
    }
    const Expr at = out[d] - begin, holds = integer(0) <= at && at < integer(from[d]);
    inside = inside.empty() ? holds : inside && holds;
    in.push_back(extended(mode, at, from[d]));
  }
  Expr value = f.read(x, in);
  if (mode == "constant" && !inside.empty())
    value = select(inside, value,
                   node.has_input(2) ? read_single(node, f, node.in(2)) : constant(value->type, 0));
  f.body(value);
  return f.emit(node.type(x));
}

void pad(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape from = node.shape(x);
  const std::string mode = node.string_attr("mode", "constant");
  node.require(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap",
               fmt::format("unknown mode '{}'", mode));
  if (node.has_input(2))
    node.require(node.type(node.in(2)) == node.type(x) && element_count(node.shape(node.in(2))) == 1,
                 "the padding value does not fit");
  for (int k : {1, 3})
    if (const auto declared = node.opset() >= 11 ? node.declared_for(k) : std::nullopt)
      return node.out(0, padded_at_run_time(node, x, *declared, mode));
  const std::vector<Padding> padding = parse_padding(node);
  if (mode == "constant") {
    TensorId value = kAbsent;
    if (node.opset() < 11) {
      value = node.scalar(node.type(x), node.float_attr("value", 0));
    } else if (node.has_input(2)) {
      value = node.in(2);
    }
    node.out(0, padded(node, x, padding, value));
    return;
  }
  const Shape to = padded_shape(node, from, padding);
  Formula f(node);
  std::vector<Expr> in = f.axes(to);
  for (size_t d = 0; d < from.size(); ++d) {
    if (padding[d].begin == 0 && padding[d].end == 0) continue;
    node.require(from[d] > 0 || to[d] == 0, "an empty dimension has nothing to repeat");
    in[d] = extended(mode, in[d] - integer(padding[d].begin), std::max<int64_t>(from[d], 1));
  }
  f.body(f.read(x, in));
  node.out(0, f.emit(node.type(x)));
}

// Crops or pads each axis around its centre to a given extent.
void center_crop_pad(Lowering& node) {
  const TensorId x = node.in(0);
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < node.rank(x); ++d) axes.push_back(d);
  axes = node.ints_attr("axes", axes);
  Shape wanted;
  if (const auto declared = node.declared_for(1)) {
    node.require(declared->size() == node.shape(x).size(), "the declared shape has the wrong rank");
    for (int64_t axis : axes) wanted.push_back(declared->at(node.normalized_axis(axis, node.rank(x))));
    wanted = assumed_ints(node, node.in(1), wanted);
  } else {
    wanted = node.constant_ints(node.in(1), "the shape");
  }
  node.require(axes.size() == wanted.size(), "the shape has the wrong length");
  std::vector<Padding> padding(node.rank(x));
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t d = node.normalized_axis(axes[k], node.rank(x));
    node.require(wanted[k] >= 0 && wanted[k] < kMaxElements, "the shape is out of range");
    const int64_t more = wanted[k] - node.shape(x)[d];
    padding[d] = {more / 2, more - more / 2};
  }
  node.out(0, padded(node, x, padding, kAbsent));
}

}  // namespace

std::span<const OperatorRow> pad_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "CenterCropPad", 18, center_crop_pad, 1000, "formula", kEveryType},
      {"", "Pad", 1, pad},
  };
  return kRows;
}

}  // namespace arenac
