// What becomes of a run's outputs: files, or what files should hold.
//
//   ModelOutputs outputs = {declared_outputs("kws.onnx"), held_outputs(*c.graph, result.outputs)};
//   write_outputs(outputs, "results");                       // results/output_0.pb, ...
//   return compare_with_files(outputs, "test_data_set_0", tolerance, Verbosity::kNormal);
#pragma once

#include <filesystem>
#include <vector>

#include "driver/compare.h"
#include "driver/compile.h"
#include "frontend/import.h"

namespace arenac {

// The model's outputs, in its order, and what each holds after a run.
struct ModelOutputs {
  std::vector<Declaration> declared;
  std::vector<Held> held;
};

// The graph's outputs as those of the model: the elements of a sequence together. What stands behind them,
// the states of streams, is left out.
std::vector<Held> held_outputs(const Graph& graph, const std::vector<Value>& outputs);

// output_K.pb for the K-th output of the model: a TensorProto, SequenceProto or OptionalProto.
void write_outputs(const ModelOutputs& outputs, const std::filesystem::path& folder);

// Prints of each output its type, shape, least and greatest element and their mean.
void print_summary(const ModelOutputs& outputs);

// Prints each output that differs from output_K.pb in `folder`, and how many agree. kDifference if one
// differs.
Exit compare_with_files(const ModelOutputs& outputs, const std::filesystem::path& folder,
                        const Tolerance& tolerance, Verbosity verbosity);

}  // namespace arenac
