// Normalisations: softmaxes, and y = (x - mean) / deviation * scale + bias with the statistics taken over
// various dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops.h"
#include "frontend/partial_sums.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

Expr product(const Expr& a, const Expr& b) { return a * b; }

// All of these divide or take roots: the standard defines them on floats.
void require_float(const Lowering& node, TensorId x) {
  node.require(is_float(node.type(x)),
               fmt::format("is not defined on elements of type {}", info(node.type(x)).name));
}

// Softmax and its like: since opset 13 over dimension `axis` (-1), before that over all from `axis` (1) on,
// as if x were the matrix [product before axis, product from axis on].
std::vector<int64_t> dims_of(const Lowering& node, TensorId x) {
  return softmax_dims(node, x, node.opset(), node.int_attr("axis", node.opset() < 13 ? 1 : -1));
}

void softmax(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  node.out(0, softmax_over(node, x, dims_of(node, x), node.type(x)));
}

void log_softmax(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  node.out(0, log_softmax_over(node, x, dims_of(node, x), node.type(x)));
}

// One where the largest element first stands, else zero. Three nodes: the maximum; the least position of an
// element that is equal to it; a comparison of each position with that one.
//
//   x  2 5 1 5    ->   m 5   ->   where min(4, 1, 4, 3) = 1   ->   0 1 0 0
void hardmax(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  const auto dims = dims_of(node, x);
  // The row-major position within the normalised dimensions.
  const auto position = [&](const std::vector<Expr>& indices) {
    Expr linear = integer(0);
    for (int64_t d : dims) linear = linear * integer(node.shape(x)[d]) + indices[d];
    return linear;
  };
  const TensorId m = reduced(node, x, dims, {Combine::kMax}, node.type(x));
  Formula first(node);
  std::vector<Expr> indices, store;
  for (int64_t d = 0; d < node.rank(x); ++d) {
    const bool inside = std::binary_search(dims.begin(), dims.end(), d);
    indices.push_back(inside ? first.reduced(node.shape(x)[d]) : first.axis(node.shape(x)[d]));
    store.push_back(inside ? integer(0) : indices[d]);
  }
  const Expr here = first.read(x, indices) == first.broadcast(m, indices);
  first.reduce(Combine::kMin, select(here, position(indices), integer(reduced_count(node.shape(x), dims))));
  first.store(store);
  const TensorId where = first.emit(Type::kInt64, node.shape(m));

  Formula f(node);
  const auto out = f.axes(node.shape(x));
  f.body(cast(compute_type(node.type(x)), f.broadcast(where, out) == position(out)));
  node.out(0, f.emit(node.type(x)));
}

// x minus its mean over `dims`, with the mean and 1 / sqrt(variance + epsilon). Mean and inverse have extents
// of 1 there, so that they broadcast back to x.
struct Centred {
  TensorId mean, difference, inverse;
};

// The mean over `dims`, in type `type`. That of many elements is found twice, the second time of what they
// differ by from the first: where they are close together, beside their size, the errors of the first sum are
// not small beside their deviation (the corrected two-pass algorithm: Chan, Golub and LeVeque, "Algorithms
// for Computing the Sample Variance", 1983, for the mean).
//
//   10000.1, 10000.2, ...     first mean 10000.3 with an error of the sum     +     mean of (-0.2, -0.1, ...)
TensorId mean_over(Lowering& node, TensorId x, const std::vector<int64_t>& dims, Type type) {
  const int64_t count = reduced_count(node.shape(x), dims);
  const Reduction mean = {
      Combine::kSum, {}, [&](const Expr& all) { return all / static_cast<double>(count); }};
  const TensorId first = reduced(node, x, dims, mean, type);
  if (count <= kLongSum) return first;
  const auto minus = [](const Expr& v, const Expr& m) { return v - m; };
  const auto plus = [](const Expr& m, const Expr& rest) { return m + rest; };
  const TensorId rest = reduced(node, pointwise(node, type, minus, x, first), dims, mean, type);
  return pointwise(node, type, plus, first, rest);
}

