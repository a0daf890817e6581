// What storage asks about tensors, whatever becomes of them: who reads them, and whose they are.
//
//   x ── conv ── c ── relu ── r ── fft ── y      x, y: the caller's, row-major
//                                                c: read by conv's relu alone
//                                                r: row-major, for the kernel that reads it takes it so
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

struct StorageFacts {
  const Graph& graph;
  std::vector<const Node*> copied;                // nodes that stay copies although they could be views
  std::vector<std::vector<const Node*>> readers;  // per tensor, in the order of the steps
  std::vector<bool> is_input, is_output;          // per tensor: of the graph
  std::vector<bool> assigned;   // per tensor: written at several steps, or piece by piece in iterations
  std::vector<bool> row_major;  // per tensor: lies so, dense, whatever its readers would like

  int64_t count(TensorId id) const { return element_count(graph.tensors[id].shape); }
};

// Of the steps with all nodes.
StorageFacts storage_facts(const Graph& graph, const std::vector<Step>& steps,
                           std::vector<const Node*> copied);

// Null where there are none or several.
const Node* only_reader(const StorageFacts& facts, TensorId id);

// Whether the result of the node could be a view as far as it alone tells.
bool may_be_view(const StorageFacts& facts, const Node& node);

// Whether somebody else chose the order of dimensions of the storage.
bool is_in_callers_order(const StorageFacts& facts, TensorId storage);

}  // namespace arenac
