#include "scheduler/storage_facts.h"

#include <algorithm>

namespace arenac {

// Row-major are the caller's tensors, those that several steps write (which must agree on how they lie), what
// C kernels take, and recurrences, whose rows are those of dimension 0.
StorageFacts storage_facts(const Graph& graph, const std::vector<Step>& steps,
                           std::vector<const Node*> copied) {
  const size_t n = graph.tensors.size();
  const std::vector<bool> none(n);
  StorageFacts facts{graph, std::move(copied), {}, none, none, none, none};
  facts.readers.resize(n);
  for (const Step& step : steps)
    for (TensorId id : is_recurrence(*step.node) ? tensors_read(*step.node) : step.node->reads)
      facts.readers[id].push_back(step.node);
  for (TensorId id : graph.outputs) facts.is_output[id] = facts.row_major[id] = true;
  for (TensorId id : graph.inputs) facts.is_input[id] = facts.row_major[id] = true;
  std::vector<int> writers(n);
  for (const Step& step : steps) {
    if (step.kind != StepKind::kRun) continue;
    for (TensorId id : step.node->writes)
      if (++writers[id] > 1) facts.assigned[id] = facts.row_major[id] = true;
    if (std::holds_alternative<Call>(step.node->body))
      for (const auto* operands : {&step.node->reads, &step.node->writes})
        for (TensorId id : *operands) facts.row_major[id] = true;
    if (is_recurrence(*step.node)) facts.row_major[step.node->writes[0]] = true;
    // an iteration writes a piece of it
    if (writes_by_iteration(*step.node)) facts.assigned[step.node->writes[0]] = true;
  }
  return facts;
}

// A node that lists it twice counts as two.
const Node* only_reader(const StorageFacts& facts, TensorId id) {
  return facts.readers[id].size() == 1 ? facts.readers[id][0] : nullptr;
}

// An output has memory of its own, and what is assigned is written elsewhere, too.
bool may_be_view(const StorageFacts& facts, const Node& node) {
  if (node.is_copy || node.writes.size() != 1 || std::ranges::count(facts.copied, &node) > 0) return false;
  const TensorId out = node.writes[0];
  return !facts.is_output[out] && !facts.assigned[out] && facts.count(out) > 0;
}

// What is fed row by row is copied to memory of its own, but in the rows that come.
bool is_in_callers_order(const StorageFacts& facts, TensorId storage) {
  return facts.is_input[storage] || is_fed(facts.graph, storage);
}

}  // namespace arenac
