// Whether what a step reads is still there: the schedule runs with tensors and numbers in place of elements.
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// Runs a schedule with the tensor and the number of the row in each slot of each ring, and in each row of
// what is there whole: every row that a step or a slab reads must be there, and be of the tensor that is
// read, not of another that shares its storage. Rows that tensors share, as the parts of a concat do, are
// told apart by part, those that come in chunks by column. InternalError otherwise. Storages that overlap are
// not told apart.
void verify_rings(const Schedule& schedule);

}  // namespace arenac
