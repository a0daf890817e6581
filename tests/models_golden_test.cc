// Real models the whole way, against their golden outputs: compiled in one of the ways of tests/ways.txt
// each, built with warnings as errors and, but for the larger ones, sanitizers, run on a poisoned arena.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "driver/compare.h"
#include "driver/compile.h"
#include "driver/process.h"
#include "driver/run.h"
#include "tests/conformance.h"
#include "tests/ways.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlags = "-std=c99 -Wall -Wextra -pedantic -Wconversion -Werror";

// clang -O0 builds sanitized C ten times as fast as gcc -O1, and what it makes runs a fifth as fast: for the
// models with less to do than the first. Those with more than the second would run for half a minute.
constexpr int64_t kManyMacs = 60'000'000, kMostMacs = 500'000'000;
constexpr double kMostSeconds = 60;  // of a compilation's searches

// Which compiler Program uses for it.
void choose_compiler(const Compilation& c) {
  const bool has_clang = run_process({"sh", "-c", "command -v clang"}, ".", 10).status == 0;
  const bool is_fast = has_clang && c.map.totals.macs < kMostMacs;
  const bool is_sanitized = c.map.totals.macs < kManyMacs;
  setenv("CC", is_fast ? "clang" : "cc", 1);
  const std::string sanitizers = is_sanitized ? fmt::format("{}", fmt::join(kSanitizers, " ")) : "";
  setenv("CFLAGS", fmt::format("{} {} {}", kFlags, sanitizers, is_fast ? "-O0" : "-O1").c_str(), 1);
}

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
// spread.
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

// Models whose weights are generated as one value: whatever goes in, all elements of their output are the
// same.
const std::set<std::string> kConstantModels = {"light_inception_v1", "light_inception_v2"};

// Whether an output has two elements that differ, within a data set or between two: else nothing is wrong but
// a wrong constant. Two or three elements cannot tell.
Result check_data(const Case& model) {
  size_t elements = 0;
  std::map<size_t, std::set<std::pair<double, int64_t>>> distinct;  // per output
  for (const fs::path& folder : data_sets(model.folder)) {
    const std::vector<Value> outputs = read_data_set(folder).outputs;
    for (size_t k = 0; k < outputs.size(); ++k)
      for (int64_t e = 0; e < outputs[k].count(); ++e, ++elements) {
        const Scalar x = load(outputs[k], e);
        const bool real = is_float(outputs[k].type);
        if (distinct[k].size() < 2) distinct[k].insert({real ? x.f : 0.0, real ? 0 : x.i});
      }
  }
  const bool vary =
      std::ranges::any_of(distinct, [](const auto& output) { return output.second.size() > 1; });
  const bool tells = vary || elements <= 3 * distinct.size();
  const bool listed = kConstantModels.contains(model.folder.filename().string());
  if (tells && listed)
    return {Outcome::kWrong, "its outputs vary: strike it from the models that are constant"};
  if (!tells && !listed) return {Outcome::kWrong, "all expected outputs are constant: this test cannot fail"};
  return {Outcome::kPass, ""};
}

CompileOptions options_of(const Case& model, const DataSet& data) {
  CompileOptions options = way_of_case(model.index).options;
  options.seconds = kMostSeconds;
  options.model = model.model().string();
  options.import = data.import;
  return options;
}

// Data sets that bind the inputs alike share a compilation, and those for which the same C is made its
// program.
Result try_model(const Case& model, double spread) {
  if (Result result = check_data(model); result.outcome != Outcome::kPass) return result;
  std::optional<ImportOptions> bound;
  std::unique_ptr<const Compilation> c;
  std::optional<Program> program;
  for (const fs::path& folder : data_sets(model.folder)) {
    const DataSet data = read_data_set(folder);
    if (bound != data.import) {
      auto here = std::make_unique<const Compilation>(compile(options_of(model, data)));
      bound = data.import;
      if (!c || here->files != c->files) {
        c = std::move(here);
        choose_compiler(*c);
        program.emplace(*c);
      }
    }
    const RunResult run = program->run(data.inputs);
    if (Result result = compare_set(*c, run.outputs, data.outputs, spread); result.outcome != Outcome::kPass)
      return result;
  }
  return {Outcome::kPass, ""};
}

std::vector<Result> try_models(const std::vector<Case>& models) {
  std::vector<Result> results;
  for (const Case& model : models) {
    const auto spreads = reference_spreads(model.folder.parent_path() / "index.csv");
    const auto spread = spreads.find(model.folder.filename().string());
    results.push_back(
        in_child([&] { return try_model(model, spread == spreads.end() ? 0 : spread->second); }));
    Result& result = results.back();
    const std::string& way = way_of_case(model.index).words;
    if (result.outcome != Outcome::kPass) result.reason += fmt::format(" [{}]", way);
    fmt::print("{} [{}]: {}\n", model.id, way, result.outcome == Outcome::kPass ? "pass" : result.reason);
    fflush(stdout);
  }
  return results;
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  return arenac::run_cases(argc, argv, arenac::model_suite(), arenac::try_models);
}
