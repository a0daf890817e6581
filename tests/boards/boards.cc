#include "tests/boards/boards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "driver/files.h"
#include "driver/process.h"
#include "frontend/error.h"

namespace arenac {
namespace {

constexpr int kBuildSeconds = 300, kRunSeconds = 300;
constexpr int kStackBytes = 0x4000;
constexpr uint32_t kMB = 1 << 20;

#define ARM(m) "arm-none-eabi-gcc", "-mthumb -mcpu=cortex-" m
#define RISCV(march, mabi) "riscv64-unknown-elf-gcc", "-march=" march " -mabi=" mabi " -mcmodel=medany"
// clang-format off
constexpr Core kCores[] = {
    {"m0", ARM("m0"), "qemu-system-arm -M mps2-an385", "cortex-m0", 0, 0x20000000, 4 * kMB, 4 * kMB, 40000},
    {"m3", ARM("m3"), "qemu-system-arm -M mps2-an385", "cortex-m3", 0, 0x20000000, 4 * kMB, 4 * kMB, 40000},
    {"m4", ARM("m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard"), "qemu-system-arm -M mps2-an386", "cortex-m4", 0, 0x20000000, 4 * kMB, 4 * kMB, 40000},
    {"m7", ARM("m7 -mfpu=fpv5-d16 -mfloat-abi=hard"), "qemu-system-arm -M mps2-an500", "cortex-m7", 0, 0x20000000, 4 * kMB, 4 * kMB, 40000},
    {"m33", ARM("m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard"), "qemu-system-arm -M mps2-an505", "cortex-m33", 0x10000000, 0x38000000, 4 * kMB, 2 * kMB, 50000},
    {"m55", ARM("m55 -mfloat-abi=hard"), "qemu-system-arm -M mps3-an547", "cortex-m55", 0, 0x31000000, kMB / 2, 4 * kMB, 31250},
    {"rv32imac", RISCV("rv32imac", "ilp32"), "qemu-system-riscv32 -M virt -bios none", "rv32imc", 0x80000000, 0x80400000, 4 * kMB, 4 * kMB, 1},
    {"rv32imafc", RISCV("rv32imafc", "ilp32f"), "qemu-system-riscv32 -M virt -bios none", "rv32imafc", 0x80000000, 0x80400000, 4 * kMB, 4 * kMB, 1},
};
// clang-format on

std::string compile_command(const Core& core, const std::string& level) {
  return fmt::format("{} {} --specs=picolibc.specs -std=c99 {} -c model.c -o model.o", core.compiler,
                     core.flags, level);
}

std::string link_command(const Core& core, size_t input_bytes, size_t output_bytes) {
  const std::string defines = fmt::format(
      "-DHEADER=\"model.h\" -DSTACK_BYTES={} -DPICOSECONDS_PER_TICK={} -DMODEL_INPUT_BYTES={} "
      "-DMODEL_OUTPUT_BYTES={}",
      kStackBytes, core.picoseconds_per_tick, input_bytes, output_bytes);
  const std::string places = fmt::format(
      "-Wl,--defsym=__flash={},--defsym=__flash_size={},--defsym=__ram={},--defsym=__ram_size={},--defsym=__"
      "stack_size={}",
      core.code, core.code_bytes, core.ram, core.ram_bytes, kStackBytes);
  return fmt::format(
      "{} {} --specs=picolibc.specs --oslib=semihost --crt0=hosted -std=gnu99 -O2 {} {} "
      "main.c model.o model_weights.c -lm -o model.elf",
      core.compiler, core.flags, defines, places);
}

std::string run_command(const Core& core) {
  return fmt::format(
      "{} -display none -monitor none -serial none -icount shift=0 -semihosting-config "
      "enable=on,target=native "
      "-kernel model.elf",
      core.emulator);
}

std::string finished(const std::string& command, const std::filesystem::path& folder, int seconds) {
  const Finished done = run_process(words_of(command), folder, seconds);
  if (done.status != 0)
    throw UserError(fmt::format("{}\nended with status {}: {}", command, done.status, done.output));
  return done.output;
}

// From what `size -A` prints.
int64_t text_bytes(const std::string& sizes) {
  int64_t bytes = 0, size;
  std::istringstream lines(sizes);
  for (std::string line, section; std::getline(lines, line);)
    if (std::istringstream(line) >> section >> size && section.starts_with(".text")) bytes += size;
  return bytes;
}

// From what `nm -u -P` prints: a name in front of each line.
std::vector<std::string> names_in(const std::string& symbols) {
  std::vector<std::string> names;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(' ')));
  return names;
}

std::string bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()};
}

}  // namespace

std::span<const Core> cores() { return kCores; }

const Core* find_core(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kCores), std::end(kCores), [&](const Core& core) { return core.name == name; });
  return found == std::end(kCores) ? nullptr : found;
}

bool is_installed(const Core& core) {
  const std::string emulator = words_of(core.emulator)[0];
  try {
    // The C library's specs are found only where it is installed, too.
    finished(fmt::format("{} --specs=picolibc.specs --version", core.compiler), ".", kBuildSeconds);
    finished(emulator + " --version", ".", kBuildSeconds);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

Measured measure(const Compilation& c, const Value& input, const Core& core, const std::string& level) {
  ARENAC_CHECK(c.name == "model" && c.graph->inputs.size() == 1 && c.graph->outputs.size() == 1,
               "a model with one input and one output is measured under the name 'model'");
  const Tensor& result = c.graph->tensors[c.graph->outputs[0]];
  Measured measured = {
      .instructions = 0, .text = 0, .stack = 0, .needed = {}, .output = Value(result.type, result.shape)};
  const TemporaryFolder folder;
  write_files(folder.path(), c.files);
  write_files(folder.path(), {{"main.c", read_file(ARENAC_BOARD_MAIN)}, {"input.bin", bytes_of(input)}});
  const auto run = [&](const std::string& command, int seconds) {
    return finished(command, folder.path(), seconds);
  };
  run(compile_command(core, level), kBuildSeconds);
  run(link_command(core, input.bytes.size(), measured.output.bytes.size()), kBuildSeconds);
  std::istringstream counts(run(run_command(core), kRunSeconds));
  counts >> measured.instructions >> measured.stack;
  if (!counts) throw UserError("the board's program prints two numbers, not: " + counts.str());
  const std::string compiler = core.compiler, tools = compiler.substr(0, compiler.rfind('-'));
  measured.text = text_bytes(run(tools + "-size -A model.o", kBuildSeconds));
  measured.needed = names_in(run(tools + "-nm -u -P model.o", kBuildSeconds));
  const std::string bytes = read_file(folder.path() / "output.bin");
  ARENAC_CHECK(bytes.size() == measured.output.bytes.size(), "the output's file has the size of its tensor");
  std::memcpy(measured.output.bytes.data(), bytes.data(), bytes.size());
  return measured;
}

}  // namespace arenac
