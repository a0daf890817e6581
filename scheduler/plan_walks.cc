#include "scheduler/plan_walks.h"

#include <algorithm>
#include <tuple>

#include "scheduler/loops.h"
#include "scheduler/overlap.h"
#include "scheduler/pack_constants.h"

namespace arenac {
namespace {

// Whether a step of two schedules runs the same nests of tensors that lie the same, but for their words: then
// its walks are the same.
bool walks_alike(const Schedule& a, const Schedule& b, size_t step) {
  if (step >= b.steps.size() || a.steps[step].node != b.steps[step].node) return false;
  const auto cut_of = [&](const Stage& stage) {
    return std::tie(stage.slabs, stage.nests, stage.chunks, stage.chunk_axes);
  };
  const Stage *mine = stage_of(a, step), *theirs = stage_of(b, step);
  if ((mine == nullptr) != (theirs == nullptr) || (mine && cut_of(*mine) != cut_of(*theirs))) return false;
  const auto place_of = [](const Layout& layout) {
    return std::tie(layout.root, layout.offset, layout.strides, layout.ring);
  };
  const auto lies_alike = [&](TensorId id) { return place_of(a.layouts[id]) == place_of(b.layouts[id]); };
  const Node& node = *a.steps[step].node;
  return std::ranges::all_of(node.reads, lies_alike) && std::ranges::all_of(node.writes, lies_alike);
}

}  // namespace

void plan_walks(Schedule& schedule, const Target& target, const std::vector<const Schedule*>& known) {
  const Graph& graph = *schedule.graph;
  const std::vector<Step>& steps = schedule.steps;
  for (Layout& layout : schedule.layouts) layout.words = {};
  // Constants that a C kernel reads keep their row-major layout.
  std::vector<bool> packed(graph.tensors.size());
  std::vector<Nests> nests(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].kind != StepKind::kRun) continue;
    if (std::holds_alternative<Nests>(steps[s].node->body)) nests[s] = nests_of(schedule, s);
    if (std::holds_alternative<Call>(steps[s].node->body))
      for (TensorId id : steps[s].node->reads) packed[id] = true;
  }
  const std::vector<bool> called = packed;
  const auto plans_of = [&](size_t s) {
    std::vector<LoopPlan> plans;
    if (nests[s].empty()) return plans;
    for (const Schedule* other : known)
      if (walks_alike(schedule, *other, s)) return other->loops[s];
    for (const Nest& nest : nests[s])
      plans.push_back(plan_loops(nest, *steps[s].node, graph, schedule.layouts, target));
    return plans;
  };
  schedule.loops.clear();
  std::vector<size_t> moved_behind(graph.tensors.size());  // steps; of constants
  for (size_t s = 0; s < steps.size(); ++s) {
    schedule.loops.push_back(plans_of(s));
    for (const TensorId id :
         pack_constants(nests[s], *steps[s].node, schedule.loops[s], graph, packed, schedule.layouts))
      moved_behind[id] = s + 1;
  }
  // Once more, where constants lie otherwise now: axes that had a seam may have none.
  for (size_t s = 0; s < steps.size(); ++s)
    if (std::ranges::any_of(steps[s].node->reads, [&](TensorId id) { return moved_behind[id] > s; }))
      schedule.loops[s] = plans_of(s);
  std::vector<PlannedNest> planned;
  for (size_t s = 0; s < steps.size(); ++s)
    for (size_t k = 0; k < nests[s].size(); ++k)
      planned.push_back({&nests[s][k], steps[s].node, &schedule.loops[s][k]});
  pack_words(planned, graph, called, schedule.layouts);
  schedule.overlaps = find_overlaps(schedule);
}

}  // namespace arenac
