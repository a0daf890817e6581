// Seeded numbers for searches, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace arenac {

// Knuth's 64-bit linear congruential generator (MMIX; The Art of Computer Programming vol. 2, 3.3.4).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Uniform in [0, n), n below 2^32.
  uint64_t below(uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return ((state_ >> 32) * n) >> 32;
  }

 private:
  uint64_t state_;
};

// Any order is as likely.
inline void shuffle(std::span<int> order, Random& random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

}  // namespace arenac
