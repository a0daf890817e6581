#include "planner/planners.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/error.h"
#include "planner/verify.h"

namespace arenac {

const std::vector<Planner> kPlanners = {
    {"portfolio", "the best of several orders, improved by local search until proven optimal", "own",
     portfolio},
    {"greedy_by_size", "largest buffer first, each into the tightest gap",
     "Pisarchyk and Lee 2020, greedy by size for offset calculation", greedy_by_size},
    {"greedy_by_breadth", "times of most live bytes first, their buffers by size into the tightest gap",
     "Pisarchyk and Lee 2020, greedy by breadth for offset calculation", greedy_by_breadth},
    {"greedy_in_order", "by begin of life, each into the tightest gap",
     "best fit as at run time, known in advance", greedy_in_order},
    {"best_fit", "lowest valley of the skyline first, filled with the longest life that fits into it",
     "Sekiyama et al. 2018, best-fit heuristic", best_fit},
};

namespace {

const Planner& find_planner(std::string_view name) {
  for (const Planner& row : kPlanners)
    if (row.name == name) return row;
  std::vector<std::string_view> names;
  for (const Planner& row : kPlanners) names.push_back(row.name);
  throw UserError(fmt::format("unknown planner '{}'; known: {}", name, fmt::join(names, ", ")), Exit::kUsage);
}

}  // namespace

Plan plan(const Problem& problem, std::string_view planner) {
  const Planner& row = find_planner(planner);
  check(problem);
  Plan plan = row.run(problem);
  for (size_t i = 0; i < problem.pools.size(); ++i) {
    const Pool& pool = problem.pools[i];
    if (pool.capacity && plan.pools.at(i).size > *pool.capacity)
      throw UserError(fmt::format("pool '{}' needs {} bytes (no plan below {}), its capacity is {}",
                                  pool.name, plan.pools[i].size, plan.pools[i].lower_bound, *pool.capacity),
                      Exit::kDoesNotFit);
  }
  std::optional<std::string> fault = verify(problem, plan);
  ARENAC_CHECK(!fault, fmt::format("planner '{}': {}", planner, fault.value_or("")));
  return plan;
}

}  // namespace arenac
