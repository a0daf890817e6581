// The table of schedulers, and how each makes a schedule: an order, storage, groups, walks.
#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "scheduler/accumulate.h"
#include "scheduler/fusion.h"
#include "scheduler/groups.h"
#include "scheduler/hoisted_sums.h"
#include "scheduler/input_copies.h"
#include "scheduler/liveness.h"
#include "scheduler/ordered.h"
#include "scheduler/overlap.h"
#include "scheduler/phases.h"
#include "scheduler/plan_walks.h"
#include "scheduler/schedule.h"
#include "scheduler/second_passes.h"
#include "scheduler/slab_runs.h"
#include "scheduler/slabs.h"
#include "scheduler/storage.h"
#include "scheduler/windowed.h"

namespace arenac {
namespace {

// Rows that the caller passes or takes are copied one by one, where no other group does that.
void add_copies_of_rows(Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  const std::vector<Rows> rows = storage_rows(graph, schedule.layouts);
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (step.kind != StepKind::kRun || stage_of(schedule, s)) continue;
    if (fed_to(*step.node, graph) < 0 && emitted_by(*step.node, graph) < 0) continue;
    const Slabs slabs = slabs_of(*step.node, graph, schedule.layouts, rows);
    const int begin = static_cast<int>(s);
    schedule.groups.push_back({begin, begin + 1, {{begin, slabs.count, slabs.nests, {}}}, {0}, {}});
  }
  std::ranges::sort(schedule.groups, {}, &Group::begin);
}

Schedule whole_layers(Ordered ordered, std::shared_ptr<const Graph> graph, const Target& target) {
  Storage& storage = ordered.storage;
  Schedule schedule{graph, std::move(storage.steps), std::move(storage.layouts), {}};
  schedule.order = ordered.report;
  schedule.limits_hit = std::move(storage.limits_hit);
  add_copies_of_rows(schedule);
  plan_walks(schedule, target, {});
  return schedule;
}

// `known`: schedules of the same steps in other groups.
Schedule with_groups(Schedule schedule, std::vector<GroupPlan> groups, const Target& target,
                     const std::vector<const Schedule*>& known) {
  if (groups.empty()) return schedule;
  std::vector<StorageOverlap> overlaps;
  schedule.groups.clear();  // of rows of the caller's
  for (GroupPlan& plan : groups) {
    for (const KeptRing& kept : plan.rings) schedule.layouts[kept.storage].ring = kept.ring;
    overlaps.insert(overlaps.end(), plan.overlaps.begin(), plan.overlaps.end());
    schedule.groups.push_back(std::move(plan.group));
  }
  for (Layout& layout : schedule.layouts) layout.ring = schedule.layouts[layout.root].ring;
  add_copies_of_rows(schedule);
  plan_walks(schedule, target, known);
  schedule.overlaps.insert(schedule.overlaps.begin(), overlaps.begin(), overlaps.end());
  return schedule;
}

// The graph stays the caller's.
std::shared_ptr<const Graph> borrowed(const Graph& graph) { return {std::shared_ptr<const Graph>(), &graph}; }

template <std::vector<int> (*order)(const OrderProblem&)>
Schedule schedule_in_order(const Graph& graph, const Target& target, Deadline deadline) {
  return whole_layers(in_order(graph, order, deadline), borrowed(graph), target);
}

// Bytes live at the fullest step with the best of its overlaps, what is the caller's apart.
int64_t peak_of(const Schedule& schedule) {
  std::vector<int64_t> bytes = storage_bytes(*schedule.graph, schedule.layouts);
  for (TensorId id : schedule.graph->inputs)
    if (schedule.io == Io::kExternal || schedule.graph->by_rows.contains(id)) bytes[id] = 0;
  if (schedule.io == Io::kExternal)
    for (TensorId id : whole_outputs(*schedule.graph)) bytes[id] = 0;
  const auto lives = storage_lives(schedule);
  const std::vector<int64_t> live = live_bytes(bytes, lives, std::ssize(schedule.steps));
  std::vector<int64_t> saved(live.size());
  for (const auto& [above, below, distance, step, loops] : schedule.overlaps) {
    if (bytes[above] == 0 || bytes[below] == 0) continue;
    const int64_t saves = bytes[above] + bytes[below] - joint_bytes(bytes[above], bytes[below], distance);
    const Interval a = lives[above], b = lives[below];
    for (int64_t s = std::max(a.begin, b.begin); s < std::min(a.end, b.end); ++s)
      saved[s] = std::max(saved[s], saves);
  }
  int64_t most = 0;
  for (size_t s = 0; s < live.size(); ++s) most = std::max(most, live[s] - saved[s]);
  return most;
}

// Schedules of whole layers. Those from `accumulating` on take pooling and dense layers by rows, where that
// is another graph, else 0; those from `again` on compute some of it again.
struct Plain {
  std::vector<Schedule> schedules;
  size_t accumulating = 0, again = 0;
};

// What storage is tried with, beside no choice at all.
const StorageChoice kStorageChoices[] = {{Moves::kUnshared},
                                         {Moves::kFirst, Products::kRows},
                                         {.moves = Moves::kUnshared, .windowed = Windowed::kPlanes},
                                         {.products = Products::kRows, .factors = Factors::kAsWritten}};

// In the file's order and the best one for whole layers, with pooling of whole images or by rows, with one
// operand or another in place: the plainest first, which there is in any time.
Plain plain_schedules(const std::shared_ptr<const Graph>& graph, const Target& target, Deadline deadline) {
  std::vector<std::shared_ptr<const Graph>> graphs = {graph};
  if (Graph split = with_accumulators(*graph); split.tensors.size() > graph->tensors.size())
    graphs.push_back(std::make_shared<const Graph>(std::move(split)));
  Plain plain;
  std::vector<Schedule>& all = plain.schedules;
  for (const auto& g : graphs) {
    if (!all.empty() && has_passed(deadline)) break;
    if (g != graph) plain.accumulating = all.size();
    std::vector<Ordered> orders = {in_order(*g, file_order, deadline)};
    Ordered best = best_order(*g, {.deadline = deadline});
    orders[0].report = best.report;
    orders[0].report.peak = best.report.file_peak;
    const std::vector<int> by_phases = order_by_phases(*g, orders[0].storage);
    if (!std::ranges::is_sorted(by_phases) && by_phases != best.order) {
      orders.push_back(in_storage(*g, {{}, best.report, by_phases}, {}, deadline));
      orders.back().report.peak = orders.back().storage.peak;
    }
    if (best.report.peak < best.report.file_peak) orders.push_back(std::move(best));
    std::vector<StorageChoice> choices(std::begin(kStorageChoices), std::end(kStorageChoices));
    // What pools images row by row would add up in another order by columns.
    if (g == graph && reads_whole_columns(*g))
      choices.push_back({.moves = Moves::kUnshared, .windowed = Windowed::kColumns});
    for (Ordered& ordered : orders) {
      std::vector<Ordered> stored = {std::move(ordered)};
      for (const StorageChoice& choice : choices) {
        Ordered other = in_storage(*g, stored[0], choice, deadline);
        const auto same = [&](const Ordered& one) { return one.storage.layouts == other.storage.layouts; };
        if (std::ranges::none_of(stored, same)) stored.push_back(std::move(other));
      }
      for (Ordered& one : stored) all.push_back(whole_layers(std::move(one), g, target));
    }
  }
  return plain;
}

constexpr int64_t kMostStepsAgain = 2000;  // of a schedule of which second passes are looked for

// In the file's order with what is awaited computed again.
std::vector<Schedule> second_passes(const std::shared_ptr<const Graph>& graph, const Target& target,
                                    Deadline deadline) {
  const auto whole = [&](const std::shared_ptr<const Graph>& g, const StorageChoice& choice) {
    return whole_layers(in_storage(*g, in_order(*g, file_order, deadline), choice), g, target);
  };
  if (has_passed(deadline)) return {};
  std::vector<Schedule> all;
  const auto add = [&](std::vector<Graph> graphs, const std::vector<StorageChoice>& choices) {
    for (Graph& again : graphs) {
      const auto g = std::make_shared<const Graph>(std::move(again));
      for (const StorageChoice& choice : choices)
        if (!has_passed(deadline)) all.push_back(whole(g, choice));
    }
  };
  const StorageChoice unshared = {Moves::kUnshared}, in_lanes = {.products = Products::kRows},
                      as_written = {.products = Products::kRows, .factors = Factors::kAsWritten};
  add(with_second_passes(whole(graph, unshared)), {unshared});
  // Where factors lie as they are written their rows can be told apart, too.
  add(with_passes_behind_mixing(whole(graph, as_written)), {in_lanes, as_written});
  return all;
}

// Of how many slabs at most the steps of groups are made beside those of single rows: the fewer, the longer
// are the loops of each.
constexpr int64_t kTurns[] = {8, 16, 32, 64};

constexpr double kMuchWork = 1;  // of searches, in what one may take

struct Grouped {
  std::vector<Schedule> schedules;
  LimitsHit limits_hit = {};
};

// Makes schedules of groups, each kind once.
class Collected {
 public:
  Collected(const std::vector<Schedule>& plain, const Target& target)
      : plain_(plain), target_(target), seen_(plain.size()), made_(plain.size()) {}

