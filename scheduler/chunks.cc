#include "scheduler/chunks.h"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

#include "scheduler/columns.h"
#include "scheduler/slab_runs.h"
#include "scheduler/window_rings.h"

namespace arenac {
namespace {

// Columns of a chunk: the fewest that divide the row, from `least`; else, where as few are wanted, 2 or 1.
int64_t width_of(int64_t columns, int64_t least) {
  for (int64_t width = least; width < columns; ++width)
    if (columns % width == 0) return width;
  if (least > Keep{}.width) return columns;
  return columns % 2 == 0 ? 2 : 1;
}

// The widest chunks of a row, up to `most` columns.
int64_t width_up_to(int64_t columns, int64_t most) {
  int64_t width = std::max<int64_t>(std::min(columns, most), 1);
  while (columns % width != 0) --width;
  return width;
}

bool has_sums(const Node& node) {
  const Nests& nests = std::get<Nests>(node.body);
  return std::any_of(nests.begin(), nests.end(), [](const Nest& nest) { return nest.accumulate; });
}

// Upwards, what to run at each of `ends` to have run all before it.
std::vector<Interval> steps_to(const std::vector<int64_t>& ends) {
  std::vector<Interval> parts;
  int64_t done = 0;
  for (int64_t end : ends) {
    parts.push_back({done, std::max(done, end)});
    done = parts.back().end;
  }
  return parts;
}

// Rows of the first slab.
int64_t height_of(const std::vector<Interval>& rows) { return rows[0].end - rows[0].begin; }

const RowAccess& read_of(const Slabs& slabs, TensorId storage, const std::vector<Layout>& layouts) {
  return *std::find_if(slabs.reads.begin(), slabs.reads.end(),
                       [&](const RowAccess& r) { return layouts[r.tensor].root == storage; });
}

}  // namespace

bool in_turn(const Pull& pull) {
  for (size_t t = 0; t < pull.upto.size(); ++t)
    if (pull.upto[t] != static_cast<int64_t>(t)) return false;
  return true;
}

Chunks::Chunks(Group& group, std::span<const StepInSlabs> cut, int64_t width, const Schedule& whole,
               const StepFacts& facts)
    : group_(group),
      cut_(cut),
      width_(width),
      steps_(whole.steps),
      layouts_(whole.layouts),
      graph_(*whole.graph),
      facts_(facts),
      pulled_by_(group.stages.size()) {
  const auto touch = [&](TensorId tensor, int k) {
    const std::pair touched(root(tensor), k);
    if (touched_.empty() || touched_.back() != touched) touched_.push_back(touched);
  };
  pulls_.reserve(group.stages.size());
  for (int k = 0; k < count(); ++k) {
    pulls_.push_back(std::move(group.stages[k].pulls));
    touch(slabs(k).write.tensor, k);
    for (const RowAccess& read : slabs(k).reads) touch(read.tensor, k);
    for (const Pull& pull : pulls_[k]) pulled_by_[pull.producer].push_back(k);
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
}

std::vector<Stage> Chunks::plain() const {
  std::vector<Stage> stages;
  for (int k = 0; k < count(); ++k) {
    const Stage& stage = group_.stages[k];
    stages.push_back({stage.step, stage.slabs, stage.nests, pulls_[k]});
  }
  return stages;
}

bool Chunks::compute_again(TensorId storage) {
  const auto pair = pair_of(storage);
  if (!pair || is_fed(pair->writer) || has_sums(node(pair->writer)) || group_.stages[pair->writer].host >= 0)
    return false;
  const std::vector<Interval>& written = slabs(pair->writer).write.rows;
  const auto above = [](const Interval& a, const Interval& b) {
    return a.end <= b.begin && a.begin < b.begin;
  };
  if (!std::is_sorted(written.begin(), written.end(), above)) return false;
  std::vector<Interval> at;
  for (const Interval& seen : read_of(slabs(pair->reader), storage, layouts_).rows) {
    const auto before = [](const Interval& rows, int64_t row) { return rows.end <= row; };
    const auto first = std::lower_bound(written.begin(), written.end(), seen.begin, before);
    const auto last = std::lower_bound(written.begin(), written.end(), seen.end - 1, before);
    if (seen.begin >= seen.end || last == written.end()) return false;
    at.push_back({first - written.begin(), last - written.begin() + 1});
  }
  Stage& writer = group_.stages[pair->writer];
  writer.host = pair->reader;
  writer.slabs_at = std::move(at);
  again_.insert(storage);
  return true;
}

bool Chunks::cut(std::vector<KeptRing>& rings) {
  for (Stage& stage : group_.stages) stage.pulls.clear();  // until they are gathered
  for (KeptRing& ring : rings)
    if (!again_.contains(ring.storage) && !chunked_.contains(ring.storage)) share(ring, rings);
  for (TensorId storage : again_)  // before others ask when it runs
    if (!slide(storage, rings)) return false;
  for (const KeptRing& ring : rings)
    if (!chunked_.contains(ring.storage)) slide(ring.storage, rings);
  return true;
}

// ---- who touches what

bool Chunks::reads(int k, TensorId storage) const {
  const auto& all = slabs(k).reads;
  return std::any_of(all.begin(), all.end(), [&](const RowAccess& r) { return root(r.tensor) == storage; });
}

// The axes of its columns, for a stage that touches it.
const ColumnAxes& Chunks::column_axes_of(int k, TensorId storage) const {
  static const ColumnAxes none = {};
  const auto at = std::ranges::find(slabs(k).columns, storage, &ColumnAxes::storage);
  return at == slabs(k).columns.end() ? none : *at;
}

// Stages that touch a storage: the last only reads it.
std::vector<int> Chunks::users_of(TensorId storage) const {
  std::vector<int> users;
  for (auto at = std::lower_bound(touched_.begin(), touched_.end(), std::pair(storage, 0));
       at != touched_.end() && at->first == storage; ++at)
    users.push_back(at->second);
  if (!users.empty() && writes(users.back(), storage)) users.clear();
  return users;
}

// The only two stages that touch a storage, where nobody needs the first for anything else.
std::optional<Chunks::Pair> Chunks::pair_of(TensorId storage) const {
  const std::vector<int> users = users_of(storage);
  if (users.size() != 2 || reads(users[0], storage) || !closed({users[0], users[1]})) return std::nullopt;
  const auto& accesses = slabs(users[1]).reads;
  const auto here = [&](const RowAccess& r) { return root(r.tensor) == storage; };
  if (std::count_if(accesses.begin(), accesses.end(), here) != 1) return std::nullopt;
  return Pair{users[0], users[1]};
}

// A host and all that run within it, ascending.
std::vector<int> Chunks::family_of(int host) const {
  std::vector<int> family;
  for (int k = 0; k <= host; ++k)
    if (runs_within(group_, k, host)) family.push_back(k);
  return family;
}

// The stage whose slabs a stage runs with, one for one; its own where that is no guest of such a kind.
int Chunks::turns_with(int k) const {
  const Stage& stage = group_.stages[k];
  return stage.host >= 0 && !stage.seen_through_window() ? stage.host : k;
}

// The slabs of stage k that run within a slab of a host of its own or of its host's.
Interval Chunks::slabs_in(int k, int host, int64_t slab) const {
  if (k == host) return {slab, slab + 1};
  const Stage& stage = group_.stages[k];
  const Interval above = slabs_in(stage.host, host, slab);
  if (!stage.seen_through_window() || above.begin >= above.end) return above;
  return {stage.slabs_at[above.begin].begin, stage.slabs_at[above.end - 1].end};
}

// Slab t of each pulls slab t of the other.
bool Chunks::in_step(int guest, int host) const {
  if (guest == host) return true;
  if (group_.stages[guest].slabs != group_.stages[host].slabs) return false;
  for (int k : pulled_by_[guest])
    for (const Pull& pull : pulls_[k])
      if (pull.producer == guest && !in_turn(pull)) return false;
  return true;
}

// Nobody else asks for what all but the last of them compute.
bool Chunks::closed(const std::vector<int>& family) const {
  const auto in = [&](int k) { return std::count(family.begin(), family.end(), k) > 0; };
  const auto asked_for = [&](int guest) {
    const auto has = [&](const std::vector<int>& stages) {
      return std::find(stages.begin(), stages.end(), guest) != stages.end();
    };
    return !std::all_of(pulled_by_[guest].begin(), pulled_by_[guest].end(), in) || has(group_.sinks) ||
           has(group_.completed);
  };
  return std::none_of(family.begin(), family.end(),
                      [&](int k) { return k != family.back() && asked_for(k); });
}

// A storage of which within a slab of the host one of its family writes rows that another one touches, other
// than those in chunks; -1: there is none.
TensorId Chunks::rows_met_in(int host) const {
  const std::vector<int> family = family_of(host);
  const auto rows_in = [&](const std::vector<Interval>& rows, int k, int64_t slab) -> Interval {
    const Interval at = slabs_in(k, host, slab);
    if (at.begin >= at.end) return {0, 0};
    Interval all = rows[at.begin];
    for (int64_t t = at.begin; t < at.end; ++t)
      all = {std::min(all.begin, rows[t].begin), std::max(all.end, rows[t].end)};
    return all;
  };
  const auto meet = [&](int k, const RowAccess& mine, int other, const RowAccess& theirs) {
    for (int64_t t = 0; t < group_.stages[host].slabs; ++t) {
      const Interval a = rows_in(mine.rows, k, t), b = rows_in(theirs.rows, other, t);
      if (a.begin < b.end && b.begin < a.end) return true;
    }
    return false;
  };
  for (int k : family) {
    const RowAccess& written = slabs(k).write;
    if (chunked_.contains(root(written.tensor)) || again_.contains(root(written.tensor))) continue;
    for (int other : family) {
      if (other == k) continue;
      const TensorId storage = root(written.tensor);
      if (writes(other, storage) && meet(k, written, other, slabs(other).write)) return storage;
      for (const RowAccess& read : slabs(other).reads)
        if (root(read.tensor) == storage && meet(k, written, other, read)) return storage;
    }
  }
  return -1;
}

// ---- pulls

std::vector<Pull> Chunks::needed_by(int k) const {
  std::vector<Pull> all;
  const std::vector<int> family = family_of(k);
  const auto outside = [&](const Pull& pull) {
    return std::count(family.begin(), family.end(), pull.producer) == 0;
  };
  for (int guest : family) {
    if (guest != k && group_.stages[guest].host != k) continue;
    const std::vector<Pull> of_guest = guest == k ? std::vector<Pull>() : needed_by(guest);
    for (const Pull& pull : guest == k ? pulls_[k] : of_guest) {
      if (!outside(pull)) continue;
      Pull mine{pull.producer, {}};
      mine.upto.reserve(static_cast<size_t>(group_.stages[k].slabs));
      int64_t most = -1;
      for (int64_t t = 0; t < group_.stages[k].slabs; ++t) {
        const Interval at = slabs_in(guest, k, t);
        if (at.begin < at.end) most = std::max(most, pull.upto[at.end - 1]);
        mine.upto.push_back(most);
      }
      all.push_back(std::move(mine));
    }
  }
  return all;
}

void Chunks::gather_pulls() {
  std::vector<bool> hosts(group_.stages.size());
  for (const Stage& stage : group_.stages)
    if (stage.host >= 0) hosts[stage.host] = true;
  for (int k = 0; k < count(); ++k) {
    const bool guest = group_.stages[k].host >= 0;
    group_.stages[k].pulls = guest ? std::vector<Pull>() : hosts[k] ? needed_by(k) : pulls_[k];
  }
}

// ---- a few columns at a time

// At slab t, all touch only the rows that the first of them writes there, as many as at any other.
bool Chunks::same_rows(const std::vector<int>& users, TensorId storage) const {
  const std::vector<Interval>& written = slabs(users[0]).write.rows;
  const auto same = [&](const RowAccess& access) {
    return root(access.tensor) != storage || access.rows == written;
  };
  for (int k : users) {
    const auto& all = slabs(k).reads;
    if (!same(slabs(k).write) || !std::all_of(all.begin(), all.end(), same)) return false;
  }
  for (size_t t = 0; t < written.size(); ++t) {
    const bool next = t == 0 || written[t].begin == written[t - 1].end;
    if (written[t].end - written[t].begin != height_of(written) || !next) return false;
  }
  return writes(users[0], storage);
}

bool Chunks::share(KeptRing& ring, std::vector<KeptRing>& rings) {
  std::optional<Turns> turns = turns_of(ring.storage);
  if (!turns) return false;
  struct Before {
    int host;
    int64_t chunks;
    std::vector<int> chunk_axes;
  };
  std::vector<Before> before;
  for (const Stage& stage : group_.stages) before.push_back({stage.host, stage.chunks, stage.chunk_axes});
  const int last = turns->users.back();
  std::vector<KeptRing*> shared;
  for (KeptRing* next = &ring; turns; turns = next ? turns_of(next->storage) : std::nullopt) {
    take(*turns, next->storage);
    shared.push_back(next);
    const int host = turns_with(last);
    const TensorId met = closed(family_of(host)) ? rows_met_in(host) : ring.storage;
    if (met < 0) {
      for (KeptRing* done : shared) done->ring = columns_kept(done->storage);
      return true;
    }
    const auto at = std::ranges::find(rings, met, &KeptRing::storage);
    next = at == rings.end() || chunked_.contains(met) || again_.contains(met) ? nullptr : &*at;
  }
  for (int k = 0; k < count(); ++k) {
    Stage& stage = group_.stages[k];
    std::tie(stage.host, stage.chunks) = std::tie(before[k].host, before[k].chunks);
    stage.chunk_axes = std::move(before[k].chunk_axes);
  }
  for (const KeptRing* undone : shared) chunked_.erase(undone->storage);
  return false;
}

// How all that touch the storage can run chunk by chunk of its columns; nothing where they cannot.
std::optional<Chunks::Turns> Chunks::turns_of(TensorId storage) const {
  const Rows& columns = facts_.columns[storage];
  if (columns.size == 0 || columns.count < 2) return std::nullopt;
  std::vector<int> users = users_of(storage);
  if (users.size() < 2 || is_fed(users[0]) || !same_rows(users, storage)) return std::nullopt;
  const int host = turns_with(users.back());
  const int64_t chunks = chunks_of(users, storage);
  if (chunks == 1) return std::nullopt;
  for (int k : users) {
    const Stage& stage = group_.stages[k];
    const std::vector<int>& axes = column_axes_of(k, storage).axes;
    const bool other = stage.chunks > 1 && (stage.chunks != chunks || stage.chunk_axes != axes);
    if (axes.empty() || other || stage.seen_through_window() || !in_step(k, host)) return std::nullopt;
  }
  return Turns{std::move(users), host, chunks};
}

// They do, within the last of them.
void Chunks::take(const Turns& turns, TensorId storage) {
  for (Stage& stage : group_.stages)
    if (std::ranges::binary_search(turns.users, stage.host)) stage.host = turns.host;
  for (int k : turns.users) {
    Stage& stage = group_.stages[k];
    stage.chunks = turns.chunks;
    stage.chunk_axes = column_axes_of(k, storage).axes;
    if (k != turns.host) stage.host = turns.host;
  }
  chunked_.insert(storage);
}

// Chunks that those who touch the storage run in: as some of them do already, or as suits all.
int64_t Chunks::chunks_of(const std::vector<int>& users, TensorId storage) const {
  for (int k : users)
    if (group_.stages[k].chunks > 1) return group_.stages[k].chunks;
  const int64_t count = facts_.columns[storage].count;
  return count / (multiplies_apart(users, storage) ? 1 : width_of(count, width_));
}

// Whether those who touch the storage multiply, and none of them reads for one column what another one needs.
bool Chunks::multiplies_apart(const std::vector<int>& users, TensorId storage) const {
  const auto have = [&](ColumnFactors factors) {
    return std::ranges::any_of(users, [&](int k) { return column_axes_of(k, storage).factors == factors; });
  };
  return have(ColumnFactors::kOwn) && !have(ColumnFactors::kShared);
}

// Of a storage whose users take turns: the rows of a slab, of which the columns of a chunk.
Ring Chunks::columns_kept(TensorId storage) const {
  const Rows &rows = facts_.rows[storage], &columns = facts_.columns[storage];
  const int writer = users_of(storage).front();
  return {rows.size, height_of(slabs(writer).write.rows), columns.size,
          columns.count / group_.stages[writer].chunks};
}

// ---- windows

bool Chunks::computes_again(int k) const {
  return std::any_of(again_.begin(), again_.end(), [&](TensorId storage) { return writes(k, storage); });
}

bool Chunks::hosts_again(int host) const {
  for (int k = 0; k < count(); ++k)
    if (group_.stages[k].host == host && computes_again(k)) return true;
  return false;
}

bool Chunks::slide(TensorId storage, std::vector<KeptRing>& rings) {
  const bool again = again_.contains(storage);
  if (facts_.columns[storage].count < 2) return false;
  const auto pair = pair_of(storage);
  if (!pair || is_fed(pair->writer) ||
      (!again && (group_.stages[pair->writer].host >= 0 || has_sums(node(pair->writer)))))
    return false;
  // Where vectors lie along elements side by side, a ring of these would cut them up.
  if (facts_.columns[storage].size == 1 && width_ > 1 && multiply_accumulates(node(pair->writer)) > 0)
    return false;
  // Its family runs the reader slab by slab.
  const Stage& reader = group_.stages[pair->reader];
  const int host = turns_with(pair->reader);
  // What is computed again begins anew with each slab of its host, which so runs one after the other.
  if (again ? group_.stages[host].host >= 0 : hosts_again(pair->writer)) return false;
  for (int k = host; k >= 0 && !again; k = group_.stages[k].host)
    if (computes_again(k)) return false;
  const Stage writer_before = group_.stages[pair->writer], reader_before = reader;
  const std::vector<KeptRing> before = rings;
  const auto bytes_of = [&] {
    int64_t bytes = 0;
    for (const auto& [id, ring] : rings) bytes += ring.size() * size_of(graph_.tensors[id].type);
    return bytes;
  };
  const int64_t bytes = bytes_of();
  chunked_.insert(storage);
  windows_[storage] = *pair;
  if (place_window(storage, *pair, host)) {
    // What runs within the writer turns with another host; in which order all others run stays as it was.
    const std::vector<int> moved = family_of(pair->writer);
    for (KeptRing& ring : rings)
      if (const auto at = windows_.find(ring.storage);
          at != windows_.end() &&
          (ring.storage == storage || std::ranges::binary_search(moved, at->second.reader)))
        ring.ring = kept_of(ring.storage);
    if (again || bytes_of() < bytes) return true;
  }
  group_.stages[pair->writer] = writer_before;
  group_.stages[pair->reader] = reader_before;
  rings = before;
  chunked_.erase(storage);
  windows_.erase(storage);
  return false;
}

bool Chunks::place_window(TensorId storage, const Pair& pair, int host) {
  const bool again = again_.contains(storage);
  const Rows& columns = facts_.columns[storage];
  Stage &writer = group_.stages[pair.writer], &reader = group_.stages[pair.reader];
  const auto full = [](const std::vector<int>& axes) {
    return !axes.empty() && std::find(axes.begin(), axes.end(), -1) == axes.end();
  };
  if (reader.chunks == 1) {
    const TensorId out = root(slabs(pair.reader).write.tensor);
    if (facts_.rows[out].size == 0) return false;
    reader.chunk_axes = column_axes_of(pair.reader, out).axes;
    const Rows& outs = facts_.columns[out];
    if (!full(reader.chunk_axes) || outs.count < 2) return false;
    reader.chunks = outs.count / width_of(outs.count, width_);
    if (reader.chunks == 1) return false;
  }
  const std::vector<int>& axes = column_axes_of(pair.writer, storage).axes;
  if (!full(axes) || columns.count < 2 || (writer.chunks > 1 && writer.chunk_axes != axes)) return false;
  const std::vector<Interval>& seen = columns_seen(storage, pair);
  const int64_t middle = reader.chunks / 2;
  if (writer.chunks == 1)
    writer.chunks = columns.count / width_up_to(columns.count, seen[middle].end - seen[middle - 1].end);
  if (writer.chunks == 1) return false;
  writer.chunk_axes = axes;
  writer.host = host;
  const int64_t width = columns.count / writer.chunks;
  std::vector<int64_t> chunk_ends, slab_ends;
  for (const Interval& part : seen) chunk_ends.push_back((part.end + width - 1) / width);
  writer.chunks_at = steps_to(chunk_ends);
  if (!again) {
    for (const Pull& pull : pulls_[pair.reader])
      if (pull.producer == pair.writer)
        for (int64_t last : pull.upto) slab_ends.push_back(last + 1);
    writer.slabs_at = steps_to(slab_ends);
  }
  return rows_met_in(root_of(group_, host)) < 0;
}

const std::vector<Interval>& Chunks::columns_seen(TensorId storage, const Pair& pair) const {
  const Stage& reader = group_.stages[pair.reader];
  const TensorId read = read_of(slabs(pair.reader), storage, layouts_).tensor;
  const auto [known, is_new] =
      facts_.known->seen.try_emplace({reader.step, read, reader.chunks, reader.chunk_axes});
  if (is_new)
    known->second = columns_touched(node(pair.reader), reader.chunk_axes, reader.chunks, read,
                                    facts_.rows[storage], graph_, layouts_);
  return known->second;
}

Ring Chunks::kept_of(TensorId storage) const {
  const Pair& pair = windows_.at(storage);
  const WindowUse use = {pair.writer,
                         pair.reader,
                         facts_.rows[storage],
                         facts_.columns[storage],
                         slabs(pair.writer).write.rows,
                         read_of(slabs(pair.reader), storage, layouts_).rows,
                         columns_seen(storage, pair)};
  return again_.contains(storage) ? columns_of_window_kept(group_, use)
                                  : elements_kept(group_, use, facts_.known->kept_by_turns);
}

}  // namespace arenac
