#include "scheduler/families.h"

#include <algorithm>

#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

// What a host pulls: per slab of it, what all that runs within that slab needs from outside the family.
//
// A guest's slabs need what they pull by the slab of the host in which they run; what a later slab of it asks
// for, an earlier one may have had already.
//
//   guest pulls upto {1, 2, 3, 4}; its slabs [0, 2) run in slab 0 of the host, [2, 4) in slab 1  ->  {2, 4}
std::vector<Pull> pulls_of_family(const Group& group, const StageUses& uses, int host) {
  std::vector<Pull> all;
  const std::vector<int> family = family_of(group, host);
  for (int guest : family) {
    if (guest != host && group.stages[guest].host != host) continue;
    const std::vector<Pull> of_guest =
        guest == host ? std::vector<Pull>() : pulls_of_family(group, uses, guest);
    for (const Pull& pull : guest == host ? uses.pulls[host] : of_guest) {
      if (std::ranges::binary_search(family, pull.producer)) continue;
      Pull mine{pull.producer, {}};
      mine.upto.reserve(static_cast<size_t>(group.stages[host].slabs));
      int64_t most = -1;
      for (int64_t t = 0; t < group.stages[host].slabs; ++t) {
        const Interval at = slabs_in(group, guest, host, t);
        if (at.begin < at.end) most = std::max(most, pull.upto[at.end - 1]);
        mine.upto.push_back(most);
      }
      all.push_back(std::move(mine));
    }
  }
  return all;
}

// The rows that a stage touches in these slabs of its own: their hull.
Interval rows_in(const RowAccess& access, const Interval& slabs) {
  if (slabs.begin >= slabs.end) return {0, 0};
  Interval all = access.rows[slabs.begin];
  for (int64_t t = slabs.begin; t < slabs.end; ++t)
    all = {std::min(all.begin, access.rows[t].begin), std::max(all.end, access.rows[t].end)};
  return all;
}

}  // namespace

std::vector<int> family_of(const Group& group, int host) {
  std::vector<int> family;
  for (int k = 0; k <= host; ++k)
    if (runs_within(group, k, host)) family.push_back(k);
  return family;
}

int turns_with(const Group& group, int k) {
  const Stage& stage = group.stages[k];
  return stage.host >= 0 && !stage.seen_through_window() ? stage.host : k;
}

// Up the line of hosts: a guest in turns has the slabs of its host, one that is seen through a window those
// of slabs_at.
Interval slabs_in(const Group& group, int k, int host, int64_t slab) {
  if (k == host) return {slab, slab + 1};
  const Stage& stage = group.stages[k];
  const Interval above = slabs_in(group, stage.host, host, slab);
  if (!stage.seen_through_window() || above.begin >= above.end) return above;
  return {stage.slabs_at[above.begin].begin, stage.slabs_at[above.end - 1].end};
}

// A host without guests pulls what it pulled alone.
std::vector<std::vector<Pull>> pulls_of_hosts(const Group& group, const StageUses& uses) {
  const Guests guests = guests_of(group);
  std::vector<std::vector<Pull>> all(guests.size());
  for (int k = 0; k < uses.count(); ++k)
    if (group.stages[k].host < 0)
      all[k] = guests[k].empty() ? uses.pulls[k] : pulls_of_family(group, uses, k);
  return all;
}

// Two stages of a family that meet in a row would have to run one after the other in each slab, and yet run
// in turns, chunk by chunk: only where the storage is cut into columns, too, can they.
TensorId rows_met_in(int host, const Group& group, const StageUses& uses,
                     const std::set<TensorId>& in_chunks) {
  const std::vector<int> family = family_of(group, host);
  const auto meet = [&](int k, const RowAccess& mine, int other, const RowAccess& theirs) {
    for (int64_t t = 0; t < group.stages[host].slabs; ++t) {
      const Interval a = rows_in(mine, slabs_in(group, k, host, t));
      const Interval b = rows_in(theirs, slabs_in(group, other, host, t));
      if (a.begin < b.end && b.begin < a.end) return true;
    }
    return false;
  };
  // Storage by storage that one of them writes; what is in chunks is there column by column.
  for (int k : family) {
    const RowAccess& written = uses.slabs(k).write;
    const TensorId storage = uses.written_by(k);
    if (in_chunks.contains(storage)) continue;
    for (int other : family) {
      if (other == k) continue;
      if (uses.writes(other, storage) && meet(k, written, other, uses.slabs(other).write)) return storage;
      for (const RowAccess& read : uses.slabs(other).reads)
        if (uses.root(read.tensor) == storage && meet(k, written, other, read)) return storage;
    }
  }
  return -1;
}

}  // namespace arenac
