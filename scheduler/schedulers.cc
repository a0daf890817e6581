// The table of schedulers, and what there is to choose from.
#include <algorithm>
#include <utility>

#include "scheduler/accumulate.h"
#include "scheduler/fusion.h"
#include "scheduler/grouped_schedules.h"
#include "scheduler/made_schedules.h"
#include "scheduler/plain_schedules.h"
#include "scheduler/schedule.h"
#include "scheduler/slab_runs.h"
#include "scheduler/step_bytes.h"

namespace arenac {
namespace {

constexpr int64_t kMostStepsAgain = 2000;  // of a schedule of which second passes are looked for

template <std::vector<int> (*order)(const OrderProblem&)>
Schedule schedule_in_order(const Graph& graph, const Target& target, Deadline deadline) {
  return whole_layers(in_order(graph, order, deadline), borrowed(graph), target);
}

std::pair<int64_t, int64_t> price(const Schedule& schedule) {
  return {work_again(schedule), bytes_read_again(schedule)};
}

// The one of the least peak.
template <Freedom freedom>
Schedule schedule_least(const Graph& graph, const Target& target, Deadline deadline) {
  std::vector<Schedule> all = schedules_to_choose_from(graph, freedom, target, deadline);
  std::vector<int64_t> peaks;
  for (const Schedule& schedule : all) peaks.push_back(peak_of(schedule));
  return std::move(all[std::min_element(peaks.begin(), peaks.end()) - peaks.begin()]);
}

// In the file's order, in groups that `groups_of` makes of whole layers.
template <typename GroupsOf>
Schedule schedule_in_groups(const Graph& graph, const Target& target, const GroupsOf& groups_of) {
  const auto split = std::make_shared<const Graph>(with_accumulators(graph));
  Schedule whole = whole_layers(in_order(*split, file_order), split, target);
  std::vector<GroupPlan> groups = groups_of(whole);
  return with_groups(std::move(whole), std::move(groups), target, {});
}

Schedule schedule_by_rows(const Graph& graph, const Target& target, Deadline) {
  return schedule_in_groups(graph, target,
                            [](const Schedule& whole) { return longest_groups(whole, {.columns = false}); });
}

Schedule schedule_by_columns(const Graph& graph, const Target& target, Deadline) {
  return schedule_in_groups(graph, target,
                            [](const Schedule& whole) { return longest_groups(whole, Keep{}); });
}

template <int64_t strip>
Schedule schedule_by_windows(const Graph& graph, const Target& target, Deadline) {
  return schedule_in_groups(graph, target,
                            [](const Schedule& whole) { return thinnest_groups(whole, strip); });
}

}  // namespace

Schedule schedule_layerwise(const Graph& graph, const Target& target, Deadline deadline) {
  Ordered best = best_order(graph, {.deadline = deadline});
  const bool cut_off = !best.report.proven && has_passed(deadline);
  Schedule schedule = whole_layers(std::move(best), borrowed(graph), target);
  schedule.cut_off = cut_off;
  return schedule;
}

int64_t work_allowed(const Graph& graph, Freedom freedom) {
  constexpr int64_t kPart = 10;
  if (freedom == Freedom::kAnyAgain) return INT64_MAX;
  if (freedom == Freedom::kWholeLayers) return 0;
  int64_t work = 0;
  for (const Node& node : graph.block) work += multiply_accumulates(node);
  return work / kPart;
}

std::vector<Schedule> schedules_to_choose_from(const Graph& graph, Freedom freedom, const Target& target,
                                               Deadline deadline, Io io) {
  const std::vector<std::shared_ptr<const Graph>> bases = bases_of(graph, freedom, target);
  PlainSchedules whole = plain_schedules(bases.front(), target, deadline);
  std::vector<Schedule>& plain = whole.schedules;
  const bool may_repeat = freedom > Freedom::kWholeLayers,
             is_long = std::ssize(plain.back().steps) > kMostStepsAgain;
  const int64_t allowed = work_allowed(graph, freedom);
  whole.again = plain.size();
  if (may_repeat && !is_long)
    for (Schedule& schedule : second_passes(whole.last, target, deadline))
      if (work_again(schedule) <= allowed) plain.push_back(std::move(schedule));
  for (Schedule& schedule : plain) schedule.io = io;
  GroupedSchedules found;
  if (freedom > Freedom::kWholeLayers) found = grouped(graph, whole, freedom, target, deadline);
  std::vector<Schedule> all = std::move(found.schedules);
  for (const Schedule& schedule : plain)
    found.limits_hit.insert(schedule.limits_hit.begin(), schedule.limits_hit.end());
  if (may_repeat && is_long) found.limits_hit.insert({"tensors to compute again", kMostStepsAgain, "step"});
  const bool cut_off = has_passed(deadline);
  for (Schedule& schedule : plain)
    if (freedom > Freedom::kWholeLayers || schedule.graph == bases.front())
      all.push_back(std::move(schedule));
  for (size_t k = 1; k < bases.size(); ++k)
    for (Schedule& schedule : plain_schedules(bases[k], target, deadline).schedules)
      if (schedule.graph == bases[k]) all.push_back(std::move(schedule)), all.back().io = io;
  std::stable_sort(all.begin(), all.end(),
                   [](const Schedule& a, const Schedule& b) { return price(a) < price(b); });
  for (Schedule& schedule : all) {
    schedule.cut_off = cut_off;
    schedule.limits_hit = found.limits_hit;
  }
  return all;
}

int64_t bytes_read_again(const Schedule& schedule) {
  int64_t bytes = 0;
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages)
      bytes += constant_bytes(*schedule.steps[stage.step].node, *schedule.graph) * (stage.slabs - 1);
  return bytes;
}

int64_t work_again(const Schedule& schedule) {
  int64_t work = 0;
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kRun && step.node->is_again) work += multiply_accumulates(*step.node);
  return work + work_again_in_rows(schedule);
}

int64_t work_again_in_rows(const Schedule& schedule) {
  int64_t work = 0;
  for (const Group& group : schedule.groups)
    for (int64_t stage : work_again(group, schedule.steps)) work += stage;
  return work;
}

const std::vector<SchedulerRow>& schedulers() {
  static const std::vector<SchedulerRow> all = {
      {"layerwise", "one whole layer a step, in the order of the lowest peak", schedule_layerwise},
      {"file-order", "whole layers in the file's order", schedule_in_order<file_order>},
      {"breadth-first", "whole layers, those first that became ready first",
       schedule_in_order<breadth_first_order>},
      {"depth-first", "whole layers, operand after operand, the one that needs most first",
       schedule_in_order<depth_first_order>},
      {"greedy", "whole layers, the one first after which least is alive", schedule_in_order<greedy_order>},
      {"fused", "groups of layers row by row where that takes less memory",
       schedule_least<Freedom::kSecondPasses>},
      {"smallest", "as fused, and with up to a tenth of the work done again where that takes less memory",
       schedule_least<Freedom::kSomeAgain>},
      {"rows", "every layer row by row that can be, in the file's order", schedule_by_rows},
      {"columns", "as rows, and of these a few columns at a time", schedule_by_columns},
      {"windows", "as columns, and what lies under a window computed again for each row of windows",
       schedule_by_windows<1>},
      {"strips", "as windows, for two rows of windows at a time, those that come out even",
       schedule_by_windows<2>},
  };
  return all;
}

}  // namespace arenac
