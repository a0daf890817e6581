// The buffers that a plan of one pool may put anywhere, as rectangles of slots and bytes.
//
//   FreeRectangles free(problem, timeline);
//   Plan p = free.stacked(fill_valleys(free.all(), timeline.slots));
//
// Gaps of lives count as used here; stacks make use of them.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/blocks.h"
#include "planner/problem.h"
#include "planner/timeline.h"

namespace arenac {

class FreeRectangles {
 public:
  // Of buffers that have bytes. Throws UserError where those at fixed offsets collide.
  FreeRectangles(const Problem& problem, const Timeline& timeline);

  const std::vector<Rectangle>& all() const { return rectangles_; }
  int64_t bound() const { return bound_; }  // bytes, that no plan goes below

  // Bytes times slots that they take, as a part of what lies below the bound. Above 1 where gaps or overlaps
  // let the bound lie below the load.
  double fullness() const;

  // Those at fixed offsets, then each of these onto what is below it, in the order of their offsets.
  Plan stacked(const std::vector<int64_t>& offsets) const;

 private:
  const Problem& problem_;
  const Timeline& timeline_;
  std::vector<int> fixed_, without_bytes_, ids_;  // the last of the rectangles
  std::vector<Rectangle> rectangles_;
  int64_t bound_ = 0;
};

}  // namespace arenac
