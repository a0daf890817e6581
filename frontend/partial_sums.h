// How the terms of a long float sum are added: in parts, so that the error grows with the number of levels of
// parts instead of the number of terms. This is what a float sum of a nest means, to the interpreter and in
// C.
//
//   sum over [ky 3, kx 3, c 512]        {1}, {}, {}: per ky the sum over kx and c from zero, added as a whole
//   sum over [i 262144]                 {65536, 256}: of 256 terms, of 256 such parts, of 4 of these
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

// Whether sums that a nest combines in this type are of parts once they are long; exact ones are not.
bool sums_in_parts(Combine combine, Type type);

// A sum of at most so many terms has no parts.
constexpr int64_t kLongSum = 1024;

// Per reduced axis, these outermost first with their extents: the widths of parts along it, falling. So many
// of its values, counted from 0, times all of the axes inside are added from zero, and the result to what is
// outside. The widths of one axis divide each other. Without long sums, and for axes of which all values
// belong to one part, none.
std::vector<std::vector<int64_t>> widths_of_parts(std::span<const int64_t> extents);

}  // namespace arenac
