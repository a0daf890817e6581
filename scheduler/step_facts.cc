#include "scheduler/step_facts.h"

#include <algorithm>
#include <set>
#include <span>

#include "scheduler/columns.h"
#include "scheduler/liveness.h"
#include "scheduler/storage_cells.h"

namespace arenac {

// Both have an entry for each slab of the reader.
void add(std::vector<Pull>& pulls, Pull pull) {
  const auto same = std::ranges::find(pulls, pull.producer, &Pull::producer);
  if (same == pulls.end()) {
    pulls.push_back(std::move(pull));
    return;
  }
  for (size_t t = 0; t < pull.upto.size(); ++t) same->upto[t] = std::max(same->upto[t], pull.upto[t]);
}

//   upto 0 1 2 3: each slab needs one more of the producer's        upto 1 2 3 3: a window looks one ahead
bool in_turn(const Pull& pull) {
  for (size_t t = 0; t < pull.upto.size(); ++t)
    if (pull.upto[t] != static_cast<int64_t>(t)) return false;
  return true;
}

// A reader that does gains nothing from the producer's rows coming one by one.
bool wants_whole(const Pull& pull, const StepFacts& facts) {
  return !pull.upto.empty() && pull.upto.front() == facts.steps[pull.producer].slabs.count - 1;
}

namespace {

constexpr int64_t kMostOfAll = 1 << 23;     // accesses of slabs, and as many pulls and waits, of all steps
constexpr int64_t kFewTimes = 16;           // as many slabs as turns were asked for, or a step stays whole
constexpr int64_t kMostCompared = 1 << 24;  // intervals, to tell the tensors in a storage apart

// The slabs of a producer that write the rows which each slab of a reader needs: per slab of the reader, the
// last one of these; -1 before anything is needed. Never falls, as what has run stays.
//
//   written  [0,2) [2,4) [4,6)         needed  [0,1) [0,3) [3,6)         ->   0 1 2
//
// Slabs need not write in the order of the rows; the bounds `least` and `most` end the search where none can
// follow.
std::vector<int64_t> pulled(const std::vector<Interval>& written, const std::vector<Interval>& needed) {
  const auto count = static_cast<int64_t>(written.size());
  std::vector<int64_t> least(written.size() + 1, INT64_MAX), most(written.size() + 1, INT64_MIN);
  // Of the slabs from t on, the least begin; of those before it, the greatest end.
  for (int64_t t = count; t-- > 0;)
    least[t] = written[t].begin < written[t].end ? std::min(least[t + 1], written[t].begin) : least[t + 1];
  for (int64_t t = 0; t < count; ++t)
    most[t + 1] = written[t].begin < written[t].end ? std::max(most[t], written[t].end) : most[t];
  std::vector<int64_t> upto;
  upto.reserve(needed.size());
  size_t behind = 0;  // the first that begins too late: as a rule near the one for the rows before
  for (const Interval rows : needed) {
    if (behind < written.size() && least[behind] < rows.end) ++behind;
    if (least[behind] < rows.end || (behind > 0 && least[behind - 1] >= rows.end))
      behind = std::ranges::partition_point(least, [&](int64_t b) { return b < rows.end; }) - least.begin();
    auto t = static_cast<int64_t>(behind);
    while (--t >= 0 && !(written[t].begin < rows.end && rows.begin < written[t].end))
      if (most[t] <= rows.begin) t = 0;
    const int64_t before = upto.empty() ? -1 : upto.back();
    upto.push_back(rows.begin < rows.end ? std::max(t, before) : before);
  }
  return upto;
}

// The slabs of steps: of those from `begin` on, as far as `own` goes, in a way of their own, as a group that
// takes them in strips has them; of all others as they are.
struct SlabsOfSteps {
  const StepFacts& facts;
  int begin = 0;
  std::span<const StepInSlabs> own = {};

