#include "planner/move_slots.h"

#include <algorithm>
#include <array>

#include "frontend/error.h"
#include "planner/verify.h"

namespace arenac {
namespace {

// Up to so many steps, each is a slot.
constexpr int64_t kEveryStep = 1 << 14;

std::vector<int64_t> slot_times(const Problem& problem) {
  std::vector<int64_t> times;
  for (const Buffer& b : problem.buffers) {
    times.insert(times.end(), {b.begin, b.end});
    for (const int64_t use : uses_of(b)) times.insert(times.end(), {use, use + 1});
  }
  std::ranges::sort(times);
  times.erase(std::ranges::unique(times).begin(), times.end());
  if (times.empty()) return {0};
  const int64_t first = times.front(), last = times.back();
  if (last - first > kEveryStep) return times;
  times.clear();
  for (int64_t time = first; time <= last; ++time) times.push_back(time);
  return times;
}

// Where the buffer is when it is used.
enum Whereabouts {
  kBorn,    // in the fast pool, never copied
  kCopied,  // in the fast pool, with a copy in the slow one
  kSlow,    // in the slow pool
  kWhereabouts,
};

// The course of one buffer that is born in one of the pools.
class Course {
 public:
  Course(const MoveItem& item, MoveRoom& room, int pool) : item_(item), room_(room), pool_(pool) {
    if (pool == kFastPool) {
      if (item.may_be_slow) out_ = room.evict(item);
      if (out_.price < kImpossible) out_.price += room.hold_slow(item, out_.begin, item.end);
    } else {
      out_ = {room.hold_slow(item, item.begin, item.end), item.begin, item.begin};
    }
  }

  MoveSequence best() {
    const int uses = int(item_.uses.size());
    turns_.emplace_back();
    if (pool_ == kFastPool)
      reach(0, kBorn, {kBorn, false, {room_.hold(item_, item_.begin, item_.written()), 0}});
    else
      reach(0, kSlow, {kSlow, false, {out_.price + double(item_.size), 0}});
    if (uses > 1) fetches_.resize(uses);
    for (int use = 1; use < uses; ++use) advance(use);
    const MoveCost leaving = at(uses - 1, kBorn) + leave(uses - 1, item_.end);
    const MoveCost staying = at(uses - 1, kBorn) + MoveCost{room_.hold(item_, after(uses - 1), item_.end), 0};
    stays_to_end_ = staying <= leaving;
    const MoveCost born = std::min(staying, leaving);
    int last = at(uses - 1, kCopied) < at(uses - 1, kSlow) ? kCopied : kSlow;
    if (born < at(uses - 1, last)) last = kBorn;
    const MoveCost cost = last == kBorn ? born : at(uses - 1, last);
    if (cost.bytes == kImpossible) return {};
    return {cost, stays(last)};
  }

 private:
  struct Turn {
    int from = kBorn;
    bool fetched = false;
    MoveCost cost = {kImpossible, kImpossible};
  };

  int after(int use) const { return item_.uses[use] + 1; }
  MoveCost at(int use, int state) const { return turns_[use][state].cost; }

  void reach(int use, int state, const Turn& turn) {
    if (turn.cost < turns_[use][state].cost) turns_[use][state] = turn;
  }

  // Of leaving the fast pool for the first time after a use, the slow one holding the contents from the slot
  // `by` on at the latest.
  MoveCost leave(int use, int by) {
    if (out_.price == kImpossible || out_.ready > by) return {kImpossible, kImpossible};
    return {out_.price + room_.hold(item_, after(use), out_.ready), double(item_.size)};
  }

  void advance(int use) {
    const int last = use - 1, slot = item_.uses[use];
    turns_.emplace_back();
    const double kept = room_.hold(item_, after(last), after(use));
    for (const int state : {kBorn, kCopied})
      reach(use, state, {state, false, at(last, state) + MoveCost{kept, 0}});
    const MoveCost left = at(last, kBorn) + leave(last, slot), used{double(item_.size), 0};
    reach(use, kSlow, {kSlow, false, at(last, kSlow) + used});
    reach(use, kSlow, {kCopied, false, at(last, kCopied) + used});
    reach(use, kSlow, {kBorn, false, left + used});
    if (out_.price == kImpossible || !item_.may_be_fast) return;
    SlotCopy& in = fetches_[use] = room_.fetch(item_, std::max(item_.written(), out_.ready), use);
    const MoveCost back{in.price, double(item_.size)};
    if (in.price == kImpossible) return;
    reach(use, kCopied, {kSlow, true, at(last, kSlow) + back});
    if (in.begin < after(last)) return;  // to keep it is better
    reach(use, kCopied, {kCopied, true, at(last, kCopied) + back});
    if (in.begin >= out_.ready) reach(use, kCopied, {kBorn, true, left + back});
  }

