// Seeded numbers that are the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace arenac::models {

// A 64-bit linear congruential generator, multiplier and increment by Knuth (MMIX; The Art of Computer
// Programming vol. 2, 3.3.4). Its upper 24 bits make the numbers, so that each one is exactly a float.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Uniform in [-1, 1), a multiple of 2^-23.
  float symmetric() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int64_t>(state_ >> 40) - (int64_t{1} << 23)) / (int64_t{1} << 23);
  }

  // `count` numbers uniform in [-bound, bound).
  std::vector<float> uniform(int64_t count, double bound) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(symmetric() * bound);
    return values;
  }

 private:
  uint64_t state_;
};

}  // namespace arenac::models
