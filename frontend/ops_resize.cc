// Resize and Upsample: every output element is a weighted sum of input elements, the weights a product over
// the dimensions.
//
//   y[o1,o2] = sum(t1,t2) w1[o1,t1] * w2[o2,t2] * x[index1[o1,t1], index2[o2,t2]]
//
// The tables w and index depend on shapes and attributes alone; they are constants of the emitted program.
// Nearest-neighbour has one tap of weight 1, and its index is an expression wherever one fits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

enum class Mode { kNearest, kLinear, kCubic };

// Attributes of Resize as opset 11 and later default them. nearest: a mode of the standard, or "outward".
struct Rule {
  Mode mode = Mode::kNearest;
  std::string coordinates = "half_pixel", nearest = "round_prefer_floor";
  double cubic_a = -0.75;
  bool exclude_outside = false, antialias = false;
};

// One dimension that changes. The scale is output / input as the model gives it, which need not be the
// quotient of the extents: those are rounded down. The region of interest counts from 0, the first element,
// to 1, the last.
struct Dim {
  int64_t axis, input, output;
  double scale, roi_begin = 0, roi_end = 1;
};

// The position in the input that output position `o` stands for. Elements are either points at 0, 1, 2, ...
// or the middles of pixels of width 1, at 0.5, 1.5, ...; enlarging 2 to 4:
//
//   output            0      1      2      3
//   asymmetric        0      0.5    1      1.5          o / scale
//   half_pixel       -0.25   0.25   0.75   1.25         (o + 0.5) / scale - 0.5
//   align_corners     0      0.33   0.67   1            o * (input - 1) / (output - 1)
double coordinate(const Rule& rule, const Dim& d, int64_t o) {
  const double x = static_cast<double>(o), in = static_cast<double>(d.input);
  const double out = static_cast<double>(d.output);
  const std::string& mode = rule.coordinates;
  if (mode == "asymmetric") return x / d.scale;
  // ONNX's own data use the output extent before rounding down.
  if (mode == "align_corners") return d.output == 1 ? 0 : x * (in - 1) / (d.scale * in - 1);
  if (mode == "pytorch_half_pixel" && d.output == 1) return 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / d.scale;
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (d.scale * in)) + (x + 0.5) / d.scale - 0.5;
  if (mode == "tf_crop_and_resize")
    return d.output == 1 ? 0.5 * (d.roi_begin + d.roi_end) * (in - 1)
                         : d.roi_begin * (in - 1) + x * (d.roi_end - d.roi_begin) * (in - 1) / (out - 1);
  return (x + 0.5) / d.scale - 0.5;  // half_pixel
}

// Rounds a position to an element, which may lie outside. "outward" is what Resize of opset 10 does, which
// has no nearest_mode: down where it enlarges, up where it shrinks. The two others differ at ties:
//
//   x = 1.5:     round_prefer_floor  ceil(1.0) = 1         round_prefer_ceil  floor(2.0) = 2
int64_t nearest(const std::string& mode, double x, double scale) {
  double at = std::ceil(x - 0.5);  // round_prefer_floor
  if (mode == "round_prefer_ceil") at = std::floor(x + 0.5);
  if (mode == "floor" || (mode == "outward" && scale >= 1)) at = std::floor(x);
  if (mode == "ceil" || (mode == "outward" && scale < 1)) at = std::ceil(x);
  return static_cast<int64_t>(at);
}

// Weight of an input element at `distance` from the position. Linear: a triangle from -1 to 1. Cubic
// convolution: Keys, "Cubic convolution interpolation for digital image processing", 1981; piecewise cubic, 1
// at 0, 0 at 1 and 2, so that elements keep their values where positions meet them. `a` is the slope at 1.
double kernel_weight(const Rule& rule, double distance) {
  const double s = std::abs(distance), a = rule.cubic_a;
  if (rule.mode == Mode::kLinear) return std::max(1 - s, 0.0);
  if (s < 1) return ((a + 2) * s - (a + 3)) * s * s + 1;
  return s < 2 ? ((a * s - 5 * a) * s + 8 * a) * s - 4 * a : 0;
}

