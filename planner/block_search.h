// Valleys filled with blocks without waste (blocks.h), for problems that leave no room at any time. Which of
// several matches is taken first decides what is left, so that the order is drawn anew until one block is
// left of all.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/blocks.h"
#include "planner/cutoff.h"
#include "planner/packing.h"

namespace arenac {

struct BlockSearch {
  int draws = 1;  // at most
  uint64_t seed = 1;
  Cutoff cutoff = {};
};

// Offsets of rectangles, one at least, in times of `slots`: the lowest of all draws, which end when one comes
// to `goal` bytes.
std::vector<int64_t> search_blocks(const std::vector<Rectangle>& rectangles, int slots, int64_t goal,
                                   const BlockSearch& search);

// The same with blocks that waste (loose_blocks.h), for problems that leave little room. Empty where none of
// the draws comes below `known` bytes; that ends early where the first few do not.
std::vector<int64_t> search_loose_blocks(const std::vector<Rectangle>& rectangles, int slots, int64_t goal,
                                         int64_t known, const BlockSearch& search);

// Offsets of blocks, in the times of the rectangles.
using PlanBlocks = std::function<std::vector<int64_t>(const std::vector<Rectangle>& blocks)>;

// The same with blocks that are broken up and made anew (block_forest.h), where joins may lose what the load
// leaves below `goal`. What is left is planned like any problem. Ends when all are one block, when the work
// is spent, or when blocks get no fewer.
std::vector<int64_t> regroup_blocks(const std::vector<Rectangle>& rectangles, int slots, int64_t goal,
                                    uint64_t seed, const Effort& effort, const PlanBlocks& plan);

}  // namespace arenac
