// ONNX's backend cases through the importer and the interpreter: are the formulas right?
#include "driver/compare.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/conformance.h"

namespace arenac {
namespace {

Result interpret_set(const Case& c, const std::filesystem::path& folder) {
  DataSet data = read_data_set(folder);
  const Graph graph = import_model(c.model().string(), bound_to(c.model(), data.inputs));
  if (graph.inputs.size() != data.inputs.size()) return {Outcome::kRefused, "the data lack an input"};
  for (size_t k = 0; k < data.inputs.size(); ++k)
    data.inputs[k] = reinterpret_bfloat(std::move(data.inputs[k]), graph.tensors[graph.inputs[k]].type);
  const auto values = interpret(graph, data.inputs);
  std::vector<Value> outputs;
  for (TensorId id : graph.outputs) outputs.push_back(*values.at(id));
  return compare_outputs(graph, outputs, data.outputs);
}

Result interpret_case(const Case& c) {
  for (const auto& folder : data_sets(c.folder))
    if (Result result = interpret_set(c, folder); result.outcome != Outcome::kPass) return result;
  return {Outcome::kPass, ""};
}

std::vector<Result> interpret_all(const std::vector<Case>& cases) {
  std::vector<Result> results;
  for (const Case& c : cases) results.push_back(in_child(60, [&] { return interpret_case(c); }));
  return results;
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  return arenac::run_cases(argc, argv, arenac::onnx_suite(), arenac::interpret_all);
}
