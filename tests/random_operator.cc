#include "tests/random_operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "frontend/type.h"

namespace arenac {

// A model of one node, being written: operands and attributes in order.
class OneNode {
 public:
  OneNode(unsigned seed, int first, int last) : random_(seed), opset(first + below(last - first + 1)) {}

 private:
  std::mt19937 random_;

 public:
  const int opset;
  int outputs = 1;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool one_in(int n) { return below(n) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<int>(from.size()))];
  }

  Shape shape(int low_rank, int high_rank, int extent = 5) {
    Shape s(static_cast<size_t>(between(low_rank, high_rank)));
    for (int64_t& e : s) e = between(1, extent);
    return s;
  }
  Type real() {
    return pick({Type::kFloat32, Type::kFloat32, Type::kFloat32, Type::kFloat64, Type::kFloat16});
  }
  Type integer() {
    return pick({Type::kInt8, Type::kUint8, Type::kInt16, Type::kUint16, Type::kInt32, Type::kUint32,
                 Type::kInt64, Type::kUint64});
  }
  Type number() { return one_in(2) ? real() : integer(); }

  // ---- operands

  Shape in(Type type, Shape s) {
    inputs_.push_back(fmt::format("{} x{}", declared(type, s), inputs_.size()));
    operands_.push_back(fmt::format("x{}", inputs_.size() - 1));
    return s;
  }
  // A constant of whole numbers, or of quarters for floats.
  void constant(Type type, const Shape& s, const std::vector<double>& values) {
    std::string text;
    for (double v : values)
      text += fmt::format("{}{}", text.empty() ? "" : ", ",
                          is_float(type) && v != std::floor(v) ? fmt::format("{:.4f}", v)
                                                               : fmt::format("{}", static_cast<int64_t>(v)));
    constants_.push_back(fmt::format("{} c{} = {{{}}}", declared(type, s), constants_.size(), text));
    operands_.push_back(fmt::format("c{}", constants_.size() - 1));
  }
  void ints(const std::vector<int64_t>& values) {
    constant(Type::kInt64, {static_cast<int64_t>(values.size())}, {values.begin(), values.end()});
  }
  void scalar(Type type, double value) { constant(type, {}, {value}); }
  // Weights known at compile time, or not.
  void weights(Type type, const Shape& s) {
    if (type == Type::kFloat16 || one_in(3)) {
      in(type, s);
      return;
    }
    std::vector<double> values(static_cast<size_t>(element_count(s)));
    const int low = is_float(type) ? -12 : info(type).is_signed ? -100 : 0;
    for (double& v : values) v = between(low, is_float(type) ? 12 : 100) * (is_float(type) ? 0.25 : 1);
    constant(type, s, values);
  }
  void none() { operands_.push_back(""); }

  // ---- attributes

  template <typename T>
  void attribute(const char* name, const T& value) {
    attributes_.push_back(fmt::format("{} = {}", name, value));
  }
  void attribute(const char* name, const std::vector<int64_t>& values) {
    attributes_.push_back(fmt::format("{} = [{}]", name, fmt::join(values, ", ")));
  }
  void attribute(const char* name, const char* text) {
    attributes_.push_back(fmt::format("{} = \"{}\"", name, text));
  }
  // With probability 1/2.
  void maybe(const char* name, double value) {
    if (one_in(2)) attributes_.push_back(fmt::format("{} = {:.3f}", name, value));
  }
  int axis(const Shape& s) {
    const int rank = static_cast<int>(s.size());
    return below(rank);
  }
  int signed_axis(int axis, const Shape& s) { return one_in(2) ? axis : axis - static_cast<int>(s.size()); }

  // Some of the axes, perhaps counted from the end.
  std::vector<int64_t> axes(const Shape& s) {
    std::vector<int64_t> chosen;
    for (int d = 0; d < static_cast<int>(s.size()); ++d)
      if (one_in(2)) chosen.push_back(signed_axis(d, s));
    if (chosen.empty()) chosen.push_back(below(static_cast<int>(s.size())));
    return chosen;
  }

  // ---- shapes that broadcast

  Shape thinned(const Shape& s) {
    Shape t = s;
    for (int64_t& e : t)
      if (one_in(4)) e = 1;
    if (one_in(4)) t.erase(t.begin(), t.begin() + below(static_cast<int>(t.size()) + 1));
    return t;
  }

  std::string text(std::string_view name) const {
    std::string results;
    for (int k = 0; k < outputs; ++k) results += fmt::format("{}y{}", k ? ", " : "", k);
    return fmt::format(
        "<ir_version: 8, opset_import: [\"\" : {}, \"com.microsoft\" : 1, \"ai.onnx.ml\" : 3, "
        "\"ai.onnx.preview.training\" : 1]>\ng ({}) => "
        "({})\n  <{}>\n{{\n  {} "
        "= "
        "{}{}({})\n}}\n",
        opset, fmt::join(inputs_, ", "), results, fmt::join(constants_, ",\n   "), results, name,
        attributes_.empty() ? "" : fmt::format(" <{}> ", fmt::join(attributes_, ", ")),
        fmt::join(operands_, ", "));
  }

 private:
  static std::string declared(Type type, const Shape& s) {
    const std::string name = type == Type::kFloat32   ? "float"
                             : type == Type::kFloat64 ? "double"
                                                      : info(type).name;
    return s.empty() ? name : fmt::format("{}[{}]", name, fmt::join(s, ", "));
  }

  std::vector<std::string> inputs_, constants_, operands_, attributes_;
};

