#include "tests/random_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "frontend/graph.h"

namespace arenac {
namespace {

constexpr int64_t kMostElements = 3000;  // of a tensor

using Ints = std::vector<int64_t>;

struct Var {
  std::string name;
  Shape shape;
};

// A window along one axis.
struct Window {
  int64_t kernel, stride, dilation, before, after;
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  int64_t count(int64_t extent) const { return (extent + before + after - reach()) / stride + 1; }
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string run() {
    const int kind = below(9);
    const int64_t batch = one_in(10) ? 2 : 1;
    Shape shape = {batch, between(1, 5), between(4, 20), between(2, 7)};
    if (kind == 0) shape = {batch, between(1, 5), between(6, 30)};
    if (kind == 1) shape = {between(3, 24), between(2, 8)};
    if (kind == 2) shape = {batch, between(3, 12), between(2, 8)};
    if (kind == 3) shape = {batch, between(1, 3), between(3, 8), between(2, 6), between(2, 5)};
    vars_.push_back({name(), shape});
    const bool matrices = kind == 1 || kind == 2;
    for (; inputs_ < 3 && one_in(3); ++inputs_) {
      if (!matrices) shape[1] = between(1, 4);
      vars_.push_back({name(), shape});
    }
    const int wanted = between(2, 16);
    for (int tried = 0; layers_ < wanted && tried < 100; ++tried) matrices ? matrix_layer() : image_layer();
    if (layers_ == 0) add("Abs", {vars_[0].name}, vars_[0].shape);
    return text();
  }

 private:
  // ---- choices and text

  int below(int64_t n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool one_in(int n) { return below(n) == 0; }
  std::string name() { return fmt::format("v{}", names_++); }
  // Mostly the newest.
  const Var& any_var() {
    const int n = static_cast<int>(vars_.size());
    return vars_[one_in(4) ? below(n) : n - 1];
  }
  template <typename Accept>
  std::optional<Var> var_where(const Accept& accept) {
    std::vector<Var> fit;
    for (const Var& v : vars_)
      if (accept(v)) fit.push_back(v);
    if (fit.empty()) return std::nullopt;
    return fit[below(static_cast<int>(fit.size()))];
  }

  static std::string declared(const Var& v) {
    return fmt::format("float[{}] {}", fmt::join(v.shape, ", "), v.name);
  }
  template <typename Number>
  std::string constant(const char* type, const Shape& shape, const std::vector<Number>& values) {
    const std::string id = name();
    const std::string extents = shape.empty() ? "" : fmt::format("[{}]", fmt::join(shape, ", "));
    constants_.push_back(fmt::format("{}{} {} = {{{}}}", type, extents, id, fmt::join(values, ", ")));
    return id;
  }
  std::string ints(const Ints& values) {
    return constant("int64", {static_cast<int64_t>(values.size())}, values);
  }
  std::string weights(const Shape& shape) {
    std::vector<int> values(static_cast<size_t>(element_count(shape)));
    for (int& v : values) v = below(3) - 1;
    return constant("float", shape, values);
  }

  // `call` with its attributes: Conv<group = 2>.
  Var add(const std::string& call, const std::vector<std::string>& operands, const Shape& shape) {
    for (const std::string& operand : operands) read_.insert(operand);
    const Var v{name(), shape};
    body_ += fmt::format("    {} = {}({})\n", v.name, call, fmt::join(operands, ", "));
    ++layers_;
    vars_.push_back(v);
    return v;
  }
  static bool fits(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n > 0; }) &&
           element_count(shape) <= kMostElements;
  }
  // After what makes values grow.
  void clip() {
    const Var x = vars_.back();
    add("Clip", {x.name, constant("float", {}, Ints{-8}), constant("float", {}, Ints{8})}, x.shape);
  }

  std::string text() {
    std::vector<std::string> inputs, outputs;
    for (size_t k = 0; k < inputs_; ++k) inputs.push_back(declared(vars_[k]));
    for (size_t k = inputs_; k < vars_.size(); ++k)
      if (k + 1 == vars_.size() || (!read_.contains(vars_[k].name) && !one_in(3)) || one_in(12))
        outputs.push_back(declared(vars_[k]));
    std::shuffle(outputs.begin(), outputs.end(), random_);
    const std::string constants =
        constants_.empty() ? "" : fmt::format("\n  <{}>", fmt::join(constants_, ",\n   "));
    return fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\ng ({}) => ({}){}\n{{\n{}}}\n",
                       fmt::join(inputs, ", "), fmt::join(outputs, ", "), constants, body_);
  }

