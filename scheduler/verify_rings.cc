#include "scheduler/verify_rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "frontend/error.h"
#include "frontend/facts.h"
#include "scheduler/columns.h"
#include "scheduler/groups.h"
#include "scheduler/storage_cells.h"

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

// What a nest writes where that is a box.
std::optional<Box> box_written(const Nest& nest) {
  if (!nest.where.empty()) return std::nullopt;
  Box box;
  for (const Expr& index : nest.store) {
    const auto form = affine_form(index);
    if (!form || form->terms.size() > 1) return std::nullopt;
    box.push_back({form->constant, form->constant + 1});
    if (form->terms.empty()) continue;
    const auto [axis, factor] = *form->terms.begin();
    if (axis < 0 || factor != 1) return std::nullopt;
    box.back().end += nest.axes[axis].extent - 1;
  }
  return box;
}

// What lies in a slot: the number of the row, or of the column as rows follow each other, and whose it is,
// one of values_of().
struct Slot {
  int64_t number = -1;
  TensorId of = -1;

  bool operator==(const Slot&) const = default;
};

// The slots of each ring, and the rows of each storage that is there whole, cell by cell.
class Slots {
 public:
  Slots(const Schedule& schedule, const StepFacts& facts)
      : schedule_(schedule),
        graph_(*schedule.graph),
        facts_(facts),
        values_(values_of(schedule, facts)),
        rows_(rows_told_apart()),
        cells_(facts.rows.size()),
        slots_(facts.rows.size()) {
    find_cells();
    for (size_t id = 0; id < slots_.size(); ++id) slots_[id].resize(slots_of(id));
  }

  // Of storages that are there whole.
  void forget() {
    for (size_t id = 0; id < slots_.size(); ++id)
      if (schedule_.layouts[id].ring.kept == 0) slots_[id].assign(slots_[id].size(), Slot());
  }

  // A step outside groups: nest by nest, as a later one may read what an earlier one must leave.
  void run(int step) {
    const Node& node = *schedule_.steps[step].node;
    std::set<TensorId> read;
    const auto read_first = [&](TensorId id) {
      if (is_tracked(id) && read.insert(id).second)
        use_area(id, id, area(id), [&](Slot& slot, const Slot& wanted) { expect(slot, wanted, step, id); });
    };
    const auto write = [](Slot& slot, const Slot& written) { slot = written; };
    const Nests* nests = std::get_if<Nests>(&node.body);
    for (size_t k = 0; nests && k < nests->size(); ++k) {
      visit_reads(nests->at(k), [&](const Expr& e) { read_first(node.reads[e->index]); });
      if (const auto at = boxes_.find({step, k}); at != boxes_.end())
        use_area(node.writes[0], at->second.number, at->second.area, write);
    }
    if (!nests)
      for (TensorId id : node.reads) read_first(id);
    for (TensorId id : node.writes)
      if (is_tracked(id)) use_area(id, id, area(id), write);
  }

  void run(const Group& group, const ChunkRun& run) {
    const Stage& stage = group.stages[run.stage];
    const Slabs& slabs = facts_.slabs[stage.step];
    for (const RowAccess& access : slabs.reads)
      if (facts_.rows[root(access.tensor)].size > 0)
        visit(stage, run, access,
              [&](Slot& slot, const Slot& wanted) { expect(slot, wanted, stage.step, access.tensor); });
    visit(stage, run, slabs.write, [](Slot& slot, const Slot& written) { slot = written; });
  }

 private:
  TensorId root(TensorId id) const { return schedule_.layouts[id].root; }

  // The rows of each storage; one that is not in rows is one of them, where that tells what is in it.
  std::vector<Rows> rows_told_apart() const {
    constexpr int64_t kMostPlaces = 1 << 20;
    std::vector<Rows> rows = facts_.rows;
    std::vector<int64_t> spans(rows.size());
    for (size_t id = 0; id < rows.size(); ++id) {
      const Tensor &t = graph_.tensors[id], &storage = graph_.tensors[root(id)];
      int64_t& span = spans[root(id)];
      const auto& strides = schedule_.layouts[id].strides;
      const bool backwards = std::ranges::any_of(strides, [](int64_t stride) { return stride < 0; });
      if (backwards || size_of(t.type) != size_of(storage.type)) span = kMostPlaces + 1;
      span = std::max(span, schedule_.layouts[id].offset + span_of(schedule_.layouts[id], t.shape));
    }
    for (size_t id = 0; id < rows.size(); ++id)
      if (rows[id].size == 0 && spans[id] <= kMostPlaces) rows[id] = {spans[id], 1};
    return rows;
  }

