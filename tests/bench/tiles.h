// What generators of planning problems have in common: numbers, problems of one pool, tiles.
//
//   high +-------+---+      a tile is a buffer: its life from begin to end, its size from low to high
//        |       |   |
//    low +-------+---+
//      begin    end
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "planner/problem.h"

namespace arenac {

// The engine's numbers are the same everywhere, those of the standard distributions are not.
struct Dice {
  std::mt19937_64 engine;

  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }  // both included
  bool one_in(int64_t n) { return below(n) == 0; }
  // Goes on doubling with probability 1 - 1 / `stops`; at most `highest`.
  int64_t power_law(int64_t lowest, int64_t highest, int64_t stops) {
    int64_t low = lowest;
    while (low < highest / 2 && !one_in(stops)) low *= 2;
    return between(low, std::min(highest, 2 * low - 1));
  }
};

inline Problem one_pool() { return {.pools = {{"arena"}}, .buffers = {}}; }

inline void add(Problem& problem, int64_t size, int64_t begin, int64_t end) {
  problem.buffers.push_back(
      {.name = std::to_string(problem.buffers.size()), .size = size, .begin = begin, .end = end});
}

struct Tile {
  int64_t begin, end, low, high;

  int64_t width() const { return end - begin; }
  int64_t height() const { return high - low; }
  double area() const { return double(width()) * double(height()); }
  friend bool operator<(const Tile& a, const Tile& b) { return a.area() < b.area(); }
};

// Four around the tile that the cuts leave in the middle; no straight cut separates them.
//
//   +--+-------+
//   |  +----+--+ y2
//   |  |    |  |
//   +--+----+  | y1
//   +-------+--+
//     x1    x2
inline std::vector<Tile> around_a_fifth(const Tile& t, const Tile& fifth) {
  const auto [x1, x2, y1, y2] = fifth;
  return {{t.begin, x2, t.low, y1},
          {x2, t.end, t.low, y2},
          {x1, t.end, y2, t.high},
          {t.begin, x1, y1, t.high},
          fifth};
}

// Any order is as likely.
template <typename T>
void shuffle(std::vector<T>& all, Dice& random) {
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[size_t(random.below(int64_t(i)))]);
}

// One buffer in twenty is gone.
inline Problem with_gaps(Problem problem, uint64_t seed) {
  Dice random{std::mt19937_64(seed)};
  std::erase_if(problem.buffers, [&](const Buffer&) { return random.one_in(20); });
  return problem;
}

}  // namespace arenac
