// Tensors that their last readers wait for, in memory, while what these read besides is made of all of them.
//
//   t -> mean -> gate -+            t -> pool -> conv -> conv -> resize -+
//   |                  v            |                                    v
//   +---------------> mul           +---------------------------------> concat
//
//   a reduction of t                a deep branch: its convolutions look far ahead, so that most rows of t
//                                   are there when the first row of the result is
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

struct Awaited {
  TensorId tensor;
  std::set<const Node*> readers;  // nodes of the graph's block: those that wait
};

// Of a schedule of whole layers, those that wait for a reduction of the tensor.
std::vector<Awaited> behind_reductions(const Schedule& whole);

// Those that wait for what is made of the tensor, or of what it is made of, in at most half of its rows: the
// few largest that have a history, the largest first.
std::vector<Awaited> across_scales(const Schedule& whole);

// The nodes that compute the tensor, in their order, from inputs, constants and tensors that are far smaller.
// Nothing where these are none or many, or of control flow, or read what the caller passes row by row.
std::optional<std::vector<const Node*>> history_of(TensorId tensor, const Graph& graph);

}  // namespace arenac
