// A compiled model on the boards of QEMU: how many instructions it executes, its code, its stack.
//
//   const Compilation c = compile({.model = "kws.onnx", .name = "model", .weights = WeightsForm::kC});
//   const Measured m = measure(c, inputs[0], *find_core("m4"), "-O2");
//   m.instructions / c.map.totals.macs
//
// How instructions are counted: with `-icount shift=0` QEMU's clock advances by a nanosecond for each
// instruction that the guest executes, so that a timer of the board counts instructions and nothing else. It
// is read before and after model_invoke(): SysTick on Cortex-M (a tick is 31 to 50 instructions), minstret on
// RISC-V (exact). The same program gives the same number in every run, on every machine, however busy. These
// are instructions, not cycles: QEMU has no pipeline, no cache and no flash. Instructions of the C library
// that the model calls (memset, soft float) are among them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driver/compare.h"
#include "driver/compile.h"
#include "frontend/type.h"

namespace arenac {

// One row of the table of cores. ARMv6-M code runs on the board of an M3, which executes it as it is.
struct Core {
  const char* name;      // "m4"
  const char* compiler;  // "arm-none-eabi-gcc"
  const char* flags;     // which code it makes
  const char* emulator;  // "qemu-system-arm -M mps2-an386"
  const char* target;    // of --target
  uint32_t code, ram;    // where they begin
  uint32_t code_bytes, ram_bytes;
  int picoseconds_per_tick;  // of its timer
};

std::span<const Core> cores();
const Core* find_core(const std::string& name);  // none: nullptr

// Whether the core's compiler and emulator are installed.
bool is_installed(const Core& core);

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
