// Local search over orders, that makes room.
//
//   capacity ------------------------     All that is placed lies between where it comes to when everything
//        |          +---+  ^        |     sinks, as here, and when everything rises to the capacity, in the
//        |   x?     | b |  |        |     same order. So x asks for no free place: at the height drawn b can
//        |          +---+  |        |     rise to be above it and a is below it; only what is across that
//        | +-----------+   b rises  |     height at its lowest and its highest offset alike is thrown out,
//        | |     a     |   to here  |     and waits instead of x.
//   0 -------------------------------
//
// What slack there is above and below is one, however many gaps it is in, which counts where the load is
// nearly the capacity all the time.
//
// After Nagata and Ono, "A guided local search with iterative ejections of bottleneck operations for the job
// shop scheduling problem" (2018): lowest and highest offsets are its heads and tails, slots its machines, of
// which a buffer needs all those of its life at once. Whoever waits gets dearer, as in local_search.h.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/local_search.h"
#include "planner/problem.h"

namespace arenac {

// Whether reorder() takes these members of a pool: none at a fixed offset, no overlap between two, and few
// enough for a step to be short.
bool can_reorder(const Problem& problem, const std::vector<int>& members);

// As make_room(), for members that can be reordered. Gaps of lives count as used.
Improved reorder(const Problem& problem, int pool, const std::vector<int>& members,
                 std::vector<int64_t> offsets, const LocalSearch& search);

}  // namespace arenac
