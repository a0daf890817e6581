#include "planner/move_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "frontend/error.h"
#include "planner/neighbourhoods.h"
#include "planner/random.h"
#include "planner/range_maximum.h"

namespace arenac {
namespace {

// What the placed buffers leave.
class RoomLeft : public MoveRoom {
 public:
  explicit RoomLeft(const MoveSlots& slots)
      : slots_(slots),
        fast_(std::vector<int64_t>(slots.count())),
        slow_(std::vector<int64_t>(slots.count())),
        rates_(slots.count(), slots.bandwidth),
        paid_(slots.count() + 1) {}

  // Prices per slot of a byte in the fast pool, times this.
  void set_prices(const std::vector<double>& prices, double factor) {
    for (size_t k = 0; k < prices.size(); ++k) paid_[k + 1] = paid_[k] + factor * prices[k];
  }

  // Takes the stays of an item, or with sign -1 gives them back.
  void take(const MoveItem& item, const std::vector<SlotStay>& stays, int sign = 1) {
    for (const SlotStay& stay : stays) {
      (stay.pool == kFastPool ? fast_ : slow_).add({stay.begin, stay.end}, sign * item.size);
      for (int slot = stay.begin; slot < stay.ready; ++slot)
        rates_[slot] -= sign * rate(item, stay.begin, stay.ready);
    }
  }

  bool has_room(const MoveItem& item, const std::vector<SlotStay>& stays) {
    return std::ranges::all_of(stays, [&](const SlotStay& stay) {
      for (int slot = stay.begin; slot < stay.ready; ++slot)
        if (rates_[slot] < rate(item, stay.begin, stay.ready)) return false;
      const bool is_fast = stay.pool == kFastPool;
      return (is_fast ? hold(item, stay.begin, stay.end) : hold_slow(item, stay.begin, stay.end)) <
             kImpossible;
    });
  }

  double hold(const MoveItem& item, int begin, int end) override {
    if (begin >= end) return 0;
    if (fast_.greatest({begin, end}) + item.size > slots_.fast) return kImpossible;
    return double(item.size) * (paid_[end] - paid_[begin]);
  }

  double hold_slow(const MoveItem& item, int begin, int end) override {
    return !slots_.slow || slow_.greatest({begin, end}) + item.size <= *slots_.slow ? 0 : kImpossible;
  }

  SlotCopy evict(const MoveItem& item) override {
    int begin = item.written();
    int64_t least = slots_.bandwidth;
    for (int ready = begin + 1; ready <= item.end && ready <= begin + kMostSlots; ++ready) {
      least = std::min(least, rates_[ready - 1]);
      if (least == 0) {
        begin = ready;
        least = slots_.bandwidth;
      } else if (rate(item, begin, ready) <= least) {
        return {0, begin, ready};
      }
    }
    return {};
  }

  SlotCopy fetch(const MoveItem& item, int from, int use) override {
    const int slot = item.uses[use];
    int ready = slot;
    int64_t least = slots_.bandwidth;
    for (int begin = slot - 1; begin >= from && begin >= ready - kMostSlots; --begin) {
      least = std::min(least, rates_[begin]);
      if (least == 0) {
        ready = begin;
        least = slots_.bandwidth;
      } else if (rate(item, begin, ready) <= least) {
        return {hold(item, begin, slot + 1), begin, ready};
      }
    }
    return {};
  }

 private:
  static constexpr int kMostSlots = 1000;  // of a copy that is looked at

  int64_t rate(const MoveItem& item, int begin, int ready) const {
    return (item.size - 1) / slots_.steps(begin, ready) + 1;
  }

  const MoveSlots& slots_;
  RangeMaximum fast_, slow_;    // bytes taken
  std::vector<int64_t> rates_;  // bytes per step
  std::vector<double> paid_;    // for a byte of the fast pool, up to each slot
};

class StayPlacing {
 public:
  using State = std::vector<SlotStay>;
  using Cost = MoveCost;

  explicit StayPlacing(const MoveSlots& slots) : slots_(slots), room_(slots), stays_(slots.items.size()) {}

  void set_prices(const std::vector<double>& prices, double factor) { room_.set_prices(prices, factor); }

  bool place(int id) {
    stays_[id] = best_sequence(slots_.items[id], room_).stays;
    room_.take(slots_.items[id], stays_[id]);
    return !stays_[id].empty();
  }

  // Places it so if there is room.
  bool fits(int id, const std::vector<SlotStay>& stays) {
    if (!room_.has_room(slots_.items[id], stays)) return false;
    restore(id, stays);
    return true;
  }

  std::vector<SlotStay> remove(int id) {
    room_.take(slots_.items[id], stays_[id], -1);
    return std::exchange(stays_[id], {});
  }

