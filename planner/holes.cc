#include <algorithm>
#include <unordered_map>

#include "planner/loose_blocks.h"

namespace arenac {
namespace {

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

}  // namespace

std::vector<Rectangle> holes(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity,
                             int64_t least) {
  std::vector<int64_t> change(slots + 1, 0);  // of what the load leaves
  change[0] = capacity;
  change[slots] = -capacity;
  for (const Rectangle& r : rectangles) {
    change[r.span.begin] -= r.size;
    change[r.span.end] += r.size;
  }
  std::vector<Rectangle> result;
  std::unordered_map<int64_t, std::vector<int>> rises;
  for (int slot = 0; slot <= slots; ++slot) {
    if (change[slot] > 0) rises[change[slot]].push_back(slot);
    if (change[slot] >= 0) continue;
    const auto same = rises.find(-change[slot]);
    if (same == rises.end() || same->second.empty()) continue;
    const int begin = same->second.back();
    same->second.pop_back();
    result.push_back({{begin, slot}, change[begin]});
    change[begin] = change[slot] = 0;
  }
  std::vector<Open> open;
  for (int slot = 0; slot <= slots; ++slot) {
    if (change[slot] > 0) open.push_back({slot, change[slot]});
    if (change[slot] < 0) close(open, slot, -change[slot], result);
  }
  std::erase_if(result, [&](const Rectangle& r) { return r.size < least; });
  return result;
}

}  // namespace arenac
