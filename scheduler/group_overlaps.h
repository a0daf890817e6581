// What a group reads and nothing needs after it may lie over what it leaves behind: its rows are done with
// while those appear.
//
//   slab    reads bytes   writes bytes        in: 16 bytes above the end of what is written at slab t
//   0       [0, 32)       [0, 16)             must not be read at t or later: it must lie 16 bytes
//   1       [16, 48)      [16, 32)            above out
#pragma once

#include <vector>

#include "scheduler/row_lives.h"

namespace arenac {

// Of the storages that a group uses, when its slabs run at these times.
std::vector<StorageOverlap> overlaps_of(const CutSteps& steps, const GroupTimes& times,
                                        const std::vector<StorageUse>& storages);

}  // namespace arenac
