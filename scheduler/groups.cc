#include "scheduler/groups.h"

#include <algorithm>
#include <map>
#include <span>

#include "frontend/error.h"
#include "scheduler/chunks.h"
#include "scheduler/slab_runs.h"
#include "scheduler/slots.h"

namespace arenac {
namespace {

// Of a tensor (a source): when its rows are written and touched. Only rows [first, first + size) are kept:
// nothing in the group touches the others, which were written before it or never. None where nobody asks.
struct RowLives {
  TensorId id;
  int64_t first;
  std::vector<Life> rows;
  Moment others_written;  // -1: before the group

  int64_t end() const { return first + static_cast<int64_t>(rows.size()); }
  Life& at(int64_t row) { return rows[static_cast<size_t>(row - first)]; }
  Moment written(int64_t row) const {
    return first <= row && row < end() ? rows[static_cast<size_t>(row - first)].written : others_written;
  }
};

constexpr int64_t kNoByte = INT64_MAX;

// What the group does with a storage.
struct StorageUse {
  TensorId id;
  bool was_before;  // something is in it before the group
  int64_t kept;     // rows in memory at a time; 0: it does not live in the group alone, or not in rows
};

class Former {
 public:
  // `cut`: the steps [begin, end) as the group takes them.
  Former(const Schedule& whole, const StepFacts& facts, int begin, std::span<const StepInSlabs> cut)
      : cut_(cut),
        whole_(whole),
        steps_(whole.steps),
        layouts_(whole.layouts),
        graph_(*whole.graph),
        facts_(facts),
        group_{begin, begin + static_cast<int>(cut.size()), {}, {}, {}} {}

  std::optional<GroupPlan> run(const Keep& keep) {
    for (const StepInSlabs& step : cut_)
      if (step.slabs.count == 0) return std::nullopt;
    stages();
    find_sources();
    if (!runs_in_order()) {
      wait();
      if (!runs_in_order()) return std::nullopt;
    }
    if (!keep.columns) return plan(storage_uses());
    Chunks chunks(group_, cut_, keep.width, whole_, facts_);
    for (const WindowKept& window : keep.again)
      if (!chunks.compute_again(window.storage)) return std::nullopt;
    if (!keep.again.empty()) {
      chunks.gather_pulls();
      if (!runs_in_order()) return std::nullopt;
    }
    const std::vector<StorageUse> in_rows = storage_uses();
    std::vector<KeptRing> cut = rings(in_rows);
    if (chunks.cut(cut) && chunks.any()) {
      Trace when_in_rows = std::move(when_);
      if (auto columns = pulled_by_hosts(chunks, cut)) return columns;
      when_ = std::move(when_in_rows);
    }
    if (!keep.again.empty()) return std::nullopt;
    group_.stages = chunks.plain();
    return plan(in_rows);
  }

 private:
  const Slabs& slabs(int stage) const { return cut_[stage].slabs; }
  TensorId root(TensorId id) const { return layouts_[id].root; }

  GroupPlan plan(const std::vector<StorageUse>& storages) {
    std::vector<KeptRing> kept = rings(storages);
    std::vector<StorageOverlap> over = overlaps(storages);
    return {std::move(group_), std::move(kept), std::move(over)};
  }

  // The group with chunks. Hosts pull in another order, so that rows may live longer.
  std::optional<GroupPlan> pulled_by_hosts(Chunks& chunks, const std::vector<KeptRing>& cut) {
    chunks.gather_pulls();
    if (!runs_in_order()) return std::nullopt;
    GroupPlan all = plan(storage_uses());
    for (const KeptRing& chunk : cut) {
      if (chunk.ring.columns == 0 && chunk.ring.row == facts_.rows[chunk.storage].size) continue;
      std::erase_if(all.rings, [&](const KeptRing& ring) { return ring.storage == chunk.storage; });
      all.rings.push_back(chunk);
    }
    return all;
  }

