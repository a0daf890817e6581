// Shared objects: memory that one buffer uses after the other, each object as large as the largest of them.
// GPU delegates ask for them, for a texture has no offsets; here the objects lie side by side:
//
//   offset ^  +-----------+ +------+     object 1: two buffers
//          |  +-----------+ |      |
//          |  +------+ +-------+ +--+    object 0: three buffers
//          +-------------------------> time
#pragma once

#include <utility>
#include <vector>

#include "planner/problem.h"

namespace arenac {

struct SharedObjects {
  std::vector<int> object_of;  // per buffer; -1 if it has no bytes
  std::vector<int64_t> sizes;  // bytes, per object; at least those of its buffers
};

// Objects on top of each other, the first at offset 0; the buffers lie at the first aligned offset of theirs.
// For problems with one pool.
Plan side_by_side(const Problem& problem, const SharedObjects& objects);

// Begin and end of the lives of the buffers that use one object, in order.
using Lives = std::vector<std::pair<int64_t, int64_t>>;
// Where the new one is.
Lives::iterator add_life(Lives& lives, const Buffer& buffer);

// Times between the buffer.s life and the nearest of the others, 0 if they follow each other at once; kMeets
// if it meets one of them.
inline constexpr uint64_t kMeets = ~uint64_t{0};
uint64_t distance(const Lives& lives, const Buffer& buffer);

}  // namespace arenac
