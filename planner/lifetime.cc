#include "planner/lifetime.h"

#include <algorithm>

#include "scheduler/liveness.h"

namespace arenac {

Lifetimes lifetimes(const Schedule& schedule, Io io, int64_t align) {
  const Graph& graph = *schedule.graph;
  std::vector<bool> external(graph.tensors.size());
  if (io == Io::kExternal) {
    for (TensorId id : graph.inputs) external[id] = true;
    for (TensorId id : graph.outputs) external[id] = true;
  }
  std::vector<int64_t> bytes(graph.tensors.size());
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const Tensor& tensor = graph.tensors[id];
    const Layout& layout = schedule.layouts[id];
    const int64_t span = span_of(layout, tensor.shape);
    if (span > 0)
      bytes[layout.root] = std::max(bytes[layout.root], (layout.offset + span) * size_of(tensor.type));
  }
  Lifetimes all;
  all.problem.pools = {{"arena", std::nullopt, align}};
  all.buffer_of.assign(graph.tensors.size(), -1);
  const auto occupied = occupancies(graph, schedule.steps, schedule.layouts);
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    if (occupied[id].empty() || external[id] || bytes[id] == 0) continue;
    all.buffer_of[id] = static_cast<int>(all.problem.buffers.size());
    // Half-steps to steps: every step touched.
    all.problem.buffers.push_back({graph.tensors[id].name, bytes[id], align, occupied[id].front().begin / 2,
                                   (occupied[id].back().end + 1) / 2});
  }
  for (size_t id = 0; id < graph.tensors.size(); ++id)
    all.buffer_of[id] = all.buffer_of[schedule.layouts[id].root];
  return all;
}

}  // namespace arenac