// after(mean of squares) over `dims`. Of differences from the mean that is the variance, divided by the count
// and not by one less, as ONNX has it. The formula E(x^2) - E(x)^2 would cancel where the mean is large.
TensorId mean_square(Lowering& node, TensorId x, const std::vector<int64_t>& dims, Type type,
                     const Unary& after) {
  const auto count = static_cast<double>(reduced_count(node.shape(x), dims));
  const auto square = [](const Expr& e) { return e * e; };
  return reduced(node, x, dims, {Combine::kSum, square, [&](const Expr& all) { return after(all / count); }},
                 type);
}

// Three nodes of x's compute type: 16-bit floats are widened, as their squares soon overflow.
Centred centred(Lowering& node, TensorId x, const std::vector<int64_t>& dims, double epsilon) {
  const Type real = compute_type(node.type(x));
  Centred c;
  c.mean = mean_over(node, x, dims, real);
  c.difference = pointwise(
      node, real, [](const Expr& v, const Expr& m) { return v - m; }, x, c.mean);
  c.inverse =
      mean_square(node, c.difference, dims, real, [&](const Expr& v) { return 1 / sqrt(v + epsilon); });
  return c;
}

// v[C] as v[1,C,1,...] of the rank of x[N,C,spatial...], in x's compute type. Of a vector x[N], C is 1.
// `what` names v in the message.
TensorId per_channel(Lowering& node, TensorId v, TensorId x, const std::string& what) {
  const int64_t channels = node.rank(x) > 1 ? node.shape(x)[1] : 1;
  node.require(node.shape(v) == Shape{channels}, fmt::format("the {} has shape {}, but there are {} channels",
                                                             what, to_string(node.shape(v)), channels));
  Shape shape(node.rank(x), 1);
  if (node.rank(x) > 1) shape[1] = channels;
  Formula f(node);
  const auto out = f.axes(shape);
  f.body(cast(compute_type(node.type(x)), f.read(v, {node.rank(x) > 1 ? out[1] : integer(0)})));
  return f.emit(compute_type(node.type(x)));
}

// v[shape of one x] as v[1, shape of one x]: statistics of each place (before opset 9, spatial = 0).
TensorId per_place(Lowering& node, TensorId v, TensorId x, const std::string& what) {
  Shape shape = node.shape(x);
  shape[0] = 1;
  node.require(node.shape(v) == Shape(shape.begin() + 1, shape.end()),
               fmt::format("the {} {} is not one number a place of {}", what, to_string(node.shape(v)),
                           to_string(node.shape(x))));
  Formula f(node);
  auto out = f.axes(shape);
  out.erase(out.begin());
  f.body(cast(compute_type(node.type(x)), f.read(v, out)));
  return f.emit(compute_type(node.type(x)));
}

struct BatchStatistics {
  TensorId mean, variance;  // of x's rank, in its compute type
};

// The statistic [1,C,1,...] with the shape and type of `like`, [C]: as the model passes and takes it.
TensorId reshaped_as(Lowering& node, TensorId statistic, TensorId like) {
  const TensorId y = converted(node, statistic, node.type(like));
  return node.apply("Reshape", {y, node.constant_ints(node.shape(like))});
}

