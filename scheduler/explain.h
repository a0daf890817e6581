// Why each step runs as it does.
//
//   step 3  conv2 (Conv): row by row in g1
//   step 4  softmax (Softmax): a row of 'p' reads all 49 rows of 'e': max x0[i1]
//
// Nothing is said per operator: the reasons are read off the nests, as the scheduler reads them.
#pragma once

#include <string>
#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Per step, one line without a full stop.
std::vector<std::string> explain(const Schedule& schedule);

// What keeps one step from running row by row, if anything does.
std::string why_not_by_rows(const Schedule& schedule, size_t step);

}  // namespace arenac
