#include "scheduler/verify_rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "frontend/error.h"
#include "frontend/facts.h"
#include "scheduler/columns.h"
#include "scheduler/groups.h"
#include "scheduler/storage_cells.h"

namespace arenac {
namespace {

constexpr int64_t kMostSlots = 1 << 22;  // of all storages whose tensors are told apart

// f(node) for those of a block and of what is in it.
template <typename F>
void each_node(const Block& block, const F& f) {
  for (const Node& node : block) {
    f(node);
    for (const Block* inner : blocks_of(node)) each_node(*inner, f);
  }
}

// Per storage its rows, per step of a group the slabs that it is cut into.
struct Cuts {
  std::vector<Rows> rows;
  std::vector<Slabs> slabs;
};
Cuts cuts_of(const Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  Cuts cuts{storage_rows(graph, schedule.layouts), std::vector<Slabs>(schedule.steps.size())};
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages) {
      const Node& node = *schedule.steps[stage.step].node;
      cuts.slabs[stage.step] =
          slabs_of_stage(stage, slabs_of(node, graph, schedule.layouts, cuts.rows), node);
    }
  return cuts;
}

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
  each_node(schedule.graph->block, [&](const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) return;
    const bool is_view = !is_written[node.writes[0]];
    for (const Nest& nest : *nests) {
      const Expr* read = copied_read(nest, node, *schedule.graph);
      if (!read || !(is_view || is_elided(nest, node, *schedule.graph, schedule.layouts))) continue;
      const TensorId from = first(node.reads[(*read)->index]), to = first(node.writes[0]);
      (is_view ? values[to] : values[from]) = is_view ? from : to;
    }
  });
  for (size_t id = 0; id < values.size(); ++id) values[id] = first(static_cast<TensorId>(id));
  return values;
}

// What lies in a slot: the number of the row, or of the column as rows follow each other, and whose it is,
// one of values_of().
constexpr TensorId kNothing = -1, kAnything = -2;
struct Slot {
  int64_t number = -1;
  TensorId of = kNothing;

  bool operator==(const Slot&) const = default;
};

// What a nest of a step does, or all of it: what it reads, then which of its areas it writes.
struct Part {
  std::vector<TensorId> reads;
  std::vector<const RowAccess*> slabs_read = {};  // of what it reads; none outside of groups
  TensorId written = -1;                          // -1: nothing
  int area = -1;                                  // its number
};

// A storage, cell by cell.
struct Watched {
  Rows rows;
  RowCells cells;
  Ring ring;
  bool has_values = false;  // else only numbers are known
  std::vector<Slot> slots;  // empty: nothing is known

  bool has_column_slots() const { return ring.kept > 0 && (ring.columns > 0 || ring.row != rows.size); }

  int64_t slot_count() const {
    const int64_t columns = has_column_slots() ? std::max<int64_t>(ring.columns, 1) : cells.columns.count;
    return (ring.kept > 0 ? ring.kept : rows.count) * columns * cells.most;
  }

  // The slots of the cells of a column of a row.
  Slot* at(int64_t y, int64_t x) {
    const int64_t columns = cells.columns.count;
    const int64_t slot = ring.kept == 0        ? y * columns + x
                         : !has_column_slots() ? y % ring.kept * columns + x
                         : ring.columns > 0    ? y % ring.kept * ring.columns + x % ring.columns
                                               : (y * columns + x) % ring.kept;
    return &slots.at(static_cast<size_t>(slot * cells.most));
  }
};

// What is told apart of each storage, and how the steps cut it.
class Cells {
 public:
  Cells(const Schedule& schedule, const Cuts& cuts)
      : schedule_(schedule), graph_(*schedule.graph), cuts_(cuts), watched_(cuts.rows.size()) {
    find_rows();
    find_chunks();
    find_areas();
    find_parts();
    for (size_t id = 0; id < watched_.size(); ++id)
      if (root(id) == static_cast<TensorId>(id)) find_cells(static_cast<TensorId>(id));
  }

  std::vector<Watched>& watched() { return watched_; }
  const std::vector<Part>& parts(int step) const { return parts_[step]; }