// The batch's own statistics, and as outputs what the running ones become: a mixture of both,
//
//   running' = running * momentum + batch * (1 - momentum)         (Ioffe and Szegedy, 2015, section 3.1)
//
// over the dimensions in which the running ones have an extent of 1, so N and all places for statistics a
// channel. Outputs 3 and 4 are the batch's own, which opsets before 14 name.
BatchStatistics trained(Lowering& node, TensorId x, const BatchStatistics& running) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < node.rank(x); ++d)
    if (node.shape(running.mean)[d] == 1) dims.push_back(d);
  node.require(reduced_count(node.shape(x), dims) > 0, "there is nothing to take a mean of");
  const Type real = compute_type(node.type(x));
  BatchStatistics batch = {mean_over(node, x, dims, real), kAbsent};
  const auto minus = [](const Expr& v, const Expr& m) { return v - m; };
  batch.variance = mean_square(node, pointwise(node, real, minus, x, batch.mean), dims, real,
                               [](const Expr& v) { return v; });
  const double momentum = node.float_attr("momentum", 0.9f);
  const auto mixed = [&](const Expr& before, const Expr& now) {
    return before * momentum + now * (1 - momentum);
  };
  const auto output = [&](int k, TensorId value) {
    if (node.wants(k)) node.out(k, reshaped_as(node, value, node.in(3)));
  };
  output(1, pointwise(node, real, mixed, running.mean, batch.mean));
  output(2, pointwise(node, real, mixed, running.variance, batch.variance));
  output(3, batch.mean);
  output(4, batch.variance);
  return batch;
}

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, computed as y = x * factor + shift, both per
// channel and folded when the statistics are constants:
//
//   factor = scale / sqrt(variance + epsilon)          shift = bias - mean * factor
//
// So what is left of a normalisation at run time is one multiply-add an element, which a convolution before
// it can take into its weights (scaled_weights.h).
void batch_normalization(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  node.require(node.rank(x) >= 1, "a scalar cannot be normalised");
  const auto spread = node.int_attr("spatial", 1) != 0 ? per_channel : per_place;
  const Type real = compute_type(node.type(x));
  const double epsilon = node.float_attr("epsilon", 1e-5f);
  const TensorId scale = spread(node, node.in(1), x, "scale");
  const TensorId bias = spread(node, node.in(2), x, "bias");
  BatchStatistics statistics = {spread(node, node.in(3), x, "mean"), spread(node, node.in(4), x, "variance")};
  // Until opset 14 a model asked for training by naming the outputs that it alone has.
  if (node.int_attr("training_mode", 0) != 0 || node.wants(1)) statistics = trained(node, x, statistics);
  const auto factor_of = [&](const Expr& s, const Expr& v) { return s / sqrt(v + epsilon); };
  const auto shift_of = [](const Expr& b, const Expr& m, const Expr& f) { return b - m * f; };
  const TensorId factor = pointwise(node, real, factor_of, scale, statistics.variance);
  const TensorId shift = pointwise(node, real, shift_of, bias, statistics.mean, factor);
  const auto formula = [](const Expr& e, const Expr& f, const Expr& s) { return e * f + s; };
  node.out(0, pointwise(node, node.type(x), formula, x, factor, shift));
}

// Statistics of each channel of each image: over the places alone. Scale and bias are per channel.
void instance_normalization(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  node.require(node.rank(x) >= 3, "the input needs rank 3 or more");
  const Centred c = centred(node, x, dims_between(2, node.rank(x)), node.float_attr("epsilon", 1e-5f));
  const TensorId scale = per_channel(node, node.in(1), x, "scale");
  const TensorId bias = per_channel(node, node.in(2), x, "bias");
  const TensorId factor = pointwise(node, compute_type(node.type(x)), product, c.inverse, scale);
  const auto formula = [](const Expr& d, const Expr& f, const Expr& b) { return d * f + b; };
  node.out(0, pointwise(node, node.type(x), formula, c.difference, factor, bias));
}

// Checks that a scale or bias broadcasts to x and no further.
TensorId affine_operand(const Lowering& node, TensorId v, TensorId x) {
  require_float(node, v);
  node.require(broadcast_shape(node, {node.shape(v), node.shape(x)}) == node.shape(x),
               fmt::format("scale or bias {} does not broadcast to {}", to_string(node.shape(v)),
                           to_string(node.shape(x))));
  return v;
}

// d * inverse * scale + bias, the last two optional (kAbsent).
TensorId scaled(Lowering& node, Type type, TensorId d, TensorId inverse, TensorId scale, TensorId bias) {
  Formula f(node);
  const auto out = f.axes(node.shape(d));
  const Expr x = f.broadcast(d, out);
  Expr y = x * cast(x->type, f.broadcast(inverse, out));
  if (scale != kAbsent) y = y * cast(x->type, f.broadcast(affine_operand(node, scale, d), out));
  if (bias != kAbsent) y = y + cast(x->type, f.broadcast(affine_operand(node, bias, d), out));
  f.body(y);
  return f.emit(type);
}

