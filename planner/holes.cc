#include "planner/holes.h"

#include <algorithm>
#include <unordered_map>

namespace arenac {
namespace {

constexpr size_t kMostChanges = 1000;  // pairs of them are looked at

// What begins and has not ended.
struct Open {
  int begin;
  int64_t size;
};

// Ends as much: that which fits best, or the latest where none is large enough.
void close(std::vector<Open>& open, int end, int64_t bytes, std::vector<Rectangle>& result) {
  while (bytes > 0 && !open.empty()) {
    auto best = open.end() - 1;
    for (auto at = open.begin(); at != open.end(); ++at)
      if (at->size >= bytes && (best->size < bytes || at->size <= best->size)) best = at;
    const int64_t part = std::min(bytes, best->size);
    result.push_back({{best->begin, end}, part});
    bytes -= part;
    best->size -= part;
    if (best->size == 0) open.erase(best);
  }
}

// What the load leaves, by where it changes: each rectangle found is taken out.
class Holes {
 public:
  Holes(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity) : change_(slots + 1, 0) {
    change_[0] = capacity;
    change_[slots] = -capacity;
    for (const Rectangle& r : rectangles) {
      change_[r.span.begin] -= r.size;
      change_[r.span.end] += r.size;
    }
  }

  std::vector<Rectangle> run() {
    take_alone();
    take_chains();
    take_rest();
    return std::move(result_);
  }

 private:
  void take(int begin, int end, int64_t bytes) {
    result_.push_back({{begin, end}, bytes});
    change_[begin] -= bytes;
    change_[end] += bytes;
  }

  // Those whose begin and end they share with no other.
  void take_alone() {
    std::unordered_map<int64_t, std::vector<int>> rises;
    for (int slot = 0; slot < int(change_.size()); ++slot) {
      if (change_[slot] > 0) rises[change_[slot]].push_back(slot);
      if (change_[slot] >= 0) continue;
      const auto same = rises.find(-change_[slot]);
      if (same == rises.end() || same->second.empty()) continue;
      take(same->second.back(), slot, -change_[slot]);
      same->second.pop_back();
    }
  }

  // Two, of which the second begins where the first ends: three changes that cancel out.
  void take_chains() {
    std::vector<int> changes;
    std::unordered_map<int64_t, std::vector<int>> falls;
    for (int slot = 0; slot < int(change_.size()); ++slot) {
      if (change_[slot] != 0) changes.push_back(slot);
      if (change_[slot] < 0) falls[change_[slot]].push_back(slot);
    }
    if (changes.size() > kMostChanges) return;
    for (auto first = changes.begin(); first != changes.end(); ++first)
      for (auto second = first + 1; second != changes.end() && change_[*first] > 0; ++second)
        if (change_[*second] != 0) take_chain(*first, *second, falls);
  }

  void take_chain(int first, int second, const std::unordered_map<int64_t, std::vector<int>>& falls) {
    const int64_t bytes = change_[first] + change_[second];
    const auto same = falls.find(-bytes);
    if (bytes <= 0 || same == falls.end()) return;
    for (int end : same->second) {
      if (end <= second || change_[end] != -bytes) continue;
      take(first, second, change_[first]);
      take(second, end, bytes);
      return;
    }
  }

  void take_rest() {
    std::vector<Open> open;
    for (int slot = 0; slot < int(change_.size()); ++slot) {
      if (change_[slot] > 0) open.push_back({slot, change_[slot]});
      if (change_[slot] < 0) close(open, slot, -change_[slot], result_);
    }
  }

  std::vector<int64_t> change_;  // per slot: above that before it
  std::vector<Rectangle> result_;
};

}  // namespace

std::vector<Rectangle> holes(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity,
                             int64_t least) {
  std::vector<Rectangle> result = Holes(rectangles, slots, capacity).run();
  std::erase_if(result, [&](const Rectangle& r) { return r.size < least; });
  return result;
}

}  // namespace arenac
