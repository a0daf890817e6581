#include "scheduler/verify_rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "frontend/error.h"
#include "frontend/facts.h"
#include "scheduler/slab_runs.h"
#include "scheduler/storage_slots.h"

namespace arenac {
namespace {

// Per tensor the first of those whose values are the same where they lie: views, and what copies that take
// no code join.
std::vector<TensorId> values_of(const Schedule& schedule) {
  std::vector<TensorId> values(schedule.layouts.size());
  std::iota(values.begin(), values.end(), 0);
  std::vector<bool> is_written(values.size());
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kRun)
      for (TensorId id : step.node->writes) is_written[id] = true;
  const auto first = [&](TensorId id) {
    while (values[id] != id) id = values[id] = values[values[id]];
    return id;
  };
  const auto join = [&](const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) return;
    const bool is_view = !is_written[node.writes[0]];
    for (const Nest& nest : *nests) {
      const Expr* read = copied_read(nest, node, *schedule.graph);
      if (!read || !(is_view || is_elided(nest, node, *schedule.graph, schedule.layouts))) continue;
      const TensorId from = first(node.reads[(*read)->index]), to = first(node.writes[0]);
      (is_view ? values[to] : values[from]) = is_view ? from : to;
    }
  };
  for (const Node& node : schedule.graph->block) visit_nodes(node, join);
  for (size_t id = 0; id < values.size(); ++id) values[id] = first(static_cast<TensorId>(id));
  return values;
}

// Runs steps and slabs on what is watched.
class Checker {
 public:
  Checker(const Schedule& schedule, const SlabCuts& cuts)
      : schedule_(schedule),
        graph_(*schedule.graph),
        cuts_(cuts),
        values_(values_of(schedule)),
        slots_(schedule, cuts) {
    for (TensorId id : graph_.inputs)
      if (!graph_.by_rows.contains(id)) write(id, id);
  }

  void run(int step) {
    for (const StepPart& part : slots_.parts(step)) {
      for (TensorId id : part.reads) read(step, id);
      if (part.written >= 0) write(part.written, part.area);
    }
  }

  void run(const Group& group, const ChunkRun& run) {
    const Stage& stage = group.stages[run.stage];
    const Slabs& slabs = cuts_.slabs[stage.step];
    done_[stage.step] = run.slab + 1;
    const TensorId fed = fed_to(*schedule_.steps[stage.step].node, graph_);
    ARENAC_CHECK(fed < 0 || run.slab == fed_[fed]++, "rows of an input are taken in another order");
    if (fed >= 0)  // the caller passes one more
      visit(fed, fed, {run.slab, run.slab + 1}, kAll, [](RowSlot& slot, const RowSlot& row) { slot = row; });
    for (const StepPart& part : slots_.parts(stage.step)) {
      for (const RowAccess* read : part.slabs_read)
        visit(read->tensor, read->tensor, read->rows[run.slab], slots_.columns_at(stage, run.chunk, *read),
              [&](RowSlot& slot, const RowSlot& wanted) { expect(slot, wanted, stage.step, read->tensor); });
      if (part.written >= 0)
        visit(part.written, part.area, slabs.write.rows[run.slab],
              slots_.columns_at(stage, run.chunk, slabs.write),
              [](RowSlot& slot, const RowSlot& written) { slot = written; });
    }
  }

  // What steps may have written or not, or in another trip: anything may lie there.
  void forget_written(int begin, int end) {
    for (int s = begin; s < end; ++s)
      for (TensorId id : schedule_.steps[s].node->writes)
        if (WatchedStorage& storage = storage_of(id); storage.ring.kept == 0)
          storage.slots.assign(storage.slots.size(), {-1, kAnything});
  }

