// A plan in the making: buffers are placed one after the other, each where it fits among those already there.
//
// Each placed buffer whose life meets forbids the next one a single range of offsets, which an overlap
// makes smaller:
//
//        offset ^   +-------+                       forbidden starts of a buffer of size s:
//               |   |placed |                         (offset(placed) - s, offset(placed) + size(placed))
//               |   +-------+  +-----+              and the free gaps between the forbidden ranges are what
//               |              | s?  |              the rules below choose from
//               +--------------+-----+--> time
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "planner/cutoff.h"
#include "planner/problem.h"
#include "planner/timeline.h"

namespace arenac {

// Where among the free gaps.
enum class Fit {
  kLowest,    // the lowest offset
  kTightest,  // the gap that leaves the fewest bytes unused; above everything only if no gap will do
  kWidest,    // the gap that leaves the most bytes unused; above everything only if no gap will do
  kOnTop,     // above everything that is placed and meets it
};

// Offsets [begin, end) at which a buffer must not start.
struct ForbiddenStarts {
  int64_t begin = 0, end = 0;
};

// What a piece of a buffer that lies at `offset` forbids another buffer, given that this piece of the other
// meets it; an empty range if nothing. `overlaps` are those between the two, in either direction.
ForbiddenStarts forbidden_starts(int placed, const Piece& placed_piece, int64_t offset, int other,
                                 const Piece& other_piece, const std::vector<Overlap>& overlaps);

// How much may be done in all, counted in steps of about a nanosecond; and until when.
struct Effort {
  int64_t work = 0;
  Cutoff cutoff = {};
};

// Overlaps per buffer, each listed with both.
std::vector<std::vector<Overlap>> overlaps_by_buffer(const Problem& problem);

// The greatest multiple of `step` that is at most n, and the least that is at least n, for n from 0 on. Most
// alignments are powers of two, and a division costs more than the rest of a placement.
inline int64_t round_down(int64_t n, int64_t step) {
  return (step & (step - 1)) == 0 ? n & -step : n / step * step;
}
inline int64_t round_up(int64_t n, int64_t step) { return round_down(n + step - 1, step); }

// The multiple that the offset of the buffer must be of, in this pool.
int64_t alignment_in(const Problem& problem, int id, int pool);

// Places the buffers in this order, those at fixed offsets before all others. Each goes to the first pool of
// its choice whose capacity it keeps to; where none is left it goes beyond the capacity of the last. Throws
// UserError if a fixed offset is misaligned, or two fixed buffers collide. O(n log n) and, per buffer, the
// gaps that are left during its life; of a buffer with overlaps, all that it meets.
std::vector<Placement> pack(const Problem& problem, const std::vector<int>& order, Fit fit);

// The same, unless the effort is spent before: no placements then. With `kept`, places in
// pools that the buffers may lie in, each first takes its own if it is free by then; then the others are
// placed.
struct Packed {
  std::optional<std::vector<Placement>> placements;
  int64_t work = 0;  // steps, about a nanosecond each
};
Packed pack_within(const Problem& problem, const std::vector<int>& order, Fit fit, const Effort& effort,
                   const WarmStart& kept = {});

}  // namespace arenac
