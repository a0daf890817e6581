// ONNX's backend cases through the importer and the interpreter: are the formulas right?
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/conformance.h"

namespace arenac {
namespace {

Result interpret_set(const Case& c, const std::filesystem::path& folder) {
  const DataSet data = read_data_set(folder);
  const Graph graph = import_model(c.model().string(), data.import);
  if (graph.inputs.size() != data.inputs.size()) return {Outcome::kRefused, "the data lack an input"};
  return compare_outputs(graph, interpret_outputs(graph, fed(graph, data.inputs)), data.outputs);
}

Result interpret_case(const Case& c) {
  for (const auto& folder : data_sets(c.folder))
    if (Result result = interpret_set(c, folder); result.outcome != Outcome::kPass) return result;
  return {Outcome::kPass, ""};
}

std::vector<Result> interpret_all(const std::vector<Case>& cases) {
  std::vector<Result> results;
  for (const Case& c : cases) results.push_back(in_child([&] { return interpret_case(c); }));
  return results;
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  return arenac::run_cases(argc, argv, arenac::onnx_suite(), arenac::interpret_all);
}