  const Slabs& operator[](int step) const {
    const bool has_own = step >= begin && step - begin < static_cast<int>(own.size());
    return has_own ? own[step - begin].slabs : facts.steps[step].slabs;
  }
};

// What each slab of a step must have run before it to find its operands. Producers that stay whole (count 0)
// and come before the step are done in any case. `needed`: the producers that are asked for.
template <typename Needed>
void add_pulls(int step, const SlabsOfSteps& slabs, const Needed& needed, std::vector<Pull>& pulls) {
  for (const RowAccess& access : slabs[step].reads) {
    const int writer = slabs.facts.writer[slabs.facts.source[access.tensor]];
    if (writer < 0 || writer >= step || slabs[writer].count == 0 || !needed(writer)) continue;
    if (std::ranges::all_of(access.rows, [](Interval rows) { return rows.begin >= rows.end; })) continue;
    add(pulls, {writer, pulled(slabs[writer].write.rows, access.rows)});
  }
}

// Before a step overwrites rows, those that touch what was there have run: readers of earlier tensors in the
// same bytes, and who wrote these (anti-dependences and output dependences, Kuck et al., 1981).
template <typename Needed>
void add_waits(int step, const SlabsOfSteps& slabs, const Needed& needed, std::vector<Pull>& waits) {
  const StepFacts& facts = slabs.facts;
  if (slabs[step].count == 0) return;
  const RowAccess& write = slabs[step].write;
  for (const TensorId id : facts.overwritten[write.tensor]) {
    const auto wait_for = [&](int other, const RowAccess& access) {
      if (facts.source[access.tensor] == id) add(waits, {other, pulled(access.rows, write.rows)});
    };
    const int writer = facts.writer[id];
    for (const int other : facts.readers[id]) {
      if (other >= step || slabs[other].count == 0 || !needed(other)) continue;
      for (const RowAccess& read : slabs[other].reads) wait_for(other, read);
    }
    if (writer >= 0 && slabs[writer].count > 0 && needed(writer)) wait_for(writer, slabs[writer].write);
  }
}

// The rows of a storage (or all of it, where it is not in rows) in which a tensor lies, and its places in
// each. Exact if area_of can tell; else the least box, by strides, that holds it.
Area area_in(const Layout& layout, const Shape& shape, const Rows& rows) {
  const Rows in = rows.size > 0 ? rows : Rows{INT64_MAX, 1};
  if (auto area = area_of(layout, arenac::whole(shape), in)) return std::move(*area);
  Interval across = {layout.offset / in.size, layout.offset / in.size + 1};
  Interval within = {layout.offset % in.size, layout.offset % in.size + 1};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] <= 1) continue;
    const bool is_across = std::abs(layout.strides[d]) >= in.size;
    const int64_t span = (shape[d] - 1) * (is_across ? layout.strides[d] / in.size : layout.strides[d]);
    Interval& all = is_across ? across : within;
    (span < 0 ? all.begin : all.end) += span;
  }
  return {{across}, {within}};
}
// Whether ascending intervals have a number in common; `steps` counts what that takes. Always moves on in the
// one that ends first, as collide() does.
bool meet(const std::vector<Interval>& a, const std::vector<Interval>& b, int64_t& steps) {
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end(); ++steps) {
    if (x->begin < y->end && y->begin < x->end) return true;
    ++(x->end < y->end ? x : y);
  }
  return false;
}

