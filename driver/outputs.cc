#include "driver/outputs.h"

#include <fmt/format.h>

#include "codegen/report_words.h"
#include "driver/files.h"
#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

std::string file_name(size_t output) { return fmt::format("output_{}.pb", output); }

std::string holding(const Held& held) {
  return held.present ? counted(held.parts.size(), "element") : "nothing";
}

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

Exit compare_with_files(const ModelOutputs& outputs, const fs::path& folder, const Tolerance& tolerance,
                        Verbosity verbosity) {
  int compared = 0, differing = 0;
  for (size_t k = 0; k < outputs.held.size(); ++k) {
    const fs::path file = folder / file_name(k);
    if (!fs::exists(file)) continue;
    const Declaration& declared = outputs.declared[k];
    const Held want = read_held_file(file.string(), declared);
    ++compared;
    const auto text = difference(declared, outputs.held[k], want, tolerance);
    if (!text) continue;
    ++differing;
    fmt::print("output '{}': {}\n", printable(declared.name), *text);
  }
  if (compared == 0)
    fmt::print(stderr, "nothing compared: {} holds no output_0.pb; --outputs DIR keeps what was computed\n",
               folder.string());
  else if (verbosity != Verbosity::kQuiet)
    fmt::print(stderr, "{} of {} outputs agree\n", compared - differing, compared);
  return differing ? Exit::kDifference : Exit::kDone;
}

}  // namespace arenac