  // ---- layers of images [n, c, h, w] and sequences [n, c, l]

  void image_layer() {
    const Var x = any_var();
    if (x.shape.size() < 3) return matrix_layer();
    switch (below(23)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return convolution(x);
      case 5:
        return block(x);
      case 6:
      case 7:
        return pool(x);
      case 8:
        return transposed_convolution(x);
      case 9:
      case 10:
        return resize(x);
      case 11:
        return pad(x);
      case 12:
        return depth(x);
      case 13:
      case 14:
        return concat(x);
      case 15:
      case 16:
        return slice(x);
      case 17:
        return residual(x);
      case 18:
        return normalisation(x);
      case 19:
        return one_in(3) ? mean_of_columns(x) : one_in(2) ? excitation(x) : transpose(x);
      case 20:
        return fully_connected(x);
      default:
        return pointwise(x);
    }
  }

  Window window(int64_t extent, int64_t most_kernel, int64_t most_dilation) {
    Window w{between(1, most_kernel), one_in(2) ? 1 : between(1, 3), between(1, most_dilation), 0, 0};
    while (w.reach() > extent) w.dilation > 1 ? --w.dilation : --w.kernel;
    w.before = below(w.kernel), w.after = below(w.kernel);
    if (one_in(2)) w.before = w.after = (w.reach() - 1) / 2;
    return w;
  }
  std::vector<Window> windows(const Var& x, int64_t most_kernel, int64_t most_dilation) {
    std::vector<Window> all;
    for (size_t d = 2; d < x.shape.size(); ++d) all.push_back(window(x.shape[d], most_kernel, most_dilation));
    return all;
  }
  template <typename Part>
  static Ints each(const std::vector<Window>& windows, const Part& part) {
    Ints values;
    for (const Window& w : windows) values.push_back(part(w));
    return values;
  }
  static std::string attributes(const std::vector<Window>& windows) {
    Ints pads = each(windows, [](const Window& w) { return w.before; });
    for (const Window& w : windows) pads.push_back(w.after);
    return fmt::format("kernel_shape = [{}], strides = [{}], pads = [{}]",
                       fmt::join(each(windows, [](const Window& w) { return w.kernel; }), ", "),
                       fmt::join(each(windows, [](const Window& w) { return w.stride; }), ", "),
                       fmt::join(pads, ", "));
  }
  static std::string dilations(const std::vector<Window>& windows) {
    return fmt::format(", dilations = [{}]",
                       fmt::join(each(windows, [](const Window& w) { return w.dilation; }), ", "));
  }
  static Shape counted(const Var& x, int64_t channels, const std::vector<Window>& windows) {
    Shape shape = {x.shape[0], channels};
    for (size_t d = 0; d < windows.size(); ++d) shape.push_back(windows[d].count(x.shape[d + 2]));
    return shape;
  }

  void convolve(const Var& x, int64_t channels, int64_t groups, const std::vector<Window>& windows) {
    const Shape shape = counted(x, channels, windows);
    if (!fits(shape)) return;
    Shape filter = {channels, x.shape[1] / groups};
    for (const Window& w : windows) filter.push_back(w.kernel);
    std::vector<std::string> operands = {x.name, weights(filter)};
    if (one_in(2)) operands.push_back(weights({channels}));
    add(fmt::format("Conv<{}{}, group = {}>", attributes(windows), dilations(windows), groups), operands,
        shape);
    clip();
  }
  void convolution(const Var& x) {
    const int64_t c = x.shape[1];
    switch (below(4)) {
      case 0:
        return convolve(x, c * between(1, 2), c, windows(x, 4, 3));  // depthwise
      case 1:
        return convolve(x, between(1, 6), 1, std::vector<Window>(x.shape.size() - 2, Window{1, 1, 1, 0, 0}));
      case 2:
        if (c % 2 == 0) return convolve(x, 2 * between(1, 3), 2, windows(x, 3, 2));
        [[fallthrough]];
      default:
        return convolve(x, between(1, 6), 1, windows(x, 4, 3));
    }
  }

