#include "scheduler/row_lives.h"

#include <algorithm>
#include <span>

#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

// Marks the rows as touched when the slabs run. From the last slab on: where a slab and the next go forward,
// in rows and in time, what both touch is for the next, which is later, and need not be marked here. So a
// window that moves on by a row takes a row's time for each slab, not a window's.
void touch(RowLives& lives, const std::vector<Interval>& rows, const std::vector<Moment>& when) {
  if (lives.rows.empty()) return;  // nobody asks
  Interval next = {INT64_MAX, INT64_MAX};
  Moment then = kNever;
  for (size_t t = rows.size(); t-- > 0;) {
    const auto& [begin, end] = rows[t];
    if (when[t] < 0 || begin >= end) continue;
    const bool forward = begin <= next.begin && end <= next.end && when[t] <= then;
    for (int64_t y = begin; y < (forward ? std::min(end, next.begin) : end); ++y) lives.at(y).touch(when[t]);
    next = rows[t], then = when[t];
  }
}

// At the first run of each slab: what runs again writes the same values. -1: it never runs.
void write(RowLives& lives, const std::vector<Interval>& rows, const std::vector<Moment>& when) {
  if (lives.rows.empty()) return;
  for (size_t t = 0; t < rows.size(); ++t)
    for (int64_t y = rows[t].begin; when[t] >= 0 && y < rows[t].end; ++y) lives.at(y).write(when[t]);
}

// The lives of a storage's rows: from the first to the last that one of its tensors touches. A row is written
// when the first of them is, and touched last when the last of them is.
std::vector<Life> merged(std::span<const RowLives> sources) {
  Interval all = {0, 0};
  for (const RowLives& source : sources) all = hull(all, {source.first, source.end()});
  std::vector<Life> rows(static_cast<size_t>(all.end - all.begin));
  for (const RowLives& source : sources) {
    for (int64_t y = all.begin; y < all.end; ++y) {
      Life& row = rows[static_cast<size_t>(y - all.begin)];
      row.written = std::min(row.written, source.written(y));
    }
    for (int64_t y = source.first; y < source.end(); ++y)
      rows[static_cast<size_t>(y - all.begin)].touch(source.at(y).touched);
  }
  return rows;
}

// The order of sources: those of one storage together.
bool comes_before(TensorId a, TensorId b, const CutSteps& steps) {
  return std::pair(steps.root(a), a) < std::pair(steps.root(b), b);
}

}  // namespace

// Time goes on by one with each slab of a stage that is no guest: guests run within their host's slab.
//
//   runs   conv 0  conv 1  pool 0  conv 2        conv: first {0, 1, 3, ..}      pool: first {2, ..}
GroupTimes times_of(const Group& group) {
  GroupTimes all;
  all.stages.reserve(group.stages.size());
  for (const Stage& stage : group.stages)
    all.stages.push_back({std::vector<Moment>(stage.slabs, -1), std::vector<Moment>(stage.slabs, -1)});
  for_each_slab_run(group, [&](const SlabRun& run) {
    const auto& [stage, slab] = run;
    SlabTimes& mine = all.stages[stage];
    if (mine.first[slab] < 0) mine.first[slab] = all.end;
    mine.last[slab] = all.end;
    if (group.stages[stage].host < 0) ++all.end;
  });
  return all;
}

// Finds which sources are touched, and of each the rows from the first to the last. Sources are sorted,
// accesses point into them: trace(), which runs for every way to form a group, looks nothing up.
TouchedSources::TouchedSources(const CutSteps& steps) : steps_(steps) {
  struct Source {
    TensorId id;
    size_t number;  // in the order in which they are touched
    Interval rows = {0, 0};
  };
  std::vector<Source> all;
  std::vector<int> number(steps.whole.layouts.size(), -1);  // per source
  const auto add = [&](TensorId id, const RowAccess& access) {
    if (number[id] < 0) {
      number[id] = static_cast<int>(all.size());
      all.push_back({id, all.size()});
    }
    places_.push_back(static_cast<size_t>(number[id]));
    Interval& rows = all[places_.back()].rows;
    for (const Interval& touched : access.rows) rows = hull(rows, touched);
  };
  for (int k = 0; k < steps.count(); ++k) {
    for (const RowAccess& access : steps.slabs(k).reads) add(steps.facts.source[access.tensor], access);
    add(steps.slabs(k).write.tensor, steps.slabs(k).write);
  }
  std::ranges::sort(all, [&](const Source& a, const Source& b) { return comes_before(a.id, b.id, steps); });
  std::vector<size_t> counts, place_of(all.size());  // of rows; per number
  for (const auto& [id, touched_as, rows] : all) {
    place_of[touched_as] = sources_.size();
    const bool before = steps.facts.writer[id] < steps.begin;
    sources_.push_back({id, rows.begin, {}, before ? -1 : kNever});
    counts.push_back(static_cast<size_t>(rows.end - rows.begin));
  }
  for (size_t& place : places_) place = place_of[place];
  keep_rows(counts);
}

