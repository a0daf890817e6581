#include "scheduler/chunk_windows.h"

#include <algorithm>

#include "scheduler/chunk_turns.h"
#include "scheduler/columns.h"
#include "scheduler/families.h"
#include "scheduler/window_rings.h"

namespace arenac {
namespace {

// The widest chunks of a row, up to `most` columns.
int64_t width_up_to(int64_t columns, int64_t most) {
  int64_t width = std::max<int64_t>(std::min(columns, most), 1);
  while (columns % width != 0) --width;
  return width;
}

// Upwards, what to run at each of `ends` to have run all before it.
std::vector<Interval> parts_up_to(const std::vector<int64_t>& ends) {
  std::vector<Interval> parts;
  int64_t done = 0;
  for (int64_t end : ends) {
    parts.push_back({done, std::max(done, end)});
    done = parts.back().end;
  }
  return parts;
}

// Whether every nest has an axis that is the column.
bool all_have_axes(const std::vector<int>& axes) {
  return !axes.empty() && std::ranges::count(axes, -1) == 0;
}

// Columns of the storage that the reader sees in each of its chunks.
const std::vector<Interval>& columns_seen(const Group& group, const StageUses& uses,
                                          const SlidingWindow& window) {
  const int k = window.stages.reader;
  const Stage& reader = group.stages[k];
  const TensorId read = read_of(uses, k, window.storage).tensor;
  const auto [known, is_new] =
      uses.facts.known->seen.try_emplace({reader.step, read, reader.chunks, reader.chunk_axes});
  if (is_new)
    known->second = columns_touched(uses.node(k), reader.chunk_axes, reader.chunks, read,
                                    uses.facts.rows[window.storage], uses.graph(), uses.whole.layouts);
  return known->second;
}

// Cuts a stage into chunks of columns of what it writes; false where that cannot be.
bool cut_by_result(Stage& stage, int k, const StageUses& uses, int64_t width) {
  const TensorId out = uses.written_by(k);
  if (uses.facts.rows[out].size == 0) return false;
  stage.chunk_axes = column_axes_of(uses, k, out).axes;
  const Rows& columns = uses.facts.columns[out];
  if (!all_have_axes(stage.chunk_axes) || columns.count < 2) return false;
  stage.chunks = columns.count / width_of_chunk(columns.count, width);
  return stage.chunks > 1;
}

}  // namespace

std::optional<std::vector<Interval>> slabs_read(const RowAccess& read, const RowAccess& written) {
  const auto above = [](const Interval& a, const Interval& b) {
    return a.end <= b.begin && a.begin < b.begin;
  };
  if (!std::ranges::is_sorted(written.rows, above)) return std::nullopt;
  const auto slab_with = [&](int64_t row) {
    const auto before = [](const Interval& rows, int64_t row) { return rows.end <= row; };
    return std::lower_bound(written.rows.begin(), written.rows.end(), row, before) - written.rows.begin();
  };
  std::vector<Interval> at;
  for (const Interval& seen : read.rows) {
    if (seen.begin >= seen.end) return std::nullopt;
    at.push_back({slab_with(seen.begin), slab_with(seen.end - 1) + 1});
    if (at.back().end > std::ssize(written.rows)) return std::nullopt;
  }
  return at;
}

bool place_window(Group& group, const StageUses& uses, const SlidingWindow& window, int64_t width) {
  const auto& [storage, stages, is_again] = window;
  const Rows& columns = uses.facts.columns[storage];
  Stage &writer = group.stages[stages.writer], &reader = group.stages[stages.reader];
  if (reader.chunks == 1 && !cut_by_result(reader, stages.reader, uses, width)) return false;
  const std::vector<int>& axes = column_axes_of(uses, stages.writer, storage).axes;
  if (!all_have_axes(axes) || columns.count < 2 || (writer.chunks > 1 && writer.chunk_axes != axes))
    return false;
  const std::vector<Interval>& seen = columns_seen(group, uses, window);
  const int64_t middle = reader.chunks / 2;
  if (writer.chunks == 1)
    writer.chunks = columns.count / width_up_to(columns.count, seen[middle].end - seen[middle - 1].end);
  if (writer.chunks == 1) return false;
  writer.chunk_axes = axes;
  writer.host = turns_with(group, stages.reader);
  const int64_t width_of_writer = columns.count / writer.chunks;
  std::vector<int64_t> chunk_ends, slab_ends;
  for (const Interval& part : seen) chunk_ends.push_back((part.end + width_of_writer - 1) / width_of_writer);
  writer.chunks_at = parts_up_to(chunk_ends);
  if (is_again) return true;
  for (const Pull& pull : uses.pulls[stages.reader])
    if (pull.producer == stages.writer)
      for (int64_t last : pull.upto) slab_ends.push_back(last + 1);
  writer.slabs_at = parts_up_to(slab_ends);
  return true;
}

Ring ring_of_window(const Group& group, const StageUses& uses, const SlidingWindow& window) {
  const auto& [storage, stages, is_again] = window;
  const WindowUse use = {stages.writer,
                         stages.reader,
                         uses.facts.rows[storage],
                         uses.facts.columns[storage],
                         uses.slabs(stages.writer).write.rows,
                         read_of(uses, stages.reader, storage).rows,
                         columns_seen(group, uses, window)};
  return is_again ? columns_of_window_kept(group, use)
                  : elements_kept(group, use, uses.facts.known->kept_by_turns);
}

}  // namespace arenac
