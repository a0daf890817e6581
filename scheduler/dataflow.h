// The bridge from graphs to orders: what the top-level nodes of a graph read, write and may share.
//
//   conv ─▶ relu ─▶ slice ─▶ conv2        operators: conv, relu, conv2; one tensor for conv and relu (in
//   place)
//                                         and the slice of it (a view)
#pragma once

#include <vector>

#include "scheduler/order.h"
#include "scheduler/storage.h"

namespace arenac {

// How parts that could lie in a concat's storage are counted:
//   kCopied   they do not, the concat copies them;
//   kWhole    the storage is there from its first part on, as assign_storage() has it;
//   kParts    each part from its writer on, as if storage could grow: no more than either of the others.
enum class Parts : uint8_t { kCopied, kWhole, kParts };

// A control node is one operator, with what lives inside as workspace. Graph inputs and outputs are the
// caller's: they are free, as are constants.
struct Dataflow {
  OrderProblem problem;
  std::vector<int> nodes;  // per operator: index in graph.block
};
Dataflow dataflow(const Graph& graph, const Sharing& sharing, Parts parts);

// The order of all top-level nodes that runs the operators in this order, and views before who reads them.
std::vector<int> node_order(const Graph& graph, const Dataflow& flow, const std::vector<int>& operators);

}  // namespace arenac
