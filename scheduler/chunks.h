// Inside a group: a row that one stage writes and one other reads at the same columns need not be in memory
// whole. The two then run in turns, a few columns at a time.
//
//   dw   a a a . . . . . . b b b . . .        writes columns [3t, 3t + 3) of its row
//   pw   . . . a a a . . . . . . b b b        reads them: three columns are in memory
#pragma once

#include "scheduler/groups.h"

namespace arenac {

// Makes guests of the stages that write such rows of the rings, their reader being the host: its slab first
// pulls all that either reads. The rings become chunks of columns. True if there were any.
bool share_slabs(Group& group, std::vector<KeptRing>& rings, const std::vector<Step>& steps,
                 const std::vector<Layout>& layouts, const Graph& graph, const StepFacts& facts);

}  // namespace arenac
