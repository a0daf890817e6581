#include "scheduler/groups.h"

#include <algorithm>
#include <map>

#include "scheduler/chunks.h"

namespace arenac {
namespace {

// Of a tensor (a source) or a storage: when its rows are written and touched. Only rows [first, first + size)
// are kept: nothing in the group touches the others, which were written before it or never.
struct RowLives {
  TensorId id;
  int64_t first;
  std::vector<Life> rows;
  int64_t others_written;  // -1: before the group

  int64_t end() const { return first + static_cast<int64_t>(rows.size()); }
  Life& at(int64_t row) { return rows[static_cast<size_t>(row - first)]; }
  int64_t written(int64_t row) const {
    return first <= row && row < end() ? rows[static_cast<size_t>(row - first)].written : others_written;
  }
};

class Former {
 public:
  Former(int begin, int end, const std::vector<Step>& steps, const std::vector<Layout>& layouts,
         const Graph& graph, const StepFacts& facts)
      : steps_(steps), layouts_(layouts), graph_(graph), facts_(facts), group_{begin, end, {}, {}, {}} {}

  std::optional<GroupPlan> run(const Keep& keep) {
    for (int s = group_.begin; s < group_.end; ++s)
      if (facts_.slabs[s].count == 0) return std::nullopt;
    stages();
    Chunks chunks(group_, keep.width, steps_, layouts_, graph_, facts_);
    for (const WindowKept& window : keep.again)
      if (!chunks.compute_again(window.storage)) return std::nullopt;
    if (!keep.again.empty()) chunks.gather_pulls();
    find_sources();
    trace();
    if (!in_order()) return std::nullopt;
    const std::vector<RowLives> lives = storage_lives();
    GroupPlan rows{{}, rings(lives), overlaps(lives)};
    if (!keep.columns) {
      rows.group = std::move(group_);
      return rows;
    }
    std::vector<KeptRing> cut = rows.rings;
    const bool possible = chunks.cut(cut);
    auto columns = possible && chunks.any() ? pulled_by_hosts(chunks, cut) : std::nullopt;
    if (columns || !keep.again.empty()) return columns;
    rows.group = {group_.begin, group_.end, chunks.plain(), std::move(group_.sinks),
                  std::move(group_.completed)};
    return rows;
  }

 private:
  const Slabs& slabs(int stage) const { return facts_.slabs[group_.begin + stage]; }
  TensorId root(TensorId id) const { return layouts_[id].root; }

  // The group with chunks. Hosts pull in another order, so that rows may live longer.
  std::optional<GroupPlan> pulled_by_hosts(Chunks& chunks, const std::vector<KeptRing>& cut) {
    chunks.gather_pulls();
    trace();
    if (!in_order()) return std::nullopt;
    const std::vector<RowLives> lives = storage_lives();
    std::vector<KeptRing> all = rings(lives);
    for (const KeptRing& chunk : cut) {
      if (chunk.ring.columns == 0 && chunk.ring.row == facts_.rows[chunk.storage].size) continue;
      std::erase_if(all, [&](const KeptRing& ring) { return ring.storage == chunk.storage; });
      all.push_back(chunk);
    }
    std::vector<StorageOverlap> over = overlaps(lives);
    return GroupPlan{std::move(group_), std::move(all), std::move(over)};
  }

  void stages() {
    std::vector<bool> read(group_.end - group_.begin);
    group_.stages.reserve(read.size());
    for (int s = group_.begin; s < group_.end; ++s) {
      Stage stage{s, facts_.slabs[s].count, facts_.slabs[s].nests, {}, -1, 1, {}};
      for (const Pull& pull : facts_.pulls[s]) {
        if (pull.producer < group_.begin) continue;
        read[pull.producer - group_.begin] = true;
        stage.pulls.push_back({pull.producer - group_.begin, pull.upto});
      }
      group_.stages.push_back(std::move(stage));
    }
    for (int k = 0; k < static_cast<int>(read.size()); ++k) {
      if (!read[k]) group_.sinks.push_back(k);
      const TensorId out = slabs(k).write.tensor;
      if (read[k] && facts_.last_reader[out] >= group_.end) group_.completed.push_back(k);
    }
  }

  bool before_in_place(TensorId a, TensorId b) const { return std::pair(root(a), a) < std::pair(root(b), b); }

