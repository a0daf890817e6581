#include "scheduler/storage_slots.h"

#include <set>

#include "frontend/facts.h"
#include "scheduler/columns.h"

namespace arenac {
namespace {

// beyond it, storages are checked by numbers of rows alone
constexpr int64_t kMostSlots = 1 << 22;  // of all storages whose tensors are told apart

}  // namespace

// Steps outside of groups have no slabs here.
SlabCuts cuts_of(const Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  SlabCuts cuts{storage_rows(graph, schedule.layouts), std::vector<Slabs>(schedule.steps.size())};
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages) {
      const Node& node = *schedule.steps[stage.step].node;
      cuts.slabs[stage.step] =
          slabs_of_stage(stage, slabs_of(node, graph, schedule.layouts, cuts.rows), node);
    }
  return cuts;
}

// In this order, as each looks at what the one before has found: rows of storages, columns of these, areas of
// tensors, areas of nests, and cells by which all of these are told apart.
StorageSlots::StorageSlots(const Schedule& schedule, const SlabCuts& cuts)
    : schedule_(schedule),
      graph_(*schedule.graph),
      cuts_(cuts),
      watched_(cuts.rows.size()),
      slots_left_(kMostSlots) {
  find_rows();
  find_chunks();
  find_areas();
  find_parts();
  for (size_t id = 0; id < watched_.size(); ++id)
    if (root(id) == static_cast<TensorId>(id)) find_cells(static_cast<TensorId>(id));
}

// Those of storages of which nothing is known have been dropped (find_cells).
const Area* StorageSlots::area(int number) const {
  const auto found = areas_.find(number);
  return found == areas_.end() ? nullptr : &found->second;
}

// A reference that outlives the call, also where there is no area.
const std::vector<Interval>& StorageSlots::rows_of(int number) const {
  static const std::vector<Interval> all = {kAll};
  const Area* found = area(number);
  return found ? found->rows : all;
}

// Told apart where the stage runs in chunks, or where rings take columns: only then does it matter which.
Interval StorageSlots::columns_at(const Stage& stage, int64_t chunk, const RowAccess& access) {
  const WatchedStorage& storage = watched(access.tensor);
  const bool in_columns = storage.cells.columns.count > 1;
  if (!in_columns || (stage.chunks <= 1 && !storage.has_column_slots())) return kAll;
  return columns_touched_by(stage, access)[chunk];
}

// Worked out once an access: it takes interval arithmetic for each chunk, and is asked for at each slab.
const std::vector<Interval>& StorageSlots::columns_touched_by(const Stage& stage, const RowAccess& access) {
  const bool is_write = &access == &cuts_.slabs[stage.step].write;
  // a step may read and write one tensor, at other columns
  auto& seen = seen_[{stage.step, access.tensor, is_write}];
  if (seen.empty())
    seen = columns_touched(*schedule_.steps[stage.step].node, stage.chunk_axes, stage.chunks, access.tensor,
                           cuts_.rows[root(access.tensor)], graph_, schedule_.layouts);
  return seen;
}

// Three passes: who needs rows; how far each storage reaches; what needs none is one row of all of it.
// Elements of two sizes in one storage cannot be told apart by places counted in elements, so nothing is
// known of such values.
void StorageSlots::find_rows() {
  for (const Group& group : schedule_.groups)
    for (const Stage& stage : group.stages)
      for_each_access(stage, [&](const RowAccess& access) {
        watched_[root(access.tensor)].rows = cuts_.rows[root(access.tensor)];
      });
  for (size_t id = 0; id < watched_.size(); ++id)
    if (element_count(graph_.tensors[id].shape) < element_count(graph_.tensors[root(id)].shape))
      watched_[root(id)].rows = cuts_.rows[root(id)];
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
    WatchedStorage& storage = watched_[root(id)];
    if (storage.rows.size == 0) storage.rows = {spans[root(id)], 1};
    storage.cells.columns = {storage.rows.size, 1};
    if (size_of(graph_.tensors[id].type) != size_of(graph_.tensors[root(id)].type))
      storage.has_values = false;
  }
}

// Values are given up where a chunk touches other columns than those that it says; numbers of rows are still
// checked.
void StorageSlots::find_chunks() {
  for (const Group& group : schedule_.groups)
    for (const Stage& stage : group.stages)
      for_each_access(stage, [&](const RowAccess& access) {
        WatchedStorage& storage = watched_[root(access.tensor)];
        if (stage.chunks <= 1 && !storage.has_column_slots()) return;
        const TensorId id = root(access.tensor);
        const Rows columns = columns_of(schedule_.layouts[id], cuts_.rows[id], graph_.tensors[id].shape);
        if (columns.size > 0) storage.cells.columns = columns;
        if (stage.chunks > 1 && (columns.size == 0 || !is_exact(stage, access))) storage.has_values = false;
      });
}

// Written columns must ascend without overlap from chunk to chunk.
bool StorageSlots::is_exact(const Stage& stage, const RowAccess& access) {
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

// One area that takes too many intervals, and nothing is known of all of the storage.
void StorageSlots::add_area(int number, TensorId id, const Box& box) {
  WatchedStorage& storage = watched_[root(id)];
  if (!storage.has_values) return;
  auto area = area_of(schedule_.layouts[id], box, storage.rows);
  if (area)
    areas_[number] = std::move(*area), numbers_[root(id)].push_back(number);
  else
    storage.has_values = false;
}

// Tensors have their ids as numbers of areas; nests get those behind.
void StorageSlots::find_areas() {
  numbers_.resize(watched_.size());
  next_number_ = static_cast<int>(watched_.size());
  for (size_t id = 0; id < watched_.size(); ++id)
    if (is_tracked(static_cast<TensorId>(id)))
      add_area(static_cast<int>(id), static_cast<TensorId>(id), whole(graph_.tensors[id].shape));
}

// Per step, in the order of the nests; a control step has none.
void StorageSlots::find_parts() {
  for (const Step& step : schedule_.steps) {
    std::map<TensorId, const RowAccess*> slabs_read;
    for (const RowAccess& access : cuts_.slabs[parts_.size()].reads) slabs_read[access.tensor] = &access;
    parts_.push_back(step.kind == StepKind::kRun ? parts_of(*step.node) : std::vector<StepPart>());
    for (StepPart& part : parts_.back())
      for (TensorId id : part.reads)
        if (slabs_read.contains(id)) part.slabs_read.push_back(slabs_read[id]);
  }
}

// Several nests that write boxes, as a concat's do, are parts of their own: what one has written is known to
// be there before the next one runs. What is empty, or is where it is to be, writes nothing.
//
//   y[:, 0:2] = a;  y[:, 2:3] = b     parts: reads {a}, writes area n;  reads {b}, writes area n + 1
std::vector<StepPart> StorageSlots::parts_of(const Node& node) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests) return with_all_written({{node.reads}}, node);
  bool are_boxes = nests->size() > 1 && watched_[root(node.writes[0])].has_values;
  std::vector<StepPart> parts;
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

std::vector<StepPart> StorageSlots::with_all_written(std::vector<StepPart> parts, const Node& node) {
  for (TensorId id : node.writes) parts.push_back({.reads = {}, .written = id, .area = id});
  return parts;
}

// A slot for each cell of each row and column that is in memory, as long as there are slots left of the
// limit. Without values, a storage that is no ring needs none: its rows cannot be mistaken for each other.
void StorageSlots::find_cells(TensorId id) {
  WatchedStorage& storage = watched_[id];
  if (storage.rows.size == 0) return;
  // of this storage
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

}  // namespace arenac
