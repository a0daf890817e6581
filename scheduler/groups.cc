#include "scheduler/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/error.h"
#include "scheduler/chunks.h"
#include "scheduler/liveness.h"

namespace arenac {
namespace {

// When a row of a tensor is first written and last touched, in runs of slabs; written at -1: before the
// group.
struct RowLife {
  int64_t written = INT64_MAX, touched = -1;
};
using Lives = std::map<TensorId, std::vector<RowLife>>;  // per source, per row of its storage

class Former {
 public:
  Former(int begin, int end, const std::vector<Step>& steps, const std::vector<Layout>& layouts,
         const Graph& graph, const StepFacts& facts)
      : steps_(steps), layouts_(layouts), graph_(graph), facts_(facts), group_{begin, end, {}, {}, {}} {}

  std::optional<GroupPlan> run(Rings wanted) {
    for (int s = group_.begin; s < group_.end; ++s)
      if (facts_.slabs[s].count == 0) return std::nullopt;
    stages();
    trace();
    if (!in_order()) return std::nullopt;
    GroupPlan plan{group_, rings(), overlaps()};
    std::vector<KeptRing> chunked = plan.rings;
    if (wanted == Rings::kRows || !share_slabs(group_, chunked, steps_, layouts_, graph_, facts_))
      return plan;
    // Once more: hosts pull in another order.
    lives_.clear();
    trace();
    std::vector<KeptRing> kept = rings();
    if (!in_order() || kept.size() != chunked.size()) return plan;
    for (size_t k = 0; k < kept.size(); ++k) {
      if (chunked[k].columns > 0 && kept[k].kept > 1) return plan;
      kept[k].column = chunked[k].column, kept[k].columns = chunked[k].columns;
    }
    return GroupPlan{std::move(group_), std::move(kept), overlaps()};
  }

 private:
  const Slabs& slabs(int stage) const { return facts_.slabs[group_.begin + stage]; }

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

  std::vector<RowLife>& lives_of(TensorId source) {
    auto& rows = lives_[source];
    if (rows.empty()) {
      const bool before = facts_.writer[source] < group_.begin;
      rows.assign(facts_.rows[layouts_[source].root].count, before ? RowLife{-1, -1} : RowLife{});
    }
    return rows;
  }