// [axis, rank): LayerNormalization and RMSNormalization normalise over all of these together.
std::vector<int64_t> trailing_dims(const Lowering& node, TensorId x) {
  return dims_between(node.normalized_axis(node.int_attr("axis", -1), node.rank(x)), node.rank(x));
}

// Layer normalisation (Ba, Kiros and Hinton, 2016). The standard computes in float32 (stash_type 1) and
// returns mean and inverse deviation in that type, whatever the input is; float64 is computed in float64
// here.
void layer_normalization(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  const Centred c = centred(node, x, trailing_dims(node, x), node.float_attr("epsilon", 1e-5f));
  node.out(0, scaled(node, node.type(x), c.difference, c.inverse, optional_input(node, 1),
                     optional_input(node, 2)));
  if (node.wants(1)) node.out(1, converted(node, c.mean, Type::kFloat32));
  if (node.wants(2)) node.out(2, converted(node, c.inverse, Type::kFloat32));
}

// 1 / sqrt(mean(x^2) + epsilon), the factor of RMSNormalization (Zhang and Sennrich, "Root Mean Square Layer
// Normalization", 2019): layer normalisation without the mean.
TensorId root_mean_square_inverse(Lowering& node, TensorId x, const std::vector<int64_t>& dims) {
  const double epsilon = node.float_attr("epsilon", 1e-5f);
  return mean_square(node, x, dims, compute_type(node.type(x)),
                     [&](const Expr& v) { return 1 / sqrt(v + epsilon); });
}

// y = x * inverse * scale. Output 1, of SimplifiedLayerNormalization, is the inverse.
void rms_normalization(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  const TensorId inverse = root_mean_square_inverse(node, x, trailing_dims(node, x));
  node.out(0, scaled(node, node.type(x), x, inverse, optional_input(node, 1), kAbsent));
  if (node.wants(1)) node.out(1, inverse);
}

// Layer (or, simplified, root-mean-square) normalisation of input + skip + bias over the last dimension, of
// onnxruntime's com.microsoft. Inputs and outputs, by their numbers:
//
//   layer   0 input, 1 skip, 2 gamma, 3 beta, 4 bias        0 result, 1 mean, 2 inverse deviation, 3 the sum
//   rms     0 input, 1 skip, 2 gamma, 3 bias                0 result, 2 inverse, 3 the sum
enum class Skip { kLayer, kRms };

template <Skip kKind>
void skip_normalization(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  constexpr int kBias = kKind == Skip::kLayer ? 4 : 3;
  const Type real = compute_type(node.type(x));
  const auto plus = [&](const Expr& a, const Expr& b) { return a + cast(a->type, b); };
  TensorId all = pointwise(node, real, plus, x, node.in(1));
  if (node.has_input(kBias)) all = pointwise(node, real, plus, all, node.in(kBias));
  node.require(node.shape(all) == node.shape(x) && node.rank(x) >= 1, "the skip does not fit the input");
  const std::vector<int64_t> dims = {node.rank(x) - 1};
  if constexpr (kKind == Skip::kLayer) {
    const Centred c = centred(node, all, dims, node.float_attr("epsilon", 1e-12f));
    const TensorId beta = optional_input(node, 3);
    node.out(0, scaled(node, node.type(x), c.difference, c.inverse, node.in(2), beta));
    if (node.wants(1)) node.out(1, c.mean);
    if (node.wants(2)) node.out(2, c.inverse);
  } else {
    const TensorId inverse = root_mean_square_inverse(node, all, dims);
    node.out(0, scaled(node, node.type(x), all, inverse, node.in(2), kAbsent));
    if (node.wants(2)) node.out(2, inverse);
  }
  if (!node.wants(3)) return;
  const auto same = [](const Expr& e) { return e; };
  node.out(3, real == node.type(x) ? all : pointwise(node, node.type(x), same, all));
}

