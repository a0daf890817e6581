#include "planner/move_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "frontend/error.h"
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

class Placing {
 public:
  explicit Placing(const MoveSlots& slots) : slots_(slots), room_(slots), stays_(slots.items.size()) {}

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
  const std::vector<std::vector<SlotStay>>& stays() const { return stays_; }

  MoveCost total() const {
    MoveCost sum;
    for (size_t id = 0; id < stays_.size(); ++id) sum = sum + cost(int(id));
    return sum;
  }

 private:
  const MoveSlots& slots_;
  RoomLeft room_;
  std::vector<std::vector<SlotStay>> stays_;
};

// Slow bytes that a byte of room for one slot saves at most, if it is in the fast pool all its life.
double density(const MoveItem& item) { return double(item.uses.size()) / double(item.end - item.begin); }

std::vector<int> sorted_ids(const MoveSlots& slots, auto&& key) {
  std::vector<double> keys;
  for (const MoveItem& item : slots.items) keys.push_back(key(item));
  std::vector<int> ids(slots.items.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, std::greater(), [&](int id) { return keys[id]; });
  return ids;
}

// Places all in this order. What finds no room goes first in the next try (squeaky wheel optimisation, Joslin
// and Clements 1999).
Placed place_in_order(const MoveSlots& slots, std::vector<int> order, const std::vector<double>& prices,
                      double factor) {
  constexpr int kTries = 20;
  for (int tries = 0;; ++tries) {
    Placing placing(slots);
    if (factor > 0) placing.set_prices(prices, factor);
    std::vector<char> without(slots.items.size());
    bool all = true;
    for (const int id : order)
      if (!placing.place(id)) without[id] = 1, all = false;
    if (all || tries == kTries) return {placing.stays(), placing.total()};
    std::ranges::stable_partition(order, [&](int id) { return without[id] != 0; });
  }
}

// Takes out a buffer with a use of the slow pool and some of those that lie in the fast one then, and places
// them again.
class Neighbourhoods {
 public:
  Neighbourhoods(const MoveSlots& slots, const Placed& from, uint64_t seed)
      : slots_(slots), placing_(slots), random_(seed), cost_(from.cost), best_(from) {
    for (size_t id = 0; id < from.stays.size(); ++id) placing_.restore(int(id), from.stays[id]);
  }

  // Changes nothing if that would cost more than so many bytes of uses more.
  void try_one(double threshold) {
    const int id = in_slow();
    if (id < 0) return;
    std::vector<int> ids = others_at(slow_use(id), id);
    ids.resize(std::min(ids.size(), size_t(1 + random_.below(kMostVictims))));
    ids.insert(ids.begin(), id);
    if (random_.below(3) == 0) std::swap(ids[0], ids[random_.below(ids.size())]);
    MoveCost before, after;
    std::vector<std::vector<SlotStay>> old;
    for (const int k : ids) before = before + placing_.cost(k), old.push_back(placing_.remove(k));
    for (const int k : ids) {
      placing_.place(k);
      after = after + placing_.cost(k);
    }
    if (after <= before || after.bytes <= before.bytes + threshold) {
      cost_ = {cost_.bytes + after.bytes - before.bytes, cost_.moved + after.moved - before.moved};
      if (cost_ < best_.cost) best_ = {placing_.stays(), cost_};
      return;
    }
    for (const int k : ids) placing_.remove(k);
    for (size_t k = 0; k < ids.size(); ++k) placing_.restore(ids[k], std::move(old[k]));
  }

  const Placed& best() const { return best_; }

 private:
  static constexpr uint64_t kMostVictims = 6;

  bool is_fast_at(int id, int slot) const {
    return std::ranges::any_of(placing_.stays()[id], [&](const SlotStay& s) {
      return s.pool == kFastPool && s.begin <= slot && slot < s.end;
    });
  }

  // A buffer whose cost is not 0, or -1.
  int in_slow() {
    constexpr int kDraws = 64;
    for (int draw = 0; draw < kDraws; ++draw) {
      const int id = int(random_.below(slots_.items.size()));
      if (slots_.items[id].may_be_fast && MoveCost() < placing_.cost(id)) return id;
    }
    return -1;
  }

  // A slot at which the fast pool could spare the buffer costs; where there is none, of its copies.
  int slow_use(int id) {
    std::vector<int> found;
    for (const int slot : slots_.items[id].uses)
      if (!is_fast_at(id, slot)) found.push_back(slot);
    if (found.empty()) return slots_.items[id].uses[random_.below(slots_.items[id].uses.size())];
    return found[random_.below(found.size())];
  }

  // Those in the fast pool at that time but one, in a random order.
  std::vector<int> others_at(int slot, int but) {
    std::vector<int> ids;
    for (int id = 0; id < int(slots_.items.size()); ++id) {
      const MoveItem& item = slots_.items[id];
      if (id != but && item.begin <= slot && slot < item.end && is_fast_at(id, slot)) ids.push_back(id);
    }
    for (size_t k = ids.size(); k > 1; --k) std::swap(ids[k - 1], ids[random_.below(k)]);
    return ids;
  }

  const MoveSlots& slots_;
  Placing placing_;
  Random random_;
  MoveCost cost_;
  Placed best_;
};

}  // namespace

Placed place_stays(const MoveSlots& slots, const std::vector<double>& prices) {
  const std::vector<int> orders[] = {
      sorted_ids(slots, density),
      sorted_ids(slots, [](const MoveItem& item) { return double(item.size); }),
      sorted_ids(slots, [](const MoveItem& item) { return double(item.size) * density(item); }),
      sorted_ids(slots, [](const MoveItem& item) { return -double(item.begin); }),
  };
  Placed best{{}, {kImpossible, kImpossible}};
  for (const double factor : {0.0, 0.5, 0.9, 1.0}) {
    if (factor > 0 && prices.empty()) break;
    for (const std::vector<int>& order : orders) {
      Placed placed = place_in_order(slots, order, prices, factor);
      if (best.stays.empty() || placed.cost < best.cost) best = std::move(placed);
    }
  }
  return best;
}

Placed fit_stays(const MoveSlots& slots, const Placed& from) {
  Placing placing(slots);
  for (const int id : sorted_ids(slots, density))
    if (!placing.fits(id, from.stays[id]) && !placing.place(id))
      return {from.stays, {kImpossible, kImpossible}};
  return {placing.stays(), placing.total()};
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
  Neighbourhoods search(slots, from, effort.seed);
  for (double k = 0; k < tries && !cutoff.has_passed(); ++k) {
    const double left = 1 - k / tries;
    search.try_one(kThreshold * left * left * sizes / buffers);
  }
  return search.best();
}

}  // namespace arenac
