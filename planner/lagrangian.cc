#include "planner/lagrangian.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace arenac {
namespace {

int64_t rounded_up(double bound, int64_t unit) {
  return unit == 0 || bound <= 0 ? 0 : int64_t(std::ceil(bound / double(unit))) * unit;
}

// Changes prices, from 0 on, step by step.
class Ascent {
 public:
  // The first of Polyak's steps, and how far the direction turns at each.
  Ascent(const Ascending& ascending, double scale, double weight)
      : ascending_(ascending),
        scale_(scale),
        weight_(weight),
        prices_(ascending.kinds * ascending.slots),
        direction_(prices_.size()),
        best_{0, prices_} {}

  const std::vector<double>& prices() const { return prices_; }
  const PricedBound& best() const { return best_; }

  // Takes what the prices come to. False if that is of no use any more.
  bool step(const Relaxed& relaxed) {
    constexpr int kPatience = 30;       // rounds without a better bound, after which steps become shorter
    constexpr double kShortest = 1e-5;  // of Polyak's
    constexpr double kRounding = 1e-9;  // far above what sums of doubles lose
    const double sure = relaxed.bound - kRounding * relaxed.terms;
    if (sure > most_) {
      idle_ = 0;
      most_ = sure;
      best_ = {rounded_up(sure, ascending_.unit), prices_};
    } else if (++idle_ == kPatience) {
      idle_ = 0;
      scale_ /= 2;
    }
    // A little towards the excess: single ones jump (Camerini, Fratta and Maffioli 1975).
    for (size_t k = 0; k < direction_.size(); ++k)
      direction_[k] += weight_ * (relaxed.excess[k] - direction_[k]);
    const double square = direction_square();
    if (double(best_.bound) >= ascending_.best_known || square == 0 || scale_ < kShortest) return false;
    const double length = scale_ * std::max(ascending_.best_known - relaxed.bound, 1.0) / square;
    for (size_t k = 0; k < prices_.size(); ++k)
      if (!is_idle(k)) prices_[k] = std::max(0.0, prices_[k] + length * direction_[k]);
    return true;
  }

 private:
  // Summed kind by kind: they may differ by orders of magnitude.
  double direction_square() const {
    double square = 0;
    for (size_t kind = 0; kind < ascending_.kinds; ++kind) {
      double own = 0;
      for (size_t k = kind * ascending_.slots; k < (kind + 1) * ascending_.slots; ++k)
        if (!is_idle(k)) own += direction_[k] * direction_[k];
      square += own;
    }
    return square;
  }

  // What costs nothing and is to spare stays as it is.
  bool is_idle(size_t k) const { return prices_[k] == 0 && direction_[k] < 0; }

  const Ascending& ascending_;
  double scale_, weight_;
  std::vector<double> prices_, direction_;
  PricedBound best_;
  double most_ = -std::numeric_limits<double>::infinity();
  int idle_ = 0;
};

}  // namespace

PricedBound ascend(const Ascending& ascending, const Cutoff& cutoff,
                   const std::function<Relaxed(const std::vector<double>&)>& relax) {
  PricedBound best{0, std::vector<double>(ascending.kinds * ascending.slots)};
  // Steady for many buffers, agile for few: which of the two is better differs.
  for (Ascent ascent : {Ascent(ascending, 0.1, 0.06), Ascent(ascending, 1, 0.5)}) {
    for (int round = 0; round < ascending.rounds && !cutoff.has_passed(); ++round)
      if (!ascent.step(relax(ascent.prices()))) break;
    if (ascent.best().bound > best.bound) best = ascent.best();
  }
  return best;
}

std::vector<int64_t> fillable(const std::vector<SlotLoad>& loads, int slots, int64_t capacity, int64_t unit) {
  constexpr double kMostWork = 1e9;  // bits, of sums and of sizes
  std::vector<int64_t> most(slots, capacity);
  double lives = 0;
  for (const SlotLoad& load : loads) lives += double(load.end - load.begin);
  if (unit == 0 || (double(capacity / unit) + 64) * lives > kMostWork) return most;
  std::vector<std::vector<int64_t>> live(slots);  // sizes, in units
  for (const SlotLoad& load : loads)
    for (int slot = load.begin; slot < load.end; ++slot) live[slot].push_back(load.size / unit);
  for (int slot = 0; slot < slots; ++slot) {
    boost::dynamic_bitset<> sums(size_t(capacity / unit) + 1, 1);
    for (const int64_t size : live[slot]) sums |= sums << size_t(size);
    size_t top = sums.size() - 1;
    while (!sums[top]) --top;
    most[slot] = int64_t(top) * unit;
  }
  return most;
}

}  // namespace arenac
