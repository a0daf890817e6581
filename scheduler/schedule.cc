#include "scheduler/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/error.h"
#include "scheduler/fusion.h"
#include "scheduler/loops.h"
#include "scheduler/ordered.h"
#include "scheduler/overlap.h"
#include "scheduler/storage.h"

namespace arenac {

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"portable", "any C99 compiler; shaped for 256-bit vectors", 16, 6, 16},
      {"cortex-m", "Arm Cortex-M: no vectors, few registers", 4, 2, 8},
  };
  return all;
}

namespace {

Schedule whole_layers(Ordered ordered, const Graph& graph, const Target& target);

template <std::vector<int> (*order)(const OrderProblem&)>
Schedule schedule_in_order(const Graph& graph, const Target& target) {
  return whole_layers(in_order(graph, order), graph, target);
}

}  // namespace

const std::vector<SchedulerRow>& schedulers() {
  static const std::vector<SchedulerRow> all = {
      {"layerwise", "one whole layer a step, in the order of the lowest peak", schedule_layerwise},
      {"file-order", "whole layers in the file's order", schedule_in_order<file_order>},
      {"breadth-first", "whole layers, those first that became ready first",
       schedule_in_order<breadth_first_order>},
      {"depth-first", "whole layers, operand after operand, the one that needs most first",
       schedule_in_order<depth_first_order>},
      {"greedy", "whole layers, the one first after which least is alive", schedule_in_order<greedy_order>},
      {"fused", "the file's order, groups of layers row by row where that takes less memory", schedule_fused},
      {"rows", "the file's order, every layer row by row that can be", schedule_by_rows},
  };
  return all;
}

namespace {

// Chooses the walks of all nests, and with them how constants lie.
void plan_walks(Schedule& schedule, const Target& target) {
  const Graph& graph = *schedule.graph;
  // Constants that a C kernel reads keep their row-major layout.
  std::vector<bool> packed(graph.tensors.size());
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kRun && std::holds_alternative<Call>(step.node->body))
      for (TensorId id : step.node->reads) packed[id] = true;
  const auto plans_of = [&](size_t s) {
    std::vector<LoopPlan> plans;
    const Node& node = *schedule.steps[s].node;
    if (schedule.steps[s].kind == StepKind::kRun && std::holds_alternative<Nests>(node.body))
      for (const Nest& nest : nests_of(schedule, s))
        plans.push_back(plan_loops(nest, node, graph, schedule.layouts, target));
    return plans;
  };
  for (size_t s = 0; s < schedule.steps.size(); ++s)
    if (const auto plans = plans_of(s); !plans.empty())
      pack_constants(nests_of(schedule, s), *schedule.steps[s].node, plans, graph, packed, schedule.layouts);
  // Once more, now that the constants lie as they will: axes that had a seam may have none.
  for (size_t s = 0; s < schedule.steps.size(); ++s) schedule.loops.push_back(plans_of(s));
  schedule.overlaps = find_overlaps(schedule);
}

}  // namespace

namespace {

using Grouping = std::vector<GroupPlan>(const Graph&, const std::vector<Step>&, const std::vector<Layout>&);

Schedule schedule_by(Grouping* grouping, Ordered ordered, const Graph& graph, const Target& target) {
  Storage& storage = ordered.storage;
  Schedule schedule{&graph, std::move(storage.steps), std::move(storage.layouts), {}};
  schedule.order = ordered.report;
  std::vector<Ring> rings(graph.tensors.size());
  const auto rows = storage_rows(graph, schedule.layouts);
  for (GroupPlan& plan : grouping(graph, schedule.steps, schedule.layouts)) {
    for (const auto& [id, kept] : plan.rings) rings[id] = {rows[id].size, kept};
    schedule.groups.push_back(std::move(plan.group));
  }
  for (Layout& layout : schedule.layouts) layout.ring = rings[layout.root];
  plan_walks(schedule, target);
  verify(schedule);
  return schedule;
}

Schedule whole_layers(Ordered ordered, const Graph& graph, const Target& target) {
  return schedule_by([](auto&, auto&, auto&) { return std::vector<GroupPlan>(); }, std::move(ordered), graph,
                     target);
}

}  // namespace

Schedule schedule_layerwise(const Graph& graph, const Target& target) {
  return whole_layers(best_order(graph), graph, target);
}

Schedule schedule_fused(const Graph& graph, const Target& target) {
  return schedule_by(best_groups, in_order(graph, file_order), graph, target);
}

Schedule schedule_by_rows(const Graph& graph, const Target& target) {
  return schedule_by(longest_groups, in_order(graph, file_order), graph, target);
}

const Stage* stage_of(const Schedule& schedule, size_t step) {
  for (const Group& group : schedule.groups)
    if (group.begin <= static_cast<int>(step) && static_cast<int>(step) < group.end)
      return &group.stages[step - group.begin];
  return nullptr;
}

