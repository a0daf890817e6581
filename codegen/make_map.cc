// The memory map of a schedule and its plan: everything that reports need, without the graph.
//
//   Lifetimes, Plan    pools, buffers with offsets and lives, overlaps in use
//   Schedule           steps, groups, rings, who writes and reads what, order
//   Graph              names, types and shapes, inputs and outputs
#include <algorithm>

#include "codegen/emit.h"
#include "codegen/group_copies.h"
#include "codegen/weights.h"
#include "scheduler/cmsis_nn.h"
#include "scheduler/slab_runs.h"
#include "scheduler/slabs.h"

namespace arenac {
namespace {

// At the caller's pointer: whole, and outside of all pools.
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

// Of numbers that are not negative; the largest that a map holds where it is more. A loop of 2^40 trips is a
// model, too: it must not overflow, and what JavaScript could not read exactly is not written.
int64_t product_in_map(int64_t a, int64_t b) {
  int64_t product = 0;
  const bool overflows = __builtin_mul_overflow(a, b, &product);
  return overflows ? kMapNumberLimit - 1 : std::min(product, kMapNumberLimit - 1);
}

// Multiply-accumulates that each step does again.
// None outside of groups.
std::vector<int64_t> work_again_of(const Schedule& schedule) {
  std::vector<int64_t> all(schedule.steps.size());
  for (const Group& group : schedule.groups) {
    const std::vector<int64_t> work = work_again(group, schedule.steps);
    std::copy(work.begin(), work.end(), all.begin() + group.begin);
  }
  return all;
}

// Control flow has steps of its own, whose operator says where the other branch begins and where it ends;
// multiply-accumulates are those of nodes that run, with what groups do again, times the trips of the loops
// around.
std::vector<MapStep> map_steps(const Schedule& schedule, const std::vector<Rows>& rows) {
  std::vector<MapStep> steps;
  const std::vector<int64_t> again = work_again_of(schedule), iterations = iterations_of(schedule.steps);
  int64_t left = kMapNumberLimit - 1;  // of what the steps may add up to
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    constexpr const char* kMarks[] = {"", "", " else", " end", "", " end"};
    const int64_t once = step.kind == StepKind::kRun ? multiply_accumulates(*step.node) + again[s] : 0;
    const int64_t macs = std::min(left, product_in_map(once, iterations[s]));
    left -= macs;
    steps.push_back({static_cast<int64_t>(s), step.node->origin,
                     step.node->op + kMarks[static_cast<int>(step.kind)], first_rows(schedule, rows, s),
                     macs});
  }
  return steps;
}

// What a step reads: the node's operands, or the scalars that a control step decides by.
std::vector<TensorId> read_by(const Step& step) {
  switch (step.kind) {
    case StepKind::kRun:
      return step.node->reads;
    case StepKind::kIf:
      return {step.node->reads[0]};
    case StepKind::kLoop: {
      std::vector<TensorId> ids;
      const Loop& loop = std::get<Loop>(step.node->body);
      for (const auto& id : {loop.count, loop.condition})
        if (id) ids.push_back(*id);
      return ids;
    }
    default:
      return {};
  }
}

// What each buffer holds, and which steps use it. An input's first writer is the caller. Views have the
// buffer of what they are views of, so a step that reads one is a reader of that.
void mark_uses(const Schedule& schedule, const Lifetimes& lifetimes, MemoryMap& map) {
  for (size_t b = 0; b < map.buffers.size(); ++b) {
    const Tensor& tensor = schedule.graph->tensors[lifetimes.tensor_of[b]];
    map.buffers[b].type = info(tensor.type).name;
    map.buffers[b].shape = tensor.shape;
  }
  const auto buffer_of = [&](TensorId id) {
    const int b = lifetimes.buffer_of[id];
    return b < 0 ? nullptr : &map.buffers[b];
  };
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const auto time = static_cast<int64_t>(s);
    const Step& step = schedule.steps[s];
    for (TensorId id : read_by(step))
      if (MapBuffer* buffer = buffer_of(id);
          buffer && (buffer->readers.empty() || buffer->readers.back() < time))
        buffer->readers.push_back(time);
    if (step.kind != StepKind::kRun) continue;
    for (TensorId id : step.node->writes)
      if (MapBuffer* buffer = buffer_of(id);
          buffer && (buffer->writers.empty() || buffer->writers.back() < time))
        buffer->writers.push_back(time);
  }
  for (MapBuffer& buffer : map.buffers)
    if (!buffer.writers.empty() && buffer.kind != BufferKind::kInput) buffer.writer = buffer.writers.front();
}

