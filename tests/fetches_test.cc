// What accesses wait for caches, by arithmetic.
#include "codegen/fetches.h"

#include <gtest/gtest.h>

#include <array>

namespace arenac::fetches_test {
namespace {

// Of one of 64 bytes from the second-level cache, one unit; from behind it, ten.
constexpr Costs kCaches = [] {
  Costs costs = {};
  costs.fetch = 1, costs.far_fetch = 10;
  costs.near_bytes = 32 << 10, costs.cache = 512 << 10;
  return costs;
}();
constexpr double kLong = 1 << 30;  // ago

// Blocks of 8 KB of a matrix of 64 KB, each read by ten rows.
constexpr std::array<MovingLoop, 3> kBlocks = {{{8, 128}, {10, 0}, {64, 1024}}};

TEST(Fetches, AreOnceForAllThatReadABlockWhileItIsNear) {
  EXPECT_DOUBLE_EQ(fetching(128, kBlocks, kLong, kCaches), 0.2);
}

TEST(Fetches, AreOfEveryReadWhereMoreIsReadInBetween) {
  constexpr std::array<MovingLoop, 3> rows_outside = {{{10, 0}, {8, 128}, {64, 1024}}};
  EXPECT_DOUBLE_EQ(fetching(64, rows_outside, kLong, kCaches), 1);
}

TEST(Fetches, ComeFromWhereWhatWasReadInBetweenLeavesThem) {
  constexpr std::array<MovingLoop, 1> row = {{{64, 64}}};
  EXPECT_DOUBLE_EQ(fetching(64, row, 32 << 10, kCaches), 0);
  EXPECT_DOUBLE_EQ(fetching(64, row, 100 << 10, kCaches), 1);
  EXPECT_DOUBLE_EQ(fetching(64, row, 1 << 20, kCaches), 10);
}

// Three taps of a hundred pixels: 102 floats, each read about three times.
TEST(Fetches, OfWindowsThatOverlapAreOfWhatTheyCover) {
  constexpr std::array<MovingLoop, 2> taps = {{{100, 4}, {3, 4}}};
  EXPECT_DOUBLE_EQ(fetching(4, taps, 100 << 10, kCaches), 102 * 4 / 64.0 / 300);
}

TEST(Fetches, OfPlacesThatAreNotKnownAreOfAll) {
  constexpr std::array<MovingLoop, 1> ring = {{{100, std::nullopt}}};
  EXPECT_DOUBLE_EQ(fetching(64, ring, 100 << 10, kCaches), 1);
}

TEST(Fetches, AreNoneWithoutCaches) {
  Costs costs = kCaches;
  costs.near_bytes = 0;
  EXPECT_DOUBLE_EQ(fetching(64, kBlocks, kLong, costs), 0);
}

}  // namespace
}  // namespace arenac::fetches_test
