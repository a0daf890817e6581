#include "planner/order_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "planner/cost_steps.h"
#include "planner/packing.h"
#include "planner/random.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

constexpr size_t kMostOrdered = 5000;
constexpr double kMostOrderPairs = 2e6;  // of lives that meet
constexpr int64_t kSettleWork = 30;      // of one that is placed, both ways
constexpr int kOrderWeights = 1000;      // of the smallest buffer to the largest: 1 to this
constexpr int64_t kOrderSteps = 15;      // to the bound
constexpr int64_t kOrderAttempts = 10;   // each with this part of the work
constexpr int64_t kUnplaced = std::numeric_limits<int64_t>::min();

// How far up slots are taken: segments of equal height. Whatever is raised becomes one, so that each item
// costs a few steps, however many slots it lives in.
class Outline {
 public:
  explicit Outline(int slots) : heights_(size_t(slots) + 1), begins_(size_t(slots) / 64 + 1) { clear(); }

  void clear() {
    std::ranges::fill(begins_, 0);
    begins_[0] = 1;
    heights_[0] = 0;
  }

  // The greatest height in a span, which becomes one segment; raise() says how high that is.
  int64_t greatest(Span span) {
    int64_t last = heights_[size_t(segment_at(span.begin))], most = last;
    for (int begin = next_segment(span.begin + 1); begin < span.end; begin = next_segment(begin + 1)) {
      last = heights_[size_t(begin)];
      most = std::max(most, last);
      begins_[size_t(begin) / 64] &= ~bit(begin);
    }
    if (size_t(span.end) < heights_.size() && (begins_[size_t(span.end) / 64] & bit(span.end)) == 0) {
      begins_[size_t(span.end) / 64] |= bit(span.end);
      heights_[size_t(span.end)] = last;
    }
    begins_[size_t(span.begin) / 64] |= bit(span.begin);
    return most;
  }
  void raise(Span span, int64_t height) { heights_[size_t(span.begin)] = height; }

 private:
  static uint64_t bit(int slot) { return uint64_t{1} << (slot % 64); }

  // The begin of the segment that the slot is in.
  int segment_at(int slot) const {
    size_t word = size_t(slot) / 64;
    uint64_t bits = begins_[word] & (bit(slot) | (bit(slot) - 1));
    while (bits == 0) bits = begins_[--word];
    return int(word) * 64 + 63 - std::countl_zero(bits);
  }

  // The first begin from the slot on, or something above all.
  int next_segment(int slot) const {
    size_t word = size_t(slot) / 64;
    if (word >= begins_.size()) return std::numeric_limits<int>::max();
    uint64_t bits = begins_[word] & ~(bit(slot) - 1);
    while (bits == 0) {
      if (++word == begins_.size()) return std::numeric_limits<int>::max();
      bits = begins_[word];
    }
    return int(word) * 64 + std::countr_zero(bits);
  }

  std::vector<int64_t> heights_;  // at the begin of a segment
  std::vector<uint64_t> begins_;  // a bit per slot
};

class OrderSearch {
 public:
  struct Item {
    Span span;
    int64_t size = 0, step = 1;  // offsets are multiples of the step
  };

  OrderSearch(std::vector<Item> items, int slots, uint64_t seed)
      : items_(std::move(items)),
        is_placed_(items_.size(), 0),
        lowest_(items_.size(), 0),
        highest_(items_.size(), 0),
        last_(items_.size(), kUnplaced),
        outline_(slots),
        random_(seed) {
    set_prices();
    find_neighbours(slots);
  }

