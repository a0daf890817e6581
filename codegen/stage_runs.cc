#include "codegen/stage_runs.h"

#include <algorithm>

#include "scheduler/fusion.h"
#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

// What a run of a stage touches: its constants, all of them, and its part of what it writes. What it reads of
// other stages is counted as theirs.
double bytes_of_run(const Stage& stage, const Schedule& schedule) {
  const Node& node = *schedule.steps[static_cast<size_t>(stage.step)].node;
  const auto written = static_cast<double>(bytes_of(schedule.graph->tensors[node.writes[0]]));
  return static_cast<double>(constant_bytes(node, *schedule.graph)) +
         written / static_cast<double>(stage.slabs * stage.chunks);
}

// Per stage, how often each of its slabs and chunks runs.
// As the emitted C does it: computed again counts again.
std::vector<StepRuns> runs_of(const Group& group) {
  std::vector<StepRuns> all;
  for (const Stage& stage : group.stages)
    all.push_back({std::vector<int64_t>(static_cast<size_t>(stage.slabs * stage.chunks))});
  for_each_chunk_run(group, [&](const ChunkRun& run) {
    const Stage& stage = group.stages[run.stage];
    ++all[static_cast<size_t>(run.stage)].times[static_cast<size_t>(run.slab * stage.chunks + run.chunk)];
  });
  return all;
}

// Per stage, the bytes that all stages touch from one of its runs to the next: the median. That is a reuse
// distance of its constants. Each other stage that ran since counts once, however often it did. The median,
// because the run-in of a group and its borders differ from the many turns between.
//
//   runs     conv1 conv1 conv2 conv1 conv1 conv2
//                        |-----------------|          conv2: its own bytes, and those of conv1
//                  |-----------|                      conv1: its own, and those of conv2
std::vector<double> between_runs(const Group& group, const Schedule& schedule) {
  std::vector<double> bytes;
  for (const Stage& stage : group.stages) bytes.push_back(bytes_of_run(stage, schedule));
  std::vector<int64_t> last(bytes.size(), -1);
  std::vector<std::vector<double>> between(bytes.size());
  int64_t now = 0;
  for_each_chunk_run(group, [&](const ChunkRun& run) {
    const auto stage = static_cast<size_t>(run.stage);
    double touched = bytes[stage];
    for (size_t other = 0; other < last.size(); ++other)
      if (last[other] > last[stage]) touched += bytes[other];
    between[stage].push_back(touched);
    last[stage] = now++;
  });
  std::vector<double> medians;
  for (std::vector<double>& all : between) {
    const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    medians.push_back(all.empty() ? 0 : *middle);
  }
  return medians;
}

}  // namespace

// Outside of groups a step reads its constants once a run, and between two runs of the model come those of
// all others.
std::vector<StepRuns> runs_per_step(const Schedule& schedule, const Costs& costs) {
  const bool has_cache = costs.near_bytes > 0;
  std::vector<StepRuns> all(schedule.steps.size());
  if (has_cache) {
    double constants = 0;
    for (const Step& step : schedule.steps)
      if (step.kind == StepKind::kRun)
        constants += static_cast<double>(constant_bytes(*step.node, *schedule.graph));
    for (StepRuns& step : all) step.between = constants;
  }
  for (const Group& group : schedule.groups) {
    std::vector<StepRuns> runs = runs_of(group);
    if (has_cache) {
      const std::vector<double> between = between_runs(group, schedule);
      for (size_t stage = 0; stage < runs.size(); ++stage) runs[stage].between = between[stage];
    }
    std::move(runs.begin(), runs.end(), all.begin() + group.begin);
  }
  return all;
}

// Activations by their own size: between two accesses to one of their elements comes about as much as they
// are.
std::vector<double> bytes_between(const Schedule& schedule, size_t s, const StepRuns& runs) {
  const Graph& graph = *schedule.graph;
  const Node& node = *schedule.steps[s].node;
  std::vector<double> all;
  if (!runs.between) return all;
  const auto add = [&](TensorId id) {
    const Ring& ring = schedule.layouts[id].ring;
    const Tensor& tensor = graph.tensors[id];
    all.push_back(tensor.constant ? *runs.between
                                  : static_cast<double>(ring.kept > 0 ? ring.size() * size_of(tensor.type)
                                                                      : bytes_of(tensor)));
  };
  for (TensorId id : node.reads) add(id);
  if (!node.writes.empty()) add(node.writes[0]);
  return all;
}

}  // namespace arenac
