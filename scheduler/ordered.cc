#include "scheduler/ordered.h"

#include <algorithm>
#include <numeric>

#include "scheduler/dataflow.h"

namespace arenac {

Ordered best_order(const Graph& graph, const OrderLimits& limits) {
  Ordered best{assign_storage(graph, limits.deadline), {}};
  OrderReport& report = best.report;
  report.peak = report.file_peak = best.storage.peak;
  const Sharing sharing = possible_sharing(graph);
  const bool concats = std::any_of(sharing.moves.begin(), sharing.moves.end(), [](const Sharing::Move& move) {
    return move.kind == Sharing::Move::Kind::kPart;
  });
  LimitsHit hit;
  // The first gives the bound; where parts cannot be had one by one, the others say what can be.
  for (Parts parts : {Parts::kParts, Parts::kWhole, Parts::kCopied}) {
    const Dataflow flow = dataflow(graph, sharing, parts);
    const OrderResult found = optimal_order(flow.problem, limits);
    hit.insert(found.limits_hit.begin(), found.limits_hit.end());
    if (parts == Parts::kParts) report.lower_bound = found.lower_bound;
    if (report.peak <= report.lower_bound) break;
    std::vector<int> order = node_order(graph, flow, found.order);
    Storage storage = assign_storage(graph, order, {}, limits.deadline);
    if (storage.peak < report.peak) {
      report.peak = storage.peak;
      best.storage = std::move(storage);
      best.order = std::move(order);
    }
    if (!concats || report.peak <= report.lower_bound || has_passed(limits.deadline)) break;
  }
  report.found_peak = report.peak;
  report.proven = report.peak == report.lower_bound;
  // Copies in place of views can go below what any order with the views needs; of these nothing is known.
  if (report.peak < report.lower_bound) report.lower_bound = 0;
  if (!report.proven) best.storage.limits_hit.merge(hit);
  return best;
}

Ordered in_order(const Graph& graph, std::vector<int> (*order)(const OrderProblem& problem),
                 Deadline deadline) {
  if (order == file_order) {
    Ordered file{assign_storage(graph, deadline), {}};
    file.report.peak = file.report.file_peak = file.storage.peak;
    return file;
  }
  const Dataflow flow = dataflow(graph, possible_sharing(graph), Parts::kWhole);
  std::vector<int> nodes = node_order(graph, flow, order(flow.problem));
  Ordered result{assign_storage(graph, nodes, {}, deadline), {}, std::move(nodes)};
  result.report.peak = result.storage.peak;
  result.report.file_peak = assign_storage(graph, deadline).peak;
  return result;
}

Ordered in_storage(const Graph& graph, Ordered ordered, const StorageChoice& choice, Deadline deadline) {
  std::vector<int> order = ordered.order;
  if (order.empty()) {
    order.resize(graph.block.size());
    std::iota(order.begin(), order.end(), 0);
  }
  ordered.storage = assign_storage(graph, order, choice, deadline);
  return ordered;
}

}  // namespace arenac
