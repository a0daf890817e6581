// Passes over the statements of a kernel: each gives a kernel of the same meaning. A new one is a function
// here and a call in lowered.cc.
#pragma once

#include "codegen/stmt.h"

namespace arenac {

// Lanes as scalars with names, which every compiler keeps in registers; arrays of elements stay arrays:
//
//   float acc0[2];                                       float acc0_0, acc0_1;
//   for (int l = 0; l < 2; ++l) {                        acc0_0 += v0 * x1[i4];
//     acc0[l] += v0 * x1[i4 + l]; }                      acc0_1 += v0 * x1[i4 + 1];
//
// For cores without vectors: an array that a loop indexes lies in memory, unless the compiler unrolls that
// loop, which at -Os it does not.
Kernel scalar_lanes(Kernel kernel);

// Ints that are constant, in their places; without blocks that name nothing:
//
//   { const int i3 = 0;                                  y[l] = ...
//     y[i3 + l] = ... }
Kernel fold_constants(Kernel kernel);

// Registers that are set once, where they are set:
//
//   float r0, r1;
//   r0 = acc0 * 2;                                       const float r0 = acc0 * 2;
//   r1 = acc1 * 2;                                       const float r1 = acc1 * 2;
Kernel define_where_set(Kernel kernel);

// What is held within a byte, as an instruction (codegen/instructions.h):
//
//   y[i] = min(max(acc0 - 16, -128), 127)                y[i] = saturate_s8(acc0 - 16)
Kernel saturate_bytes(Kernel kernel);

}  // namespace arenac
