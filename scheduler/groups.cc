#include "scheduler/groups.h"

#include <algorithm>
#include <map>

#include "frontend/error.h"
#include "scheduler/chunks.h"
#include "scheduler/group_overlaps.h"
#include "scheduler/row_lives.h"

namespace arenac {
namespace {

// A stage for each step, with pulls; none waits or has chunks. Producers are steps in the facts, and stages
// here; those before the group have run.
std::vector<Stage> stages_of(const CutSteps& steps) {
  std::vector<Stage> stages;
  int64_t all = 0;  // slabs
  stages.reserve(steps.cut.size());
  for (int k = 0; k < steps.count(); ++k) {
    const auto& [slabs, pulls, waits] = steps.cut[k];
    Stage stage{steps.begin + k, slabs.count, slabs.nests, {}, -1, 1, {}};
    for (const Pull& pull : pulls)
      if (pull.producer >= steps.begin) stage.pulls.push_back({pull.producer - steps.begin, pull.upto});
    all += stage.slabs;
    stages.push_back(std::move(stage));
  }
  ARENAC_CHECK(all < kNever, "a group has fewer slabs than moments can count");
  return stages;
}

// The stages with those that drive them: what no other stage reads, and what is read after the group, too.
Group group_of(const CutSteps& steps) {
  Group group{steps.begin, steps.end(), stages_of(steps), {}, {}};
  std::vector<bool> is_read(group.stages.size());
  for (const Stage& stage : group.stages)
    for (const Pull& pull : stage.pulls) is_read[pull.producer] = true;
  for (int k = 0; k < steps.count(); ++k) {
    const TensorId out = steps.slabs(k).write.tensor;
    if (!is_read[k])
      group.sinks.push_back(k);
    else if (steps.facts.last_reader[out] >= group.end)
      group.completed.push_back(k);
  }
  return group;
}

// What is overwritten has been read before, as far as steps can see to it: waits become pulls of the stages
// within.
void wait_for_readers(Group& group, const CutSteps& steps) {
  for (int k = 0; k < steps.count(); ++k)
    for (const Pull& wait : steps.cut[k].waits)
      if (wait.producer >= steps.begin) add(group.stages[k].pulls, {wait.producer - steps.begin, wait.upto});
}

// Of what lives here alone and is never there whole.
std::vector<KeptRing> rings_of(const std::vector<StorageUse>& storages, const StepFacts& facts) {
  std::vector<KeptRing> rings;
  for (const auto& [id, was_before, kept] : storages) {
    const Rows& rows = facts.rows[id];
    if (kept > 0 && kept < rows.count) rings.push_back({id, {rows.size, kept, 0, 0}});
  }
  return rings;
}

// A group in the making: its stages, and when what they touch is there.
class GroupForming {
 public:
  explicit GroupForming(const CutSteps& steps) : steps_(steps), group_(group_of(steps)), sources_(steps) {}

  std::optional<GroupPlan> run(const Keep& keep) {
    // Waits make slabs run earlier than they need: they are for what is not in order without.
    if (!runs_in_order()) {
      wait_for_readers(group_, steps_);
      if (!runs_in_order()) return std::nullopt;
    }
    if (!keep.columns) return plan(sources_.storage_uses());
    // from here on stages may have hosts
    Chunks chunks(steps_, group_, keep.width);
    for (const WindowKept& window : keep.again)
      if (!chunks.compute_again(window.storage)) return std::nullopt;
    // Guests that are computed again run when their host does, not when they are pulled.
    if (!keep.again.empty()) {
      chunks.gather_pulls();
      if (!runs_in_order()) return std::nullopt;
    }
    // Columns are cut of what rows would keep; where they cannot run in order, rows it is.
    const std::vector<StorageUse> in_rows = sources_.storage_uses();
    std::vector<KeptRing> cut = rings_of(in_rows, steps_.facts);
    if (chunks.cut(cut) && chunks.any()) {
      GroupTimes times_in_rows = std::move(times_);
      if (auto columns = pulled_by_hosts(chunks, cut)) return columns;
      times_ = std::move(times_in_rows);
    }
    if (!keep.again.empty()) return std::nullopt;
    group_.stages = chunks.plain();
    return plan(in_rows);
  }

