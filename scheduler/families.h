// A host and all that runs within its slabs: its family, of which the others see the host alone.
//
//   dw  seen through a window by pw: at slab t its slabs slabs_at[t]     within pw
//   pw  in turns with add: its slab t within slab t                      within add
//   add                                                                  the host of all three
#pragma once

#include <set>
#include <vector>

#include "scheduler/stage_uses.h"

namespace arenac {

// Ascending: a host comes after its guests.
std::vector<int> family_of(const Group& group, int host);

// The stage whose slabs a stage runs with, one for one; its own where that is no guest of such a kind.
int turns_with(const Group& group, int k);

// The slabs of stage k that run within a slab of a host of its own or of its host's.
Interval slabs_in(const Group& group, int k, int host, int64_t slab);

// What each stage pulls: hosts what their guests read, then what they read themselves; guests nothing.
std::vector<std::vector<Pull>> pulls_of_hosts(const Group& group, const StageUses& uses);

// A storage of which within a slab of the host one of its family writes rows that another one touches, other
// than those `in_chunks`; -1: there is none.
TensorId rows_met_in(int host, const Group& group, const StageUses& uses,
                     const std::set<TensorId>& in_chunks);

}  // namespace arenac
