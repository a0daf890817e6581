#include "driver/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "frontend/error.h"
#include "planner/bounds.h"
#include "planner/planners.h"
#include "planner/verify.h"

namespace arenac {
namespace {

using Clock = std::chrono::steady_clock;

// A schedule and its problem, not planned yet.
struct Candidate {
  Schedule schedule;
  Lifetimes lifetimes;
  int64_t bound;  // bytes that no plan goes below, in one pool; 0: not known, of several
};

Candidate candidate(Schedule schedule, const Choosing& choosing) {
  const CompileOptions& options = choosing.options;
  verify(schedule);
  const auto begin = Clock::now();
  Lifetimes all =
      lifetimes(schedule, options.io, choosing.target.align, options.pools, options.pins, choosing.states);
  check(all.problem);
  std::vector<int> members(all.problem.buffers.size());
  std::iota(members.begin(), members.end(), 0);
  const int64_t bound = all.problem.pools.size() == 1 ? lower_bound(all.problem, 0, members) : 0;
  choosing.times.problem += seconds_since(begin);
  return {std::move(schedule), std::move(all), bound};
}

std::vector<Candidate> candidates(const Graph& graph, Freedom freedom, const Choosing& choosing) {
  std::vector<Candidate> all;
  for (Schedule& schedule :
       schedules_to_choose_from(graph, freedom, choosing.target, choosing.deadline, choosing.options.io))
    all.push_back(candidate(std::move(schedule), choosing));
  return all;
}

Plan planned(const Candidate& c, const Choosing& choosing) {
  Search search;
  search.seconds = kPlannersTime * choosing.options.seconds;
  const std::string& planner = choosing.options.planner;
  const auto begin = Clock::now();
  Plan plan = plan_at_best(c.lifetimes.problem, planner.empty() ? kDefaultPlanner : planner, search);
  choosing.times.plan += seconds_since(begin);
  if (choosing.found) choosing.found(total_size(plan));
  return plan;
}

Chosen chosen(Candidate c, Plan plan) {
  if (const auto fault = verify(c.lifetimes.problem, plan))
    throw InternalError(fmt::format("after stage 'plan': {}", *fault));
  return {std::move(c.schedule), std::move(c.lifetimes), std::move(plan)};
}

// One pool with room enough for any schedule.
CompileOptions with_room(CompileOptions options) {
  options.ram.reset();
  options.pins.clear();
  if (!options.pools.empty())
    options.pools = {{.name = options.pools[0].name, .capacity = {}, .align = options.pools[0].align}};
  return options;
}

// That of the smallest plan, of equal ones the first. What cannot be smaller is not planned.
std::pair<size_t, Plan> smallest(const std::vector<Candidate>& all, const Choosing& choosing) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a].bound < all[b].bound; });
  std::optional<std::pair<size_t, Plan>> best;
  for (const size_t k : order) {
    if (best && std::pair(all[k].bound, k) > std::pair(total_size(best->second), best->first)) continue;
    Plan plan = planned(all[k], choosing);
    if (!best || std::pair(total_size(plan), k) < std::pair(total_size(best->second), best->first))
      best = {k, std::move(plan)};
  }
  return std::move(*best);
}

