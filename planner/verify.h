// The independent judge of problems and plans. Shares no code with the planners and assumes nothing of its
// input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/problem.h"

namespace arenac {

// Throws UserError unless the problem makes sense by itself: sizes, alignments and indices in range, lives
// not empty, and all sizes with their alignments small enough (kMaxBytes in total) that planners may add them
// without care; a cost per pool or none, from 0 up to kMaxCost if each buffer lies where it costs most.
void check(const Problem& problem);
inline constexpr int64_t kMaxBytes = int64_t{1} << 60;
inline constexpr int64_t kMaxCost = int64_t{1} << 50;

// The first fault of the plan in words, or nothing if the plan is right: every buffer in a pool of its
// choice, inside the capacity, aligned, at its fixed offset; no two buffers of one pool whose lives meet
// share a byte, unless an overlap or their group allows it; groups lie at one offset; each pool's size is the
// end of its topmost buffer and at least its lower bound; the cost is that of these pools and at least its
// bound. O(n log n) for n buffers that share with nobody;
// each of the others costs O(those of its kind that live). Throws UserError as check() does.
[[nodiscard]] std::optional<std::string> verify(const Problem& problem, const Plan& plan);

// What verify() judges, of placements from wherever, one per buffer: with the sizes that the pools then have,
// and what they then cost, as far as that can be said.
Plan claimed_plan(const Problem& problem, std::vector<Placement> placements);

}  // namespace arenac
