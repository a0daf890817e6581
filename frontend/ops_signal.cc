// Signal processing: Fourier transforms as plain sums in float64, and the windows and matrices around them.
#include <fmt/format.h>

#include <cmath>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

constexpr double kTurn = 2 * 3.14159265358979323846;
constexpr int64_t kMaxLength = int64_t{1} << 24;

int64_t one_int(const Lowering& node, TensorId id, const std::string& what) {
  const auto values = node.constant_ints(id, what);
  node.require(values.size() == 1, fmt::format("{} must be one number", what));
  return values[0];
}

// cos, or sin, of k/n turns.
template <double (*kFunction)(double)>
TensorId turns(const Lowering& node, int64_t n) {
  Value table = node.table(Type::kFloat64, {n});
  for (int64_t k = 0; k < n; ++k)
    store(table, k, {.f = kFunction(kTurn * static_cast<double>(k) / static_cast<double>(n))});
  return node.constant(std::move(table));
}

// The nests of a transform, one for each component of the result, [.., 1 or 2]: out[.., 0] and out[.., 1] are
// sums over n of re(n) + i im(n), turned by -k n / length (or forwards, for the inverse). `begin` opens a
// nest, and yields what it needs to know.
struct Point {
  std::vector<Expr> out;  // all indices but the component
  Expr k, n, re, im;      // im may be empty
};
template <typename Begin>
TensorId transform(Lowering& node, int64_t length, bool inverse, Type type, Shape shape, const Begin& begin) {
  const TensorId cosines = turns<std::cos>(node, length), sines = turns<std::sin>(node, length);
  Formula f(node);
  for (int component = 0; component < shape.back(); ++component) {
    if (component) f.next_nest();
    Point p = begin(f);
    const Expr at = (p.k * p.n) % integer(length);
    const Expr c = f.read(cosines, {at}), s = inverse ? -f.read(sines, {at}) : f.read(sines, {at});
    Expr term = component ? -(p.re * s) : p.re * c;
    if (!p.im.empty()) term = term + p.im * (component ? c : s);
    f.sum(term);
    if (inverse) f.finish(f.acc() / static_cast<double>(length));
    p.out.push_back(integer(component));
    f.store(std::move(p.out));
  }
  return f.emit(type, std::move(shape));
}

// What a DFT does along its axis, as `inverse` and `onesided` have it. A one-sided spectrum holds the bins
// 0 .. length/2 of a real signal; the others are their conjugates.
//
//   inverse onesided   signal in        out
//      0       0       length, any      length, complex
//      0       1       length, any      length / 2 + 1, complex     (RFFT)
//      1       0       length, any      length, complex
//      1       1       bins, complex    length, real                (IRFFT)
struct Dft {
  int64_t length;            // of the transform
  int64_t used, produced;    // extents of the axis: elements that count at most, elements of the result
  int64_t components;        // of the result
  bool inverse, conjugates;  // whether every bin but 0 and length/2 counts for its conjugate, too
};
Dft dft_of(Lowering& node, int64_t extent, int64_t components) {
  const bool inverse = node.int_attr("inverse", 0) != 0, onesided = node.int_attr("onesided", 0) != 0;
  const bool real = inverse && onesided;
  node.require(!real || components == 2, "the inverse one-sided transform needs a complex signal");
  const int64_t length = node.has_input(1) ? one_int(node, node.in(1), "dft_length")
                         : real            ? 2 * (extent - 1)
                                           : extent;
  node.require(length > 0 && length <= kMaxLength,
               fmt::format("a transform of length {} is not supported", length));
  const int64_t bins = length / 2 + 1;
  return {length, real ? bins : length, onesided && !inverse ? bins : length, real ? 1 : 2, inverse, real};
}

void dft(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape& shape = node.shape(x);
  const int64_t rank = node.rank(x);
  node.require(rank >= 2 && (shape.back() == 1 || shape.back() == 2) && is_float(node.type(x)),
               "the signal must be floating point with a last dimension of 1 (real) or 2 (complex)");
  int64_t axis = node.opset() < 20 ? node.int_attr("axis", 1) : -2;
  if (node.opset() >= 20 && node.has_input(2)) axis = one_int(node, node.in(2), "the axis");
  axis = node.normalized_axis(axis, rank);
  node.require(axis != rank - 1, "the last dimension holds the components: it is no axis to transform");
  const Dft d = dft_of(node, shape[axis], shape.back());
  const int64_t given = std::min(d.used, shape[axis]);  // the rest are zeros
  Shape out = shape;
  out[axis] = d.produced;
  out.back() = d.components;
  node.out(0, transform(node, d.length, d.inverse, node.type(x), out, [&](Formula& f) {
             Point p{f.axes(Shape(out.begin(), out.end() - 1)), {}, f.reduced(given), {}, {}};
             p.k = p.out[axis];
             std::vector<Expr> in = p.out;
             in[axis] = p.n;
             const auto part = [&](int64_t component) {
               std::vector<Expr> at = in;
               at.push_back(integer(component));
               const Expr e = cast(Type::kFloat64, f.read(x, at));
               return d.conjugates ? select(p.n == 0 || p.n * 2 == integer(d.length), e, e * 2) : e;
             };
             p.re = part(0);
             if (shape.back() == 2) p.im = part(1);
             return p;
           }));
}