  RowLives& lives_of(TensorId source) {
    return *std::lower_bound(
        sources_.begin(), sources_.end(), source,
        [&](const RowLives& lives, TensorId id) { return before_in_place(lives.id, id); });
  }

  // What the stages read and write, the sources of one storage together, with the rows that they touch.
  void find_sources() {
    std::vector<std::pair<TensorId, const RowAccess*>> all;
    for (int k = 0; k < static_cast<int>(group_.stages.size()); ++k) {
      for (const RowAccess& access : slabs(k).reads) all.emplace_back(facts_.source[access.tensor], &access);
      all.emplace_back(slabs(k).write.tensor, &slabs(k).write);
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto& a, const auto& b) { return before_in_place(a.first, b.first); });
    for (size_t k = 0; k < all.size();) {
      const TensorId id = all[k].first;
      Interval hull = {INT64_MAX, 0};
      for (; k < all.size() && all[k].first == id; ++k)
        for (const Interval& rows : all[k].second->rows)
          if (rows.begin < rows.end) hull = {std::min(hull.begin, rows.begin), std::max(hull.end, rows.end)};
      if (hull.begin >= hull.end) hull = {0, 0};
      const bool before = facts_.writer[id] < group_.begin;
      sources_.push_back({id, hull.begin, std::vector<Life>(static_cast<size_t>(hull.end - hull.begin)),
                          before ? -1 : INT64_MAX});
    }
  }

  void trace() {
    struct Touch {
      const std::vector<Interval>* rows;  // per slab
      RowLives* lives;
    };
    for (RowLives& source : sources_)
      std::fill(source.rows.begin(), source.rows.end(), Life{source.others_written, -1});
    std::vector<Touch> reads, writes;
    std::vector<size_t> first_read = {0};  // per stage
    for (size_t k = 0; k < group_.stages.size(); ++k) {
      const Slabs& mine = slabs(static_cast<int>(k));
      for (const RowAccess& access : mine.reads)
        reads.push_back({&access.rows, &lives_of(facts_.source[access.tensor])});
      first_read.push_back(reads.size());
      writes.push_back({&mine.write.rows, &lives_of(mine.write.tensor)});
    }
    int64_t now = 0;
    for (const auto& [stage, slab] : runs_of(group_)) {
      for (size_t r = first_read[stage]; r < first_read[stage + 1]; ++r)
        for (int64_t y = (*reads[r].rows)[slab].begin; y < (*reads[r].rows)[slab].end; ++y)
          reads[r].lives->at(y).touch(now);
      const auto& [rows, lives] = writes[stage];
      for (int64_t y = (*rows)[slab].begin; y < (*rows)[slab].end; ++y) lives->at(y).write(now);
      if (group_.stages[stage].host < 0) ++now;  // guests run in turns with their host
    }
  }

  // Bytes of a row (or of all of a storage without rows) that a tensor spans.
  Interval span_in_row(TensorId id) const {
    const Layout& layout = layouts_[id];
    const Rows& rows = facts_.rows[layout.root];
    const Shape& shape = graph_.tensors[id].shape;
    Interval span = {layout.offset, layout.offset + 1};
    if (rows.size > 0) span = {layout.offset % rows.size, layout.offset % rows.size + 1};
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t stride = layout.strides[d];
      if (shape[d] <= 1 || (rows.size > 0 && std::abs(stride) >= rows.size)) continue;
      (stride < 0 ? span.begin : span.end) += (shape[d] - 1) * stride;
    }
    return span;
  }

  // Half-open ranges of sources_, those of one storage each.
  template <typename F>
  void for_each_storage(const F& f) const {
    for (size_t begin = 0, end = 0; begin < sources_.size(); begin = end) {
      while (end < sources_.size() && root(sources_[end].id) == root(sources_[begin].id)) ++end;
      f(begin, end);
    }
  }

  // Whether tensors that share bytes use them one after the other, in each row in the order of the steps.
  bool in_order() const {
    bool all = true;
    const auto in_turn = [&](const RowLives& a, const RowLives& b) {
      if (facts_.writer[a.id] >= facts_.writer[b.id]) return true;
      if (b.others_written == INT64_MAX && (a.end() <= b.first || b.end() <= a.first)) return true;
      const Interval mine = span_in_row(a.id), others = span_in_row(b.id);
      if (mine.end <= others.begin || others.end <= mine.begin) return true;
      for (int64_t row = a.first; row < a.end(); ++row)
        if (a.rows[static_cast<size_t>(row - a.first)].touched > b.written(row)) return false;
      return true;
    };
    for_each_storage([&](size_t begin, size_t end) {
      for (size_t a = begin; a < end && all; ++a)
        for (size_t b = begin; b < end && all; ++b) all = in_turn(sources_[a], sources_[b]);
    });
    return all;
  }