// an element of the input and its share of the result
struct Tap {
  int64_t index;
  double weight;
};

// The elements that make up output position o, one at least. Those outside the input are its nearest edge's,
// or left out with exclude_outside, and then the weights are scaled to a sum of 1.
//
//   linear, x = 1.25:   {1, 0.75}, {2, 0.25}            x = -0.25, input 2:   {0, 0.25}, {0, 0.75}
//
// Elements are those in the open interval (x - reach, x + reach).
std::vector<Tap> taps_at(const Rule& rule, const Dim& d, int64_t o) {
  const double x = std::clamp(coordinate(rule, d, o), -1e12, 1e12);
  if (rule.mode == Mode::kNearest)
    return {{std::clamp<int64_t>(nearest(rule.nearest, x, d.scale), 0, d.input - 1), 1}};
  // Antialiasing stretches the kernel when shrinking.
  const double stretch = rule.antialias ? std::min(d.scale, 1.0) : 1;
  const double reach = (rule.mode == Mode::kLinear ? 1 : 2) / stretch;
  std::vector<Tap> taps;
  double sum = 0;
  for (auto j = static_cast<int64_t>(std::floor(x - reach)) + 1; static_cast<double>(j) < x + reach; ++j) {
    if (rule.exclude_outside && (j < 0 || j >= d.input)) continue;
    const double weight = kernel_weight(rule, (static_cast<double>(j) - x) * stretch);
    taps.push_back({std::clamp<int64_t>(j, 0, d.input - 1), weight});
    sum += weight;
  }
  if ((rule.exclude_outside || rule.antialias) && sum != 0)
    for (Tap& tap : taps) tap.weight /= sum;
  if (taps.empty()) taps.push_back({0, 0});
  return taps;
}

// An expression of axis `o` that equals indices[o] everywhere: c + s*o or (o + b) / f. Empty when none fits.
// It saves the table, and to the scheduler it is a stride or a repetition, which may be a view or a fused
// loop.
//
//   0 2 4 6   ->   2*o             0 0 1 1 2 2   ->   o / 2           0 1 1 1 2 2 2   ->   (o + 2) / 3
Expr closed_form(const std::vector<int64_t>& indices, const Expr& o) {
  const auto fits = [&](const auto& formula) {
    for (size_t k = 0; k < indices.size(); ++k)
      if (indices[k] != formula(static_cast<int64_t>(k))) return false;
    return true;
  };
  const int64_t c = indices[0], s = indices.size() > 1 ? indices[1] - c : 0;
  if (fits([&](int64_t k) { return c + s * k; })) return o * integer(s) + integer(c);
  int64_t f = 0, first = 0;  // period, and how long the first index lasts
  for (size_t k = 0; k < indices.size() && indices[k] == indices[0]; ++k) ++first;
  for (size_t k = first; k < indices.size() && indices[k] == indices[first]; ++k) ++f;
  f = std::max(f, first);
  const int64_t b = f - first;
  if (c == 0 && fits([&](int64_t k) { return (k + b) / f; })) return (o + integer(b)) / integer(f);
  return {};
}

// int32: half of an int64's flash.
TensorId index_table(const Lowering& node, const Shape& shape, const std::vector<int64_t>& indices) {
  Value table = node.table(Type::kInt32, shape);
  for (size_t k = 0; k < indices.size(); ++k) store(table, static_cast<int64_t>(k), {.i = indices[k]});
  return node.constant(std::move(table));
}

// The input index of one dimension, and its weight, which is empty when it is 1. With more than one tap, the
// index names a reduced axis over the taps.
struct TappedIndex {
  Expr index, weight;
};

