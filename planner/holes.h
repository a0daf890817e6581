// What a perfect packing lacks, told by its load:
//
//   capacity +------+------+------+      At t the load falls by 4 and at u it rises by as much: whatever
//            |      | hole |      |      went lived from t to u and was 4 bytes large. Where it lay does not
//   load     +------+      +------+      matter, since a stand-in takes part like all the others.
//            |      +------+      |
//            +------t------u------+
#pragma once

#include <cstdint>
#include <vector>

#include "planner/blocks.h"

namespace arenac {

// Rectangles that fill what the load leaves below a capacity, in bytes. A rise and a fall by the same bytes
// are one's begin and end, three changes that cancel out are two in a row. Those below `least` bytes are left
// out.
std::vector<Rectangle> holes(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity,
                             int64_t least);

}  // namespace arenac