  bool lives_here(TensorId storage) const {
    const Interval live = facts_.live[storage];
    return facts_.bytes[storage] > 0 && group_.begin <= live.begin && live.end <= group_.end;
  }

  // Per storage: of all tensors in it.
  std::vector<RowLives> storage_lives() const {
    std::vector<RowLives> storages;
    for_each_storage([&](size_t begin, size_t end) {
      Interval hull = {INT64_MAX, 0};
      for (size_t k = begin; k < end; ++k)
        if (!sources_[k].rows.empty())
          hull = {std::min(hull.begin, sources_[k].first), std::max(hull.end, sources_[k].end())};
      if (hull.begin >= hull.end) hull = {0, 0};
      RowLives all{root(sources_[begin].id), hull.begin,
                   std::vector<Life>(static_cast<size_t>(hull.end - hull.begin)), INT64_MAX};
      for (size_t k = begin; k < end; ++k) {
        all.others_written = std::min(all.others_written, sources_[k].others_written);
        for (int64_t y = hull.begin; y < hull.end; ++y)
          all.at(y).written = std::min(all.at(y).written, sources_[k].written(y));
        for (int64_t y = sources_[k].first; y < sources_[k].end(); ++y)
          all.at(y).touched = std::max(all.at(y).touched,
                                       sources_[k].rows[static_cast<size_t>(y - sources_[k].first)].touched);
      }
      storages.push_back(std::move(all));
    });
    return storages;
  }

  std::vector<StorageOverlap> overlaps(const std::vector<RowLives>& storages) const {
    std::vector<const RowLives*> ins, outs;
    for (const RowLives& storage : storages) {
      if (facts_.bytes[storage.id] == 0 || facts_.rows[storage.id].size == 0) continue;
      const Interval live = facts_.live[storage.id];
      if (live.begin < group_.begin && live.end <= group_.end) ins.push_back(&storage);
      if (live.begin >= group_.begin && live.end > group_.end) outs.push_back(&storage);
    }
    std::vector<StorageOverlap> all;
    for (const RowLives* in : ins)
      for (const RowLives* out : outs) all.push_back({in->id, out->id, distance(*in, *out), -1, {}});
    return all;
  }

  // How far above the output the input must lie: while a row is written, the lowest that is still to be read
  // is not below its end.
  int64_t distance(const RowLives& in, const RowLives& out) const {
    const auto bytes = [&](TensorId id) {
      return facts_.rows[id].size * static_cast<int64_t>(size_of(graph_.tensors[id].type));
    };
    std::vector<int64_t> last_read(in.rows.size());  // of the row and those below
    for (size_t x = 0; x < last_read.size(); ++x)
      last_read[x] = std::max(in.rows[x].touched, x > 0 ? last_read[x - 1] : -1);
    int64_t least = -facts_.bytes[in.id];
    for (int64_t y = out.first; y < out.end(); ++y) {
      if (out.written(y) == INT64_MAX) continue;
      const auto lowest = std::lower_bound(last_read.begin(), last_read.end(), out.written(y));
      if (lowest == last_read.end()) continue;
      const int64_t row = in.first + (lowest - last_read.begin());
      least = std::max(least, (y + 1) * bytes(out.id) - row * bytes(in.id));
    }
    return least;
  }

  std::vector<KeptRing> rings(const std::vector<RowLives>& storages) const {
    std::vector<KeptRing> rings;
    for (const RowLives& storage : storages) {
      const Rows& rows = facts_.rows[storage.id];
      if (!lives_here(storage.id) || rows.size == 0) continue;
      const int64_t kept = slots_for(storage.rows);
      if (kept < rows.count) rings.push_back({storage.id, {rows.size, kept, 0, 0}});
    }
    return rings;
  }

  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  const Graph& graph_;
  const StepFacts& facts_;
  Group group_;
  std::vector<RowLives> sources_;  // by storage, then tensor
};

struct Runner {
  const Group& group;
  const Guests guests;
  std::vector<int64_t> done;
  std::vector<SlabRun> runs;