// Layer normalisation of the sum of each word's, place's and segment's embedding; also how many words of each
// batch the mask has. The first layer of BERT, of onnxruntime's com.microsoft:
//
//   inputs   0 words [batch, length], 1 segments (may be absent), 2 to 4 tables of words, places, segments,
//            5 gamma, 6 beta, 7 mask, 8 places
//   outputs  0 the result, 1 words that the mask has [batch], 2 the sum
//
// Without input 8 the places are 0, 1, ..., length - 1.
void embed_layer_normalization(Lowering& node) {
  const TensorId words = node.in(0);
  const Shape shape = node.shape(words);
  node.require(shape.size() == 2, "the words need rank 2");
  const auto rows = [&](int table, TensorId which) {
    require_float(node, node.in(table));
    node.require(node.rank(node.in(table)) == 2, "an embedding needs rank 2");
    return node.apply("Gather", {node.in(table), which});
  };
  const TensorId word = rows(2, words), place = rows(
                                            3, node.has_input(8) ? node.in(8) : [&] {
                                              Value places = node.table(Type::kInt64, {1, shape[1]});
                                              for (int64_t k = 0; k < shape[1]; ++k)
                                                store(places, k, {.i = k});
                                              return node.constant(std::move(places));
                                            }());
  const Type type = node.type(word), real = compute_type(type);
  const auto plus = [&](const Expr& a, const Expr& b) { return cast(real, a) + cast(real, b); };
  TensorId all = pointwise(node, real, plus, word, place);
  if (node.has_input(1) && node.has_input(4)) all = pointwise(node, real, plus, all, rows(4, node.in(1)));
  node.require(node.shape(all) == node.shape(word), "the embeddings or positions do not fit the words");
  const Centred c = centred(node, all, {2}, node.float_attr("epsilon", 1e-12f));
  node.out(0, scaled(node, type, c.difference, c.inverse, node.in(5), node.in(6)));
  if (node.wants(1)) {
    const auto is_set = [](const Expr& m) { return cast(Type::kInt32, m == 1); };
    node.out(1, node.has_input(7) ? reduced_away(node, node.in(7), {1}, {Combine::kSum, is_set}, Type::kInt32)
                                  : filled(node, Type::kInt32, {shape[0]}, 0));
  }
  if (node.wants(2))
    node.out(2, real == type ? all
                             : pointwise(
                                   node, type, [](const Expr& e) { return e; }, all));
}

// x[N, groups * c, spatial...] normalised within each group (Wu and He, 2018). Scale and bias hold an element
// a group (opset 18) or a channel (21). The channels are split in two dimensions for the statistics, and
// joined again by the store of the last nest:
//
//   x [N, C, H, W]  ->  [N, groups, c, H, W]  over {2, 3, 4}  ->  y [n, g * c + k, h, w]
void group_normalization(Lowering& node) {
  const TensorId x = node.in(0), scale = node.in(1), bias = node.in(2);
  require_float(node, x);
  const Shape shape = node.shape(x);
  const int64_t groups = node.attribute("num_groups").i;
  node.require(node.rank(x) >= 2 && groups > 0 && shape[1] % groups == 0,
               fmt::format("{} groups do not divide the channels of {}", groups, to_string(shape)));
  const bool by_group = node.opset() < 21;
  for (TensorId v : {scale, bias})
    node.require(node.shape(v) == Shape{by_group ? groups : shape[1]}, "scale or bias has the wrong length");

  Attribute split;
  split.ints = {shape[0], groups, shape[1] / groups};
  split.ints.insert(split.ints.end(), shape.begin() + 2, shape.end());
  const TensorId grouped = node.apply("Reshape", {x, node.constant_ints(split.ints)});
  const Centred c =
      centred(node, grouped, dims_between(2, node.rank(grouped)), node.float_attr("epsilon", 1e-5f));

  Formula f(node);
  const auto axes = f.axes(node.shape(grouped));
  const Expr channel = axes[1] * integer(shape[1] / groups) + axes[2];
  std::vector<Expr> store = {axes[0], channel};
  store.insert(store.end(), axes.begin() + 3, axes.end());
  const Expr at = by_group ? axes[1] : channel;
  const Expr d = f.read(c.difference, axes);
  const Expr s = cast(d->type, f.read(scale, {at})), b = cast(d->type, f.read(bias, {at}));
  f.body(d * f.broadcast(c.inverse, axes) * s + b);
  f.store(store);
  node.out(0, f.emit(node.type(x), shape));
}

