// Sampling at positions that are data.
//
//   GridSample    y[n,c,o...] = x interpolated at position grid[n,o...,:], where -1 and 1 are the borders
//   RoiAlign      y[r,c,o...] = the mean or the maximum of samples of x in bin o of region r
//   MaxRoiPool    the same without interpolation
//   AffineGrid    grid[n,o...,:] = theta[n] applied to the homogeneous coordinates of o
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

enum class Interpolation { kNearest, kLinear, kCubic };
// what lies outside of x: zeros, its nearest element, or x mirrored at its borders
enum class Border { kZeros, kClamp, kReflect };

struct Sampling {
  Interpolation interpolation;
  Border border;
  bool align_corners;
};

// Opset 16 says bilinear and bicubic, opset 20 linear and cubic.
Sampling parse_sampling(const Lowering& node) {
  Sampling s{Interpolation::kLinear, Border::kZeros, node.int_attr("align_corners", 0) != 0};
  const std::string mode = node.string_attr("mode", "linear"),
                    padding = node.string_attr("padding_mode", "zeros");
  if (mode == "nearest")
    s.interpolation = Interpolation::kNearest;
  else if (mode == "cubic" || mode == "bicubic")
    s.interpolation = Interpolation::kCubic;
  else
    node.require(mode == "linear" || mode == "bilinear", fmt::format("unknown mode '{}'", mode));
  if (padding == "border")
    s.border = Border::kClamp;
  else if (padding == "reflection")
    s.border = Border::kReflect;
  else
    node.require(padding == "zeros", fmt::format("unknown padding_mode '{}'", padding));
  return s;
}

// A triangle wave of x that turns at low and high:
//
//   low -0.5, high 3.5:      -1 -> 0        3.5 -> 3.5        4 -> 3        8 -> 0
Expr reflected(const Expr& x, double low, double high) {
  if (high <= low) return constant(x->type, low);
  const Expr phase = (x - low) % (2 * (high - low));
  return select(phase <= high - low, phase + low, (2 * high - low) - phase);
}

// From [-1, 1] to input positions of a dimension of n elements, brought near it. Corners aligned, -1 and 1
// are the middles of the first and the last element, else the outer edges of these. For n = 4:
//
//   align_corners      -1 -> 0      1 -> 3             else      -1 -> -0.5      1 -> 3.5
//
// Rounding to the nearest comes before the border is looked at.
Expr position(const Sampling& s, const Expr& g, int64_t n) {
  const double extent = static_cast<double>(n);
  const double low = s.align_corners ? 0 : -0.5, high = s.align_corners ? extent - 1 : extent - 0.5;
  Expr p = s.align_corners ? (g + 1) * ((extent - 1) / 2) : ((g + 1) * extent - 1) * 0.5;
  if (s.interpolation == Interpolation::kNearest) p = make(Op::kRound, {p});
  switch (s.border) {
    case Border::kZeros:  // far enough out that no tap hits; keeps integers small
      return min(max(p, -4), extent + 3);
    case Border::kClamp:
      return select(p < low || p > high, min(max(p, 0), extent - 1), p);
    case Border::kReflect:
      return reflected(p, low, high);
  }
  return p;
}

// Positions of all outputs in input elements: [N, out..., spatial rank], components as in the grid (the last
// dimension of x first). A node of its own, as the channels share them.
TensorId positions(Lowering& node, TensorId x, TensorId grid, const Sampling& s) {
  const Shape to = node.shape(grid), from = node.shape(x);
  Formula f(node);
  for (int64_t k = 0; k < to.back(); ++k) {
    if (k > 0) f.next_nest();
    std::vector<Expr> at = f.axes(Shape(to.begin(), to.end() - 1));
    at.push_back(integer(k));
    f.body(position(s, f.read(grid, at), from[from.size() - 1 - k]));
    f.store(at);
  }
  return f.emit(compute_type(node.type(grid)), to);
}

// Cubic convolution with a = -0.75 (Keys, 1981).
Expr cubic_weight(const Expr& distance) {
  constexpr double a = -0.75;
  const Expr s = absolute(distance);
  return select(s < 1, ((a + 2) * s - (a + 3)) * s * s + 1,
                select(s < 2, ((a * s - 5 * a) * s + 8 * a) * s - 4 * a, constant(s->type, 0)));
}