namespace {

constexpr Type kF = Type::kFloat32;

// ---- element-wise

void real_unary(OneNode& n) { n.in(n.real(), n.shape(0, 4)); }
void number_unary(OneNode& n) {
  n.in(n.one_in(2) ? n.real() : n.pick({Type::kInt8, Type::kInt32, Type::kInt64}), n.shape(0, 4));
}
void integer_unary(OneNode& n) { n.in(n.integer(), n.shape(0, 4)); }
void bool_unary(OneNode& n) { n.in(Type::kBool, n.shape(0, 4)); }
void with_alpha(OneNode& n) {
  real_unary(n);
  n.maybe("alpha", n.between(1, 20) / 8.0);
}
void with_alpha_and_beta(OneNode& n) {
  with_alpha(n);
  n.maybe("beta", n.between(1, 20) / 8.0);
}
void shrink(OneNode& n) {
  real_unary(n);
  n.maybe("lambd", 0.75);
  n.maybe("bias", 0.25);
}
void is_inf(OneNode& n) { n.in(n.pick({kF, Type::kFloat64}), n.shape(0, 4)); }

template <int kOperands>
void broadcast_of(OneNode& n, Type type) {
  const Shape s = n.shape(0, 4);
  for (int k = 0; k < kOperands; ++k) n.in(type, n.thinned(s));
}
void number_binary(OneNode& n) { broadcast_of<2>(n, n.number()); }
void integer_binary(OneNode& n) { broadcast_of<2>(n, n.integer()); }
void bool_binary(OneNode& n) { broadcast_of<2>(n, Type::kBool); }
void number_variadic(OneNode& n) {
  const Type type = n.number();
  n.one_in(2) ? broadcast_of<3>(n, type) : n.one_in(4) ? broadcast_of<1>(n, type) : broadcast_of<2>(n, type);
}
void real_variadic(OneNode& n) { broadcast_of<3>(n, n.real()); }
void modulo(OneNode& n) {
  const Type type = n.number();
  broadcast_of<2>(n, type);
  if (is_float(type) || n.one_in(2)) n.attribute("fmod", 1);
}
void power(OneNode& n) {
  const Shape s = n.shape(0, 3);
  n.in(n.pick({kF, Type::kFloat64}), n.thinned(s));
  if (n.one_in(2))
    n.scalar(kF, n.pick({2.0, 3.0, 0.5, -1.0, 0.0}));
  else
    n.in(n.pick({kF, Type::kInt32}), n.thinned(s));
}
void prelu(OneNode& n) {
  const Type type = n.real();
  const Shape s = n.in(type, n.shape(2, 4));
  Shape slope = s;
  for (int64_t& e : slope)
    if (n.one_in(2)) e = 1;
  slope.erase(slope.begin(), slope.begin() + n.below(2));
  n.in(type, slope);
}
void clip(OneNode& n) {
  const Type type = n.number();
  n.in(type, n.shape(0, 4));
  if (type == Type::kFloat16) return;
  if (n.one_in(2))
    n.scalar(type, is_float(type) ? -0.5 : 0);
  else
    n.none();
  if (n.one_in(2)) n.scalar(type, 1);
}
void where(OneNode& n) {
  const Shape s = n.shape(0, 4);
  const Type type = n.number();
  n.in(Type::kBool, n.thinned(s));
  n.in(type, n.thinned(s));
  n.in(type, n.thinned(s));
}
void bit_shift(OneNode& n) {
  const Type type = n.pick({Type::kUint8, Type::kUint16, Type::kUint32, Type::kUint64});
  const Shape s = n.shape(0, 4);
  n.in(type, n.thinned(s));
  n.in(type, n.thinned(s));
  n.attribute("direction", n.pick({"LEFT", "RIGHT"}));
}
void cast(OneNode& n) {
  n.in(n.pick({n.real(), n.integer(), Type::kBool}), n.shape(0, 3));
  n.attribute("to", info(n.pick({n.real(), n.integer(), Type::kBool, Type::kBFloat16})).onnx);
}
void cast_like(OneNode& n) {
  n.in(n.number(), n.shape(0, 3));
  n.in(n.number(), {1});
}
void bit_cast(OneNode& n) {
  n.in(Type::kInt32, n.shape(0, 3));
  n.attribute("to", info(n.pick({Type::kUint32, Type::kInt32})).onnx);
}
void biased(OneNode& n) {
  const Shape s = n.in(kF, n.shape(1, 3));
  n.in(kF, {s.back()});
}
void gelu(OneNode& n) {
  real_unary(n);
  if (n.one_in(2)) n.attribute("approximate", "tanh");
}

// ---- movement

void concat(OneNode& n) {
  const Type type = n.number();
  Shape s = n.shape(1, 4);
  const int d = n.axis(s);
  for (int k = n.between(1, 4); k > 0; --k) {
    s[d] = n.between(1, 4);
    n.in(type, s);
  }
  n.attribute("axis", n.signed_axis(d, s));
}
void depth_to_space(OneNode& n) {
  n.in(n.number(), {n.between(1, 2), 4 * n.between(1, 3), n.between(1, 3), n.between(1, 3)});
  n.attribute("blocksize", 2);
  if (n.one_in(2)) n.attribute("mode", "CRD");
}
void space_to_depth(OneNode& n) {
  n.in(n.number(), {n.between(1, 2), n.between(1, 3), 2 * n.between(1, 3), 2 * n.between(1, 3)});
  n.attribute("blocksize", 2);
}
void expand(OneNode& n) {
  const Shape s = n.shape(1, 4);
  n.in(n.number(), n.thinned(s));
  n.ints(s);
}
void flatten(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4));
  n.attribute("axis", n.below(static_cast<int>(s.size()) + 1));
}
void reshape(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4));
  if (n.one_in(2))
    n.ints({0, -1});
  else
    n.ints({-1});
}
void reverse_sequence(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(2, 4));
  std::vector<int64_t> lengths(static_cast<size_t>(s[1]));
  for (int64_t& l : lengths) l = n.between(1, static_cast<int>(s[0]));
  n.ints(lengths);
  n.attribute("time_axis", 0);
  n.attribute("batch_axis", 1);
}
void slice(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4, 7));
  std::vector<int64_t> starts, ends, axes, steps;
  for (int d = 0; d < static_cast<int>(s.size()); ++d) {
    if (n.one_in(3)) continue;
    const int extent = static_cast<int>(s[d]), from = n.below(extent);
    const bool back = n.one_in(3);
    axes.push_back(n.signed_axis(d, s));
    steps.push_back((back ? -1 : 1) * n.between(1, 3));
    starts.push_back(n.one_in(2) ? from : from - extent);
    ends.push_back(back ? n.pick({-1000, -extent - 1}) : n.pick({1000, extent, from + 1}));
  }
  n.ints(starts), n.ints(ends), n.ints(axes), n.ints(steps);
}
void split(OneNode& n) {
  Shape s = n.shape(1, 4);
  const int d = n.axis(s);
  const int64_t a = n.between(1, 3), b = n.between(1, 3);
  s[d] = a + b;
  n.in(n.number(), s);
  n.ints({a, b});
  n.attribute("axis", d);
  n.outputs = 2;
}
void squeeze(OneNode& n) {
  Shape s = n.shape(1, 4);
  const int d = n.axis(s);
  s[d] = 1;
  n.in(n.number(), s);
  n.ints({n.signed_axis(d, s)});
}
void tile(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4, 4));
  std::vector<int64_t> repeats(s.size());
  for (int64_t& r : repeats) r = n.between(1, 3);
  n.ints(repeats);
}
void transpose(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 5, 4));
  std::vector<int64_t> perm(s.size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t k = perm.size(); k > 1; --k) std::swap(perm[k - 1], perm[n.below(static_cast<int>(k))]);
  if (!n.one_in(5)) n.attribute("perm", perm);
}
void trilu(OneNode& n) {
  n.in(n.number(), n.shape(2, 4));
  if (n.one_in(2)) n.scalar(Type::kInt64, n.between(-2, 2));
  n.attribute("upper", n.below(2));
}
void unsqueeze(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(0, 3));
  n.ints({n.below(static_cast<int>(s.size()) + 1)});
}
void pad(OneNode& n) {
  const Type type = n.number();
  const Shape s = n.in(type, n.shape(1, 4));
  std::vector<int64_t> pads(2 * s.size());
  const int mode = n.below(3);
  for (size_t k = 0; k < pads.size(); ++k)
    pads[k] = mode == 1 ? n.below(static_cast<int>(s[k % s.size()]))
                        : n.between(mode == 0 && s[k % s.size()] > 2 ? -1 : 0, 3);
  n.ints(pads);
  if (mode == 0 && n.one_in(2) && type != Type::kFloat16) n.scalar(type, 3);
  n.attribute("mode", mode == 0 ? "constant" : mode == 1 ? "reflect" : "edge");
}
void center_crop_pad(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4));
  std::vector<int64_t> to(s.size());
  for (int64_t& e : to) e = n.between(1, 7);
  n.ints(to);
}
void crop(OneNode& n) {
  n.in(kF, {1, 2, n.between(4, 7), n.between(4, 7)});
  n.attribute("border", std::vector<int64_t>{n.below(2), n.below(2), n.below(2), n.below(2)});
}
void image_scaler(OneNode& n) {
  n.in(kF, {1, 3, n.between(1, 4), n.between(1, 4)});
  n.maybe("scale", 0.5);
  n.attribute("bias", std::string("[0.25, 0.5, -0.75]"));
}
void resize(OneNode& n) {
  Shape s = {n.between(1, 2), n.between(1, 3), n.between(1, 6), n.between(1, 6)};
  n.in(kF, s);
  n.none();
  const bool sizes = n.one_in(2);
  if (sizes) {
    n.none();
    n.ints({s[0], s[1], n.between(1, 9), n.between(1, 9)});
  } else {
    n.constant(kF, {4}, {1, 1, n.pick({1.0, 2.0, 3.0, 1.5}), n.pick({1.0, 2.0, 1.25, 1.5})});
  }
  n.attribute("mode", n.pick({"nearest", "linear", "cubic"}));
  n.attribute("coordinate_transformation_mode",
              n.pick({"half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners"}));
}
void upsample(OneNode& n) {
  n.in(kF, {1, n.between(1, 3), n.between(1, 4), n.between(1, 4)});
  n.constant(kF, {4}, {1, 1, n.pick({1.0, 2.0, 3.0}), n.pick({1.0, 2.0, 1.5})});
  n.attribute("mode", n.pick({"nearest", "linear"}));
}

// ---- gather and scatter

void gather(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4));
  const int d = n.axis(s);
  if (n.one_in(2))
    n.in(n.pick({Type::kInt64, Type::kInt32}), n.shape(0, 2));
  else
    n.ints({n.below(static_cast<int>(s[d])), -1, n.below(static_cast<int>(s[d]))});
  n.attribute("axis", n.signed_axis(d, s));
}
void gather_elements(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4));
  const int d = n.axis(s);
  Shape t = s;
  t[d] = n.between(1, 5);
  n.in(Type::kInt64, t);
  n.attribute("axis", d);
}
void gather_nd(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(2, 4));
  n.in(Type::kInt64, {n.between(1, 3), n.between(1, static_cast<int>(s.size()))});
}
void one_hot(OneNode& n) {
  n.in(Type::kInt64, n.shape(1, 3));
  n.scalar(Type::kInt64, n.between(1, 6));
  n.in(n.number(), {2});
}
void scatter_elements(OneNode& n) {
  const Shape s = n.in(kF, n.shape(1, 3));
  const int d = n.axis(s);
  // Constant, distinct: 0, 1, ... along the axis.
  std::vector<double> indices;
  int64_t inner = 1;
  for (size_t k = d + 1; k < s.size(); ++k) inner *= s[k];
  for (int64_t e = 0; e < element_count(s); ++e)
    indices.push_back(static_cast<double>(s[d] - 1 - e / inner % s[d]));
  n.constant(Type::kInt64, s, indices);
  n.in(kF, s);
  n.attribute("axis", d);
}
void scatter_added(OneNode& n) {
  const Shape s = n.in(kF, n.shape(1, 3));
  const int d = n.axis(s);
  Shape t = s;
  t[d] = n.between(1, 6);
  n.in(Type::kInt64, t);
  n.in(kF, t);
  n.attribute("axis", d);
  n.attribute("reduction", n.pick({"add", "max", "min"}));
}
void scatter_some(OneNode& n) { n.one_in(2) ? scatter_elements(n) : scatter_added(n); }
void scatter_nd(OneNode& n) {
  const Shape s = n.in(kF, n.shape(1, 3));
  Shape rows = s;
  rows[0] = n.between(1, static_cast<int>(s[0]));
  std::vector<double> indices(static_cast<size_t>(rows[0]));
  std::iota(indices.begin(), indices.end(), 0);
  n.constant(Type::kInt64, {rows[0], 1}, indices);
  n.in(kF, rows);
  if (n.one_in(2)) n.attribute("reduction", n.pick({"add", "mul", "max"}));
}

