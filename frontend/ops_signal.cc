// Signal processing: Fourier transforms as sums in float64 (fast ones as sums of sums), and the windows and
// matrices around them.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>

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

// The signal of a transform, as the first step reads it.
struct Signal {
  Shape before, after;  // extents of the result around those of the bins and of the components
  int64_t given;        // elements along the axis; the rest are zeros
  int components;       // of an element
  // Component c of element n as float64; `before` and `after` are the other indices.
  std::function<Expr(Formula&, const std::vector<Expr>& before, const Expr& n, const std::vector<Expr>& after,
                     int c)>
      element;
};

// What is asked of it: the bins [0, produced) of a transform, both of their components or the real one.
struct Spectrum {
  int64_t length, produced;
  int components;
  bool inverse;
};

// A factor of the length for each step of its transform (mixed radix, after Cooley and Tukey), and about how
// long the steps take. A single one is the definition. With R = r1 .. rj and M = length / R, step j makes
//
//   S_j[m, K] = sum(n < rj) S_(j-1)[m + n M, K mod (R / rj)] * w(n K / R)       m < M, K < R, w: turns
//
// of S_0[m, 0], the signal; S_last[0, K] is the spectrum. Of a real signal S_j[m, R - K] is the conjugate of
// S_j[m, K], so bins 0 .. R/2 are kept. A step keeps the signal's other dimensions: frames of a stream come
// one by one.
struct Radices {
  double cost;
  std::vector<int64_t> factors;
};

// Whether a step has a table of its own, of all its turns by n and K; else a remainder finds them.
bool is_dense(int64_t factor, int64_t bins) { return factor <= (int64_t{1} << 14) / bins; }

int64_t kept_bins(int64_t turn, bool real) { return real ? turn / 2 + 1 : turn; }

// The cheapest steps behind those that have turned the signal into sums over R = `done` elements.
Radices cheapest(const Spectrum& s, bool real, int64_t done, std::map<int64_t, Radices>& known) {
  if (const auto at = known.find(done); at != known.end()) return at->second;
  constexpr double kTable = 4, kPartialSum = 160, kRemainder = 8;
  const auto cost = [](int64_t factor, int64_t bins, int64_t sums) {
    const double products = 4 * static_cast<double>(factor) * static_cast<double>(sums);
    return is_dense(factor, bins) ? products + kTable * static_cast<double>(factor * bins)
                                  : products * kRemainder;
  };
  const int64_t left = s.length / done;
  Radices best{cost(left, s.produced, s.produced), {left}};
  const auto consider = [&](int64_t factor) {
    Radices steps = cheapest(s, real, done * factor, known);
    const int64_t bins = kept_bins(done * factor, real), sums = left / factor * bins;
    steps.cost += cost(factor, bins, sums) + kPartialSum * static_cast<double>(sums);
    if (steps.cost >= best.cost) return;
    steps.factors.insert(steps.factors.begin(), factor);
    best = std::move(steps);
  };
  for (int64_t d = 2; d * d <= left; ++d)
    if (left % d == 0) {
      consider(d);
      if (d != left / d) consider(left / d);
    }
  return known[done] = best;
}

// w(k / n), [2 components, n of a sum, bins]; or, where that is too large, [2, R], to be read at n K mod R.
struct Turns {
  TensorId table;
  bool dense;
  int64_t turn;  // R

  Expr read(Formula& f, const Expr& component, const Expr& n, const Expr& bin) const {
    if (dense) return f.read(table, {component, n, bin});
    return f.read(table, {component, (n * bin) % integer(turn)});
  }
};
Turns turns(const Lowering& node, int64_t factor, int64_t turn, int64_t bins, bool inverse) {
  const bool dense = is_dense(factor, bins);
  Value table = node.table(Type::kFloat64, dense ? Shape{2, factor, bins} : Shape{2, turn});
  const int64_t rows = dense ? factor : 1, columns = dense ? bins : turn;
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t k = 0; k < columns; ++k) {
      const double x = kTurn * static_cast<double>((dense ? n : 1) * k % turn) / static_cast<double>(turn);
      store(table, n * columns + k, {.f = std::cos(x)});
      store(table, (rows + n) * columns + k, {.f = inverse ? std::sin(x) : -std::sin(x)});
    }
  return {node.constant(std::move(table)), dense, turn};
}

