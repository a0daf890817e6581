#include "scheduler/plain_schedules.h"

#include <algorithm>
#include <utility>

#include "scheduler/accumulate.h"
#include "scheduler/hoisted_sums.h"
#include "scheduler/input_copies.h"
#include "scheduler/made_schedules.h"
#include "scheduler/phases.h"
#include "scheduler/recurrences.h"
#include "scheduler/second_passes.h"
#include "scheduler/windowed.h"

namespace arenac {
namespace {

// What storage is tried with, beside no choice at all.
const StorageChoice kStorageChoices[] = {{Moves::kUnshared},
                                         {Moves::kFirst, Products::kRows},
                                         {.moves = Moves::kUnshared, .windowed = Windowed::kPlanes},
                                         {.products = Products::kRows, .factors = Factors::kAsWritten}};

// What storage of a graph is tried with beside no choice; `is_whole`: it pools whole images.
std::vector<StorageChoice> choices_for(const Graph& graph, bool is_whole) {
  std::vector<StorageChoice> choices(std::begin(kStorageChoices), std::end(kStorageChoices));
  // What pools images row by row would add up in another order by columns.
  if (is_whole && reads_whole_columns(graph))
    choices.push_back({.moves = Moves::kUnshared, .windowed = Windowed::kColumns});
  return choices;
}

// What a rewriting made of a graph, which has more tensors then; null where it is the graph as it was.
std::shared_ptr<const Graph> changed(Graph made, const Graph& from) {
  if (made.tensors.size() == from.tensors.size()) return nullptr;
  return std::make_shared<const Graph>(std::move(made));
}

// The file's order, by phases, the best one: those that differ.
std::vector<Ordered> orders_of(const Graph& graph, Deadline deadline) {
  std::vector<Ordered> orders = {in_order(graph, file_order, deadline)};
  Ordered best = best_order(graph, {.deadline = deadline});
  orders[0].report = best.report;
  orders[0].report.peak = best.report.file_peak;
  const std::vector<int> by_phases = order_by_phases(graph, orders[0].storage);
  if (!std::ranges::is_sorted(by_phases) && by_phases != best.order) {
    orders.push_back(in_storage(graph, {{}, best.report, by_phases}, {}, deadline));
    orders.back().report.peak = orders.back().storage.peak;
  }
  if (best.report.peak < best.report.file_peak) orders.push_back(std::move(best));
  return orders;
}

// An order with its storage and with those of the choices that differ.
std::vector<Ordered> in_storages(const Graph& graph, Ordered ordered,
                                 const std::vector<StorageChoice>& choices, Deadline deadline) {
  std::vector<Ordered> stored = {std::move(ordered)};
  for (const StorageChoice& choice : choices) {
    Ordered other = in_storage(graph, stored[0], choice, deadline);
    const auto same = [&](const Ordered& one) { return one.storage.layouts == other.storage.layouts; };
    if (std::ranges::none_of(stored, same)) stored.push_back(std::move(other));
  }
  return stored;
}

}  // namespace

PlainSchedules plain_schedules(const std::shared_ptr<const Graph>& graph, const Target& target,
                               Deadline deadline) {
  std::vector<std::shared_ptr<const Graph>> graphs = {graph};
  if (auto split = changed(with_accumulators(*graph), *graph)) graphs.push_back(std::move(split));
  PlainSchedules plain;
  plain.last = graphs.back();
  if (auto rows = changed(with_recurrences(*plain.last), *plain.last)) graphs.push_back(std::move(rows));
  std::vector<Schedule>& all = plain.schedules;
  for (const auto& g : graphs) {
    if (!all.empty() && has_passed(deadline)) break;
    if (g != graph && plain.accumulating == 0) plain.accumulating = all.size();
    std::vector<Ordered> orders = orders_of(*g, deadline);
    const std::vector<StorageChoice> choices = choices_for(*g, g == graph);
    for (Ordered& ordered : orders)
      for (Ordered& one : in_storages(*g, std::move(ordered), choices, deadline))
        all.push_back(whole_layers(std::move(one), g, target));
  }
  return plain;
}

std::vector<Schedule> second_passes(const std::shared_ptr<const Graph>& graph, const Target& target,
                                    Deadline deadline) {
  const auto whole = [&](const std::shared_ptr<const Graph>& g, const StorageChoice& choice) {
    return whole_layers(in_storage(*g, in_order(*g, file_order, deadline), choice), g, target);
  };
  if (has_passed(deadline)) return {};
  std::vector<Schedule> all;
  const auto add = [&](std::vector<Graph> graphs, const std::vector<StorageChoice>& choices) {
    for (Graph& again : graphs) {
      const auto g = std::make_shared<const Graph>(std::move(again));
      for (const StorageChoice& choice : choices)
        if (!has_passed(deadline)) all.push_back(whole(g, choice));
    }
  };
  const StorageChoice unshared = {Moves::kUnshared}, in_lanes = {.products = Products::kRows},
                      as_written = {.products = Products::kRows, .factors = Factors::kAsWritten};
  add(with_second_passes(whole(graph, unshared)), {unshared});
  // Where factors lie as they are written their rows can be told apart, too.
  add(with_passes_behind_mixing(whole(graph, as_written)), {in_lanes, as_written});
  return all;
}

std::vector<std::shared_ptr<const Graph>> bases_of(const Graph& graph, Freedom freedom,
                                                   const Target& target) {
  std::vector<std::shared_ptr<const Graph>> all = {borrowed(graph)};
  if (freedom > Freedom::kWholeLayers) return all;
  if (auto copied = changed(with_input_copies(graph, target), graph)) all.front() = std::move(copied);
  const Graph& first = *all.front();
  if (auto hoisted = changed(with_hoisted_sums(first), first)) all.push_back(std::move(hoisted));
  return all;
}

}  // namespace arenac
