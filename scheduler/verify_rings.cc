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

// Per tensor the first of those whose values are the same where they lie: views, and what copies that take
// no code join.
std::vector<TensorId> values_of(const Schedule& schedule, const StepFacts& facts) {
  std::vector<TensorId> values = facts.source;
  const auto first = [&](TensorId id) {
    while (values[id] != id) id = values[id];
    return id;
  };
  for (const Step& step : schedule.steps) {
    const Nests* nests = step.kind == StepKind::kRun ? std::get_if<Nests>(&step.node->body) : nullptr;
    if (!nests) continue;
    for (const Nest& nest : *nests) {
      if (!is_elided(nest, *step.node, *schedule.graph, schedule.layouts)) continue;
      any_of(nest.body, [&](const Expr& e) {
        if (e->op == Op::kRead) values[first(step.node->reads[e->index])] = first(step.node->writes[0]);
        return false;
      });
    }
  }
  for (size_t id = 0; id < values.size(); ++id) values[id] = first(static_cast<TensorId>(id));
  return values;
}

// Per storage, whether every tensor in it takes whole rows and stages write them so, not in parts.
std::vector<bool> have_whole_rows(const Schedule& schedule, const StepFacts& facts) {
  const std::vector<Tensor>& tensors = schedule.graph->tensors;
  std::vector<bool> whole(tensors.size(), true);
  for (size_t id = 0; id < tensors.size(); ++id) {
    const TensorId storage = schedule.layouts[id].root;
    if (element_count(tensors[id].shape) != element_count(tensors[storage].shape)) whole[storage] = false;
  }
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages) {
      if (stage.chunks <= 1 && stage.host < 0) continue;
      for (const RowAccess& access : facts.slabs[stage.step].reads)
        whole[schedule.layouts[access.tensor].root] = false;
      whole[schedule.layouts[facts.slabs[stage.step].write.tensor].root] = false;
    }
  return whole;
}

// What lies in a slot of a storage: the number of the row, or of the element or column as rows follow each
// other, and whose it is, one of values_of(); -1 where rows of the storage are shared or come in parts.
struct Slot {
  int64_t number = -1;
  TensorId of = -1;

  bool operator==(const Slot&) const = default;
};

// The slots of each ring, and the rows of each storage that is there whole.
class Slots {
 public:
  Slots(const Schedule& schedule, const StepFacts& facts)
      : schedule_(schedule),
        facts_(facts),
        values_(values_of(schedule, facts)),
        whole_(have_whole_rows(schedule, facts)),
        slots_(facts.rows.size()) {
    for (size_t id = 0; id < slots_.size(); ++id) {
      const Ring& ring = schedule.layouts[id].ring;
      slots_[id].resize(ring.kept * std::max<int64_t>(ring.columns, 1));
    }
  }

  // Forgets what lies in storages that are there whole: steps between groups write there, too.
  void forget_whole() {
    for (size_t id = 0; id < slots_.size(); ++id)
      if (schedule_.layouts[id].ring.kept == 0)
        slots_[id].assign(whole_[id] && facts_.rows[id].size > 0 ? facts_.rows[id].count : 0, Slot());
  }

  void run(const Group& group, const ChunkRun& run) {
    const Stage& stage = group.stages[run.stage];
    const Slabs& slabs = facts_.slabs[stage.step];
    for (const RowAccess& access : slabs.reads)
      visit(stage, run, access, [&](const Slot& slot, const Slot& wanted) {
        ARENAC_CHECK(slot == wanted, fmt::format("'{}' reads row {} of '{}', where row {} of '{}' lies",
                                                 schedule_.steps[stage.step].node->origin, wanted.number,
                                                 schedule_.graph->tensors[access.tensor].name, slot.number,
                                                 slot.of < 0 ? "" : schedule_.graph->tensors[slot.of].name));
      });
    visit(stage, run, slabs.write, [](Slot& slot, const Slot& written) { slot = written; });
  }

 private:
  template <typename Use>
  void visit(const Stage& stage, const ChunkRun& run, const RowAccess& access, const Use& use) {
    const TensorId storage = schedule_.layouts[access.tensor].root;
    const Ring& ring = schedule_.layouts[storage].ring;
    const Rows& rows = facts_.rows[storage];
    const TensorId of = whole_[storage] ? values_[access.tensor] : -1;
    const auto [top, bottom] = access.rows[run.slab];
    if (ring.kept == 0) {
      if (slots_[storage].empty()) return;
      for (int64_t y = top; y < bottom; ++y) {
        Slot& slot = slots_[storage][y];
        if (slot.of < 0) slot = {y, of};  // from before the group
        use(slot, {y, of});
      }
      return;
    }
    if (ring.columns == 0 && ring.row == rows.size) {
      for (int64_t y = top; y < bottom; ++y) use(slots_[storage][y % ring.kept], {y, of});
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
            {number, of});
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
  std::vector<TensorId> values_;
  std::vector<bool> whole_;
  std::vector<std::vector<Slot>> slots_;                                   // per storage
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
    slots.forget_whole();
    for (const SlabRun& run : runs_of(group)) {
      if (group.stages[run.stage].host >= 0) continue;
      for (const ChunkRun& part : chunk_runs_of(group, guests, run)) slots.run(group, part);
    }
  }
}

}  // namespace arenac
