#include "scheduler/step_bytes.h"

#include <algorithm>
#include <numeric>

#include "scheduler/liveness.h"
#include "scheduler/overlap.h"

namespace arenac {
namespace {

// Of storages of so many bytes each.
int64_t saving(const StorageOverlap& o, const std::vector<int64_t>& bytes) {
  const int64_t above = bytes[o.above], below = bytes[o.below];
  return above > 0 && below > 0 ? above + below - joint_bytes(above, below, o.distance) : 0;
}

}  // namespace

StepBytes::StepBytes(const Schedule& whole, const StepFacts& facts)
    : graph_(*whole.graph),
      facts_(facts),
      bytes_(facts.bytes),
      begun_(whole.steps.size() + 1),
      ended_(whole.steps.size() + 1),
      ending_(whole.steps.size() + 1) {
  for (size_t id = 0; id < bytes_.size(); ++id) {
    if (facts.callers[id] && whole.io == Io::kExternal) bytes_[id] = 0;
    const auto [from, to] = facts.live[id];
    if (from >= to || bytes_[id] == 0) continue;
    begun_[from + 1] += bytes_[id];
    ended_[to] += bytes_[id];
    ending_[to].push_back(static_cast<TensorId>(id));
  }
  std::partial_sum(begun_.begin(), begun_.end(), begun_.begin());
  std::partial_sum(ended_.begin(), ended_.end(), ended_.begin());
  const int count = static_cast<int>(whole.steps.size());
  std::vector<int64_t> saved(whole.steps.size());
  for (const StorageOverlap& o : whole.overlaps) saved[o.step] = std::max(saved[o.step], saving(o, bytes_));
  for (int s = 0; s < count; ++s) single_.push_back(of(s, s + 1) - saved[s]);
}

int64_t StepBytes::of(const GroupPlan& plan) const {
  const auto [begin, end] = std::pair(plan.group.begin, plan.group.end);
  int64_t bytes = of(begin, end), saved = 0;
  std::vector<int64_t> change(end - begin + 1);  // of the bytes of columns, which come and go
  for (const auto& [storage, ring] : plan.rings) {
    const int64_t kept = ring.size() * size_of(graph_.tensors[storage].type);
    bytes -= bytes_[storage];
    const Interval live = steps_of_ring(plan.group, facts_.live[storage], ring);
    change[live.begin - begin] += kept;
    change[live.end - begin] -= kept;
  }
  int64_t now = 0, most = 0;
  for (int64_t by : change) most = std::max(most, now += by);
  for (const StorageOverlap& o : plan.overlaps) saved = std::max(saved, saving(o, bytes_));
  return bytes + most - saved;
}

int64_t peak_of(const Schedule& schedule) {
  std::vector<int64_t> bytes = storage_bytes(*schedule.graph, schedule.layouts);
  for (TensorId id : schedule.graph->inputs)
    if (schedule.io == Io::kExternal || schedule.graph->by_rows.contains(id)) bytes[id] = 0;
  if (schedule.io == Io::kExternal)
    for (TensorId id : whole_outputs(*schedule.graph)) bytes[id] = 0;
  const auto lives = storage_lives(schedule);
  const std::vector<int64_t> live = live_bytes(bytes, lives, std::ssize(schedule.steps));
  std::vector<int64_t> saved(live.size());
  for (const StorageOverlap& o : schedule.overlaps) {
    const Interval a = lives[o.above], b = lives[o.below];
    for (int64_t s = std::max(a.begin, b.begin); s < std::min(a.end, b.end); ++s)
      saved[s] = std::max(saved[s], saving(o, bytes));
  }
  int64_t most = 0;
  for (size_t s = 0; s < live.size(); ++s) most = std::max(most, live[s] - saved[s]);
  return most;
}

}  // namespace arenac