  // x + f(x), of an inverted bottleneck or of one or two convolutions.
  void block(const Var& x) {
    const int64_t c = x.shape[1], wide = c * between(1, 2);
    const auto same = [&](int64_t kernel, int64_t dilation) {
      const int64_t p = (kernel - 1) * dilation / 2;
      return std::vector<Window>(x.shape.size() - 2, Window{kernel, 1, dilation, p, p});
    };
    for (size_t d = 2; d < x.shape.size(); ++d)
      if (x.shape[d] < 5) return;
    if (one_in(2)) {
      convolve(x, wide, 1, same(1, 1));
      if (one_in(2)) pointwise(vars_.back());
      if (vars_.back().shape[1] == wide) convolve(vars_.back(), wide, wide, same(3, 1));
      convolve(vars_.back(), c, 1, same(1, 1));
    } else {
      convolve(x, wide, 1, same(3, between(1, 2)));
      if (one_in(2)) convolve(vars_.back(), c, 1, same(one_in(3) ? 5 : 3, 1));
    }
    if (vars_.back().shape == x.shape && vars_.back().name != x.name)
      add("Add", one_in(2) ? std::vector{x.name, vars_.back().name} : std::vector{vars_.back().name, x.name},
          x.shape);
    if (one_in(2)) add("Relu", {vars_.back().name}, vars_.back().shape);
  }

  void pool(const Var& x) {
    const bool maximum = one_in(2);
    const auto w = windows(x, 3, maximum ? 2 : 1);
    const Shape shape = counted(x, x.shape[1], w);
    if (!fits(shape)) return;
    add(maximum ? fmt::format("MaxPool<{}{}>", attributes(w), dilations(w))
                : fmt::format("AveragePool<{}, count_include_pad = {}>", attributes(w), below(2)),
        {x.name}, shape);
  }

  void transposed_convolution(const Var& x) {
    const int64_t groups = x.shape[1] % 2 == 0 && one_in(3) ? 2 : 1, m = between(1, 3);
    Shape shape = {x.shape[0], m * groups}, filter = {x.shape[1], m};
    std::vector<Window> all;
    Ints more;
    for (size_t d = 2; d < x.shape.size(); ++d) {
      Window w{between(1, 4), between(1, 3), between(1, 2), below(2), below(2)};
      more.push_back(below(w.stride));
      shape.push_back((x.shape[d] - 1) * w.stride + w.reach() - w.before - w.after + more.back());
      filter.push_back(w.kernel);
      all.push_back(w);
    }
    if (!fits(shape)) return;
    add(fmt::format("ConvTranspose<{}{}, output_padding = [{}], group = {}>", attributes(all), dilations(all),
                    fmt::join(more, ", "), groups),
        {x.name, weights(filter)}, shape);
    clip();
  }

