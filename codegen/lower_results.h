// What a reduction stores: the finish of its sums, for all lanes of each pixel.
//
//   for each lane l: y[m + l] = max(acc0[l] + b[m + l], 0), y[m + 4 + l] = max(acc1[l] + b[m + l], 0)
#pragma once

#include "codegen/scheduled_nest.h"
#include "codegen/stmt_builder.h"
#include "codegen/sums.h"

namespace arenac {

void store_results(const ScheduledNest& nest, StmtBuilder& at, const Sums& sums, Type write_type);

}  // namespace arenac