Nests nests_of(const Schedule& schedule, size_t step) {
  Nests nests = std::get<Nests>(schedule.steps[step].node->body);
  if (const Stage* stage = stage_of(schedule, step))
    for (size_t k = 0; k < nests.size(); ++k)
      nests[k] = slab_nest(nests[k], stage->nests[k], kSlabSymbol, stage->slabs);
  return nests;
}

int64_t span_of(const Layout& layout, const Shape& shape) {
  int64_t span = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return 0;
    span += (shape[d] - 1) * std::max<int64_t>(layout.strides[d], 0);
  }
  return span;
}

std::vector<int64_t> storage_bytes(const Graph& graph, const std::vector<Layout>& layouts) {
  std::vector<int64_t> bytes(graph.tensors.size());
  for (size_t id = 0; id < bytes.size(); ++id) {
    const int64_t span = span_of(layouts[id], graph.tensors[id].shape);
    int64_t& whole = bytes[layouts[id].root];
    const auto [row, kept] = layouts[id].ring;
    const int64_t end = kept > 0 ? row * kept : layouts[id].offset + span;
    if (span > 0) whole = std::max(whole, end * size_of(graph.tensors[id].type));
  }
  return bytes;
}

std::optional<Affine> address_of(const Layout& layout, const std::vector<Expr>& indices, const Nest& nest) {
  auto address = affine_address(indices, layout.strides, axis_intervals(nest));
  if (!address) return std::nullopt;
  address->constant += layout.offset;
  std::erase_if(address->terms,
                [&](const auto& term) { return term.first >= 0 && nest.axes[term.first].extent == 1; });
  return address;
}

bool is_empty(const Nest& nest) {
  return std::any_of(nest.axes.begin(), nest.axes.end(),
                     [](const Axis& a) { return !a.reduced && a.extent == 0; });
}

bool is_elided(const Nest& nest, const Node& node, const Graph& graph, const std::vector<Layout>& layouts) {
  const Expr* read = copied_read(nest, node, graph);
  if (!read) return false;
  const Layout &from = layouts[node.reads[(*read)->index]], &to = layouts[node.writes[0]];
  if (from.root != to.root) return false;
  const auto a = address_of(from, (*read)->args, nest), b = address_of(to, nest.store, nest);
  return a && b && *a == *b;
}

void verify(const Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  int depth = 0;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    const bool opens = step.kind == StepKind::kIf || step.kind == StepKind::kLoop;
    const bool closes = step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop;
    depth += opens - closes;
    ARENAC_CHECK(depth >= 0, "control steps do not nest");
    ARENAC_CHECK(step.kind == StepKind::kRun ||
                     (step.partner >= 0 && schedule.steps.at(step.partner).node == step.node),
                 "a control step without partner");
  }
  ARENAC_CHECK(depth == 0, "control steps do not nest");
  for (TensorId id : graph.outputs)
    ARENAC_CHECK(schedule.layouts[id].root == id && schedule.layouts[id].offset == 0,
                 "an output without storage of its own");
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const Layout& layout = schedule.layouts[id];
    ARENAC_CHECK(schedule.layouts[layout.root].root == layout.root,
                 fmt::format("'{}' lies in the storage of a view", graph.tensors[id].name));
    ARENAC_CHECK(layout.offset >= 0, fmt::format("'{}' begins before its storage", graph.tensors[id].name));
    ARENAC_CHECK(layout.ring == schedule.layouts[layout.root].ring,
                 "a tensor with another ring than its storage");
  }
  verify_rings(schedule);
}

std::string dump(const Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  const auto place = [&](TensorId id) {
    const Layout& layout = schedule.layouts[id];
    const auto [row, kept] = layout.ring;
    return fmt::format("%{} in %{}+{} [{}]{}", id, layout.root, layout.offset, fmt::join(layout.strides, ","),
                       kept > 0 ? fmt::format(" {} rows of {}", kept, row) : "");
  };
  constexpr const char* kKinds[] = {"", "if", "else", "end if", "loop", "end loop"};
  std::string text;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    text += fmt::format("{:5} {} {}", s, kKinds[static_cast<int>(step.kind)], step.node->op);
    if (step.kind == StepKind::kRun) {
      for (TensorId id : step.node->writes) text += "  " + place(id);
      text += "  <-";
      for (TensorId id : step.node->reads)
        if (!graph.tensors[id].constant) text += "  " + place(id);
      if (const Stage* stage = stage_of(schedule, s)) text += fmt::format("  in {} slabs", stage->slabs);
      for (const LoopPlan& plan : schedule.loops[s])
        text += fmt::format("  ({} vector i{}x{} tile i{}x{})", fmt::join(plan.order, " "), plan.vector_axis,
                            plan.lanes, plan.tile_axis, plan.tile);
    }
    text += "\n";
  }
  for (const StorageOverlap& o : schedule.overlaps)
    text += fmt::format("{:5} lets %{} lie {} bytes above %{}{}\n", o.step, o.above, o.distance, o.below,
                        o.loops[0].sweep == Sweep::kDown ? ", from the end" : "");
  return text;
}

}  // namespace arenac
