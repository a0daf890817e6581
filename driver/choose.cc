// How one is chosen:
//
//   schedules      all that the freedom allows, each with its problem and a lower bound
//   cycles         of each, with no two buffers over each other; the fastest first
//   budget?        no    preferred(): of those that --optimize has, the smallest plan
//                  yes   fitting(): in order of their cycles, the first that fits and spills nothing,
//                        else the one that spills least
//   chosen         verified; beside it the arena of whole layers, and rungs where they are asked for
//
// Plans take most of the time, so each question asks bounds first, then plans of little effort, and plans of
// all effort only of the few that are left.
#include "driver/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "frontend/error.h"
#include "planner/bounds.h"
#include "planner/planners.h"
#include "planner/verify.h"
#include "planner/verify_bytes.h"

namespace arenac {
namespace {

using Clock = std::chrono::steady_clock;

// Of these numbers results depend, not their being right: a bad guess makes an arena larger or a search
// longer.
constexpr double kFirstEffort = 0.01;  // of the planner's, for plans that only tell which schedules to plan
constexpr int64_t kMostGained = 16;    // all effort makes such a plan smaller by one part in as many, at most
constexpr double kWholeSlowdown = 0.1;  // of whole layers beside the fastest of these, for a smaller arena
constexpr double kOfPlans = 1.03;  // cycles with the buffers of a plan over each other, beside those without
constexpr int64_t kMostPlanned = 4;  // with all effort, of the schedules whose first plans are the smallest

// A schedule and its problem, not planned yet. Planning is what takes time, so bounds and cycles decide which
// of them are planned at all. A bound is below every plan; a plan with all effort is taken to be at most 1/16
// smaller than one with little (kMostGained).
struct Candidate {
  Schedule schedule;
  Lifetimes lifetimes;
  int64_t bound;           // bytes that no plan goes below, in one pool; 0: not known, of several
  double cycles;           // with no two buffers over each other
  const Graph* scheduled;  // the scheduler's graph: that of the schedule may have calls for its nests
};

// The schedule with calls of CMSIS-NN where they are wanted, what lives when, and a bound. The bound takes
// milliseconds, a plan up to seconds.
Candidate candidate(Schedule schedule, const Choosing& choosing) {
  const CompileOptions& options = choosing.options;
  const auto begin = Clock::now();
  const Graph* scheduled = schedule.graph.get();
  if (choosing.cmsis_nn) schedule = choosing.cmsis_nn->in(std::move(schedule));
  Lifetimes all =
      lifetimes(schedule, options.io, choosing.target.align, options.pools, options.pins, choosing.states);
  check(all.problem);
  std::vector<int> members(all.problem.buffers.size());
  std::iota(members.begin(), members.end(), 0);
  const int64_t bound = all.problem.pools.size() == 1 ? lower_bound(all.problem, 0, members) : 0;
  choosing.times.problem += seconds_since(begin);
  return {std::move(schedule), std::move(all), bound, 0, scheduled};
}

// Every buffer above the one before: no two share bytes, so that a schedule's cycles can be counted before it
// is planned.
Plan stacked(const Problem& problem) {
  Plan plan{{}, std::vector<PoolUse>(problem.pools.size())};
  int64_t offset = 0;
  for (const Buffer& buffer : problem.buffers) {
    plan.placements.push_back({.pool = 0, .offset = offset});
    offset += buffer.size;
  }
  return plan;
}

// By the memo that all candidates share (ScheduleCycles), for most of their steps are the same.
double cycles_of(const Candidate& c, const Plan& plan, const Choosing& choosing) {
  const auto begin = Clock::now();
  const double cycles = choosing.cycles->of(c.schedule, c.lifetimes, plan);
  choosing.times.cycles += seconds_since(begin);
  return cycles;
}

// The fastest first. Of equal ones that which the scheduler names first, so that a build chooses the same
// every time.
std::vector<Candidate> candidates(const Graph& graph, Freedom freedom, const Choosing& choosing) {
  std::vector<Candidate> all;
  for (Schedule& schedule :
       schedules_to_choose_from(graph, freedom, choosing.target, choosing.deadline, choosing.options.io))
    all.push_back(candidate(std::move(schedule), choosing));
  for (Candidate& c : all) c.cycles = cycles_of(c, stacked(c.lifetimes.problem), choosing);
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
  return all;
}

// Plans of equal problems are made once: candidates that differ in order alone often have one, and those of
// one pool are asked for again.
Plan planned(const Candidate& c, const Choosing& choosing, double effort = 1) {
  const Problem& problem = c.lifetimes.problem;
  // Problems are compared whole: equal ones have equal plans.
  for (const MadePlan& made : *choosing.made)
    if (made.effort == effort && made.problem == problem) return made.plan;
  Search search;
  search.effort = effort;
  search.seconds = kPlannersTime * choosing.options.seconds;
  const std::string& planner = choosing.options.planner;
  const auto begin = Clock::now();
  Plan plan = plan_at_best(problem, planner.empty() ? kDefaultPlanner : planner, search);
  choosing.times.plan += seconds_since(begin);
  choosing.made->push_back({problem, effort, plan});
  if (choosing.found) choosing.found(total_size(plan));
  return plan;
}

// Whether a plan in one pool may come to `bytes`: by its bound, and by what little effort comes to.
bool may_fit(const Candidate& c, int64_t bytes, const Choosing& choosing) {
  if (c.bound > bytes) return false;
  const int64_t first = total_size(planned(c, choosing, kFirstEffort));
  return first - first / kMostGained <= bytes;
}

// The last look at both before anything is made of them: schedule, plan, and bytes that overlaps let two
// storages share.
Chosen chosen(Candidate c, Plan plan) {
  verify(c.schedule);
  if (const auto fault = verify(c.lifetimes.problem, plan))
    throw InternalError(fmt::format("after stage 'plan': {}", *fault));
  verify_bytes(c.schedule, c.lifetimes, plan);
  return {std::move(c.schedule), std::move(c.lifetimes), std::move(plan)};
}

// One pool with room enough for any schedule: for sizes that are told, not taken.
CompileOptions with_room(CompileOptions options) {
  options.ram.reset();
  options.pins.clear();
  if (!options.pools.empty())
    options.pools = {{.name = options.pools[0].name, .capacity = {}, .align = options.pools[0].align}};
  return options;
}

// The number of a candidate and its plan.
struct Planned {
  size_t candidate;
  Plan plan;
  bool cut = false;  // whether more of the candidates might have had a smaller one
};

// The same with those options; plans found are not told of.
Choosing in_one_pool(const CompileOptions& roomy, const Choosing& choosing) {
  return {roomy, choosing.states, choosing.target,   choosing.deadline, choosing.times,
          {},    choosing.cycles, choosing.cmsis_nn, choosing.made};
}

using Size = std::pair<int64_t, size_t>;  // bytes, number of the candidate

// Of those that `which` takes, as little effort plans them, ascending. What cannot be smaller is not planned:
// a bound above the least size so far, and by their order all bounds behind it.
template <typename Which>
std::vector<Size> first_sizes(const std::vector<Candidate>& all, const Choosing& choosing,
                              const Which& which) {
  std::vector<Size> bounds, firsts;
  for (size_t k = 0; k < all.size(); ++k)
    if (which(all[k])) bounds.emplace_back(all[k].bound, k);
  std::ranges::sort(bounds);
  Size least = {INT64_MAX, 0};
  for (const Size& bound : bounds) {
    // Bounds ascend: what follows cannot be smaller either.
    if (bound > least) break;
    firsts.emplace_back(total_size(planned(all[bound.second], choosing, kFirstEffort)), bound.second);
    least = std::min(least, firsts.back());
  }
  std::ranges::sort(firsts);
  return firsts;
}

// Of those that `which` takes that of the smallest plan, of equal ones the first: with all effort so many are
// planned whose first plans are the smallest. Nothing where `which` takes none.
template <typename Which>
std::optional<Planned> smallest_of(const std::vector<Candidate>& all, const Choosing& choosing,
                                   const Which& which, int64_t most_planned = kMostPlanned) {
  std::optional<Planned> best;
  int64_t count = 0;
  for (const auto& [first, k] : first_sizes(all, choosing, which)) {
    const auto size_of_best = [&] { return Size(total_size(best->plan), best->candidate); };
    // Not even its bound is below the best plan, of equal ones by its number.
    if (best && size_of_best() <= Size(all[k].bound, k)) continue;
    if (count++ == most_planned) {
      best->cut = true;
      break;
    }
    Plan plan = planned(all[k], choosing);
    if (!best || Size(total_size(plan), k) < size_of_best()) best = {k, std::move(plan)};
  }
  return best;
}

Planned smallest(const std::vector<Candidate>& all, const Choosing& choosing) {
  return *smallest_of(all, choosing, [](const Candidate&) { return true; });
}

// Schedules of whole layers of the graph as it is.
bool is_whole(const Candidate& c, const Graph& graph) {
  return is_of_whole_layers(c.schedule) && c.scheduled == &graph;
}

// What a schedule may do again for less memory, by what is preferred.
Freedom freedom_of(Optimize optimize) {
  switch (optimize) {
    case Optimize::kSpeed:
      return Freedom::kWholeLayers;
    case Optimize::kBalanced:
      return Freedom::kSecondPasses;
    case Optimize::kRam:
      break;
  }
  return Freedom::kSomeAgain;
}

// Bytes of each pool but the first, the slowest first; those that only hold what is pinned there do not
// count.
using Spilled = std::vector<int64_t>;
Spilled spilled(const Problem& problem, const Plan& plan) {
  Spilled bytes(plan.pools.size());
  for (size_t b = 0; b < problem.buffers.size(); ++b)
    if (problem.buffers[b].pools.size() > 1)
      bytes[plan.placements[b].pool] = plan.pools[plan.placements[b].pool].size;
  bytes[0] = 0;
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

bool is_zero(const Spilled& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](int64_t b) { return b == 0; });
}

// Whether the schedule keeps to that freedom.
bool has(Freedom freedom, const Schedule& schedule) {
  if (freedom == Freedom::kWholeLayers) return is_of_whole_layers(schedule);
  if (freedom == Freedom::kSecondPasses && work_again_in_rows(schedule) > 0) return false;
  return freedom == Freedom::kAnyAgain || work_again(schedule) <= work_allowed(*schedule.graph, freedom);
}

// Those of them that take little longer than the fastest. `all` are in the order of their cycles.
template <typename Which>
auto little_slower(const std::vector<Candidate>& all, const Which& which) {
  const auto fastest = std::ranges::find_if(all, which);
  ARENAC_CHECK(fastest != all.end(), "there are no schedules of whole layers");
  return [which, most = (1 + kWholeSlowdown) * fastest->cycles](const Candidate& c) {
    return which(c) && c.cycles <= most;
  };
}

// The smallest that does little again, for whole tensors, and takes little longer than whole layers, which
// are one of these: as is foreseen and with its plan. (Little effort tells which whole layers these are.)
Planned balanced(const Graph& graph, const std::vector<Candidate>& all, const Choosing& choosing) {
  const auto whole = little_slower(all, [&](const Candidate& c) { return is_whole(c, graph); });
  const Candidate& layers = all[first_sizes(all, choosing, whole).front().second];
  const double slower = 1 + choosing.options.slowdown;
  const double most =
      kOfPlans * slower * cycles_of(layers, planned(layers, choosing, kFirstEffort), choosing);
  std::set<const Candidate*> slow;
  const auto which = [&](const Candidate& c) {
    return c.cycles <= slower * layers.cycles && has(Freedom::kSecondPasses, c.schedule) &&
           !slow.contains(&c);
  };
  while (std::optional<Planned> best = smallest_of(all, choosing, which)) {
    const Candidate& c = all[best->candidate];
    if (cycles_of(c, best->plan, choosing) <= most) return std::move(*best);
    // With its plan it takes longer than was foreseen: the next smallest is asked.
    slow.insert(&c);
  }
  // Not even whole layers, with a plan of all effort, keep to what those of little effort take.
  return {static_cast<size_t>(&layers - all.data()), planned(layers, choosing)};
}

// Of those that --optimize has: whole layers; what is balanced; what does little again.
Planned preferred(const Graph& graph, const std::vector<Candidate>& all, const Choosing& choosing) {
  switch (choosing.options.optimize) {
    case Optimize::kSpeed:
      return *smallest_of(all, choosing, little_slower(all, [](const Candidate&) { return true; }));
    case Optimize::kRam:
      return *smallest_of(all, choosing,
                          [](const Candidate& c) { return has(Freedom::kSomeAgain, c.schedule); });
    case Optimize::kBalanced:
      break;
  }
  return balanced(graph, all, choosing);
}

// Of the candidates that `freedom` has, in order, the first with a plan that fits and spills nothing, else
// the one that spills least.
std::optional<Planned> fitting(const std::vector<Candidate>& all, Freedom freedom, const Choosing& choosing) {
  std::optional<Planned> best;
  Spilled least;
  // Without a bound the question is of pools alone.
  const int64_t ram = choosing.options.ram.value_or(INT64_MAX);
  for (size_t k = 0; k < all.size(); ++k) {
    if (!has(freedom, all[k].schedule)) continue;
    const Problem& problem = all[k].lifetimes.problem;
    const auto& capacity = problem.pools[0].capacity;
    // In several pools a bound of one says nothing.
    if (problem.pools.size() == 1 && !may_fit(all[k], std::min(ram, capacity.value_or(ram)), choosing))
      continue;
    Plan plan = planned(all[k], choosing);
    if (passed_capacities(problem, plan) || total_size(plan) > ram) continue;
    const Spilled bytes = spilled(problem, plan);
    // Compared from the slowest pool on: a byte there is worse than any number in faster ones.
    if (best && bytes >= least) continue;
    best = {k, std::move(plan)};
    least = bytes;
    if (is_zero(bytes)) break;
  }
  return best;
}

// Whether something lies beyond the first pool that might lie in it.
bool spills(const std::vector<Candidate>& all, const Planned& fit) {
  return !is_zero(spilled(all[fit.candidate].lifetimes.problem, fit.plan));
}

// The message says the smallest size in one pool, which is what a user can act on: it is planned again with
// room enough for that.
[[noreturn]] void fits_nowhere(const std::vector<Candidate>& all, const Choosing& choosing) {
  const CompileOptions& options = choosing.options;
  const CompileOptions roomy = with_room(options);
  const Choosing in_one = in_one_pool(roomy, choosing);
  std::vector<Candidate> again;
  for (const Candidate& c : all) again.push_back(candidate(c.schedule, in_one));
  const Planned least_of_all = smallest(again, in_one);
  const size_t k = least_of_all.candidate;
  const int64_t least = total_size(least_of_all.plan);
  std::string budget;
  int64_t room = options.ram.value_or(INT64_MAX);
  if (options.ram) budget = fmt::format("--ram {}", *options.ram);
  int64_t pools = 0;
  for (const Pool& pool : all[k].lifetimes.problem.pools)
    pools = pool.capacity && pools < INT64_MAX ? pools + *pool.capacity : INT64_MAX;
  if (pools < room) {
    room = pools;
    budget = options.pools.size() == 1 ? fmt::format("the {} of pool '{}'", pools, options.pools[0].name)
                                       : fmt::format("the {} of the pools", pools);
  }
  if (least > room)
    throw UserError(
        fmt::format("{}: the arena needs {} bytes, {} more than {}; {} is the smallest size reachable",
                    options.model, least, least - room, budget, least),
        Exit::kDoesNotFit);
  const auto passed = passed_capacities(all[k].lifetimes.problem, planned(all[k], choosing));
  throw UserError(fmt::format("{}: no schedule fits{}; in one pool, {} is the smallest size reachable",
                              options.model, passed ? ": " + *passed : "", least),
                  Exit::kDoesNotFit);
}

// Then the question is what fits, and not what is smallest.
bool has_budget(const CompileOptions& options) {
  return options.ram || std::any_of(options.pools.begin(), options.pools.end(),
                                    [](const Pool& pool) { return pool.capacity.has_value(); });
}

// Bytes of the arena of whole layers in one pool. `found` holds all schedules of whole layers that a
// search finds; where a scheduler was named, there was no search.
int64_t arena_of_whole_layers(const Graph& graph, const std::vector<Candidate>& found,
                              const Choosing& choosing) {
  const CompileOptions roomy = with_room(choosing.options);
  const Choosing in_one = in_one_pool(roomy, choosing);
  std::vector<Candidate> whole;
  if (!choosing.options.scheduler.empty()) whole = candidates(graph, Freedom::kWholeLayers, in_one);
  for (const Candidate& c : found)
    if (choosing.options.scheduler.empty() && is_whole(c, graph)) {
      whole.push_back(candidate(c.schedule, in_one));
      whole.back().cycles = c.cycles;
    }
  const bool is_chosen = choosing.options.optimize == Optimize::kSpeed;  // else it is only told of
  const auto which = little_slower(whole, [](const Candidate&) { return true; });
  return total_size(smallest_of(whole, in_one, which, is_chosen ? kMostPlanned : 1)->plan);
}

// Of one pool with room enough: each with a smaller arena than those before. Candidates come by their cycles,
// so that those are the Pareto front of both.
std::vector<Rung> frontier(const std::vector<Candidate>& all, const Choosing& choosing) {
  const CompileOptions roomy = with_room(choosing.options);
  const Choosing in_one = in_one_pool(roomy, choosing);
  std::vector<Rung> rungs;
  int64_t least = INT64_MAX;
  for (const Candidate& each : all) {
    Candidate c = candidate(each.schedule, in_one);
    if (!may_fit(c, least - 1, in_one)) continue;
    Plan plan = planned(c, in_one);
    if (total_size(plan) >= least) continue;
    least = total_size(plan);
    Chosen rung = chosen(std::move(c), std::move(plan));
    rungs.push_back({std::move(rung.schedule), std::move(rung.lifetimes), std::move(rung.plan), each.cycles});
  }
  return rungs;
}

// The arena of whole layers is told beside the one chosen, where they are not the same.
Chosen chosen_of(const Graph& graph, std::vector<Candidate> all, Planned best, const Choosing& choosing) {
  std::optional<int64_t> layerwise;
  if (choosing.options.optimize != Optimize::kSpeed || !is_of_whole_layers(all[best.candidate].schedule))
    layerwise = arena_of_whole_layers(graph, all, choosing);
  Chosen c = chosen(std::move(all[best.candidate]), std::move(best.plan));
  if (best.cut) c.schedule.limits_hit.insert({"the smallest plan", kMostPlanned, "schedule"});
  if (!is_of_whole_layers(c.schedule) || layerwise != total_size(c.plan)) c.layerwise_arena = layerwise;
  return c;
}

// Without a budget what is preferred; with one what fits, with more work done again if it has to be.
Chosen choose_from(const Graph& graph, std::vector<Candidate> all, const Choosing& choosing) {
  const CompileOptions& options = choosing.options;
  const bool searched = options.scheduler.empty();
  if (!has_budget(options)) {
    Planned best = searched ? preferred(graph, all, choosing) : smallest(all, choosing);
    return chosen_of(graph, std::move(all), std::move(best), choosing);
  }
  // Where a second pool takes what the first cannot, more work is done only to fit all of it into the first
  // one, and not for the fastest.
  const bool may_spill = options.pools.size() > 1 && !options.ram && searched;
  auto fits = fitting(all, may_spill ? freedom_of(options.optimize) : Freedom::kAnyAgain, choosing);
  if (may_spill && (!fits || (options.optimize != Optimize::kSpeed && spills(all, *fits)))) {
    auto again = fitting(all, Freedom::kAnyAgain, choosing);
    if (!fits || (again && !spills(all, *again))) fits = std::move(again);
  }
  if (!fits) fits_nowhere(all, choosing);
  return chosen_of(graph, std::move(all), std::move(*fits), choosing);
}

}  // namespace