  // The rows of an area; all of them where areas are not told apart.
  const std::vector<Interval>& rows_of(int area) const {
    static const std::vector<Interval> all = {{0, INT64_MAX}};
    const auto found = areas_.find(area);
    return found == areas_.end() ? all : found->second.rows;
  }

  bool is_tracked(TensorId id) const {
    return !graph_.tensors[id].constant && element_count(graph_.tensors[id].shape) > 0;
  }

  // The columns that each chunk of a stage touches.
  const std::vector<Interval>& columns_touched_by(const Stage& stage, const RowAccess& access) {
    const bool is_write = &access == &cuts_.slabs[stage.step].write;
    auto& seen = seen_[{stage.step, access.tensor, is_write}];
    if (seen.empty())
      seen = columns_touched(*schedule_.steps[stage.step].node, stage.chunk_axes, stage.chunks, access.tensor,
                             cuts_.rows[root(access.tensor)], graph_, schedule_.layouts);
    return seen;
  }

 private:
  TensorId root(size_t id) const { return schedule_.layouts[id].root; }

  // Those that groups run by; else all of a storage is one row.
  void find_rows() {
    for (const Group& group : schedule_.groups)
      for (const Stage& stage : group.stages)
        for_each_access(stage, [&](const RowAccess& access) {
          watched_[root(access.tensor)].rows = cuts_.rows[root(access.tensor)];
        });
    std::vector<int64_t> spans(watched_.size());
    for (size_t id = 0; id < watched_.size(); ++id) {
      const Layout& layout = schedule_.layouts[id];
      const Tensor& t = graph_.tensors[id];
      int64_t& span = spans[layout.root];
      span = std::max(span, layout.offset + span_of(layout, t.shape));
      watched_[id].ring = layout.ring;
      watched_[id].has_values = true;
    }
    for (size_t id = 0; id < watched_.size(); ++id) {
      Watched& storage = watched_[root(id)];
      if (storage.rows.size == 0) storage.rows = {spans[root(id)], 1};
      storage.cells.columns = {storage.rows.size, 1};
      if (size_of(graph_.tensors[id].type) != size_of(graph_.tensors[root(id)].type))
        storage.has_values = false;
    }
  }

  template <typename F>
  void for_each_access(const Stage& stage, const F& f) const {
    const Slabs& slabs = cuts_.slabs[stage.step];
    for (const RowAccess& access : slabs.reads) f(access);
    f(slabs.write);
  }

  // Columns, where chunks or rings take them. What a chunk writes is known where no other one writes there.
  void find_chunks() {
    for (const Group& group : schedule_.groups)
      for (const Stage& stage : group.stages)
        for_each_access(stage, [&](const RowAccess& access) {
          Watched& storage = watched_[root(access.tensor)];
          if (stage.chunks <= 1 && !storage.has_column_slots()) return;
          const TensorId id = root(access.tensor);
          const Rows columns = columns_of(schedule_.layouts[id], cuts_.rows[id], graph_.tensors[id].shape);
          if (columns.size > 0) storage.cells.columns = columns;
          if (stage.chunks > 1 && (columns.size == 0 || !is_exact(stage, access))) storage.has_values = false;
        });
  }

  bool is_exact(const Stage& stage, const RowAccess& access) {
    const auto& touched = columns_touched_by(stage, access);
    const int64_t count = watched_[root(access.tensor)].cells.columns.count;
    if (&access != &cuts_.slabs[stage.step].write)
      return !std::ranges::all_of(touched, [&](const Interval& x) { return x == Interval{0, count}; });
    int64_t end = 0;
    for (const Interval& columns : touched) {
      if (columns.begin < end) return false;
      end = std::max(end, columns.end);
    }
    return true;
  }

  void add_area(int number, TensorId id, const Box& box) {
    Watched& storage = watched_[root(id)];
    if (!storage.has_values) return;
    auto area = area_of(schedule_.layouts[id], box, storage.rows);
    if (area)
      areas_[number] = std::move(*area), numbers_[root(id)].push_back(number);
    else
      storage.has_values = false;
  }

  void find_areas() {
    numbers_.resize(watched_.size());
    next_number_ = static_cast<int>(watched_.size());
    for (size_t id = 0; id < watched_.size(); ++id)
      if (is_tracked(static_cast<TensorId>(id)))
        add_area(static_cast<int>(id), static_cast<TensorId>(id), whole(graph_.tensors[id].shape));
  }