// Positions with fewer taps than others are filled up with their last index and weight 0: the tables are
// rectangular, [output, most].
TappedIndex tapped_index(Lowering& node, Formula& f, const Rule& rule, const Dim& d, const Expr& o,
                         Type arithmetic) {
  std::vector<std::vector<Tap>> taps;
  size_t most = 1;
  for (int64_t k = 0; k < d.output; ++k) {
    taps.push_back(taps_at(rule, d, k));
    most = std::max(most, taps.back().size());
    node.require(most * static_cast<size_t>(d.output) < (size_t{1} << 22), "the filter is too large");
  }
  // Whatever lies between one element and itself is that element.
  const auto is_whole = [](const std::vector<Tap>& row) {
    double sum = 0;
    for (const Tap& tap : row) sum += tap.weight;
    return std::abs(sum - 1) < 1e-9;
  };
  if (d.input == 1 && std::ranges::all_of(taps, is_whole)) return {integer(0), {}};
  std::vector<int64_t> indices;
  Value weights = node.table(arithmetic, {d.output, static_cast<int64_t>(most)});
  for (auto& row : taps) {
    row.resize(most, {row.back().index, 0});
    for (const Tap& tap : row) {
      store(weights, static_cast<int64_t>(indices.size()),
            convert(arithmetic, Type::kFloat64, {.f = tap.weight}));
      indices.push_back(tap.index);
    }
  }
  if (rule.mode == Mode::kNearest) {
    const Expr closed = closed_form(indices, o);
    if (!closed.empty()) return {closed, {}};
    return {cast(Type::kInt64, f.read(index_table(node, {d.output}, indices), {o})), {}};
  }
  const Expr t = f.reduced(static_cast<int64_t>(most));
  const TensorId table = index_table(node, {d.output, static_cast<int64_t>(most)}, indices);
  return {cast(Type::kInt64, f.read(table, {o, t})), f.read(node.constant(std::move(weights)), {o, t})};
}

// Which positions of an output dimension lie inside the input, as a constant table; absent if all do. Of
// tf_crop_and_resize, which gives what lies outside the value extrapolation_value.
TensorId inside_table(const Lowering& node, const Rule& rule, const Dim& d) {
  Value table = node.table(Type::kBool, {d.output});
  bool all = true;
  for (int64_t o = 0; o < d.output; ++o) {
    const double x = coordinate(rule, d, o);
    const bool inside = x >= 0 && x <= static_cast<double>(d.input - 1);
    store(table, o, {.i = inside});
    all &= inside;
  }
  return all ? kAbsent : node.constant(std::move(table));
}

// One nest over the output and, in each interpolated dimension, the taps. Integers are interpolated in
// float32 and then rounded if antialiased, else cut off.
TensorId resized(Lowering& node, TensorId x, const Rule& rule, const std::vector<Dim>& dims) {
  Shape to = node.shape(x);
  for (const Dim& d : dims) {
    node.require(!rule.antialias || d.scale > 1e-4, "an antialiased scale this small is not supported");
    to[d.axis] = d.output;
  }
  element_count(to);
  const Type type = node.type(x), arithmetic = is_float(type) ? compute_type(type) : Type::kFloat32;
  Formula f(node);
  const std::vector<Expr> out = f.axes(to);
  std::vector<Expr> in = out;
  Expr weight;
  for (const Dim& d : dims) {
    const TappedIndex tap = tapped_index(node, f, rule, d, out[d.axis], arithmetic);
    in[d.axis] = tap.index;
    if (!tap.weight.empty()) weight = weight.empty() ? tap.weight : weight * tap.weight;
  }
  Expr value = f.read(x, in);
  const bool sums = !weight.empty();
  if (sums) {
    value = cast(arithmetic, value);
    f.sum(weight * value);
    value = f.acc();
    if (!is_float(type)) value = make(rule.antialias ? Op::kRound : Op::kTrunc, {value});
  }
  if (rule.coordinates == "tf_crop_and_resize")
    for (const Dim& d : dims)
      if (const TensorId inside = inside_table(node, rule, d); inside != kAbsent)
        value = select(f.read(inside, {out[d.axis]}), value,
                       constant(value->type, node.float_attr("extrapolation_value", 0)));
  value = cast(compute_type(type), value);
  if (!sums)
    f.body(value);
  else if (value->op != Op::kAcc)
    f.finish(value);
  return f.emit(type);
}

