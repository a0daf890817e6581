// Buffers at one offset are one buffer, as large as the largest of them that lives:
//
//   a: 8 bytes, live [0, 3); b: 2 bytes, live [4, 6); at one offset
//   ->  8 bytes, live [0, 6), with the gaps [3, 4) of no bytes and [4, 6) of bytes [0, 2)
#pragma once

#include <vector>

#include "planner/problem.h"

namespace arenac {

struct Merged {
  Problem problem;             // without same-offset groups
  std::vector<int> buffer_of;  // per buffer of the original
};

// Takes a checked problem. Throws UserError if the members of a group have no pool in common, different fixed
// offsets, windows with a hole between them, or an overlap
// that not all of them have.
Merged merge_groups(const Problem& problem);

// Forgets the overlaps, which are permissions, that not all members of a group have.
void erase_partial_overlaps(Problem& problem);

}  // namespace arenac
