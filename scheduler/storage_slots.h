// What is known of a storage while a schedule runs without its numbers: which row of which tensor lies in
// each slot, cell by cell.
//
//   a concat y of a and b, channels-last, in a ring of 2 rows, each of two columns of a cell of a's and one
//   of b's; a has written row 2, b has not:
//     slot 0   y 2  y 0   y 2  y 0
//     slot 1   y 1  y 1   y 1  y 1
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "scheduler/slab_runs.h"
#include "scheduler/storage_cells.h"

namespace arenac {

// Per storage its rows, per step of a group the slabs that it is cut into.
struct SlabCuts {
  std::vector<Rows> rows;
  std::vector<Slabs> slabs;
};
SlabCuts cuts_of(const Schedule& schedule);

// What lies in a slot: the number of the row, or of the column as rows follow each other, and whose it is.
constexpr TensorId kNothing = -1, kAnything = -2;
struct RowSlot {
  int64_t number = -1;
  TensorId of = kNothing;

  bool operator==(const RowSlot&) const = default;
};

// All rows, or all columns.
constexpr Interval kAll = {0, INT64_MAX};

// What a nest of a step does, or all of it: what it reads, then which of its areas it writes.
struct StepPart {
  std::vector<TensorId> reads;
  std::vector<const RowAccess*> slabs_read = {};  // of what it reads; none outside of groups
  TensorId written = -1;                          // -1: nothing
  int area = -1;                                  // its number
};

// A storage, cell by cell.
struct WatchedStorage {
  Rows rows;
  RowCells cells;
  Ring ring;
  bool has_values = false;     // else only numbers are known
  std::vector<RowSlot> slots;  // empty: nothing is known

  bool has_column_slots() const { return ring.kept > 0 && (ring.columns > 0 || ring.row != rows.size); }

  int64_t slot_count() const {
    const int64_t columns = has_column_slots() ? std::max<int64_t>(ring.columns, 1) : cells.columns.count;
    return (ring.kept > 0 ? ring.kept : rows.count) * columns * cells.most;
  }

  // f(interval) for the elements of the storage, as it is in memory, in which those rows and columns of an
  // area lie.
  template <typename F>
  void each_run(const Area& area, Interval in_rows, Interval in_columns, const F& f) const {
    const int64_t width = cells.columns.size;
    const int64_t pitch = !has_column_slots() ? rows.size : ring.columns > 0 ? ring.column : ring.row;
    for (const Interval& run : area.rows)
      for (int64_t y = std::max(run.begin, in_rows.begin); y < std::min(run.end, in_rows.end); ++y)
        for (const Interval& places : area.places) {
          const int64_t end = in_columns.end < cells.columns.count ? in_columns.end * width : rows.size;
          for (int64_t x = std::max(places.begin, in_columns.begin * width); x < std::min(places.end, end);) {
            const int64_t stop = std::min({places.end, end, x - x % pitch + pitch});
            const int64_t begin = slot_of(y, x / pitch) * pitch + x % pitch;
            f(Interval{begin, begin + stop - x});
            x = stop;
          }
        }
  }

  // The slots of the cells of a column of a row.
  RowSlot* at(int64_t y, int64_t x) {
    const int64_t slot = has_column_slots() ? slot_of(y, x) : slot_of(y, 0) * cells.columns.count + x;
    return &slots.at(static_cast<size_t>(slot * cells.most));
  }

  // Of a row, or of its column where rings take columns.
  int64_t slot_of(int64_t y, int64_t x) const {
    return ring.kept == 0        ? y
           : !has_column_slots() ? y % ring.kept
           : ring.columns > 0    ? y % ring.kept * ring.columns + x % ring.columns
                                 : (y * cells.columns.count + x) % ring.kept;
  }
};

// The slots of each storage, what is told apart in them, and how the steps cut it.
class StorageSlots {
 public:
  StorageSlots(const Schedule& schedule, const SlabCuts& cuts);

  WatchedStorage& watched(TensorId id) { return watched_[root(id)]; }
  const WatchedStorage& watched(TensorId id) const { return watched_[root(id)]; }
  const std::vector<StepPart>& parts(int step) const { return parts_[step]; }

  // Null where areas are not told apart.
  const Area* area(int number) const;
  // The rows of an area; all of them where areas are not told apart.
  const std::vector<Interval>& rows_of(int number) const;

  bool is_tracked(TensorId id) const {
    return !graph_.tensors[id].constant && element_count(graph_.tensors[id].shape) > 0;
  }

  // The columns that a chunk of a stage touches; kAll where they are not told apart.
  Interval columns_at(const Stage& stage, int64_t chunk, const RowAccess& access);

 private:
  // Per chunk.
  const std::vector<Interval>& columns_touched_by(const Stage& stage, const RowAccess& access);

  TensorId root(size_t id) const { return schedule_.layouts[id].root; }

  // Of what groups run by rows, and of what has parts, which are simpler row by row; else all is one row.
  void find_rows();

  template <typename F>
  void for_each_access(const Stage& stage, const F& f) const {
    const Slabs& slabs = cuts_.slabs[stage.step];
    for (const RowAccess& access : slabs.reads) f(access);
    f(slabs.write);
  }

  // Columns, where chunks or rings take them. What a chunk writes is known where no other one writes there.
  void find_chunks();
  // Of columns: of what is written, no chunk touches those of another; of what is read, not each chunk
  // touches all.
  bool is_exact(const Stage& stage, const RowAccess& access);

  void add_area(int number, TensorId id, const Box& box);
  void find_areas();
  void find_parts();

  // What nests write that is no box counts as written behind all of them, of the whole tensor.
  std::vector<StepPart> parts_of(const Node& node);
  static std::vector<StepPart> with_all_written(std::vector<StepPart> parts, const Node& node);

  // And the slots, behind all areas.
  void find_cells(TensorId id);

  const Schedule& schedule_;
  const Graph& graph_;
  const SlabCuts& cuts_;
  std::vector<WatchedStorage> watched_;       // per storage
  std::map<int, Area> areas_;                 // by number: of tensors their own, of nests behind these
  std::vector<std::vector<int>> numbers_;     // per storage, of its areas
  std::vector<std::vector<StepPart>> parts_;  // per step
  int next_number_ = 0;
  int64_t slots_left_;                                                     // that may still be told apart
  std::map<std::tuple<int, TensorId, bool>, std::vector<Interval>> seen_;  // columns, per chunk
};

// Runs a schedule in the order of the emitted C: checker.run(step) for each step outside of groups,
// checker.run(group, chunk) for those of groups, checker.pass(step) where control parts or joins, and
// checker.finish().
template <typename Checker>
void run_on(Checker& checker, const Schedule& schedule) {
  auto group = schedule.groups.begin();
  for (int s = 0; s < static_cast<int>(schedule.steps.size()); ++s) {
    if (group == schedule.groups.end() || s < group->begin) {
      if (schedule.steps[s].kind == StepKind::kRun)
        checker.run(s);
      else
        checker.pass(s);
      continue;
    }
    for_each_chunk_run(*group, [&](const ChunkRun& run) { checker.run(*group, run); });
    s = group->end - 1;
    ++group;
  }
  checker.finish();
}

}  // namespace arenac
