// Plans in which a storage is written over while it is still read: refused where the emitted loops, run
// beside the interpreter, find wrong numbers.
#include "planner/verify_bytes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/choose.h"
#include "frontend/error.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/random_layers.h"
#include "tests/seeds.h"
#include "tests/shadow.h"

namespace arenac {
namespace {

constexpr double kWithin = 1e-3;

bool accepts(const Compilation& c) {
  try {
    verify_bytes(c.schedule, c.lifetimes, c.plan);
    return true;
  } catch (const InternalError&) {
    return false;
  }
}

// Every buffer above the one before, `above` aside: it lies `distance` above `below`, or as near as is
// aligned.
Plan plan_with(const Problem& problem, int above, int below, int64_t distance) {
  Plan plan{std::vector<Placement>(problem.buffers.size()), {{}}};
  int64_t offset = problem.buffers[above].size;  // there may be room needed below
  const auto place = [&](int k) {
    const int64_t align = problem.buffers[k].align;
    offset = (offset + align - 1) / align * align;
    plan.placements[k].offset = offset;
    offset += problem.buffers[k].size;
  };
  place(below);
  const int64_t align = problem.buffers[above].align;
  plan.placements[above].offset =
      std::max<int64_t>(0, (plan.placements[below].offset + distance + align - 1) / align * align);
  offset = std::max(offset, plan.placements[above].offset + problem.buffers[above].size);
  for (int k = 0; k < static_cast<int>(problem.buffers.size()); ++k)
    if (k != above && k != below) place(k);
  plan.pools[0].size = offset;
  return plan;
}

// Of a storage that a group reads and one that it leaves behind, lying `part` quarters of the first nearer
// than they may.
struct Tried {
  int wrong = 0, missed = 0;

  void at(Compilation& c, const StorageOverlap& overlap, int64_t part, unsigned seed) {
    Problem& problem = c.lifetimes.problem;
    const int above = c.lifetimes.buffer_of[overlap.above], below = c.lifetimes.buffer_of[overlap.below];
    problem.overlaps = {{above, below, overlap.distance}};
    c.plan = plan_with(problem, above, below, overlap.distance - part * problem.buffers[above].size / 4);
    std::mt19937 random(seed);
    const std::string fault =
        shadow_fault(c, random_inputs(*c.graph, seed, Numbers::kWhole), random, kWithin);
    if (part == 0) {
      EXPECT_TRUE(accepts(c));
      EXPECT_EQ(fault, "");
    }
    wrong += !fault.empty();
    missed += !fault.empty() && accepts(c);
  }
};

// But for those that are wrong within a slab, which may be all of a small tensor.
TEST(Bytes, WrittenOverWhileTheyAreReadAreRefused) {
  Tried tried;
  for (unsigned seed = 0; seed < seeds(60); ++seed) {
    const std::string text = random_layers(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    Compilation c =
        compile_graph(import_text(text), "m", {.io = Io::kArena, .scheduler = seed % 2 ? "rows" : "windows"});
    for (const StorageOverlap& overlap : c.schedule.overlaps)
      if (overlap.step < 0 && c.lifetimes.buffer_of[overlap.above] >= 0 &&
          c.lifetimes.buffer_of[overlap.below] >= 0)
        for (int64_t part = 0; part < 4; ++part) tried.at(c, overlap, part, seed);
  }
  EXPECT_LE(tried.missed, tried.wrong / 20);
  if (all_seeds()) {
    EXPECT_GT(tried.wrong, 100);
  }
}

}  // namespace
}  // namespace arenac
