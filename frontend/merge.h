// What merging nodes into one is made of.
#pragma once

#include <optional>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

// The operands of a node in the making.
struct Operands {
  std::vector<TensorId> ids;
  int of(TensorId id);  // added when new
};

// The node, which has nests, without the operands that none of them reads; each of the others once.
Node with_used_operands(Node node);

// Per axis of a nest the dimension that it indexes, where `indices` of a tensor of `shape` name every axis
// of more than one point once and reach every element. -1: none, the axis is 0.
//
//   t[j, i, 0] of shape [5, 3, 1], axes {i: 3, j: 5, k: 1}   ->   {1, 0, -1}
std::optional<std::vector<int>> dimension_of_axes(const std::vector<Expr>& indices, const Shape& shape,
                                                  const std::vector<Axis>& axes);

// Per tensor how many nodes write it, in all blocks. What an iteration writes a slice of counts as two: the
// tensor outlives the iteration.
std::vector<int> times_written(const Graph& graph);

// Per tensor how many nodes read it, in all blocks, and once more where it is an output.
std::vector<int> times_read(const Graph& graph);
// How many reads of an operand are in an expression; in all of a nest.
int times_read(const Expr& e, int operand);
int times_read(const Nest& nest, int operand);

// Without a combination, bounds or a finish: the body is the element.
bool is_plain(const Nest& nest);

// The body of one of the node's nests with `axes` in place of its axes: an expression of a node with
// `operands`.
Expr element_at(const Node& node, const Nest& nest, const std::vector<Expr>& axes, Operands& operands);

// The element at `indices` of the result, of `shape`, of a node that is one plain nest with a store that
// dimension_of_axes accepts: an expression of a node with `operands`.
Expr element_of(const Node& node, const Shape& shape, const std::vector<Expr>& indices, Operands& operands);

// Whether the expression is known before the run but for the axes of its nest: reads of constants only, no
// sum, no number of an iteration.
bool is_fixed(const Expr& e, const Operands& operands, const Graph& graph);

// The tensor whose element at axis(0), axis(1), ... is `element`, a fixed expression.
Value fixed_value(const Shape& shape, const Expr& element, const Operands& operands, const Graph& graph);

// The same value read from a constant that is added, where the expression is fixed, names one axis of the
// nest at most, and the constants that it reads are as long; else the expression as it is.
Expr tabulated(const Expr& e, const Nest& nest, Operands& operands, Graph& graph);

}  // namespace arenac