  // Begins with all at these offsets, at their first weights; what comes above the capacity waits.
  void start(const std::vector<int64_t>& offsets, int64_t capacity) {
    capacity_ = capacity;
    waiting_.clear();
    order_.clear();
    for (int i = 0; i < int(items_.size()); ++i) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](int i) { return offsets[size_t(i)]; });
    std::ranges::fill(is_placed_, 1);
    std::ranges::fill(last_, kUnplaced);
    weights_ = prices_;
    settle();
    throw_out_the_high();
  }

  // The same from where the last call stopped, with weights as they are.
  void lower(int64_t capacity) {
    capacity_ = capacity;
    settle();
    throw_out_the_high();
  }

  // Whether all are placed before the work is spent.
  bool fit(int64_t work, const Cutoff& cutoff) {
    const int64_t limit = work_ + work;
    while (!waiting_.empty()) {
      if (work_ > limit || (++turns_ % 256 == 0 && cutoff.has_passed())) return false;
      const auto dearest = std::ranges::max_element(waiting_, {}, [&](int i) { return weights_[i]; });
      const int next = *dearest;
      *dearest = waiting_.back();
      waiting_.pop_back();
      insert(next);
    }
    return true;
  }

  const std::vector<int64_t>& offsets() const { return lowest_; }  // of what is placed
  int64_t work() const { return work_; }

 private:
  int64_t top(int i) const { return lowest_[i] + items_[i].size; }  // when all has sunk

  void set_prices() {
    const auto length = [](const Item& item) {
      return std::sqrt(double(item.size) * (item.span.end - item.span.begin));
    };
    double largest = 1;
    for (const Item& item : items_) largest = std::max(largest, length(item));
    for (const Item& item : items_)
      prices_.push_back(1 + int64_t((kOrderWeights - 1) * length(item) / largest));
    weights_ = prices_;
  }

  void find_neighbours(int slots) {
    std::vector<std::vector<int>> begins(static_cast<size_t>(slots));
    for (int i = 0; i < int(items_.size()); ++i) begins[size_t(items_[i].span.begin)].push_back(i);
    neighbours_.resize(items_.size());
    std::vector<int> live;
    for (int slot = 0; slot < slots; ++slot) {
      std::erase_if(live, [&](int i) { return items_[i].span.end <= slot; });
      for (int i : begins[size_t(slot)]) {
        for (int other : live) {
          neighbours_[i].push_back(other);
          neighbours_[other].push_back(i);
        }
        live.push_back(i);
      }
    }
  }

  // The lowest and the highest offset of all that is placed; or the lowest of all but the first `sunk` in the
  // order, and the highest of all but the last `risen`, as the others are known.
  void settle(size_t sunk = 0, size_t risen = 0) {
    outline_.clear();
    for (size_t k = 0; k < order_.size(); ++k) {
      const int i = order_[k];
      const int64_t below = outline_.greatest(items_[i].span);
      if (k >= sunk) lowest_[i] = round_up(below, items_[i].step);
      outline_.raise(items_[i].span, top(i));
    }
    outline_.clear();
    for (size_t k = order_.size(); k-- > 0;) {
      const int i = order_[k];
      const int64_t above = outline_.greatest(items_[i].span);
      if (order_.size() - k > risen)
        highest_[i] = round_down(capacity_ - above - items_[i].size, items_[i].step);
      outline_.raise(items_[i].span, capacity_ - highest_[i]);
    }
    work_ += kSettleWork * int64_t(order_.size());
  }

  // One after the other, the cheapest of those that are in the way of each other.
  void throw_out_the_high() {
    while (true) {
      int cheapest = -1;
      uint64_t ties = 0;
      for (int i : order_) {
        if (lowest_[i] <= highest_[i]) continue;
        if (cheapest < 0 || weights_[i] < weights_[cheapest]) ties = 0;
        if (ties > 0 && weights_[i] > weights_[cheapest]) continue;
        if (random_.below(++ties) == 0) cheapest = i;
      }
      if (cheapest < 0) return;
      is_placed_[cheapest] = 0;
      std::erase(order_, cheapest);
      waiting_.push_back(cheapest);
      settle();
    }
  }

  // Where it meets no placed one, or those of the least weights; not where i was put the last time.
  OffsetChoice cheapest(int i) {
    costs_.begin(round_down(capacity_ - items_[i].size, items_[i].step));
    for (int other : neighbours_[i])
      if (is_placed_[other]) costs_.meet(highest_[other] - items_[i].size + 1, top(other), weights_[other]);
    work_ += 2 * int64_t(neighbours_[i].size()) + 10 * int64_t(costs_.changes.size());
    return cheapest_offset(costs_, items_[i].step, last_[i], random_);
  }

  void insert(int i) {
    OffsetChoice choice = cheapest(i);
    if (choice.cost == OffsetChoice{}.cost) {  // it can lie where it was only
      last_[i] = kUnplaced;
      choice = cheapest(i);
    }
    if (choice.cost > 0) {
      const int64_t end = choice.offset + items_[i].size;
      weights_[i] += prices_[i];
      for (int other : neighbours_[i]) {
        if (!is_placed_[other] || top(other) <= choice.offset || end <= highest_[other]) continue;
        is_placed_[other] = 0;
        waiting_.push_back(other);
      }
    }
    place(i, choice.offset);
  }

  // Above all that comes up to the offset at most when it sinks: whatever that lies on is among it, so that
  // the order stays one.
  void place(int i, int64_t offset) {
    size_t below = 0, risen = 0;
    above_.clear();
    for (int other : order_) {
      if (!is_placed_[other]) {
        risen = 0;
      } else if (top(other) <= offset) {
        order_[below++] = other;
      } else {
        above_.push_back(other);
        ++risen;
      }
    }
    order_.resize(below);
    order_.push_back(i);
    order_.insert(order_.end(), above_.begin(), above_.end());
    is_placed_[i] = 1;
    last_[i] = offset;
    settle(below, risen);
  }

  std::vector<Item> items_;
  std::vector<std::vector<int>> neighbours_;  // those whose lives meet
  int64_t capacity_ = 0;
  std::vector<int> order_;  // of the placed ones: whoever is above another comes later
  std::vector<char> is_placed_;
  std::vector<int64_t> lowest_, highest_;  // offsets of the placed ones
  std::vector<int64_t> last_;              // the offset chosen the last time
  std::vector<int64_t> prices_, weights_;  // what waiting adds to the weight, and the weight
  std::vector<int> waiting_, above_;       // the second while one is placed
  Outline outline_;                        // of what has sunk or risen
  CostSteps costs_;                        // of the last that was placed
  Random random_;
  int64_t work_ = 0, turns_ = 0;
};

}  // namespace