// Element i of a dimension, i possibly outside; always in range. Mirrored at the middle of the border's
// element, or at its outer edge, where the border's element comes twice:
//
//   n = 4, i = -2 -1 0 1 2 3 4 5      align_corners  2 1 0 1 2 3 2 1      else  1 0 0 1 2 3 3 2
Expr inner_index(const Sampling& s, const Expr& i, int64_t n) {
  Expr inner = i;
  if (s.border == Border::kReflect && n == 1) return integer(0);
  if (s.border == Border::kReflect && s.align_corners) {
    const Expr phase = i % integer(2 * n - 2);
    inner = min(phase, integer(2 * n - 2) - phase);
  } else if (s.border == Border::kReflect) {
    const Expr phase = i % integer(2 * n);
    inner = min(phase, integer(2 * n - 1) - phase);
  }
  return min(max(inner, 0), integer(n - 1));
}

// One nest, with as many reduced axes as there are interpolated dimensions: 2 neighbours each, or 4 of a
// cubic. Weights are products over the dimensions. With zeros outside, a neighbour that is outside counts 0
// and its index is guarded by the select.
void grid_sample(Lowering& node) {
  const TensorId x = node.in(0), grid = node.in(1);
  const Shape from = node.shape(x), lattice = node.shape(grid);
  const size_t rank = from.size() - 2;
  node.require(from.size() >= 3 && lattice.size() == from.size() && lattice[0] == from[0] &&
                   lattice.back() == static_cast<int64_t>(rank) && is_float(node.type(grid)) &&
                   element_count(from) > 0,
               "the grid does not fit the input");
  const Sampling s = parse_sampling(node);
  if (s.interpolation == Interpolation::kCubic && s.border == Border::kClamp)
    node.warn(
        "cubic with padding_mode border: ONNX's reference is followed, which brings positions outside to "
        "the border first; onnxruntime only brings the elements that they take");
  const TensorId where = positions(node, x, grid, s);

  Formula f(node);
  std::vector<Expr> in = f.axes({from[0], from[1]});
  std::vector<Expr> at = {in[0]};
  for (size_t k = 0; k < rank; ++k) at.push_back(f.axis(lattice[k + 1]));
  Expr weight, inside;
  for (size_t k = 0; k < rank; ++k) {
    at.push_back(integer(static_cast<int64_t>(rank - 1 - k)));
    const Expr p = f.read(where, at);
    at.pop_back();
    Expr i = cast(Type::kInt64, make(Op::kFloor, {p}));
    if (s.interpolation != Interpolation::kNearest) {
      const bool linear = s.interpolation == Interpolation::kLinear;
      i = i + (linear ? f.reduced(2) : f.reduced(4) - 1);
      const Expr distance = p - cast(p->type, i);
      const Expr w = linear ? 1 - absolute(distance) : cubic_weight(distance);
      weight = weight.empty() ? w : weight * w;
    }
    if (s.border == Border::kZeros) {
      const Expr holds = integer(0) <= i && i < integer(from[k + 2]);
      inside = inside.empty() ? holds : inside && holds;
    } else {
      i = inner_index(s, i, from[k + 2]);
    }
    in.push_back(i);
  }
  Expr value = f.read(x, in);
  if (!inside.empty()) value = select(inside, value, constant(value->type, 0));
  if (weight.empty()) {
    f.body(value);
  } else {
    node.require(is_float(node.type(x)), "integers cannot be interpolated");
    f.sum(cast(value->type, weight) * value);
  }
  node.out(0, f.emit(node.type(x)));
}

