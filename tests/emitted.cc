#include "tests/emitted.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "codegen/cycles.h"
#include "driver/files.h"
#include "driver/harness.h"
#include "driver/process.h"
#include "frontend/error.h"
#include "frontend/rewrites.h"
#include "planner/planners.h"
#include "planner/verify.h"
#include "planner/verify_bytes.h"
#include "scheduler/storage.h"
#include "tests/program.h"

namespace arenac {
namespace {

constexpr int kBuildSeconds = 600, kRunSeconds = 120;

using Language = CompilerRow::Language;

void read_outputs(Emitted& e, const std::filesystem::path& folder) {
  const Graph& graph = *e.compilation.graph;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const Tensor& tensor = graph.tensors[graph.outputs[k]];
    Value& value = e.outputs.emplace_back(tensor.type, tensor.shape);
    const std::string bytes = read_file(folder / fmt::format("output_{}.bin", k));
    ARENAC_CHECK(bytes.size() == value.bytes.size(), "an output file has the size of its tensor");
    std::ranges::copy(std::as_bytes(std::span(bytes)), value.bytes.begin());
  }
}

}  // namespace

Compilation compile_graph(Graph graph, const std::string& name, const Way& way,
                          const std::vector<StateNames>& states) {
  verify(graph);
  auto whole = std::make_unique<const Graph>(
      with_caller_rows(rewritten(std::move(graph), layerwise_peak), way.fed, way.emitted));
  Schedule schedule = scheduler_named(way.scheduler).schedule(*whole, targets().at(way.target), kNoDeadline);
  return compile_schedule(std::move(whole), std::move(schedule), name, way, states);
}

Compilation compile_schedule(std::unique_ptr<const Graph> graph, Schedule schedule, const std::string& name,
                             const Way& way, const std::vector<StateNames>& states) {
  Compilation c;
  c.name = name;
  c.io = way.io;
  c.weights = way.weights;
  c.step_cycles = way.step_cycles;
  c.graph = std::move(graph);
  c.schedule = std::move(schedule);
  verify(c.schedule);
  c.lifetimes = lifetimes(c.schedule, way.io, targets().at(way.target).align, way.pools, {}, states);
  c.plan = plan(c.lifetimes.problem);
  const auto wrong = verify(c.lifetimes.problem, c.plan);
  ARENAC_CHECK(!wrong, *wrong);
  verify_bytes(c.schedule, c.lifetimes, c.plan);
  const Target& target = targets().at(way.target);
  const Lowered lowered = lower(c.schedule, c.lifetimes, c.plan);
  c.map = make_map(c.schedule, c.lifetimes, c.plan, way.io);
  if (way.step_cycles) c.map = with_cycles(c.map, cycles_of(lowered, target), target.name);
  c.files = emit(lowered, c.map,
                 {.name = name,
                  .io = way.io,
                  .weights = way.weights,
                  .version = "test",
                  .code = way.code,
                  .features = runs_here(target) ? target.features : "",
                  .step_cycles = way.step_cycles});
  return c;
}

const std::vector<CompilerRow>& compilers() {
  static const std::vector<CompilerRow> all = [] {
    const std::vector<std::string> strict = {"-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"};
    // Sanitizers see most of what is not optimised, which builds fastest too.
    const std::vector<std::string> sanitized = {"-O0", "-fsanitize=address,undefined",
                                                "-fno-sanitize-recover=all"};
    const auto join = [](std::vector<std::string> a, const std::vector<std::string>& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    std::vector<CompilerRow> rows = {
        {"gcc, sanitized", join(join({"cc", "-std=c99"}, sanitized), strict), Language::kC},
        {"gcc -O3", join({"cc", "-std=c99", "-O3", "-march=native"}, strict), Language::kC},
        {"g++, sanitized", join(join({"cc"}, sanitized), strict), Language::kCxx},
        {"clang -O3", join({"clang", "-std=c99", "-O3"}, strict), Language::kC},
        {"clang, sanitized", join(join({"clang", "-std=c99"}, sanitized), strict), Language::kC},
    };
    std::erase_if(rows, [](const CompilerRow& row) {
      return run_process({"sh", "-c", "command -v " + row.command[0]}, ".", 10).status != 0;
    });
    return rows;
  }();
  return all;
}

const std::string& file_named(const Compilation& c, const std::string& name) {
  for (const File& file : c.files)
    if (file.name == name) return file.bytes;
  throw InternalError("no file " + name);
}

void run_emitted(std::vector<Emitted>& batch, const CompilerRow& compiler) {
  const TemporaryFolder scratch;
  std::vector<std::string> names;
  for (const Emitted& e : batch) {
    const Compilation& c = e.compilation;
    names.push_back(c.name);
    std::vector<File> files = c.files;
    files.push_back({"main.c", harness_source(c)});
    for (size_t k = 0; k < e.inputs.size(); ++k)
      files.push_back({fmt::format("input_{}.bin", k),
                       {reinterpret_cast<const char*>(e.inputs[k].bytes.data()), e.inputs[k].bytes.size()}});
    write_files(scratch.path() / c.name, files);
  }
  write_program(scratch.path(), "all", names);
  std::vector<std::string> command = compiler.command;
  if (compiler.language == Language::kCxx) command.insert(command.end(), {"-x", "c++"});
  command.insert(command.end(), {"all_models.c", "all_weights.c"});
  command.insert(command.end(), {"-x", "c"});  // which the driver named g++ does not heed
  command.insert(command.end(), {"all_main.c", "-x", "none", "-o", "all", "-lm"});
  const Finished built = run_process(command, scratch.path(), kBuildSeconds);
  Finished done{0, ""};
  if (built.status == 0) done = run_process({"./all"}, scratch.path(), kRunSeconds);
  for (Emitted& e : batch) {
    const auto folder = scratch.path() / e.compilation.name;
    const size_t last = e.compilation.graph->outputs.size() - 1;
    if (built.status != 0)
      e.fault = fmt::format("{} says: {}", compiler.name, built.output);
    else if (!std::filesystem::exists(folder / fmt::format("output_{}.bin", last)))
      e.fault = fmt::format("{}: status {}: {}", compiler.name, done.status, done.output);
    else
      read_outputs(e, folder);
  }
}

}  // namespace arenac