  void stages() {
    std::vector<bool> read(group_.end - group_.begin);
    int64_t all = 0;  // slabs
    group_.stages.reserve(read.size());
    for (int s = group_.begin; s < group_.end; ++s) {
      const auto& [slabs, pulls, waits] = cut_[s - group_.begin];
      Stage stage{s, slabs.count, slabs.nests, {}, -1, 1, {}};
      for (const Pull& pull : pulls) {
        if (pull.producer < group_.begin) continue;
        read[pull.producer - group_.begin] = true;
        stage.pulls.push_back({pull.producer - group_.begin, pull.upto});
      }
      all += stage.slabs;
      group_.stages.push_back(std::move(stage));
    }
    ARENAC_CHECK(all < kNever, "a group has fewer slabs than moments can count");
    for (int k = 0; k < static_cast<int>(read.size()); ++k) {
      if (!read[k]) group_.sinks.push_back(k);
      const TensorId out = slabs(k).write.tensor;
      if (read[k] && facts_.last_reader[out] >= group_.end) group_.completed.push_back(k);
    }
  }

  // What is overwritten has been read before, as far as steps can see to it.
  void wait() {
    for (Stage& stage : group_.stages)
      for (const Pull& wait : cut_[stage.step - group_.begin].waits)
        if (wait.producer >= group_.begin) add(stage.pulls, {wait.producer - group_.begin, wait.upto});
  }

  bool before_in_place(TensorId a, TensorId b) const { return std::pair(root(a), a) < std::pair(root(b), b); }

  // Where the lives of a source are; the end where the group does not touch it.
  std::vector<RowLives>::const_iterator at(TensorId source) const {
    const auto found =
        std::lower_bound(sources_.begin(), sources_.end(), source,
                         [&](const RowLives& lives, TensorId id) { return before_in_place(lives.id, id); });
    return found != sources_.end() && found->id == source ? found : sources_.end();
  }

  // What the stages read and write, the sources of one storage together, with the rows that they touch.
  void find_sources() {
    struct Source {
      TensorId id;
      size_t number;  // in the order in which they are touched
      Interval rows = {0, 0};
    };
    std::vector<Source> all;
    std::vector<int> number(layouts_.size(), -1);  // per source
    const auto add = [&](TensorId id, const RowAccess& access) {
      if (number[id] < 0) {
        number[id] = static_cast<int>(all.size());
        all.push_back({id, all.size()});
      }
      places_.push_back(static_cast<size_t>(number[id]));
      Interval& rows = all[places_.back()].rows;
      for (const Interval& touched : access.rows) rows = hull(rows, touched);
    };
    for (int k = 0; k < static_cast<int>(group_.stages.size()); ++k) {
      for (const RowAccess& access : slabs(k).reads) add(facts_.source[access.tensor], access);
      add(slabs(k).write.tensor, slabs(k).write);
    }
    std::ranges::sort(all, [&](const Source& a, const Source& b) { return before_in_place(a.id, b.id); });
    std::vector<size_t> counts, place_of(all.size());  // of rows; per number
    for (const auto& [id, touched_as, rows] : all) {
      place_of[touched_as] = sources_.size();
      const bool before = facts_.writer[id] < group_.begin;
      sources_.push_back({id, rows.begin, {}, before ? -1 : kNever});
      counts.push_back(static_cast<size_t>(rows.end - rows.begin));
    }
    for (size_t& place : places_) place = place_of[place];
    keep_rows(counts);
  }

  // So many rows each, of what lives here in rows, or is, or is in, the place of another.
  void keep_rows(const std::vector<size_t>& counts) {
    std::vector<char> asked(sources_.size());
    for (size_t k = 0; k < sources_.size(); ++k) {
      const TensorId storage = root(sources_[k].id);
      asked[k] |= lives_here(storage) && facts_.rows[storage].size > 0;
      for (const TensorId id : facts_.overwritten[sources_[k].id])
        if (const auto other = at(id); other != sources_.end())
          asked[k] = asked[other - sources_.begin()] = 1;
    }
    for (size_t k = 0; k < sources_.size(); ++k)
      if (asked[k]) sources_[k].rows.resize(counts[k]);
  }