Mode parse_mode(const Lowering& node) {
  const std::string mode = node.string_attr("mode", "nearest");
  if (mode == "nearest") return Mode::kNearest;
  if (mode == "linear" || mode == "bilinear" || mode == "trilinear") return Mode::kLinear;
  if (mode == "cubic" || mode == "bicubic") return Mode::kCubic;
  node.fail(fmt::format("unknown mode '{}'", mode));
}

Rule parse_rule(const Lowering& node) {
  Rule rule;
  rule.mode = parse_mode(node);
  if (node.op() == "Upsample" || node.opset() < 11) {
    rule.coordinates = "asymmetric";
    rule.nearest = node.op() == "Upsample" ? "floor" : "outward";
    return rule;
  }
  rule.coordinates = node.string_attr("coordinate_transformation_mode", rule.coordinates);
  rule.nearest = node.string_attr("nearest_mode", rule.nearest);
  rule.cubic_a = node.float_attr("cubic_coeff_a", -0.75f);
  rule.exclude_outside = node.int_attr("exclude_outside", 0) != 0;
  rule.antialias = node.int_attr("antialias", 0) != 0 && rule.mode != Mode::kNearest;
  constexpr const char* kCoordinates[] = {"half_pixel",        "half_pixel_symmetric", "pytorch_half_pixel",
                                          "align_corners",     "asymmetric",           "tf_half_pixel_for_nn",
                                          "tf_crop_and_resize"};
  constexpr const char* kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  node.require(
      std::find(std::begin(kCoordinates), std::end(kCoordinates), rule.coordinates) != std::end(kCoordinates),
      fmt::format("unknown coordinate_transformation_mode '{}'", rule.coordinates));
  node.require(std::find(std::begin(kNearest), std::end(kNearest), rule.nearest) != std::end(kNearest),
               fmt::format("unknown nearest_mode '{}'", rule.nearest));
  return rule;
}

