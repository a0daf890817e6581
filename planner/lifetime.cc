#include "planner/lifetime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "frontend/error.h"
#include "scheduler/liveness.h"

namespace arenac {
namespace {

[[noreturn]] void wrong_pin(const Pin& pin, const char* problem, std::vector<std::string> choices) {
  constexpr size_t kMost = 20;
  const size_t more = choices.size() - std::min(choices.size(), kMost);
  choices.resize(choices.size() - more);
  throw UserError(fmt::format("--pin {}={}: {}; there are: {}{}", pin.tensor, pin.pool, problem,
                              fmt::join(choices, ", "), more ? fmt::format(", and {} more", more) : ""),
                  Exit::kUsage);
}

// Tensors of these names, by the graph or by its inputs and outputs, which may have had other names.
std::vector<TensorId> tensors_named(const Graph& graph, const std::string& name) {
  std::vector<TensorId> ids;
  for (size_t id = 0; id < graph.tensors.size(); ++id)
    if (graph.tensors[id].name == name) ids.push_back(static_cast<TensorId>(id));
  for (size_t k = 0; k < graph.inputs.size(); ++k)
    if (graph.input_names[k] == name) ids.push_back(graph.inputs[k]);
  for (size_t k = 0; k < graph.outputs.size(); ++k)
    if (graph.output_names[k] == name) ids.push_back(graph.outputs[k]);
  return ids;
}

void apply(const Pin& pin, const Graph& graph, Lifetimes& all) {
  std::vector<std::string> pools, buffers;
  for (const Pool& pool : all.problem.pools) pools.push_back(pool.name);
  const auto pool = std::find(pools.begin(), pools.end(), pin.pool);
  if (pool == pools.end()) wrong_pin(pin, "no pool has this name", pools);
  bool found = false;
  for (TensorId id : tensors_named(graph, pin.tensor)) {
    if (all.buffer_of[id] < 0) continue;
    std::vector<int>& allowed = all.problem.buffers[all.buffer_of[id]].pools;
    const int wanted = static_cast<int>(pool - pools.begin());
    if (std::find(allowed.begin(), allowed.end(), wanted) == allowed.end())
      wrong_pin(pin, "its storage is also that of a tensor pinned to another pool", {pools[allowed[0]]});
    allowed = {wanted};
    found = true;
  }
  if (found) return;
  for (const Buffer& buffer : all.problem.buffers) buffers.push_back(buffer.name);
  wrong_pin(pin, "no tensor that lies in a pool has this name", buffers);
}

}  // namespace

Lifetimes lifetimes(const Schedule& schedule, Io io, int64_t align, std::vector<Pool> pools,
                    const std::vector<Pin>& pins) {
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
  if (pools.empty()) pools = {{"arena"}};
  for (Pool& pool : pools) pool.align = std::max(pool.align, align);
  std::vector<int> every_pool(pools.size());
  std::iota(every_pool.begin(), every_pool.end(), 0);
  all.problem.pools = std::move(pools);
  all.buffer_of.assign(graph.tensors.size(), -1);
  const auto occupied = occupancies(graph, schedule.steps, schedule.layouts);
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    if (occupied[id].empty() || external[id] || bytes[id] == 0) continue;
    all.buffer_of[id] = static_cast<int>(all.problem.buffers.size());
    // Half-steps to steps: every step touched.
    all.problem.buffers.push_back({graph.tensors[id].name, bytes[id], align, occupied[id].front().begin / 2,
                                   (occupied[id].back().end + 1) / 2, every_pool});
  }
  for (size_t id = 0; id < graph.tensors.size(); ++id)
    all.buffer_of[id] = all.buffer_of[schedule.layouts[id].root];
  for (const Pin& pin : pins) apply(pin, graph, all);
  return all;
}

}  // namespace arenac
