// What a reduction stores: the finish of its sums, for all lanes of each pixel.
//
//   for each lane l: y[m + l] = max(acc0[l] + b[m + l], 0), y[m + 4 + l] = max(acc1[l] + b[m + l], 0)
//
// The finish of a quantised layer (scale, round, clamp, narrow) takes more operations than a short sum. So it
// is arranged for vectors: one width of element to a loop, tables and functions in loops of their own, and
// where the target has it one instruction row for all of it (requantized_s8).
#pragma once

#include "codegen/scheduled_nest.h"
#include "codegen/stmt_builder.h"
#include "codegen/sums.h"

namespace arenac {

// Stores `sums`, which are complete, into elements of `write_type`; lanes beyond the vector axis are not
// stored.
void store_results(const ScheduledNest& nest, StmtBuilder& at, const Sums& sums, Type write_type);

}  // namespace arenac
