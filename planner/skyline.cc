#include "planner/skyline.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "planner/range_maximum.h"

namespace arenac {
namespace {

constexpr int kLooks = 32;  // at most so many candidates, so that a valley takes O(log n)
constexpr int64_t kLookWork = 60, kPlaceWork = 2500;  // steps of about a nanosecond
constexpr int kLooksAhead = 16;                       // for what fills the rest of a valley
constexpr int kNoSlot = std::numeric_limits<int>::max();

// The buffers not yet placed, by the slot at which their lives begin, and there by end.
class Waiting {
 public:
  Waiting(const std::vector<Rectangle>& rectangles, int slots)
      : rectangles_(rectangles), ids_(rectangles.size()), leaves_(int(std::bit_ceil(unsigned(slots + 1)))) {
    const auto key = [&](int id) {
      const Rectangle& r = rectangles[id];
      return std::tuple(r.span.begin, r.span.end, r.size, -id);
    };
    std::iota(ids_.begin(), ids_.end(), 0);
    std::sort(ids_.begin(), ids_.end(), [&](int a, int b) { return key(a) < key(b); });
    first_.assign(slots + 1, 0);
    for (int id : ids_) ++first_[rectangles[id].span.begin + 1];
    for (int slot = 0; slot < slots; ++slot) first_[slot + 1] += first_[slot];
    head_.assign(first_.begin(), first_.end() - 1);
    before_.resize(ids_.size());
    for (int k = 0; k < int(ids_.size()); ++k) before_[k] = k;
    least_end_.assign(2 * leaves_, kNoSlot);
    for (int slot = 0; slot < slots; ++slot)
      if (first_[slot] < first_[slot + 1]) least_end_[leaves_ + slot] = end_at(first_[slot]);
    for (int node = leaves_ - 1; node > 0; --node)
      least_end_[node] = std::min(least_end_[2 * node], least_end_[2 * node + 1]);
  }

  // The first slot from `from` on where a life begins that ends by `end`; kNoSlot if there is none.
  int next_begin(int from, int end) const {
    if (from >= end) return kNoSlot;
    int node = leaves_ + from;
    while (least_end_[node] > end) {
      while (node & 1) node /= 2;  // up while a right child
      if (node == 0) return kNoSlot;
      ++node;
    }
    while (node < leaves_) node = least_end_[2 * node] <= end ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

  // Calls visit(place) for those that begin at the slot and end by `end`, the longest first, `most` at most.
  template <class Visit>
  void each(int slot, int end, int most, Visit visit) {
    const auto begin = ids_.begin() + first_[slot], stop = ids_.begin() + first_[slot + 1];
    const auto above =
        std::upper_bound(begin, stop, end, [&](int e, int id) { return e < rectangles_[id].span.end; });
    int place = alive_at_or_before(int(above - ids_.begin()) - 1);
    for (; place >= first_[slot] && most > 0; --most) {
      visit(place);
      place = alive_at_or_before(place - 1);
    }
  }

  int id(int place) const { return ids_[place]; }
  int end_at(int place) const { return rectangles_[ids_[place]].span.end; }

  void remove(int place) {
    const int slot = rectangles_[ids_[place]].span.begin;
    before_[place] = place - 1;
    int& head = head_[slot];
    while (head < first_[slot + 1] && before_[head] != head) ++head;
    int node = leaves_ + slot;
    least_end_[node] = head < first_[slot + 1] ? end_at(head) : kNoSlot;
    for (node /= 2; node > 0; node /= 2)
      least_end_[node] = std::min(least_end_[2 * node], least_end_[2 * node + 1]);
  }

 private:
  int alive_at_or_before(int place) {
    int root = place;
    while (root >= 0 && before_[root] != root) root = before_[root];
    while (place >= 0 && place != root) place = std::exchange(before_[place], root);
    return root;
  }

  const std::vector<Rectangle>& rectangles_;
  std::vector<int> ids_;        // sorted by begin, end, size
  std::vector<int> first_;      // per slot: its place in ids_
  std::vector<int> head_;       // per slot: its first place that waits
  std::vector<int> before_;     // per place: itself if it waits, else one before it with none waiting between
  int leaves_;                  // a power of two
  std::vector<int> least_end_;  // a heap over slots
};

// Segments of equal height, named by their first slots.
class Skyline {
 public:
  explicit Skyline(int slots) : height_(slots, 0), end_(slots, 0), previous_(slots, -1) {
    if (slots == 0) return;
    end_[0] = slots;
    queue_.push({0, 0});
  }
  int slots() const { return int(height_.size()); }
  int end(int valley) const { return end_[valley]; }
  int64_t height(int valley) const { return height_[valley]; }
  int64_t left_wall(int valley) const { return previous_[valley] < 0 ? kWall : height_[previous_[valley]]; }
  int64_t right_wall(int valley) const { return end_[valley] == slots() ? kWall : height_[end_[valley]]; }

