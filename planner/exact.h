// Exact search in one pool, and over the choice of pools: plans that are proven smallest, or bounds that
// rise.
//
//   Exact e = search_exactly(problem, 0, members, plan.pools[0].size, plan.pools[0].lower_bound, {.work =
//   1e8}); if (!e.offsets.empty()) ...a smaller plan...;  e.lower_bound is proven
//
// What is searched: buffers without overlaps whose windows begin at 0 by strip_search.h, everything else, and
// whatever is left of a few buffers, by disjunctive.h. What is proven: a capacity at which either search ends
// without a plan is one that nobody can keep to, so the bound is the next height a plan can have. Heights are
// multiples of what all sizes, alignments and fixed offsets are multiples of, since a plan may be let sink
// until each buffer rests on the bottom, on another, or is fixed.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planner/problem.h"
#include "planner/strip_search.h"

namespace arenac {

class StripSchedule;
struct Disjunctive;

struct Exact {
  std::vector<int64_t> offsets;  // per member, of a plan smaller than `upper`; empty if none was found
  int64_t size = 0;              // bytes: of that plan, or `upper`
  int64_t lower_bound = 0;       // bytes, at most `size`
  int64_t work = 0;              // steps spent, about a nanosecond each
};

// Searches for plans of these buffers in this pool, again and again if wanted: what was learned stays, and a
// later call goes on where the last one stopped. Deterministic unless a cutoff ends it. Capacities of
// pools do not matter.
class ExactSearch {
 public:
  ExactSearch(const Problem& problem, int pool, const std::vector<int>& members);
  ~ExactSearch();

  // A plan smaller than `upper` bytes, the size of a known plan; `lower` bytes are a known bound. Stops when
  // both meet, at a plan of at most `goal` bytes, or when the effort is spent.
  Exact run(int64_t upper, int64_t lower, const Effort& effort, int64_t goal = 0);

 private:
  // At most one of the two; neither if the buffers are too many.
  std::unique_ptr<StripSchedule> strip_;
  std::unique_ptr<Disjunctive> disjunctive_;
};

// Once.
Exact search_exactly(const Problem& problem, int pool, const std::vector<int>& members, int64_t upper,
                     int64_t lower, const Effort& effort, int64_t goal = 0);

// The best plan over all choices of pools: the fewest bytes above capacities, then the least cost, then the
// fewest bytes away from their first choice (at least one for each buffer), then the smallest pools in total.
// For problems of about ten buffers; nothing if the effort was spent before the proof. Takes a checked
// problem without same-offset groups that has a plan.
std::optional<Plan> search_pools_exactly(const Problem& problem, const Effort& effort);

}  // namespace arenac