// So many rows each, of what lives here in rows, or is, or is in, the place of another. Of all others nobody
// asks, and their rows are not followed.
void TouchedSources::keep_rows(const std::vector<size_t>& counts) {
  std::vector<char> asked(sources_.size());
  for (size_t k = 0; k < sources_.size(); ++k) {
    const TensorId storage = steps_.root(sources_[k].id);
    asked[k] |= steps_.holds(storage) && steps_.facts.rows[storage].size > 0;
    for (const TensorId id : steps_.facts.overwritten[sources_[k].id])
      if (const auto other = at(id); other != sources_.end()) asked[k] = asked[other - sources_.begin()] = 1;
  }
  for (size_t k = 0; k < sources_.size(); ++k)
    if (asked[k]) sources_[k].rows.resize(counts[k]);
}

// Where the lives of a source are; the end where the group does not touch it.
std::vector<RowLives>::const_iterator TouchedSources::at(TensorId source) const {
  const auto found = std::lower_bound(
      sources_.begin(), sources_.end(), source,
      [&](const RowLives& lives, TensorId id) { return comes_before(lives.id, id, steps_); });
  return found != sources_.end() && found->id == source ? found : sources_.end();
}

// Reads mark rows as touched at the last run of a slab, writes as written at the first one: the longest life
// that a row has.
void TouchedSources::trace(const GroupTimes& times) {
  for (RowLives& source : sources_)
    std::fill(source.rows.begin(), source.rows.end(), Life{source.others_written, -1});
  auto place = places_.begin();  // accesses come in the order of the constructor
  for (int k = 0; k < steps_.count(); ++k) {
    const auto& [first, last] = times.stages[k];
    for (const RowAccess& read : steps_.slabs(k).reads) touch(sources_[*place++], read.rows, last);
    RowLives& written = sources_[*place++];
    touch(written, steps_.slabs(k).write.rows, last);
    write(written, steps_.slabs(k).write.rows, first);
  }
}

// For each pair of an earlier tensor a and a later one b in the same bytes: every row of a is touched for the
// last time before b writes it (at the same moment will do: a slab reads before it writes).
bool TouchedSources::are_in_order() const {
  for (const RowLives& b : sources_)
    for (const TensorId id : steps_.facts.overwritten[b.id]) {
      const auto a = at(id);
      if (a == sources_.end()) continue;
      // Rows that only one of them touches are never in each other's way, unless b was there before.
      if (b.others_written == kNever && (a->end() <= b.first || b.end() <= a->first)) continue;
      for (int64_t row = a->first; row < a->end(); ++row)
        if (a->at(row).touched > b.written(row)) return false;
    }
  return true;
}

// Sources of one storage stand together; several share its slots, and so their lives are merged.
std::vector<StorageUse> TouchedSources::storage_uses() const {
  std::vector<StorageUse> uses;
  for (auto begin = sources_.begin(), end = begin; begin != sources_.end(); begin = end) {
    const TensorId id = steps_.root(begin->id);
    while (end != sources_.end() && steps_.root(end->id) == id) ++end;
    const bool in_rows = steps_.holds(id) && steps_.facts.rows[id].size > 0;
    const int64_t kept = !in_rows ? 0 : slots_for(end - begin == 1 ? begin->rows : merged({begin, end}));
    const auto before = [](const RowLives& source) { return source.others_written == -1; };
    uses.push_back({id, std::any_of(begin, end, before), kept});
  }
  return uses;
}

}  // namespace arenac
