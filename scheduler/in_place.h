// Where an operand may lie so that a step writes its result over it, if it dies there.
//
//   y[i, j] = relu(x[i, j])           x as y
//   y[p] = x[p / 40, p % 40]          x dense in the bytes of y
//   y[i, j] = x[j, i] + 1             nowhere: elements of x would be overwritten before they are read
#pragma once

#include <optional>
#include <vector>

#include "scheduler/storage.h"
#include "scheduler/storage_facts.h"

namespace arenac {

// Per nest of a node the operands that may lie where it writes without harm from or to the node's other
// nests, in the order in which they are tried; none of a node that copies on purpose.
//
//   concat y of a and b      nest 0 writes y[:2]: a      nest 1 writes y[2:]: b
std::vector<std::vector<TensorId>> harmless_operands(const StorageFacts& facts, const Node& node,
                                                     Moves moves);

// The layout, in the storage of the result, in which a nest of the node reads each element of the operand x
// only where it writes; nothing where there is none, or where another operand shares the storage of x.
std::optional<Layout> place_in_result(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                      const Node& node, const Nest& nest, TensorId x);

}  // namespace arenac
