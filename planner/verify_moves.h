// The independent judge of plans with moves. Shares no code with what plans them and assumes nothing of its
// input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/stays.h"

namespace arenac {

// What --moves takes: two pools, and buffers without fixed offsets and groups, whose times and uses are not
// out of all bounds. Throws UserError naming the buffer and what to do, and as check() does. Gaps and
// overlaps are permissions, of which moves make no use.
inline constexpr int64_t kLatestMove = int64_t{1} << 60;  // time
inline constexpr int64_t kMostUsed = int64_t{1} << 50;    // bytes, of all uses
void check_for_moves(const Problem& problem, int64_t bandwidth);

// The first fault in words, or nothing if the plan is what stays.h says: the stays cover every life, each
// copy has a source and comes after the write, no step moves more than `bandwidth` bytes, stays lie in pools
// that their buffer allows, inside the capacity, aligned, and share no byte at a time; and sizes, totals and
// bound are what they come to. O(n log n) for n stays, and per buffer its stays times its stays and uses.
// Throws UserError as check_for_moves() does.
[[nodiscard]] std::optional<std::string> verify_moves(const Problem& problem, int64_t bandwidth,
                                                      const MovesPlan& plan);

// What verify_moves() judges, of stays from wherever: with the sizes and totals that they come to, as far as
// they can be said, and no bound.
MovesPlan claimed_moves(const Problem& problem, std::vector<Stay> stays);

}  // namespace arenac
