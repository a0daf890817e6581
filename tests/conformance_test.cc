// ONNX's backend cases the whole way: compiled to C, built with warnings as errors and sanitizers, run on a
// poisoned arena, compared; and interpreted. Each case is compiled in one of the ways of tests/ways.txt.
// clang and g++ accept the C of every fourth program. Of every eighth case a second compilation must give the
// same bytes. ARENAC_SCHEDULER: another one than the way's.
#include "tests/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

#include "driver/compare.h"
#include "driver/compile.h"
#include "driver/files.h"
#include "driver/harness.h"
#include "driver/process.h"
#include "frontend/error.h"
#include "frontend/interpret.h"
#include "tests/program.h"
#include "tests/ways.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

constexpr size_t kUnitsAProgram = 40;  // share one run of the compiler
constexpr int kBuildSeconds = 300, kRunSeconds = 60;
const std::vector<std::string> kWarnings = {"-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"};
// Checks by calls are compiled faster than checks in place.
const std::vector<std::string> kCompiler = {"cc", "-std=c99", "-O0",
                                            "--param=asan-instrumentation-with-call-threshold=0"};
const std::vector<std::vector<std::string>> kCheckers = {{"clang", "-std=c99", "-fsyntax-only"},
                                                         {"g++", "-x", "c++", "-fsyntax-only"}};

// One data set of one case, compiled under a name of its own into the folder of that name.
struct Unit {
  const Case* owner;
  fs::path data;
  std::string name;
  Result result = {Outcome::kPass, ""};
};

// Many units make one program, which the forms of weights but C do not allow.
CompileOptions options_of(const Unit& unit, const DataSet& data) {
  CompileOptions options = way_of_case(unit.owner->index).options;
  options.model = unit.owner->model().string();
  options.name = unit.name;
  options.import = data.import;
  options.weights = WeightsForm::kC;
  if (const char* scheduler = std::getenv("ARENAC_SCHEDULER")) options.scheduler = scheduler;
  return options;
}

// Are the formulas right?
Result interpret_unit(const Unit& unit, const DataSet& data) {
  const Graph graph = import_model(unit.owner->model().string(), data.import);
  if (graph.inputs.size() != data.inputs.size()) return {Outcome::kRefused, "the data lack an input"};
  Result result = compare_outputs(graph, interpret_outputs(graph, fed(graph, data.inputs)), data.outputs);
  if (result.outcome != Outcome::kPass) result.reason = "interpreted: " + result.reason;
  return result;
}

// What makes a compilation differ from the next, an address or a hash, does so in many cases.
bool is_compiled_twice(const Unit& unit) { return unit.owner->index % 8 == 0; }

Result compile_unit(const Unit& unit, const fs::path& scratch) {
  const DataSet data = read_data_set(unit.data);
  if (Result result = interpret_unit(unit, data); result.outcome != Outcome::kPass) return result;
  const Compilation c = compile(options_of(unit, data));
  if (is_compiled_twice(unit) && compile(options_of(unit, data)).files != c.files)
    return {Outcome::kWrong, "a second compilation gives other files"};
  std::vector<File> files = c.files;
  files.push_back({"main.c", harness_source(c)});
  const std::vector<Value> inputs = fed(*c.graph, data.inputs);
  for (size_t k = 0; k < inputs.size(); ++k)
    files.push_back({fmt::format("input_{}.bin", k),
                     {reinterpret_cast<const char*>(inputs[k].bytes.data()), inputs[k].bytes.size()}});
  write_files(scratch / unit.name, files);
  return {Outcome::kPass, ""};
}

std::vector<std::string> with_warnings(std::vector<std::string> command) {
  command.insert(command.end(), kWarnings.begin(), kWarnings.end());
  return command;
}

Finished check(const fs::path& scratch, const std::string& source) {
  Finished checked{0, ""};
  for (std::vector<std::string> command : kCheckers) {
    command = with_warnings(command);
    command.push_back(source);
    checked = run_process(command, scratch, kBuildSeconds);
    if (checked.status != 0) break;
  }
  return checked;
}

enum class Checkers { kAll, kNone };

Finished build(const std::vector<Unit*>& units, const fs::path& scratch, const std::string& name,
               Checkers checkers) {
  std::vector<std::string> names;
  for (const Unit* unit : units) names.push_back(unit->name);
  write_program(scratch, name, names);
  if (checkers == Checkers::kAll)
    if (Finished checked = check(scratch, name + "_models.c"); checked.status != 0) return checked;
  std::vector<std::string> command = with_warnings(kCompiler);
  command.insert(command.end(), kSanitizers.begin(), kSanitizers.end());
  command.insert(command.end(),
                 {name + "_models.c", name + "_weights.c", name + "_main.c", "-o", name + ".program", "-lm"});
  return run_process(command, scratch, kBuildSeconds);
}

