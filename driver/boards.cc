#include "driver/boards.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/process.h"
#include "frontend/error.h"

namespace arenac {
namespace {

// An installed tool prints its version at once; one that hangs is none.
constexpr int kProbeSeconds = 60;
const std::string kQemu = "qemu-", kLeastRiscv = "qemu-rv32";
constexpr int64_t kMB = 1 << 20;

#define ARM(m) "arm-none-eabi-gcc", "-mthumb -mcpu=cortex-" m
#define RISCV(march, mabi) "riscv64-unknown-elf-gcc", "-march=" march " -mabi=" mabi " -mcmodel=medany"
// clang-format off
// The memories are those of QEMU's machines: where code and data lie, and how much there is. A tick is what
// the machine's clock counts in when -icount makes an instruction a nanosecond: 25 MHz of the mps2 is 40,000
// ps.
constexpr Core kCores[] = {
    {"m0", ARM("m0"), "qemu-system-arm -M mps2-an385", "cortex-m0", {0, 4 * kMB}, {0x20000000, 4 * kMB}, {0x21000000, 16 * kMB}, 40000},
    {"m3", ARM("m3"), "qemu-system-arm -M mps2-an385", "cortex-m3", {0, 4 * kMB}, {0x20000000, 4 * kMB}, {0x21000000, 16 * kMB}, 40000},
    {"m4", ARM("m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard"), "qemu-system-arm -M mps2-an386", "cortex-m4", {0, 4 * kMB}, {0x20000000, 4 * kMB}, {0x21000000, 16 * kMB}, 40000},
    {"m7", ARM("m7 -mfpu=fpv5-d16 -mfloat-abi=hard"), "qemu-system-arm -M mps2-an500", "cortex-m7", {0, 4 * kMB}, {0x20000000, 4 * kMB}, {0x60000000, 16 * kMB}, 40000},
    {"m33", ARM("m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard"), "qemu-system-arm -M mps2-an505", "cortex-m33", {0x10000000, 4 * kMB}, {0x38000000, 2 * kMB}, {0x80000000, 16 * kMB}, 50000},
    {"m55", ARM("m55 -mfloat-abi=hard"), "qemu-system-arm -M mps3-an547", "cortex-m55", {0, kMB / 2}, {0x31000000, 4 * kMB}, {0x60000000, 256 * kMB}, 31250},
    {"rv32imac", RISCV("rv32imac", "ilp32"), "qemu-system-riscv32 -M virt -bios none", "rv32imc", {0x80000000, 4 * kMB}, {0x80400000, 4 * kMB}, {0x80800000, 120 * kMB}, 1},
    {"rv32imafc", RISCV("rv32imafc", "ilp32f"), "qemu-system-riscv32 -M virt -bios none", "rv32imafc", {0x80000000, 4 * kMB}, {0x80400000, 4 * kMB}, {0x80800000, 120 * kMB}, 1},
};
// clang-format on

// No such program and a program that fails are the same: the board is not there.
bool succeeds(const std::string& command) {
  try {
    return run_process(words_of(command), ".", kProbeSeconds).status == 0;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

std::span<const Core> cores() { return kCores; }

const Core* find_core(const std::string& name) {
  const auto found = std::ranges::find(kCores, name, &Core::name);
  return found == std::end(kCores) ? nullptr : found;
}

// In the order of the table, then the name that stands for one of them.
std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const Core& core : kCores) names.push_back(kQemu + std::string(core.name));
  names.push_back(kLeastRiscv);
  return names;
}

// "qemu-rv32" is the least of the RISC-V cores.
const Core& find_board(const std::string& name) {
  const Core* core = find_core(name == kLeastRiscv ? "rv32imac" : name.substr(kQemu.size()));
  ARENAC_CHECK(core, "the command line knows the boards");
  return *core;
}

// The C library's specs are found only where it is installed, too.
bool is_installed(const Core& core) {
  return succeeds(fmt::format("{} --specs=picolibc.specs --version", core.compiler)) &&
         succeeds(words_of(core.emulator)[0] + " --version");
}

// picolibc, because it has semihosting: files of the host, which inputs and outputs are.
std::string compiler_command(const Core& core) {
  return fmt::format("{} {} --specs=picolibc.specs -std=c99", core.compiler, core.flags);
}

// Of picolibc's linker script, which takes the memories as symbols; crt0=hosted calls exit(), by which files
// are closed.
std::string program_flags(const Core& core, const Memory& ram) {
  return fmt::format(
      "--oslib=semihost --crt0=hosted -DPICOSECONDS_PER_TICK={} "
      "-Wl,--defsym=__flash={},--defsym=__flash_size={}"
      ",--defsym=__ram={},--defsym=__ram_size={},--defsym=__stack_size={}",
      core.picoseconds_per_tick, core.code.begin, core.code.bytes, ram.begin, ram.bytes, kBoardStackBytes);
}

// -icount counts instructions instead of time, so that two runs count the same.
std::string emulator_command(const Core& core, const std::string& program) {
  return fmt::format(
      "{} -display none -monitor none -serial none -icount shift=0 -semihosting-config "
      "enable=on,target=native -kernel {}",
      core.emulator, program);
}

}  // namespace arenac
