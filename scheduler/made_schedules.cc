#include "scheduler/made_schedules.h"

#include <algorithm>
#include <utility>

#include "scheduler/plan_walks.h"
#include "scheduler/slabs.h"

namespace arenac {
namespace {

// What only runs row by row does so, where no other group does that.
void add_groups_of_one(Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  const std::vector<Rows> rows = storage_rows(graph, schedule.layouts);
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (step.kind != StepKind::kRun || stage_of(schedule, s)) continue;
    if (!runs_by_rows(*step.node, graph)) continue;
    const Slabs slabs = slabs_of(*step.node, graph, schedule.layouts, rows);
    const int begin = static_cast<int>(s);
    schedule.groups.push_back({begin, begin + 1, {{begin, slabs.count, slabs.nests, {}}}, {0}, {}});
  }
  std::ranges::sort(schedule.groups, {}, &Group::begin);
}

}  // namespace

Schedule whole_layers(Ordered ordered, std::shared_ptr<const Graph> graph, const Target& target) {
  Storage& storage = ordered.storage;
  Schedule schedule{graph, std::move(storage.steps), std::move(storage.layouts), {}};
  schedule.order = ordered.report;
  schedule.limits_hit = std::move(storage.limits_hit);
  add_groups_of_one(schedule);
  plan_walks(schedule, target, {});
  return schedule;
}

Schedule with_groups(Schedule schedule, std::vector<GroupPlan> groups, const Target& target,
                     const std::vector<const Schedule*>& known) {
  if (groups.empty()) return schedule;
  std::vector<StorageOverlap> overlaps;
  schedule.groups.clear();  // of rows of the caller's
  for (GroupPlan& plan : groups) {
    for (const KeptRing& kept : plan.rings) schedule.layouts[kept.storage].ring = kept.ring;
    overlaps.insert(overlaps.end(), plan.overlaps.begin(), plan.overlaps.end());
    schedule.groups.push_back(std::move(plan.group));
  }
  for (Layout& layout : schedule.layouts) layout.ring = schedule.layouts[layout.root].ring;
  add_groups_of_one(schedule);
  plan_walks(schedule, target, known);
  schedule.overlaps.insert(schedule.overlaps.begin(), overlaps.begin(), overlaps.end());
  return schedule;
}

std::shared_ptr<const Graph> borrowed(const Graph& graph) { return {std::shared_ptr<const Graph>(), &graph}; }

}  // namespace arenac