  void add(size_t whole, std::vector<GroupPlan> groups) {
    auto& seen = seen_[whole];
    if (groups.empty() || std::find(seen.begin(), seen.end(), groups) != seen.end()) return;
    seen.push_back(groups);
    std::vector<const Schedule*> known = {&plain_[whole]};
    for (const size_t k : made_[whole]) known.push_back(&schedules[k]);
    made_[whole].push_back(schedules.size());
    schedules.push_back(with_groups(plain_[whole], std::move(groups), target_, known));
  }
  void add_all(size_t whole, std::vector<std::vector<GroupPlan>> all) {
    for (std::vector<GroupPlan>& groups : all) add(whole, std::move(groups));
  }

  std::vector<Schedule> schedules;

 private:
  const std::vector<Schedule>& plain_;
  const Target& target_;
  std::vector<std::vector<std::vector<GroupPlan>>> seen_;  // per plain schedule
  std::vector<std::vector<size_t>> made_;                  // per plain schedule, numbers of schedules of it
};

// Of the plain schedules the one whose groups have the lowest peak.
struct Least {
  int64_t peak = INT64_MAX;
  size_t schedule = 0;
};

// Of schedules of whole layers, the same with groups, as many as `freedom` has. Groups of what accumulates
// take no more memory than others, but where none of them does so whole layers are faster: those are
// searched, too, or where that takes long the counterpart of the smallest alone.
Grouped grouped(const Graph& graph, const Plain& whole, Freedom freedom, const Target& target,
                Deadline deadline) {
  const auto& [plain, accumulating, again] = whole;
  Collected all(plain, target);
  FormedGroups known;
  std::map<size_t, std::shared_ptr<const StepFacts>> facts;  // by the number of the plain schedule
  std::map<size_t, GroupSearch> searches;                    // the same
  std::vector<GroupSearch> of_few_turns;
  const auto done = [&] {
    Grouped result{std::move(all.schedules)};
    for (const auto& [k, search] : searches) result.limits_hit.merge(search.limits_hit());
    for (const GroupSearch& search : of_few_turns) result.limits_hit.merge(search.limits_hit());
    return result;
  };
  const int64_t allowed_work = work_allowed(graph, Freedom::kSomeAgain);
  Least once, some, any;  // of the plain schedules that do nothing again, those that do as much, and of all
  const auto note = [&](const Schedule& schedule, size_t k) {
    const int64_t peak = peak_of(schedule);
    if (peak < any.peak) any = {peak, k};
    if (peak < once.peak && k < again) once = {peak, k};
    if (peak < some.peak && work_again(plain[k]) <= allowed_work) some = {peak, k};
  };
  for (size_t k = 0; k < plain.size(); ++k) note(plain[k], k);
  const size_t count = plain.size() - accumulating + (accumulating > 0);
  const auto facts_of = [&](size_t k) -> const std::shared_ptr<const StepFacts>& {
    auto& all = facts[k];
    if (!all && !has_passed(deadline))
      all = std::make_shared<const StepFacts>(step_facts(*plain[k].graph, plain[k].steps, plain[k].layouts));
    return all;
  };
  const auto search = [&](size_t k) {
    GroupSearch& search =
        searches.try_emplace(k, plain[k], facts_of(k), count, deadline, known).first->second;
    const size_t before = all.schedules.size();
    all.add_all(k, search.near_least());
    all.add_all(k, search.least_with_windows());
    for (size_t n = before; n < all.schedules.size(); ++n) note(all.schedules[n], k);
  };
  for (size_t k = accumulating; k < plain.size(); ++k) search(k);
  double work = 0;
  for (const auto& [k, search] : searches) work += search.work();
  const size_t other = some.schedule < accumulating ? some.schedule : some.schedule - accumulating;
  for (size_t k = 0; k < accumulating; ++k)
    if (work < kMuchWork || k == std::min(other, accumulating - 1)) search(k);
  for (auto& [k, search] : searches) all.add_all(k, search.without_windows());
  const auto search_in_turns = [&](size_t k, int64_t turns) -> GroupSearch& {
    std::shared_ptr<const StepFacts> cut = facts_of(k);
    if (cut) cut = std::make_shared<const StepFacts>(in_turns(*cut, turns, plain[k].steps));
    return of_few_turns.emplace_back(plain[k], std::move(cut), count, deadline, known);
  };
  for (const size_t k : std::set<size_t>{once.schedule, some.schedule, any.schedule})
    for (const int64_t turns : kTurns) all.add_all(k, search_in_turns(k, turns).without_windows());
  if (freedom < Freedom::kSomeAgain) return done();
  Expect expect = Expect::kSome;
  for (auto& [k, search] : std::views::reverse(searches)) {  // those first that were changed most for it
    const int64_t allowed = allowed_work - work_again(plain[k]);
    if (allowed < 0) continue;
    const size_t before = all.schedules.size();
    all.add_all(k, search.least_below(some.peak, allowed, expect));
    if (all.schedules.size() == before) continue;
    some.peak = std::min(some.peak, peak_of(all.schedules.back()));
    if (work_again(all.schedules.back()) > 0) expect = Expect::kNone;
  }
  if (freedom < Freedom::kAnyAgain) return done();
  for (auto& [k, search] : searches) all.add_all(k, search.below_least());
  return done();
}

std::pair<int64_t, int64_t> price(const Schedule& schedule) {
  return {work_again(schedule), bytes_read_again(schedule)};
}

// What is scheduled: the graph, or for whole layers alone what is faster for more memory.
std::vector<std::shared_ptr<const Graph>> bases_of(const Graph& graph, Freedom freedom,
                                                   const Target& target) {
  std::vector<std::shared_ptr<const Graph>> all = {borrowed(graph)};
  if (freedom > Freedom::kWholeLayers) return all;
  const auto changed = [&](Graph made) {
    return made.tensors.size() > all.front()->tensors.size() ? std::make_shared<const Graph>(std::move(made))
                                                             : nullptr;
  };
  if (auto copied = changed(with_input_copies(graph, target))) all.front() = std::move(copied);
  if (auto hoisted = changed(with_hoisted_sums(*all.front()))) all.push_back(std::move(hoisted));
  return all;
}

// The one of the least peak.
template <Freedom freedom>
Schedule schedule_least(const Graph& graph, const Target& target, Deadline deadline) {
  std::vector<Schedule> all = schedules_to_choose_from(graph, freedom, target, deadline);
  std::vector<int64_t> peaks;
  for (const Schedule& schedule : all) peaks.push_back(peak_of(schedule));
  return std::move(all[std::min_element(peaks.begin(), peaks.end()) - peaks.begin()]);
}

// In the file's order, in groups that `groups_of` makes of whole layers.
template <typename GroupsOf>
Schedule schedule_in_groups(const Graph& graph, const Target& target, const GroupsOf& groups_of) {
  const auto split = std::make_shared<const Graph>(with_accumulators(graph));
  Schedule whole = whole_layers(in_order(*split, file_order), split, target);
  std::vector<GroupPlan> groups = groups_of(whole);
  return with_groups(std::move(whole), std::move(groups), target, {});
}

Schedule schedule_by_rows(const Graph& graph, const Target& target, Deadline) {
  return schedule_in_groups(graph, target,
                            [](const Schedule& whole) { return longest_groups(whole, {.columns = false}); });
}

Schedule schedule_by_columns(const Graph& graph, const Target& target, Deadline) {
  return schedule_in_groups(graph, target,
                            [](const Schedule& whole) { return longest_groups(whole, Keep{}); });
}

template <int64_t strip>
Schedule schedule_by_windows(const Graph& graph, const Target& target, Deadline) {
  return schedule_in_groups(graph, target,
                            [](const Schedule& whole) { return thinnest_groups(whole, strip); });
}

}  // namespace

