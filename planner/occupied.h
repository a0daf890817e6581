// Which bytes are taken during a stretch of time? A tree over the slots whose nodes keep ranges of bytes,
// joined where nothing can lie between them, so that a question costs what is left of structure, not what
// meets it.
//
//   node [0, 4)          cover: taken all the time         any: taken at some time, here or below
//     [0, 2)  [2, 4)     A life that is placed is in `cover` of the few nodes that make it up and in `any` of
//     0   1   2   3      those and the nodes above them; a question looks at `any` of the few that make up
//     its
//                        stretch, and at `cover` of the nodes above them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/packing.h"
#include "planner/timeline.h"

namespace arenac {

// Bytes [begin, end).
struct ByteRange {
  int64_t begin = 0, end = 0;
};

class Occupied {
 public:
  // Takes part of no question: offsets that are multiples of `grid`, of pieces with at least `least` bytes,
  // may not lie in gaps that are too small for them.
  Occupied(int slots, int64_t grid, int64_t least);

  void insert(Span slots, ByteRange bytes);

  // The offset, a multiple of `step`, at which these pieces lie free of all that was inserted: the fit among
  // the gaps between what they meet, or above. As pack() has it; the pieces are at least one.
  int64_t offset_for(std::span<const Piece> pieces, int64_t step, Fit fit);

  // Whether all of the pieces are free at this offset.
  bool is_free(std::span<const Piece> pieces, int64_t offset);

  int64_t work() const { return work_; }  // steps so far, about a nanosecond each

 private:
  using Ranges = std::vector<ByteRange>;  // sorted, apart

  // What one set forbids to one piece, looked at from below upwards.
  struct Cursor {
    const Ranges* ranges;
    int64_t low, high;  // of the piece, from the offset
    size_t next = 0;    // the first range that ends above it
  };

  void join(Ranges& ranges, ByteRange bytes);
  void gather(std::span<const Piece> pieces);
  int64_t first_free(int64_t offset, int64_t step);
  int64_t last_free(int64_t offset);

  int leaves_;  // a power of two
  int64_t grid_, least_;
  std::vector<Ranges> cover_, any_;  // per node of a heap
  std::vector<Cursor> cursors_;      // of the question at hand
  int64_t work_ = 0;
};

}  // namespace arenac
