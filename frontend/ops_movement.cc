// Operators that only move elements: every one is out[i...] = in[some index of i...]. Which of them are
// views, and so cost nothing, the scheduler finds from the index expressions.
#include <fmt/format.h>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// Of a tensor, a sequence or an optional: no node at all, the name stands for the same value.
void identity(Lowering& node) { node.out(0, node.operand(0)); }

// The same elements, in row-major order, under another shape.
//
// Both shapes are cut into the smallest groups of dimensions of equal product, and each group is re-indexed
// on its own, so that index expressions stay as simple as the reshape is.
//
//   [2,3,4,5] -> [6,20]       groups {2,3 | 6} and {4,5 | 20}
//   in = [o0 / 3, o0 % 3, o1 / 5, o1 % 5]
//
// Of a group, the output indices are joined to one number, and its digits in the mixed radix of the input's
// extents are the input indices, the last one first. The first needs no remainder, as the number ends there.
TensorId reshaped(Lowering& node, TensorId x, const Shape& to) {
  const Shape& from = node.shape(x);
  node.require(element_count(from) == element_count(to),
               fmt::format("{} elements cannot become {}", to_string(from), to_string(to)));
  Formula f(node);
  const std::vector<Expr> out = f.axes(to);
  std::vector<Expr> in(from.size(), integer(0));
  if (element_count(to) == 0) {
    f.body(f.read(x, std::move(in)));
    return f.emit(node.type(x));
  }
  for (size_t i = 0, o = 0; i < from.size() || o < to.size();) {
    const size_t i0 = i, o0 = o;
    int64_t in_count = i < from.size() ? from[i++] : 1, out_count = o < to.size() ? to[o++] : 1;
    while (in_count != out_count) {
      if (in_count < out_count)
        in_count *= from[i++];
      else
        out_count *= to[o++];
    }
    Expr linear = integer(0);
    for (size_t k = o0; k < o; ++k) linear = linear * integer(to[k]) + out[k];
    for (size_t k = i; k-- > i0;) {
      in[k] = k == i0 ? linear : linear % integer(from[k]);
      linear = linear / integer(from[k]);
    }
  }
  f.body(f.read(x, std::move(in)));
  return f.emit(node.type(x));
}

// Entries of the shape: -1 is what is left of the elements (one at most), 0 copies the input's dimension of
// that place, or is 0 where allowzero (opset 14) says so.
//
//   [2,3,4] by [0, -1]   ->   [2, 12]
//
// A product beyond kMaxElements counts as 0: such a shape fails in reshaped(), as no input has so many
// elements.
void reshape(Lowering& node) {
  const TensorId x = node.in(0);
  if (const auto declared = node.declared_for(1)) return node.out(0, reshaped(node, x, *declared));
  std::vector<int64_t> to = node.constant_ints(node.in(1), "the shape");
  const bool zero_is_zero = node.int_attr("allowzero", 0) != 0;
  int64_t known = 1;
  int64_t* inferred = nullptr;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 0 && !zero_is_zero) {
      node.require(d < node.shape(x).size(), fmt::format("dimension {} of the shape has nothing to copy", d));
      to[d] = node.shape(x)[d];
    }
    if (to[d] == -1) {
      node.require(inferred == nullptr, "the shape holds two -1");
      inferred = &to[d];
    } else {
      node.require(to[d] >= 0, fmt::format("the shape {} is negative", to_string(to)));
      known = known == 0 || to[d] > kMaxElements / known ? 0 : known * to[d];
    }
  }
  if (inferred) *inferred = known == 0 ? 0 : element_count(node.shape(x)) / known;
  node.out(0, reshaped(node, x, to));
}

// Dimension k of the output is dimension perm[k] of the input; without perm they are turned round. Axes of
// the nest are the output's dimensions in order:
//
//   perm {1, 2, 0}:  out[i,j,k] = in[k,i,j]
void transpose(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape& from = node.shape(x);
  std::vector<int64_t> order;
  for (int64_t d = node.rank(x); d-- > 0;) order.push_back(d);
  order = node.ints_attr("perm", order);
  node.require(order.size() == from.size(), "'perm' has the wrong length");
  Formula f(node);
  std::vector<Expr> in(from.size());
  for (int64_t d : order) {
    d = node.normalized_axis(d, node.rank(x));
    node.require(in[d].empty(), "'perm' is no permutation");
    in[d] = f.axis(from[d]);
  }
  f.body(f.read(x, std::move(in)));
  node.out(0, f.emit(node.type(x)));
}

