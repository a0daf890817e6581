// Cycles that kernels and schedules take on a target, without running them: of every statement those of its
// operations (the target's Costs, the table of instructions) times how often it runs.
//
//   for i in [0, 16):                      16 * (loop +
//     acc = acc + x[i] * w[i]                    2 * load + multiply_add)
//
// What a compiler at -O2 makes of it is taken for granted: indices that are sums cost nothing, for pointers
// move along; what is read is widened by its load; a product that is added is one operation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/lowered.h"

namespace arenac {

// Of one run of the kernel; iterations[k] is the value of symbol k.
double cycles_of(const Kernel& kernel, const Costs& costs, std::span<const int64_t> iterations);

// Of each step in one run of the model, in a loop's body those of all its trips.
std::vector<double> cycles_of(const Lowered& lowered, const Target& target);

}  // namespace arenac