Freedom freedom_of(Optimize optimize) {
  switch (optimize) {
    case Optimize::kSpeed:
      return Freedom::kWholeLayers;
    case Optimize::kBalanced:
      return Freedom::kNothingAgain;
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

bool has(Freedom freedom, const Schedule& schedule) {
  if (freedom == Freedom::kWholeLayers) return schedule.groups.empty();
  return freedom == Freedom::kAnyAgain || work_again(schedule) <= work_allowed(*schedule.graph, freedom);
}

// Of the candidates that `freedom` has, in order, the first with a plan that fits and spills nothing, else
// the one that spills least.
std::optional<std::pair<size_t, Plan>> fitting(const std::vector<Candidate>& all, Freedom freedom,
                                               const Choosing& choosing) {
  std::optional<std::pair<size_t, Plan>> best;
  Spilled least;
  const int64_t ram = choosing.options.ram.value_or(INT64_MAX);
  for (size_t k = 0; k < all.size(); ++k) {
    if (!has(freedom, all[k].schedule)) continue;
    const Problem& problem = all[k].lifetimes.problem;
    const auto& capacity = problem.pools[0].capacity;
    if (all[k].bound > (problem.pools.size() == 1 ? std::min(ram, capacity.value_or(ram)) : ram)) continue;
    Plan plan = planned(all[k], choosing);
    if (passed_capacities(problem, plan) || total_size(plan) > ram) continue;
    const Spilled bytes = spilled(problem, plan);
    if (best && bytes >= least) continue;
    best = {k, std::move(plan)};
    least = bytes;
    if (is_zero(bytes)) break;
  }
  return best;
}

bool spills(const std::vector<Candidate>& all, const std::pair<size_t, Plan>& fit) {
  return !is_zero(spilled(all[fit.first].lifetimes.problem, fit.second));
}

[[noreturn]] void fits_nowhere(const std::vector<Candidate>& all, const Choosing& choosing) {
  const CompileOptions& options = choosing.options;
  const CompileOptions roomy = with_room(options);
  StageTimes times;
  const Choosing in_one = {roomy, choosing.states, choosing.target, choosing.deadline, times};
  std::vector<Candidate> again;
  for (const Candidate& c : all) again.push_back(candidate(c.schedule, in_one));
  const auto [k, plan] = smallest(again, in_one);
  const int64_t least = total_size(plan);
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

bool has_budget(const CompileOptions& options) {
  return options.ram || std::any_of(options.pools.begin(), options.pools.end(),
                                    [](const Pool& pool) { return pool.capacity.has_value(); });
}

// Bytes of the smallest arena of whole layers in one pool. `found` holds all schedules of whole layers that a
// search finds; where a scheduler was named, there was no search.
int64_t arena_of_whole_layers(const Graph& graph, const std::vector<Candidate>& found,
                              const Choosing& choosing) {
  const CompileOptions roomy = with_room(choosing.options);
  const Choosing in_one = {roomy, choosing.states, choosing.target, choosing.deadline, choosing.times};
  std::vector<Candidate> whole;
  if (!choosing.options.scheduler.empty()) whole = candidates(graph, Freedom::kWholeLayers, in_one);
  for (const Candidate& c : found)
    if (choosing.options.scheduler.empty() && c.schedule.groups.empty() && c.schedule.graph.get() == &graph)
      whole.push_back(candidate(c.schedule, in_one));
  return total_size(smallest(whole, in_one).second);
}

Chosen chosen_of(const Graph& graph, std::vector<Candidate> all, std::pair<size_t, Plan> best,
                 const Choosing& choosing) {
  Chosen c = chosen(std::move(all[best.first]), std::move(best.second));
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(best.first));
  if (!c.schedule.groups.empty()) c.layerwise_arena = arena_of_whole_layers(graph, all, choosing);
  return c;
}

}  // namespace

int64_t total_size(const Plan& plan) {
  int64_t size = 0;
  for (const PoolUse& pool : plan.pools) size += pool.size;
  return size;
}

Chosen choose(const Graph& graph, const Choosing& choosing) {
  const CompileOptions& options = choosing.options;
  const bool budget = has_budget(options);
  std::vector<Candidate> all;
  if (options.scheduler.empty())
    all = candidates(graph, budget ? Freedom::kAnyAgain : freedom_of(options.optimize), choosing);
  else
    all.push_back(candidate(
        scheduler_named(options.scheduler).schedule(graph, choosing.target, choosing.deadline), choosing));
  if (!budget) {
    auto best = smallest(all, choosing);
    return chosen_of(graph, std::move(all), std::move(best), choosing);
  }
  // Where a second pool takes what the first cannot, more work is done only to fit all of it into the first
  // one, and not for the fastest.
  const bool may_spill = options.pools.size() > 1 && !options.ram && options.scheduler.empty();
  auto fits = fitting(all, may_spill ? freedom_of(options.optimize) : Freedom::kAnyAgain, choosing);
  if (may_spill && (!fits || (options.optimize != Optimize::kSpeed && spills(all, *fits)))) {
    auto again = fitting(all, Freedom::kAnyAgain, choosing);
    if (!fits || (again && !spills(all, *again))) fits = std::move(again);
  }
  if (!fits) fits_nowhere(all, choosing);
  return chosen_of(graph, std::move(all), std::move(*fits), choosing);
}

std::vector<Chosen> frontier(const Graph& graph, const Choosing& choosing) {
  const CompileOptions roomy = with_room(choosing.options);
  StageTimes times;
  const Choosing in_one = {roomy, choosing.states, choosing.target, choosing.deadline, times};
  std::vector<Chosen> all;
  int64_t least = INT64_MAX;
  for (Candidate& c : candidates(graph, Freedom::kAnyAgain, in_one)) {
    if (c.bound >= least) continue;
    Plan plan = planned(c, in_one);
    if (total_size(plan) >= least) continue;
    least = total_size(plan);
    all.push_back(chosen(std::move(c), std::move(plan)));
  }
  return all;
}

}  // namespace arenac
