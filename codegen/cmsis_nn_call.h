// Calls of CMSIS-NN (scheduler/cmsis_nn.h) in C:
//
//   { /* 3: block1_pointwise */
//     static const cmsis_nn_conv_params params = {128, -128, {1, 1}, {0, 0}, {1, 1}, {-128, 127}};
//     ...
//     if (arm_convolve_wrapper_s8(&ctx, &params, ...) != ARM_CMSIS_NN_SUCCESS) return KWS_ELIBRARY;
//   }
#pragma once

#include <string>
#include <vector>

#include "codegen/c_text.h"
#include "scheduler/cmsis_nn.h"

namespace arenac {

bool calls_cmsis_nn(const Schedule& schedule);

// What stands before the functions of NAME.c that calls it: its header, and what stops the C compiler where
// that is not found or wants the scratch of another core.
std::string cmsis_nn_include(const Schedule& schedule, const std::string& name);

// Pointers to what a call reads and writes, and the status that a run ends with where the function refuses.
struct CmsisNnOperands {
  std::vector<std::string> reads, writes;
  int64_t scratch;  // bytes
  std::string refused;
};
CText cmsis_nn_call(const Call& call, const CmsisNnOperands& operands);

}  // namespace arenac
