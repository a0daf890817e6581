// The planners: each row of kPlanners turns a problem into a plan, and plan() runs one and judges its work.
//
//   Plan p = plan(problem, "portfolio");
//   p.placements[3].offset, p.pools[0].size, p.pools[0].proof()
//
// All rows honour alignment, fixed offsets, overlaps and several pools, the latter by falling back to a
// buffer's next choice where a pool's capacity would be passed. A new planner is one file and one row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/problem.h"

namespace arenac {

struct Planner {
  std::string_view name;
  std::string_view description;  // one line
  std::string_view source;       // paper, or "own"
  Plan (*run)(
      const Problem&);  // takes a checked problem; may pass the capacity of a buffer's last choice of pools
};

extern const std::vector<Planner> kPlanners;
inline constexpr std::string_view kDefaultPlanner = "portfolio";

// Runs the row of that name; the plan is verified. Deterministic. Throws UserError for an unknown name
// (listing the known ones), a problem that makes no sense (see check()), and, with Exit::kDoesNotFit, a plan
// that passes a pool's capacity.
Plan plan(const Problem& problem, std::string_view planner = kDefaultPlanner);

// The rows.
Plan greedy_by_size(const Problem& problem);
Plan greedy_by_breadth(const Problem& problem);
Plan greedy_in_order(const Problem& problem);
Plan best_fit(const Problem& problem);
Plan portfolio(const Problem& problem);

}  // namespace arenac