  void run(int stage, int64_t upto) {
    const Stage& s = group.stages[stage];
    while (done[stage] <= upto) {
      const int64_t t = done[stage];
      for (const Pull& pull : s.pulls) run(pull.producer, pull.upto[t]);
      run_slab(stage, t);
      ++done[stage];
    }
  }

  void run_slab(int stage, int64_t t) {
    for (int guest : guests[stage]) {
      const Stage& g = group.stages[guest];
      const Interval slabs = g.seen_through_window() ? g.slabs_at[t] : Interval{t, t + 1};
      for (int64_t s = slabs.begin; s < slabs.end; ++s) run_slab(guest, s);
    }
    runs.push_back({stage, t});
  }
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
    const auto& pulls = facts.pulls[s];
    const auto at =
        std::find_if(pulls.begin(), pulls.end(), [&](const Pull& p) { return p.producer == producer; });
    return at != pulls.end() && facts.slabs[s].count == facts.slabs[producer].count && in_turn(*at);
  };
  const auto take = [&](int s, int64_t strip) { return strips.emplace(s, strip).first->second == strip; };
  for (const auto& [storage, strip] : again) {
    const int reader = facts.last_reader[storage];
    if (reader < 0 || reader >= end || !take(reader, strip)) return std::nullopt;
    for (int s = reader + 1; s < end; ++s)
      if (in_step(s, reader) && !writes_again(s) && !take(s, strip)) return std::nullopt;
  }
  return strips;
}

}  // namespace

int64_t turns_of(const Group& group) {
  int64_t turns = 1;
  for (int sink : group.sinks) turns = std::max(turns, group.stages[sink].slabs);
  return turns;
}

Guests guests_of(const Group& group) {
  Guests guests(group.stages.size());
  for (size_t k = 0; k < group.stages.size(); ++k)
    if (const int host = group.stages[k].host; host >= 0) guests[host].push_back(static_cast<int>(k));
  return guests;
}

std::vector<SlabRun> runs_of(const Group& group) {
  Runner runner{group, guests_of(group), std::vector<int64_t>(group.stages.size()), {}};
  const int64_t turns = turns_of(group);
  size_t slabs = 0;
  for (const Stage& stage : group.stages) slabs += static_cast<size_t>(stage.slabs);
  runner.runs.reserve(slabs);
  for (int64_t turn = 1; turn <= turns; ++turn)
    for (int sink : group.sinks) runner.run(sink, turn * group.stages[sink].slabs / turns - 1);
  for (int stage : group.completed) runner.run(stage, group.stages[stage].slabs - 1);
  return std::move(runner.runs);
}

std::vector<int64_t> work_again(const Group& group, const std::vector<Step>& steps) {
  std::vector<int64_t> runs(group.stages.size());
  for (const SlabRun& run : runs_of(group)) ++runs[run.stage];
  std::vector<int64_t> work;
  for (size_t k = 0; k < runs.size(); ++k) {
    const auto& [step, slabs] = std::tie(group.stages[k].step, group.stages[k].slabs);
    work.push_back(multiply_accumulates(*steps[step].node) / slabs * std::max<int64_t>(0, runs[k] - slabs));
  }
  return work;
}

std::vector<ChunkRun> chunk_runs_of(const Group& group, const Guests& guests, const SlabRun& run) {
  std::vector<ChunkRun> runs;
  runs.reserve(group.stages.size() * static_cast<size_t>(group.stages[run.stage].chunks));
  for (int64_t chunk = 0; chunk < group.stages[run.stage].chunks; ++chunk)
    for_each_run_of({run.stage, run.slab, chunk}, group, guests,
                    [&](const ChunkRun& one) { runs.push_back(one); });
  return runs;
}

std::optional<GroupPlan> form_group(int begin, int end, const std::vector<Step>& steps,
                                    const std::vector<Layout>& layouts, const Graph& graph,
                                    const StepFacts& facts, const Keep& keep) {
  const auto one = [](const WindowKept& window) { return window.strip == 1; };
  if (std::all_of(keep.again.begin(), keep.again.end(), one))
    return Former(begin, end, steps, layouts, graph, facts).run(keep);
  const auto strips = strips_of(end, keep.again, facts);
  const auto in_strips = strips ? arenac::in_strips(facts, *strips, steps) : std::nullopt;
  if (!in_strips) return std::nullopt;
  return Former(begin, end, steps, layouts, graph, *in_strips).run(keep);
}

}  // namespace arenac
