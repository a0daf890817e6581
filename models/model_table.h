// Every model that make_models writes.
#pragma once

#include <onnx/onnx_pb.h>

#include <span>

namespace arenac::models {

struct ModelRow {
  const char* name;  // file NAME.onnx
  const char* what;
  onnx::ModelProto (*make)();
};

std::span<const ModelRow> model_table();

}  // namespace arenac::models
