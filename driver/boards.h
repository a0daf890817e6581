// The boards that QEMU has, on which compiled models run and are counted.
//
//   arenac run kws.onnx --on qemu-m4
//
// How instructions are counted: with `-icount shift=0` QEMU's clock advances by a nanosecond for each
// instruction that the guest executes, so that a timer of the board counts instructions and nothing else:
// SysTick on Cortex-M (a tick is 31 to 50 instructions), minstret on RISC-V (exact); driver/board_clock.h
// reads them. The same program gives the same number in every run, on every machine, however busy. These are
// instructions, not cycles: QEMU has no pipeline, no cache and no flash. Files and text travel by
// semihosting.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arenac {

struct Memory {
  uint32_t begin;
  int64_t bytes;
};

// One row of the table of cores. ARMv6-M code runs on the board of an M3, which executes it as it is.
struct Core {
  std::string_view name;     // "m4"
  const char* compiler;      // "arm-none-eabi-gcc"
  const char* flags;         // which code it makes
  const char* emulator;      // "qemu-system-arm -M mps2-an386"
  const char* target;        // of --target
  Memory code, ram;          // of programs that fit
  Memory store;              // for what does not (driver/board_memory.h)
  int picoseconds_per_tick;  // of its timer
};

std::span<const Core> cores();
const Core* find_core(const std::string& name);  // none: nullptr

// What --on takes: "qemu-m4", ..., and "qemu-rv32", the least of RISC-V. Of no other name is there a board.
std::vector<std::string> board_names();
const Core& find_board(const std::string& name);

// Whether the core's compiler and emulator are installed.
bool is_installed(const Core& core);

inline constexpr int kBoardStackBytes = 0x4000;

// Compiles C for the core, with a C library.
std::string compiler_command(const Core& core);
// What that command takes to link a program that the emulator runs.
std::string program_flags(const Core& core, const Memory& ram);
// Runs such a program; what it exits with, the emulator does.
std::string emulator_command(const Core& core, const std::string& program);

}  // namespace arenac