// grid[n, o..., k] = theta[n, k, rank] + sum(j) theta[n, k, j] * at[j], where at is the output's place in
// [-1, 1], last dimension first: the pairs of numbers that GridSample takes.
void affine_grid(Lowering& node) {
  const TensorId theta = node.in(0);
  const Shape size = node.constant_ints(node.in(1), "the size");
  const size_t rank = size.size() - 2;
  node.require(size.size() == 4 || size.size() == 5, "the size has 4 or 5 numbers");
  const auto wide = static_cast<int64_t>(rank);
  node.require(node.shape(theta) == Shape{size[0], wide, wide + 1}, "theta does not fit the size");
  const bool align_corners = node.int_attr("align_corners", 0) != 0;
  Formula f(node);
  const Expr n = f.axis(size[0]);
  const std::vector<Expr> out = f.axes(Shape(size.begin() + 2, size.end()));
  const Expr k = f.axis(wide);
  Expr sum = f.read(theta, {n, k, integer(wide)});
  for (size_t j = 0; j < rank; ++j) {
    const size_t d = rank - 1 - j;
    const double extent = static_cast<double>(size[d + 2]);
    const Expr i = cast(sum->type, out[d]);
    const Expr at = align_corners ? i * (extent > 1 ? 2 / (extent - 1) : 0) - 1 : (2 * i + 1) / extent - 1;
    sum = sum + f.read(theta, {n, k, integer(static_cast<int64_t>(j))}) * at;
  }
  f.body(sum);
  node.out(0, f.emit(node.type(theta)));
}

// To the nearest integer, halves away from zero: C's round, in which Caffe and after it MaxRoiPool give
// regions.
Expr rounded_away(const Expr& x) {
  return select(x < 0, make(Op::kCeil, {x - 0.5}), make(Op::kFloor, {x + 0.5}));
}

// Where each bin of each region begins (0) and ends (1) along a dimension of x; `first` is the component of a
// region that says where it begins, its end being two further on: [regions, bins, 2]. Bins are of equal real
// size, and overlap by what is rounded outwards:
//
//   region [2, 6], 2 bins of 5 / 2 elements:      [2, 5) and [4, 7)
TensorId bin_edges(Lowering& node, TensorId regions, int64_t first, int64_t bins, int64_t extent) {
  const double scale = node.float_attr("spatial_scale", 1);
  Formula f(node);
  for (const bool end : {false, true}) {
    if (end) f.next_nest();
    const Expr r = f.axis(node.shape(regions)[0]), b = f.axis(bins);
    const auto edge = [&](int64_t component) {
      const Expr e = f.read(regions, {r, integer(component)});
      return rounded_away((is_float(e->type) ? e : cast(Type::kFloat32, e)) * scale);
    };
    const Expr begin = edge(first), size = max(edge(first + 2) - begin + 1, 1) / static_cast<double>(bins);
    const Expr at = cast(size->type, end ? b + 1 : b) * size;
    const Expr place = make(end ? Op::kCeil : Op::kFloor, {at}) + begin;
    f.body(cast(Type::kInt64, min(max(place, 0), static_cast<double>(extent))));
    f.store({r, b, integer(end)});
  }
  return f.emit(Type::kInt64, {node.shape(regions)[0], bins, 2});
}

// The largest element of each bin of each region [image, left, top, right, bottom]; zero for an empty bin
// (Girshick, "Fast R-CNN", 2015, section 2.1). Bins are data, so the reduction goes over all of the image and
// skips what is outside.
void max_roi_pool(Lowering& node) {
  const TensorId x = node.in(0), regions = node.in(1);
  const Shape from = node.shape(x), shape = node.shape(regions);
  const auto pooled = node.attribute("pooled_shape").ints;
  node.require(from.size() == 4 && is_float(node.type(x)) && node.type(regions) == node.type(x) &&
                   shape.size() == 2 && shape[1] == 5 && pooled.size() == 2,
               "the input should be [N,C,H,W], the regions [R,5], pooled_shape two numbers");
  for (const int64_t n : pooled) node.require(n > 0 && n <= 4096, "'pooled_shape' is out of range");
  node.require(shape[0] == 0 || from[0] > 0, "there is no image");
  const TensorId rows = bin_edges(node, regions, 2, pooled[0], from[2]);
  const TensorId columns = bin_edges(node, regions, 1, pooled[1], from[3]);
  Formula f(node);
  const Expr r = f.axis(shape[0]), c = f.axis(from[1]), i = f.axis(pooled[0]), j = f.axis(pooled[1]);
  const Expr y = f.reduced(from[2]), e = f.reduced(from[3]);
  const auto edge = [&](TensorId edges, const Expr& bin, int64_t which) {
    return f.read(edges, {r, bin, integer(which)});
  };
  const Expr image = cast(Type::kInt64, f.read(regions, {r, integer(0)}));
  const Expr inside =
      edge(rows, i, 0) <= y && y < edge(rows, i, 1) && edge(columns, j, 0) <= e && e < edge(columns, j, 1);
  const Expr value = f.read(x, {max(min(image, static_cast<double>(from[0] - 1)), 0), c, y, e});
  f.reduce(Combine::kMax,
           select(inside, value, constant(value->type, -std::numeric_limits<double>::infinity())));
  const Expr empty = edge(rows, i, 1) <= edge(rows, i, 0) || edge(columns, j, 1) <= edge(columns, j, 0);
  f.finish(select(empty, constant(value->type, 0), f.acc()));
  node.out(0, f.emit(node.type(x)));
}