// Per source, those that lie in some of its bytes and are touched less than the longest group before it is
// written. What another lay over byte by byte is left to that other's waits, or a chain that runs in place
// would list all that came before. Where this takes too long to say, the storage is not in rows.
//
//   t0 -> t1 -> t2 in place of each other       overwritten: t1 {t0}, t2 {t1}
std::vector<std::vector<TensorId>> overwritten_by(StepFacts& facts, const Graph& graph,
                                                  const std::vector<Layout>& layouts) {
  std::map<TensorId, std::vector<TensorId>> lying_in;  // per storage, its sources
  for (size_t id = 0; id < layouts.size(); ++id)
    if (facts.source[id] == static_cast<TensorId>(id) && !graph.tensors[id].constant)
      lying_in[layouts[id].root].push_back(static_cast<TensorId>(id));
  std::vector<std::vector<TensorId>> overwritten(layouts.size());
  for (auto& [storage, sources] : lying_in) {
    if (facts.rows[storage].only_written) continue;
    std::ranges::stable_sort(sources, {}, [&](TensorId id) { return facts.writer[id]; });
    int64_t taken = 0;
    std::vector<std::pair<TensorId, Area>> earlier;
    for (TensorId id : sources) {
      Area area = area_in(layouts[id], graph.tensors[id].shape, facts.rows[storage]);
      std::erase_if(earlier, [&](const auto& other) {
        const int touched = std::max(facts.last_reader[other.first], facts.writer[other.first]);
        return touched < facts.writer[id] - kLongestGroup;
      });
      for (const auto& [other, others_area] : earlier)
        if (facts.writer[other] < facts.writer[id] && taken < kMostCompared &&
            meet(area.rows, others_area.rows, taken) && meet(area.places, others_area.places, taken))
          overwritten[id].push_back(other);
      const auto lies_under = [&](const auto& other) {
        return facts.writer[other.first] < facts.writer[id] && layouts[other.first] == layouts[id] &&
               graph.tensors[other.first].shape == graph.tensors[id].shape;
      };
      std::erase_if(earlier, lies_under);
      earlier.emplace_back(id, std::move(area));
    }
    if (taken >= kMostCompared) facts.rows[storage] = {};
  }
  return overwritten;
}

// Steps inside loops and branches, those that run no nests, write nothing or something that others write too
// stay whole: a slab of theirs would not run once in the order that is found here.
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

// Whether every reader of what a step writes wants it whole.
bool is_wanted_whole(int step, const StepFacts& facts) {
  const Slabs& slabs = facts.steps[step].slabs;
  if (slabs.count <= 1 || facts.readers[slabs.write.tensor].empty()) return false;
  return std::ranges::all_of(facts.readers[slabs.write.tensor], [&](int reader) {
    const auto& pulls = facts.steps[reader].pulls;
    const auto pull = std::ranges::find(pulls, step, &Pull::producer);
    return pull != pulls.end() && wants_whole(*pull, facts);
  });
}

// The steps whose slabs come in turns with those of `step`, as it pulls them, as far as a group reaches:
// those that it reads, directly or not, without wanting all of them at its first slab.
std::set<int> pulled_in_turns(int step, const StepFacts& facts) {
  std::set<int> all;
  std::vector<int> open = {step};
  while (!open.empty()) {
    const int reader = open.back();
    open.pop_back();
    for (const Pull& pull : facts.steps[reader].pulls)
      if (pull.producer > step - kLongestGroup && !wants_whole(pull, facts) &&
          all.insert(pull.producer).second)
        open.push_back(pull.producer);
  }
  return all;
}

// All slabs at once of steps that would save nothing in slabs: they are wanted whole, and so is what they
// read, which is the caller's or read again in turns with who wants them. What goes to the caller is kept by
// nobody, so that groups may end before who wants it.
//
//   k = x * w       wanted whole by the first row of q * k
//   q = x * w       reads x row by row, behind that
std::map<int, int64_t> all_at_once(const StepFacts& facts, const std::vector<Layout>& layouts) {
  std::map<int, int64_t> strips;
  for (int s = 0; s < static_cast<int>(facts.steps.size()); ++s) {
    const Slabs& slabs = facts.steps[s].slabs;
    if (facts.one_by_one[s] || !is_wanted_whole(s, facts)) continue;
    if (facts.callers[layouts[slabs.write.tensor].root]) continue;
    // by any of its readers; the first will do
    const std::set<int> behind = pulled_in_turns(facts.readers[slabs.write.tensor].front(), facts);
    const bool saves_nothing = std::ranges::all_of(slabs.reads, [&](const RowAccess& read) {
      return facts.callers[layouts[read.tensor].root] ||
             std::ranges::any_of(facts.readers[facts.source[read.tensor]],
                                 [&](int reader) { return behind.contains(reader); });
    });
    if (saves_nothing) strips.emplace(s, slabs.count);
  }
  return strips;
}

