#include "planner/move_bound.h"

#include <algorithm>
#include <bit>
#include <boost/dynamic_bitset.hpp>
#include <cmath>
#include <numeric>

namespace arenac {
namespace {

// Which of the slots [begin, end) is cheapest, in constant time: a sparse table (Bender and Farach-Colton
// 2000).
class Cheapest {
 public:
  explicit Cheapest(const std::vector<double>& prices) : prices_(prices) {
    rows_.emplace_back(prices.size());
    std::iota(rows_[0].begin(), rows_[0].end(), 0);
    for (size_t width = 2; width <= prices.size(); width *= 2) {
      const std::vector<int>& half = rows_.back();
      std::vector<int> row(prices.size() - width + 1);
      for (size_t k = 0; k < row.size(); ++k) row[k] = cheaper(half[k], half[k + width / 2]);
      rows_.push_back(std::move(row));
    }
  }

  int in(int begin, int end) const {
    const int k = std::bit_width(unsigned(end - begin)) - 1;
    return cheaper(rows_[k][begin], rows_[k][end - (1 << k)]);
  }

 private:
  int cheaper(int a, int b) const { return prices_[b] < prices_[a] ? b : a; }

  const std::vector<double>& prices_;
  std::vector<std::vector<int>> rows_;  // k: of 2^k slots from each on
};

// Per slot, how much of the fast pool buffers can fill: the greatest sum of sizes of some that live then
// which is no more than the capacity (subset sums by dynamic programming, in units of what divides all
// sizes). All of the capacity where that would be much work.
std::vector<int64_t> fillable(const MoveSlots& slots, int64_t unit) {
  constexpr double kMostWork = 1e9;  // bits, of sums and of sizes
  std::vector<int64_t> most(slots.count(), slots.fast);
  double lives = 0;
  for (const MoveItem& item : slots.items) lives += double(item.end - item.begin);
  if (unit == 0 || (double(slots.fast / unit) + 64) * lives > kMostWork) return most;
  std::vector<std::vector<int64_t>> live(slots.count());  // sizes, in units
  for (const MoveItem& item : slots.items)
    for (int slot = item.begin; item.may_be_fast && slot < item.end; ++slot)
      live[slot].push_back(item.size / unit);
  for (int slot = 0; slot < slots.count(); ++slot) {
    boost::dynamic_bitset<> sums(size_t(slots.fast / unit) + 1, 1);
    for (const int64_t size : live[slot]) sums |= sums << size_t(size);
    size_t top = sums.size() - 1;
    while (!sums[top]) --top;
    most[slot] = int64_t(top) * unit;
  }
  return most;
}

// Prices of bytes in the fast pool during a slot, and of bytes copied in it.
struct Prices {
  std::vector<double> rooms, copies;
};

class PricedRoom : public MoveRoom {
 public:
  PricedRoom(const MoveSlots& slots, const Prices& prices)
      : slots_(slots), prices_(prices), paid_(slots.count() + 1), cheapest_(prices.copies) {
    std::partial_sum(prices.rooms.begin(), prices.rooms.end(), paid_.begin() + 1);
  }

  double hold(const MoveItem& item, int begin, int end) override {
    return begin < end ? double(item.size) * (paid_[end] - paid_[begin]) : 0;
  }
  double hold_slow(const MoveItem&, int, int) override { return 0; }

  SlotCopy evict(const MoveItem& item) override {
    const int ready = first_slot(slots_.times[item.written()] + slots_.copy_steps(item) + 1) - 1;
    if (slots_.steps(item.written(), item.end) < slots_.copy_steps(item)) return {};
    return {copy(item, item.written(), item.end), item.written(), ready};
  }

  SlotCopy fetch(const MoveItem& item, int from, int use) override {
    const int slot = item.uses[use];
    const int64_t begin = slots_.times[slot] - slots_.copy_steps(item);
    if (from >= slot || begin < slots_.times[from]) return {};
    const int first = first_slot(begin);
    return {copy(item, from, slot) + hold(item, first, slot + 1), first, slot};
  }

