// A compiled model on the boards of QEMU: how many instructions it executes, its code, its stack.
//
//   const Compilation c = compile({.model = "kws.onnx", .name = "model", .weights = WeightsForm::kC});
//   const Measured m = measure(c, inputs[0], *find_core("m4"), "-O2");
//   m.instructions / c.map.totals.macs
//
// How instructions are counted, driver/boards.h says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/boards.h"
#include "driver/compare.h"
#include "driver/compile.h"
#include "frontend/type.h"

namespace arenac {

struct Measured {
  int64_t instructions;  // of one model_invoke()
  int64_t text;          // bytes of the model's machine code, without the C library's
  int64_t stack;         // bytes below the caller's frame that it wrote to (by painting them first)
  std::vector<std::string> needed;  // what the model's code names and does not define: functions, its weights
  Value output;
};

// What a board may differ by from this machine: integers in nothing, floats in what two C libraries make of
// exp.
inline constexpr Tolerance kSameResult = {.rtol = 1e-5, .atol = 1e-6};

// Builds the compilation, called "model", with its weights as C and with one input and one output, at that
// level of optimisation ("-O2") and runs it once. UserError with the tools' words when it cannot be
// built (it may be too large for the board) or its run fails.
Measured measure(const Compilation& compilation, const Value& input, const Core& core,
                 const std::string& level);

}  // namespace arenac
