// Every model that make_models writes: the demo, tests and benchmarks take them from this table.
//
//   for (const ModelRow& row : model_table()) write_model(row.make(), dir / (std::string(row.name) +
//   ".onnx"));
//
// A new network is a file with its layers, a line in topologies.h and, for each way to write it down, a row
// here.
#pragma once

#include <onnx/onnx_pb.h>

#include <span>

namespace arenac::models {

// `make` builds the model anew each time, calibration included: seconds for the large ones.
struct ModelRow {
  const char* name;  // file NAME.onnx
  const char* what;
  onnx::ModelProto (*make)();
};

std::span<const ModelRow> model_table();

}  // namespace arenac::models
