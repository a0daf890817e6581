// Boxes without waste: buffers that fill a rectangle of time and bytes together are planned as one.
//
//   +-----------+    +-----+-----+    +----+------+
//   |     b     |    |     |     |    |    |  c   |
//   +-----------+    |  a  |  b  |    | d  +---+--+
//   |     a     |    |     |     |    |    | e |b |
//   +-----------+    +-----+-----+    +----+---+  |
//                                     |   a    |  |
//                                     +--------+--+
//
// Lives that are equal are stacked; sizes that are equal, where one life ends and the other begins, lie side
// by side; and five make a pinwheel, either way round. Again and again, until nothing matches. Of a perfect
// packing one block is left: a proof by construction.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/timeline.h"

namespace arenac {

struct Rectangle {
  Span span;
  int64_t size = 0;  // bytes
};

// Per slot, the bytes of those that live at it.
std::vector<int64_t> loads(const std::vector<Rectangle>& rectangles, int slots);

struct Blocks {
  std::vector<Rectangle> all;     // the given ones, and those made of others that come before them
  std::vector<int> parent;        // the block that one is part of, else -1
  std::vector<int64_t> relative;  // bytes from the parent's offset

  bool is_part(int id) const { return parent[id] >= 0; }

  // One that is no part yet; its id.
  int add(const Rectangle& r) {
    all.push_back(r);
    parent.push_back(-1);
    relative.push_back(0);
    return int(all.size()) - 1;
  }
  void attach(int id, int of, int64_t bytes) {
    parent[id] = of;
    relative[id] = bytes;
  }
};

// Takes rectangles of at least one byte in times of `slots`. About O(n): at each slot only the first few are
// tried.
Blocks make_blocks(const std::vector<Rectangle>& rectangles, int slots);

}  // namespace arenac
