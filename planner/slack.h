// What a capacity leaves at each slot above the load, and what of it is already lost.
//
//   capacity ---------------      Slack slack(rectangles, 5, capacity);
//      | 2 | 0 | 1 | 3 | 3 |      slack.of({2, 5}) == 1
//      +   +###+   +   +   +      slack.lose({3, 5}, 2);
//      +###+###+###+   +   +      slack.of({3, 5}) == 1
//      +###+###+###+###+###+
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "planner/blocks.h"

namespace arenac {

class Slack {
 public:
  Slack(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity)
      : leaves_(int(std::bit_ceil(unsigned(std::max(1, slots))))),
        least_(2 * leaves_, capacity),
        whole_(2 * leaves_, 0) {
    std::vector<int64_t> change(slots + 1, 0);  // of the load
    for (const Rectangle& r : rectangles) {
      change[r.span.begin] += r.size;
      change[r.span.end] -= r.size;
    }
    int64_t load = 0;
    for (int slot = 0; slot < slots; ++slot) {
      load += change[slot];
      least_[leaves_ + slot] = capacity - load;
    }
    for (int node = leaves_ - 1; node > 0; --node) pull(node);
  }

  int64_t of(Span span) const { return of(1, {0, leaves_}, span); }  // the least in the span, in bytes
  void lose(Span span, int64_t bytes) { lose(1, {0, leaves_}, span, bytes); }

 private:
  void pull(int node) { least_[node] = std::min(least_[2 * node], least_[2 * node + 1]) - whole_[node]; }
  static Span left(Span span) { return {span.begin, (span.begin + span.end) / 2}; }
  static Span right(Span span) { return {(span.begin + span.end) / 2, span.end}; }

  int64_t of(int node, Span here, Span span) const {
    if (!meet(here, span)) return std::numeric_limits<int64_t>::max() / 2;
    if (span.begin <= here.begin && here.end <= span.end) return least_[node];
    return std::min(of(2 * node, left(here), span), of(2 * node + 1, right(here), span)) - whole_[node];
  }

  void lose(int node, Span here, Span span, int64_t bytes) {
    if (!meet(here, span)) return;
    if (span.begin <= here.begin && here.end <= span.end) {
      least_[node] -= bytes;
      whole_[node] += bytes;
      return;
    }
    lose(2 * node, left(here), span, bytes);
    lose(2 * node + 1, right(here), span, bytes);
    pull(node);
  }

  int leaves_;                  // a power of two
  std::vector<int64_t> least_;  // of the slots below the node, losses of the nodes above it left out
  std::vector<int64_t> whole_;  // what all slots below the node have lost
};

}  // namespace arenac
