#include "codegen/lowered.h"

#include "codegen/c_formula.h"
#include "codegen/passes.h"
#include "codegen/register_ranges.h"
#include "scheduler/slabs.h"

namespace arenac {
namespace {

// What a step is lowered from.
struct Planned {
  const Schedule& schedule;
  const Lifetimes& lifetimes;
  const Plan& plan;
};

// How the memory of an operand and of the result relate. In place is only what has the same address for the
// same element in every read, of the same type: each element is then read before its own is written and by
// nobody later. Any other way to lie in the same storage, or to have bytes of the arena in common, is mixed:
// the plan's distance between the two and the loops' direction keep them right, and C is promised nothing.
// Constants are never written.
Aliasing aliasing_of(const Planned& in, const Node& node, size_t operand, const Nest& nest) {
  const TensorId x = node.reads[operand], y = node.writes[0];
  const Layout &from = in.schedule.layouts[x], &to = in.schedule.layouts[y];
  if (in.schedule.graph->tensors[x].constant) return Aliasing::kApart;
  if (from.root != to.root)
    return share_bytes(in.lifetimes, in.plan, x, y) ? Aliasing::kMixed : Aliasing::kApart;
  bool in_place =
      in.schedule.graph->tensors[x].type == in.schedule.graph->tensors[y].type && from.offset == to.offset;
  const auto store = address_of(to, nest.store, nest);
  const auto look = [&](const Expr& e) {
    if (e->op == Op::kRead && e->index == static_cast<int>(operand)) {
      const auto address = address_of(from, e->args, nest);
      in_place &= address && store && *address == *store;
    }
    return false;
  };
  any_of(nest.body, look);
  if (!nest.finish.empty()) any_of(nest.finish, look);
  return in_place ? Aliasing::kInPlace : Aliasing::kMixed;
}

// The types in memory and the aliasing of all operands, read by this nest or not: numbers of operands are the
// node's.
KernelOperands operands_of(const Planned& in, const Node& node, const Nest& nest) {
  const auto type_of = [&](TensorId id) { return in.schedule.graph->tensors[id].type; };
  KernelOperands operands{{}, {}, type_of(node.writes[0])};
  for (size_t k = 0; k < node.reads.size(); ++k) {
    operands.read_types.push_back(type_of(node.reads[k]));
    operands.aliasing.push_back(aliasing_of(in, node, k, nest));
  }
  return operands;
}

// Nests that do nothing are left out: those that copy a storage onto itself, and those without points. Of an
// overlap that the plan uses, the loops are those that it allows, else the schedule's.
//
// Passes have an order: lanes become scalars before those are defined where they are set, and bytes are
// saturated in the formulas that this leaves. Constants are folded and ranges found at the end, for what is
// then there.
std::vector<LoweredNest> nests_of_step(const Planned& in, size_t step) {
  const Schedule& schedule = in.schedule;
  const Node& node = *schedule.steps[step].node;
  const Nests nests = nests_of(schedule, step);
  const Stage* stage = stage_of(schedule, step);
  const StorageOverlap* overlap = overlap_in_use(schedule, in.lifetimes, in.plan, static_cast<int>(step));
  const std::vector<LoopPlan>& loops = overlap ? *overlap->loops : schedule.loops[step];
  std::vector<LoweredNest> lowered;
  for (size_t k = 0; k < nests.size(); ++k) {
    if (is_elided(nests[k], node, *schedule.graph, schedule.layouts) || is_empty(nests[k])) continue;
    const FlatNest flat = flat_nest(nests[k], node, schedule.layouts);
    LoweredNest nest{{}, operands_of(in, node, nests[k]), {}, false, k};
    nest.kernel =
        lower_nest(flat, loops[k], nest.operands, loop_names(std::get<Nests>(node.body)[k], nests[k], flat));
    if (loops[k].registers == Registers::kScalar)
      nest.kernel = saturate_bytes(define_where_set(scalar_lanes(std::move(nest.kernel))));
    nest.kernel = with_register_ranges(fold_constants(std::move(nest.kernel)));
    if (stage) {
      const Interval active = active_slabs(std::get<Nests>(node.body)[k], stage->nests[k], stage->slabs);
      if (active != Interval{0, stage->slabs}) nest.slabs = active;
      nest.first_chunk_only = stage->chunks > 1 && stage->chunk_axes[k] < 0;
    }
    lowered.push_back(std::move(nest));
  }
  return lowered;
}

}  // namespace

bool runs_nests(const Node& node, const Graph& graph) {
  return std::holds_alternative<Nests>(node.body) && element_count(graph.tensors[node.writes[0]].shape) > 0;
}

std::vector<LoweredNest> lowered_step(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan,
                                      size_t step) {
  const auto& [kind, node, partner] = schedule.steps[step];
  if (kind != StepKind::kRun || !runs_nests(*node, *schedule.graph)) return {};
  return nests_of_step({schedule, lifetimes, plan}, step);
}

Lowered lower(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan) {
  Lowered lowered{schedule, lifetimes, plan, {}};
  for (size_t s = 0; s < schedule.steps.size(); ++s)
    lowered.steps.push_back(lowered_step(schedule, lifetimes, plan, s));
  return lowered;
}

}  // namespace arenac