  // The slot in which a copy that is ready by then is paid.
  int slot_of_copy(int from, int by) const { return cheapest_.in(from, by); }

 private:
  int first_slot(int64_t time) const {
    return int(std::ranges::lower_bound(slots_.times, time) - slots_.times.begin());
  }
  double copy(const MoveItem& item, int from, int by) const {
    return double(item.size) * prices_.copies[cheapest_.in(from, by)];
  }

  const MoveSlots& slots_;
  const Prices& prices_;
  std::vector<double> paid_;  // for room, up to each slot
  Cheapest cheapest_;
};

// A copy is paid in the one cheapest slot of many, which is another one each time: only the mean over a block
// of slots says something.
void average(std::vector<double>& excess) {
  constexpr size_t kBlock = 64;
  for (size_t begin = 0; begin < excess.size(); begin += kBlock) {
    const auto first = excess.begin() + int64_t(begin);
    const auto last = excess.begin() + int64_t(std::min(begin + kBlock, excess.size()));
    std::fill(first, last, std::accumulate(first, last, 0.0) / double(last - first));
  }
}

// By how much each slot is asked for more than it has.
struct Excess {
  std::vector<double> rooms, copies;

  // A little towards another excess: single ones jump (Camerini, Fratta and Maffioli 1975).
  void turn(Excess towards, double weight) {
    average(towards.copies);
    for (size_t k = 0; k < rooms.size(); ++k) {
      rooms[k] += weight * (towards.rooms[k] - rooms[k]);
      copies[k] += weight * (towards.copies[k] - copies[k]);
    }
  }

  // Without slots whose price is 0 and that have room to spare: they stay as they are.
  Excess without_idle(const Prices& prices) const {
    Excess result = *this;
    for (size_t k = 0; k < rooms.size(); ++k) {
      if (prices.rooms[k] == 0 && rooms[k] < 0) result.rooms[k] = 0;
      if (prices.copies[k] == 0 && copies[k] < 0) result.copies[k] = 0;
    }
    return result;
  }

  double square() const {
    return std::inner_product(rooms.begin(), rooms.end(), rooms.begin(), 0.0) +
           std::inner_product(copies.begin(), copies.end(), copies.begin(), 0.0);
  }
};

struct Relaxed {
  double bound = 0;
  double terms = 0;  // the sum of what was added and subtracted, for rounding
  Excess excess;
};

void take(const MoveItem& item, const std::vector<SlotStay>& stays, const PricedRoom& room, Excess& asked) {
  int from = item.written();  // of fetches
  for (const SlotStay& stay : stays)
    if (stay.pool == kSlowPool && stay.ready > item.begin) from = std::max(from, stay.ready);
  for (const SlotStay& stay : stays) {
    const bool is_born = stay.begin == item.begin;
    if (stay.pool == kFastPool) {
      asked.rooms[stay.begin] += double(item.size);
      asked.rooms[stay.end] -= double(item.size);
      if (!is_born) asked.copies[room.slot_of_copy(from, stay.ready)] += double(item.size);
    } else if (!is_born) {
      asked.copies[room.slot_of_copy(item.written(), item.end)] += double(item.size);
    }
  }
}

Relaxed relax(const MoveSlots& slots, const std::vector<int64_t>& room_for, const Prices& prices) {
  PricedRoom room(slots, prices);
  Relaxed result;
  Excess& excess = result.excess;
  excess.rooms.resize(slots.count() + 1);
  excess.copies.resize(slots.count());
  for (const MoveItem& item : slots.items) {
    if (item.size == 0) continue;
    const MoveSequence best = best_sequence(item, room);
    result.bound += best.cost.bytes;
    result.terms += best.cost.bytes;
    take(item, best.stays, room, excess);
  }
  std::partial_sum(excess.rooms.begin(), excess.rooms.end(), excess.rooms.begin());
  excess.rooms.pop_back();
  for (int k = 0; k < slots.count(); ++k) {
    const double fast = double(room_for[k]), copied = double(slots.bandwidth) * double(slots.steps(k, k + 1));
    excess.rooms[k] -= fast;
    excess.copies[k] -= copied;
    const double paid = prices.rooms[k] * fast + prices.copies[k] * copied;
    result.bound -= paid;
    result.terms += paid;
  }
  return result;
}

void step(std::vector<double>& prices, const std::vector<double>& excess, double length) {
  for (size_t k = 0; k < prices.size(); ++k) prices[k] = std::max(0.0, prices[k] + length * excess[k]);
}

// What divides all sizes, and so every sum of them; 0: all are 0.
int64_t unit_of(const MoveSlots& slots) {
  int64_t unit = 0;
  for (const MoveItem& item : slots.items) unit = std::gcd(unit, item.size);
  return unit;
}

int64_t rounded_up(double bound, int64_t unit) {
  return unit == 0 || bound <= 0 ? 0 : int64_t(std::ceil(bound / double(unit))) * unit;
}

// Changes prices, from 0 on, step by step.
class Ascent {
 public:
  // The first of Polyak's steps, and how far the direction turns at each.
  Ascent(const MoveSlots& slots, double scale, double weight)
      : slots_(slots),
        unit_(unit_of(slots)),
        room_for_(fillable(slots, unit_)),
        scale_(scale),
        weight_(weight),
        prices_{std::vector<double>(slots.count()), std::vector<double>(slots.count())},
        direction_{prices_.rooms, prices_.copies},
        best_{0, prices_.rooms} {}