void stft(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape& shape = node.shape(x);
  const int rank = node.rank(x);
  node.require((rank == 2 || (rank == 3 && (shape[2] == 1 || shape[2] == 2))) && is_float(node.type(x)),
               "the signal must be floating point, [batch, length] or [batch, length, 1 or 2]");
  const int64_t step = one_int(node, node.in(1), "the frame step");
  const bool windowed = node.has_input(2);
  int64_t length = windowed ? element_count(node.shape(node.in(2))) : 0;
  if (node.has_input(3)) length = one_int(node, node.in(3), "the frame length");
  node.require(length > 0 && length <= kMaxLength && step > 0, "frame length and step must be positive");
  node.require(shape[1] >= length, "the signal is shorter than a frame");
  node.require(!windowed || node.shape(node.in(2)) == Shape{length},
               "the window must be as long as the frame");
  const int64_t frames = (shape[1] - length) / step + 1;
  const int64_t bins = node.int_attr("onesided", 1) != 0 ? length / 2 + 1 : length;
  node.out(0, transform(node, length, false, node.type(x), {shape[0], frames, bins, 2}, [&](Formula& f) {
             const Expr b = f.axis(shape[0]), t = f.axis(frames), k = f.axis(bins), n = f.reduced(length);
             const Expr at = t * integer(step) + n;
             const auto part = [&](int64_t component) {
               Expr e = f.read(x, rank == 2 ? std::vector{b, at} : std::vector{b, at, integer(component)});
               e = cast(Type::kFloat64, e);
               return windowed ? e * cast(Type::kFloat64, f.read(node.in(2), {n})) : e;
             };
             return Point{{b, t, k}, k, n, part(0), rank == 3 && shape[2] == 2 ? part(1) : Expr()};
           }));
}

Type output_type(const Lowering& node) {
  const int64_t wanted = node.int_attr("output_datatype", 1);
  for (int k = 0; k < kTypes; ++k)
    if (info(static_cast<Type>(k)).onnx == wanted && static_cast<Type>(k) != Type::kString)
      return static_cast<Type>(k);
  node.fail(fmt::format("output_datatype {} is not supported", wanted));
}

// a0 - a1 cos(x) + a2 cos(2 x), x over one turn.
template <int kA0, int kA1, int kA2, int kUnit>
void window(Lowering& node) {
  const auto declared = node.declared_for(0);
  const int64_t size = declared && declared->size() == 1 ? assumed_ints(node, node.in(0), *declared)[0]
                                                         : one_int(node, node.in(0), "the window's size");
  node.require(size >= 0 && size <= kMaxLength, fmt::format("a window of {} is not supported", size));
  const int64_t period = node.int_attr("periodic", 1) != 0 ? size : size - 1;
  const Type type = output_type(node);
  Value value = node.table(type, {size});
  for (int64_t k = 0; k < size; ++k) {
    const double x = kTurn * static_cast<double>(k) / static_cast<double>(std::max<int64_t>(period, 1));
    const double y = (kA0 - kA1 * std::cos(x) + kA2 * std::cos(2 * x)) / kUnit;
    store(value, k, convert(type, Type::kFloat64, {.f = y}));
  }
  node.out(0, node.constant(std::move(value)));
}

double hertz(double mel) { return 700 * (std::pow(10.0, mel / 2595) - 1); }
double mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

// Triangles, equally spaced on the mel scale, over the bins of a spectrum: [dft_length / 2 + 1,
// num_mel_bins].
void mel_weight_matrix(Lowering& node) {
  const int64_t triangles = one_int(node, node.in(0), "num_mel_bins"),
                length = one_int(node, node.in(1), "dft_length"),
                rate = one_int(node, node.in(2), "sample_rate");
  const auto lower = node.constant_floats(node.in(3), "lower_edge_hertz"),
             upper = node.constant_floats(node.in(4), "upper_edge_hertz");
  node.require(lower.size() == 1 && upper.size() == 1 && triangles > 0 && triangles <= 65536 && length > 0 &&
                   length <= 65536 && rate > 0 && lower[0] >= 0 && upper[0] > lower[0],
               "the bins, length, rate or edges are out of range");
  const int64_t bins = length / 2 + 1;
  const double low = mel(lower[0]), step = (mel(upper[0]) - low) / static_cast<double>(triangles + 2);
  const auto edge = [&](int64_t k) {
    const double at = std::floor(static_cast<double>(length + 1) *
                                 hertz(static_cast<double>(k) * step + low) / static_cast<double>(rate));
    return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(bins)));
  };
  const Type type = output_type(node);
  Value value = node.table(type, {bins, triangles});
  const auto put = [&](int64_t bin, int64_t k, double weight) {
    if (bin < bins) store(value, bin * triangles + k, convert(type, Type::kFloat64, {.f = weight}));
  };
  for (int64_t k = 0; k < triangles; ++k) {
    const int64_t begin = edge(k), peak = edge(k + 1), end = edge(k + 2);
    if (begin == peak) put(peak, k, 1);
    for (int64_t bin = begin; bin <= peak && begin < peak; ++bin)
      put(bin, k, static_cast<double>(bin - begin) / static_cast<double>(peak - begin));
    for (int64_t bin = peak; bin < end; ++bin)
      put(bin, k, static_cast<double>(end - bin) / static_cast<double>(end - peak));
  }
  node.out(0, node.constant(std::move(value)));
}

}  // namespace

std::span<const OperatorRow> signal_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "BlackmanWindow", 17, window<42, 50, 8, 100>}, {"", "DFT", 17, dft},
      {"", "HammingWindow", 17, window<25, 21, 0, 46>},   {"", "HannWindow", 17, window<1, 1, 0, 2>},
      {"", "MelWeightMatrix", 17, mel_weight_matrix},     {"", "STFT", 17, stft},
  };
  return kRows;
}

}  // namespace arenac