// A step that stays whole.
StepInSlabs whole_step() {
  StepInSlabs step;
  step.slabs.count = 0;
  return step;
}

// What all steps together may list, an entry per slab, before those that come later stay whole: what each of
// a thousand steps reads of all that came before is a square of them.
class Entries {
 public:
  int64_t left() const { return left_; }
  // False, and nothing is taken, where not so many are left. A step that is one slab lists next to nothing.
  bool take(int64_t slabs, int64_t each) {
    const int64_t all = slabs > 1 ? slabs * each : 0;
    if (all > left_) return false;
    left_ -= all;
    return true;
  }

 private:
  int64_t left_ = kMostOfAll;
};

}  // namespace

// In the order in which one needs another: who writes and reads each tensor, views seen through to their
// sources; what lies over what; slabs of each step, with the columns of storages that it touches; pulls and
// waits; bytes and lives. In the end, steps that slabs would not serve are made one.
StepFacts step_facts(const Graph& graph, const std::vector<Step>& steps, const std::vector<Layout>& layouts) {
  const size_t n = graph.tensors.size();
  const int end = static_cast<int>(steps.size());
  StepFacts facts;
  facts.rows = storage_rows(graph, layouts);
  facts.writer.assign(n, -1);
  facts.last_reader.assign(n, -1);
  facts.readers.resize(n);
  for (int s = 0; s < end; ++s)
    if (steps[s].kind == StepKind::kRun)
      for (TensorId id : steps[s].node->writes) facts.writer[id] = s;
  for (size_t id = 0; id < n; ++id) facts.source.push_back(static_cast<TensorId>(id));
  // views in the block's order: what a view of a view lies in is known by then
  for (const Node& node : graph.block) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || facts.writer[node.writes[0]] >= 0) continue;
    if (const Expr* from = copied_read(nests->front(), node, graph))
      facts.source[node.writes[0]] = facts.source[node.reads[(*from)->index]];
  }
  for (int s = 0; s < end; ++s)
    for (TensorId id : steps[s].node->reads) {
      auto& readers = facts.readers[facts.source[id]];
      if (readers.empty() || readers.back() != s) readers.push_back(s);
      facts.last_reader[facts.source[id]] = s;
    }
  // the caller reads these, after all steps
  for (TensorId id : whole_outputs(graph)) facts.last_reader[facts.source[id]] = end;
  facts.overwritten = overwritten_by(facts, graph, layouts);

  for (size_t id = 0; id < n; ++id)
    facts.columns.push_back(columns_of(layouts[id], facts.rows[id], graph.tensors[id].shape));

  const auto cut = can_be_cut(graph, steps);
  const Limit in_all = {"rows of all layers", kMostOfAll, "touched row"};
  Entries of_accesses;
  for (int s = 0; s < end; ++s) {
    Slabs& slabs = facts.steps.emplace_back(whole_step()).slabs;
    if (!cut[s]) continue;
    const int64_t most = std::min(kMostAccesses, of_accesses.left());
    slabs = slabs_of(*steps[s].node, graph, layouts, facts.rows, most);
    of_accesses.take(slabs.count, 1 + std::ssize(slabs.reads));
    if (slabs.too_many)
      facts.limits_hit.insert(most < kMostAccesses ? in_all : Limit{"rows of a layer", most, "touched row"});
    if (slabs.too_many && runs_by_rows(*steps[s].node, graph)) slabs = whole_step().slabs;
    // storages whose columns have been looked at
    std::set<TensorId> known;
    const auto find_columns = [&](const RowAccess& access) {
      const TensorId storage = layouts[access.tensor].root;
      if (facts.columns[storage].count <= 1 || !known.insert(storage).second) return;
      auto axes = column_axes(*steps[s].node, slabs, storage, facts.rows[storage], graph, layouts);
      if (axes.empty()) return;
      const ColumnFactors factors = column_factors(*steps[s].node, axes);
      slabs.columns.push_back({storage, std::move(axes), factors});
    };
    std::ranges::for_each(slabs.reads, find_columns);
    find_columns(slabs.write);
  }
  Entries of_order;
  for (int s = 0; s < end; ++s) {
    const auto all = [](int) { return true; };
    auto& [slabs, pulls, waits] = facts.steps[s];
    add_pulls(s, {facts}, all, pulls);
    add_waits(s, {facts}, all, waits);
    if (of_order.take(slabs.count, std::ssize(pulls) + std::ssize(waits))) continue;
    facts.steps[s] = whole_step();
    facts.limits_hit.insert(in_all);
  }

  facts.bytes = storage_bytes(graph, layouts);
  facts.live = steps_occupied(occupancies(graph, steps, layouts));
  for (const Step& step : steps) facts.one_by_one.push_back(runs_by_rows(*step.node, graph));
  facts.callers.resize(n);
  for (const std::vector<TensorId>& callers : {graph.inputs, whole_outputs(graph)})
    for (TensorId id : callers) facts.callers[layouts[id].root] = true;
  for (TensorId id : graph.inputs)
    if (graph.by_rows.contains(id)) facts.bytes[layouts[id].root] = 0;
  if (const auto strips = all_at_once(facts, layouts); !strips.empty())
    if (auto all = in_strips(0, end, strips, facts, steps)) facts.steps = std::move(*all);
  return facts;
}

