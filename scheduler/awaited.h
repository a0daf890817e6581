// Tensors that their last readers wait for, in memory, while what these read besides is made of all of them.
//
//   t -> mean -> gate -+            t -> pool -> conv -> conv -> resize -+
//   |                  v            |                                    v
//   +---------------> mul           +---------------------------------> concat
//
//   a reduction of t                a deep branch: its convolutions look far ahead, so that most rows of t
//                                   are there when the first row of the result is
#pragma once

#include <set>
#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

struct Awaited {
  TensorId tensor;
  std::set<const Node*> readers;          // nodes of the graph's block: those that wait
  std::vector<const Node*> made_by = {};  // the nodes that compute it; none behind reductions
  std::set<const Node*> put_off = {};     // behind mixing, from readers on: what is better done late
};

struct AwaitedTensors {
  // Those that wait for a reduction of the tensor.
  std::vector<Awaited> behind_reductions;
  // Those that wait for what is made of the tensor, or of what it is made of, in at most half of its rows:
  // the few largest, the largest first, of those that few nodes compute from inputs, constants and tensors
  // that are far smaller, without control flow and what the caller passes row by row.
  std::vector<Awaited> across_scales;
};

// Of a schedule of whole layers.
AwaitedTensors awaited_tensors(const Schedule& whole);

// Those that a node without products makes of one tensor that is kept all the same, and that are read in two
// ways: for a step that mixes rows (takes all of what is made of them, or adds it up) and, waiting for that,
// row by row beside its result:
//
//   x -+-> norm -+-> keys, values (of all tokens) -+
//      |         +-> query (of a token) ---------> attention -> add
//      +---------------------------------------------------------+
std::vector<Awaited> awaited_behind_mixing(const Schedule& whole);

}  // namespace arenac
