// Sampling at positions that are data.
//
//   GridSample    y[n,c,o...] = x interpolated at position grid[n,o...,:], where -1 and 1 are the borders
//   AffineGrid    grid[n,o...,:] = theta[n] applied to the homogeneous coordinates of o
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops.h"

namespace arenac {
namespace {

enum class Interpolation { kNearest, kLinear, kCubic };
enum class Border { kZeros, kClamp, kReflect };

struct Sampling {
  Interpolation interpolation;
  Border border;
  bool align_corners;
};

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

// A triangle wave of x that turns at low and high.
Expr reflected(const Expr& x, double low, double high) {
  if (high <= low) return constant(x->type, low);
  const Expr phase = (x - low) % (2 * (high - low));
  return select(phase <= high - low, phase + low, (2 * high - low) - phase);
}

// From [-1, 1] to input positions of a dimension of n elements, brought near it.
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

// Positions of all outputs in input elements: [N, out..., spatial rank], components as in the grid (the
// last dimension of x first).
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
  const Expr s = make(Op::kAbs, {distance});
  return select(s < 1, ((a + 2) * s - (a + 3)) * s * s + 1,
                select(s < 2, ((a * s - 5 * a) * s + 8 * a) * s - 4 * a, constant(s->type, 0)));
}

// Element i of a dimension, i possibly outside; always in range.
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

void grid_sample(Lowering& node) {
  const TensorId x = node.in(0), grid = node.in(1);
  const Shape from = node.shape(x), lattice = node.shape(grid);
  const size_t rank = from.size() - 2;
  node.require(from.size() >= 3 && lattice.size() == from.size() && lattice[0] == from[0] &&
                   lattice.back() == static_cast<int64_t>(rank) && is_float(node.type(grid)) &&
                   element_count(from) > 0,
               "the grid does not fit the input");
  const Sampling s = parse_sampling(node);
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
      const Expr w = linear ? 1 - make(Op::kAbs, {distance}) : cubic_weight(distance);
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

constexpr OperatorRow kRows[] = {
    {"", "AffineGrid", 20, affine_grid},
    {"", "GridSample", 16, grid_sample},
};

}  // namespace

std::span<const OperatorRow> sample_operators() { return kRows; }

}  // namespace arenac
