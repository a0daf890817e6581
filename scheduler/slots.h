// Slots of a ring: an element may lie where an earlier one did as soon as nothing touches that any more.
//
//   row      0 1 2 3 4        written at moments 0, 1, 2, 4, 6, touched last at 2, 4, 4, 6, 7:
//   in slot  0 1 2 0 1        three slots, for row 3 is written when row 0 has been read
#pragma once

#include <cstdint>
#include <vector>

namespace arenac {

// How many slabs have run before. Narrow: groups are formed by the thousand, and what is known of each
// fills the cache.
using Moment = int32_t;
constexpr Moment kNever = INT32_MAX;

// When an element of a ring is first written and last touched; written at -1: before the group.
struct Life {
  Moment written = kNever, touched = -1;

  void touch(Moment when) { touched = touched > when ? touched : when; }
  void write(Moment when) {
    written = written < when ? written : when;
    touch(when);
  }
};

// The fewest slots such that the next user of a slot, k later, comes when all is done with the one before.
int64_t slots_for(const std::vector<Life>& lives);

}  // namespace arenac
