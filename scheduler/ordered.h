// Storage in one order or another.
#pragma once

#include "scheduler/order.h"
#include "scheduler/schedule.h"
#include "scheduler/storage.h"

namespace arenac {

struct Ordered {
  Storage storage;
  OrderReport report;
  std::vector<int> order = {};  // top-level nodes, by index in graph.block; empty: the file's
};

// The order of the lowest peak that the search finds, judged by the storage that it gets; the file's order
// where that is as good.
Ordered best_order(const Graph& graph, const OrderLimits& limits = {});

// Whatever order a rule gives; the report has no lower bound.
Ordered in_order(const Graph& graph, std::vector<int> (*order)(const OrderProblem& problem),
                 Deadline deadline = kNoDeadline);

// The same order, in other storage.
Ordered in_storage(const Graph& graph, Ordered ordered, const StorageChoice& choice,
                   Deadline deadline = kNoDeadline);

}  // namespace arenac