  // When each slab of a stage runs first and last, -1 where it never does; host and guests at the same time.
  struct Times {
    std::vector<Moment> first, last;
  };
  // Those of all stages, and the moment after the last of them.
  struct Trace {
    std::vector<Times> stages;
    Moment end = 0;
  };
  Trace times() const {
    Trace all;
    all.stages.reserve(group_.stages.size());
    for (const Stage& stage : group_.stages)
      all.stages.push_back({std::vector<Moment>(stage.slabs, -1), std::vector<Moment>(stage.slabs, -1)});
    for_each_slab_run(group_, [&](const SlabRun& run) {
      const auto& [stage, slab] = run;
      Times& mine = all.stages[stage];
      if (mine.first[slab] < 0) mine.first[slab] = all.end;
      mine.last[slab] = all.end;
      if (group_.stages[stage].host < 0) ++all.end;
    });
    return all;
  }

  void trace() {
    for (RowLives& source : sources_)
      std::fill(source.rows.begin(), source.rows.end(), Life{source.others_written, -1});
    when_ = times();
    auto place = places_.begin();
    for (int k = 0; k < static_cast<int>(when_.stages.size()); ++k) {
      const auto& [first, last] = when_.stages[k];
      for (const RowAccess& read : slabs(k).reads) touch(sources_[*place++], read.rows, last);
      RowLives& written = sources_[*place++];
      touch(written, slabs(k).write.rows, last);
      write(written, slabs(k).write.rows, first);
    }
  }

  // From the last slab on. Where a slab and the next go forward, in rows and in time, what both touch is for
  // the next.
  static void touch(RowLives& lives, const std::vector<Interval>& rows, const std::vector<Moment>& when) {
    if (lives.rows.empty()) return;
    Interval next = {INT64_MAX, INT64_MAX};
    Moment then = kNever;
    for (size_t t = rows.size(); t-- > 0;) {
      const auto& [begin, end] = rows[t];
      if (when[t] < 0 || begin >= end) continue;
      const bool forward = begin <= next.begin && end <= next.end && when[t] <= then;
      for (int64_t y = begin; y < (forward ? std::min(end, next.begin) : end); ++y)
        lives.at(y).touch(when[t]);
      next = rows[t], then = when[t];
    }
  }

  static void write(RowLives& lives, const std::vector<Interval>& rows, const std::vector<Moment>& when) {
    if (lives.rows.empty()) return;
    for (size_t t = 0; t < rows.size(); ++t)
      for (int64_t y = rows[t].begin; when[t] >= 0 && y < rows[t].end; ++y) lives.at(y).write(when[t]);
  }

  // Half-open ranges of sources_, those of one storage each.
  template <typename F>
  void for_each_storage(const F& f) const {
    for (size_t begin = 0, end = 0; begin < sources_.size(); begin = end) {
      while (end < sources_.size() && root(sources_[end].id) == root(sources_[begin].id)) ++end;
      f(begin, end);
    }
  }

  bool runs_in_order() {
    trace();
    return in_order();
  }

  // Whether tensors that share bytes use them one after the other, in each row in the order of the steps.
  bool in_order() const {
    for (const RowLives& b : sources_)
      for (const TensorId id : facts_.overwritten[b.id]) {
        const auto a = at(id);
        if (a == sources_.end()) continue;
        if (b.others_written == kNever && (a->end() <= b.first || b.end() <= a->first)) continue;
        for (int64_t row = a->first; row < a->end(); ++row)
          if (a->rows[static_cast<size_t>(row - a->first)].touched > b.written(row)) return false;
      }
    return true;
  }

  bool lives_here(TensorId storage) const {
    const Interval live = facts_.live[storage];
    return facts_.bytes[storage] > 0 && !facts_.callers[storage] && group_.begin <= live.begin &&
           live.end <= group_.end;
  }

