// Whether the rings of a schedule are large enough: its groups run with numbers in place of rows and columns.
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// Runs the groups of a schedule with the number of the row in each slot of each ring: every row that a slab
// reads must be there. InternalError otherwise.
void verify_rings(const Schedule& schedule);

}  // namespace arenac
