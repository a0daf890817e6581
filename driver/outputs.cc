#include "driver/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/report_words.h"
#include "driver/files.h"
#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

std::string file_name(size_t output) { return fmt::format("output_{}.pb", output); }

// Of sequences and optionals, in words.
std::string holding(const Held& held) {
  return held.present ? counted(held.parts.size(), "element") : "nothing";
}

// "float32 [1,10], -0.25 to 3.5, mean 0.125", of the numbers that are finite.
std::string summary(const Value& value) {
  double least = INFINITY, most = -INFINITY, sum = 0;
  int64_t finite = 0;
  for (int64_t k = 0; k < value.count() && value.type != Type::kString; ++k) {
    const double x = number(value.type, load(value, k));
    if (!std::isfinite(x)) continue;
    least = std::min(least, x);
    most = std::max(most, x);
    sum += x;
    ++finite;
  }
  std::string text = fmt::format("{} {}", info(value.type).name, to_string(value.shape));
  if (finite > 0)
    text += fmt::format(", {:.6g} to {:.6g}, mean {:.6g}", least, most, sum / static_cast<double>(finite));
  if (finite < value.count() && value.type != Type::kString)
    text += fmt::format(", {} not finite", value.count() - finite);
  return text;
}

// Of a sequence the first element that differs; lengths come before contents.
std::optional<std::string> difference(const Declaration& declared, const Held& got, const Held& want,
                                      const Tolerance& tolerance) {
  if (got.present != want.present || got.parts.size() != want.parts.size())
    return fmt::format("holds {}, expected {}", holding(got), holding(want));
  for (size_t k = 0; k < want.parts.size(); ++k) {
    const Value& part = got.parts[k];
    const auto text = difference(part, reinterpret_bfloat(want.parts[k], part.type), tolerance);
    if (text) return declared.is_sequence ? fmt::format("element {}: {}", k, *text) : *text;
  }
  return std::nullopt;
}

}  // namespace

// `output_parts` says of each output of the model how many of the graph's it is, or that it holds nothing.
std::vector<Held> held_outputs(const Graph& graph, const std::vector<Value>& outputs) {
  std::vector<Held> all;
  size_t next = 0;
  for (const std::optional<size_t>& parts : graph.output_parts) {
    Held& held = all.emplace_back(Held{{}, parts.has_value()});
    for (size_t k = 0; k < parts.value_or(0); ++k) held.parts.push_back(outputs.at(next++));
  }
  return all;
}

void write_outputs(const ModelOutputs& outputs, const fs::path& folder) {
  std::vector<File> files;
  for (size_t k = 0; k < outputs.held.size(); ++k)
    files.push_back({file_name(k), held_file(outputs.declared[k], outputs.held[k])});
  write_files(folder, files);
}

void print_summary(const ModelOutputs& outputs) {
  for (size_t k = 0; k < outputs.held.size(); ++k) {
    const Declaration& declared = outputs.declared[k];
    const std::string name = printable(declared.name);
    if (!outputs.held[k].present) fmt::print("output '{}': nothing\n", name);
    for (size_t part = 0; part < outputs.held[k].parts.size(); ++part)
      fmt::print("output '{}'{}: {}\n", name, declared.is_sequence ? fmt::format(" element {}", part) : "",
                 summary(outputs.held[k].parts[part]));
  }
}

// Outputs without a file are not compared: test data may hold some of them.
Exit compare_with_files(const ModelOutputs& outputs, const fs::path& folder, const Tolerance& tolerance,
                        Verbosity verbosity) {
  int compared = 0, differing = 0, quantised = 0;
  for (size_t k = 0; k < outputs.held.size(); ++k) {
    const fs::path file = folder / file_name(k);
    if (!fs::exists(file)) continue;
    const Declaration& declared = outputs.declared[k];
    const Held want = read_held_file(file.string(), declared);
    ++compared;
    Tolerance within = tolerance;
    // The step of this output, 0 where it is not quantised.
    within.quantum = declared.quantum;
    quantised += declared.quantum > 0 && tolerance.quanta > 0;
    const auto text = difference(declared, outputs.held[k], want, within);
    if (!text) continue;
    ++differing;
    fmt::print("output '{}': {}\n", printable(declared.name), *text);
  }
  if (compared == 0)
    fmt::print(stderr, "nothing compared: {} holds no output_0.pb; --outputs DIR keeps what was computed\n",
               folder.string());
  else if (verbosity != Verbosity::kQuiet)
    fmt::print(stderr, "{} of {} outputs agree{}\n", compared - differing, compared,
               quantised ? fmt::format(" ({} quantised: within {:g} quanta, see --quanta)", quantised,
                                       tolerance.quanta)
                         : "");
  return differing ? Exit::kDifference : Exit::kDone;
}

}  // namespace arenac