 private:
  // Traces the group as it is. False where a tensor overwrites what another still has to be read of.
  bool runs_in_order() {
    times_ = times_of(group_);
    sources_.trace(times_);
    return sources_.are_in_order();
  }

  // The end of the group in the making: what is left of it is the plan's. Rings are of storages that keep
  // fewer rows than they have.
  GroupPlan plan(const std::vector<StorageUse>& storages) {
    std::vector<KeptRing> kept = rings_of(storages, steps_.facts);
    std::vector<StorageOverlap> over = overlaps_of(steps_, times_, storages);
    return {std::move(group_), std::move(kept), std::move(over)};
  }

  // The group with chunks. Hosts pull in another order, so that rows may live longer: rings of rows are found
  // anew, and those that were cut into chunks take the place of theirs. Nothing where tensors in one place
  // would get in each other's way.
  std::optional<GroupPlan> pulled_by_hosts(Chunks& chunks, const std::vector<KeptRing>& cut) {
    chunks.gather_pulls();
    if (!runs_in_order()) return std::nullopt;
    GroupPlan all = plan(sources_.storage_uses());
    for (const KeptRing& chunk : cut) {
      if (chunk.ring.columns == 0 && chunk.ring.row == steps_.facts.rows[chunk.storage].size) continue;
      std::erase_if(all.rings, [&](const KeptRing& ring) { return ring.storage == chunk.storage; });
      all.rings.push_back(chunk);
    }
    return all;
  }

  const CutSteps& steps_;
  Group group_;
  TouchedSources sources_;
  GroupTimes times_;
};

// Per step before `end` how many slabs of it to take at a time: as the windows of what is computed again say
// for the step that reads through them and for those that read the rows of this one as they come. Nothing
// where they contradict each other.
std::optional<std::map<int, int64_t>> strips_of(int end, const std::vector<WindowKept>& again,
                                                const StepFacts& facts) {
  std::map<int, int64_t> strips;
  // a step whose result is computed again takes slabs as its reader asks for them, not in strips
  const auto writes_again = [&](int s) {
    return std::any_of(again.begin(), again.end(),
                       [&](const WindowKept& window) { return facts.writer[window.storage] == s; });
  };
  // s reads the producer slab by slab, each its own
  const auto in_step = [&](int s, int producer) {
    const auto& pulls = facts.steps[s].pulls;
    const auto at =
        std::find_if(pulls.begin(), pulls.end(), [&](const Pull& p) { return p.producer == producer; });
    return at != pulls.end() && facts.steps[s].slabs.count == facts.steps[producer].slabs.count &&
           in_turn(*at);
  };
  const auto take = [&](int s, int64_t strip) { return strips.emplace(s, strip).first->second == strip; };
  for (const auto& [storage, strip] : again) {
    const int reader = facts.last_reader[storage];
    if (reader < 0 || reader >= end || !take(reader, strip)) return std::nullopt;
    if (facts.one_by_one[reader]) return std::nullopt;
    for (int s = reader + 1; s < end; ++s)
      if (in_step(s, reader) && !writes_again(s) && !facts.one_by_one[s] && !take(s, strip))
        return std::nullopt;
  }
  return strips;
}

}  // namespace

std::optional<GroupPlan> form_group(const Schedule& whole, const StepFacts& facts, int begin, int end,
                                    const Keep& keep) {
  const auto one = [](const WindowKept& window) { return window.strip == 1; };
  std::span<const StepInSlabs> cut = std::span(facts.steps).subspan(begin, end - begin);
  std::optional<std::vector<StepInSlabs>> cut_in_strips;
  if (!std::all_of(keep.again.begin(), keep.again.end(), one)) {
    const auto strips = strips_of(end, keep.again, facts);
    if (strips) cut_in_strips = in_strips(begin, end, *strips, facts, whole.steps);
    if (!cut_in_strips) return std::nullopt;
    cut = *cut_in_strips;
  }
  if (std::ranges::any_of(cut, [](const StepInSlabs& step) { return step.slabs.count == 0; }))
    return std::nullopt;
  const CutSteps steps{whole, facts, begin, cut};
  return GroupForming(steps).run(keep);
}

}  // namespace arenac