  void trace() {
    struct Touch {
      const std::vector<Interval>* rows;  // per slab
      std::vector<RowLife>* lives;
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
        for (int64_t y = (*rows)[slab].begin; y < (*rows)[slab].end; ++y) (*lives)[y].touched = now;
      const auto& [rows, lives] = writes[stage];
      for (int64_t y = (*rows)[slab].begin; y < (*rows)[slab].end; ++y) {
        (*lives)[y].written = std::min((*lives)[y].written, now);
        (*lives)[y].touched = now;
      }
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
    for (const auto& [x, earlier] : lives_)
      for (const auto& [y, later] : lives_) {
        if (layouts_[x].root != layouts_[y].root || facts_.writer[x] >= facts_.writer[y]) continue;
        const Interval a = span_in_row(x), b = span_in_row(y);
        if (a.end <= b.begin || b.end <= a.begin) continue;
        for (size_t row = 0; row < earlier.size(); ++row)
          if (earlier[row].touched > later[row].written) return false;
      }
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
  int64_t distance(TensorId in, const std::vector<RowLife>& read, TensorId out,
                   const std::vector<RowLife>& written) const {
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

  // The fewest rows such that the next user of a slot comes when all is done with the one before.
  std::vector<KeptRing> rings() const {
    std::vector<KeptRing> rings;
    for (const auto& [storage, rows] : storage_lives()) {
      if (!lives_here(storage) || facts_.rows[storage].size == 0) continue;
      std::vector<int64_t> next(rows.size());  // when row y or a later one is first written
      for (size_t y = rows.size(); y-- > 0;)
        next[y] = std::min(rows[y].written, y + 1 < rows.size() ? next[y + 1] : INT64_MAX);
      int64_t kept = 1;
      for (size_t y = 0; y < rows.size(); ++y) {
        const auto free = std::upper_bound(next.begin() + static_cast<long>(y), next.end(), rows[y].touched);
        kept = std::max<int64_t>(kept, free - next.begin() - static_cast<long>(y));
      }
      if (kept < static_cast<int64_t>(rows.size())) rings.push_back({storage, kept});
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
  std::vector<int64_t> done;
  std::vector<SlabRun> runs;

  void run(int stage, int64_t upto) {
    const Stage& s = group.stages[stage];
    while (done[stage] <= upto) {
      const int64_t t = done[stage];
      for (const Pull& pull : s.pulls) run(pull.producer, pull.upto[t]);
      runs.push_back({stage, t});
      ++done[stage];
    }
  }
};

// The slabs of `producer` that write the rows which each slab of a reader needs.
std::vector<int64_t> pulled(const std::vector<Interval>& written, const std::vector<Interval>& needed) {
  std::vector<int64_t> least;  // per slab, from the last: the least begin of those so far
  for (auto p = written.rbegin(); p != written.rend(); ++p)
    least.push_back(least.empty() ? p->begin : std::min(least.back(), p->begin));
  std::vector<int64_t> upto;
  for (const Interval rows : needed) {
    // Those behind begin too late.
    const auto late =
        std::partition_point(least.begin(), least.end(), [&](int64_t b) { return b >= rows.end; });
    auto p = static_cast<int64_t>(least.end() - late);
    while (p-- > 0 && !(written[p].begin < rows.end && rows.begin < written[p].end)) {
    }
    const int64_t before = upto.empty() ? -1 : upto.back();
    upto.push_back(rows.begin < rows.end ? std::max(p, before) : before);
  }
  return upto;
}

std::vector<Pull> pulls_of(int step, const StepFacts& facts) {
  std::vector<Pull> pulls;
  for (const RowAccess& access : facts.slabs[step].reads) {
    const int writer = facts.writer[facts.source[access.tensor]];
    if (writer < 0 || writer >= step || facts.slabs[writer].count == 0) continue;
    Pull pull{writer, pulled(facts.slabs[writer].write.rows, access.rows)};
    const auto same =
        std::find_if(pulls.begin(), pulls.end(), [&](const Pull& other) { return other.producer == writer; });
    if (same == pulls.end()) {
      pulls.push_back(std::move(pull));
      continue;
    }
    for (size_t t = 0; t < pull.upto.size(); ++t) same->upto[t] = std::max(same->upto[t], pull.upto[t]);
  }
  return pulls;
}

// Steps inside loops and branches, those that run no nests, write nothing or something that others write too
// stay whole.
std::vector<bool> can_be_cut(const Graph& graph, const std::vector<Step>& steps) {
  std::vector<int> writers(graph.tensors.size());
  for (const Step& step : steps)
    if (step.kind == StepKind::kRun)
      for (TensorId id : step.node->writes) ++writers[id];
  std::vector<bool> all;
  int depth = 0;
  for (const Step& step : steps) {
    depth += step.kind == StepKind::kIf || step.kind == StepKind::kLoop;
    depth -= step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop;
    const Node& node = *step.node;
    all.push_back(depth == 0 && step.kind == StepKind::kRun && std::holds_alternative<Nests>(node.body) &&
                  writers[node.writes[0]] == 1 && element_count(graph.tensors[node.writes[0]].shape) > 0);
  }
  return all;
}

}  // namespace

StepFacts step_facts(const Graph& graph, const std::vector<Step>& steps, const std::vector<Layout>& layouts) {
  const size_t n = graph.tensors.size();
  const int end = static_cast<int>(steps.size());
  StepFacts facts{{},
                  {},
                  storage_rows(graph, layouts),
                  {},
                  std::vector<int>(n, -1),
                  std::vector<int>(n, -1),
                  std::vector<Interval>(n, {0, 0}),
                  std::vector<int64_t>(n)};
  const auto cut = can_be_cut(graph, steps);
  for (int s = 0; s < end; ++s) {
    facts.slabs.push_back({0, {}, {}, {}});
    if (cut[s]) facts.slabs.back() = slabs_of(*steps[s].node, graph, layouts, facts.rows);
    if (steps[s].kind == StepKind::kRun)
      for (TensorId id : steps[s].node->writes) facts.writer[id] = s;
  }
  facts.source.resize(n);
  for (size_t id = 0; id < n; ++id) facts.source[id] = static_cast<TensorId>(id);
  for (const Node& node : graph.block) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || facts.writer[node.writes[0]] >= 0) continue;
    if (const Expr* from = copied_read(nests->front(), node, graph))
      facts.source[node.writes[0]] = facts.source[node.reads[(*from)->index]];
  }
  for (int s = 0; s < end; ++s)
    for (TensorId id : steps[s].node->reads) facts.last_reader[facts.source[id]] = s;
  for (TensorId id : graph.outputs) facts.last_reader[facts.source[id]] = end;

  for (int s = 0; s < end; ++s) facts.pulls.push_back(pulls_of(s, facts));

  const auto occupied = occupancies(graph, steps, layouts);
  for (size_t id = 0; id < n; ++id) {
    const Layout& layout = layouts[id];
    const int64_t span = layout.offset + span_of(layout, graph.tensors[id].shape);
    facts.bytes[layout.root] = std::max(facts.bytes[layout.root], span * size_of(graph.tensors[id].type));
    if (!occupied[id].empty())
      facts.live[id] = {occupied[id].front().begin / 2, (occupied[id].back().end + 1) / 2};
  }
  for (TensorId id : graph.inputs) facts.bytes[layouts[id].root] = 0;
  for (TensorId id : graph.outputs) facts.bytes[layouts[id].root] = 0;
  return facts;
}

std::vector<SlabRun> runs_of(const Group& group) {
  Runner runner{group, std::vector<int64_t>(group.stages.size()), {}};
  int64_t turns = 1;
  for (int sink : group.sinks) turns = std::max(turns, group.stages[sink].slabs);
  for (int64_t turn = 1; turn <= turns; ++turn)
    for (int sink : group.sinks) runner.run(sink, turn * group.stages[sink].slabs / turns - 1);
  for (int stage : group.completed) runner.run(stage, group.stages[stage].slabs - 1);
  return std::move(runner.runs);
}

std::optional<GroupPlan> form_group(int begin, int end, const std::vector<Step>& steps,
                                    const std::vector<Layout>& layouts, const Graph& graph,
                                    const StepFacts& facts, Rings rings) {
  return Former(begin, end, steps, layouts, graph, facts).run(rings);
}

void verify_rings(const Schedule& schedule) {
  if (schedule.groups.empty()) return;
  const StepFacts facts = step_facts(*schedule.graph, schedule.steps, schedule.layouts);
  std::vector<std::vector<int64_t>> slots(facts.rows.size());
  for (size_t id = 0; id < slots.size(); ++id) slots[id].resize(schedule.layouts[id].ring.kept, -1);
  for (const Group& group : schedule.groups)
    for (const auto& [k, slab] : runs_of(group)) {
      const Stage& stage = group.stages[k];
      const Slabs& touched = facts.slabs[stage.step];
      ARENAC_CHECK(stage.slabs == touched.count, "a stage with other slabs than its node's");
      for (const RowAccess& access : touched.reads) {
        const Layout& layout = schedule.layouts[access.tensor];
        if (layout.ring.kept == 0) continue;
        for (int64_t y = access.rows[slab].begin; y < access.rows[slab].end; ++y)
          ARENAC_CHECK(slots[layout.root][y % layout.ring.kept] == y,
                       fmt::format("'{}' reads row {} of '{}', which is not in its ring",
                                   schedule.steps[stage.step].node->origin, y,
                                   schedule.graph->tensors[access.tensor].name));
      }
      const Layout& out = schedule.layouts[touched.write.tensor];
      if (out.ring.kept == 0) continue;
      for (int64_t y = touched.write.rows[slab].begin; y < touched.write.rows[slab].end; ++y)
        slots[out.root][y % out.ring.kept] = y;
    }
}

}  // namespace arenac