  std::vector<StorageUse> storage_uses() const {
    std::vector<StorageUse> uses;
    for_each_storage([&](size_t begin, size_t end) {
      const std::span<const RowLives> all(sources_.begin() + begin, sources_.begin() + end);
      const TensorId id = root(all.front().id);
      const bool in_rows = lives_here(id) && facts_.rows[id].size > 0;
      const int64_t kept = !in_rows ? 0 : slots_for(all.size() == 1 ? all.front().rows : merged(all));
      const auto before = [](const RowLives& source) { return source.others_written == -1; };
      uses.push_back({id, std::ranges::any_of(all, before), kept});
    });
    return uses;
  }

  // The lives of a storage's rows: from the first to the last that one of its tensors touches.
  static std::vector<Life> merged(std::span<const RowLives> sources) {
    Interval all = {0, 0};
    for (const RowLives& source : sources) all = hull(all, {source.first, source.end()});
    std::vector<Life> rows(static_cast<size_t>(all.end - all.begin));
    for (const RowLives& source : sources) {
      for (int64_t y = all.begin; y < all.end; ++y) {
        Life& row = rows[static_cast<size_t>(y - all.begin)];
        row.written = std::min(row.written, source.written(y));
      }
      for (int64_t y = source.first; y < source.end(); ++y)
        rows[static_cast<size_t>(y - all.begin)].touch(
            source.rows[static_cast<size_t>(y - source.first)].touched);
    }
    return rows;
  }

  std::vector<StorageOverlap> overlaps(const std::vector<StorageUse>& storages) const {
    std::vector<TensorId> ins, outs;
    for (const auto& [id, was_before, kept] : storages) {
      const Interval live = facts_.live[id];
      const bool is_output = facts_.last_reader[id] == static_cast<int>(steps_.size());
      if (was_before && live.end <= group_.end && !is_output) ins.push_back(id);
      const bool outlives = live.end > group_.end || facts_.callers[id];
      if (!was_before && live.begin >= group_.begin && outlives) outs.push_back(id);
    }
    std::vector<StorageOverlap> all;
    if (ins.empty()) return all;
    std::vector<std::vector<Touch>> writes;
    for (TensorId out : outs)
      for_each_touch(out, [&all = writes.emplace_back()](const Touch& touch) { all.push_back(touch); });
    for (TensorId in : ins) {
      if (outs.empty()) break;
      const std::vector<int64_t> lowest = lowest_read(in);
      for (size_t o = 0; o < outs.size(); ++o)
        all.push_back({in, outs[o], distance(lowest, writes[o], in), -1, {}});
    }
    return all;
  }

  // What a slab touches of a storage, in bytes, when it runs first and last.
  struct Touch {
    Moment first, last;
    Interval bytes;
  };
  template <typename F>
  void for_each_touch(TensorId storage, const F& f) const {
    const auto size = static_cast<int64_t>(size_of(graph_.tensors[storage].type));
    const auto add = [&](const RowAccess& access, const Times& when) {
      if (root(access.tensor) != storage) return;
      const int64_t row = access.elements.empty() ? facts_.rows[storage].size : 1;
      const auto& touched = access.elements.empty() ? access.rows : access.elements;
      for (size_t t = 0; t < touched.size(); ++t)
        if (when.first[t] >= 0 && touched[t].begin < touched[t].end)
          f(Touch{when.first[t], when.last[t],
                  row > 0 ? Interval{touched[t].begin * row * size, touched[t].end * row * size}
                          : Interval{0, facts_.bytes[storage]}});
    };
    for (int k = 0; k < static_cast<int>(group_.stages.size()); ++k) {
      for (const RowAccess& read : slabs(k).reads) add(read, when_.stages[k]);
      add(slabs(k).write, when_.stages[k]);
    }
  }

