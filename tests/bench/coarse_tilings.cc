#include "tests/bench/coarse_tilings.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace arenac {
namespace {

constexpr int64_t kArea = 200;   // of a piece, on average
constexpr int64_t kLeast = 2;    // its sides
constexpr int64_t kSlender = 7;  // times as long as wide, at most

struct Part {
  int64_t begin, end, low, high;
  int64_t width() const { return end - begin; }
  int64_t height() const { return high - low; }
};

bool is_slender(const Part& p) {
  return p.width() > kSlender * p.height() || p.height() > kSlender * p.width();
}

class Cutter {
 public:
  Cutter(int buffers, uint64_t seed) : engine_(seed) {
    const double aspect = std::exp2(double(below(5)) - 2);
    const double area = double(kArea) * buffers;
    pieces_.push_back({0, int64_t(std::sqrt(area * aspect)), 0, int64_t(std::sqrt(area / aspect))});
  }

  int64_t below(int64_t n) { return int64_t(engine_() % uint64_t(n)); }
  int count() const { return int(pieces_.size()); }

  // The largest of so many drawn ones.
  size_t draw(int among) {
    size_t best = size_t(below(count()));
    for (int k = 1; k < among; ++k) {
      const size_t other = size_t(below(count()));
      if (pieces_[other].width() * pieces_[other].height() > pieces_[best].width() * pieces_[best].height())
        best = other;
    }
    return best;
  }

  // Replaces a piece by the parts, if all of them are allowed.
  void divide(size_t piece, const std::vector<Part>& parts, bool any_shape) {
    for (const Part& p : parts)
      if (p.width() < kLeast || p.height() < kLeast || (!any_shape && is_slender(p))) return;
    pieces_[piece] = parts.back();
    pieces_.insert(pieces_.end(), parts.begin(), parts.end() - 1);
  }

  void cut(size_t piece, bool any_shape) {
    const Part p = pieces_[piece];
    const bool across = any_shape ? below(2) == 0 : below(p.width() + p.height()) < p.width();
    Part first = p, second = p;
    if (across)
      first.end = second.begin = p.begin + below(p.width());
    else
      first.high = second.low = p.low + below(p.height());
    divide(piece, {first, second}, any_shape);
  }

  void turn(size_t piece) {
    const Part p = pieces_[piece];
    const int64_t x1 = p.begin + below(p.width()), x2 = p.begin + below(p.width());
    const int64_t y1 = p.low + below(p.height()), y2 = p.low + below(p.height());
    if (x1 < x2)
      divide(piece,
             {{p.begin, x2, p.low, y1},
              {x2, p.end, p.low, y2},
              {x1, p.end, y2, p.high},
              {p.begin, x1, y1, p.high},
              {x1, x2, y1, y2}},
             false);
  }

  // In no telling order.
  Problem problem() {
    for (size_t i = pieces_.size(); i > 1; --i) std::swap(pieces_[i - 1], pieces_[size_t(below(int64_t(i)))]);
    Problem problem{.pools = {{"arena"}}, .buffers = {}};
    for (const Part& p : pieces_)
      problem.buffers.push_back({.name = std::to_string(problem.buffers.size()),
                                 .size = p.height(),
                                 .begin = p.begin,
                                 .end = p.end});
    return problem;
  }

 private:
  std::mt19937_64 engine_;
  std::vector<Part> pieces_;
};

}  // namespace

Problem hopper(int buffers, uint64_t seed) {
  Cutter cutter(buffers, seed);
  while (cutter.count() + 4 <= buffers) {
    const size_t piece = cutter.draw(4);
    if (cutter.below(6) == 0)
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

Problem hopper_holed(int buffers, uint64_t seed) {
  Problem problem = hopper(buffers, seed);
  std::mt19937_64 engine(seed + 1);
  std::erase_if(problem.buffers, [&](const Buffer&) { return engine() % 20 == 0; });
  return problem;
}

}  // namespace arenac