  void restore(int id, std::vector<SlotStay> stays) {
    stays_[id] = std::move(stays);
    room_.take(slots_.items[id], stays_[id]);
  }

  // kImpossible if it is not placed.
  MoveCost cost(int id) const {
    return stays_[id].empty() ? MoveCost{kImpossible, kImpossible} : cost_of(slots_.items[id], stays_[id]);
  }
  const std::vector<State>& states() const { return stays_; }

  // A buffer with a use of the slow pool, and those that lie in the fast one then.
  std::vector<int> neighbours(Random& random) const {
    const int id = in_slow(random);
    if (id < 0) return {};
    const int slot = slow_use(id, random);
    std::vector<int> ids = {id};
    for (int other = 0; other < int(slots_.items.size()); ++other) {
      const MoveItem& item = slots_.items[other];
      if (other != id && item.begin <= slot && slot < item.end && is_fast_at(other, slot))
        ids.push_back(other);
    }
    shuffle(std::span(ids).subspan(1), random);  // all but the first
    return ids;
  }

 private:
  bool is_fast_at(int id, int slot) const {
    return std::ranges::any_of(stays_[id], [&](const SlotStay& s) {
      return s.pool == kFastPool && s.begin <= slot && slot < s.end;
    });
  }

  // A buffer whose cost is not 0, or -1.
  int in_slow(Random& random) const {
    constexpr int kDraws = 64;
    for (int draw = 0; draw < kDraws; ++draw) {
      const int id = int(random.below(slots_.items.size()));
      if (slots_.items[id].may_be_fast && MoveCost() < cost(id)) return id;
    }
    return -1;
  }

  // A slot at which the fast pool could spare the buffer costs; where there is none, of its copies.
  int slow_use(int id, Random& random) const {
    std::vector<int> found;
    for (const int slot : slots_.items[id].uses)
      if (!is_fast_at(id, slot)) found.push_back(slot);
    if (found.empty()) return slots_.items[id].uses[random.below(slots_.items[id].uses.size())];
    return found[random.below(found.size())];
  }

  const MoveSlots& slots_;
  RoomLeft room_;
  std::vector<State> stays_;
};

// Slow bytes that a byte of room for one slot saves at most, if it is in the fast pool all its life.
double density(const MoveItem& item) { return double(item.uses.size()) / double(item.end - item.begin); }

}  // namespace

Placed place_stays(const MoveSlots& slots, const std::vector<double>& prices) {
  const std::vector<int> orders[] = {
      sorted_ids(slots.items, density),
      sorted_ids(slots.items, [](const MoveItem& item) { return double(item.size); }),
      sorted_ids(slots.items, [](const MoveItem& item) { return double(item.size) * density(item); }),
      sorted_ids(slots.items, [](const MoveItem& item) { return -double(item.begin); }),
  };
  Placed best{{}, {kImpossible, kImpossible}};
  for (const double factor : {0.0, 0.5, 0.9, 1.0}) {
    if (factor > 0 && prices.empty()) break;
    for (const std::vector<int>& order : orders) {
      Placed placed = place_in_order(
          [&] {
            StayPlacing placing(slots);
            if (factor > 0) placing.set_prices(prices, factor);
            return placing;
          },
          order);
      if (best.states.empty() || placed.cost < best.cost) best = std::move(placed);
    }
  }
  return best;
}

Placed fit_stays(const MoveSlots& slots, const Placed& from) {
  StayPlacing placing(slots);
  for (const int id : sorted_ids(slots.items, density))
    if (!placing.fits(id, from.states[id]) && !placing.place(id))
      return {from.states, {kImpossible, kImpossible}};
  return arrangement_of(placing);
}

Placed improve_stays(const MoveSlots& slots, Placed from, const MoveEffort& effort, const Cutoff& cutoff) {
  constexpr double kTriesEach = 200, kMostTries = 5e4, kWork = 2e8;  // a try looks at all buffers
  constexpr double kThreshold = 0.2;                                 // of a buffer's bytes on average
  if (from.cost.bytes == kImpossible || from.cost == MoveCost()) return from;
  const double buffers = double(slots.items.size());
  const double tries = effort.effort * std::min({kTriesEach * buffers, kMostTries, kWork / buffers});
  const double sizes =
      std::accumulate(slots.items.begin(), slots.items.end(), 0.0,
                      [](double sum, const MoveItem& item) { return sum + double(item.size); });
  Neighbourhoods search(StayPlacing(slots), from, effort.seed);
  for (double k = 0; k < tries && !cutoff.has_passed(); ++k) {
    const double left = 1 - k / tries;
    search.try_one({kThreshold * left * left * sizes / buffers, kImpossible});
  }
  return search.best();
}

}  // namespace arenac