std::vector<Expr> joined(std::vector<Expr> a, const std::vector<Expr>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Bins done k + K of a step's result for k in [begin, end): K is the bin of the step before (`done` of them),
// in [first, last), or, where that is not kept, done less such a one.
struct BinBlock {
  int64_t begin, end, first, last;
  bool mirrored;
};
std::vector<BinBlock> bin_blocks(int64_t bins, int64_t done, bool real) {
  const int64_t kept = kept_bins(done, real), whole = bins / done, rest = bins % done;
  std::vector<BinBlock> all{{0, whole, 0, kept, false},
                            {whole, whole + 1, 0, std::min(rest, kept), false},
                            {0, whole, 1, done - kept + 1, true},
                            {whole, whole + 1, done - rest + 1, done - kept + 1, true}};
  std::erase_if(all, [](const BinBlock& b) { return b.begin >= b.end || b.first >= b.last; });
  return all;
}

// A step and what it turns into what.
struct SumStep {
  int64_t factor = 1, done = 1, apart = 1;  // rj, R / rj, M
  int64_t bins = 1;                         // of the result
  int components = 2, parts = 2;            // of the result, of what is read
  TensorId sums = kAbsent;  // what is read, [before.., 2, rj M, bins, after..]; kAbsent: the signal
  Turns turns = {};
};

// Component c of a block of bins, both where what is read has one.
void write_block(Formula& f, const Signal& signal, const Spectrum& s, const SumStep& stage,
                 const BinBlock& block, int c) {
  const std::vector<Expr> before = f.axes(signal.before);
  const Expr m = f.axis(stage.apart), k = f.axis(block.end - block.begin) + integer(block.begin),
             bin = f.axis(block.last - block.first) + integer(block.first);
  const std::vector<Expr> after = f.axes(signal.after);
  const Expr component = stage.parts == 1 ? f.axis(stage.components) : integer(c),
             n = f.reduced(stage.factor), at = m + n * integer(stage.apart),
             to = k * integer(stage.done) + (block.mirrored ? integer(stage.done) - bin : bin);
  const auto part = [&](int p) {
    return stage.sums == kAbsent ? signal.element(f, before, at, after, p)
                                 : f.read(stage.sums, joined(joined(before, {integer(p), at, bin}), after));
  };
  const auto turn = [&](const Expr& p) { return stage.turns.read(f, p, n, to); };
  if (stage.sums == kAbsent && signal.given < s.length) f.where(at, 0, signal.given);
  if (stage.parts == 1) {
    f.sum(part(0) * turn(component));
  } else {
    const Expr re = part(0) * turn(integer(c)), im = part(1) * turn(integer(1 - c));
    f.sum((c == 0) == block.mirrored ? re + im : re - im);
  }
  const bool last = stage.apart == 1;
  if (last && s.inverse) f.finish(f.acc() / static_cast<double>(s.length));
  f.store(last ? joined(joined(before, {to}), joined(after, {component}))
               : joined(joined(before, {component, m, to}), after));
}

// The spectrum, [before.., produced, after.., components].
TensorId transform(Lowering& node, const Signal& signal, const Spectrum& s, Type type) {
  const bool real = signal.components == 1;
  std::map<int64_t, Radices> known;
  SumStep stage;
  stage.parts = signal.components;
  for (const int64_t factor : cheapest(s, real, 1, known).factors) {
    const int64_t turn = stage.done * factor;
    stage.factor = factor, stage.apart = s.length / turn;
    const bool last = stage.apart == 1;
    stage.bins = last ? s.produced : kept_bins(turn, real);
    if (last) stage.components = s.components;
    stage.turns = turns(node, factor, turn, stage.bins, s.inverse);
    Formula f(node);
    bool first = true;
    for (const BinBlock& block : bin_blocks(stage.bins, stage.done, real))
      for (int c = 0; c < (stage.parts == 1 ? 1 : stage.components); ++c) {
        if (!first) f.next_nest();
        first = false;
        write_block(f, signal, s, stage, block, c);
      }
    Shape shape = signal.before;
    const Shape own = last ? Shape{stage.bins} : Shape{2, stage.apart, stage.bins};
    shape.insert(shape.end(), own.begin(), own.end());
    shape.insert(shape.end(), signal.after.begin(), signal.after.end());
    if (last) shape.push_back(stage.components);
    stage.sums = f.emit(last ? type : Type::kFloat64, std::move(shape));
    stage.done = turn, stage.parts = 2;
  }
  return stage.sums;
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
  int components;            // of the result
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
  Signal signal{Shape(shape.begin(), shape.begin() + axis),
                Shape(shape.begin() + axis + 1, shape.end() - 1),
                std::min(d.used, shape[axis]),
                static_cast<int>(shape.back()),
                {}};
  signal.element = [&](Formula& f, const std::vector<Expr>& before, const Expr& n,
                       const std::vector<Expr>& after, int c) {
    const Expr e = cast(Type::kFloat64, f.read(x, joined(joined(before, {n}), joined(after, {integer(c)}))));
    return d.conjugates ? select(n == 0 || n * 2 == integer(d.length), e, e * 2) : e;
  };
  node.out(0, transform(node, signal, {d.length, d.produced, d.components, d.inverse}, node.type(x)));
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
  const int components = rank == 3 && shape[2] == 2 ? 2 : 1;
  const auto element = [&](Formula& f, const std::vector<Expr>& before, const Expr& n,
                           const std::vector<Expr>&, int c) {
    const Expr at = before[1] * integer(step) + n;
    Expr e = f.read(x, rank == 2 ? std::vector{before[0], at} : std::vector{before[0], at, integer(c)});
    e = cast(Type::kFloat64, e);
    return windowed ? e * cast(Type::kFloat64, f.read(node.in(2), {n})) : e;
  };
  node.out(0, transform(node, {{shape[0], frames}, {}, length, components, element}, {length, bins, 2, false},
                        node.type(x)));
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
