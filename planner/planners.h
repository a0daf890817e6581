// The planners: each row of kPlanners turns a problem into a plan, and plan() runs one and judges its work.
//
//   Plan p = plan(problem, "portfolio");
//   p.placements[3].offset, p.pools[0].size, p.pools[0].proof()
//
// A row says what it supports and is refused what it does not. A new planner is one file and one row.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/error.h"
#include "planner/cutoff.h"
#include "planner/problem.h"

namespace arenac {

enum class Goal {
  kSmallest,  // the smallest makespan
  kFits,      // any plan within the capacities; of problems with costs, any of the least cost that is found
};

enum class Stop {
  kHardlyWorth,  // when more work seems hardly worth it, or at the deadline if that is sooner
  kAtDeadline,   // not before, unless the plan is proven optimal or fits; kHardlyWorth if there is none
};

struct PlanProgress {
  int64_t makespan = 0, lower_bound = 0;  // bytes, of the best plan so far, all pools together
  std::string_view stage;                 // what found it
};

// How hard to search; heuristics that do not search ignore it. With the same seed and effort the plan is the
// same on every machine, unless `seconds` or `is_cancelled` cut the search short.
struct Search {
  Goal goal = Goal::kSmallest;
  Stop stop = Stop::kHardlyWorth;
  double effort = 1;                                         // times the work that seems worth it
  double seconds = std::numeric_limits<double>::infinity();  // wall clock
  uint64_t seed = 1;
  int threads = 1;  // the plan is the same for any number
  // The search begins there, and ends after a tenth of the work if its plan is then as near to the lower
  // bound as these places are to that of the buffers in them, give or take 0.2 %.
  WarmStart warm_start = {};
  std::function<void(const PlanProgress&)> report = {};  // called when a better plan or bound is found
  // Asked often. True, and from then on always: the search ends with the best plan so far.
  std::function<bool()> is_cancelled = {};

  // From now on; of this search, which outlives it.
  Cutoff cutoff() const { return {seconds, &is_cancelled}; }
};

// What a problem may ask for beyond sizes and lives. Without costs, several pools are filled by falling back
// to a buffer's next choice where a pool's capacity would be passed; with costs the least is sought, then
// sizes.
enum Feature : unsigned {
  kAlignment = 1,  // of buffers and pools
  kGaps = 2,
  kFixedOffsets = 4,
  kPools = 8,
  kOverlaps = 16,
  kAllButCosts = 31,
  kCosts = 32,  // of pools
  kEveryFeature = 63,
};

// How the cost of a row grows with the buffers.
enum class Growth {
  kNearLinear,  // by what is left of structure, O(n log n) as a rule; with overlaps by pairs
  kPairs,       // by pairs of buffers whose lives meet
  kSearch,      // by effort
};

// What no plan of a checked problem with one pool can beat, in bytes.
int64_t least_makespan(const Problem& problem);

struct Planner {
  std::string_view name;
  std::string_view description;  // one line
  std::string_view source;       // paper, or "own"
  unsigned supports;             // Features
  // Takes a checked problem without same-offset groups; may pass the capacity of a buffer's last choice of
  // pools.
  Plan (*run)(const Problem&, const Search&);
  Growth growth;
  // The row refuses more pairs of buffers whose lives meet (one that is near-linear only if there are
  // overlaps), or more buffers: they would take minutes.
  double most_pairs = std::numeric_limits<double>::infinity();
  size_t most_buffers = std::numeric_limits<size_t>::max();
};

extern const std::vector<Planner> kPlanners;

// Why the row does not take the problem: a feature that it lacks, or too many buffers or pairs; nothing if it
// does.
std::optional<std::string> refusal(const Planner& row, const Problem& problem);
inline constexpr std::string_view kDefaultPlanner = "portfolio";

// No plan keeps to the capacities (Exit::kDoesNotFit), or none was found that does (Exit::kNotFound).
struct PassesCapacity : UserError {
  PassesCapacity(const std::string& message, Exit status, Plan best)
      : UserError(message, status), best(std::move(best)) {}
  Plan best;  // of those found; empty where none was looked for
};

// Why no plan of a checked problem keeps to the capacities, as far as bounds tell.
std::optional<std::string> why_impossible(const Problem& problem);

// Runs the row of that name; the plan is verified. Throws UserError for an unknown name (listing the known
// ones), a problem that makes no sense (see check()), asks for a feature that the row lacks or has more pairs
// than it takes; PassesCapacity for a plan that passes a pool's capacity, at once where a bound says that
// every one does.
Plan plan(const Problem& problem, std::string_view planner = kDefaultPlanner, const Search& search = {});

// The same, also where the plan passes a capacity; and which it passes, if any, and what is known of that.
Plan plan_at_best(const Problem& problem, std::string_view planner = kDefaultPlanner, Search search = {});
std::optional<std::string> passed_capacities(const Problem& problem, const Plan& plan);

}  // namespace arenac
