// Plans with moves: what is in the fast pool when, what is copied when, and at which offsets.
//
//   Problem p{.pools = {{"fast", 64 << 10}, {"slow"}}, .buffers = {...}};     uses in the buffers, or not
//   MovesPlan plan = plan_moves(p, 4096);                                     bytes per step
//   plan.totals.slow_bytes, plan.slow_bound, plan.stays[3]
//
// stays.h says what such a plan is. The aim is the fewest bytes used from the slow pool, then the fewest
// moved:
//
//   move_slots    time as slots; the best sequence of stays of one buffer by dynamic programming
//   move_bound    prices of the fast pool and of copies, and a bound, by Lagrangian relaxation
//   move_search   sequences of all buffers within capacity and bandwidth
//   here          offsets, by any planner; what then lies above the capacity leaves the fast pool. No plan is
//                 worse than the one found in which each buffer lies in one pool.
#pragma once

#include <string_view>

#include "planner/planners.h"
#include "planner/stays.h"

namespace arenac {

// The plan is verified. `planner`, a row of kPlanners, finds the offsets; of the search, seconds, effort,
// seed and is_cancelled count. Throws UserError as check_for_moves() does (verify_moves.h); PassesCapacity
// where the capacities can hold no plan (Exit::kDoesNotFit) or none was found that they hold
// (Exit::kNotFound).
MovesPlan plan_moves(const Problem& problem, int64_t bandwidth, std::string_view planner = kDefaultPlanner,
                     const Search& search = {});

}  // namespace arenac