  int lowest() {
    while (true) {
      auto [height, begin] = queue_.top();
      if (end_[begin] > 0 && height_[begin] == height) return begin;
      queue_.pop();
    }
  }

  // To the lower wall.
  void lift(int valley) { rise(valley, std::min(left_wall(valley), right_wall(valley))); }

  // Splits the valley around the span and raises it there.
  void raise(int valley, Span span, int64_t by) {
    const int64_t height = height_[valley];
    const int end = end_[valley];
    if (span.begin > valley) {
      end_[valley] = span.begin;
      previous_[span.begin] = valley;
      push(valley, height);
    }
    if (span.end < end) {
      end_[span.end] = end;
      if (end < slots()) previous_[end] = span.end;
      previous_[span.end] = span.begin;
      push(span.end, height);
    } else if (end < slots()) {
      previous_[end] = span.begin;
    }
    end_[span.begin] = span.end;
    rise(span.begin, height + by);
  }

 private:
  static constexpr int64_t kWall = std::numeric_limits<int64_t>::max();
  using Entry = std::pair<int64_t, int>;

  void push(int segment, int64_t height) {
    height_[segment] = height;
    queue_.push({height, segment});
  }

  // Joins with neighbours of that height.
  void rise(int segment, int64_t height) {
    const int left = previous_[segment], right = end_[segment];
    if (right < slots() && height_[right] == height) {
      end_[segment] = end_[right];
      if (end_[right] < slots()) previous_[end_[right]] = segment;
      end_[right] = 0;
    }
    if (left >= 0 && height_[left] == height) {
      end_[left] = end_[segment];
      if (end_[segment] < slots()) previous_[end_[segment]] = left;
      end_[segment] = 0;
      segment = left;
    }
    push(segment, height);
  }

  std::vector<int64_t> height_;
  std::vector<int> end_;  // 0: no segment begins here
  std::vector<int> previous_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// What each slot needs at least: its load, with the bias, and the bytes lost below the skyline there.
struct Need {
  Need(const std::vector<Rectangle>& rectangles, int slots, const std::vector<int64_t>& bias)
      : of_slots(biased(loads(rectangles, slots), bias)),
        bound(slots > 0 ? of_slots.greatest({0, slots}) : 0) {}

  static std::vector<int64_t> biased(std::vector<int64_t> loads, const std::vector<int64_t>& bias) {
    for (size_t slot = 0; slot < bias.size(); ++slot) loads[slot] += bias[slot];
    return loads;
  }

  RangeMaximum of_slots;
  int64_t bound;  // the greatest before any bytes are lost
};

// Fills the lowest valley again and again.
class Valleys {
 public:
  Valleys(const std::vector<Rectangle>& rectangles, int slots)
      : rectangles_(rectangles), waiting_(rectangles, slots), skyline_(slots) {}

  std::vector<int64_t> fill_level() {
    return fill([&](int valley) { return longest(valley, kLooks, skyline_.end(valley) - valley); },
                [](Span, int64_t) {});
  }

  Filled fill_by_need(Need& need, const ByNeed& by) {
    std::vector<int64_t> offsets = fill(
        [&](int valley) {
          const int urgent = over_tightest(valley, need, by);
          return urgent >= 0 ? urgent : longest(valley, by.looks);
        },
        [&](Span span, int64_t bytes) { need.of_slots.add(span, bytes); });
    return {std::move(offsets), kLookWork * looks_ + kPlaceWork * int64_t(rectangles_.size())};
  }

 private:
  template <class Choose, class Lose>
  std::vector<int64_t> fill(Choose choose, Lose lose) {
    std::vector<int64_t> offsets(rectangles_.size());
    for (size_t placed = 0; placed < rectangles_.size();) {
      const int valley = skyline_.lowest();
      const int64_t height = skyline_.height(valley);
      const int place = choose(valley);
      if (place < 0) {
        lose({valley, skyline_.end(valley)}, lower_wall(valley) - height);
        skyline_.lift(valley);
        continue;
      }
      const int id = waiting_.id(place);
      offsets[id] = height;
      waiting_.remove(place);
      skyline_.raise(valley, rectangles_[id].span, rectangles_[id].size);
      ++placed;
    }
    return offsets;
  }