// The number of bins or samples that an attribute asks for.
int64_t grid_attr(const Lowering& node, const std::string& name, int64_t fallback, int64_t least) {
  const int64_t n = node.int_attr(name, fallback);
  node.require(n >= least && n <= 4096, fmt::format("'{}' = {} is out of range", name, n));
  return n;
}

// A region in elements of x; half a pixel off where pixels are areas, not points: then 0 is the edge of the
// first pixel and its middle at 0.5.
TensorId scaled_regions(Lowering& node, TensorId regions, Type real, double shift) {
  const double scale = node.float_attr("spatial_scale", 1);
  const auto formula = [&](const Expr& e) { return cast(real, e) * scale - shift; };
  return pointwise(node, real, formula, regions);
}

// He et al., "Mask R-CNN", 2017: samples at real positions in each bin, interpolated and averaged. A C
// kernel, as the number of samples depends on a region's size where sampling_ratio is 0. Indices of images
// and positions are held in x there.
void roi_align(Lowering& node) {
  const TensorId x = node.in(0), regions = node.in(1), images = node.in(2);
  const Shape from = node.shape(x);
  node.require(from.size() == 4 && is_float(node.type(x)) && is_float(node.type(regions)),
               "the input should be float [N,C,H,W]");
  const int64_t count = node.rank(images) == 1 ? node.shape(images)[0] : -1;
  node.require(node.shape(regions) == Shape{count, 4} && !is_float(node.type(images)),
               "there should be four numbers and one image index a region");
  node.require(count == 0 || (from[0] > 0 && from[2] > 0 && from[3] > 0), "there is no image");
  const std::string mode = node.string_attr("mode", "avg");
  node.require(mode == "avg" || mode == "max", fmt::format("unknown mode '{}'", mode));
  // Before opset 16 regions were in points.
  const std::string transformation = node.string_attr("coordinate_transformation_mode",
                                                      node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  const bool half = transformation == "half_pixel";
  node.require(half || transformation == "output_half_pixel",
               fmt::format("unknown coordinate_transformation_mode '{}'", transformation));
  const int64_t rows = grid_attr(node, "output_height", 1, 1),
                columns = grid_attr(node, "output_width", 1, 1);
  const int64_t samples = grid_attr(node, "sampling_ratio", 0, 0);
  const Type real = compute_type(node.type(x));
  const TensorId y =
      node.call("roi_align", real,
                {converted(node, x, real), scaled_regions(node, regions, real, half ? 0.5 : 0),
                 converted(node, images, Type::kInt64)},
                {from[0], from[1], from[2], from[3], count, rows, columns, samples, half, mode == "max"},
                {{real, {count, from[1], rows, columns}}})[0];
  node.out(0, converted(node, y, node.type(x)));
}

}  // namespace

std::span<const OperatorRow> sample_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "AffineGrid", 20, affine_grid},
      {"", "GridSample", 16, grid_sample},
      {"", "MaxRoiPool", 1, max_roi_pool},
      {"", "RoiAlign", 10, roi_align, 1000, "kernel"},
  };
  return kRows;
}

}  // namespace arenac