// Pulls between steps of which neither has changed are taken over; all others are found anew.
std::optional<std::vector<StepInSlabs>> in_strips(int begin, int end, const std::map<int, int64_t>& strips,
                                                  const StepFacts& facts, const std::vector<Step>& steps) {
  std::vector<StepInSlabs> group(facts.steps.begin() + begin, facts.steps.begin() + end);
  for (const auto& [s, strip] : strips) {
    if (s < begin || s >= end) continue;
    auto slabs = in_strips(facts.steps[s].slabs, *steps[s].node, strip);
    if (!slabs) return std::nullopt;
    group[s - begin].slabs = std::move(*slabs);
  }
  const SlabsOfSteps slabs{facts, begin, group};
  for (int s = begin; s < end; ++s) {
    const auto changed = [&](int producer) {
      return producer >= begin && (strips.contains(s) || strips.contains(producer));
    };
    auto& [own, pulls, waits] = group[s - begin];
    for (std::vector<Pull>* all : {&pulls, &waits}) {
      std::erase_if(*all, [&](const Pull& pull) { return pull.producer < begin; });
      for (Pull& pull : *all)
        if (changed(pull.producer)) pull.upto.assign(static_cast<size_t>(own.count), -1);
    }
    add_pulls(s, slabs, changed, pulls);
    add_waits(s, slabs, changed, waits);
  }
  return group;
}

//   48 slabs in at most 10 turns: ceil(48 / 10) = 5 does not divide 48, 6 does: 8 slabs of 6
StepFacts in_turns(StepFacts facts, int64_t turns, const std::vector<Step>& steps) {
  std::map<int, int64_t> strips;
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    const Slabs& slabs = facts.steps[s].slabs;
    if (slabs.count <= turns || facts.one_by_one[s]) continue;
    int64_t strip = ceil_div(slabs.count, turns);
    while (slabs.count % strip != 0) ++strip;
    if (in_strips(slabs, *steps[s].node, strip)) strips.emplace(s, strip);
  }
  if (strips.empty()) return facts;
  auto all = in_strips(0, static_cast<int>(steps.size()), strips, facts, steps);
  if (all) facts.steps = std::move(*all);
  for (StepInSlabs& step : facts.steps)
    if (step.slabs.count > kFewTimes * turns) step = whole_step();
  return facts;
}

}  // namespace arenac
