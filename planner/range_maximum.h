// Numbers per slot: a range is added to, and the greatest of a range asked for, in logarithmic time.
//
//   RangeMaximum m({3, 5, 4, 1});
//   m.add({2, 4}, 2);             // 3 5 6 3
//   m.greatest({0, 2}) == 5;  m.first_greatest({0, 4}) == 2;  m.at(3) == 3;
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "planner/timeline.h"

namespace arenac {

class RangeMaximum {
 public:
  explicit RangeMaximum(const std::vector<int64_t>& numbers)
      : leaves_(int(std::bit_ceil(std::max<size_t>(1, numbers.size())))),
        greatest_(2 * leaves_, kLowest),
        added_(2 * leaves_, 0) {
    std::copy(numbers.begin(), numbers.end(), greatest_.begin() + leaves_);
    for (int node = leaves_ - 1; node > 0; --node) pull(node);
  }

  void add(Span span, int64_t number) { add(1, {0, leaves_}, span, number); }

  // Of a span that is not empty.
  int64_t greatest(Span span) const { return greatest(1, {0, leaves_}, span); }
  int first_greatest(Span span) const { return first(1, {0, leaves_}, span, 0).slot; }

  int64_t at(int slot) const {
    int64_t number = greatest_[leaves_ + slot];
    for (int node = (leaves_ + slot) / 2; node > 0; node /= 2) number += added_[node];
    return number;
  }

 private:
  static constexpr int64_t kLowest = std::numeric_limits<int64_t>::min() / 2;

  struct Found {
    int slot = -1;
    int64_t number = std::numeric_limits<int64_t>::min();
  };

  static Span left(Span span) { return {span.begin, (span.begin + span.end) / 2}; }
  static Span right(Span span) { return {(span.begin + span.end) / 2, span.end}; }
  static bool covers(Span span, Span here) { return span.begin <= here.begin && here.end <= span.end; }

  void pull(int node) {
    greatest_[node] = std::max(greatest_[2 * node], greatest_[2 * node + 1]) + added_[node];
  }

  void add(int node, Span here, Span span, int64_t number) {
    if (!meet(here, span)) return;
    if (covers(span, here)) {
      greatest_[node] += number;
      added_[node] += number;
      return;
    }
    add(2 * node, left(here), span, number);
    add(2 * node + 1, right(here), span, number);
    pull(node);
  }

  int64_t greatest(int node, Span here, Span span) const {
    if (!meet(here, span)) return kLowest;
    if (covers(span, here)) return greatest_[node];
    return added_[node] +
           std::max(greatest(2 * node, left(here), span), greatest(2 * node + 1, right(here), span));
  }

  // `above`: what was added to nodes above this one.
  Found first(int node, Span here, Span span, int64_t above) const {
    if (!meet(here, span)) return {};
    if (here.end - here.begin == 1) return {here.begin, greatest_[node] + above};
    above += added_[node];
    if (covers(span, here))
      return greatest_[2 * node] + added_[node] == greatest_[node]
                 ? first(2 * node, left(here), span, above)
                 : first(2 * node + 1, right(here), span, above);
    const Found one = first(2 * node, left(here), span, above);
    const Found other = first(2 * node + 1, right(here), span, above);
    return one.number >= other.number ? one : other;
  }

  int leaves_;                     // a power of two
  std::vector<int64_t> greatest_;  // of a node's slots, what was added to nodes above it left out
  std::vector<int64_t> added_;     // to all slots of a node
};

}  // namespace arenac