  // Per moment, the lowest byte of a storage that is touched then or later, or kNoByte.
  std::vector<int64_t> lowest_read(TensorId storage) const {
    std::vector<int64_t> lowest(static_cast<size_t>(when_.end), kNoByte);
    for_each_touch(storage, [&](const Touch& read) {
      int64_t& now = lowest[static_cast<size_t>(read.last)];
      now = std::min(now, read.bytes.begin);
    });
    for (size_t m = lowest.size(); m-- > 1;) lowest[m - 1] = std::min(lowest[m - 1], lowest[m]);
    return lowest;
  }

  // How far above the output the input must lie: while bytes are written, the lowest that are still to be
  // read are not below their end.
  int64_t distance(const std::vector<int64_t>& lowest, const std::vector<Touch>& writes, TensorId in) const {
    int64_t least = -facts_.bytes[in];
    for (const Touch& write : writes)
      if (const int64_t low = lowest[static_cast<size_t>(write.first)]; low != kNoByte)
        least = std::max(least, write.bytes.end - low);
    return least;
  }

  std::vector<KeptRing> rings(const std::vector<StorageUse>& storages) const {
    std::vector<KeptRing> rings;
    for (const auto& [id, was_before, kept] : storages) {
      const Rows& rows = facts_.rows[id];
      if (kept > 0 && kept < rows.count) rings.push_back({id, {rows.size, kept, 0, 0}});
    }
    return rings;
  }

  const std::span<const StepInSlabs> cut_;
  const Schedule& whole_;
  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  const Graph& graph_;
  const StepFacts& facts_;
  Group group_;
  std::vector<RowLives> sources_;  // by storage, then tensor
  std::vector<size_t> places_;  // in sources_, per access: stage by stage what is read, then what is written
  Trace when_;
};

// Per step before `end` how many slabs of it to take at a time: as the windows of what is computed again say
// for the step that reads through them and for those that read the rows of this one as they come. Nothing
// where they contradict each other.
std::optional<std::map<int, int64_t>> strips_of(int end, const std::vector<WindowKept>& again,
                                                const StepFacts& facts) {
  std::map<int, int64_t> strips;
  const auto writes_again = [&](int s) {
    return std::any_of(again.begin(), again.end(),
                       [&](const WindowKept& window) { return facts.writer[window.storage] == s; });
  };
  const auto in_step = [&](int s, int producer) {
    const auto& pulls = facts.steps[s].pulls;
    const auto at =
        std::find_if(pulls.begin(), pulls.end(), [&](const Pull& p) { return p.producer == producer; });
    return at != pulls.end() && facts.steps[s].slabs.count == facts.steps[producer].slabs.count &&
           in_turn(*at);
  };
  const auto take = [&](int s, int64_t strip) { return strips.emplace(s, strip).first->second == strip; };
  for (const auto& [storage, strip] : again) {
    const int reader = facts.last_reader[storage];
    if (reader < 0 || reader >= end || !take(reader, strip)) return std::nullopt;
    if (facts.one_by_one[reader]) return std::nullopt;
    for (int s = reader + 1; s < end; ++s)
      if (in_step(s, reader) && !writes_again(s) && !facts.one_by_one[s] && !take(s, strip))
        return std::nullopt;
  }
  return strips;
}

}  // namespace

std::optional<GroupPlan> form_group(const Schedule& whole, const StepFacts& facts, int begin, int end,
                                    const Keep& keep) {
  const auto one = [](const WindowKept& window) { return window.strip == 1; };
  std::span<const StepInSlabs> cut = std::span(facts.steps).subspan(begin, end - begin);
  std::optional<std::vector<StepInSlabs>> cut_in_strips;
  if (!std::all_of(keep.again.begin(), keep.again.end(), one)) {
    const auto strips = strips_of(end, keep.again, facts);
    if (strips) cut_in_strips = in_strips(begin, end, *strips, facts, whole.steps);
    if (!cut_in_strips) return std::nullopt;
    cut = *cut_in_strips;
  }
  return Former(whole, facts, begin, cut).run(keep);
}

}  // namespace arenac