Schedule schedule_layerwise(const Graph& graph, const Target& target, Deadline deadline) {
  Ordered best = best_order(graph, {.deadline = deadline});
  const bool cut_off = !best.report.proven && has_passed(deadline);
  Schedule schedule = whole_layers(std::move(best), borrowed(graph), target);
  schedule.cut_off = cut_off;
  return schedule;
}

int64_t work_allowed(const Graph& graph, Freedom freedom) {
  constexpr int64_t kPart = 10;
  if (freedom == Freedom::kAnyAgain) return INT64_MAX;
  if (freedom == Freedom::kWholeLayers) return 0;
  int64_t work = 0;
  for (const Node& node : graph.block) work += multiply_accumulates(node);
  return work / kPart;
}

std::vector<Schedule> schedules_to_choose_from(const Graph& graph, Freedom freedom, const Target& target,
                                               Deadline deadline, Io io) {
  const std::vector<std::shared_ptr<const Graph>> bases = bases_of(graph, freedom, target);
  Plain whole = plain_schedules(bases.front(), target, deadline);
  std::vector<Schedule>& plain = whole.schedules;
  const bool may_repeat = freedom > Freedom::kWholeLayers,
             is_long = std::ssize(plain.back().steps) > kMostStepsAgain;
  const int64_t allowed = work_allowed(graph, freedom);
  whole.again = plain.size();
  if (may_repeat && !is_long)
    for (Schedule& schedule : second_passes(plain.back().graph, target, deadline))
      if (work_again(schedule) <= allowed) plain.push_back(std::move(schedule));
  for (Schedule& schedule : plain) schedule.io = io;
  Grouped found;
  if (freedom > Freedom::kWholeLayers) found = grouped(graph, whole, freedom, target, deadline);
  std::vector<Schedule> all = std::move(found.schedules);
  for (const Schedule& schedule : plain)
    found.limits_hit.insert(schedule.limits_hit.begin(), schedule.limits_hit.end());
  if (may_repeat && is_long) found.limits_hit.insert({"tensors to compute again", kMostStepsAgain, "step"});
  const bool cut_off = has_passed(deadline);
  for (Schedule& schedule : plain)
    if (freedom > Freedom::kWholeLayers || schedule.graph == bases.front())
      all.push_back(std::move(schedule));
  for (size_t k = 1; k < bases.size(); ++k)
    for (Schedule& schedule : plain_schedules(bases[k], target, deadline).schedules)
      if (schedule.graph == bases[k]) all.push_back(std::move(schedule)), all.back().io = io;
  std::stable_sort(all.begin(), all.end(),
                   [](const Schedule& a, const Schedule& b) { return price(a) < price(b); });
  for (Schedule& schedule : all) {
    schedule.cut_off = cut_off;
    schedule.limits_hit = found.limits_hit;
  }
  return all;
}

