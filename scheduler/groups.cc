#include "scheduler/groups.h"

#include <algorithm>
#include <map>

#include "scheduler/chunks.h"

namespace arenac {
namespace {

using Lives = std::map<TensorId, std::vector<Life>>;  // per source, per row of its storage

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
    trace();
    if (!in_order()) return std::nullopt;
    GroupPlan rows{group_, rings(), overlaps()};
    if (!keep.columns) return rows;
    std::vector<KeptRing> cut = rows.rings;
    const auto columns = chunks.cut(cut) ? pulled_by_hosts(chunks, cut) : std::nullopt;
    return columns || !keep.again.empty() ? columns : std::move(rows);
  }

 private:
  const Slabs& slabs(int stage) const { return facts_.slabs[group_.begin + stage]; }

  // The group with chunks. Hosts pull in another order, so that rows may live longer.
  std::optional<GroupPlan> pulled_by_hosts(Chunks& chunks, const std::vector<KeptRing>& cut) {
    chunks.gather_pulls();
    lives_.clear();
    trace();
    if (!in_order()) return std::nullopt;
    std::vector<KeptRing> all = rings();
    for (const KeptRing& chunk : cut) {
      if (chunk.ring.columns == 0 && chunk.ring.row == facts_.rows[chunk.storage].size) continue;
      std::erase_if(all, [&](const KeptRing& ring) { return ring.storage == chunk.storage; });
      all.push_back(chunk);
    }
    return GroupPlan{std::move(group_), std::move(all), overlaps()};
  }