Result compare_unit(const Unit& unit, const fs::path& folder) {
  const DataSet data = read_data_set(unit.data);
  const Graph graph = import_model(unit.owner->model().string(), data.import);
  std::vector<Value> outputs;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const Tensor& tensor = graph.tensors[graph.outputs[k]];
    outputs.emplace_back(tensor.type, tensor.shape);
    const std::string bytes = read_file(folder / fmt::format("output_{}.bin", k));
    ARENAC_CHECK(bytes.size() == outputs.back().bytes.size(), "an output file has the size of its tensor");
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(outputs.back().bytes.data()));
  }
  return compare_outputs(graph, outputs, data.outputs);
}

// When a shared build fails, each unit is built alone, so that only the culprits fail.
void build_and_run(const std::vector<Unit*>& units, const fs::path& scratch, const std::string& name,
                   Checkers checkers) {
  const Finished built = build(units, scratch, name, checkers);
  if (built.status != 0 && units.size() > 1) {
    for (Unit* unit : units) build_and_run({unit}, scratch, "alone_" + unit->name, checkers);
    return;
  }
  // One process runs all, and when it fails each has one of its own.
  const std::string program = "./" + name + ".program";
  const bool all_ran = built.status == 0 && run_process({program}, scratch, kRunSeconds).status == 0;
  for (size_t k = 0; k < units.size(); ++k) {
    Finished ran = built;
    if (built.status == 0 && !all_ran) ran = run_process({program, std::to_string(k)}, scratch, kRunSeconds);
    units[k]->result =
        ran.status != 0
            ? Result{Outcome::kCrash, fmt::format("{} says, status {}: {}",
                                                  built.status != 0 ? "the C compiler" : "the program",
                                                  ran.status, ran.output)}
            : in_child([&] { return compare_unit(*units[k], scratch / units[k]->name); });
  }
}

std::vector<Unit> units_of(const std::vector<Case>& cases) {
  std::vector<Unit> units;
  for (const Case& c : cases)
    for (const fs::path& data : data_sets(c.folder))
      units.push_back({&c, data, fmt::format("u{}", units.size())});
  return units;
}

// Every kUnitsAProgram-th unit that is left, for each of `threads` workers in turn.
void build_and_run_all(std::vector<Unit>& units, const fs::path& scratch) {
  std::vector<Unit*> compiled;
  for (Unit& unit : units)
    if (unit.result.outcome == Outcome::kPass) compiled.push_back(&unit);
  const size_t threads = std::max(1u, std::thread::hardware_concurrency());
  const size_t programs = (compiled.size() + kUnitsAProgram - 1) / kUnitsAProgram;
  std::vector<std::future<void>> workers;
  for (size_t worker = 0; worker < threads; ++worker)
    workers.push_back(std::async(std::launch::async, [&, worker] {
      for (size_t p = worker; p < programs; p += threads) {
        const auto begin = compiled.begin() + p * kUnitsAProgram;
        const auto end = compiled.begin() + std::min(compiled.size(), (p + 1) * kUnitsAProgram);
        build_and_run({begin, end}, scratch, fmt::format("program_{}", p),
                      p % 4 == 0 ? Checkers::kAll : Checkers::kNone);
      }
    }));
  for (std::future<void>& worker : workers) worker.get();
}

std::vector<Result> compile_and_run_all(const std::vector<Case>& cases) {
  const TemporaryFolder scratch;
  std::vector<Unit> units = units_of(cases);
  for (Unit& unit : units) unit.result = in_child([&] { return compile_unit(unit, scratch.path()); });
  build_and_run_all(units, scratch.path());
  std::vector<Result> results(cases.size(), {Outcome::kPass, ""});
  for (const Unit& unit : units) {
    Result& result = results[static_cast<size_t>(unit.owner - cases.data())];
    if (result.outcome != Outcome::kPass) continue;
    result = unit.result;
    if (result.outcome != Outcome::kPass)
      result.reason += fmt::format(" [{}]", way_of_case(unit.owner->index).words);
  }
  return results;
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  return arenac::run_cases(argc, argv, arenac::onnx_suite(), arenac::compile_and_run_all);
}
