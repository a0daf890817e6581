// Operators that only move elements: every one is out[i...] = in[some index of i...]. Which of them are
// views, and so cost nothing, the scheduler finds from the index expressions.
#include <fmt/format.h>

#include "frontend/ops.h"

namespace arenac {
namespace {

void identity(Lowering& node) { node.out(0, node.in(0)); }

// The same elements, in row-major order, under another shape.
//
// Both shapes are cut into the smallest groups of dimensions of equal product, and each group is re-indexed
// on its own, so that index expressions stay as simple as the reshape is.
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

void reshape(Lowering& node) {
  const TensorId x = node.in(0);
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
      known *= std::max<int64_t>(to[d], 1) > (int64_t{1} << 40) / known ? 0 : to[d];
    }
  }
  if (inferred) *inferred = known == 0 ? 0 : element_count(node.shape(x)) / known;
  node.out(0, reshaped(node, x, to));
}

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

constexpr OperatorRow kRows[] = {
    {"", "Identity", 1, identity},
    {"", "Reshape", 5, reshape},
    {"", "Transpose", 1, transpose},
};

}  // namespace

std::span<const OperatorRow> movement_operators() { return kRows; }

}  // namespace arenac