  // Where control parts or joins. Steps before it and behind it are known of.
  void pass(int s) {
    const Step& step = schedule_.steps[s];
    switch (step.kind) {
      case StepKind::kRun:
      case StepKind::kIf:
        break;
      case StepKind::kElse:  // the other branch has not run
      case StepKind::kEndIf:
        for (int k = s - 1; schedule_.steps[k].node != step.node || schedule_.steps[k].kind != StepKind::kIf;
             --k)
          forget_written(k, k + 1);
        break;
      case StepKind::kLoop:  // not for the first time
        forget_written(s, step.partner + 1);
        break;
      case StepKind::kEndLoop:  // perhaps never
        forget_written(step.partner, s + 1);
        break;
    }
  }

  void finish() {
    const int last = static_cast<int>(schedule_.steps.size()) - 1;
    for (TensorId id : whole_outputs(graph_)) read(last, id);
    for (const Group& group : schedule_.groups)
      for (const Stage& stage : group.stages) expect_all(stage);
  }

 private:
  WatchedStorage& storage_of(TensorId id) { return slots_.watched(id); }

  void read(int step, TensorId id) {
    visit(id, id, kAll, kAll, [&](RowSlot& slot, const RowSlot& wanted) { expect(slot, wanted, step, id); });
  }
  void write(TensorId id, int area) {
    visit(id, area, kAll, kAll, [](RowSlot& slot, const RowSlot& written) { slot = written; });
  }

  // use(slot, what lies there when the area of that number is in place) for those of its rows and columns.
  template <typename Use>
  void visit(TensorId id, int area, Interval rows, Interval columns, const Use& use) {
    WatchedStorage& storage = storage_of(id);
    if (storage.slots.empty() || !slots_.is_tracked(id)) return;
    const auto& parts = storage.cells.parts;
    const auto part = parts.find(area);
    const int64_t width = storage.cells.columns.count;
    for (const Interval& run : slots_.rows_of(area))
      for (int64_t y = std::max(run.begin, rows.begin); y < std::min(run.end, rows.end); ++y)
        for (int64_t x = columns.begin; x < std::min(columns.end, width); ++x) {
          RowSlot* const slots = storage.at(y, x);
          const RowSlot known = {y * width + x, storage.has_values ? values_[id] : kNothing};
          if (part != parts.end())
            for (int k : part->second[x]) use(slots[k], known);
          else
            for (int k = 0; k < storage.cells.count_at(x); ++k) use(slots[k], known);
        }
  }

  void expect(RowSlot& slot, const RowSlot& wanted, int step, TensorId id) const {
    if (slot.of == kAnything) slot = wanted;
    const auto name = [&](TensorId of) { return of < 0 ? "" : graph_.tensors[of].name; };
    ARENAC_CHECK(slot == wanted, fmt::format("'{}' reads row {} of '{}', where row {} of '{}' lies",
                                             schedule_.steps[step].node->origin, wanted.number, name(id),
                                             slot.number, name(slot.of)));
  }

  // What goes to the caller runs to its end, though nobody here pulls it.
  void expect_all(const Stage& stage) const {
    const Node& node = *schedule_.steps[stage.step].node;
    const TensorId storage = schedule_.layouts[node.writes[0]].root;
    if (std::ranges::count(graph_.outputs, storage) == 0) return;
    const auto done = done_.find(stage.step);
    ARENAC_CHECK(done != done_.end() && done->second == stage.slabs,
                 fmt::format("'{}' ends before all of it is at the caller's", node.origin));
  }

  const Schedule& schedule_;
  const Graph& graph_;
  const SlabCuts& cuts_;
  const std::vector<TensorId> values_;
  std::map<int, int64_t> done_;      // per step in a group: its slabs that ran
  std::map<TensorId, int64_t> fed_;  // rows of inputs that were passed
  StorageSlots slots_;
};

}  // namespace

void verify_rings(const Schedule& schedule) {
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Node& node = *schedule.steps[s].node;
    if (schedule.steps[s].kind != StepKind::kRun || !runs_by_rows(node, *schedule.graph)) continue;
    const Stage* stage = stage_of(schedule, s);
    ARENAC_CHECK(stage && stage->host < 0, fmt::format("'{}' does not run row by row", node.origin));
  }
  const SlabCuts cuts = cuts_of(schedule);
  Checker checker(schedule, cuts);
  run_on(checker, schedule);
}

}  // namespace arenac