// y = x / (bias + alpha / size * sum of squares of `size` neighbouring channels) ^ beta, channels outside [0,
// C) left out (Krizhevsky et al., 2012, section 3.3). Of an even size one more lies behind the channel than
// before it:
//
//   size 5: c-2 .. c+2            size 4: c-1 .. c+2
void lrn(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  const int64_t size = node.attribute("size").i;
  node.require(node.rank(x) >= 2 && size > 0, "needs channels and a positive 'size'");
  const double alpha = node.float_attr("alpha", 1e-4f), beta = node.float_attr("beta", 0.75f);
  Formula f(node);
  const auto out = f.axes(node.shape(x));
  const Expr k = f.reduced(size);
  auto neighbour = out;
  neighbour[1] = out[1] + k - integer((size - 1) / 2);
  f.where(neighbour[1], 0, node.shape(x)[1]);
  const Expr v = f.read(x, neighbour);
  f.sum(v * v);
  const Expr base = f.acc() * (alpha / static_cast<double>(size)) + node.float_attr("bias", 1);
  f.finish(f.read(x, out) / pow(base, constant(base->type, beta)));
  node.out(0, f.emit(node.type(x)));
}

// x / norm along `axis`, by the sum of magnitudes (p = 1) or the Euclidean norm (2). A vector of zeros stays
// one.
void lp_normalization(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  const int64_t p = node.int_attr("p", 2);
  node.require(p == 1 || p == 2, "'p' must be 1 or 2");
  const int64_t axis = node.normalized_axis(node.int_attr("axis", -1), node.rank(x));
  const auto power = [&](const Expr& e) { return p == 1 ? absolute(e) : e * e; };
  const auto root = [&](const Expr& e) { return p == 1 ? e : sqrt(e); };
  const Type real = compute_type(node.type(x));
  const TensorId norm = reduced(node, x, {axis}, {Combine::kSum, power, root}, real);
  const auto formula = [](const Expr& e, const Expr& n) {
    return select(n == 0, constant(e->type, 0), e / n);
  };
  node.out(0, pointwise(node, node.type(x), formula, x, norm));
}

// whether the differences from the mean are divided by the deviation
enum class Divided { kByDeviation, kNot };

// (x - mean) / (deviation + 1e-9): the deviation, not the variance, is kept from zero, as in the function
// body by which the standard defines MeanVarianceNormalization.
void normalize_mean_variance(Lowering& node, const std::vector<int64_t>& dims, Divided divided) {
  const TensorId x = node.in(0);
  const Type real = compute_type(node.type(x));
  const TensorId mean = mean_over(node, x, dims, real);
  const TensorId d = pointwise(
      node, divided == Divided::kNot ? node.type(x) : real,
      [](const Expr& v, const Expr& m) { return v - m; }, x, mean);
  if (divided == Divided::kNot) return node.out(0, d);
  const TensorId inverse =
      mean_square(node, d, dims, real, [](const Expr& v) { return 1 / (sqrt(v) + 1e-9); });
  node.out(0, pointwise(node, node.type(x), product, d, inverse));
}

// By default over batch and places, so for each channel.
void mean_variance_normalization(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  std::vector<int64_t> dims;
  for (int64_t axis : node.ints_attr("axes", {0, 2, 3}))
    dims.push_back(node.normalized_axis(axis, node.rank(x)));
  std::sort(dims.begin(), dims.end());
  normalize_mean_variance(node, dims, Divided::kByDeviation);
}

