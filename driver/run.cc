// From a compilation to its outputs:
//
//   folder/   kws.c kws.h kws_weights.c main.c      sources_of(), built by $CC
//             input_0.bin, ...                      input_files(), as memory has them
//             program                               run_process()
//             output_0.bin, ..., spent.bin          read_output()
#include "driver/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "codegen/c_text.h"
#include "codegen/report_words.h"
#include "driver/board_memory.h"
#include "driver/compare.h"
#include "driver/files.h"
#include "driver/harness.h"
#include "driver/npy.h"
#include "driver/process.h"
#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostShapeElements = 64;  // of an input that may be a shape, or a list of axes
constexpr int64_t kMostMadeUpBytes = int64_t{128} << 20;
constexpr int kBuildSeconds = 600, kRunSeconds = 600;

std::vector<std::string> words_from(const char* variable, const char* fallback) {
  const char* value = std::getenv(variable);
  return words_of(value ? value : fallback);
}

bool is_elsewhere(const ProgramOptions& options) { return options.board || !options.runner.empty(); }

// "qemu-aarch64 {}": the program is where the braces are, or else at the end.
std::vector<std::string> runner_command(const std::string& runner) {
  std::vector<std::string> command = words_of(runner);
  if (std::ranges::find(command, "{}") == command.end()) command.emplace_back("{}");
  std::ranges::replace(command, std::string("{}"), std::string("./program"));
  return command;
}

// The script of a board's linker.
constexpr const char* kLinkerScript = "board.ld";

std::vector<std::string> board_flags(const Core& board, const Compilation& c) {
  const BoardLayout layout = layout_on(board, c);
  std::vector<std::string> flags = words_of(program_flags(board, layout.ram));
  flags.push_back(fmt::format("-D{}_NO_STATIC_ARENA", upper_case(c.name)));
  if (!layout.linker_script.empty())
    for (const char* flag : {"-fdata-sections", "-T", kLinkerScript}) flags.emplace_back(flag);
  return flags;
}

// Every source of the compilation, then -lm; $CFLAGS before what a board needs, which has to win.
std::vector<std::string> build_command(const Compilation& c, const std::vector<File>& files,
                                       const ProgramOptions& options) {
  std::vector<std::string> command =
      options.board ? words_of(compiler_command(*options.board)) : words_from("CC", "cc");
  if (command.empty()) throw UserError("CC is empty: set it to a C compiler", Exit::kUsage);
  for (const std::string& flag : words_from("CFLAGS", "-O2")) command.push_back(flag);
  if (options.board)
    for (const std::string& flag : board_flags(*options.board, c)) command.push_back(flag);
  if (options.profile)
    for (const std::string& flag : step_hook(c)) command.push_back(flag);
  for (const char* word : {"-o", "program"}) command.emplace_back(word);
  for (const File& file : files)
    if (file.name.ends_with(".c") || file.name.ends_with(".S")) command.push_back(file.name);
  command.emplace_back("-lm");
  return command;
}

// Values with the types that the model has, or a UserError.
std::vector<Value> checked_inputs(const Graph& graph, std::vector<Value> inputs) {
  if (inputs.size() != graph.inputs.size())
    throw UserError(fmt::format("{} tensors are given, the model takes {}: sequences differ in length",
                                inputs.size(), graph.inputs.size()));
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& tensor = graph.tensors[graph.inputs[k]];
    inputs[k] = reinterpret_bfloat(std::move(inputs[k]), tensor.type);
    if (inputs[k].type != tensor.type || inputs[k].shape != tensor.shape)
      throw UserError(fmt::format("input '{}': the file holds {} {}, the model takes {} {}",
                                  graph.input_names[k], info(inputs[k].type).name, to_string(inputs[k].shape),
                                  info(tensor.type).name, to_string(tensor.shape)));
  }
  return inputs;
}

// The inputs and, behind them, the states of streams as they are before the first call.
std::vector<Value> with_streams(const Compilation& c, std::vector<Value> inputs) {
  for (const State& state : c.lifetimes.states) {
    if (inputs.size() >= c.graph->inputs.size() || c.graph->inputs[inputs.size()] != state.input) continue;
    const Tensor& tensor = c.graph->tensors[state.input];
    Value& first = inputs.emplace_back(tensor.type, tensor.shape);
    std::fill(first.bytes.begin(), first.bytes.end(), std::byte{state.initial});
  }
  return inputs;
}

// A model asks for inputs of any size with a few bytes of its own.
void require_moderate(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto& ids : {graph.inputs, graph.outputs})
    for (TensorId id : ids) bytes += bytes_of(graph.tensors[id]);
  if (bytes > kMostMadeUpBytes)
    throw UserError(
        fmt::format("{}: inputs and outputs take {}, made-up ones at most {}: give yours with --inputs, or "
                    "bind a smaller --shape",
                    graph.name, bytes_words(bytes), bytes_words(kMostMadeUpBytes)));
}

