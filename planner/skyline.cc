#include "planner/skyline.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "planner/packing.h"

namespace arenac {
namespace {

constexpr int kLooks = 32;  // at most so many candidates, so that a valley takes O(log n)
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

// A tree over slots that raises ranges and tells the greatest height in one.
class Heights {
 public:
  explicit Heights(int slots)
      : leaves_(int(std::bit_ceil(unsigned(std::max(1, slots))))),
        greatest_(2 * leaves_, 0),
        whole_(2 * leaves_, 0) {}

  int64_t greatest(Span span) const {
    int64_t result = 0;
    int left = leaves_ + span.begin, right = leaves_ + span.end;  // half-open
    for (int l = left, r = right; l < r; l /= 2, r /= 2) {
      if (l & 1) result = std::max(result, greatest_[l++]);
      if (r & 1) result = std::max(result, greatest_[--r]);
    }
    for (int node = left / 2; node > 0; node /= 2) result = std::max(result, whole_[node]);
    for (int node = (right - 1) / 2; node > 0; node /= 2) result = std::max(result, whole_[node]);
    return result;
  }

  void raise(Span span, int64_t height) {
    int left = leaves_ + span.begin, right = leaves_ + span.end;
    for (int l = left, r = right; l < r; l /= 2, r /= 2) {
      if (l & 1) raise(l++, height);
      if (r & 1) raise(--r, height);
    }
    for (int node = left / 2; node > 0; node /= 2) greatest_[node] = std::max(greatest_[node], height);
    for (int node = (right - 1) / 2; node > 0; node /= 2) greatest_[node] = std::max(greatest_[node], height);
  }

 private:
  void raise(int node, int64_t height) {
    greatest_[node] = std::max(greatest_[node], height);
    whole_[node] = std::max(whole_[node], height);
  }
  int leaves_;
  std::vector<int64_t> greatest_;  // of the slots below the node, raises of the nodes above it left out
  std::vector<int64_t> whole_;     // what all slots below the node were raised to
};

// The place of the waiting rectangle that fills the valley best; -1 if none fits.
int best_filling(Waiting& waiting, const std::vector<Rectangle>& rectangles, const Skyline& skyline,
                 int valley, Filling filling) {
  const int end = skyline.end(valley), width = end - valley;
  const int64_t height = skyline.height(valley);
  const int64_t left = skyline.left_wall(valley), right = skyline.right_wall(valley);
  const int match = filling == Filling::kMatching ? width : 0;  // what a level top is worth
  int best = -1, most = 0, looks = 0;
  for (int begin = waiting.next_begin(valley, end); begin != kNoSlot && looks < kLooks;
       begin = waiting.next_begin(begin + 1, end), ++looks) {
    if (begin > valley && end - begin + match <= most) break;
    waiting.each(begin, end, filling == Filling::kMatching ? kLooks : 1, [&](int place) {
      const int64_t top = height + rectangles[waiting.id(place)].size;
      int score = waiting.end_at(place) - begin;
      if (begin == valley && top == left) score += match;
      if (waiting.end_at(place) == end && top == right) score += match;
      if (score > most) best = place, most = score;
    });
  }
  return best;
}

}  // namespace

std::vector<int64_t> fill_valleys(const std::vector<Rectangle>& rectangles, int slots, Filling filling) {
  std::vector<int64_t> offsets(rectangles.size());
  Waiting waiting(rectangles, slots);
  Skyline skyline(slots);
  for (size_t placed = 0; placed < rectangles.size();) {
    const int valley = skyline.lowest();
    const int place = best_filling(waiting, rectangles, skyline, valley, filling);
    if (place < 0) {
      skyline.lift(valley);
      continue;
    }
    const int id = waiting.id(place);
    offsets[id] = skyline.height(valley);
    waiting.remove(place);
    skyline.raise(valley, rectangles[id].span, rectangles[id].size);
    ++placed;
  }
  return offsets;
}

std::vector<int64_t> stack(const Problem& problem, const Timeline& timeline, int pool,
                           const std::vector<int>& order) {
  Heights heights(timeline.slots);
  std::vector<int64_t> offsets(problem.buffers.size(), 0);
  for (int id : order) {
    const std::optional<int64_t> fixed = problem.buffers[id].fixed_offset;
    int64_t offset = 0;
    for (const Piece& piece : timeline.pieces(id))
      offset = std::max(offset, heights.greatest(piece.slots) - piece.low);
    const int64_t step = alignment_in(problem, id, pool);
    offset = fixed.value_or(round_up(offset, step));
    for (const Piece& piece : timeline.pieces(id)) heights.raise(piece.slots, offset + piece.high);
    offsets[id] = offset;
  }
  return offsets;
}

}  // namespace arenac
