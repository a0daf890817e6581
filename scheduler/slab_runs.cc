#include "scheduler/slab_runs.h"

#include <algorithm>
#include <tuple>

namespace arenac {

int64_t turns_of(const Group& group) {
  int64_t turns = 1;
  for (int sink : group.sinks) turns = std::max(turns, group.stages[sink].slabs);
  return turns;
}

bool runs_within(const Group& group, int k, int host) {
  while (k >= 0 && k != host) k = group.stages[k].host;
  return k == host;
}

int root_of(const Group& group, int k) {
  while (group.stages[k].host >= 0) k = group.stages[k].host;
  return k;
}

Guests guests_of(const Group& group) {
  Guests guests(group.stages.size());
  for (size_t k = 0; k < group.stages.size(); ++k)
    if (const int host = group.stages[k].host; host >= 0) guests[host].push_back(static_cast<int>(k));
  return guests;
}

std::vector<int64_t> work_again(const Group& group, const std::vector<Step>& steps) {
  std::vector<int64_t> runs(group.stages.size());
  for_each_slab_run(group, [&](const SlabRun& run) { ++runs[run.stage]; });
  std::vector<int64_t> work;
  for (size_t k = 0; k < runs.size(); ++k) {
    const auto& [step, slabs] = std::tie(group.stages[k].step, group.stages[k].slabs);
    work.push_back(multiply_accumulates(*steps[step].node) / slabs * std::max<int64_t>(0, runs[k] - slabs));
  }
  return work;
}

std::vector<ChunkRun> chunk_runs_of(const Group& group, const Guests& guests, const SlabRun& run) {
  std::vector<ChunkRun> runs;
  runs.reserve(group.stages.size() * static_cast<size_t>(group.stages[run.stage].chunks));
  for (int64_t chunk = 0; chunk < group.stages[run.stage].chunks; ++chunk)
    for_each_run_of({run.stage, run.slab, chunk}, group, guests,
                    [&](const ChunkRun& one) { runs.push_back(one); });
  return runs;
}

}  // namespace arenac