  void stages() {
    std::vector<bool> read(group_.end - group_.begin);
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

  std::vector<Life>& lives_of(TensorId source) {
    auto& rows = lives_[source];
    if (rows.empty()) {
      const bool before = facts_.writer[source] < group_.begin;
      rows.assign(facts_.rows[layouts_[source].root].count, before ? Life{-1, -1} : Life{});
    }
    return rows;
  }

  void trace() {
    struct Touch {
      const std::vector<Interval>* rows;  // per slab
      std::vector<Life>* lives;
    };
    std::vector<std::vector<Touch>> reads(group_.stages.size());
    std::vector<Touch> writes;
    for (size_t k = 0; k < group_.stages.size(); ++k) {
      const Slabs& mine = slabs(static_cast<int>(k));
      for (const RowAccess& access : mine.reads)
        reads[k].push_back({&access.rows, &lives_of(facts_.source[access.tensor])});
      writes.push_back({&mine.write.rows, &lives_of(mine.write.tensor)});
    }
    int64_t now = 0;
    for (const auto& [stage, slab] : runs_of(group_)) {
      for (const auto& [rows, lives] : reads[stage])
        for (int64_t y = (*rows)[slab].begin; y < (*rows)[slab].end; ++y) (*lives)[y].touch(now);
      const auto& [rows, lives] = writes[stage];
      for (int64_t y = (*rows)[slab].begin; y < (*rows)[slab].end; ++y) (*lives)[y].write(now);
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

  // Whether tensors that share bytes use them one after the other, in each row in the order of the steps.
  bool in_order() const {
    struct Use {
      int writer;
      Interval bytes;
      const std::vector<Life>* rows;
    };
    std::map<TensorId, std::vector<Use>> storages;
    for (const auto& [id, rows] : lives_)
      storages[layouts_[id].root].push_back({facts_.writer[id], span_in_row(id), &rows});
    const auto in_turn = [](const Use& a, const Use& b) {
      if (a.writer >= b.writer || a.bytes.end <= b.bytes.begin || b.bytes.end <= a.bytes.begin) return true;
      for (size_t row = 0; row < a.rows->size(); ++row)
        if ((*a.rows)[row].touched > (*b.rows)[row].written) return false;
      return true;
    };
    for (const auto& [storage, uses] : storages)
      for (const Use& a : uses)
        for (const Use& b : uses)
          if (!in_turn(a, b)) return false;
    return true;
  }

  bool lives_here(TensorId storage) const {
    const Interval live = facts_.live[storage];
    return facts_.bytes[storage] > 0 && group_.begin <= live.begin && live.end <= group_.end;
  }

  // Per storage: of all tensors in it.
  Lives storage_lives() const {
    Lives storages;
    for (const auto& [id, lives] : lives_) {
      auto& all = storages[layouts_[id].root];
      all.resize(lives.size());
      for (size_t y = 0; y < lives.size(); ++y) {
        all[y].written = std::min(all[y].written, lives[y].written);
        all[y].touched = std::max(all[y].touched, lives[y].touched);
      }
    }
    return storages;
  }

  std::vector<StorageOverlap> overlaps() const {
    const Lives storages = storage_lives();
    std::vector<StorageOverlap> all;
    for (const auto& [in, read] : storages)
      for (const auto& [out, written] : storages) {
        const Interval from = facts_.live[in], to = facts_.live[out];
        const bool pair = facts_.bytes[in] > 0 && facts_.bytes[out] > 0 && facts_.rows[in].size > 0 &&
                          facts_.rows[out].size > 0 && from.begin < group_.begin && from.end <= group_.end &&
                          to.begin >= group_.begin && to.end > group_.end;
        if (pair) all.push_back({in, out, distance(in, read, out, written), -1, {}});
      }
    return all;
  }

  // How far above the output the input must lie: while a row is written, the lowest that is still to be read
  // is not below its end.
  int64_t distance(TensorId in, const std::vector<Life>& read, TensorId out,
                   const std::vector<Life>& written) const {
    const auto bytes = [&](TensorId id) {
      return facts_.rows[id].size * static_cast<int64_t>(size_of(graph_.tensors[id].type));
    };
    std::vector<int64_t> last_read(read.size());  // of the row and those below
    for (size_t x = 0; x < read.size(); ++x)
      last_read[x] = std::max(read[x].touched, x > 0 ? last_read[x - 1] : -1);
    int64_t least = -facts_.bytes[in];
    for (size_t y = 0; y < written.size(); ++y) {
      if (written[y].written == INT64_MAX) continue;
      const auto lowest = std::lower_bound(last_read.begin(), last_read.end(), written[y].written);
      if (lowest == last_read.end()) continue;
      least = std::max(least,
                       static_cast<int64_t>(y + 1) * bytes(out) - (lowest - last_read.begin()) * bytes(in));
    }
    return least;
  }

  std::vector<KeptRing> rings() const {
    std::vector<KeptRing> rings;
    for (const auto& [storage, rows] : storage_lives()) {
      if (!lives_here(storage) || facts_.rows[storage].size == 0) continue;
      const int64_t kept = slots_for(rows);
      if (kept < static_cast<int64_t>(rows.size()))
        rings.push_back({storage, {facts_.rows[storage].size, kept, 0, 0}});
    }
    return rings;
  }

  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  const Graph& graph_;
  const StepFacts& facts_;
  Group group_;
  Lives lives_;
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

struct ChunkRunner {
  const Group& group;
  const Guests& guests;
  std::vector<ChunkRun> runs;

  void run(int stage, int64_t slab, int64_t chunk) {
    for (int guest : guests[stage]) {
      const Stage& g = group.stages[guest];
      if (!g.seen_through_window()) {
        runs.push_back({guest, slab, chunk});
        continue;
      }
      if (g.chunks_at.empty()) continue;  // a group in the making
      for (int64_t s = g.slabs_at[slab].begin; s < g.slabs_at[slab].end; ++s)
        for (int64_t c = g.chunks_at[chunk].begin; c < g.chunks_at[chunk].end; ++c) run(guest, s, c);
    }
    runs.push_back({stage, slab, chunk});
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
  ChunkRunner runner{group, guests, {}};
  runner.runs.reserve(group.stages.size() * static_cast<size_t>(group.stages[run.stage].chunks));
  for (int64_t chunk = 0; chunk < group.stages[run.stage].chunks; ++chunk)
    runner.run(run.stage, run.slab, chunk);
  return std::move(runner.runs);
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