int64_t total_size(const Plan& plan) {
  int64_t size = 0;
  for (const PoolUse& pool : plan.pools) size += pool.size;
  return size;
}

// The schedules of --pareto include those of the choice, so that one search does for both, where both look at
// the same kinds.
Chosen choose(const Graph& graph, const Choosing& choosing) {
  const CompileOptions& options = choosing.options;
  const bool listed = options.rungs != Rungs::kUnlisted;
  const Freedom preferred_freedom = has_budget(options) ? Freedom::kAnyAgain : freedom_of(options.optimize);
  const Freedom listed_freedom = options.rungs == Rungs::kListed
                                     ? Freedom::kAnyAgain
                                     : std::max(preferred_freedom, Freedom::kSecondPasses);
  // Whole layers alone are others than those that there are beside groups.
  const bool in_list = listed && preferred_freedom > Freedom::kWholeLayers && options.scheduler.empty();
  std::vector<Candidate> all;
  if (options.scheduler.empty())
    all = candidates(graph, in_list ? listed_freedom : preferred_freedom, choosing);
  else
    all.push_back(candidate(
        scheduler_named(options.scheduler).schedule(graph, choosing.target, choosing.deadline), choosing));
  std::vector<Rung> rungs;
  if (in_list)
    rungs = frontier(all, choosing);
  else if (listed)
    rungs = frontier(candidates(graph, listed_freedom, choosing), choosing);
  Chosen c = choose_from(graph, std::move(all), choosing);
  c.rungs = std::move(rungs);
  return c;
}

}  // namespace arenac