// Everything before `axis` becomes one dimension, the rest another: always a matrix. Axis may be the rank
// itself, which leaves a second dimension of 1.
void flatten(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape& from = node.shape(x);
  int64_t axis = node.int_attr("axis", 1);
  const int64_t rank = node.rank(x);
  node.require(axis >= -rank && axis <= rank, fmt::format("axis {} is outside rank {}", axis, rank));
  if (axis < 0) axis += rank;
  node.out(0, reshaped(node, x,
                       {element_count(Shape(from.begin(), from.begin() + axis)),
                        element_count(Shape(from.begin() + axis, from.end()))}));
}

// Attribute `name` before opset 13, input 1 since. Empty when neither is there.
std::vector<int64_t> axes_operand(const Lowering& node) {
  if (node.opset() < 13) return node.ints_attr("axes", {});
  return node.has_input(1) ? node.constant_ints(node.in(1), "the axes") : std::vector<int64_t>{};
}

// Without axes all dimensions of 1 go; a named one must be 1. Axes that only the run knows are taken for
// those that lead to the declared shape; the elements are the same in any case.
void squeeze(Lowering& node) {
  const TensorId x = node.in(0);
  if (const auto declared = node.declared_for(1)) return node.out(0, reshaped(node, x, *declared));
  const Shape& from = node.shape(x);
  const bool all = node.opset() < 13 ? !node.has("axes") : !node.has_input(1);
  std::vector<bool> dropped(from.size());
  for (size_t d = 0; all && d < from.size(); ++d) dropped[d] = from[d] == 1;
  for (int64_t axis : axes_operand(node)) dropped[node.normalized_axis(axis, node.rank(x))] = true;
  Shape to;
  for (size_t d = 0; d < from.size(); ++d) {
    node.require(!dropped[d] || from[d] == 1, fmt::format("dimension {} of {} is not 1", d, to_string(from)));
    if (!dropped[d]) to.push_back(from[d]);
  }
  node.out(0, reshaped(node, x, to));
}

// Axes count in the result:  [3,4] with axes {0, -1}  ->  [1,3,4,1]
void unsqueeze(Lowering& node) {
  const TensorId x = node.in(0);
  if (const auto declared = node.declared_for(1)) return node.out(0, reshaped(node, x, *declared));
  const std::vector<int64_t> axes = axes_operand(node);
  const int64_t rank = node.rank(x) + static_cast<int64_t>(axes.size());
  std::vector<bool> added(rank);
  for (int64_t axis : axes) {
    const int64_t d = node.normalized_axis(axis, rank);
    node.require(!added[d], fmt::format("axis {} occurs twice", axis));
    added[d] = true;
  }
  Shape to;
  const Shape shape = node.shape(x);
  auto from = shape.begin();
  for (int64_t d = 0; d < rank; ++d) to.push_back(added[d] ? 1 : *from++);
  node.out(0, reshaped(node, x, to));
}

// One nest a part: each copies its operand to its place.
//
//   a [2,3] | b [2,4] along 1:       out[i, j] = a[i, j],  then  out[i, j + 3] = b[i, j]
//
// Empty parts have no nest, but a node has one at least: of empty parts alone the last one's.
void concat(Lowering& node) {
  node.require(node.input_count() > 0, "nothing to concatenate");
  Shape to = node.shape(node.in(0));
  const Type type = node.type(node.in(0));
  const int64_t axis = node.normalized_axis(node.attribute("axis").i, static_cast<int64_t>(to.size()));
  to[axis] = 0;
  Formula f(node);
  bool first = true;
  for (int k = 0; k < node.input_count(); ++k) {
    const TensorId part = node.in(k);
    const Shape& from = node.shape(part);
    node.require(node.type(part) == type && from.size() == to.size(), "the parts differ in type or rank");
    for (size_t d = 0; d < to.size(); ++d)
      node.require(static_cast<int64_t>(d) == axis || from[d] == to[d],
                   "the parts differ in a dimension other than the axis");
    const int64_t begin = to[axis];
    to[axis] += from[axis];
    if (from[axis] == 0 && (!first || k + 1 < node.input_count())) continue;
    if (!first) f.next_nest();
    first = false;
    std::vector<Expr> at = f.axes(from);
    f.body(f.read(part, at));
    at[axis] = at[axis] + integer(begin);
    f.store(at);
  }
  node.out(0, f.emit(type, to));
}

