// What the registers of a kernel can hold: sums that cannot leave their type are plain sums in C.
//
//   int32_t acc0 = 0;                                          acc0 in [-9 * 128 * 128, 9 * 128 * 128]:
//   for ky < 3: for kx < 3: acc0 = acc0 + x[...] * w[...]      acc0 += x[...] * w[...], without casts
#pragma once

#include "codegen/stmt.h"

namespace arenac {

// The kernel with the range of every integer register of which one is known.
Kernel with_register_ranges(Kernel kernel);

// closed_interval() of a formula that may read registers; `axes` are intervals_of(kernel). A register without
// a range is as wide as its type.
ClosedInterval interval_with_registers(const Expr& e, const Kernel& kernel,
                                       const std::vector<Interval>& axes);

}  // namespace arenac
