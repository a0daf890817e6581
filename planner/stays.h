// A plan with moves: each buffer lies in one stay after the other, in a fast pool and in a slow one.
//
//   pool 0, fast  |==write====|               |..copy==read|
//   pool 1, slow      |..copy====read==================|
//            time  0   1   2   3   4   5   6   7   8   9   10
//
// Buffer 0 is written at 0 and read at 3 and 9. At `.` a copy is under way: the bytes are taken, but do not
// hold the contents yet.
//
//   Stay{.buffer = 0, .pool = 0, .offset = 64, .begin = 0, .ready = 0, .end = 3}     the first: not copied
//   Stay{.buffer = 0, .pool = 1, .offset = 0, .begin = 1, .ready = 2, .end = 9}      copied in [1, 2)
//   Stay{.buffer = 0, .pool = 0, .offset = 0, .begin = 7, .ready = 9, .end = 10}     copied back in [7, 9)
//
// The first use of a buffer writes it, the others read it. A stay takes its bytes at the times [begin, end)
// and holds the contents from `ready` on; at every time of the life, one does. The first stay begins with the
// life and is ready at once. Each other is copied, at the times [begin, ready), which come after the write,
// from a stay in the other pool that holds the contents at all of them. Since nothing writes after that, a
// copy in the slow pool may be kept, and to leave the fast pool then costs nothing.
//
// A copy of s bytes that is under way for n steps moves ceil(s / n) at each; all that are under way at a step
// move no more than the bandwidth, in bytes per step. A use is of the fast pool if a stay there holds the
// contents at its time, else of the slow one, where it takes the buffer's whole size.
//
// (XLA's memory space assignment has such sequences of allocations, evictions and prefetches.)
#pragma once

#include <cstdint>
#include <vector>

#include "planner/problem.h"

namespace arenac {

struct Stay {
  int buffer = 0;
  int pool = 0;
  int64_t offset = 0;                     // bytes from the pool's base
  int64_t begin = 0, ready = 0, end = 0;  // times

  bool operator==(const Stay&) const = default;
};

inline constexpr int kFastPool = 0, kSlowPool = 1;

// What stays come to.
struct MoveTotals {
  int64_t copies = 0;
  int64_t slow_bytes = 0;   // of uses of the slow pool, each of the buffer's size
  int64_t moved_bytes = 0;  // of copies, either way

  bool operator==(const MoveTotals&) const = default;
};

struct MovesPlan {
  std::vector<Stay> stays;  // by buffer, then begin
  std::vector<int64_t> pool_sizes;
  MoveTotals totals;
  int64_t slow_bound = 0;  // no plan has fewer slow_bytes
};

// Of a buffer that does not say: the first and the last time of its life.
inline std::vector<int64_t> uses_of(const Buffer& b) {
  if (!b.uses.empty()) return b.uses;
  return b.end - b.begin == 1 ? std::vector{b.begin} : std::vector{b.begin, b.end - 1};
}

}  // namespace arenac