// Part k begins where part k - 1 ends, out_k[i] = x[begin_k + i]. The extents come from `split` (an attribute
// before opset 13), or are equal; where they do not divide the dimension, the last parts are smaller (opset
// 18). Extents that only the run knows are those that the model declares for the outputs, and a run with
// others ends with an error.
//
//   7 into 3:   3 3 1
void split(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape from = node.shape(x);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", 0), node.rank(x));
  const int64_t count = node.output_count();
  node.require(count > 0 && node.int_attr("num_outputs", count) == count, "the number of outputs is wrong");
  std::vector<int64_t> parts;
  if (node.opset() < 13) {
    parts = node.ints_attr("split", {});
  } else if (node.declared_for(1)) {
    for (int k = 0; k < static_cast<int>(count); ++k) {
      const auto declared = node.declared_shape(k);
      parts.push_back(declared && declared->size() == from.size() ? declared->at(axis) : -1);
    }
    parts = assumed_ints(node, node.in(1), parts);
  } else if (node.has_input(1)) {
    parts = node.constant_ints(node.in(1), "the split");
  }
  if (parts.empty()) {
    const int64_t chunk = (from[axis] + count - 1) / count;
    for (int64_t rest = from[axis]; static_cast<int64_t>(parts.size()) < count; rest -= parts.back())
      parts.push_back(std::min(chunk, rest));
  }
  int64_t total = 0;
  for (int64_t part : parts) {
    node.require(part >= 0 && part <= from[axis], "a part of the split is out of range");
    total += part;
  }
  node.require(static_cast<int64_t>(parts.size()) == count && total == from[axis],
               fmt::format("{} parts of together {} do not split {} into {} outputs", parts.size(), total,
                           to_string(from), count));
  int64_t begin = 0;
  for (int64_t k = 0; k < count; begin += parts[k++]) {
    if (!node.wants(static_cast<int>(k))) continue;
    Shape to = from;
    to[axis] = parts[k];
    Formula f(node);
    std::vector<Expr> at = f.axes(to);
    at[axis] = at[axis] + integer(begin);
    f.body(f.read(x, at));
    node.out(static_cast<int>(k), f.emit(node.type(x)));
  }
}

// x[start + step * i] for `count` values of i, in every dimension.
struct Range {
  int64_t start, step, count;
};

TensorId sliced(Lowering& node, TensorId x, const std::vector<Range>& ranges) {
  Formula f(node);
  std::vector<Expr> at;
  for (const Range& r : ranges) at.push_back(f.axis(r.count) * integer(r.step) + integer(r.start));
  f.body(f.read(x, at));
  return f.emit(node.type(x));
}

// Python's slice of a dimension: ends count from the back when negative, then they are held within what the
// step can reach. Of extent 5:
//
//   [1:-1]      start 1, step 1, count 3            [::-1]    start 4, step -1, count 5 (end below the first)
//   [3:100]     start 3, step 1, count 2            [4:1:-2]  start 4, step -2, count 2
//
// A step beyond the extent takes one element, so it is cut to that, and no product overflows.
Range python_slice(int64_t start, int64_t end, int64_t step, int64_t extent) {
  step = std::clamp<int64_t>(step, -extent - 1, extent + 1);
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, start, extent);
    return {start, step, (end - start + step - 1) / step};
  }
  start = std::clamp<int64_t>(start, -1, extent - 1);
  end = std::clamp<int64_t>(end, -1, start);
  return {start, step, (start - end - step - 1) / -step};
}

// Starts and steps that only the run knows, of a result whose shape the model declares: the ends are implied
// by it. Indices are clamped, so that a run that does not suit the declaration reads no memory but the
// tensor's. Which entry an axis has is found at run time, too: of entries for the same axis the last counts.
TensorId sliced_at_run_time(Lowering& node, TensorId x, const Shape& to) {
  const Shape from = node.shape(x);
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t count = element_count(node.shape(node.in(1)));
  node.require(to.size() == from.size() && count <= rank && element_count(from) > 0,
               "the declared shape does not fit");
  for (int k = 1; k <= 4; ++k)
    node.require(!node.has_input(k) || node.shape(node.in(k)) == Shape{count},
                 "starts, ends, axes and steps differ in length");
  Formula f(node);
  const std::vector<Expr> out = f.axes(to);
  std::vector<Expr> at = out;
  for (int64_t d = 0; d < rank; ++d) {
    Expr start = integer(0), step = integer(1);
    for (int64_t k = 0; k < count; ++k) {
      const auto element = [&](int input) {
        return cast(Type::kInt64, f.read(node.in(input), {integer(k)}));
      };
      const Expr axis = node.has_input(3) ? element(3) : integer(k);
      const Expr here = is_dimension(axis, d, rank);
      const Expr first = select(element(1) < 0, element(1) + integer(from[d]), element(1));
      start = select(here, min(max(first, 0), integer(from[d] - 1)), start);
      const Expr stride = node.has_input(4) ? element(4) : integer(1);
      step = select(here, min(max(stride, integer(-from[d])), integer(from[d])), step);
    }
    at[d] = min(max(start + out[d] * step, 0), integer(from[d] - 1));
  }
  f.body(f.read(x, at));
  return f.emit(node.type(x));
}

