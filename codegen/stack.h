// How much stack the emitted C takes: a bound for gcc at -Os and -O2, which tests/stack_test.sh holds on
// x86-64 and Cortex-M4.
//
//   kws_invoke -> kws_run -> kws_step_7 -> kws_step_5 -> kws_conv_0       calls are a tree that the schedule
//                                                                        knows; the longest path counts
//
//   void kws_conv_0(const float *x0, float *out)      a frame holds what its code names, each once: what is
//     for y                                           in registers makes up for what a compiler adds
//       float acc0[8]                                 parameters + y + acc0 + the address of each operand
//       for k
//         acc0[l] += x0[...]
//
// What functions of the C library take, and interrupts, comes on top.
#pragma once

#include "codegen/lowered.h"

namespace arenac {

// In bytes, of a call of NAME_invoke or NAME_run (or of a row by NAME_feed).
int64_t stack_bound(const Lowered& lowered, Registers registers);

}  // namespace arenac