  bool has_column_slots(size_t storage) const {
    const Ring& ring = schedule_.layouts[storage].ring;
    return ring.kept > 0 && (ring.columns > 0 || ring.row != rows_[storage].size);
  }

  std::vector<bool> in_chunks() const {
    std::vector<bool> chunked(cells_.size());
    for (const Group& group : schedule_.groups)
      for (const Stage& stage : group.stages) {
        if (stage.chunks <= 1) continue;
        const Slabs& slabs = facts_.slabs[stage.step];
        for (const RowAccess& access : slabs.reads) chunked[root(access.tensor)] = true;
        chunked[root(slabs.write.tensor)] = true;
      }
    return chunked;
  }

  bool is_tracked(TensorId id) const {
    return rows_[root(id)].size > 0 && !graph_.tensors[id].constant &&
           element_count(graph_.tensors[id].shape) > 0;
  }

  void find_cells() {
    std::vector<std::map<int, Area>> areas(cells_.size());  // per storage
    for (size_t id = 0; id < cells_.size(); ++id)
      if (is_tracked(static_cast<TensorId>(id))) areas[root(id)].emplace(id, area(id));
    for (size_t s = 0; s < schedule_.steps.size(); ++s) {
      const Node& node = *schedule_.steps[s].node;
      const Nests* nests = std::get_if<Nests>(&node.body);
      if (!nests || nests->size() < 2 || !is_tracked(node.writes[0])) continue;
      for (size_t k = 0; k < nests->size(); ++k) {
        const auto box = box_written(nests->at(k));
        if (!box || is_elided(nests->at(k), node, graph_, schedule_.layouts)) continue;
        const int number = static_cast<int>(cells_.size() + boxes_.size());
        const TensorId storage = root(node.writes[0]);
        boxes_[{s, k}] = {number, area_of(schedule_.layouts[node.writes[0]], *box, rows_[storage])};
        areas[storage].emplace(number, boxes_[{s, k}].area);
      }
    }
    const std::vector<bool> chunked = in_chunks();
    for (size_t id = 0; id < cells_.size(); ++id) {
      if (rows_[id].size == 0 || root(id) != static_cast<TensorId>(id)) continue;
      Rows columns = {rows_[id].size, 1};
      if (chunked[id] || has_column_slots(id))
        if (const Rows own = columns_of(schedule_.layouts[id], facts_.rows[id], graph_.tensors[id].shape);
            own.size > 0)
          columns = own;
      cells_[id] = cells_of(rows_[id], columns, areas[id]);
    }
  }

  Area area(TensorId id) const {
    return area_of(schedule_.layouts[id], whole(graph_.tensors[id].shape), rows_[root(id)]);
  }

  size_t slots_of(size_t storage) const {
    const Ring& ring = schedule_.layouts[storage].ring;
    const RowCells& cells = cells_[storage];
    if (cells.counts.empty()) return 0;
    const int64_t kept = ring.kept == 0 ? rows_[storage].count : ring.kept;
    const int64_t columns =
        has_column_slots(storage) ? std::max<int64_t>(ring.columns, 1) : cells.columns.count;
    return static_cast<size_t>(kept * columns * cells.most());
  }

  // The slots of the cells of a column of a row.
  Slot* slots_at(TensorId storage, int64_t y, int64_t x) {
    const Ring& ring = schedule_.layouts[storage].ring;
    const int64_t columns = cells_[storage].columns.count;
    const int64_t slot = ring.kept == 0               ? y * columns + x
                         : !has_column_slots(storage) ? y % ring.kept * columns + x
                         : ring.columns > 0           ? y % ring.kept * ring.columns + x % ring.columns
                                                      : (y * columns + x) % ring.kept;
    return &slots_[storage].at(static_cast<size_t>(slot * cells_[storage].most()));
  }

