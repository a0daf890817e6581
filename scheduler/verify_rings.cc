#include "scheduler/verify_rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "frontend/error.h"
#include "scheduler/columns.h"
#include "scheduler/groups.h"

namespace arenac {
namespace {

// The number of the row, or of the element or column as rows follow each other, in each slot of each ring.
class Slots {
 public:
  Slots(const Schedule& schedule, const StepFacts& facts)
      : schedule_(schedule), facts_(facts), slots_(facts.rows.size()) {
    for (size_t id = 0; id < slots_.size(); ++id) {
      const Ring& ring = schedule.layouts[id].ring;
      slots_[id].resize(ring.kept * std::max<int64_t>(ring.columns, 1), -1);
    }
  }

  void run(const Group& group, const ChunkRun& run) {
    const Stage& stage = group.stages[run.stage];
    const Slabs& slabs = facts_.slabs[stage.step];
    for (const RowAccess& access : slabs.reads)
      visit(stage, run, access, [&](int64_t& slot, int64_t number) {
        ARENAC_CHECK(slot == number, fmt::format("'{}' reads row {} of '{}', which is not in its ring",
                                                 schedule_.steps[stage.step].node->origin, number,
                                                 schedule_.graph->tensors[access.tensor].name));
      });
    visit(stage, run, slabs.write, [](int64_t& slot, int64_t number) { slot = number; });
  }

 private:
  template <typename Use>
  void visit(const Stage& stage, const ChunkRun& run, const RowAccess& access, const Use& use) {
    const TensorId storage = schedule_.layouts[access.tensor].root;
    const Ring& ring = schedule_.layouts[storage].ring;
    const Rows& rows = facts_.rows[storage];
    if (ring.kept == 0) return;
    const auto [top, bottom] = access.rows[run.slab];
    if (ring.columns == 0 && ring.row == rows.size) {
      for (int64_t y = top; y < bottom; ++y) use(slots_[storage][y % ring.kept], y);
      return;
    }
    const Rows columns =
        columns_of(schedule_.layouts[storage], rows, schedule_.graph->tensors[storage].shape);
    const Interval part = columns_at(stage, run.chunk, access, storage);
    for (int64_t y = top; y < bottom; ++y)
      for (int64_t x = part.begin; x < part.end; ++x) {
        const int64_t number = y * columns.count + x;
        use(slots_[storage]
                  [ring.columns > 0 ? y % ring.kept * ring.columns + x % ring.columns : number % ring.kept],
            number);
      }
  }

  Interval columns_at(const Stage& stage, int64_t chunk, const RowAccess& access, TensorId storage) {
    const Slabs& slabs = facts_.slabs[stage.step];
    auto& seen = seen_[{stage.step, access.tensor, &access == &slabs.write}];
    if (seen.empty())
      seen = columns_touched(*schedule_.steps[stage.step].node, stage.chunk_axes, stage.chunks, access.tensor,
                             facts_.rows[storage], *schedule_.graph, schedule_.layouts);
    return seen[chunk];
  }

  const Schedule& schedule_;
  const StepFacts& facts_;
  std::vector<std::vector<int64_t>> slots_;                                // per storage
  std::map<std::tuple<int, TensorId, bool>, std::vector<Interval>> seen_;  // columns, per chunk
};

}  // namespace

void verify_rings(const Schedule& schedule) {
  if (schedule.groups.empty()) return;
  StepFacts facts = step_facts(*schedule.graph, schedule.steps, schedule.layouts);
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages)
      facts.slabs[stage.step] =
          slabs_of_stage(stage, facts.slabs[stage.step], *schedule.steps[stage.step].node);
  Slots slots(schedule, facts);
  for (const Group& group : schedule.groups) {
    const Guests guests = guests_of(group);
    for (const SlabRun& run : runs_of(group)) {
      if (group.stages[run.stage].host >= 0) continue;
      for (const ChunkRun& part : chunk_runs_of(group, guests, run)) slots.run(group, part);
    }
  }
}

}  // namespace arenac
