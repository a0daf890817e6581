#include "scheduler/window_rings.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "scheduler/hash_of.h"
#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

bool is_empty(const Interval& interval) { return interval.begin >= interval.end; }

// Whether an element is touched last by the last part that has it. Empty parts do not matter.
bool go_forward(const std::vector<Interval>& parts) {
  Interval before = {0, 0};
  for (const Interval& part : parts) {
    if (is_empty(part)) continue;
    if (part.begin < before.begin || part.end < before.end) return false;
    before = part;
  }
  return true;
}

// Per part, its elements; of parts that go forward those that no later one has.
std::vector<Interval> last_seen(std::vector<Interval> parts) {
  if (!go_forward(parts)) return parts;
  int64_t later = INT64_MAX;  // where the first of the parts behind begins
  for (Interval& part : parts | std::views::reverse) {
    if (is_empty(part)) continue;
    part.end = std::min(part.end, std::exchange(later, part.begin));
  }
  return parts;
}

// Of elements as they are written and touched, one after the other: the most from one that is touched to the
// last that has been written by then, which is what slots_for() says of their lives.
struct Extent {
  int64_t written = 0, kept = 1;  // the end of what has been written; elements

  void write(const Interval& elements) {
    written = std::max(written, elements.end);
    touch(elements.begin);
  }
  void touch(int64_t first) { kept = std::max(kept, written - first); }
};

// Of all that runs within the root of the two: these and what they run within, ascending.
std::vector<int> turning_with(const Group& group, const WindowUse& use) {
  std::vector<int> turning;
  for (int k = 0; k <= root_of(group, use.reader); ++k)
    if (runs_within(group, use.writer, k) || runs_within(group, use.reader, k)) turning.push_back(k);
  return turning;
}

// Of all that says in which order their slabs and chunks run.
size_t hash_of_turns(const Group& group, const std::vector<int>& turning, const WindowUse& use) {
  size_t hash = turning.size();
  for (int k : turning) {
    const Stage& stage = group.stages[k];
    const auto host = std::ranges::lower_bound(turning, stage.host) - turning.begin();
    hash = hash_of(hash, host, stage.slabs, stage.chunks, k == use.writer, k == use.reader,
                   hash_of(stage.slabs_at), hash_of(stage.chunks_at));
  }
  return hash;
}

}  // namespace

// Slabs and chunks go forward, so that an element is touched last by the last ones that see its row and its
// column.
Ring elements_kept(const Group& group, const WindowUse& use, std::map<size_t, int64_t>& known) {
  const Rows& columns = use.columns;
  const int64_t width = columns.count / group.stages[use.writer].chunks;
  const std::vector<Interval> last_rows = last_seen(use.read), last_columns = last_seen(use.seen);
  const std::vector<int> turning = turning_with(group, use);
  const size_t key = hash_of(hash_of_turns(group, turning, use), columns.count, hash_of(use.written),
                             hash_of(last_rows), hash_of(last_columns));
  const auto [kept, is_new] = known.try_emplace(key);
  if (!is_new) return {columns.size, kept->second, 0, 0};
  const int root = turning.back();
  Guests guests(group.stages.size());
  for (int k : turning)
    if (k != root) guests[group.stages[k].host].push_back(k);
  Extent extent;
  const auto run = [&](const ChunkRun& at) {
    const auto& [stage, slab, chunk] = at;
    if (stage == use.writer && !is_empty(use.written[slab]))
      extent.write({use.written[slab].begin * columns.count + chunk * width,
                    (use.written[slab].end - 1) * columns.count + (chunk + 1) * width});
    if (stage == use.reader && !is_empty(last_rows[slab]) && !is_empty(last_columns[chunk]))
      extent.touch(last_rows[slab].begin * columns.count + last_columns[chunk].begin);
  };
  for (int64_t t = 0; t < group.stages[root].slabs; ++t)
    for (int64_t chunk = 0; chunk < group.stages[root].chunks; ++chunk)
      for_each_run_of({root, t, chunk}, group, guests, run);
  kept->second = extent.kept;
  return {columns.size, extent.kept, 0, 0};
}

Ring columns_of_window_kept(const Group& group, const WindowUse& use) {
  const int64_t width = use.columns.count / group.stages[use.writer].chunks;
  int64_t most = 1;
  for (const auto& [begin, end] : group.stages[use.writer].slabs_at)
    most = std::max(most, use.written[end - 1].end - use.written[begin].begin);
  Extent extent;
  for (const auto& [stage, slab, chunk] :
       chunk_runs_of(group, guests_of(group), {root_of(group, use.reader), 0})) {
    if (stage == use.writer) extent.write({chunk * width, (chunk + 1) * width});
    if (stage == use.reader && !is_empty(use.seen[chunk])) extent.touch(use.seen[chunk].begin);
  }
  return {use.rows.size, most, use.columns.size, extent.kept};
}

}  // namespace arenac