  // What holds `values` in one column of a row: the area of that number, or all of it.
  template <typename Use>
  void use_column(TensorId storage, int64_t y, int64_t x, int number, TensorId values, const Use& use) {
    const RowCells& cells = cells_[storage];
    const auto part = cells.parts.find(number);
    Slot* const slots = slots_at(storage, y, x);
    const Slot wanted = {y * cells.columns.count + x, values};
    if (part != cells.parts.end())
      for (int k : part->second[x]) use(slots[k], wanted);
    else
      for (int k = 0; k < cells.counts[x]; ++k) use(slots[k], wanted);
  }

  template <typename Use>
  void use_area(TensorId id, int number, const Area& area, const Use& use) {
    for (int64_t y : area.rows)
      for (int64_t x = 0; x < cells_[root(id)].columns.count; ++x)
        use_column(root(id), y, x, number, values_[id], use);
  }

  void expect(Slot& slot, const Slot& wanted, int step, TensorId id) const {
    if (slot.of < 0 && schedule_.layouts[id].ring.kept == 0) slot = wanted;  // not known from before
    ARENAC_CHECK(slot == wanted,
                 fmt::format("'{}' reads row {} of '{}', where row {} of '{}' lies",
                             schedule_.steps[step].node->origin, wanted.number, graph_.tensors[id].name,
                             slot.number, slot.of < 0 ? "" : graph_.tensors[slot.of].name));
  }

  template <typename Use>
  void visit(const Stage& stage, const ChunkRun& run, const RowAccess& access, const Use& use) {
    const TensorId storage = root(access.tensor);
    if (slots_[storage].empty()) return;
    const Interval columns = columns_at(stage, run.chunk, access, storage);
    for (int64_t y = access.rows[run.slab].begin; y < access.rows[run.slab].end; ++y)
      for (int64_t x = columns.begin; x < columns.end; ++x)
        use_column(storage, y, x, access.tensor, values_[access.tensor], use);
  }

  Interval columns_at(const Stage& stage, int64_t chunk, const RowAccess& access, TensorId storage) {
    if (cells_[storage].columns.count == 1 || stage.chunks <= 1) return {0, cells_[storage].columns.count};
    const Slabs& slabs = facts_.slabs[stage.step];
    auto& seen = seen_[{stage.step, access.tensor, &access == &slabs.write}];
    if (seen.empty())
      seen = columns_touched(*schedule_.steps[stage.step].node, stage.chunk_axes, stage.chunks, access.tensor,
                             facts_.rows[storage], graph_, schedule_.layouts);
    return seen[chunk];
  }

  struct NumberedArea {
    int number;
    Area area;
  };
  const Schedule& schedule_;
  const Graph& graph_;
  const StepFacts& facts_;
  const std::vector<TensorId> values_;
  const std::vector<Rows> rows_;                                           // per storage
  std::vector<RowCells> cells_;                                            // per storage
  std::vector<std::vector<Slot>> slots_;                                   // per storage
  std::map<std::pair<size_t, size_t>, NumberedArea> boxes_;                // per step and nest
  std::map<std::tuple<int, TensorId, bool>, std::vector<Interval>> seen_;  // columns, per chunk
};

}  // namespace

void verify_rings(const Schedule& schedule) {
  StepFacts facts = step_facts(*schedule.graph, schedule.steps, schedule.layouts);
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages)
      facts.slabs[stage.step] =
          slabs_of_stage(stage, facts.slabs[stage.step], *schedule.steps[stage.step].node);
  Slots slots(schedule, facts);
  auto group = schedule.groups.begin();
  for (int s = 0; s < static_cast<int>(schedule.steps.size()); ++s) {
    if (group == schedule.groups.end() || s < group->begin) {
      if (schedule.steps[s].kind == StepKind::kRun)
        slots.run(s);
      else
        slots.forget();
      continue;
    }
    const Guests guests = guests_of(*group);
    for (const SlabRun& run : runs_of(*group)) {
      if (group->stages[run.stage].host >= 0) continue;
      for (const ChunkRun& part : chunk_runs_of(*group, guests, run)) slots.run(*group, part);
    }
    s = group->end - 1;
    ++group;
  }
}

}  // namespace arenac
