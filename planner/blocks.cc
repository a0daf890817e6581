#include "planner/blocks.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

namespace arenac {
namespace {

constexpr int kTries = 5;  // candidates of a slot for one place in a pinwheel

// Ids by two numbers, the latest first.
class Index {
 public:
  static uint64_t key(int64_t a, int64_t b) { return uint64_t(a) * 0x9e3779b97f4a7c15u ^ uint64_t(b); }

  void add(uint64_t key, int id) {
    next_.resize(size_t(id) + 1, -1);
    auto [at, is_new] = latest_.try_emplace(key, id);
    if (is_new) return;
    next_[id] = at->second;
    at->second = id;
  }

  // The latest id of this key (or one that collides with it) that is wanted; -1 if none. Forgets those that
  // are dead.
  template <class Dead, class Wanted>
  int find(uint64_t key, Dead dead, Wanted wanted) {
    const auto at = latest_.find(key);
    if (at == latest_.end()) return -1;
    while (at->second >= 0 && dead(at->second)) at->second = next_[at->second];
    int looks = 0;
    for (int id = at->second; id >= 0 && ++looks < 4 * kTries; id = next_[id])
      if (!dead(id) && wanted(id)) return id;
    return -1;
  }

 private:
  std::unordered_map<uint64_t, int> latest_;
  std::vector<int> next_;  // per id, one of the same key
};

class Maker {
 public:
  Maker(const std::vector<Rectangle>& rectangles, int slots)
      : given_(int(rectangles.size())), begins_(slots + 1), ends_(slots + 1) {
    for (const Rectangle& r : rectangles) add(r);
  }

  Blocks run() {
    while (!queue_.empty()) {
      const int id = queue_.back();
      queue_.pop_back();
      if (!is_part(id)) join(id);
    }
    return std::move(blocks_);
  }

 private:
  Span span(int id) const { return blocks_.all[id].span; }
  int64_t size(int id) const { return blocks_.all[id].size; }
  bool is_part(int id) const { return blocks_.is_part(id); }

  int add(const Rectangle& r) {
    const int id = blocks_.add(r);
    begins_[r.span.begin].push_back(id);
    ends_[r.span.end].push_back(id);
    by_life_.add(Index::key(r.span.begin, r.span.end), id);
    by_begin_.add(Index::key(r.span.begin, r.size), id);
    by_end_.add(Index::key(r.span.end, r.size), id);
    queue_.push_back(id);
    return id;
  }

  // Another block than `id` with this life, or of this size at that begin or end; -1 if there is none.
  int with_life(Span life, int id) {
    return find(by_life_, Index::key(life.begin, life.end), [&](int other) {
      return other != id && span(other).begin == life.begin && span(other).end == life.end;
    });
  }
  int with_begin(int begin, int64_t bytes, int id) {
    return find(by_begin_, Index::key(begin, bytes),
                [&](int other) { return other != id && span(other).begin == begin && size(other) == bytes; });
  }
  int with_end(int end, int64_t bytes, int id) {
    return find(by_end_, Index::key(end, bytes),
                [&](int other) { return other != id && span(other).end == end && size(other) == bytes; });
  }
  template <class Wanted>
  int find(Index& index, uint64_t key, Wanted wanted) {
    return index.find(
        key, [&](int id) { return is_part(id); }, wanted);
  }

  // The latest few.
  struct Few {
    std::array<int, kTries> ids;
    int count = 0;
    const int* begin() const { return ids.data(); }
    const int* end() const { return ids.data() + count; }
  };
  Few few(std::vector<int>& list) {
    while (!list.empty() && is_part(list.back())) list.pop_back();
    Few result;
    for (size_t k = list.size(), stop = k - std::min<size_t>(k, 4 * kTries);
         k > stop && result.count < kTries; --k)
      if (!is_part(list[k - 1])) result.ids[result.count++] = list[k - 1];
    return result;
  }

  void join(int id) {
    if (stack(id) || line_up(id) || pinwheel(id) || id < given_) return;
    // A new arm of a pinwheel, whose centre shares a begin or an end with each arm.
    const Span s = span(id);
    for (std::vector<int>* list : {&begins_[s.begin], &begins_[s.end], &ends_[s.begin], &ends_[s.end]})
      for (int centre : few(*list))
        if (pinwheel(centre)) return;
  }

  bool stack(int id) {
    const int other = with_life(span(id), id);
    if (other < 0) return false;
    const int block = add({span(id), size(id) + size(other)});
    blocks_.attach(id, block, 0);
    blocks_.attach(other, block, size(id));
    return true;
  }

  bool line_up(int id) {
    int left = id, right = with_begin(span(id).end, size(id), id);
    if (right < 0) left = with_end(span(id).begin, size(id), id), right = id;
    if (left < 0) return false;
    const int block = add({{span(left).begin, span(right).end}, size(id)});
    blocks_.attach(left, block, 0);
    blocks_.attach(right, block, 0);
    return true;
  }

  // With this one in the middle, e of the drawing, which may be upside down.
  bool pinwheel(int e) {
    const Span middle = span(e);
    for (int a : few(ends_[middle.end])) {
      if (a == e || span(a).begin >= middle.begin) continue;
      const int d = with_life({span(a).begin, middle.begin}, e);
      if (d < 0) continue;
      const int b = with_begin(middle.end, size(a) + size(e), e);
      if (b < 0 || size(a) + size(d) <= size(b)) continue;
      const int c = with_life({middle.begin, span(b).end}, e);
      if (c < 0 || size(a) + size(d) != size(b) + size(c)) continue;
      const int block = add({{span(a).begin, span(b).end}, size(a) + size(d)});
      blocks_.attach(a, block, 0);
      blocks_.attach(d, block, size(a));
      blocks_.attach(b, block, 0);
      blocks_.attach(c, block, size(b));
      blocks_.attach(e, block, size(a));
      return true;
    }
    return false;
  }

  int given_;  // the first so many
  Blocks blocks_;
  std::vector<std::vector<int>> begins_, ends_;  // per slot
  Index by_life_, by_begin_, by_end_;
  std::vector<int> queue_;
};

}  // namespace

std::vector<int64_t> loads(const std::vector<Rectangle>& rectangles, int slots) {
  std::vector<int64_t> loads(slots + 1, 0);  // at first the changes
  for (const Rectangle& r : rectangles) {
    loads[r.span.begin] += r.size;
    loads[r.span.end] -= r.size;
  }
  std::partial_sum(loads.begin(), loads.end(), loads.begin());
  loads.pop_back();
  return loads;
}

Blocks make_blocks(const std::vector<Rectangle>& rectangles, int slots) {
  return Maker(rectangles, slots).run();
}

}  // namespace arenac