  void find_parts() {
    for (const Step& step : schedule_.steps) {
      std::map<TensorId, const RowAccess*> slabs_read;
      for (const RowAccess& access : cuts_.slabs[parts_.size()].reads) slabs_read[access.tensor] = &access;
      parts_.push_back(step.kind == StepKind::kRun ? parts_of(*step.node) : std::vector<Part>());
      for (Part& part : parts_.back())
        for (TensorId id : part.reads)
          if (slabs_read.contains(id)) part.slabs_read.push_back(slabs_read[id]);
    }
  }

  // What nests write that is no box counts as written behind all of them, of the whole tensor.
  std::vector<Part> parts_of(const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) return with_all_written({{node.reads}}, node);
    bool are_boxes = nests->size() > 1 && watched_[root(node.writes[0])].has_values;
    std::vector<Part> parts;
    for (const Nest& nest : *nests) {
      std::set<TensorId> read;
      visit_reads(nest, [&](const Expr& e) { read.insert(node.reads[e->index]); });
      parts.push_back({{read.begin(), read.end()}});
      if (!are_boxes || is_empty(nest) || is_elided(nest, node, graph_, schedule_.layouts)) continue;
      const auto box = box_written(nest);
      are_boxes = box.has_value();
      if (!box) continue;
      parts.back().written = node.writes[0];
      parts.back().area = next_number_;
      add_area(next_number_++, node.writes[0], *box);
    }
    return are_boxes ? parts : with_all_written(std::move(parts), node);
  }

  static std::vector<Part> with_all_written(std::vector<Part> parts, const Node& node) {
    for (TensorId id : node.writes) parts.push_back({.reads = {}, .written = id, .area = id});
    return parts;
  }

  void find_cells(TensorId id) {
    Watched& storage = watched_[id];
    if (storage.rows.size == 0) return;
    std::map<int, Area> areas;
    for (int number : numbers_[id]) areas.emplace(number, areas_.at(number));
    if (storage.has_values) {
      auto cells = cells_of(storage.rows, storage.cells.columns, areas);
      storage.has_values = cells.has_value();
      if (cells) storage.cells = std::move(*cells);
    }
    if (storage.has_values && storage.slot_count() > slots_left_) {
      storage.has_values = false;
      storage.cells = {storage.cells.columns, {}};
    }
    if (!storage.has_values)
      for (int number : numbers_[id]) areas_.erase(number);
    if (!storage.has_values && storage.ring.kept == 0) return;
    if (!storage.has_values && !storage.has_column_slots()) storage.cells.columns = {storage.rows.size, 1};
    if (storage.has_values) slots_left_ -= storage.slot_count();
    storage.slots.resize(static_cast<size_t>(storage.slot_count()));
  }

  const Schedule& schedule_;
  const Graph& graph_;
  const Cuts& cuts_;
  std::vector<Watched> watched_;           // per storage
  std::map<int, Area> areas_;              // by number: of tensors their own, of nests behind these
  std::vector<std::vector<int>> numbers_;  // per storage, of its areas
  std::vector<std::vector<Part>> parts_;   // per step
  int next_number_ = 0;
  int64_t slots_left_ = kMostSlots;
  std::map<std::tuple<int, TensorId, bool>, std::vector<Interval>> seen_;  // columns, per chunk
};

// Runs steps and slabs on what is watched.
class Checker {
 public:
  Checker(const Schedule& schedule, const Cuts& cuts)
      : schedule_(schedule),
        graph_(*schedule.graph),
        cuts_(cuts),
        values_(values_of(schedule)),
        cells_(schedule, cuts) {
    for (TensorId id : graph_.inputs) write(id, id);
  }

  void run(int step) {
    for (const Part& part : cells_.parts(step)) {
      for (TensorId id : part.reads) read(step, id);
      if (part.written >= 0) write(part.written, part.area);
    }
  }

