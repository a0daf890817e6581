// Stages that run within each other: what a slab of a host runs, reads and pulls of its guests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/chunk_turns.h"
#include "scheduler/chunk_windows.h"
#include "scheduler/families.h"

namespace arenac::chunks_test {
namespace {

using testing::ElementsAre;
using testing::Optional;

// Stage 0 is seen through a window by 1, which runs in turns with 2; 3 is a host without guests.
Group family_of_three() {
  Group group{0, 4, {}, {3}, {}};
  group.stages.resize(4);
  for (Stage& stage : group.stages) stage.slabs = 3;
  group.stages[0].host = 1;
  group.stages[0].slabs_at = {{0, 2}, {2, 3}, {3, 3}};
  group.stages[1].host = 2;
  return group;
}

TEST(Families, AreAHostAndAllThatRunWithinIt) {
  const Group group = family_of_three();
  EXPECT_THAT(family_of(group, 2), ElementsAre(0, 1, 2));
  EXPECT_THAT(family_of(group, 1), ElementsAre(0, 1));
  EXPECT_THAT(family_of(group, 3), ElementsAre(3));
}

TEST(Families, TakeTurnsWithTheirHostUnlessThroughAWindow) {
  const Group group = family_of_three();
  EXPECT_EQ(turns_with(group, 0), 0);
  EXPECT_EQ(turns_with(group, 1), 2);
  EXPECT_EQ(turns_with(group, 3), 3);
}

TEST(Families, RunTheSlabsThatASlabOfTheHostSees) {
  const Group group = family_of_three();
  EXPECT_EQ(slabs_in(group, 1, 2, 1), (Interval{1, 2}));
  EXPECT_EQ(slabs_in(group, 0, 2, 0), (Interval{0, 2}));
  EXPECT_EQ(slabs_in(group, 0, 2, 2), (Interval{3, 3}));
}

TEST(InTurn, IsWhatPullsSlabForSlab) {
  EXPECT_TRUE(in_turn({0, {0, 1, 2}}));
  EXPECT_FALSE(in_turn({0, {1, 2, 2}}));
}

TEST(SlabsRead, AreThoseInWhichRowsAreWritten) {
  const RowAccess written{0, {{0, 2}, {2, 4}, {4, 6}}};
  EXPECT_THAT(slabs_read({0, {{0, 3}, {1, 5}, {3, 6}}}, written),
              Optional(ElementsAre(Interval{0, 2}, Interval{0, 3}, Interval{1, 3})));
}

TEST(SlabsRead, AreNoneWhereRowsAreWrittenInNoOrderOrNever) {
  EXPECT_FALSE(slabs_read({0, {{0, 1}}}, {0, {{2, 4}, {0, 2}}}));
  EXPECT_FALSE(slabs_read({0, {{5, 7}}}, {0, {{0, 2}, {2, 4}, {4, 6}}}));
  EXPECT_FALSE(slabs_read({0, {{3, 3}}}, {0, {{0, 2}, {2, 4}, {4, 6}}}));
}

TEST(WidthOfChunk, DividesTheRow) {
  EXPECT_EQ(width_of_chunk(48, 4), 4);
  EXPECT_EQ(width_of_chunk(49, 4), 7);
  EXPECT_EQ(width_of_chunk(6, 1), 1);
}

TEST(WidthOfChunk, IsOneOrTwoOfWhatHasNoSuchDivisor) {
  EXPECT_EQ(width_of_chunk(13, 4), 1);
  EXPECT_EQ(width_of_chunk(10, 6), 10);
  EXPECT_EQ(width_of_chunk(4, 4), 2);
}

}  // namespace
}  // namespace arenac::chunks_test
