// Problems of the benchmark's families by their names, and plans at given offsets.
//
//   plan_at(family("uniform", 200), offsets)
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "planner/planners.h"
#include "tests/bench/planning_problems.h"

namespace arenac {

inline Problem family(std::string_view name, int buffers, uint64_t seed = 1) {
  for (const ProblemFamily& f : kProblemFamilies)
    if (f.name == name) return f.make(buffers, seed);
  ADD_FAILURE() << "no family " << name;
  return {};
}

// All in the first pool.
inline Plan plan_at(const Problem& problem, const std::vector<int64_t>& offsets) {
  std::vector<Placement> placements;
  for (int64_t offset : offsets) placements.push_back({0, offset});
  return make_plan(problem, placements);
}

}  // namespace arenac
