#include "planner/planners.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/error.h"
#include "frontend/nearest.h"
#include "planner/bounds.h"
#include "planner/certificate.h"
#include "planner/groups.h"
#include "planner/rows/rows.h"
#include "planner/timeline.h"
#include "planner/verify.h"

namespace arenac {

// What allocators support that see whole buffers and one pool: gaps and overlaps are permissions, which they
// do not use.
constexpr unsigned kWholeBuffers = kAlignment | kGaps | kOverlaps;

// Half a minute of packing.
constexpr double kManyPairs = 1e9;

const std::vector<Planner> kPlanners = {
    {"portfolio", "the best of several orders, improved by local search until proven optimal", "own",
     kEveryFeature, portfolio, Growth::kSearch},
    {"tflite_by_size", "largest first, each into the tightest gap",
     "Pisarchyk and Lee 2020, greedy by size for offset calculation; TensorFlow Lite", kAllButCosts,
     tflite_by_size, Growth::kNearLinear, kManyPairs},
    {"tflite_by_breadth", "times of most live bytes first, their buffers by size into the tightest gap",
     "Pisarchyk and Lee 2020, greedy by breadth for offset calculation", kAllButCosts, tflite_by_breadth,
     Growth::kNearLinear, kManyPairs},
    {"tflite_micro", "largest first, each at the lowest offset",
     "TensorFlow Lite Micro, greedy memory planner", kAllButCosts, tflite_micro, Growth::kNearLinear,
     kManyPairs},
    {"tflite_objects_in_order", "by begin of life, each the free shared object of the nearest size",
     "Lee et al. 2019, greedy; TensorFlow Lite GPU delegate", kWholeBuffers, tflite_objects_in_order,
     Growth::kNearLinear},
    {"tflite_objects_equality", "by begin of life, each a free shared object of the same size",
     "TensorFlow Lite GPU delegate, equality", kWholeBuffers, tflite_objects_equality, Growth::kNearLinear},
    {"tflite_objects_by_breadth", "times of most live bytes first, their buffers by size into shared objects",
     "Pisarchyk and Lee 2020, greedy by breadth for shared objects", kWholeBuffers, tflite_objects_by_breadth,
     Growth::kPairs, kManyPairs},
    {"tflite_objects_by_size_distance", "by size class, each the shared object with the shortest idle time",
     "Pisarchyk and Lee 2020, greedy by size improved for shared objects", kWholeBuffers,
     tflite_objects_by_size_distance, Growth::kPairs, kManyPairs, 50'000},
    {"tflite_objects_min_cost_flow",
     "shared objects by the cheapest chain of successors; small problems only",
     "Lee et al. 2019, minimum-cost flow; TensorFlow Lite GPU delegate", kWholeBuffers,
     tflite_objects_min_cost_flow, Growth::kSearch},
    {"executorch_greedy", "largest first, stacked inside objects as large as their first buffer",
     "ExecuTorch, greedy", kWholeBuffers, executorch_greedy, Growth::kPairs, kManyPairs},
    {"executorch_in_order", "by begin of life, each the free shared object of the nearest size, oldest first",
     "ExecuTorch, greedy of 2023", kWholeBuffers, executorch_in_order, Growth::kNearLinear},
    {"glow_bidirectional", "by begin of life, long lives from the front and short ones from the back",
     "Esperanto's runtime for Glow, BidirectionalAllocator", kWholeBuffers, glow_bidirectional,
     Growth::kNearLinear, kManyPairs},
    {"glow_pool", "by begin of life, each a free block of its size rounded up to a power of two",
     "pool allocators of Glow and Esperanto's runtime", kWholeBuffers, glow_pool, Growth::kNearLinear},
    {"tvm_by_size", "largest first, each on top of all that it meets", "TVM USMP, greedy by size",
     kAllButCosts, tvm_by_size, Growth::kNearLinear, kManyPairs},
    {"tvm_by_conflicts", "most conflicts first, each on top of all that it meets",
     "TVM USMP, greedy by conflicts", kAllButCosts, tvm_by_conflicts, Growth::kNearLinear, kManyPairs},
    {"tvm_hill_climb",
     "largest first at the lowest offset, then exchanges of turns around the topmost buffer",
     "TVM USMP, hill climb", kAllButCosts, tvm_hill_climb, Growth::kSearch, kManyPairs},
    {"xla_by_size", "largest, then longest life first, each into the tightest gap",
     "XLA heap simulator, spatial best fit", kAllButCosts, xla_by_size, Growth::kNearLinear, kManyPairs},
    {"xla_by_lifetime", "longest life, then largest first, each into the tightest gap",
     "XLA heap simulator, temporal best fit", kAllButCosts, xla_by_lifetime, Growth::kNearLinear, kManyPairs},
    {"xla_best_of_both", "the better of xla_by_size and xla_by_lifetime", "XLA buffer assignment",
     kAllButCosts, xla_best_of_both, Growth::kNearLinear, kManyPairs},
    {"xla_repacker", "xla_by_size, repacked by life if that is smaller", "XLA memory space assignment",
     kAllButCosts, xla_repacker, Growth::kNearLinear, kManyPairs},
    {"sekiyama", "lowest valley of the skyline first, filled with the longest life that fits into it",
     "Sekiyama et al. 2018, best-fit heuristic; Pisarchyk and Lee 2020, strip packing", kAllButCosts,
     sekiyama, Growth::kPairs, kManyPairs, 500'000},
    {"minimalloc", "tree search by offset with bounds per section, for a capacity that is lowered",
     "Moffitt and Fernando 2023, MiniMalloc", kWholeBuffers, minimalloc, Growth::kSearch, kManyPairs},
    {"idealloc",
     "boxes of equal height in rows by interval colouring, unboxed and tightened, the best of several",
     "Buchsbaum et al. 2003; Lamprakos et al. 2025, idealloc", kAllButCosts, idealloc, Growth::kSearch,
     kManyPairs},
    {"telamalloc",
     "search by phases of contention, backtracking to conflicts, for a capacity that is lowered",
     "Maas et al. 2022, TelaMalloc", kWholeBuffers, telamalloc, Growth::kSearch, kManyPairs},
    {"somas", "largest first, best and first fit, with and without shelves, the best of four",
     "MindSpore SOMAS", kWholeBuffers, somas, Growth::kPairs, kManyPairs / 5},
    {"triton_colouring", "starts that may collide, mended in rounds of graph colouring",
     "Triton, shared memory allocation; Gergov 1999", kWholeBuffers, triton_colouring, Growth::kPairs,
     kManyPairs, 100'000},
    {"merge_alloc_size_first", "by begin of life into a row of chunks that extend and merge, by size",
     "oneDNN Graph Compiler and MLIR merge-alloc, tick planner", kWholeBuffers, merge_alloc_size_first,
     Growth::kPairs},
    {"merge_alloc_hot_chunks",
     "by begin of life into a row of chunks that extend and merge, by size and heat",
     "oneDNN Graph Compiler and MLIR merge-alloc, tick planner", kWholeBuffers, merge_alloc_hot_chunks,
     Growth::kPairs},
    {"iree", "by begin of life, each into the tightest gap: online best fit", "IREE, LayoutSlices",
     kAllButCosts, iree, Growth::kNearLinear, kManyPairs},
    {"glow_linear", "by begin of life, each at the lowest offset: online first fit", "Glow, MemoryAllocator",
     kAllButCosts, glow_linear, Growth::kNearLinear, kManyPairs},
    {"online_worst_fit", "by begin of life, each into the widest gap", "folklore", kAllButCosts,
     online_worst_fit, Growth::kNearLinear, kManyPairs},
    {"by_area_first_fit", "greatest bytes times life first, each at the lowest offset", "folklore",
     kAllButCosts, by_area_first_fit, Growth::kNearLinear, kManyPairs},
    {"by_area_best_fit", "greatest bytes times life first, each into the tightest gap", "folklore",
     kAllButCosts, by_area_best_fit, Growth::kNearLinear, kManyPairs},
    {"by_duration_first_fit", "longest life, then largest first, each at the lowest offset", "folklore",
     kAllButCosts, by_duration_first_fit, Growth::kNearLinear, kManyPairs},
    {"by_size_first_fit", "largest, then longest life first, each at the lowest offset", "folklore",
     kAllButCosts, by_size_first_fit, Growth::kNearLinear, kManyPairs},
};

namespace {

const Planner& find_planner(std::string_view name) {
  for (const Planner& row : kPlanners)
    if (row.name == name) return row;
  std::vector<std::string> names;
  for (const Planner& row : kPlanners) names.emplace_back(row.name);
  throw UserError(fmt::format("unknown planner '{}'; known: {}{}", name, fmt::join(names, ", "),
                              did_you_mean(name, names)),
                  Exit::kUsage);
}

// The first feature that the problem asks for and the row lacks, in words; empty if none.
std::string lacking(const Problem& problem, const Planner& row) {
  const auto asks = [&](auto&& of_buffer) {
    return std::any_of(problem.buffers.begin(), problem.buffers.end(), of_buffer);
  };
  const bool has_pools = problem.pools.size() > 1;
  const bool has_grid =
      std::any_of(problem.pools.begin(), problem.pools.end(), [](const Pool& p) { return p.align > 1; });
  if (!(row.supports & kAlignment) && (has_grid || asks([](const Buffer& b) { return b.align > 1; })))
    return "alignment";
  if (!(row.supports & kGaps) && asks([](const Buffer& b) { return !b.gaps.empty(); }))
    return "gaps in lives";
  if (!(row.supports & kFixedOffsets) && asks([](const Buffer& b) { return b.fixed_offset.has_value(); }))
    return "fixed offsets";
  if (!(row.supports & kPools) && has_pools) return "several pools";
  if (!(row.supports & kOverlaps) && !problem.overlaps.empty()) return "overlaps";
  if (!(row.supports & kCosts) && has_costs(problem)) return "costs";
  return "";
}

std::optional<std::string> too_large(const Planner& row, const Problem& problem) {
  const auto words = [&](const char* what, double most, double there) {
    return fmt::format("takes up to {} {}, the problem has {}, which would take minutes", most, what, there);
  };
  const size_t buffers = problem.buffers.size();
  if (buffers > row.most_buffers) return words("buffers", double(row.most_buffers), double(buffers));
  if (double(buffers) * double(buffers) / 2 <= row.most_pairs) return {};
  if (row.growth == Growth::kNearLinear && problem.overlaps.empty()) return {};
  const double pairs = meetings(make_timeline(problem, all_buffers(problem)));
  if (pairs <= row.most_pairs) return {};
  return words("pairs of buffers that live at the same time", row.most_pairs, pairs);
}

Plan run(const Planner& row, const Problem& problem, const Search& search) {
  if (const auto why = refusal(row, problem))
    throw UserError(fmt::format("planner '{}' {}; '{}' takes it", row.name, *why, kDefaultPlanner));
  return row.run(problem, search);
}

// Without places that no plan has.
WarmStart possible(const Problem& problem, WarmStart start) {
  ARENAC_CHECK(start.empty() || start.size() == problem.buffers.size(),
               "a warm start has a place per buffer");
  for (size_t id = 0; id < start.size(); ++id)
    if (start[id] && (std::ranges::count(problem.buffers[id].pools, start[id]->pool) == 0 ||
                      start[id]->offset < 0 || start[id]->offset > kMaxBytes))
      start[id].reset();
  return start;
}

Plan run_with_groups(const Planner& row, const Problem& problem, Search search) {
  const Merged merged = merge_groups(problem);
  WarmStart start(search.warm_start.empty() ? 0 : merged.problem.buffers.size());
  for (size_t id = 0; id < search.warm_start.size(); ++id)
    if (auto& place = start[merged.buffer_of[id]]; !place) place = search.warm_start[id];
  search.warm_start = possible(merged.problem, std::move(start));
  Plan plan = run(row, merged.problem, search);
  std::vector<Placement> placements;
  for (int id : merged.buffer_of) placements.push_back(plan.placements[id]);
  plan.placements = std::move(placements);
  return plan;
}

// Of a problem with one pool, which buffers it takes to say so.
std::string impossible(const Problem& problem, int64_t bound) {
  constexpr int64_t kWork = 100'000'000;  // a refusal is not to be waited for
  const Pool& pool = problem.pools[0];
  const auto why = certify(problem, 0, all_buffers(problem), *pool.capacity + 1, {kWork});
  return fmt::format("pool '{}' needs {} bytes at least, its capacity is {}: impossible{}", pool.name, bound,
                     *pool.capacity, why ? ": " + words(problem, *why) : "");
}

// Whether the plan's bound says that no other keeps to the capacity either. With several pools, another
// choice of them might.
bool is_impossible(const Problem& problem, const Plan& plan) {
  const auto& capacity = problem.pools[0].capacity;
  return problem.pools.size() == 1 && capacity && plan.pools[0].lower_bound > *capacity;
}

}  // namespace

std::optional<std::string> refusal(const Planner& row, const Problem& problem) {
  if (const std::string what = lacking(problem, row); !what.empty())
    return fmt::format("does not support {}", what);
  return too_large(row, problem);
}

Plan plan_at_best(const Problem& problem, std::string_view planner, Search search) {
  const Planner& row = find_planner(planner);
  check(problem);
  search.warm_start = possible(problem, std::move(search.warm_start));
  Plan plan = problem.same_offset.empty() ? run(row, problem, search) : run_with_groups(row, problem, search);
  if (!passed_capacities(problem, plan)) {
    const std::optional<std::string> fault = verify(problem, plan);
    ARENAC_CHECK(!fault, fmt::format("planner '{}': {}", planner, fault.value_or("")));
  }
  return plan;
}

std::optional<std::string> passed_capacities(const Problem& problem, const Plan& plan) {
  std::vector<std::string> too_small;
  for (size_t i = 0; i < problem.pools.size(); ++i) {
    const Pool& pool = problem.pools[i];
    const PoolUse& use = plan.pools.at(i);
    if (!pool.capacity || use.size <= *pool.capacity) continue;
    if (is_impossible(problem, plan))
      too_small.push_back(impossible(problem, use.lower_bound));
    else
      too_small.push_back(fmt::format(
          "pool '{}' needs {} bytes in the best plan found, its capacity is {}: not proven impossible "
          "(no plan with these buffers is below {})",
          pool.name, use.size, *pool.capacity, use.lower_bound));
  }
  if (too_small.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(too_small, "; "));
}

std::optional<std::string> why_impossible(const Problem& problem) {
  const auto capacity = [&](int pool) { return problem.pools[pool].capacity.value_or(INT64_MAX); };
  if (problem.pools.size() == 1) {
    if (!problem.pools[0].capacity) return {};
    const int64_t bound = least_makespan(problem);
    return bound > capacity(0) ? std::optional(impossible(problem, bound)) : std::nullopt;
  }
  for (const Buffer& buffer : problem.buffers)
    if (std::ranges::none_of(buffer.pools, [&](int pool) { return buffer.size <= capacity(pool); }))
      return fmt::format("buffer '{}' of {} bytes is larger than each of its pools: impossible", buffer.name,
                         buffer.size);
  int64_t room = 0;
  for (size_t k = 0; k < problem.pools.size(); ++k)
    if (__builtin_add_overflow(room, capacity(static_cast<int>(k)), &room)) return {};
  const Problem merged = merge_groups(problem).problem;
  const int64_t live = problem.overlaps.empty() ? load(merged, all_buffers(merged)) : 0;
  if (live > room)
    return fmt::format("{} bytes live at one time, the pools have {} in all: impossible", live, room);
  return {};
}

int64_t least_makespan(const Problem& problem) {
  const Problem merged = merge_groups(problem).problem;
  return lower_bound(merged, 0, all_buffers(merged));
}

Plan plan(const Problem& problem, std::string_view planner, const Search& search) {
  find_planner(planner);
  check(problem);
  if (const auto why = why_impossible(problem)) throw PassesCapacity(*why, Exit::kDoesNotFit, {});
  Plan plan = plan_at_best(problem, planner, search);
  const auto passed = passed_capacities(problem, plan);
  if (!passed) return plan;
  const Exit status = is_impossible(problem, plan) ? Exit::kDoesNotFit : Exit::kNotFound;
  throw PassesCapacity(*passed, status, std::move(plan));
}

}  // namespace arenac