  int64_t lower_wall(int valley) const {
    return std::min(skyline_.left_wall(valley), skyline_.right_wall(valley));
  }
  int64_t size_at(int place) { return rectangles_[waiting_.id(place)].size; }

  // Calls visit(begin) for the slots of the valley, up to `last`, where something begins that fits.
  template <class Visit>
  void each_begin(int valley, int last, int looks, Visit visit) {
    const int end = skyline_.end(valley);
    for (int begin = waiting_.next_begin(valley, end); begin <= last && looks > 0;
         begin = waiting_.next_begin(begin + 1, end), --looks, ++looks_)
      if (!visit(begin)) return;
  }

  // The place of the longest life, to which a top that is level with the wall beside it adds `level` slots;
  // -1 if none fits.
  int longest(int valley, int looks, int level = 0) {
    const int end = skyline_.end(valley);
    const int64_t height = skyline_.height(valley);
    int best = -1, most = 0;
    each_begin(valley, end, looks, [&](int begin) {
      if (begin > valley && end - begin + level <= most) return false;
      waiting_.each(begin, end, level > 0 ? kLooks : 1, [&](int place) {
        const int64_t top = height + size_at(place);
        int score = waiting_.end_at(place) - begin;
        if (begin == valley && top == skyline_.left_wall(valley)) score += level;
        if (waiting_.end_at(place) == end && top == skyline_.right_wall(valley)) score += level;
        if (score > most) best = place, most = score;
      });
      return true;
    });
    return best;
  }

  // Of those that live at the tightest slot of the valley the longest, or that which leaves the least need
  // beside it; -1 if none fits.
  int over_tightest(int valley, const Need& need, const ByNeed& by) {
    const int end = skyline_.end(valley), tightest = need.of_slots.first_greatest({valley, end});
    std::pair<int64_t, int> best = {std::numeric_limits<int64_t>::max(), 0};
    int chosen = -1;
    each_begin(valley, tightest, by.looks, [&](int begin) {
      waiting_.each(begin, end, 1, [&](int place) {
        if (waiting_.end_at(place) <= tightest) return;
        const std::pair rank = {by.looks_ahead ? need_beside(valley, begin, place, need) : 0,
                                begin - waiting_.end_at(place)};
        if (rank < best) best = rank, chosen = place;
      });
      return true;
    });
    return chosen;
  }

  // What the slots of the valley on both sides of a rectangle that begins there will need, each side as much
  // as its tightest slot, which loses bytes where nothing else lives at it; 0 if the load allows for it.
  int64_t need_beside(int valley, int begin, int place, const Need& need) {
    const int end = skyline_.end(valley), end_of_life = waiting_.end_at(place);
    const int64_t height = skyline_.height(valley), top = height + size_at(place);
    int64_t most = 0;
    const auto look = [&](Span side, int64_t wall) {
      if (side.begin >= side.end) return;
      const int tightest = need.of_slots.first_greatest(side);
      const int64_t lost = fits_over(tightest, side, place) ? 0 : std::min(wall, top) - height;
      most = std::max(most, need.of_slots.at(tightest) + lost);
    };
    look({valley, begin}, skyline_.left_wall(valley));
    look({end_of_life, end}, skyline_.right_wall(valley));
    return most < need.bound ? 0 : most;
  }

  // Whether something else lives at the slot and within the side of a valley.
  bool fits_over(int slot, Span side, int other_than) {
    bool fits = false;
    int looks = kLooksAhead;
    for (int begin = waiting_.next_begin(side.begin, side.end); begin <= slot && looks > 0 && !fits;
         begin = waiting_.next_begin(begin + 1, side.end), --looks, ++looks_)
      waiting_.each(begin, side.end, 2,
                    [&](int place) { fits |= place != other_than && waiting_.end_at(place) > slot; });
    return fits;
  }

  const std::vector<Rectangle>& rectangles_;
  Waiting waiting_;
  Skyline skyline_;
  int64_t looks_ = 0;  // at candidates so far
};

}  // namespace

std::vector<int64_t> fill_valleys(const std::vector<Rectangle>& rectangles, int slots) {
  return Valleys(rectangles, slots).fill_level();
}

Filled fill_valleys(const std::vector<Rectangle>& rectangles, int slots, const ByNeed& by) {
  Need need(rectangles, slots, by.bias);
  return Valleys(rectangles, slots).fill_by_need(need, by);
}

}  // namespace arenac
