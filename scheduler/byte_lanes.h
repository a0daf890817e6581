// How many lanes a block of sums of products of bytes has, where vectors add kBytes products in each lane
// (ByteProducts::kAlongSumOfLanes and of signed ones).
//
//   24 sums, vectors of 16 lanes   [ 16 | 8 ]   2 vectors and a pixel's bytes put into all lanes: 3
//   operations
//                                  [8] [8] [8]  6
//
// Columns that fill no vector are computed as more, where the weights have zeros there (weight_blocks.h).
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// Vectors of a block: of the widest, and of what remains of its halves and quarters.
int byte_vectors(int lanes, const Target& target);

// The lanes of the blocks of so many sums, of whose weights there are `room` columns: those that take the
// fewest operations a pixel.
int byte_lanes_for(int64_t extent, int64_t room, const Target& target);

// Columns that weights of so many, fewer than fill a block, should have.
int64_t byte_room_for(int64_t columns, const Target& target);

}  // namespace arenac
