// A kernel's statements as the text of a C function.
//
//   (const float *KWS_RESTRICT x0, const float *KWS_RESTRICT x1, float *KWS_RESTRICT out)
//   {
//     for (int i0 = 0; i0 < 16; ++i0) {
//       float acc0;
//       acc0 = 0.0f;
//       ...
#pragma once

#include <string>
#include <vector>

#include "codegen/c_expr.h"
#include "codegen/lower_nest.h"

namespace arenac {

// What a kernel takes, in this order: pointers to the operands in `reads`, the pointer to the result, the
// numbers of the iterations in `symbols`, the kernel's numbers if it has any.
struct CKernel {
  std::string signature;     // parameters and body: two kernels with equal text are one function
  std::vector<int> reads;    // operand of the node per pointer parameter
  std::vector<int> symbols;  // loops whose iteration number it takes
};

// Prints a kernel; the functions that it calls go into `helpers`, their names begin with `prefix`. `operands`
// are those that it was lowered for: whether a pointer is `restrict` is decided by their aliasing.
CKernel c_kernel(const Kernel& kernel, const KernelOperands& operands, const std::string& prefix,
                 Helpers& helpers);

}  // namespace arenac