// Copies of constants, and which steps read them.
void mark_copies(const Schedule& schedule, const Lifetimes& lifetimes, const Weights& weights,
                 MemoryMap& map) {
  const Graph& graph = *schedule.graph;
  for (size_t b = 0; b < map.buffers.size(); ++b) {
    MapBuffer& copy = map.buffers[b];
    if (!is_copy(graph, lifetimes, b)) continue;
    copy.kind = BufferKind::kCopy;
    copy.tensors = {graph.tensors[lifetimes.tensor_of[b]].name};
    const int weight = weights.of_tensor.at(lifetimes.tensor_of[b]);
    for (int64_t s = copy.begin; s < copy.end; ++s)
      if (std::ranges::any_of(schedule.steps[static_cast<size_t>(s)].node->reads, [&](TensorId id) {
            const auto at = weights.of_tensor.find(id);
            return at != weights.of_tensor.end() && at->second == weight;
          }))
        copy.readers.push_back(s);
  }
}

// Of a row not all need be there: a ring of columns keeps parts of rows, and counts as the whole rows that it
// would fill, rounded up.
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

// Whether the plan made use of the permission: they are as far apart as it says and share a byte. Others are
// left out of the map, where they would only be noise.
//
//   below   |----------------|
//   above         |--------------|        distance <= offset(above) - offset(below) < size of below
bool in_use(const Plan& plan, const Problem& problem, const Overlap& o) {
  const int64_t distance = plan.placements[o.above].offset - plan.placements[o.below].offset;
  return distance >= o.distance && distance < problem.buffers[o.below].size &&
         -distance < problem.buffers[o.above].size;
}

}  // namespace

MapOrder map_order(const OrderReport& order) {
  return {order.peak, order.file_peak, order.found_peak, order.lower_bound, order.proven};
}

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
  // What none of these marks is an activation.
  const auto mark = [&](TensorId id, BufferKind kind) {
    if (lifetimes.buffer_of[id] >= 0) map.buffers[lifetimes.buffer_of[id]].kind = kind;
  };
  for (size_t k : of_caller(lifetimes, graph.inputs)) mark(graph.inputs[k], BufferKind::kInput);
  for (size_t k : of_caller(lifetimes, graph.outputs)) mark(graph.outputs[k], BufferKind::kOutput);
  for (const State& state : lifetimes.states) mark(state.input, BufferKind::kState);
  for (const Step& step : schedule.steps)
    if (const Call* call = std::get_if<Call>(&step.node->body); call && cmsis_nn_row(*call))
      for (size_t k = 1; k < step.node->writes.size(); ++k) mark(step.node->writes[k], BufferKind::kScratch);
  mark_uses(schedule, lifetimes, map);
  std::vector<bool> touched(graph.tensors.size());
  for (const Step& step : schedule.steps)
    for (TensorId id : step.node->writes) touched[id] = true;
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    // Tensors that nobody writes and that are no view have no bytes of the buffer.
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
  map.order = map_order(schedule.order);
  map.cut_off = schedule.cut_off;
  // Without options: which constants there are, and their bytes, no option changes.
  const Weights weights = collect_weights(schedule, {});
  for (const Weight& weight : weights.all) {
    const auto size = static_cast<int64_t>(weight.bytes.size());
    map.constants.push_back({graph.tensors[weight.tensor].name, size, "flash"});
    map.totals.weights += size;
  }
  mark_copies(schedule, lifetimes, weights, map);
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

// map.constants and Weights::all are in one order: both come of collect_weights().
MemoryMap with_constant_pools(MemoryMap map, const Schedule& schedule, const EmitOptions& options) {
  if (options.constants.pools.empty()) return map;
  const Weights weights = collect_weights(schedule, options);
  for (size_t k = 0; k < map.constants.size(); ++k) {
    const ConstantPool& pool = options.constants.pools[weights.all[k].blob];
    if (pool.copied) map.constants[k].copied_from = map.constants[k].pool;
    map.constants[k].pool = pool.name();
  }
  return map;
}

// Rounded down per step, and together at most what a map holds: totals are the sum of the steps, which
// verify() holds them to.
MemoryMap with_cycles(MemoryMap map, const std::vector<double>& cycles, const std::string& target) {
  int64_t left = kMapNumberLimit - 1;  // of what the steps may add up to
  for (size_t s = 0; s < map.steps.size(); ++s) {
    map.steps[s].cycles = static_cast<int64_t>(std::min(cycles[s], static_cast<double>(left)));
    left -= map.steps[s].cycles;
    map.totals.cycles += map.steps[s].cycles;
  }
  map.target = target;
  return map;
}

}  // namespace arenac
