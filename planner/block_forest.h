// Blocks (blocks.h) that can be broken up again.
//
//   +-----+---+---+             +-----+---+---+
//   |  a  | b |   |  break up,  |  a  | b |   |
//   +-----+---+ d |  -------->  +-----+---+---+
//   |    c    |   |     join    |    c    | d |
//   +---------+---+             +---------+---+
//
// Where blocks stop matching, a wrong one is often in the way: parts of a few and what is near them in time
// are joined anew, in another order, and that is kept if hardly more blocks are left than before. Where the
// load leaves room below a capacity, joins may lose it (block_joins.h).
//
// (Large neighbourhood search, Shaw 1998; of what coincides in a perfect packing there is so much that many
// packings of the same rectangles are perfect, and steps as small as these find one.)
#pragma once

#include <cstdint>
#include <vector>

#include "planner/block_joins.h"
#include "planner/blocks.h"
#include "planner/random.h"

namespace arenac {

class BlockForest {
 public:
  // Of rectangles of at least one byte in times of `slots`, whose sums are at most `capacity` bytes.
  BlockForest(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity, uint64_t seed);

  // Breaks up and joins once; false where that was undone.
  bool change();

  int count() const { return count_; }    // of blocks
  int64_t work() const { return work_; }  // steps so far, about a nanosecond each

  // The blocks, and per rectangle which of them it is in, how many bytes above its floor.
  struct Place {
    int block = 0;
    int64_t relative = 0;
  };
  struct Layout {
    std::vector<Rectangle> blocks;
    std::vector<Place> places;
  };
  Layout layout() const;

 private:
  void plant(const std::vector<int>& roots);
  void uproot(const std::vector<int>& roots);
  std::vector<int> nearby();
  size_t nearer(const std::vector<int>& blocks);
  std::vector<int> break_up(std::vector<int>& pieces);
  double most_lost();
  double allowed();

  const int rectangles_;
  Random random_;
  BlockJoiner joiner_;
  std::vector<std::vector<int>> begins_, ends_;  // per slot, the roots
  std::vector<char> is_near_;                    // per block
  int centre_ = 0;                               // the slot around which the roots of the change lie
  int count_ = 0;
  int64_t work_ = 0;
};

}  // namespace arenac