  void resize(const Var& x) {
    Shape shape = x.shape;
    const bool linear = x.shape.size() == 4 && one_in(2);
    const std::string how = fmt::format(
        "Resize<mode = \"{}\", coordinate_transformation_mode = \"{}\">", linear ? "linear" : "nearest",
        std::vector{"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}[below(4)]);
    for (size_t d = 2; d < shape.size(); ++d)
      shape[d] = one_in(3) ? between(1, 2 * shape[d]) : shape[d] * between(1, 3);
    if (fits(shape)) add(how, {x.name, "", "", ints(shape)}, shape);
  }

  void pad(const Var& x) {
    const size_t rank = x.shape.size();
    Ints pads(2 * rank);
    Shape shape = x.shape;
    const int mode = below(3);
    for (size_t d = one_in(3) ? 1 : 2; d < rank; ++d)
      for (const size_t at : {d, d + rank}) {
        pads[at] = below(mode == 2 ? std::min<int64_t>(x.shape[d], 4) : 4);
        shape[d] += pads[at];
      }
    if (fits(shape))
      add(fmt::format("Pad<mode = \"{}\">", std::vector{"constant", "edge", "reflect"}[mode]),
          {x.name, ints(pads)}, shape);
  }

  void depth(const Var& x) {
    if (x.shape.size() != 4) return;
    const auto& s = x.shape;
    if (s[1] % 4 == 0 && (s[2] % 2 != 0 || one_in(2))) {
      const Shape shape = {s[0], s[1] / 4, s[2] * 2, s[3] * 2};
      add(fmt::format("DepthToSpace<blocksize = 2, mode = \"{}\">", one_in(2) ? "DCR" : "CRD"), {x.name},
          shape);
    } else if (s[2] % 2 == 0 && s[3] % 2 == 0) {
      add("SpaceToDepth<blocksize = 2>", {x.name}, {s[0], s[1] * 4, s[2] / 2, s[3] / 2});
    }
  }

  // Of channels, sometimes of rows.
  void concat(const Var& x) {
    const size_t d = one_in(4) ? 2 : 1;
    std::vector<std::string> parts;
    Shape shape = x.shape;
    shape[d] = 0;
    for (int k = below(3) + 1; k >= 0; --k) {
      const auto other = var_where([&](const Var& v) {
        Shape like = v.shape;
        if (like.size() != shape.size()) return false;
        like[d] = 0;
        Shape mine = shape;
        mine[d] = 0;
        return like == mine;
      });
      Var part = k == 0 || !other ? x : *other;
      if (one_in(4)) part = add("Relu", {part.name}, part.shape);
      parts.push_back(part.name);
      shape[d] += part.shape[d];
    }
    if (fits(shape) && shape[1] <= 16) add(fmt::format("Concat<axis = {}>", d), parts, shape);
  }

  void slice(const Var& x) {
    const size_t d = one_in(3) ? 2 : 1;
    if (x.shape[d] < 2) return;
    const int64_t from = below(x.shape[d]), count = between(1, x.shape[d] - from), step = one_in(3) ? 2 : 1;
    const auto axis = static_cast<int64_t>(d);
    Shape shape = x.shape;
    if (one_in(3)) {
      const int64_t first = between(1, x.shape[d] - 1);
      Var a{name(), shape}, b{name(), shape};
      a.shape[d] = first, b.shape[d] -= first;
      body_ += fmt::format("    {}, {} = Split<axis = {}>({}, {})\n", a.name, b.name, axis, x.name,
                           ints({first, b.shape[d]}));
      read_.insert(x.name);
      ++layers_;
      vars_.push_back(a), vars_.push_back(b);
      return;
    }
    shape[d] = (count + step - 1) / step;
    add("Slice", {x.name, ints({from}), ints({from + count}), ints({axis}), ints({step})}, shape);
  }

  void residual(const Var& x) {
    const auto other = var_where([&](const Var& v) { return v.shape == x.shape && v.name != x.name; });
    if (!other) return;
    add(std::vector{"Add", "Sub", "Max"}[below(3)], {x.name, other->name}, x.shape);
    if (one_in(2)) clip();
  }

  void normalisation(const Var& x) {
    if (x.shape[1] % 2 == 0 && one_in(3)) return group_normalisation(x);
    const int axis = one_in(3) ? 1 : -1;
    if (axis == -1 && one_in(2))
      add("LayerNormalization<axis = -1>", {x.name, weights({x.shape.back()}), weights({x.shape.back()})},
          x.shape);
    else
      add(fmt::format("Softmax<axis = {}>", axis), {x.name}, x.shape);
  }

  // Of two groups of channels, as exporters write it.
  void group_normalisation(const Var& x) {
    const int64_t size = element_count(x.shape) / x.shape[0] / 2;
    const Var groups = add("Reshape", {x.name, ints({0, 2, -1})}, {x.shape[0], 2, size});
    const Var normal = add("InstanceNormalization", {groups.name, weights({2}), weights({2})}, groups.shape);
    add("Reshape", {normal.name, ints(x.shape)}, x.shape);
  }

  // x + mean over each of its columns
  void mean_of_columns(const Var& x) {
    if (x.shape.size() != 4) return;
    Shape one = x.shape;
    one[2] = 1;
    const Var mean = add("ReduceMean<axes = [2]>", {x.name}, one);
    add("Add", {x.name, mean.name}, x.shape);
  }

  // Of all of an image, flattened.
  void fully_connected(const Var& x) {
    const int64_t count = element_count(x.shape) / x.shape[0], units = between(2, 8);
    if (count * units > kMostElements) return;
    const Shape flat = {x.shape[0], count};
    if (one_in(2))
      add("Flatten<axis = 1>", {x.name}, flat);
    else
      add("Reshape", {x.name, ints({0, -1})}, flat);
    if (one_in(2)) pointwise(vars_.back());
    add("MatMul", {vars_.back().name, weights({count, units})}, {x.shape[0], units});
    clip();
  }

  // x * sigmoid(mean of x)
  void excitation(const Var& x) {
    Shape one(x.shape.size(), 1);
    one[0] = x.shape[0], one[1] = x.shape[1];
    const Var mean = add("GlobalAveragePool", {x.name}, one), gate = add("Sigmoid", {mean.name}, one);
    add("Mul", {x.name, gate.name}, x.shape);
  }

  void transpose(const Var& x) {
    if (x.shape.size() != 4) return;
    const bool turned = one_in(2);
    const auto& s = x.shape;
    add(fmt::format("Transpose<perm = [{}]>", turned ? "0, 1, 3, 2" : "0, 2, 1, 3"), {x.name},
        turned ? Shape{s[0], s[1], s[3], s[2]} : Shape{s[0], s[2], s[1], s[3]});
  }

  void pointwise(const Var& x) {
    switch (below(5)) {
      case 0:
        add("Relu", {x.name}, x.shape);
        return;
      case 1:
        add("Neg", {x.name}, x.shape);
        return;
      case 2: {
        Shape channel(x.shape.size(), 1);
        if (x.shape.size() > 1) channel[1] = x.shape[1];
        add("Add", {x.name, weights(channel)}, x.shape);
        return;
      }
      case 3:
        add("Clip", {x.name, constant("float", {}, Ints{-8}), constant("float", {}, Ints{6})}, x.shape);
        return;
      default:
        add("Mul", {x.name, constant("float", {}, Ints{2})}, x.shape);
        return clip();
    }
  }

  // ---- layers of matrices [m, k] and batches of such

  void matrix_layer() {
    const Var x = any_var();
    const size_t rank = x.shape.size();
    Shape shape = x.shape;
    switch (below(8)) {
      case 0:
      case 1: {
        shape.back() = between(2, 8);
        add("MatMul", {x.name, weights({x.shape.back(), shape.back()})}, shape);
        return clip();
      }
      case 2:
        return normalisation(x);
      case 3:
        return residual(x);
      case 4: {  // x, its other self turned, softmax, x again
        const Var k = vars_.back();
        if (k.shape.size() != rank || k.shape.back() != x.shape.back() || k.shape[0] != x.shape[0] ||
            rank > 3)
          return;
        Shape turned = k.shape;
        std::swap(turned[rank - 1], turned[rank - 2]);
        const Var kt =
            add(fmt::format("Transpose<perm = [{}]>", rank == 2 ? "1, 0" : "0, 2, 1"), {k.name}, turned);
        shape.back() = turned.back();
        add("MatMul", {x.name, kt.name}, shape);
        clip();
        const Var p = add("Softmax<axis = -1>", {vars_.back().name}, shape);
        shape.back() = k.shape.back();
        add("MatMul", {p.name, k.name}, shape);
        return;
      }
      case 5: {
        const auto d = static_cast<int64_t>(rank) - 1 - below(2);
        const auto at = static_cast<size_t>(d);
        if (x.shape[at] < 2) return;
        const int64_t from = below(x.shape[at] - 1);
        shape[at] -= from;
        add("Slice", {x.name, ints({from}), ints({1000}), ints({d})}, shape);
        return;
      }
      default:
        if (one_in(2)) return pointwise(x);
        add("Add", {x.name, weights({x.shape.back()})}, shape);
        return;
    }
  }

  std::mt19937 random_;
  int names_ = 0, layers_ = 0;
  size_t inputs_ = 1;  // the first of vars_
  std::string body_;
  std::vector<std::string> constants_;
  std::vector<Var> vars_;
  std::set<std::string> read_;
};

}  // namespace

std::string random_layers(unsigned seed) { return Generator(seed).run(); }

}  // namespace arenac