  void run(const Group& group, const ChunkRun& run) {
    const Stage& stage = group.stages[run.stage];
    const Slabs& slabs = cuts_.slabs[stage.step];
    for (const Part& part : cells_.parts(stage.step)) {
      for (const RowAccess* read : part.slabs_read)
        visit(read->tensor, read->tensor, read->rows[run.slab], columns_at(stage, run.chunk, *read),
              [&](Slot& slot, const Slot& wanted) { expect(slot, wanted, stage.step, read->tensor); });
      if (part.written >= 0)
        visit(part.written, part.area, slabs.write.rows[run.slab], columns_at(stage, run.chunk, slabs.write),
              [](Slot& slot, const Slot& written) { slot = written; });
    }
  }

  // Behind a branch or a loop.
  void forget() {
    for (Watched& storage : cells_.watched())
      if (storage.ring.kept == 0) storage.slots.assign(storage.slots.size(), {-1, kAnything});
  }

  void finish() {
    const int last = static_cast<int>(schedule_.steps.size()) - 1;
    for (TensorId id : graph_.outputs) read(last, id);
  }

 private:
  Watched& storage_of(TensorId id) { return cells_.watched()[schedule_.layouts[id].root]; }
  static constexpr Interval kAll = {0, INT64_MAX};

  void read(int step, TensorId id) {
    visit(id, id, kAll, kAll, [&](Slot& slot, const Slot& wanted) { expect(slot, wanted, step, id); });
  }
  void write(TensorId id, int area) {
    visit(id, area, kAll, kAll, [](Slot& slot, const Slot& written) { slot = written; });
  }

  // use(slot, what lies there when the area of that number is in place) for those of its rows and columns.
  template <typename Use>
  void visit(TensorId id, int area, Interval rows, Interval columns, const Use& use) {
    Watched& storage = storage_of(id);
    if (storage.slots.empty() || !cells_.is_tracked(id)) return;
    const auto& parts = storage.cells.parts;
    const auto part = parts.find(area);
    const int64_t width = storage.cells.columns.count;
    for (const Interval& run : cells_.rows_of(area))
      for (int64_t y = std::max(run.begin, rows.begin); y < std::min(run.end, rows.end); ++y)
        for (int64_t x = columns.begin; x < std::min(columns.end, width); ++x) {
          Slot* const slots = storage.at(y, x);
          const Slot known = {y * width + x, storage.has_values ? values_[id] : kNothing};
          if (part != parts.end())
            for (int k : part->second[x]) use(slots[k], known);
          else
            for (int k = 0; k < storage.cells.count_at(x); ++k) use(slots[k], known);
        }
  }

  void expect(Slot& slot, const Slot& wanted, int step, TensorId id) const {
    if (slot.of == kAnything) slot = wanted;
    const auto name = [&](TensorId of) { return of < 0 ? "" : graph_.tensors[of].name; };
    ARENAC_CHECK(slot == wanted, fmt::format("'{}' reads row {} of '{}', where row {} of '{}' lies",
                                             schedule_.steps[step].node->origin, wanted.number, name(id),
                                             slot.number, name(slot.of)));
  }

  Interval columns_at(const Stage& stage, int64_t chunk, const RowAccess& access) {
    const Watched& storage = storage_of(access.tensor);
    const bool in_columns = storage.cells.columns.count > 1;
    if (!in_columns || (stage.chunks <= 1 && !storage.has_column_slots())) return kAll;
    return cells_.columns_touched_by(stage, access)[chunk];
  }

  const Schedule& schedule_;
  const Graph& graph_;
  const Cuts& cuts_;
  const std::vector<TensorId> values_;
  Cells cells_;
};

}  // namespace

void verify_rings(const Schedule& schedule) {
  const Cuts cuts = cuts_of(schedule);
  Checker checker(schedule, cuts);
  auto group = schedule.groups.begin();
  for (int s = 0; s < static_cast<int>(schedule.steps.size()); ++s) {
    if (group == schedule.groups.end() || s < group->begin) {
      if (schedule.steps[s].kind == StepKind::kRun)
        checker.run(s);
      else
        checker.forget();
      continue;
    }
    const Guests guests = guests_of(*group);
    for (const SlabRun& run : runs_of(*group)) {
      if (group->stages[run.stage].host >= 0) continue;
      for (const ChunkRun& part : chunk_runs_of(*group, guests, run)) checker.run(*group, part);
    }
    s = group->end - 1;
    ++group;
  }
  checker.finish();
}

}  // namespace arenac
