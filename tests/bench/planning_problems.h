// Planning problems to measure planners with: families that grow from a thousand buffers to a million.
//
//   for (const ProblemFamily& family : kProblemFamilies) Problem p = family.make(1000, /*seed=*/1);
//
// The same numbers on every machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "planner/problem.h"

namespace arenac {

struct ProblemFamily {
  std::string_view name;
  std::string_view description;  // one line
  // One pool, `buffers` buffers (of pinwheels and training graphs a few less).
  Problem (*make)(int buffers, uint64_t seed);
};

extern const std::vector<ProblemFamily> kProblemFamilies;

}  // namespace arenac