// Output extents from `scales`, or from `sizes` with attribute keep_aspect_ratio_policy (opset 18), by which
// all dimensions get the least (not_larger) or the greatest (not_smaller) of the scales that the sizes ask
// for.
//
//   scale 2.5, extent 3  ->  floor(7.5) = 7            sizes [8,8] of [4,2], not_larger:  scale 2, [8,4]
void set_extents(const Lowering& node, const Rule& rule, const std::vector<double>& scales,
                 const std::vector<int64_t>& sizes, std::vector<Dim>& dims) {
  const size_t count = scales.empty() ? sizes.size() : scales.size();
  node.require(count == dims.size(), fmt::format("{} numbers for {} axes", count, dims.size()));
  for (size_t k = 0; k < dims.size(); ++k) {
    Dim& d = dims[k];
    node.require(d.input > 0, "an empty dimension cannot be resized");
    const bool by_scale = !scales.empty();
    node.require(by_scale ? scales[k] > 0 && scales[k] < 1e9 : sizes[k] > 0 && sizes[k] < kMaxElements,
                 "scales and sizes must be positive");
    d.scale = by_scale ? scales[k] : static_cast<double>(sizes[k]) / static_cast<double>(d.input);
    const double part = rule.coordinates == "tf_crop_and_resize" ? d.roi_end - d.roi_begin : 1;
    // In float, as exporters computed the scale: 10/7 is then 10/7 and not a little less.
    const float extent = static_cast<float>(d.input) * static_cast<float>(part) * static_cast<float>(d.scale);
    node.require(!by_scale || extent < std::ldexp(1.0f, 40), "the output is too large");
    d.output = by_scale ? static_cast<int64_t>(std::floor(extent)) : sizes[k];
    node.require(d.output > 0, "the output is empty");
  }
  const std::string policy = node.string_attr("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || sizes.empty()) return;
  node.require(policy == "not_larger" || policy == "not_smaller",
               fmt::format("unknown keep_aspect_ratio_policy '{}'", policy));
  const auto by_scale = [](const Dim& a, const Dim& b) { return a.scale < b.scale; };
  const double scale = policy == "not_larger" ? std::min_element(dims.begin(), dims.end(), by_scale)->scale
                                              : std::max_element(dims.begin(), dims.end(), by_scale)->scale;
  for (Dim& d : dims) {
    d.scale = scale;
    d.output = std::max<int64_t>(std::llround(scale * static_cast<double>(d.input)), 1);
  }
}

// Inputs: x, roi, scales, sizes since opset 11; x and scales before (an attribute of Upsample before opset
// 9). Either scales or sizes are given. Dimensions that stay as they are take no taps.
void resize(Lowering& node) {
  const TensorId x = node.in(0);
  const Rule rule = parse_rule(node);
  const bool has_roi = node.op() == "Resize" && node.opset() >= 11;
  std::vector<double> scales;
  if (node.has("scales")) {
    const auto& given = node.attribute("scales").floats;
    scales.assign(given.begin(), given.end());
  } else if (node.has_input(has_roi ? 2 : 1)) {
    scales = node.constant_floats(node.in(has_roi ? 2 : 1), "the scales");
  }
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < node.rank(x); ++d) axes.push_back(d);
  axes = node.ints_attr("axes", axes);
  const auto declared = scales.empty() ? node.declared_for(3) : std::nullopt;
  std::vector<int64_t> sizes;
  if (declared && declared->size() == node.shape(x).size() &&
      node.string_attr("keep_aspect_ratio_policy", "stretch") == "stretch") {
    for (int64_t axis : axes) sizes.push_back(declared->at(node.normalized_axis(axis, node.rank(x))));
    sizes = assumed_ints(node, node.in(3), sizes);
  } else if (scales.empty()) {
    sizes = node.constant_ints(node.in(3), "the sizes");
  }
  std::vector<Dim> dims;
  for (int64_t axis : axes) {
    const int64_t d = node.normalized_axis(axis, node.rank(x));
    dims.push_back({d, node.shape(x)[d], 0, 1});
  }
  if (rule.coordinates == "tf_crop_and_resize") {
    const auto roi = node.constant_floats(node.in(1), "the region of interest");
    node.require(roi.size() == 2 * dims.size(), "the region of interest has the wrong length");
    for (double r : roi) node.require(std::isfinite(r), "the region of interest is not finite");
    for (size_t k = 0; k < dims.size(); ++k) {
      dims[k].roi_begin = roi[k];
      dims[k].roi_end = roi[dims.size() + k];
    }
  }
  set_extents(node, rule, scales, sizes, dims);
  const bool crops = rule.coordinates == "tf_crop_and_resize";
  std::erase_if(dims, [&](const Dim& d) {
    return d.input == d.output && (crops ? d.roi_begin == 0 && d.roi_end == 1 : d.scale == 1);
  });
  const bool fractional = std::ranges::any_of(dims, [](const Dim& d) {
    return std::abs(d.scale * static_cast<double>(d.input) - static_cast<double>(d.output)) > 1e-4;
  });
  if (rule.coordinates == "align_corners" && fractional)
    node.warn(
        "align_corners to an extent that is no whole number: ONNX's definition is followed, onnxruntime "
        "takes the rounded extent; give sizes instead of scales for one meaning everywhere");
  node.out(0, resized(node, x, rule, dims));
}

}  // namespace

std::span<const OperatorRow> resize_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Resize", 10, resize},
      {"", "Upsample", 1, resize, 10},
  };
  return kRows;
}

}  // namespace arenac