// One number of the generator for each element, whatever its type. mt19937_64 is the same in every C++
// library, std::uniform_* are not.
Scalar drawn(Type type, std::mt19937_64& random) {
  const uint64_t bits = random();
  if (type == Type::kString) return string_scalar(bits % 2 ? "b" : "a");
  if (is_float(type)) return {.f = static_cast<double>(bits >> 11) * 0x1p-52 - 1};
  if (type == Type::kInt8) return {.i = static_cast<int64_t>(bits % 256) - 128};
  if (type == Type::kUint8) return {.i = static_cast<int64_t>(bits % 256)};
  return {.i = static_cast<int64_t>(bits % 2)};
}

// The model's files and what runs it. With --weights bin the user places the constants; here an assembler
// file does.
std::vector<File> sources_of(const Compilation& c, const ProgramOptions& options) {
  std::vector<File> files = c.files;
  const auto named = [&](const std::string& file) {
    return std::any_of(files.begin(), files.end(), [&](const File& f) { return f.name == file; });
  };
  if (named(c.name + "_weights.bin") && !named(c.name + "_weights.S") && c.weights != WeightsForm::kPointer)
    files.push_back(
        {"place_weights.S", fmt::format(".section .rodata.{0}_weights, \"a\"\n.globl {0}_weights\n"
                                        ".balign 64\n{0}_weights:\n"
                                        ".incbin \"{0}_weights.bin\"\n"
                                        ".section .note.GNU-stack, \"\"\n",
                                        c.name)});
  files.push_back(
      {"main.c", harness_source(c, {.elsewhere = is_elsewhere(options), .profile = options.profile})});
  if (options.board)
    if (const BoardLayout layout = layout_on(*options.board, c); !layout.linker_script.empty())
      files.push_back({kLinkerScript, layout.linker_script});
  if (options.profile) files.push_back({"arenac_step.h", "void arenac_step(int step);\n"});
  return files;
}

std::string bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()};
}

// Elements as memory has them: hosts and boards are little-endian.
std::vector<File> input_files(const Compilation& c, const std::vector<Value>& inputs) {
  const std::vector<Value> checked = checked_inputs(*c.graph, with_streams(c, inputs));
  std::vector<File> files;
  for (size_t k = 0; k < checked.size(); ++k)
    files.push_back({fmt::format("input_{}.bin", k), bytes_of(checked[k])});
  return files;
}

Value read_output(const fs::path& file, const Tensor& tensor) {
  const std::string bytes = read_file(file);
  Value value(tensor.type, tensor.shape);
  ARENAC_CHECK(bytes.size() == value.bytes.size(), "an output file has the size of its tensor");
  if (!bytes.empty()) std::memcpy(value.bytes.data(), bytes.data(), bytes.size());
  return value;
}

// What the model's refusals of that cause say, one a line.
std::string reasons(const Schedule& schedule, Refusal::Cause cause) {
  std::string lines;
  for (const Step& step : schedule.steps)
    if (const Refusal* refusal = std::get_if<Refusal>(&step.node->body); refusal && refusal->cause == cause)
      lines += "\n  " + refusal->reason;
  return lines;
}

}  // namespace

// ONNX's test data call files by number, numpy's users by name.
std::vector<Held> read_inputs(const fs::path& folder, const std::vector<Declaration>& declared) {
  std::vector<Held> values;
  for (size_t k = 0; k < declared.size(); ++k) {
    const std::string& name = declared[k].name;
    const fs::path tensor = folder / fmt::format("input_{}.pb", k);
    const bool plain = name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
    const fs::path named = folder / ((plain ? name : "") + ".npy");
    const fs::path numbered = folder / fmt::format("input_{}.npy", k);
    if (fs::exists(tensor))
      values.push_back(read_held_file(tensor.string(), declared[k]));
    else if (fs::exists(named))
      values.push_back({{npy_value(read_file(named), named.string())}});
    else if (fs::exists(numbered))
      values.push_back({{npy_value(read_file(numbered), numbered.string())}});
    else
      throw UserError(fmt::format("input '{}' is missing: neither {} nor {} exists", name, tensor.string(),
                                  (plain ? named : numbered).string()));
  }
  return values;
}

// In the order of the inputs from one generator, of which states and inputs of a known value take nothing.
std::vector<Value> seeded_inputs(const Compilation& c, const CompileOptions& options) {
  const Graph& graph = *c.graph;
  require_moderate(graph);
  const std::map<std::string, Value>& values = options.import.values;
  const size_t count = graph.inputs.size() - (c.states.size() - options.states.size());
  std::mt19937_64 random(1);
  std::vector<Value> inputs;
  for (size_t k = 0; k < count; ++k) {
    const Tensor& tensor = graph.tensors[graph.inputs[k]];
    const std::string& name = graph.input_names[k];
    const auto known = values.find(name);
    const bool is_state = std::any_of(c.states.begin(), c.states.end(),
                                      [&](const StateNames& state) { return state.input == name; });
    Value& value = inputs.emplace_back(tensor.type, tensor.shape);
    for (int64_t e = 0; e < value.count() && !is_state; ++e)
      store(value, e,
            known == values.end() ? drawn(tensor.type, random)
                                  : convert(tensor.type, known->second.type, load(known->second, e)));
  }
  return inputs;
}

