// Whether what a stage reads is still there: groups run with tensor and number in place of rows and columns.
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// Runs the groups of a schedule with the tensor and the number of the row in each slot of each ring, and in
// each row of what is there whole: every row that a slab reads must be there, and be of the tensor that is
// read, not of another that shares its storage. InternalError otherwise. Tensors that share rows, as the
// parts of a concat do, or whose rows come in chunks are not told apart, nor are storages that overlap.
void verify_rings(const Schedule& schedule);

}  // namespace arenac
