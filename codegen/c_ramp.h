// A table of numbers as a short C expression of its index, where there is one.
//
//   {1, 3, 5, 7, 7}   ->   2 * t0 + 1 < 7 ? 2 * t0 + 1 : 7
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace arenac {

struct CRamp {
  std::string declaration;  // of a table, where no expression was found; else empty
  std::string expression;   // an int
  bool names_index;         // the expression does: not all values are equal
};

// `values` must not be empty and must fit an int; `index` is the name of an int in [0, values.size()).
// Where a value is negative, any negative number may take its place.
// Expressions tried: clamp((num * t + add) / den, least, most) for small num and den, for all values or all
// but the first.
CRamp c_ramp(const std::vector<int64_t>& values, const std::string& index, const std::string& table);

}  // namespace arenac