  // Backwards which turn was taken at each use, forwards the stays.
  std::vector<SlotStay> stays(int last) const {
    const int uses = int(item_.uses.size());
    std::vector<int> states(uses);
    std::vector<char> fetched(uses);
    for (int use = uses; use-- > 0;) {
      states[use] = last;
      fetched[use] = turns_[use][last].fetched;
      last = turns_[use][last].from;
    }
    std::vector<SlotStay> result;
    const bool is_born_fast = pool_ == kFastPool;
    if (is_born_fast) result.push_back({kFastPool, item_.begin, item_.begin, item_.written()});
    bool leaves = !is_born_fast;
    for (int use = 1; use < uses; ++use) {
      if (states[use] != kBorn) leaves = true;
      if (states[use] == kSlow) continue;
      const SlotCopy& in = fetches_.at(use);
      // A copy back that would begin before the stay before it ends is spared.
      if (fetched[use] && (result.empty() || result.back().end < in.begin))
        result.push_back({kFastPool, in.begin, in.ready, 0});
      result.back().end = std::max(result.back().end, after(use));
    }
    leaves = leaves || !stays_to_end_;
    if (!leaves) result.back().end = item_.end;
    if (leaves) add_slow(result);
    return result;
  }

  // The stay in the slow pool, until the last that needs it.
  void add_slow(std::vector<SlotStay>& result) const {
    if (pool_ == kFastPool) result.front().end = std::max(result.front().end, out_.ready);
    int needed = item_.end;
    if (!result.empty() && result.back().end == item_.end) {
      needed = result.back().ready > item_.begin ? result.back().ready : 0;
      if (pool_ == kSlowPool) needed = std::max(needed, item_.written());
      for (const int slot : item_.uses)
        if (std::ranges::none_of(result, [&](const SlotStay& s) { return s.ready <= slot && slot < s.end; }))
          needed = std::max(needed, slot + 1);
    }
    if (needed > out_.ready) result.push_back({kSlowPool, out_.begin, out_.ready, needed});
  }

  const MoveItem& item_;
  MoveRoom& room_;
  int pool_;
  SlotCopy out_;  // to the slow pool; of what is born there, as if it had been
  std::vector<SlotCopy> fetches_;
  std::vector<std::array<Turn, kWhereabouts>> turns_;  // per use, then per state after it
  bool stays_to_end_ = false;
};

}  // namespace

MoveSlots move_slots(const Problem& problem, int64_t bandwidth) {
  MoveSlots slots;
  slots.times = slot_times(problem);
  const auto slot_of = [&](int64_t time) {
    return int(std::ranges::lower_bound(slots.times, time) - slots.times.begin());
  };
  slots.fast = std::min(problem.pools[kFastPool].capacity.value_or(kMaxBytes), kMaxBytes);
  slots.slow = problem.pools[kSlowPool].capacity;
  slots.bandwidth = std::min(bandwidth, kMaxBytes);
  for (const Buffer& b : problem.buffers) {
    MoveItem item{b.size, slot_of(b.begin), slot_of(b.end), {}};
    for (const int64_t use : uses_of(b)) item.uses.push_back(slot_of(use));
    item.may_be_slow = std::ranges::count(b.pools, kSlowPool) > 0;
    item.may_be_fast =
        std::ranges::count(b.pools, kFastPool) > 0 && (b.size <= slots.fast || !item.may_be_slow);
    slots.items.push_back(std::move(item));
  }
  return slots;
}

MoveSequence best_sequence(const MoveItem& item, MoveRoom& room) {
  MoveSequence best;
  if (item.may_be_fast) best = Course(item, room, kFastPool).best();
  if (!item.may_be_slow || (best.cost.bytes == 0 && best.cost.moved == 0)) return best;
  MoveSequence other = Course(item, room, kSlowPool).best();
  return other.cost < best.cost ? other : best;
}

MoveCost cost_of(const MoveItem& item, const std::vector<SlotStay>& stays) {
  MoveCost cost;
  for (const int slot : item.uses)
    if (std::ranges::none_of(
            stays, [&](const SlotStay& s) { return s.pool == kFastPool && s.ready <= slot && slot < s.end; }))
      cost.bytes += double(item.size);
  for (const SlotStay& stay : stays)
    if (stay.ready > stay.begin) cost.moved += double(item.size);
  return cost;
}

}  // namespace arenac
