// What planners of moves plan with: slots of time, and for one buffer the best sequence of stays.
//
//   time    0   1   2   3   4 ...... 60  61
//   slot    | 0 | 1 | 2 | 3 |    4    | 5 |
//
// Where the times span few steps, each is a slot, else what lies between times at which something begins,
// ends or is used. A use has a slot of its own. Copies begin and end with slots; that is all that plans lose
// by them.
#pragma once

#include <compare>
#include <limits>
#include <optional>
#include <vector>

#include "planner/stays.h"

namespace arenac {

struct MoveItem {
  int64_t size = 0;
  int begin = 0, end = 0;  // slots
  std::vector<int> uses;   // slots, ascending; the first writes
  bool may_be_fast = true, may_be_slow = true;

  int written() const { return uses.front() + 1; }  // the first slot at which it may be copied
};

struct MoveSlots {
  std::vector<int64_t> times;   // of slot k: [times[k], times[k + 1])
  std::vector<MoveItem> items;  // per buffer
  int64_t fast = 0;             // bytes of the fast pool
  std::optional<int64_t> slow;  // of the slow one, if it has a capacity
  int64_t bandwidth = 0;        // bytes per step

  int count() const { return int(times.size()) - 1; }
  int64_t steps(int begin, int end) const { return times[end] - times[begin]; }
  int64_t copy_steps(const MoveItem& item) const { return (item.size - 1) / bandwidth + 1; }  // at least
};

// Of a problem that check_for_moves() takes. What is larger than the fast pool may not be there, unless it
// must be.
MoveSlots move_slots(const Problem& problem, int64_t bandwidth);

struct SlotStay {
  int pool = 0;
  int begin = 0, ready = 0, end = 0;  // slots
};

// Bytes used from the slow pool and prices paid, then bytes moved.
struct MoveCost {
  double bytes = 0, moved = 0;
  auto operator<=>(const MoveCost&) const = default;
  MoveCost operator+(const MoveCost& b) const { return {bytes + b.bytes, moved + b.moved}; }
  MoveCost operator-(const MoveCost& b) const { return {bytes - b.bytes, moved - b.moved}; }
};
inline constexpr double kImpossible = std::numeric_limits<double>::infinity();

// A copy in the slots [begin, ready), and its price; kImpossible: there is no such copy.
struct SlotCopy {
  double price = kImpossible;
  int begin = 0, ready = 0;
};

// What a sequence of stays costs. For plans: whether there is room; for bounds: prices, which are no more
// than any sequence pays that keeps to the same turns. kImpossible: it cannot be.
class MoveRoom {
 public:
  virtual ~MoveRoom() = default;
  // Of bytes in the fast pool in the slots [begin, end), and in the slow one.
  virtual double hold(const MoveItem& item, int begin, int end) = 0;
  virtual double hold_slow(const MoveItem& item, int begin, int end) = 0;
  // The first copy to the slow pool, after the write.
  virtual SlotCopy evict(const MoveItem& item) = 0;
  // The last copy from the slow pool that begins at `from` or later and is ready for that use, with the hold
  // from its begin until after the use.
  virtual SlotCopy fetch(const MoveItem& item, int from, int use) = 0;
};

struct MoveSequence {
  MoveCost cost = {kImpossible, kImpossible};
  std::vector<SlotStay> stays;  // in the slow pool one at most; none of a sequence that cannot be
};

// The cheapest by dynamic programming over the uses, with one copy to the slow pool at most, which is kept:
// O(uses) questions to the room.
MoveSequence best_sequence(const MoveItem& item, MoveRoom& room);

// What the stays cost without prices.
MoveCost cost_of(const MoveItem& item, const std::vector<SlotStay>& stays);

}  // namespace arenac
