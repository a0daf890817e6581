// Blocks without waste (blocks.h) that can be broken up again.
//
//   +-----+---+---+             +-----+---+---+
//   |  a  | b |   |  break up,  |  a  | b |   |
//   +-----+---+ d |  -------->  +-----+---+---+
//   |    c    |   |     join    |    c    | d |
//   +---------+---+             +---------+---+
//
// Where blocks stop matching, a wrong one is often in the way: parts of a few and what is near them in time
// are joined anew, in another order, and that is kept if hardly more blocks are left than before.
//
// (Large neighbourhood search, Shaw 1998; of what coincides in a perfect packing there is so much that many
// packings of the same rectangles are perfect, and steps as small as these find one.) Holes, which stand for
// what the load leaves below a capacity, take part, and may be cut anywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/blocks.h"
#include "planner/random.h"

namespace arenac {

class BlockForest {
 public:
  // Of rectangles of at least one byte in times of `slots`; the first `real` ones are no holes.
  BlockForest(const std::vector<Rectangle>& rectangles, int real, int slots, uint64_t seed);

  // Breaks up and joins once; false where that was undone.
  bool change();

  int count() const { return count_; }    // of blocks that are no holes
  int64_t work() const { return work_; }  // steps so far, about a nanosecond each

  // The blocks with something real in them, and per real rectangle which of them it is in, how many bytes
  // above its floor.
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
  struct Child {
    int node;
    int64_t relative;
  };
  struct Node {
    Rectangle rectangle;
    bool is_real = true;
    std::vector<Child> children = {};
  };
  // What becomes of some roots.
  struct Change {
    std::vector<int> before, after;  // roots
    std::vector<int> made, gone;     // nodes that are in use only if the change is kept, or undone
  };

  int add(Node node);
  void drop(const std::vector<int>& nodes);
  int count_real(const std::vector<int>& nodes) const;
  void plant(const std::vector<int>& roots);
  void uproot(const std::vector<int>& roots);
  std::vector<int> nearby();
  size_t nearer(const std::vector<int>& nodes);
  std::vector<int> parts_of(int node, const std::vector<int>& pieces, Change& change);
  std::vector<int> halves(int hole, const Rectangle& other);
  void break_up(std::vector<int>& pieces, Change& change);
  void merge(std::vector<int> pieces, Change& change);
  Node made_of(std::vector<Child> children, int64_t size) const;

  const int real_;
  Random random_;
  std::vector<Node> nodes_;                      // the given ones first
  std::vector<int> free_;                        // that are not in use
  std::vector<std::vector<int>> begins_, ends_;  // per slot, the roots
  std::vector<char> is_near_;                    // per node
  int centre_ = 0;                               // the slot around which the roots of the change lie
  int count_ = 0;
  int64_t work_ = 0;
};

}  // namespace arenac