  // False if that is of no use any more.
  bool step_towards(double best_known) {
    constexpr int kPatience = 30;       // rounds without a better bound, after which steps become shorter
    constexpr double kShortest = 1e-5;  // of Polyak's
    constexpr double kRounding = 1e-9;  // far above what sums of doubles lose
    const Relaxed relaxed = relax(slots_, room_for_, prices_);
    const double sure = relaxed.bound - kRounding * relaxed.terms;
    if (sure > most_) {
      idle_ = 0;
      most_ = sure;
      best_ = {rounded_up(sure, unit_), prices_.rooms};
    } else if (++idle_ == kPatience) {
      idle_ = 0;
      scale_ /= 2;
    }
    direction_.turn(relaxed.excess, weight_);
    const Excess turned = direction_.without_idle(prices_);
    const double square = turned.square();
    if (double(best_.slow_bytes) >= best_known || square == 0 || scale_ < kShortest) return false;
    const double length = scale_ * std::max(best_known - relaxed.bound, 1.0) / square;
    step(prices_.rooms, turned.rooms, length);
    step(prices_.copies, turned.copies, length);
    return true;
  }

  const MoveBound& best() const { return best_; }

 private:
  const MoveSlots& slots_;
  int64_t unit_;
  std::vector<int64_t> room_for_;
  double scale_, weight_;
  Prices prices_;
  Excess direction_;
  MoveBound best_;
  double most_ = -kImpossible;
  int idle_ = 0;
};

}  // namespace

MoveBound move_bound(const MoveSlots& slots, double best_known, int rounds, const Cutoff& cutoff) {
  MoveBound best{0, std::vector<double>(slots.count())};
  if (slots.count() == 0) return best;
  // Steady for many buffers, agile for few: which of the two is better differs.
  for (Ascent ascent : {Ascent(slots, 0.1, 0.06), Ascent(slots, 1, 0.5)}) {
    for (int round = 0; round < rounds && !cutoff.has_passed(); ++round)
      if (!ascent.step_towards(best_known)) break;
    if (ascent.best().slow_bytes > best.slow_bytes) best = ascent.best();
  }
  return best;
}

}  // namespace arenac
