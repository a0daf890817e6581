#include "planner/move_bound.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "planner/lagrangian.h"

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

void take(const MoveItem& item, const std::vector<SlotStay>& stays, const PricedRoom& room, Prices& asked) {
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

// `flat` is the prices of rooms, then those of copies.
Relaxed relax(const MoveSlots& slots, const std::vector<int64_t>& room_for, const std::vector<double>& flat) {
  const auto middle = flat.begin() + slots.count();
  const Prices prices{{flat.begin(), middle}, {middle, flat.end()}};
  PricedRoom room(slots, prices);
  Relaxed result;
  Prices asked{std::vector<double>(slots.count() + 1), std::vector<double>(slots.count())};
  for (const MoveItem& item : slots.items) {
    if (item.size == 0) continue;
    const MoveSequence best = best_sequence(item, room);
    result.bound += best.cost.bytes;
    result.terms += best.cost.bytes;
    take(item, best.stays, room, asked);
  }
  std::partial_sum(asked.rooms.begin(), asked.rooms.end(), asked.rooms.begin());
  asked.rooms.pop_back();
  for (int k = 0; k < slots.count(); ++k) {
    const double fast = double(room_for[k]), copied = double(slots.bandwidth) * double(slots.steps(k, k + 1));
    asked.rooms[k] -= fast;
    asked.copies[k] -= copied;
    const double paid = prices.rooms[k] * fast + prices.copies[k] * copied;
    result.bound -= paid;
    result.terms += paid;
  }
  average(asked.copies);
  result.excess = std::move(asked.rooms);
  result.excess.insert(result.excess.end(), asked.copies.begin(), asked.copies.end());
  return result;
}

// What divides all sizes, and so every sum of them; 0: all are 0.
int64_t unit_of(const MoveSlots& slots) {
  int64_t unit = 0;
  for (const MoveItem& item : slots.items) unit = std::gcd(unit, item.size);
  return unit;
}

}  // namespace

MoveBound move_bound(const MoveSlots& slots, double best_known, int rounds, const Cutoff& cutoff) {
  if (slots.count() == 0) return {};
  std::vector<SlotLoad> loads;
  for (const MoveItem& item : slots.items)
    if (item.may_be_fast) loads.push_back({item.begin, item.end, item.size});
  const int64_t unit = unit_of(slots);
  const std::vector<int64_t> room_for = fillable(loads, slots.count(), slots.fast, unit);
  PricedBound best =
      ascend({2, size_t(slots.count()), best_known, rounds, unit}, cutoff,
             [&](const std::vector<double>& prices) { return relax(slots, room_for, prices); });
  best.prices.resize(slots.count());
  return {best.bound, std::move(best.prices)};
}

}  // namespace arenac
