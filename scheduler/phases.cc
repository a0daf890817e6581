#include "scheduler/phases.h"

#include <algorithm>
#include <numeric>

#include "scheduler/step_facts.h"

namespace arenac {

std::vector<int> order_by_phases(const Graph& graph, const Storage& storage) {
  std::vector<int> order(graph.block.size());
  std::iota(order.begin(), order.end(), 0);
  // What control flow assigns has more to keep to than who reads what.
  const auto is_plain = [](const Node& node) {
    return std::holds_alternative<Nests>(node.body) || std::holds_alternative<Call>(node.body);
  };
  if (!std::ranges::all_of(graph.block, is_plain)) return order;
  const StepFacts facts = step_facts(graph, storage.steps, storage.layouts);
  std::vector<int> phase_of_tensor(graph.tensors.size());
  const auto waits_for = [&](int reader, TensorId tensor) {
    const int writer = facts.writer[facts.source[tensor]];
    if (reader < 0 || writer < 0 || facts.steps[writer].slabs.count <= 1) return false;
    const auto& pulls = facts.steps[reader].pulls;
    const auto pull = std::ranges::find(pulls, writer, &Pull::producer);
    return pull == pulls.end() || wants_whole(*pull, facts);
  };
  std::vector<int> phases;  // per node
  for (const Node& node : graph.block) {
    int& phase = phases.emplace_back(0);
    const int step = node.writes.empty() ? -1 : facts.writer[node.writes[0]];  // -1: of a view
    for (const TensorId id : node.reads)
      phase = std::max(phase, phase_of_tensor[id] + static_cast<int>(waits_for(step, id)));
    for (const TensorId id : node.writes) phase_of_tensor[id] = std::max(phase_of_tensor[id], phase);
  }
  std::ranges::stable_sort(order, {}, [&](int node) { return phases[static_cast<size_t>(node)]; });
  return order;
}

}  // namespace arenac
