// What keeps a step from running row by row.
//
//   softmax (Softmax)    "a row of 'p' reads all 49 rows of 'e': max x0[i1]"
//   relu (Relu)          ""
//
// Nothing is said per operator: the reasons are read off the nests, as the scheduler reads them.
#pragma once

#include <string>

#include "scheduler/schedule.h"

namespace arenac {

// One line without a full stop; empty if the step could run row by row.
std::string why_not_by_rows(const Schedule& schedule, size_t step);

}  // namespace arenac