// ---- reductions

template <int kAxesInput>
void reduction(OneNode& n, Type type) {
  const Shape s = n.in(type, n.shape(1, 4));
  if (!n.one_in(4)) {
    if (n.opset >= kAxesInput)
      n.ints(n.axes(s));
    else
      n.attribute("axes", n.axes(s));
  }
  if (n.one_in(2)) n.attribute("keepdims", 0);
}
void number_reduction(OneNode& n) { reduction<18>(n, n.pick({n.real(), Type::kInt32, Type::kInt64})); }
void real_reduction(OneNode& n) { reduction<18>(n, n.pick({kF, Type::kFloat64})); }
void reduce_sum(OneNode& n) { reduction<13>(n, n.pick({n.real(), Type::kInt32, Type::kInt64})); }
void extreme(OneNode& n) {
  const Shape s = n.in(n.number(), n.shape(1, 4));
  n.attribute("axis", n.signed_axis(n.axis(s), s));
  if (n.one_in(2)) n.attribute("keepdims", 0);
  if (n.one_in(2)) n.attribute("select_last_index", 1);
}

// ---- convolutions and pools

// Kernel, strides, dilations and pads such that every window fits.
struct Windows {
  std::vector<int64_t> kernel, strides, dilations, pads;
};
Windows windows(OneNode& n, const Shape& spatial, bool dilated, bool write_kernel = true) {
  Windows w;
  for (int64_t extent : spatial) {
    w.kernel.push_back(n.between(1, std::min<int>(3, static_cast<int>(extent))));
    w.strides.push_back(n.between(1, 3));
    w.dilations.push_back(dilated && (w.kernel.back() - 1) * 2 < extent ? n.between(1, 2) : 1);
  }
  for (size_t k = 0; k < 2 * spatial.size(); ++k)
    w.pads.push_back(n.below(static_cast<int>(w.kernel[k % spatial.size()])));
  if (write_kernel) n.attribute("kernel_shape", w.kernel);
  if (!n.one_in(3)) n.attribute("strides", w.strides);
  if (dilated) n.attribute("dilations", w.dilations);
  if (n.one_in(4))
    n.attribute("auto_pad", n.pick({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  else
    n.attribute("pads", w.pads);
  return w;
}
Shape spatial(OneNode& n) {
  Shape s(static_cast<size_t>(n.pick({1, 2, 2, 2, 3})));
  for (int64_t& e : s) e = n.between(3, s.size() == 3 ? 4 : 8);
  return s;
}
Shape joined(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
// Channels of x, of y and groups.
struct Channels {
  int64_t in, out, groups;
};
Channels channels(OneNode& n) {
  const int64_t groups = n.pick({1, 1, 2, 3});
  const bool depthwise = n.one_in(4);
  const int64_t in = groups * (depthwise ? 1 : n.between(1, 4));
  return {in, groups * n.pick({1, 2, 3, 5, 17}), groups};
}
void conv(OneNode& n) {
  const Channels c = channels(n);
  const Shape s = spatial(n);
  const Type type = n.pick({kF, kF, Type::kFloat16});
  n.in(type, joined({n.between(1, 2), c.in}, s));
  const Windows w = windows(n, s, true);
  n.attribute("group", c.groups);
  n.weights(type, joined({c.out, c.in / c.groups}, w.kernel));
  if (n.one_in(2)) n.weights(type, {c.out});
}
void fused_conv(OneNode& n) {
  const Shape s = spatial(n);
  n.in(kF, joined({1, 3}, s));
  const Windows w = windows(n, s, false);
  n.weights(kF, joined({4, 3}, w.kernel));
  n.weights(kF, {4});
  n.attribute("activation", n.pick({"Relu", "Sigmoid", "Tanh"}));
}
// How a transposed convolution learns its padding.
enum class Pads { kAttribute, kOperand };
template <Pads where>
void conv_transpose(OneNode& n) {
  const Shape s = spatial(n);
  const int64_t groups = n.pick({1, 2}), in = groups * n.between(1, 3), out = n.between(1, 3);
  n.in(kF, joined({n.between(1, 2), in}, s));
  std::vector<int64_t> kernel, strides, dilations, pads, more;
  for (size_t k = 0; k < s.size(); ++k) {
    kernel.push_back(n.between(1, 3)), strides.push_back(n.between(1, 3)),
        dilations.push_back(n.between(1, 2));
    more.push_back(n.below(static_cast<int>(strides.back())));
  }
  for (size_t k = 0; k < 2 * s.size(); ++k) pads.push_back(n.below(2));
  n.weights(kF, joined({in, out}, kernel));
  if (where == Pads::kOperand) n.ints(pads);
  if (n.one_in(2)) n.weights(kF, {groups * out});
  n.attribute("kernel_shape", kernel), n.attribute("strides", strides), n.attribute("dilations", dilations);
  if (where == Pads::kAttribute) n.attribute("pads", pads);
  n.attribute("output_padding", more), n.attribute("group", groups);
}
void col2im(OneNode& n) {
  const int64_t h = n.between(3, 5), w = n.between(3, 5);
  n.in(kF, {n.between(1, 2), n.between(1, 3) * 4, (h - 1) * (w - 1)});
  n.ints({h, w});
  n.ints({2, 2});
}
void average_pool(OneNode& n) {
  const Shape s = spatial(n);
  n.in(kF, joined({n.between(1, 2), n.between(1, 4)}, s));
  windows(n, s, n.opset >= 19);
  if (n.one_in(2)) n.attribute("count_include_pad", 1);
  if (n.one_in(3)) n.attribute("ceil_mode", 1);
}
void lp_pool(OneNode& n) {
  const Shape s = spatial(n);
  n.in(kF, joined({n.between(1, 2), n.between(1, 4)}, s));
  windows(n, s, n.opset >= 18);
  n.attribute("p", n.between(1, 3));
}
void max_pool(OneNode& n) {
  const Shape s = spatial(n);
  n.in(n.pick({kF, kF, Type::kInt8, Type::kUint8}), joined({n.between(1, 2), n.between(1, 4)}, s));
  windows(n, s, true);
  if (n.one_in(3)) n.attribute("ceil_mode", 1);
  if (n.one_in(3)) n.outputs = 2;
}
void max_unpool(OneNode& n) {
  const int64_t c = n.between(1, 3), h = n.between(1, 3), w = n.between(1, 3);
  n.in(kF, {1, c, h, w});
  std::vector<double> indices;
  for (int64_t k = 0; k < c; ++k)
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x)
        indices.push_back(
            static_cast<double>(((k * 2 * h + 2 * y + n.below(2)) * 2 * w) + 2 * x + n.below(2)));
  n.constant(Type::kInt64, {1, c, h, w}, indices);
  n.attribute("kernel_shape", std::vector<int64_t>{2, 2});
  n.attribute("strides", std::vector<int64_t>{2, 2});
}
void global_pool(OneNode& n) { n.in(kF, n.shape(3, 5)); }
void global_lp_pool(OneNode& n) {
  global_pool(n);
  n.attribute("p", n.between(1, 3));
}

// ---- matrix products

void matmul(OneNode& n) {
  const Type type = n.pick({kF, kF, Type::kFloat16, Type::kFloat64, Type::kInt32});
  const int64_t m = n.between(1, 20), k = n.between(1, 9), p = n.between(1, 40);
  if (n.one_in(6)) {
    n.in(type, {k});
    n.in(type, n.one_in(2) ? Shape{k} : Shape{k, p});
    return;
  }
  const Shape batch = n.shape(0, 2, 3);
  n.in(type, joined(n.thinned(batch), {m, k}));
  if (n.one_in(2))
    n.weights(type, {k, p});
  else
    n.in(type, joined(n.thinned(batch), {k, p}));
}
void transposed(OneNode& n) {
  const int64_t m = n.between(1, 7), k = n.between(1, 9), p = n.between(1, 20);
  const bool a = n.one_in(2), b = n.one_in(2);
  n.in(kF, a ? Shape{k, m} : Shape{m, k});
  n.weights(kF, b ? Shape{p, k} : Shape{k, p});
  n.attribute("transA", a ? 1 : 0), n.attribute("transB", b ? 1 : 0);
  n.maybe("alpha", 0.5);
}
void gemm(OneNode& n) {
  const Type type = n.pick({kF, kF, Type::kFloat16, Type::kInt32});
  const int64_t m = n.between(1, 20), k = n.between(1, 9), p = n.between(1, 40);
  const bool a = n.one_in(2), b = n.one_in(2);
  n.in(type, a ? Shape{k, m} : Shape{m, k});
  n.weights(type, b ? Shape{p, k} : Shape{k, p});
  if (!n.one_in(3)) n.weights(type, n.pick({Shape{m, p}, Shape{p}, Shape{1, p}, Shape{m, 1}, Shape{}}));
  n.attribute("transA", a ? 1 : 0), n.attribute("transB", b ? 1 : 0);
  if (is_float(type)) n.maybe("alpha", 0.5), n.maybe("beta", 2);
}
void fused_gemm(OneNode& n) {
  n.in(kF, {3, 5}), n.weights(kF, {5, 18}), n.weights(kF, {18});
  n.attribute("activation", n.pick({"Relu", "Sigmoid"}));
}
void einsum(OneNode& n) {
  const int64_t i = n.between(1, 5), j = n.between(1, 5), k = n.between(1, 5), b = n.between(1, 3);
  switch (n.below(5)) {
    case 0:
      n.in(kF, {i, j}), n.in(kF, {j, k});
      return n.attribute("equation", "ij,jk->ik");
    case 1:
      n.in(kF, {b, i, j}), n.in(kF, {b, k, j});
      return n.attribute("equation", "bij,bkj->bki");
    case 2:
      n.in(kF, {i, i});
      return n.attribute("equation", "ii->i");
    case 3:
      n.in(kF, {b, i, j});
      return n.attribute("equation", "...ij->...ji");
    default:
      n.in(kF, {i}), n.in(kF, {j});
      return n.attribute("equation", "i,j->ij");
  }
}

// ---- normalisation

void softmax(OneNode& n) {
  const Shape s = n.in(n.pick({kF, Type::kFloat64, Type::kFloat16}), n.shape(1, 4));
  n.attribute("axis", n.signed_axis(n.axis(s), s));
}
void batch_normalization(OneNode& n) {
  const Shape s = n.in(kF, n.shape(2, 4));
  for (int k = 0; k < 3; ++k) n.weights(kF, {s[1]});
  std::vector<double> variance(static_cast<size_t>(s[1]));
  for (double& v : variance) v = n.between(1, 12) / 4.0;
  n.constant(kF, {s[1]}, variance);
  if (n.one_in(3)) n.attribute("training_mode", 1), n.outputs = 3;
}
void per_channel_normalization(OneNode& n) {
  const Shape s = n.in(kF, n.shape(3, 4));
  n.weights(kF, {s[1]}), n.weights(kF, {s[1]});
}
void group_normalization(OneNode& n) {
  const int64_t groups = n.between(1, 3), channels = groups * n.between(1, 3);
  n.in(kF, {n.between(1, 2), channels, n.between(1, 4), n.between(1, 4)});
  n.weights(kF, {n.opset < 21 ? groups : channels}), n.weights(kF, {n.opset < 21 ? groups : channels});
  n.attribute("num_groups", groups);
}
void layer_normalization(OneNode& n) {
  const Shape s = n.in(kF, n.shape(2, 4));
  const int d = n.axis(s);
  const Shape rest(s.begin() + d, s.end());
  n.weights(kF, rest);
  if (n.one_in(2)) n.weights(kF, rest);
  n.attribute("axis", n.signed_axis(d, s));
}
void rms_normalization(OneNode& n) {
  const Shape s = n.in(kF, n.shape(2, 4));
  const int d = n.axis(s);
  n.weights(kF, Shape(s.begin() + d, s.end()));
  n.attribute("axis", n.signed_axis(d, s));
}
void skip_normalization(OneNode& n) {
  const Shape s = n.in(kF, n.shape(3, 3));
  n.in(kF, s);
  n.weights(kF, {s[2]});
}
void embed_normalization(OneNode& n) {
  const int64_t width = n.between(1, 9);
  const Shape s = n.in(Type::kInt32, n.shape(2, 2));
  const bool segments = n.one_in(2);
  segments ? static_cast<void>(n.in(Type::kInt32, s)) : n.none();
  n.in(kF, {n.between(1, 9), width});
  n.in(kF, {s[1] + n.below(3), width});
  segments ? static_cast<void>(n.in(kF, {2, width})) : n.none();
  n.weights(kF, {width}), n.weights(kF, {width});
}
void projected_attention(OneNode& n) {
  const int64_t heads = n.between(1, 3), width = heads * n.between(1, 6);
  const int64_t batch = n.between(1, 2), length = n.between(1, 6), in = n.between(1, 8);
  n.in(kF, {batch, length, in});
  n.weights(kF, {in, 3 * width}), n.weights(kF, {3 * width});
  if (n.one_in(2)) n.in(Type::kInt32, n.pick({Shape{batch}, Shape{2 * batch}, Shape{batch, length}}));
  n.attribute("num_heads", heads);
  n.attribute("unidirectional", n.below(2));
}
void multi_head_attention(OneNode& n) {
  const int64_t heads = n.between(1, 3), width = heads * n.between(1, 6), values = heads * n.between(1, 6);
  const int64_t batch = n.between(1, 2), queries = n.between(1, 6), keys = n.between(1, 6);
  n.in(kF, {batch, queries, width}), n.in(kF, {batch, keys, width}), n.in(kF, {batch, keys, values});
  n.one_in(2) ? n.none() : n.weights(kF, {2 * width + values});
  n.none();
  if (n.one_in(2)) n.in(kF, {1, heads, queries, keys});
  n.attribute("num_heads", heads);
}
void lrn(OneNode& n) {
  n.in(kF, n.shape(3, 4));
  n.attribute("size", n.pick({1, 2, 3, 5}));
}
void lp_normalization(OneNode& n) {
  const Shape s = n.in(kF, n.shape(1, 4));
  n.attribute("axis", n.axis(s));
  n.attribute("p", n.between(1, 2));
}
void mean_variance(OneNode& n) {
  const Shape s = n.in(kF, n.shape(4, 4));
  n.attribute("axes", n.axes(s));
}
void loss(OneNode& n) {
  Shape s = n.shape(2, 4);
  n.in(kF, s);
  const int64_t classes = s[1];
  s.erase(s.begin() + 1);
  n.in(Type::kInt64, s);
  if (n.one_in(2)) n.weights(kF, {classes});
  n.attribute("reduction", n.pick({"none", "sum", "mean"}));
}

// ---- quantised

// Scale and zero point, as a scalar or one per channel.
void scale_of(OneNode& n, const Shape& s = {}) {
  std::vector<double> values(static_cast<size_t>(element_count(s)));
  for (double& v : values) v = n.between(1, 9) / 16.0;
  n.constant(kF, s, values);
}
void zero_of(OneNode& n, Type type, const Shape& s = {}) {
  std::vector<double> values(static_cast<size_t>(element_count(s)));
  for (double& v : values) v = type == Type::kInt32 ? 0 : n.between(info(type).is_signed ? -9 : 0, 9);
  n.constant(type, s, values);
}
void quantization_of(OneNode& n, Type type, const Shape& s = {}) { scale_of(n, s), zero_of(n, type, s); }
Type byte_type(OneNode& n) { return n.pick({Type::kInt8, Type::kUint8}); }

void quantize_linear(OneNode& n) {
  const Shape s = n.in(kF, n.shape(1, 4));
  const int d = n.axis(s);
  quantization_of(n, byte_type(n), n.one_in(2) ? Shape{} : Shape{s[d]});
  n.attribute("axis", d);
}
void dequantize_linear(OneNode& n) {
  const Type type = n.pick({Type::kInt8, Type::kUint8, Type::kInt32});
  const Shape s = n.in(type, n.shape(1, 4));
  const int d = n.axis(s);
  quantization_of(n, type, n.one_in(2) ? Shape{} : Shape{s[d]});
  n.attribute("axis", d);
}
void dynamic_quantize_linear(OneNode& n) {
  n.in(kF, n.shape(1, 3));
  n.outputs = 3;
}
void matmul_integer(OneNode& n) {
  const Type a = byte_type(n), b = byte_type(n);
  const int64_t m = n.between(1, 8), k = n.between(1, 9), p = n.between(1, 20);
  n.in(a, {m, k}), n.weights(b, {k, p});
  if (n.one_in(2)) zero_of(n, a), zero_of(n, b);
}
void conv_integer(OneNode& n) {
  const Channels c = channels(n);
  const Shape s = spatial(n);
  const Type type = byte_type(n);
  n.in(type, joined({1, c.in}, s));
  const Windows w = windows(n, s, true);
  n.attribute("group", c.groups);
  const Type weight = byte_type(n);
  n.weights(weight, joined({c.out, c.in / c.groups}, w.kernel));
  if (n.one_in(2)) zero_of(n, type), zero_of(n, weight);
}
void qlinear_conv(OneNode& n) {
  const Channels c = channels(n);
  const Shape s = spatial(n);
  const Type x = byte_type(n), w = byte_type(n);
  n.in(x, joined({1, c.in}, s));
  quantization_of(n, x);
  const Windows window = windows(n, s, true);
  n.attribute("group", c.groups);
  n.weights(w, joined({c.out, c.in / c.groups}, window.kernel));
  quantization_of(n, w, n.one_in(2) ? Shape{} : Shape{c.out});
  quantization_of(n, x);
  if (n.one_in(2)) n.weights(Type::kInt32, {c.out});
}
void qlinear_where(OneNode& n) {
  const Type type = byte_type(n);
  const Shape s = n.shape(1, 4);
  n.in(Type::kBool, n.thinned(s));
  n.in(type, n.thinned(s)), quantization_of(n, type);
  n.in(type, n.thinned(s)), quantization_of(n, type);
  quantization_of(n, type);
}
void qlinear_reduce_mean(OneNode& n) {
  const Type type = byte_type(n);
  const Shape s = n.in(type, n.shape(1, 4));
  quantization_of(n, type), quantization_of(n, type);
  n.attribute("axes", n.axes(s));
  n.attribute("keepdims", n.below(2));
}
void nhwc_max_pool(OneNode& n) {
  n.in(byte_type(n), {n.between(1, 2), n.between(3, 7), n.between(2, 7), n.between(1, 5)});
  n.attribute("kernel_shape", std::vector<int64_t>{n.between(1, 3), n.between(1, 2)});
  n.attribute("strides", std::vector<int64_t>{n.between(1, 2), n.between(1, 2)});
}
void qlinear_matmul(OneNode& n) {
  const Type a = byte_type(n), b = byte_type(n), y = byte_type(n);
  const int64_t m = n.between(1, 8), k = n.between(1, 9), p = n.between(1, 20);
  n.in(a, {m, k}), quantization_of(n, a);
  n.weights(b, {k, p}), quantization_of(n, b);
  quantization_of(n, y);
}
void qlinear_binary(OneNode& n) {
  const Type type = byte_type(n);
  const Shape s = n.shape(1, 4);
  n.in(type, n.thinned(s)), quantization_of(n, type);
  n.in(type, n.thinned(s)), quantization_of(n, type);
  quantization_of(n, type);
}
void qlinear_unary_on(OneNode& n, const Shape& s) {
  const Type type = byte_type(n);
  n.in(type, s), quantization_of(n, type), quantization_of(n, type);
}
void qlinear_unary(OneNode& n) { qlinear_unary_on(n, n.shape(1, 4)); }
void qlinear_softmax(OneNode& n) {
  const Shape s = n.shape(1, 3);
  qlinear_unary_on(n, s);
  n.attribute("axis", n.axis(s));
  n.attribute("opset", 13);
}
void qlinear_average_pool(OneNode& n) {
  const Shape s = spatial(n);
  qlinear_unary_on(n, joined({1, n.between(1, 3)}, s));
  windows(n, s, false);
}
void qlinear_global_average_pool(OneNode& n) { qlinear_unary_on(n, n.shape(4, 4)); }
void qlinear_concat(OneNode& n) {
  const Type type = byte_type(n);
  quantization_of(n, type);
  Shape s = n.shape(1, 3);
  const int d = n.axis(s);
  for (int k = n.between(1, 3); k > 0; --k) {
    s[d] = n.between(1, 4);
    n.in(type, s), quantization_of(n, type);
  }
  n.attribute("axis", d);
}
void qgemm(OneNode& n) {
  const Type type = byte_type(n);
  const int64_t m = n.between(1, 6), k = n.between(1, 9), p = n.between(1, 20);
  const bool b = n.one_in(2);
  n.in(type, {m, k}), quantization_of(n, type);
  n.weights(type, b ? Shape{p, k} : Shape{k, p}), quantization_of(n, type);
  n.weights(Type::kInt32, {p});
  quantization_of(n, type);
  n.attribute("transB", b ? 1 : 0);
}
void dynamic_quantize_matmul(OneNode& n) {
  const Type b = byte_type(n);
  const int64_t k = n.between(1, 9), p = n.between(1, 20);
  n.in(kF, {n.between(1, 6), k}), n.weights(b, {k, p}), quantization_of(n, b);
}
void matmul_integer_to_float(OneNode& n) {
  const Type a = byte_type(n), b = byte_type(n);
  const int64_t k = n.between(1, 9), p = n.between(1, 20);
  n.in(a, {n.between(1, 6), k}), n.weights(b, {k, p}), scale_of(n), scale_of(n), zero_of(n, a), zero_of(n, b);
}
void quantized_attention(OneNode& n) {
  const int64_t heads = n.between(1, 3), width = heads * n.between(1, 4), in = n.between(1, 6);
  const Type x = byte_type(n), w = byte_type(n);
  n.in(x, {n.between(1, 2), n.between(1, 5), in}), n.weights(w, {in, 3 * width}), n.weights(kF, {3 * width});
  scale_of(n), scale_of(n), n.none(), zero_of(n, x), zero_of(n, w);
  n.attribute("num_heads", heads);
}
void quantized_embed_normalization(OneNode& n) {
  const int64_t width = n.between(1, 9);
  const Shape s = n.in(Type::kInt32, n.shape(2, 2));
  n.in(Type::kInt32, s);
  for (const Shape& table : {Shape{n.between(1, 9), width}, Shape{s[1] + n.below(3), width}, Shape{2, width},
                             Shape{width}, Shape{width}})
    n.weights(Type::kUint8, table);
  n.none();
  for (int k = 0; k < 5; ++k) scale_of(n);
  for (int k = 0; k < 5; ++k) zero_of(n, Type::kUint8);
}
void quantized_lstm(OneNode& n) {
  const int64_t in = n.between(1, 4), hidden = n.between(1, 5);
  n.in(kF, {n.between(1, 4), n.between(1, 3), in});
  n.weights(Type::kInt8, {1, in, 4 * hidden}), n.weights(Type::kInt8, {1, hidden, 4 * hidden});
  for (int k = 0; k < 5; ++k) n.none();
  for (int k = 0; k < 2; ++k) scale_of(n, {1}), zero_of(n, Type::kInt8, {1});
  n.attribute("hidden_size", hidden);
}
void packed_matmul(OneNode& n) {
  const int64_t bits = n.pick({2, 4, 8}), block = n.pick({16, 32}), k = n.between(1, 40),
                columns = n.between(1, 9);
  const int64_t blocks = (k + block - 1) / block, zeros = (blocks * bits + 7) / 8;
  n.in(kF, {n.between(1, 6), k}), n.weights(Type::kUint8, {columns, blocks, block * bits / 8});
  n.weights(kF, {columns * blocks});
  n.one_in(2) ? n.none() : n.weights(Type::kUint8, {columns * zeros});
  n.none();
  if (n.one_in(2)) n.weights(kF, {columns});
  n.attribute("K", k), n.attribute("N", columns), n.attribute("bits", bits), n.attribute("block_size", block);
}
void packed_matmul_by_table(OneNode& n) {
  const int64_t block = n.pick({16, 32}), k = n.between(1, 40), columns = n.between(1, 9),
                codes = k * columns;
  n.in(kF, {n.between(1, 6), k}), n.weights(Type::kUint8, {(codes + 1) / 2});
  n.weights(kF, {(codes + block - 1) / block});
  n.attribute("K", k), n.attribute("N", columns), n.attribute("block_size", block);
  n.attribute("quant_type", n.below(2));
}
void packed_gather(OneNode& n) {
  const int64_t rows = n.between(1, 6), blocks = n.between(1, 3);
  n.weights(Type::kUint8, {rows, 8 * blocks});
  n.in(Type::kInt32, n.shape(0, 2)), n.weights(kF, {rows, blocks});
  if (n.one_in(2)) n.weights(Type::kUint8, {rows, (blocks + 1) / 2});
  n.attribute("block_size", 16);
}

// ---- the rest

void pairwise_distance(OneNode& n) {
  const Type type = n.pick({Type::kFloat32, Type::kFloat64});
  const int64_t width = n.between(1, 6);
  n.in(type, {n.between(1, 5), width}), n.in(type, {n.between(1, 5), width});
  n.attribute("metric", n.pick({"euclidean", "sqeuclidean"}));
}
void grouped_attention(OneNode& n) {
  const int64_t heads = n.between(1, 2), groups = n.between(1, 2), width = 2 * n.between(1, 3);
  const int64_t length = n.between(1, 5);
  n.in(kF, {1, length, heads * groups * width});
  for (int k = 0; k < 2; ++k) n.in(kF, {1, length, groups * width});
  n.none(), n.none();
  n.constant(Type::kInt32, {1}, {static_cast<double>(length - 1)}), n.scalar(Type::kInt32, length);
  n.attribute("num_heads", heads * groups), n.attribute("kv_num_heads", groups);
  if (n.one_in(3)) n.attribute("local_window_size", n.between(1, 3));
}

template <int kGates>
void recurrent(OneNode& n) {
  const int64_t steps = n.between(1, 4), batch = n.between(1, 3), in = n.between(1, 4),
                hidden = n.between(1, 5);
  const char* direction = n.pick({"forward", "reverse", "bidirectional"});
  const int64_t d = direction[0] == 'b' ? 2 : 1;
  n.in(kF, {steps, batch, in});
  n.weights(kF, {d, kGates * hidden, in}), n.weights(kF, {d, kGates * hidden, hidden});
  if (n.one_in(2)) n.weights(kF, {d, 2 * kGates * hidden});
  n.attribute("direction", direction);
  n.attribute("hidden_size", hidden);
  if (kGates == 3 && n.one_in(2)) n.attribute("linear_before_reset", 1);
  n.outputs = kGates == 4 ? 3 : 2;
}
void grid_sample(OneNode& n) {
  n.in(kF, {1, n.between(1, 3), n.between(2, 5), n.between(2, 5)});
  n.in(kF, {1, n.between(1, 4), n.between(1, 4), 2});
  n.attribute("mode", n.opset < 20 ? n.pick({"bilinear", "nearest"}) : n.pick({"linear", "nearest"}));
  n.attribute("padding_mode", n.pick({"zeros", "border", "reflection"}));
  if (n.one_in(2)) n.attribute("align_corners", 1);
}
void affine_grid(OneNode& n) {
  n.in(kF, {2, 2, 3});
  n.ints({2, 3, n.between(1, 4), n.between(1, 4)});
  if (n.one_in(2)) n.attribute("align_corners", 1);
}

// ---- C kernels and what becomes of them

void cumulate(OneNode& n) {
  const Shape s = n.in(n.pick({kF, Type::kFloat64, Type::kInt32, Type::kInt64}), n.shape(1, 4));
  n.scalar(Type::kInt64, n.signed_axis(n.axis(s), s));
  n.attribute("exclusive", n.below(2)), n.attribute("reverse", n.below(2));
}
void det(OneNode& n) {
  const int64_t m = n.between(1, 4);
  n.in(kF, joined(n.shape(0, 2, 3), {m, m}));
}
void top_k(OneNode& n) {
  const Shape s = n.in(n.pick({kF, Type::kFloat64, Type::kInt32, Type::kInt64}), n.shape(1, 4));
  const int d = n.axis(s);
  n.ints({n.between(1, static_cast<int>(s[d]))});
  n.attribute("axis", n.signed_axis(d, s));
  n.attribute("largest", n.below(2));
  n.outputs = 2;
}

// ---- signals

void dft(OneNode& n) {
  const bool inverse = n.one_in(2), onesided = n.one_in(2), real = inverse && onesided;
  n.in(kF, {n.between(1, 3), n.between(real ? 2 : 1, 9), real ? 2 : n.pick({1, 2})});
  // Some lengths take several steps.
  if (n.one_in(2)) n.scalar(Type::kInt64, n.one_in(2) ? n.pick({64, 75, 90, 105, 128}) : n.between(1, 12));
  n.attribute("inverse", int{inverse}), n.attribute("onesided", int{onesided});
}
void stft(OneNode& n) {
  const int64_t frame = n.one_in(4) ? n.pick({64, 81}) : n.between(2, 6);
  n.in(kF, {n.between(1, 2), frame + n.between(0, 9), 1});
  n.scalar(Type::kInt64, n.between(1, 3));
  n.one_in(2) ? n.none() : static_cast<void>(n.in(kF, {frame}));
  n.scalar(Type::kInt64, static_cast<double>(frame));
  n.attribute("onesided", n.below(2));
}

// ---- attention

void attention(OneNode& n) {
  const bool packed = n.one_in(3), past = n.one_in(2);
  const int64_t b = n.between(1, 2), groups = n.between(1, 2), heads = groups * n.between(1, 3),
                queries = n.between(1, 5), keys = n.between(1, 6), size = n.between(1, 5),
                value = n.between(1, 5), before = past ? n.between(1, 4) : 0;
  const auto heads_of = [&](int64_t count, int64_t length, int64_t width) {
    n.in(kF, packed ? Shape{b, length, count * width} : Shape{b, count, length, width});
  };
  heads_of(heads, queries, size), heads_of(groups, keys, size), heads_of(groups, keys, value);
  switch (n.below(3)) {
    case 0:
      n.none();
      break;
    case 1:
      n.in(kF, {queries, keys + before});
      break;
    default:
      n.in(Type::kBool, {b, 1, queries, keys + before});
  }
  if (past) n.in(kF, {b, groups, before, size}), n.in(kF, {b, groups, before, value});
  if (packed) n.attribute("q_num_heads", heads), n.attribute("kv_num_heads", groups);
  if (n.one_in(2)) n.attribute("is_causal", 1);
  n.maybe("softcap", 2.5);
  if (n.one_in(2)) n.attribute("qk_matmul_output_mode", n.below(4));
  if (n.opset >= 25 && n.one_in(2)) n.attribute("left_window_size", n.below(4));
  n.outputs = n.pick({1, 3, 4});
}
void rotary_embedding(OneNode& n) {
  const int64_t b = n.between(1, 2), heads = n.between(1, 3), length = n.between(1, 5),
                half = n.between(1, 4);
  if (n.one_in(2)) {
    n.in(n.real(), {b, length, heads * half * 2});
    n.attribute("num_heads", heads);
  } else {
    n.in(n.real(), {b, heads, length, half * 2});
  }
  const int64_t pairs = n.one_in(2) ? half : 1;
  if (pairs < half) n.attribute("rotary_embedding_dim", 2 * pairs);
  if (n.one_in(2)) n.attribute("interleaved", 1);
  if (n.one_in(2)) {
    n.in(kF, {7, pairs}), n.in(kF, {7, pairs});
    n.in(Type::kInt64, {b, length});
  } else {
    n.in(kF, {b, length, pairs}), n.in(kF, {b, length, pairs});
  }
}
void rotary_embedding_by_position(OneNode& n) {
  const int64_t b = n.between(1, 2), heads = n.between(1, 3), length = n.between(1, 5),
                half = n.between(1, 4), pairs = n.one_in(2) ? half : 1;
  const bool packed = n.one_in(2);
  n.in(n.real(), packed ? Shape{b, length, heads * half * 2} : Shape{b, heads, length, half * 2});
  n.in(Type::kInt64, n.one_in(2) ? Shape{1} : Shape{b, length});
  n.in(kF, {7, pairs}), n.in(kF, {7, pairs});
  if (pairs < half) n.attribute("rotary_embedding_dim", 2 * pairs);
  if (packed && (pairs < half || n.one_in(2))) n.attribute("num_heads", heads);
  if (n.one_in(2)) n.attribute("interleaved", 1);
}
void bias_softmax(OneNode& n) {
  const Type type = n.real();
  const Shape s = n.in(type, n.shape(1, 4));
  const int axis = n.axis(s), cut = n.below(axis + 1);
  const bool inner = n.one_in(2);
  Shape bias(inner ? s.begin() : s.begin() + cut, inner ? s.begin() + cut : s.begin() + axis);
  bias.insert(bias.end(), s.begin() + axis, s.end());
  n.in(type, bias);
  n.attribute("axis", axis), n.attribute("is_inner_broadcast", int{inner});
}
void linear_attention(OneNode& n) {
  const char* rule = n.pick({"linear", "gated", "delta", "gated_delta"});
  const int64_t b = n.between(1, 2), groups = n.between(1, 2), heads = groups * n.between(1, 2),
                length = n.between(1, 4), size = n.between(1, 3), value = n.between(1, 3);
  n.in(kF, {b, length, heads * size}), n.in(kF, {b, length, groups * size});
  n.in(kF, {b, length, groups * value});
  n.one_in(2) ? n.none() : static_cast<void>(n.in(kF, {b, groups, size, value}));
  rule[0] == 'g' ? static_cast<void>(n.in(kF, {b, length, groups})) : n.none();
  if (rule[0] == 'd' || rule[5] == '_') n.in(kF, {b, length, n.pick({int64_t{1}, groups})});
  n.attribute("update_rule", rule);
  n.attribute("q_num_heads", heads), n.attribute("kv_num_heads", groups);
  n.outputs = 2;
}
void causal_conv(OneNode& n) {
  const int64_t b = n.between(1, 2), c = n.between(1, 5), taps = n.between(1, 4);
  n.in(kF, {b, c, n.between(1, 9)}), n.weights(kF, {c, 1, taps});
  n.one_in(2) ? n.none() : n.weights(kF, {c});
  if (n.one_in(2)) n.in(kF, {b, c, taps - 1});
  n.attribute("activation", n.pick({"none", "silu", "swish"}));
  n.outputs = n.between(1, 2);
}
void tensor_scatter(OneNode& n) {
  const Type type = n.pick({kF, Type::kInt32});
  const Shape cache = n.in(type, n.shape(2, 4));
  const int d = n.between(1, static_cast<int>(cache.size()) - 1);
  Shape update = cache;
  update[d] = n.between(1, static_cast<int>(cache[d]));
  n.in(type, update);
  if (n.one_in(2)) n.in(Type::kInt64, {cache[0]});
  n.attribute("axis", n.signed_axis(d, cache));
  n.attribute("mode", n.pick({"linear", "circular"}));
}
void swiglu(OneNode& n) {
  const Type type = n.real();
  n.in(type, n.in(type, n.shape(0, 4)));
  n.maybe("alpha", 1.5);
}

// ---- regions

void deform_conv(OneNode& n) {
  const int64_t groups = n.between(1, 2), c = 2 * groups, offset_groups = n.between(1, 2),
                height = n.between(3, 6), width = n.between(3, 6), kh = n.between(1, 3), kw = n.between(1, 3);
  const Shape out = {height - kh + 1, width - kw + 1};
  n.in(kF, {1, c, height, width});
  n.weights(kF, {groups * n.between(1, 3), c / groups, kh, kw});
  n.in(kF, joined({1, offset_groups * kh * kw * 2}, out));
  n.none();
  if (n.one_in(2)) n.in(kF, joined({1, offset_groups * kh * kw}, out));
  n.attribute("group", groups), n.attribute("offset_group", offset_groups);
}
void roi_align(OneNode& n) {
  const int64_t regions = n.between(1, 3);
  n.in(kF, {n.between(1, 2), n.between(1, 3), n.between(1, 6), n.between(1, 6)});
  n.in(kF, {regions, 4}), n.in(Type::kInt64, {regions});
  n.attribute("output_height", n.between(1, 3)), n.attribute("output_width", n.between(1, 3));
  n.attribute("sampling_ratio", n.between(0, 3)), n.attribute("mode", n.pick({"avg", "max"}));
  n.attribute("coordinate_transformation_mode", n.pick({"half_pixel", "output_half_pixel"}));
}
void max_roi_pool(OneNode& n) {
  n.in(kF, {n.between(1, 2), n.between(1, 3), n.between(1, 6), n.between(1, 6)});
  n.in(kF, {n.between(1, 3), 5});
  n.attribute("pooled_shape", std::vector<int64_t>{n.between(1, 3), n.between(1, 3)});
  n.maybe("spatial_scale", 1.5);
}

// ---- random numbers, words, training

void bernoulli(OneNode& n) {
  real_unary(n);
  n.maybe("seed", 3.5);
}
void multinomial(OneNode& n) {
  n.in(kF, {n.between(1, 3), n.between(1, 5)});
  n.attribute("sample_size", n.between(1, 6));
}
void dropout(OneNode& n) {
  real_unary(n);
  if (n.one_in(3)) return;
  n.one_in(2) ? n.none() : n.scalar(kF, n.pick({0.0, 0.25, 0.75, 1.0}));
  n.in(Type::kBool, {});
  n.outputs = n.between(1, 2);
}
void tf_idf(OneNode& n) {
  const int64_t words = n.between(1, 9);
  n.in(Type::kInt64, n.one_in(2) ? Shape{words} : Shape{n.between(1, 3), words});
  n.attribute("mode", "TF");
  n.attribute("pool_int64s", std::vector<int64_t>{0, 1, -1, 0, 0, 1, 1, -1});
  n.attribute("ngram_counts", std::vector<int64_t>{0, 2});
  n.attribute("ngram_indexes", std::vector<int64_t>{3, 0, 1, 2, 5});
  n.attribute("min_gram_length", n.between(1, 2)), n.attribute("max_gram_length", 2);
  n.attribute("max_skip_count", n.between(0, 3));
}
template <int kLists>
void optimizer(OneNode& n) {
  n.in(kF, {}), n.in(Type::kInt64, {});
  const Shape s = n.shape(0, 3), t = n.shape(0, 2);
  for (int list = 0; list < kLists; ++list) n.in(kF, s), n.in(kF, t);
  n.maybe("norm_coefficient", 0.125);
  if (kLists == 4) n.maybe("norm_coefficient_post", 0.25);
  n.outputs = 2 * (kLists - 1);
}
void momentum(OneNode& n) {
  optimizer<3>(n);
  n.attribute("alpha", 0.75), n.attribute("beta", 0.5);
  n.attribute("mode", n.pick({"standard", "nesterov"}));
}

// ---- ai.onnx.ml

void binarizer(OneNode& n) {
  n.in(kF, n.shape(1, 3));
  n.maybe("threshold", 0.5);
}
void scaler(OneNode& n) {
  n.in(kF, {n.between(1, 4), 3});
  n.attribute("offset", std::string("[0.5, 1.0, -1.0]")),
      n.attribute("scale", std::string("[2.0, 0.25, 1.5]"));
}
void normalizer(OneNode& n) {
  n.in(kF, {n.between(1, 4), n.between(1, 5)});
  n.attribute("norm", n.pick({"MAX", "L1", "L2"}));
}
void linear_regressor(OneNode& n) {
  n.in(kF, {n.between(1, 4), 3});
  n.attribute("coefficients", std::string("[0.5, -0.25, 2.0]")),
      n.attribute("intercepts", std::string("[0.125]"));
}
void svm_classifier(OneNode& n) {
  const int classes = n.between(2, 4), pairs = classes * (classes - 1) / 2;
  const auto numbers = [&](const char* name, int64_t count) {
    std::vector<std::string> all;
    for (int64_t k = 0; k < count; ++k) all.push_back(fmt::format("{:.2f}", n.between(-6, 6) * 0.25));
    n.attribute(name, fmt::format("[{}]", fmt::join(all, ", ")));
  };
  std::vector<int64_t> labels, per_class;
  int64_t count = 0;
  for (int c = 0; c < classes; ++c) labels.push_back(c), count += per_class.emplace_back(n.between(1, 2));
  n.in(kF, {n.between(1, 4), 3});
  n.attribute("kernel_type", n.pick({"LINEAR", "RBF", "SIGMOID"}));
  n.attribute("kernel_params", std::string("[0.25, 0.5, 1.0]"));
  n.attribute("classlabels_ints", labels), n.attribute("vectors_per_class", per_class);
  numbers("support_vectors", count * 3), numbers("coefficients", (classes - 1) * count),
      numbers("rho", pairs);
  if (!n.one_in(3)) numbers("prob_a", pairs), numbers("prob_b", pairs);
  n.outputs = 2;
}

}  // namespace

const std::vector<OperatorGenerator>& operator_generators() {
  static const std::vector<OperatorGenerator> all = {
      {"Abs", number_unary},
      {"Acos", real_unary},
      {"Acosh", real_unary},
      {"Add", number_binary},
      {"Affine", with_alpha_and_beta, 7, 9},
      {"AffineGrid", affine_grid, 20},
      {"And", bool_binary},
      {"ArgMax", extreme},
      {"ArgMin", extreme},
      {"Asin", real_unary},
      {"Asinh", real_unary},
      {"Atan", real_unary},
      {"Atanh", real_unary},
      {"Attention", attention, 23, 25},
      {"AveragePool", average_pool},
      {"BatchNormalization", batch_normalization},
      {"Bernoulli", bernoulli},
      {"BitCast", bit_cast, 26, 26},
      {"BitShift", bit_shift},
      {"BitwiseAnd", integer_binary},
      {"BitwiseNot", integer_unary},
      {"BitwiseOr", integer_binary},
      {"BitwiseXor", integer_binary},
      {"Cast", cast},
      {"CastLike", cast_like},
      {"CausalConvWithState", causal_conv, 27, 27},
      {"Ceil", real_unary},
      {"Celu", with_alpha},
      {"CenterCropPad", center_crop_pad},
      {"Clip", clip},
      {"Col2Im", col2im},
      {"Concat", concat},
      {"Conv", conv},
      {"ConvInteger", conv_integer},
      {"ConvTranspose", conv_transpose<Pads::kAttribute>},
      {"Cos", real_unary},
      {"Cosh", real_unary},
      {"Crop", crop},
      {"CumProd", cumulate, 26, 26},
      {"CumSum", cumulate},
      {"DFT", dft},
      {"DeformConv", deform_conv, 19},
      {"DepthToSpace", depth_to_space},
      {"Det", det},
      {"DequantizeLinear", dequantize_linear},
      {"Div", number_binary},
      {"Dropout", dropout},
      {"DynamicQuantizeLinear", dynamic_quantize_linear},
      {"Einsum", einsum},
      {"Elu", with_alpha},
      {"Equal", number_binary},
      {"Erf", real_unary},
      {"Exp", real_unary},
      {"Expand", expand},
      {"Flatten", flatten},
      {"Floor", real_unary},
      {"GRU", recurrent<3>},
      {"Gather", gather},
      {"GatherElements", gather_elements},
      {"GatherND", gather_nd},
      {"Gelu", gelu, 20},
      {"Gemm", gemm},
      {"GlobalAveragePool", global_pool},
      {"GlobalLpPool", global_lp_pool},
      {"GlobalMaxPool", global_pool},
      {"Greater", number_binary},
      {"GreaterOrEqual", number_binary},
      {"GridSample", grid_sample},
      {"GroupNormalization", group_normalization},
      {"HardSigmoid", with_alpha_and_beta},
      {"HardSwish", real_unary},
      {"Hardmax", softmax},
      {"Identity", number_unary},
      {"ImageScaler", image_scaler},
      {"InstanceNormalization", per_channel_normalization},
      {"IsInf", is_inf},
      {"IsNaN", real_unary},
      {"LRN", lrn},
      {"LSTM", recurrent<4>},
      {"LayerNormalization", layer_normalization},
      {"LeakyRelu", with_alpha},
      {"Less", number_binary},
      {"LessOrEqual", number_binary},
      {"Log", real_unary},
      {"LinearAttention", linear_attention, 27, 27},
      {"LogSoftmax", softmax},
      {"LpNormalization", lp_normalization},
      {"LpPool", lp_pool},
      {"MatMul", matmul},
      {"MatMulInteger", matmul_integer},
      {"Max", number_variadic},
      {"MaxPool", max_pool},
      {"MaxRoiPool", max_roi_pool},
      {"MaxUnpool", max_unpool},
      {"Mean", real_variadic},
      {"MeanVarianceNormalization", mean_variance},
      {"Min", number_variadic},
      {"Mish", real_unary},
      {"Mod", modulo},
      {"Multinomial", multinomial},
      {"Mul", number_binary},
      {"Neg", number_unary},
      {"NegativeLogLikelihoodLoss", loss},
      {"Not", bool_unary},
      {"OneHot", one_hot},
      {"Or", bool_binary},
      {"PRelu", prelu},
      {"Pad", pad},
      {"ParametricSoftplus", with_alpha_and_beta, 7, 9},
      {"Pow", power},
      {"QLinearConv", qlinear_conv},
      {"QLinearMatMul", qlinear_matmul},
      {"QuantizeLinear", quantize_linear},
      {"RMSNormalization", rms_normalization, 23, 24},
      {"RNN", recurrent<1>},
      {"Reciprocal", real_unary},
      {"ReduceL1", number_reduction, 13},
      {"ReduceL2", real_reduction},
      {"ReduceLogSum", real_reduction},
      {"ReduceLogSumExp", real_reduction},
      {"ReduceMax", number_reduction, 13},
      {"ReduceMean", real_reduction, 13},
      {"ReduceMin", number_reduction},
      {"ReduceProd", number_reduction},
      {"ReduceSum", reduce_sum, 11},
      {"ReduceSumSquare", number_reduction},
      {"Relu", real_unary},
      {"Reshape", reshape},
      {"Resize", resize},
      {"ReverseSequence", reverse_sequence},
      {"RoiAlign", roi_align},
      {"RotaryEmbedding", rotary_embedding, 23, 25},
      {"Round", real_unary},
      {"STFT", stft},
      {"Scale", real_unary, 7, 9},
      {"ScaledTanh", with_alpha_and_beta, 7, 9},
      {"Scatter", scatter_elements, 9, 10},
      {"ScatterElements", scatter_some},
      {"ScatterND", scatter_nd},
      {"Selu", real_unary},
      {"Shrink", shrink},
      {"Sigmoid", real_unary},
      {"Sign", number_unary},
      {"SimplifiedLayerNormalization", rms_normalization},
      {"Sin", real_unary},
      {"Sinh", real_unary},
      {"Slice", slice},
      {"Softmax", softmax},
      {"SoftmaxCrossEntropyLoss", loss},
      {"Softplus", real_unary},
      {"Softsign", real_unary},
      {"SpaceToDepth", space_to_depth},
      {"Split", split},
      {"Sqrt", real_unary},
      {"Squeeze", squeeze},
      {"Sub", number_binary},
      {"Sum", real_variadic},
      {"SwiGLU", swiglu, 28, 28},
      {"Swish", with_alpha, 24, 24},
      {"Tan", real_unary},
      {"Tanh", real_unary},
      {"TensorScatter", tensor_scatter, 24, 25},
      {"TfIdfVectorizer", tf_idf},
      {"ThresholdedRelu", with_alpha},
      {"Tile", tile},
      {"TopK", top_k},
      {"Transpose", transpose},
      {"Trilu", trilu},
      {"Unsqueeze", unsqueeze},
      {"Upsample", upsample, 9, 9},
      {"Where", where},
      {"Xor", bool_binary},
      {"ai.onnx.ml.Binarizer", binarizer},
      {"ai.onnx.ml.LinearRegressor", linear_regressor},
      {"ai.onnx.ml.Normalizer", normalizer},
      {"ai.onnx.ml.SVMClassifier", svm_classifier},
      {"ai.onnx.ml.Scaler", scaler},
      {"ai.onnx.preview.training.Adagrad", optimizer<3>},
      {"ai.onnx.preview.training.Adam", optimizer<4>},
      {"ai.onnx.preview.training.Momentum", momentum},
      {"com.microsoft.Attention", projected_attention},
      {"com.microsoft.BiasGelu", biased},
      {"com.microsoft.BiasSoftmax", bias_softmax},
      {"com.microsoft.CDist", pairwise_distance},
      {"com.microsoft.ConvTransposeWithDynamicPads", conv_transpose<Pads::kOperand>},
      {"com.microsoft.DequantizeLinear", dequantize_linear},
      {"com.microsoft.DynamicQuantizeLSTM", quantized_lstm},
      {"com.microsoft.DynamicQuantizeMatMul", dynamic_quantize_matmul},
      {"com.microsoft.EmbedLayerNormalization", embed_normalization},
      {"com.microsoft.FastGelu", biased},
      {"com.microsoft.FusedConv", fused_conv},
      {"com.microsoft.FusedGemm", fused_gemm},
      {"com.microsoft.FusedMatMul", transposed},
      {"com.microsoft.GatherBlockQuantized", packed_gather},
      {"com.microsoft.GatherND", gather_nd},
      {"com.microsoft.Gelu", real_unary},
      {"com.microsoft.GridSample", grid_sample},
      {"com.microsoft.GroupQueryAttention", grouped_attention},
      {"com.microsoft.MatMulBnb4", packed_matmul_by_table},
      {"com.microsoft.MatMulIntegerToFloat", matmul_integer_to_float},
      {"com.microsoft.MatMulNBits", packed_matmul},
      {"com.microsoft.MultiHeadAttention", multi_head_attention},
      {"com.microsoft.NhwcMaxPool", nhwc_max_pool},
      {"com.microsoft.Pad", pad},
      {"com.microsoft.QAttention", quantized_attention},
      {"com.microsoft.QEmbedLayerNormalization", quantized_embed_normalization},
      {"com.microsoft.QGemm", qgemm},
      {"com.microsoft.QLinearAdd", qlinear_binary},
      {"com.microsoft.QLinearAveragePool", qlinear_average_pool},
      {"com.microsoft.QLinearConcat", qlinear_concat},
      {"com.microsoft.QLinearConv", qlinear_conv},
      {"com.microsoft.QLinearGlobalAveragePool", qlinear_global_average_pool},
      {"com.microsoft.QLinearLeakyRelu", qlinear_unary},
      {"com.microsoft.QLinearMul", qlinear_binary},
      {"com.microsoft.QLinearReduceMean", qlinear_reduce_mean},
      {"com.microsoft.QLinearSigmoid", qlinear_unary, 18, 22, 1},
      {"com.microsoft.QLinearSoftmax", qlinear_softmax, 18, 22, 1},
      {"com.microsoft.QLinearWhere", qlinear_where},
      {"com.microsoft.QuantizeLinear", quantize_linear},
      {"com.microsoft.QuickGelu", with_alpha},
      {"com.microsoft.RotaryEmbedding", rotary_embedding_by_position},
      {"com.microsoft.SkipLayerNormalization", skip_normalization},
      {"com.microsoft.SkipSimplifiedLayerNormalization", skip_normalization},
      {"com.microsoft.TransposeMatMul", transposed},
      {"com.microsoft.Trilu", trilu},
  };
  return all;
}

const std::vector<OperatorWithout>& operators_without_generator() {
  static constexpr const char* kManyAttributes =
      "valid attributes are many parts that fit; ONNX's own cases serve";
  static constexpr const char* kList = "a list at compile time: tested in lists_test.cc";
  static constexpr const char* kText = "on text: tested in text_test.cc";
  static const std::vector<OperatorWithout> all = {
      {"BlackmanWindow", "folded"},
      {"Compress", "as Gather, where the condition is known"},
      {"ConcatFromSequence", kList},
      {"Constant", "folded"},
      {"ConstantOfShape", "folded"},
      {"EyeLike", "folded"},
      {"HammingWindow", "folded"},
      {"HannWindow", "folded"},
      {"If", "in random graphs"},
      {"Loop", "in random graphs"},
      {"MelWeightMatrix", "folded"},
      {"NonMaxSuppression", "folded"},
      {"NonZero", "folded"},
      {"Optional", kList},
      {"OptionalGetElement", kList},
      {"OptionalHasElement", kList},
      {"RandomNormal", "folded"},
      {"RandomNormalLike", "folded"},
      {"RandomUniform", "folded"},
      {"RandomUniformLike", "folded"},
      {"Range", "folded"},
      {"Scan", "a loop: tested in control_test.cc"},
      {"SequenceAt", kList},
      {"SequenceConstruct", kList},
      {"SequenceEmpty", kList},
      {"SequenceErase", kList},
      {"SequenceInsert", kList},
      {"SequenceLength", kList},
      {"SequenceMap", kList},
      {"Shape", "folded"},
      {"Size", "folded"},
      {"SplitToSequence", kList},
      {"Unique", "folded"},
      {"StringConcat", kText},
      {"StringNormalizer", kText},
      {"StringSplit", kText},
      {"ai.onnx.ml.ArrayFeatureExtractor", kManyAttributes},
      {"ai.onnx.ml.CategoryMapper", kText},
      {"ai.onnx.ml.FeatureVectorizer", kManyAttributes},
      {"ai.onnx.ml.Imputer", kManyAttributes},
      {"ai.onnx.ml.LabelEncoder", kManyAttributes},
      {"ai.onnx.ml.LinearClassifier", kManyAttributes},
      {"ai.onnx.ml.OneHotEncoder", kManyAttributes},
      {"ai.onnx.ml.SVMRegressor", kManyAttributes},
      {"ai.onnx.ml.TreeEnsemble", kManyAttributes},
      {"ai.onnx.preview.FlexAttention", "has graphs: tested in attention_test.cc"},
      {"ai.onnx.ml.TreeEnsembleClassifier", kManyAttributes},
      {"ai.onnx.ml.TreeEnsembleRegressor", kManyAttributes},
      {"ai.onnx.ml.ZipMap", kManyAttributes},
      {"com.microsoft.ExpandDims", "as Unsqueeze"},
      {"com.microsoft.Range", "folded"},
  };
  return all;
}

std::string random_operator(const OperatorGenerator& generator, unsigned seed) {
  OneNode node(seed, generator.first, std::max(generator.first, generator.last));
  generator.generate(node);
  return node.text(generator.name);
}

}  // namespace arenac
