#include "tests/bench/planning_problems.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>

namespace arenac {
namespace {

// The engine's numbers are the same everywhere, those of the standard distributions are not.
struct Random {
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

Problem one_pool() { return {.pools = {{"arena"}}, .buffers = {}}; }

void add(Problem& problem, int64_t size, int64_t begin, int64_t end) {
  problem.buffers.push_back(
      {.name = std::to_string(problem.buffers.size()), .size = size, .begin = begin, .end = end});
}

// Begins, lengths of life and sizes all equally likely; a life is at most `longest`.
Problem uniform(int buffers, Random random, int64_t longest) {
  Problem problem = one_pool();
  for (int i = 0; i < buffers; ++i) {
    const int64_t begin = random.below(2 * int64_t(buffers));
    add(problem, random.between(1, 1000), begin, begin + random.between(1, longest));
  }
  return problem;
}

Problem uniform_short(int buffers, uint64_t seed) { return uniform(buffers, {std::mt19937_64(seed)}, 400); }

Problem uniform_long(int buffers, uint64_t seed) {
  return uniform(buffers, {std::mt19937_64(seed)}, std::max(2, buffers / 5));
}

Problem power_law(int buffers, uint64_t seed) {
  Random random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  for (int i = 0; i < buffers; ++i) {
    const int64_t begin = random.below(buffers);
    add(problem, random.power_law(16, 1 << 24, 3), begin, begin + random.power_law(1, buffers, 3));
  }
  return problem;
}

// Requests of a few classes of size with a header each, most of them short-lived, in phases: what a phase
// allocates and does not free at once lives until the phase ends, or some later one.
Problem malloc_like(int buffers, uint64_t seed) {
  Random random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  const int64_t phase = std::max(50, buffers / 40);
  for (int64_t i = 0; i < buffers; ++i) {
    const int64_t size = random.one_in(3) ? random.power_law(32, 1 << 20, 2)
                                          : int64_t{16} << random.below(random.one_in(8) ? 10 : 5);
    const int64_t phase_end = (i / phase + 1) * phase;
    int64_t end = i + random.power_law(1, phase, 2);
    if (random.one_in(5)) end = phase_end + phase * (random.one_in(4) ? random.below(6) : 0);
    add(problem, (size + 16 + 15) / 16 * 16, i, std::max(i + 1, end));
  }
  return problem;
}

// A network and its backward pass. Layers have a few operators with branches; what forward operator k writes
// is read by the next few operators and by its mirror image, which writes a gradient and, for some, a weight
// gradient that lives on until the optimizer's step at the end of a bucket.
Problem training(int buffers, uint64_t seed) {
  Random random{std::mt19937_64(seed)};
  Problem problem = one_pool();
  const int64_t operators = std::max(2, buffers * 10 / 36), steps = 2 * operators;
  int64_t channels = 32, pixels = 56 * 56;
  for (int64_t k = 0; k < operators; ++k) {
    if (k % std::max<int64_t>(8, operators / 12) == 0) {
      channels = random.between(2, 24) * 16;
      pixels = std::max<int64_t>(49, random.one_in(2) ? pixels / 4 : pixels);
      if (random.one_in(4)) pixels = 56 * 56;
    }
    const int64_t activation = 4 * channels * pixels * (random.one_in(4) ? 4 : 1);
    const int64_t mirror = steps - 1 - k;
    add(problem, activation, k, random.one_in(4) ? k + random.between(2, 5) : mirror + 1);
    if (random.one_in(2)) add(problem, random.between(1, 40) * 1024, k, k + 1);            // workspace
    if (random.one_in(3)) add(problem, (activation + 31) / 32, k, mirror + 1);             // mask
    add(problem, activation, std::max(k + 1, mirror - random.between(1, 3)), mirror + 1);  // gradient
    if (random.one_in(2)) add(problem, random.between(1, 64) * 4096, mirror, mirror + 1);  // workspace
    if (random.one_in(2))
      add(problem, 4 * channels * channels * (random.one_in(2) ? 9 : 1), mirror,
          std::min(steps, (mirror / 64 + 1) * 64) + 1);  // weight gradient
  }
  return problem;
}

// A rectangle of the packing: times [begin, end), bytes [low, high).
struct Tile {
  int64_t begin, end, low, high;
  double area() const { return double(end - begin) * double(high - low); }
  friend bool operator<(const Tile& a, const Tile& b) { return a.area() < b.area(); }
};

// Somewhere in the middle of [low, high), which has room for it.
int64_t cut(Random& random, int64_t low, int64_t high) {
  const int64_t margin = std::max<int64_t>(1, (high - low) / 5);
  return random.between(low + margin, high - margin);
}

// Replaces the largest tile by what `divide` makes of it until there are as many as asked for.
template <class Divide>
Problem tiling(int buffers, uint64_t seed, int more, Divide divide) {
  Random random{std::mt19937_64(seed)};
  std::priority_queue<Tile> tiles;
  const int64_t side = int64_t(std::sqrt(double(buffers))) * 1'000'000;
  tiles.push({0, side, 0, side * 16});
  while (int(tiles.size()) + more <= buffers) {
    const Tile tile = tiles.top();
    tiles.pop();
    for (const Tile& part : divide(random, tile)) tiles.push(part);
  }
  Problem problem = one_pool();
  for (; !tiles.empty(); tiles.pop()) {
    const Tile& tile = tiles.top();
    add(problem, tile.high - tile.low, tile.begin, tile.end);
  }
  // In no telling order.
  for (int64_t i = int64_t(problem.buffers.size()) - 1; i > 0; --i)
    std::swap(problem.buffers[size_t(i)], problem.buffers[size_t(random.below(i + 1))]);
  return problem;
}

// Guillotine cuts. The load, at every time, is the optimum.
Problem perfect(int buffers, uint64_t seed) {
  return tiling(buffers, seed, 1, [](Random& random, const Tile& t) {
    const bool across = (t.end - t.begin) * 16 > t.high - t.low;
    if (across != random.one_in(4) && t.end - t.begin > 4) {
      const int64_t x = cut(random, t.begin, t.end);
      return std::vector<Tile>{{t.begin, x, t.low, t.high}, {x, t.end, t.low, t.high}};
    }
    const int64_t y = cut(random, t.low, t.high);
    return std::vector<Tile>{{t.begin, t.end, t.low, y}, {t.begin, t.end, y, t.high}};
  });
}

// Each tile becomes four around a fifth, either way round; no straight cut separates them.
Problem pinwheel(int buffers, uint64_t seed) {
  return tiling(buffers, seed, 4, [](Random& random, const Tile& t) {
    const int64_t x = (t.end - t.begin) / 3, y = (t.high - t.low) / 3;
    const int64_t x1 = t.begin + random.between(x / 2, x), x2 = t.end - random.between(x / 2, x);
    const int64_t y1 = t.low + random.between(y / 2, y), y2 = t.high - random.between(y / 2, y);
    if (random.one_in(2))
      return std::vector<Tile>{{t.begin, x2, t.low, y1},
                               {x2, t.end, t.low, y2},
                               {x1, t.end, y2, t.high},
                               {t.begin, x1, y1, t.high},
                               {x1, x2, y1, y2}};
    return std::vector<Tile>{{t.begin, x1, t.low, y2},
                             {x1, t.end, t.low, y1},
                             {x2, t.end, y1, t.high},
                             {t.begin, x2, y2, t.high},
                             {x1, x2, y1, y2}};
  });
}

}  // namespace

const std::vector<ProblemFamily> kProblemFamilies = {
    {"uniform", "sizes up to 1000, lives up to 400 of 2n times", uniform_short},
    {"uniform_long", "sizes up to 1000, lives up to a tenth of all time", uniform_long},
    {"power_law", "sizes and lives of which each doubling is half as likely", power_law},
    {"malloc_like", "classes of sizes, most lives short, the others end in phases", malloc_like},
    {"training", "forward and backward pass of a network", training},
    {"perfect", "a rectangle in guillotine cuts: the optimum is the load", perfect},
    {"pinwheel", "a rectangle in nested pinwheels: the optimum is the load", pinwheel},
};

}  // namespace arenac
