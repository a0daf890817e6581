#include "tests/bench/coarse_tilings.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bench/tiles.h"

namespace arenac {
namespace {

constexpr int64_t kArea = 200;   // of a piece, on average
constexpr int64_t kLeast = 2;    // its sides
constexpr int64_t kSlender = 7;  // times as long as wide, at most

bool is_slender(const Tile& p) {
  return p.width() > kSlender * p.height() || p.height() > kSlender * p.width();
}

class Cutter {
 public:
  Cutter(int buffers, uint64_t seed) : random_{std::mt19937_64(seed)} {
    const double aspect = std::exp2(double(random_.below(5)) - 2);
    const double area = double(kArea) * buffers;
    pieces_.push_back({0, int64_t(std::sqrt(area * aspect)), 0, int64_t(std::sqrt(area / aspect))});
  }

  Dice& random() { return random_; }
  int count() const { return int(pieces_.size()); }

  // The largest of so many drawn ones.
  size_t draw(int among) {
    size_t best = size_t(random_.below(count()));
    for (int k = 1; k < among; ++k) {
      const size_t other = size_t(random_.below(count()));
      if (pieces_[best] < pieces_[other]) best = other;
    }
    return best;
  }

  // Replaces a piece by the parts, if all of them are allowed.
  void divide(size_t piece, const std::vector<Tile>& parts, bool any_shape) {
    for (const Tile& p : parts)
      if (p.width() < kLeast || p.height() < kLeast || (!any_shape && is_slender(p))) return;
    pieces_[piece] = parts.back();
    pieces_.insert(pieces_.end(), parts.begin(), parts.end() - 1);
  }

  void cut(size_t piece, bool any_shape) {
    const Tile p = pieces_[piece];
    const bool across = any_shape ? random_.below(2) == 0 : random_.below(p.width() + p.height()) < p.width();
    Tile first = p, second = p;
    if (across)
      first.end = second.begin = p.begin + random_.below(p.width());
    else
      first.high = second.low = p.low + random_.below(p.height());
    divide(piece, {first, second}, any_shape);
  }

  void turn(size_t piece) {
    const Tile p = pieces_[piece];
    const int64_t x1 = p.begin + random_.below(p.width()), x2 = p.begin + random_.below(p.width());
    const int64_t y1 = p.low + random_.below(p.height()), y2 = p.low + random_.below(p.height());
    if (x1 < x2) divide(piece, around_a_fifth(p, {x1, x2, y1, y2}), false);
  }

  // In no telling order.
  Problem problem() {
    shuffle(pieces_, random_);
    Problem problem = one_pool();
    for (const Tile& p : pieces_) add(problem, p.height(), p.begin, p.end);
    return problem;
  }

 private:
  Dice random_;
  std::vector<Tile> pieces_;
};

}  // namespace

Problem hopper(int buffers, uint64_t seed) {
  Cutter cutter(buffers, seed);
  while (cutter.count() + 4 <= buffers) {
    const size_t piece = cutter.draw(4);
    if (cutter.random().one_in(6))
      cutter.turn(piece);
    else
      cutter.cut(piece, false);
  }
  return cutter.problem();
}

Problem burke(int buffers, uint64_t seed) {
  Cutter cutter(buffers, seed);
  while (cutter.count() < buffers) cutter.cut(cutter.draw(1), true);
  return cutter.problem();
}

Problem hopper_holed(int buffers, uint64_t seed) { return with_gaps(hopper(buffers, seed), seed + 1); }

}  // namespace arenac