bool can_reorder(const Problem& problem, const std::vector<int>& members) {
  std::vector<char> is_member(problem.buffers.size(), 0);
  for (int id : members) is_member[id] = 1;
  if (std::ranges::any_of(members, [&](int id) { return problem.buffers[id].fixed_offset.has_value(); }) ||
      std::ranges::any_of(problem.overlaps,
                          [&](const Overlap& o) { return is_member[o.above] && is_member[o.below]; }))
    return false;
  return members.size() <= kMostOrdered && meetings(make_timeline(problem, members)) <= kMostOrderPairs;
}

Improved reorder(const Problem& problem, int pool, const std::vector<int>& members,
                 std::vector<int64_t> offsets, const LocalSearch& search) {
  const int64_t lower_bound = search.lower_bound;
  const Timeline timeline = make_timeline(problem, members);
  std::vector<OrderSearch::Item> items;
  std::vector<int> ids;
  std::vector<int64_t> lowest;
  Improved best{std::move(offsets), 0};
  for (int id : members) {
    const Buffer& b = problem.buffers[id];
    best.size = std::max(best.size, best.offsets[id] + b.size);
    if (timeline.pieces(id).empty()) {  // shares no byte with anybody
      best.offsets[id] = 0;
      continue;
    }
    ids.push_back(id);
    items.push_back({timeline.spans[id], b.size, alignment_in(problem, id, pool)});
    lowest.push_back(best.offsets[id]);
  }
  OrderSearch orders(std::move(items), timeline.slots, search.seed);
  int64_t ambition = (best.size - lower_bound) / kOrderSteps + 1;
  bool goes_on = false;
  while (best.size > lower_bound && orders.work() < search.work && !search.cutoff.has_passed()) {
    ambition = std::clamp<int64_t>((best.size - lower_bound) / kOrderSteps, 1, ambition);
    const int64_t target = best.size - ambition;
    goes_on ? orders.lower(target) : orders.start(lowest, target);
    goes_on = orders.fit(std::min(search.work - orders.work(), search.work / kOrderAttempts), search.cutoff);
    if (!goes_on) {
      ambition = std::max<int64_t>(ambition / 3, 1);
      continue;
    }
    lowest = orders.offsets();
    best.size = 0;
    for (size_t k = 0; k < ids.size(); ++k) best.offsets[ids[k]] = lowest[k];
    for (int id : members) best.size = std::max(best.size, best.offsets[id] + problem.buffers[id].size);
  }
  return best;
}

}  // namespace arenac