// Operands since opset 10, attributes before. Without axes the entries belong to the first dimensions;
// without steps they are 1.
void slice(Lowering& node) {
  const TensorId x = node.in(0);
  for (int k = 1; k <= 4 && node.opset() >= 10; ++k)
    if (const auto declared = node.declared_for(k))
      return node.out(0, sliced_at_run_time(node, x, *declared));
  const bool attributes = node.opset() < 10;
  const auto operand = [&](int k, const char* name) -> std::vector<int64_t> {
    if (attributes) return node.ints_attr(name, {});
    return node.has_input(k) ? node.constant_ints(node.in(k), name) : std::vector<int64_t>{};
  };
  const auto starts = operand(1, "starts"), ends = operand(2, "ends");
  auto axes = operand(3, "axes"), steps = operand(4, "steps");
  if (axes.empty())
    for (size_t k = 0; k < starts.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  if (steps.empty()) steps.assign(starts.size(), 1);
  node.require(ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
               "starts, ends, axes and steps differ in length");
  std::vector<Range> ranges;
  for (int64_t extent : node.shape(x)) ranges.push_back({0, 1, extent});
  for (size_t k = 0; k < starts.size(); ++k) {
    const int64_t d = node.normalized_axis(axes[k], node.rank(x));
    node.require(steps[k] != 0, "a step is 0");
    ranges[d] = python_slice(starts[k], ends[k], steps[k], node.shape(x)[d]);
  }
  node.out(0, sliced(node, x, ranges));
}

// Broadcasting works both ways: an entry of 1 keeps the input's extent, so [3,1] by [1,4] is [3,4].
void expand(Lowering& node) {
  const TensorId x = node.in(0);
  const auto declared = node.declared_for(1);
  const Shape wanted = declared ? *declared : node.constant_ints(node.in(1), "the shape");
  for (int64_t extent : wanted) node.require(extent >= 0, "the shape is negative");
  Formula f(node);
  f.body(f.broadcast(x, f.axes(broadcast_shape(node, {node.shape(x), wanted}))));
  node.out(0, f.emit(node.type(x)));
}

// out[i] = x[i % extent] in each dimension: the repeats of a tensor side by side.
void tile(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape from = node.shape(x);
  std::vector<int64_t> repeats;
  if (const auto declared = node.declared_for(1)) {
    node.require(declared->size() == from.size(), "the declared shape has the wrong rank");
    for (size_t d = 0; d < from.size(); ++d) repeats.push_back(from[d] > 0 ? declared->at(d) / from[d] : 0);
    repeats = assumed_ints(node, node.in(1), repeats);
  } else {
    repeats = node.constant_ints(node.in(1), "the repeats");
  }
  node.require(repeats.size() == from.size(), "'repeats' has the wrong length");
  Formula f(node);
  std::vector<Expr> at;
  for (size_t d = 0; d < from.size(); ++d) {
    node.require(repeats[d] >= 0 && repeats[d] < kMaxElements / std::max<int64_t>(from[d], 1),
                 "the repeats are out of range");
    const Expr out = f.axis(from[d] * repeats[d]);
    at.push_back(from[d] == 0 ? integer(0) : out % integer(from[d]));
  }
  f.body(f.read(x, at));
  node.out(0, f.emit(node.type(x)));
}

// DepthToSpace cuts the channels into `block` x `block` pixels; SpaceToDepth is its inverse. Pixel p = row *
// block + column of output channel c is input channel
//
//   DCR (depth, column, row)      p * channels + c            CRD      c * block^2 + p
//
// The axes are those of the parts, n, c, y, row, x, column; input and output index are both linear in them.
void depth_to_space(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape& from = node.shape(x);
  const int64_t b = node.attribute("blocksize").i;
  node.require(from.size() == 4 && b >= 1 && b < (1 << 20) && from[1] % (b * b) == 0,
               "blocksize does not fit");
  const int64_t channels = from[1] / (b * b);
  const bool crd = node.string_attr("mode", "DCR") == "CRD";
  Formula f(node);
  const auto i = f.axes({from[0], channels, from[2], b, from[3], b});
  const Expr pixel = i[3] * integer(b) + i[5];
  f.body(
      f.read(x, {i[0], crd ? i[1] * integer(b * b) + pixel : pixel * integer(channels) + i[1], i[2], i[4]}));
  f.store({i[0], i[1], i[2] * integer(b) + i[3], i[4] * integer(b) + i[5]});
  node.out(0, f.emit(node.type(x), {from[0], channels, from[2] * b, from[3] * b}));
}

void space_to_depth(Lowering& node) {
  const TensorId x = node.in(0);
  const Shape& from = node.shape(x);
  const int64_t b = node.attribute("blocksize").i;
  node.require(from.size() == 4 && b >= 1 && b < (1 << 20) && from[2] % b == 0 && from[3] % b == 0,
               "blocksize does not fit");
  Formula f(node);
  const auto i = f.axes({from[0], b, b, from[1], from[2] / b, from[3] / b});
  f.body(f.read(x, {i[0], i[3], i[4] * integer(b) + i[1], i[5] * integer(b) + i[2]}));
  f.store({i[0], (i[1] * integer(b) + i[2]) * integer(from[1]) + i[3], i[4], i[5]});
  node.out(0, f.emit(node.type(x), {from[0], from[1] * b * b, from[2] / b, from[3] / b}));
}

// Keeps the part of each matrix on one side of its k-th diagonal, the diagonal included; zeros elsewhere.
// With column - row as the number of a diagonal, of [3,4]:
//
//    0  1  2  3           upper, k = 1:  . x x x         lower, k = 0:  x . . .
//   -1  0  1  2                          . . x x                        x x . .
//   -2 -1  0  1                          . . . x                        x x x .
void trilu(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.rank(x) >= 2, "Trilu needs matrices");
  Formula f(node);
  const auto at = f.axes(node.shape(x));
  Expr k = integer(0);
  if (node.has_input(1)) {
    node.require(element_count(node.shape(node.in(1))) == 1, "k must be a scalar");
    k = node.is_constant(node.in(1))
            ? integer(std::clamp(node.constant_ints(node.in(1), "k")[0], -kMaxElements, kMaxElements))
            : cast(Type::kInt64, f.read(node.in(1), std::vector<Expr>(node.rank(node.in(1)), integer(0))));
  }
  const Expr diagonal = at.end()[-1] - at.end()[-2];
  const Expr keep = node.int_attr("upper", 1) ? k <= diagonal : diagonal <= k;
  const Expr value = f.read(x, at);
  f.body(select(keep, value, constant(value->type, 0)));
  node.out(0, f.emit(node.type(x)));
}