int64_t bytes_read_again(const Schedule& schedule) {
  int64_t bytes = 0;
  for (const Group& group : schedule.groups)
    for (const Stage& stage : group.stages)
      bytes += constant_bytes(*schedule.steps[stage.step].node, *schedule.graph) * (stage.slabs - 1);
  return bytes;
}

int64_t work_again(const Schedule& schedule) {
  int64_t work = 0;
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kRun && step.node->is_again) work += multiply_accumulates(*step.node);
  return work + work_again_in_rows(schedule);
}

int64_t work_again_in_rows(const Schedule& schedule) {
  int64_t work = 0;
  for (const Group& group : schedule.groups)
    for (int64_t stage : work_again(group, schedule.steps)) work += stage;
  return work;
}

const std::vector<SchedulerRow>& schedulers() {
  static const std::vector<SchedulerRow> all = {
      {"layerwise", "one whole layer a step, in the order of the lowest peak", schedule_layerwise},
      {"file-order", "whole layers in the file's order", schedule_in_order<file_order>},
      {"breadth-first", "whole layers, those first that became ready first",
       schedule_in_order<breadth_first_order>},
      {"depth-first", "whole layers, operand after operand, the one that needs most first",
       schedule_in_order<depth_first_order>},
      {"greedy", "whole layers, the one first after which least is alive", schedule_in_order<greedy_order>},
      {"fused", "groups of layers row by row where that takes less memory",
       schedule_least<Freedom::kSecondPasses>},
      {"smallest", "as fused, and with up to a tenth of the work done again where that takes less memory",
       schedule_least<Freedom::kSomeAgain>},
      {"rows", "every layer row by row that can be, in the file's order", schedule_by_rows},
      {"columns", "as rows, and of these a few columns at a time", schedule_by_columns},
      {"windows", "as columns, and what lies under a window computed again for each row of windows",
       schedule_by_windows<1>},
      {"strips", "as windows, for two rows of windows at a time, those that come out even",
       schedule_by_windows<2>},
  };
  return all;
}

}  // namespace arenac
