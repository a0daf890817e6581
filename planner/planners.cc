#include "planner/planners.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/error.h"
#include "frontend/nearest.h"
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
     kEveryFeature, portfolio},
    {"tflite_by_size", "largest first, each into the tightest gap",
     "Pisarchyk and Lee 2020, greedy by size for offset calculation; TensorFlow Lite", kEveryFeature,
     tflite_by_size, kManyPairs},
    {"tflite_by_breadth", "times of most live bytes first, their buffers by size into the tightest gap",
     "Pisarchyk and Lee 2020, greedy by breadth for offset calculation", kEveryFeature, tflite_by_breadth,
     kManyPairs},
    {"tflite_micro", "largest first, each at the lowest offset",
     "TensorFlow Lite Micro, greedy memory planner", kEveryFeature, tflite_micro, kManyPairs},
    {"tflite_objects_in_order", "by begin of life, each the free shared object of the nearest size",
     "Lee et al. 2019, greedy; TensorFlow Lite GPU delegate", kWholeBuffers, tflite_objects_in_order},
    {"tflite_objects_equality", "by begin of life, each a free shared object of the same size",
     "TensorFlow Lite GPU delegate, equality", kWholeBuffers, tflite_objects_equality},
    {"tflite_objects_by_breadth", "times of most live bytes first, their buffers by size into shared objects",
     "Pisarchyk and Lee 2020, greedy by breadth for shared objects", kWholeBuffers, tflite_objects_by_breadth,
     kManyPairs},
    {"tflite_objects_by_size_distance", "by size class, each the shared object with the shortest idle time",
     "Pisarchyk and Lee 2020, greedy by size improved for shared objects", kWholeBuffers,
     tflite_objects_by_size_distance, kManyPairs, 50'000},
    {"tflite_objects_min_cost_flow",
     "shared objects by the cheapest chain of successors; small problems only",
     "Lee et al. 2019, minimum-cost flow; TensorFlow Lite GPU delegate", kWholeBuffers,
     tflite_objects_min_cost_flow},
    {"executorch_greedy", "largest first, stacked inside objects as large as their first buffer",
     "ExecuTorch, greedy", kWholeBuffers, executorch_greedy, kManyPairs},
    {"executorch_in_order", "by begin of life, each the free shared object of the nearest size, oldest first",
     "ExecuTorch, greedy of 2023", kWholeBuffers, executorch_in_order},
    {"glow_bidirectional", "by begin of life, long lives from the front and short ones from the back",
     "Esperanto's runtime for Glow, BidirectionalAllocator", kWholeBuffers, glow_bidirectional, kManyPairs},
    {"glow_pool", "by begin of life, each a free block of its size rounded up to a power of two",
     "pool allocators of Glow and Esperanto's runtime", kWholeBuffers, glow_pool},
    {"tvm_by_size", "largest first, each on top of all that it meets", "TVM USMP, greedy by size",
     kEveryFeature, tvm_by_size, kManyPairs},
    {"tvm_by_conflicts", "most conflicts first, each on top of all that it meets",
     "TVM USMP, greedy by conflicts", kEveryFeature, tvm_by_conflicts, kManyPairs},
    {"tvm_hill_climb",
     "largest first at the lowest offset, then exchanges of turns around the topmost buffer",
     "TVM USMP, hill climb", kEveryFeature, tvm_hill_climb, kManyPairs},
    {"xla_by_size", "largest, then longest life first, each into the tightest gap",
     "XLA heap simulator, spatial best fit", kEveryFeature, xla_by_size, kManyPairs},
    {"xla_by_lifetime", "longest life, then largest first, each into the tightest gap",
     "XLA heap simulator, temporal best fit", kEveryFeature, xla_by_lifetime, kManyPairs},
    {"xla_best_of_both", "the better of xla_by_size and xla_by_lifetime", "XLA buffer assignment",
     kEveryFeature, xla_best_of_both, kManyPairs},
    {"xla_repacker", "xla_by_size, repacked by life if that is smaller", "XLA memory space assignment",
     kEveryFeature, xla_repacker, kManyPairs},
    {"sekiyama", "lowest valley of the skyline first, filled with the longest life that fits into it",
     "Sekiyama et al. 2018, best-fit heuristic; Pisarchyk and Lee 2020, strip packing", kEveryFeature,
     sekiyama, kManyPairs, 500'000},
    {"minimalloc", "tree search by offset with bounds per section, for a capacity that is lowered",
     "Moffitt and Fernando 2023, MiniMalloc", kWholeBuffers, minimalloc, kManyPairs},
    {"idealloc",
     "boxes of equal height in rows by interval colouring, unboxed and tightened, the best of several",
     "Buchsbaum et al. 2003; Lamprakos et al. 2025, idealloc", kEveryFeature, idealloc, kManyPairs},
    {"telamalloc",
     "search by phases of contention, backtracking to conflicts, for a capacity that is lowered",
     "Maas et al. 2022, TelaMalloc", kWholeBuffers, telamalloc, kManyPairs},
    {"somas", "largest first, best and first fit, with and without shelves, the best of four",
     "MindSpore SOMAS", kWholeBuffers, somas, kManyPairs / 5},
    {"triton_colouring", "starts that may collide, mended in rounds of graph colouring",
     "Triton, shared memory allocation; Gergov 1999", kWholeBuffers, triton_colouring, kManyPairs, 100'000},
    {"merge_alloc_size_first", "by begin of life into a row of chunks that extend and merge, by size",
     "oneDNN Graph Compiler and MLIR merge-alloc, tick planner", kWholeBuffers, merge_alloc_size_first},
    {"merge_alloc_hot_chunks",
     "by begin of life into a row of chunks that extend and merge, by size and heat",
     "oneDNN Graph Compiler and MLIR merge-alloc, tick planner", kWholeBuffers, merge_alloc_hot_chunks},
    {"iree", "by begin of life, each into the tightest gap: online best fit", "IREE, LayoutSlices",
     kEveryFeature, iree, kManyPairs},
    {"glow_linear", "by begin of life, each at the lowest offset: online first fit", "Glow, MemoryAllocator",
     kEveryFeature, glow_linear, kManyPairs},
    {"online_worst_fit", "by begin of life, each into the widest gap", "folklore", kEveryFeature,
     online_worst_fit, kManyPairs},
    {"by_area_first_fit", "greatest bytes times life first, each at the lowest offset", "folklore",
     kEveryFeature, by_area_first_fit, kManyPairs},
    {"by_area_best_fit", "greatest bytes times life first, each into the tightest gap", "folklore",
     kEveryFeature, by_area_best_fit, kManyPairs},
    {"by_duration_first_fit", "longest life, then largest first, each at the lowest offset", "folklore",
     kEveryFeature, by_duration_first_fit, kManyPairs},
    {"by_size_first_fit", "largest, then longest life first, each at the lowest offset", "folklore",
     kEveryFeature, by_size_first_fit, kManyPairs},
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
  return "";
}

void refuse_if_large(const Planner& row, const Problem& problem) {
  const auto refuse = [&](const char* what, double most, double there) {
    throw UserError(
        fmt::format("planner '{}' takes up to {} {}, the problem has {}, which would take minutes; "
                    "'{}' takes any number",
                    row.name, most, what, there, kDefaultPlanner));
  };
  const size_t buffers = problem.buffers.size();
  if (buffers > row.most_buffers) refuse("buffers", double(row.most_buffers), double(buffers));
  if (double(buffers) * double(buffers) / 2 <= row.most_pairs) return;
  const double pairs = meetings(make_timeline(problem, all_buffers(problem)));
  if (pairs > row.most_pairs) refuse("pairs of buffers that live at the same time", row.most_pairs, pairs);
}

Plan run(const Planner& row, const Problem& problem, const Search& search) {
  if (const std::string what = lacking(problem, row); !what.empty())
    throw UserError(
        fmt::format("planner '{}' does not support {}; '{}' does", row.name, what, kDefaultPlanner));
  refuse_if_large(row, problem);
  return row.run(problem, search);
}

Plan run_with_groups(const Planner& row, const Problem& problem, const Search& search) {
  const Merged merged = merge_groups(problem);
  Plan plan = run(row, merged.problem, search);
  std::vector<Placement> placements;
  for (int id : merged.buffer_of) placements.push_back(plan.placements[id]);
  plan.placements = std::move(placements);
  return plan;
}

}  // namespace

Plan plan_at_best(const Problem& problem, std::string_view planner, const Search& search) {
  const Planner& row = find_planner(planner);
  check(problem);
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
    if (pool.capacity && plan.pools.at(i).size > *pool.capacity)
      too_small.push_back(fmt::format("pool '{}' needs {} bytes (no plan below {}), its capacity is {}",
                                      pool.name, plan.pools[i].size, plan.pools[i].lower_bound,
                                      *pool.capacity));
  }
  if (too_small.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(too_small, "; "));
}

Plan plan(const Problem& problem, std::string_view planner, const Search& search) {
  Plan plan = plan_at_best(problem, planner, search);
  if (const auto passed = passed_capacities(problem, plan)) throw UserError(*passed, Exit::kDoesNotFit);
  return plan;
}

}  // namespace arenac
