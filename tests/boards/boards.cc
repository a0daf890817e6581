#include "tests/boards/boards.h"

#include <fmt/format.h>

#include <cstring>
#include <sstream>

#include "driver/board_clock_text.h"
#include "driver/files.h"
#include "driver/process.h"
#include "frontend/error.h"

namespace arenac {
namespace {

constexpr int kBuildSeconds = 300, kRunSeconds = 300;

std::string compile_command(const Core& core, const std::string& level) {
  return fmt::format("{} {} -c model.c -o model.o", compiler_command(core), level);
}

std::string link_command(const Core& core, size_t input_bytes, size_t output_bytes) {
  return fmt::format(
      "{} -std=gnu99 -O2 {} -DHEADER=\"model.h\" -DSTACK_BYTES={} -DMODEL_INPUT_BYTES={} "
      "-DMODEL_OUTPUT_BYTES={} main.c model.o model_weights.c -lm -o model.elf",
      compiler_command(core), program_flags(core, core.ram), kBoardStackBytes, input_bytes, output_bytes);
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

Measured measure(const Compilation& c, const Value& input, const Core& core, const std::string& level) {
  ARENAC_CHECK(c.name == "model" && c.graph->inputs.size() == 1 && c.graph->outputs.size() == 1,
               "a model with one input and one output is measured under the name 'model'");
  const Tensor& result = c.graph->tensors[c.graph->outputs[0]];
  Measured measured = {
      .instructions = 0, .text = 0, .stack = 0, .needed = {}, .output = Value(result.type, result.shape)};
  const TemporaryFolder folder;
  write_files(folder.path(), c.files);
  write_files(folder.path(), {{"main.c", std::string(kBoardClock) + read_file(ARENAC_BOARD_MAIN)},
                              {"input.bin", bytes_of(input)}});
  const auto run = [&](const std::string& command, int seconds) {
    return finished(command, folder.path(), seconds);
  };
  run(compile_command(core, level), kBuildSeconds);
  run(link_command(core, input.bytes.size(), measured.output.bytes.size()), kBuildSeconds);
  std::istringstream counts(run(emulator_command(core, "model.elf"), kRunSeconds));
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