// The experimental one of early models, as Caffe has it: over the pixels of an image, or over all of it.
void mean_variance_of_images(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  node.require(node.rank(x) >= 3, "the input needs rank 3 or more");
  std::vector<int64_t> dims;
  for (int64_t d = node.int_attr("across_channels", 0) ? 1 : 2; d < node.rank(x); ++d) dims.push_back(d);
  normalize_mean_variance(node, dims,
                          node.int_attr("normalize_variance", 1) ? Divided::kByDeviation : Divided::kNot);
}

// Experimental operators of early models: x * scale + bias[c], and a cut-out of x[N,C,H,W].
void image_scaler(Lowering& node) {
  const TensorId x = node.in(0);
  require_float(node, x);
  node.require(node.rank(x) == 4, "the input needs rank 4");
  const auto bias = node.floats_attr("bias");
  node.require(static_cast<int64_t>(bias.size()) == node.shape(x)[1], "'bias' needs a number a channel");
  Value shift = node.table(compute_type(node.type(x)), {1, node.shape(x)[1], 1, 1});
  for (size_t k = 0; k < bias.size(); ++k) store(shift, static_cast<int64_t>(k), {.f = bias[k]});
  const double scale = node.float_attr("scale", 1);
  const auto formula = [&](const Expr& e, const Expr& b) { return (scale == 1 ? e : e * scale) + b; };
  node.out(0, pointwise(node, node.type(x), formula, x, node.constant(std::move(shift))));
}

// A window of 'scale' (height, width), or of all that the borders leave:
//
//   border {left 1, top 2, right 1, bottom 0} of [N,C,6,8]      rows [2, 6), columns [1, 7)
void crop(Lowering& node) {
  const TensorId x = node.in(0);
  const auto border = node.ints_attr("border", {}), scale = node.ints_attr("scale", {});
  node.require(node.rank(x) == 4 && border.size() == 4 && (scale.empty() || scale.size() == 2),
               "needs rank 4, a 'border' of 4 and a 'scale' of 2");
  for (int64_t b : border) node.require(b >= 0 && b <= kMaxElements, "the border makes no sense");
  Shape shape = node.shape(x);
  for (int d : {0, 1}) {  // border is left, top, right, bottom
    const int64_t begin = border[1 - d], end = shape[2 + d] - border[3 - d];
    const int64_t extent = scale.empty() ? end - begin : scale[d];
    node.require(begin <= shape[2 + d] && extent > 0 && extent <= shape[2 + d] - begin,
                 "the cut-out leaves the image");
    shape[2 + d] = extent;
  }
  Formula f(node);
  auto in = f.axes(shape);
  in[2] = in[2] + integer(border[1]);
  in[3] = in[3] + integer(border[0]);
  f.body(f.read(x, in));
  node.out(0, f.emit(node.type(x)));
}

}  // namespace

std::span<const OperatorRow> norm_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "BatchNormalization", 1, batch_normalization},
      {"", "Crop", 1, crop},
      {"", "GroupNormalization", 18, group_normalization},
      {"", "Hardmax", 1, hardmax},
      {"", "ImageScaler", 1, image_scaler},
      {"", "InstanceNormalization", 1, instance_normalization},
      {"", "LRN", 1, lrn},
      {"", "LayerNormalization", 1, layer_normalization},  // exporters emit it before opset 17
      {"", "LogSoftmax", 1, log_softmax},
      {"", "LpNormalization", 1, lp_normalization},
      {"", "MeanVarianceNormalization", 1, mean_variance_of_images, 9},
      {"", "MeanVarianceNormalization", 9, mean_variance_normalization},
      {"", "RMSNormalization", 23, rms_normalization},
      {"", "SimplifiedLayerNormalization", 1, rms_normalization},
      {"", "Softmax", 1, softmax},
      {"com.microsoft", "EmbedLayerNormalization", 1, embed_layer_normalization},
      {"com.microsoft", "SkipLayerNormalization", 1, skip_normalization<Skip::kLayer>},
      {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, skip_normalization<Skip::kRms>},
  };
  return kRows;
}

}  // namespace arenac
