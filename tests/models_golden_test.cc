// Real models the whole way, against their golden outputs: compiled, built with warnings as errors and
// sanitizers, run on a poisoned arena.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "driver/compare.h"
#include "driver/compile.h"
#include "driver/run.h"
#include "tests/conformance.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlags =
    "-std=c99 -O1 -fsanitize=address,undefined -fno-sanitize=null,object-size,pointer-overflow "
    "-fno-sanitize-recover=all "
    "-Wall -Wextra -pedantic -Wconversion -Werror";

// How far two runs of the reference itself differ, relative to the largest output: the last column of
// index.csv.
std::map<std::string, double> reference_spreads(const fs::path& index) {
  std::map<std::string, double> spreads;
  std::ifstream file(index);
  for (std::string line; std::getline(file, line);)
    spreads[line.substr(0, line.find(','))] = std::strtod(line.substr(line.rfind(',') + 1).c_str(), nullptr);
  return spreads;
}

double largest(const Value& value) {
  double most = 0;
  for (int64_t k = 0; k < value.count(); ++k) {
    const Scalar x = load(value, k);
    const double size = is_float(value.type) ? std::abs(x.f) : std::abs(static_cast<double>(x.i));
    if (std::isfinite(size)) most = std::max(most, size);
  }
  return most;
}

// An error may be 1e-3 of the expected value, 1e-4 of the largest output, or ten times the reference's
// spread. Halved, because `difference` adds what is meant as a maximum.
Tolerance tolerance_for(const Value& want, double spread) {
  return {1e-3, std::max(1e-4, 10 * spread) * largest(want)};
}

Result compare_set(const Compilation& c, const std::vector<Value>& got, const std::vector<Value>& want,
                   double spread) {
  if (want.empty() || got.size() < want.size())
    return {Outcome::kWrong, fmt::format("{} outputs, expected {}", got.size(), want.size())};
  for (size_t k = 0; k < want.size(); ++k)  // a map that ZipMap would make is not among the golden data
    if (const auto text = difference(got[k], want[k], tolerance_for(want[k], spread)))
      return {Outcome::kWrong, fmt::format("output '{}': {}", c.graph->output_names[k], *text)};
  return {Outcome::kPass, ""};
}

// Data sets for which the same C is made share its program.
Result try_model(const Case& model, double spread) {
  std::unique_ptr<const Compilation> c;
  std::optional<Program> program;
  for (const fs::path& folder : data_sets(model.folder)) {
    const DataSet data = read_data_set(folder);
    CompileOptions options;
    options.model = model.model().string();
    options.import = data.import;
    options.verbosity = Verbosity::kQuiet;
    auto here = std::make_unique<const Compilation>(compile(options));
    if (!c || here->files != c->files) {
      c = std::move(here);
      program.emplace(*c);
    }
    const RunResult run = program->run(data.inputs);
    if (Result result = compare_set(*c, run.outputs, data.outputs, spread); result.outcome != Outcome::kPass)
      return result;
  }
  return {Outcome::kPass, ""};
}

std::vector<Result> try_models(const std::vector<Case>& models) {
  setenv("CFLAGS", kFlags, 1);
  std::vector<Result> results;
  for (const Case& model : models) {
    const auto spreads = reference_spreads(model.folder.parent_path() / "index.csv");
    const auto spread = spreads.find(model.folder.filename().string());
    results.push_back(
        in_child([&] { return try_model(model, spread == spreads.end() ? 0 : spread->second); }));
    fmt::print("{}: {}\n", model.id,
               results.back().outcome == Outcome::kPass ? "pass" : results.back().reason);
    fflush(stdout);
  }
  return results;
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  return arenac::run_cases(argc, argv, arenac::model_suite(), arenac::try_models);
}
