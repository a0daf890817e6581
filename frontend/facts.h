// Facts derived from a nest by small numeric arithmetic: affine forms and intervals. No symbolic engine.
//
//   affine_form(axis(1) * 2 + axis(3) - 1)          ->  -1 + 2*i1 + 1*i3
//   interval(axis(1) * 2 + axis(3) - 1, nest axes)  ->  [-1, 2*(extent1-1) + extent3-1)
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

// a / b rounded down, and up.
int64_t floor_div(int64_t a, int64_t b);
int64_t ceil_div(int64_t a, int64_t b);

// constant + sum of coefficient * axis, modulo 2^64 as an Expr of type int64 is; axes ascending, no zero
// coefficients. Negative axes are loop iterations.
struct Affine {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;

  int64_t coefficient(int axis) const;
  bool operator==(const Affine&) const = default;
};

Affine operator+(const Affine& a, const Affine& b);
Affine operator*(const Affine& a, int64_t factor);

std::optional<Affine> affine_form(const Expr& index);

// Without the axes of the nest that stand still: those of extent 1.
Affine without_still_axes(Affine form, const Nest& nest);

// The factor of one axis in an index that is linear in it, whatever else it is: 8 for i2 in 8*i2 + i1 % 3.
std::optional<int64_t> coefficient_along(const Expr& index, int axis);

// sum(strides[d] * indices[d]) as an affine form of the axes, if it is one. Division and remainder of one
// linear index recombine where the strides fit: 12*((i/3)) + 4*(i%3) is 4*i.
struct Interval;
std::optional<Affine> affine_address(const std::vector<Expr>& indices, const std::vector<int64_t>& strides,
                                     const std::vector<Interval>& axes);

// Calls `visit` with every expression of the nest: indices of the write, of bounds, then body and finish, if
// there are any. Of a nest that is not const, `visit` may exchange them.
template <typename OneNest, typename Visit>
void visit_expressions(OneNest& nest, const Visit& visit) {
  for (auto& index : nest.store) visit(index);
  for (auto& bound : nest.where) visit(bound.index);
  if (!nest.body.empty()) visit(nest.body);
  if (!nest.finish.empty()) visit(nest.finish);
}

// The nest with substitute() of each of its expressions.
Nest with_substituted(Nest nest, const std::function<Expr(const Expr&)>& replace);

// Calls `visit` with every read of the nest.
template <typename Visit>
void visit_reads(const Nest& nest, const Visit& visit) {
  visit_expressions(nest, [&](const Expr& root) {
    any_of(root, [&](const Expr& e) {
      if (e->op == Op::kRead) visit(e);
      return false;
    });
  });
}

// Whether the expression is the trip number of a loop around its nest.
bool is_iteration(const Expr& e);
// Whether that decides where the node writes.
bool writes_by_iteration(const Node& node);

// Whether the axis occurs in the expression; an empty one names none.
bool names_axis(const Expr& e, int axis);
// The dimension whose index is the axis alone, if it occurs in no other.
std::optional<size_t> dimension_along(const std::vector<Expr>& indices, int axis);

// Whether an expression of one of the node's nests is 0 whatever the run brings: a product with a factor that
// is, the other factors finite.
bool is_zero_product(const Expr& e, const Node& node, const Graph& graph);

// Half-open.
struct Interval {
  int64_t begin, end;
  bool operator==(const Interval&) const = default;
};

struct ClosedInterval {
  int64_t low, high;
  bool operator==(const ClosedInterval&) const = default;
};

// What an integer expression can be when every axis runs over `axes`. Reads of constants span their values,
// other reads their type, and so does what may leave the type at one end and come in at the other: of 64 bits
// [INT64_MIN, INT64_MAX] says that nothing is known. uint64 counts as its bits in an int64.
ClosedInterval closed_interval(const Expr& e, const std::vector<Interval>& axes,
                               std::span<const Tensor* const> reads);
// The same, half-open; INT64_MAX as an end stands for no end at all.
Interval interval(const Expr& e, const std::vector<Interval>& axes, std::span<const Tensor* const> reads);
std::vector<Interval> axis_intervals(const Nest& nest);

// Index arithmetic made smaller with the axes' ranges, of the same value at every point: (4*i0 + i1) / 4 is
// i0 when 0 <= i1 < 4, i0 % 8 is i0 when 0 <= i0 < 8.
Expr simplify_index(const Expr& index, const std::vector<Interval>& axes);

}  // namespace arenac