// Turns round the first sequence_lens[b] steps of batch element b; the rest stay. The outer clamp keeps a
// length that the standard does not allow from leaving the tensor.
void reverse_sequence(Lowering& node) {
  const TensorId x = node.in(0), lengths = node.in(1);
  const int64_t time = node.normalized_axis(node.int_attr("time_axis", 0), node.rank(x));
  const int64_t batch = node.normalized_axis(node.int_attr("batch_axis", 1), node.rank(x));
  const int64_t steps = node.shape(x)[time];
  node.require(node.shape(lengths) == Shape{node.shape(x)[batch]}, "one length a batch element is needed");
  Formula f(node);
  auto at = f.axes(node.shape(x));
  const Expr t = at[time];
  const Expr length = min(cast(Type::kInt64, f.read(lengths, {at[batch]})), integer(steps));
  at[time] = min(max(select(t < length, length - 1 - t, t), 0), integer(std::max<int64_t>(steps - 1, 0)));
  f.body(f.read(x, at));
  node.out(0, f.emit(node.type(x)));
}

}  // namespace

std::span<const OperatorRow> movement_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Concat", 1, concat},
      {"", "DepthToSpace", 1, depth_to_space},
      {"", "Expand", 8, expand},
      {"", "Flatten", 1, flatten},
      {"", "Identity", 1, identity},
      {"", "Reshape", 1, reshape},
      {"", "ReverseSequence", 10, reverse_sequence},
      {"", "Slice", 1, slice},
      {"", "SpaceToDepth", 1, space_to_depth},
      {"", "Split", 1, split},
      {"", "Squeeze", 1, squeeze},
      {"", "Tile", 1, tile},
      {"", "Transpose", 1, transpose},
      {"", "Trilu", 14, trilu},
      {"", "Unsqueeze", 1, unsqueeze},
  };
  return kRows;
}

}  // namespace arenac