// A shape that a file has binds the model's open dimensions; the elements of a small tensor may be a shape
// themselves.
ImportOptions with_bound_input(ImportOptions options, const Declaration& declared, const Held& held) {
  const bool is_tensor = !declared.is_sequence && held.present;
  if (is_tensor && held.parts.at(0).count() <= kMostShapeElements)
    options.values.emplace(declared.name, held.parts[0]);
  return bound_to(std::move(options), declared, held);
}

std::vector<Value> parts_of(const std::vector<Held>& inputs) {
  std::vector<Value> all;
  for (const Held& held : inputs) all.insert(all.end(), held.parts.begin(), held.parts.end());
  return all;
}

// Built once for many runs.
Program::Program(const Compilation& compilation, const ProgramOptions& options)
    : compilation_(compilation), options_(options) {
  const std::vector<File> sources = sources_of(compilation, options);
  write_files(folder_.path(), sources);
  const std::vector<std::string> command = build_command(compilation, sources, options);
  const Finished done = run_process(command, folder_.path(), kBuildSeconds);
  if (done.status != 0 && options.board && done.output.find("overflowed by") != std::string::npos)
    throw UserError(fmt::format(
        "--on qemu-{}: {} does not fit the board, whose code takes {} at most: "
        "--code small, --optimize ram\n{}",
        options.board->name, compilation.graph->name, bytes_words(options.board->code.bytes), done.output));
  if (done.status != 0)
    throw UserError(fmt::format("the C compiler failed with status {}: {}\n{}", done.status,
                                fmt::join(command, " "), done.output));
}

// The statuses that a model ends with are the user's inputs at fault; any other is ours.
RunResult Program::run(const std::vector<Value>& inputs, int repeat) const {
  const Compilation& c = compilation_;
  write_files(folder_.path(), input_files(c, inputs));
  std::vector<std::string> command = {"./program"};
  if (options_.board) command = words_of(emulator_command(*options_.board, "program"));
  if (!options_.runner.empty()) command = runner_command(options_.runner);
  // The program's argument; a board passes none.
  if (repeat > 0) command.push_back(std::to_string(repeat));
  const Finished done = run_process(command, folder_.path(), kRunSeconds);
  if (done.status == kBranchLeftOut)
    throw UserError(fmt::format("{}: these inputs select a branch that was left out:{}", c.graph->name,
                                reasons(c.schedule, Refusal::Cause::kBranch)));
  if (done.status == kOtherValue)
    throw UserError(fmt::format("{}: these inputs have another value than the one compiled in:{}",
                                c.graph->name, reasons(c.schedule, Refusal::Cause::kValue)));
  if (done.status == kLibraryRefused)
    throw UserError(fmt::format(
        "{}: a function of CMSIS-NN refused what it was called with: build the library for the core that "
        "--target names; a version whose functions ask for more scratch than the plan has cannot be used",
        c.graph->name));
  if (done.status != 0)
    throw InternalError(fmt::format("the compiled model ended with status {}: {}", done.status, done.output));

  RunResult result;
  for (size_t k = 0; k < c.graph->outputs.size(); ++k)
    result.outputs.push_back(
        read_output(folder_.path() / fmt::format("output_{}.bin", k), c.graph->tensors[c.graph->outputs[k]]));
  result.outputs = model_outputs(*c.graph, std::move(result.outputs));
  if (repeat > 0) result.best_ms = std::strtod(done.output.c_str(), nullptr);
  if (options_.profile || is_elsewhere(options_)) {
    // The host's doubles: boards have the same format and order of bytes.
    const std::string bytes = read_file(folder_.path() / "spent.bin");
    result.spent.resize(1 + c.schedule.steps.size());
    ARENAC_CHECK(bytes.size() == result.spent.size() * sizeof(double),
                 "a double for the run and for each step");
    std::memcpy(result.spent.data(), bytes.data(), bytes.size());
  }
  return result;
}

// Inputs are checked before the compiler is started.
RunResult build_and_run(const Compilation& c, const std::vector<Value>& inputs, const RunOptions& options) {
  std::vector<File> files = input_files(c, inputs);
  if (!options.keep.empty()) {
    const std::vector<File> sources = sources_of(c, options.program);
    files.insert(files.end(), sources.begin(), sources.end());
    write_files(options.keep, files);
  }
  ProgressLine line(options.progress);
  line.stage("build");
  const Program program(c, options.program);
  line.stage("run");
  return program.run(inputs, options.repeat);
}

}  // namespace arenac
