// The planning problem and its answer: where in which pool does each buffer lie? Knows nothing of graphs.
//
//      offset                           buffers live in half-open logical times [begin, end) and
//        ^                              cover half-open byte ranges [offset, offset + size):
//     12 |    +---------+
//        |    |    c    |                 a: size 8, live [0, 2)
//      8 +----+----+----+                 b: size 4, live [2, 5)
//        |    a    |                      c: size 4, live [1, 3)
//      4 |         +--------------+
//        |         |      b       |     Time 1 needs 12 bytes, and 12 is what
//      0 +---------+--------------+-->  this plan takes: it is optimal.
//        0    1    2    3    4    5  time
//
//   Problem p{.pools = {{"arena"}},
//             .buffers = {{"a", 8, 1, 0, 2}, {"b", 4, 1, 2, 5}, {"c", 4, 1, 1, 3}}};
//
// A buffer's id is its index in `buffers`, a pool's its index in `pools`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arenac {

// A contiguous piece of memory.
struct Pool {
  std::string name;
  std::optional<int64_t> capacity = {};  // bytes
  int64_t align = 1;  // bytes; every offset in the pool is a multiple, and so must be its base address

  bool operator==(const Pool&) const = default;
};

// Times [begin, end) of a buffer's life at which it uses only its bytes [low, high), none if low == high:
// others may lie in the rest meanwhile. A window is measured from the buffer's own offset.
struct Gap {
  int64_t begin = 0, end = 1;
  int64_t low = 0, high = 0;  // bytes

  bool operator==(const Gap&) const = default;
};

// A block of memory that is in use at the logical times [begin, end).
struct Buffer {
  std::string name;
  int64_t size = 0;              // bytes; 0 is allowed and shares no byte with anybody
  int64_t align = 1;             // bytes; the offset is a multiple of it, not necessarily a power of two
  int64_t begin = 0, end = 1;    // begin < end
  std::vector<int> pools = {0};  // may lie in these, the preferred first
  std::optional<int64_t> fixed_offset = {};  // the plan must use it
  std::vector<Gap> gaps = {};                // within the life, by time, not overlapping
  std::vector<int64_t> uses = {};   // times of the life, ascending; only plans with moves ask (stays.h)
  std::vector<int64_t> costs = {};  // from 0, of lying in each of `pools`; none: it costs nothing anywhere

  bool operator==(const Buffer&) const = default;
};

// Lets two buffers share bytes although their lives meet, whenever offset(above) - offset(below) >= distance.
// Example: an operator that reads `above` upwards and writes `below` upwards, each output byte at most
// `distance` bytes ahead of the input bytes that are still to be read; 0: in place. A negative distance is
// the mirrored case, descending kernels.
struct Overlap {
  int above = 0, below = 0;
  int64_t distance = 0;  // bytes

  bool operator==(const Overlap&) const = default;
};

struct Problem {
  std::vector<Pool> pools;
  std::vector<Buffer> buffers;
  std::vector<Overlap> overlaps = {};
  // Groups of two and more buffers that lie at one offset of one pool, and may share bytes with each other.
  // The first of a group says which of the pools that all of them allow is preferred.
  std::vector<std::vector<int>> same_offset = {};

  bool operator==(const Problem&) const = default;
};

struct Placement {
  int pool = 0;
  int64_t offset = 0;  // bytes from the pool's base
};

// What it costs that the buffer lies in this pool; nothing if it is none of its own.
inline int64_t cost_in(const Buffer& b, int pool) {
  for (size_t k = 0; k < b.costs.size(); ++k)
    if (b.pools[k] == pool) return b.costs[k];
  return 0;
}

// What it costs that the buffers lie in these pools.
inline int64_t total_cost(const Problem& problem, const std::vector<Placement>& placements) {
  int64_t cost = 0;
  for (size_t id = 0; id < placements.size(); ++id) cost += cost_in(problem.buffers[id], placements[id].pool);
  return cost;
}

inline bool has_costs(const Problem& problem) {
  return std::ranges::any_of(problem.buffers, [](const Buffer& b) { return !b.costs.empty(); });
}

enum class Proof { kGap, kOptimal };

// Per buffer, its place in a plan of a problem like this one, if it was in that; or empty.
using WarmStart = std::vector<std::optional<Placement>>;

// How much of a pool the plan takes. The bound and the proof are about the buffers the plan put into this
// pool: no plan with the same choice of pools is smaller than lower_bound.
struct PoolUse {
  int64_t size = 0;         // bytes: the makespan, end of the topmost buffer; 0 if the pool is unused
  int64_t lower_bound = 0;  // bytes
  Proof proof() const { return size == lower_bound ? Proof::kOptimal : Proof::kGap; }
};

struct Plan {
  std::vector<Placement> placements;  // per buffer
  std::vector<PoolUse> pools;         // per pool
  int64_t cost = 0;                   // of all buffers in the pools where they lie
  int64_t cost_bound = 0;             // no plan within the capacities costs less
};

}  // namespace arenac
