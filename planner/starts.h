// What the portfolio begins with: orders in which buffers are packed, first fit, and rows that do as much.
//
//   for (const Start& start : kStarts) ...     the one first that is the best most often
#pragma once

#include <vector>

#include "planner/planners.h"

namespace arenac {

// One of the two.
struct Start {
  std::vector<int> (*order)(const Problem&) = nullptr;  // of all buffers
  Plan (*row)(const Problem&, const Search&) = nullptr;
};

// All buffers, those of one size by begin: first fit then takes no more places for them than live at a time,
// the left-edge algorithm of Hashimoto and Stevens (1971).
std::vector<int> largest_first(const Problem& problem);

extern const std::vector<Start> kStarts;
extern const std::vector<Start> kStartsOfMany;  // of many pairs of lives that meet: those that leave few gaps

}  // namespace arenac
