#include <algorithm>

#include "codegen/emit.h"
#include "codegen/weights.h"
#include "scheduler/groups.h"

namespace arenac {
namespace {

MapIo io_entry(const Graph& graph, TensorId id, const std::string& name, IoKind kind) {
  const Tensor& tensor = graph.tensors[id];
  return {name, kind, info(tensor.type).name, tensor.shape, bytes_of(tensor)};
}

// Of a step in a group, the rows that its first slab writes; none where all of them are one slab.
std::optional<RowRange> first_rows(const Schedule& schedule, const std::vector<Rows>& rows, size_t step) {
  const Stage* stage = stage_of(schedule, step);
  if (!stage) return {};
  const Node& node = *schedule.steps[step].node;
  const Slabs slabs = slabs_of_stage(*stage, slabs_of(node, *schedule.graph, schedule.layouts, rows), node);
  if (slabs.count <= 1) return {};
  for (const Interval& written : slabs.write.rows)
    if (written.begin < written.end) return RowRange{written.begin, written.end};
  return {};
}

// Multiply-accumulates that each step does again.
std::vector<int64_t> work_again_of(const Schedule& schedule) {
  std::vector<int64_t> all(schedule.steps.size());
  for (const Group& group : schedule.groups) {
    const std::vector<int64_t> work = work_again(group, schedule.steps);
    std::copy(work.begin(), work.end(), all.begin() + group.begin);
  }
  return all;
}

std::vector<MapStep> map_steps(const Schedule& schedule, const std::vector<Rows>& rows) {
  std::vector<MapStep> steps;
  const std::vector<int64_t> again = work_again_of(schedule);
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    constexpr const char* kMarks[] = {"", "", " else", " end", "", " end"};
    steps.push_back({static_cast<int64_t>(s), step.node->origin,
                     step.node->op + kMarks[static_cast<int>(step.kind)], first_rows(schedule, rows, s),
                     step.kind == StepKind::kRun ? multiply_accumulates(*step.node) + again[s] : 0});
  }
  return steps;
}

// Of a row not all need be there.
void mark_rings(const Schedule& schedule, const Lifetimes& lifetimes, const std::vector<Rows>& rows,
                MemoryMap& map) {
  for (size_t id = 0; id < schedule.layouts.size(); ++id) {
    const Layout& layout = schedule.layouts[id];
    const int buffer = lifetimes.buffer_of[id];
    if (layout.root != static_cast<TensorId>(id) || layout.ring.kept == 0 || buffer < 0) continue;
    const int64_t kept = (layout.ring.size() + rows[id].size - 1) / rows[id].size;
    map.buffers[buffer].rows = KeptRows{kept, rows[id].count};
  }
}

bool in_use(const Plan& plan, const Problem& problem, const Overlap& o) {
  const int64_t distance = plan.placements[o.above].offset - plan.placements[o.below].offset;
  return distance >= o.distance && distance < problem.buffers[o.below].size &&
         -distance < problem.buffers[o.above].size;
}

}  // namespace

MemoryMap make_map(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan, Io io,
                   std::optional<int64_t> layerwise_arena) {
  const Graph& graph = *schedule.graph;
  MemoryMap map;
  map.model = graph.name;
  for (size_t p = 0; p < plan.pools.size(); ++p)
    map.pools.push_back({lifetimes.problem.pools[p].name, plan.pools[p].size,
                         lifetimes.problem.pools[p].capacity, lifetimes.problem.pools[p].align,
                         plan.pools[p].lower_bound});
  for (size_t b = 0; b < lifetimes.problem.buffers.size(); ++b) {
    const Buffer& buffer = lifetimes.problem.buffers[b];
    map.buffers.push_back({static_cast<int64_t>(b), buffer.name,
                           lifetimes.problem.pools[plan.placements[b].pool].name, plan.placements[b].offset,
                           buffer.size, buffer.begin, buffer.end});
  }
  const auto mark = [&](TensorId id, BufferKind kind) {
    if (lifetimes.buffer_of[id] >= 0) map.buffers[lifetimes.buffer_of[id]].kind = kind;
  };
  for (size_t k : of_caller(lifetimes, graph.inputs)) mark(graph.inputs[k], BufferKind::kInput);
  for (size_t k : of_caller(lifetimes, graph.outputs)) mark(graph.outputs[k], BufferKind::kOutput);
  for (const State& state : lifetimes.states) mark(state.input, BufferKind::kState);
  std::vector<bool> touched(graph.tensors.size());
  for (const Step& step : schedule.steps)
    for (TensorId id : step.node->writes) touched[id] = true;
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const bool view = schedule.layouts[id].root != static_cast<TensorId>(id);
    if (lifetimes.buffer_of[id] >= 0 && (touched[id] || view))
      map.buffers[lifetimes.buffer_of[id]].tensors.push_back(graph.tensors[id].name);
  }
  for (const Overlap& o : lifetimes.problem.overlaps)
    if (in_use(plan, lifetimes.problem, o)) map.overlaps.push_back({o.above, o.below, o.distance});
  const std::vector<Rows> rows = storage_rows(graph, schedule.layouts);
  map.steps = map_steps(schedule, rows);
  mark_rings(schedule, lifetimes, rows, map);
  for (const Group& group : schedule.groups) map.groups.push_back({group.begin, group.end});
  const OrderReport& order = schedule.order;
  map.order = MapOrder{order.peak, order.file_peak, order.found_peak, order.lower_bound, order.proven};
  map.cut_off = schedule.cut_off;
  for (const Weight& weight : collect_weights(schedule, {}).all) {
    const auto size = static_cast<int64_t>(weight.bytes.size());
    map.constants.push_back({graph.tensors[weight.tensor].name, size, "flash"});
    map.totals.weights += size;
  }
  for (const MapStep& step : map.steps) map.totals.macs += step.macs;
  map.totals.macs_again = work_again(schedule);
  for (const PoolUse& pool : plan.pools) map.totals.arena += pool.size;
  map.totals.layerwise_arena = layerwise_arena.value_or(map.totals.arena);
  if (io == Io::kExternal) {
    for (size_t k : of_caller(lifetimes, graph.inputs))
      map.io.push_back(io_entry(graph, graph.inputs[k], graph.input_names[k], IoKind::kInput));
    for (size_t k : of_caller(lifetimes, graph.outputs))
      map.io.push_back(io_entry(graph, graph.outputs[k], graph.output_names[k], IoKind::kOutput));
  }
  return map;
}

}  // namespace arenac
