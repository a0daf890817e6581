// An order for rows: what waits for all of a tensor comes after whatever does not.
//
//   cat ─▶ softmax ─▶ boxes ═▶ corners        corners wait for all of boxes: as early as in the file, before
//   cat ─▶ classes                            classes, all of cat would be kept until then
//
//   cat softmax boxes classes | corners       a few rows of cat, which softmax and classes read in turns
#pragma once

#include <vector>

#include "scheduler/storage.h"

namespace arenac {

// The top-level nodes of a graph, by index in graph.block, by how many such waits there are before them, else
// in the file's order. `storage` is that of the file's order.
std::vector<int> order_by_phases(const Graph& graph, const Storage& storage);

}  // namespace arenac
