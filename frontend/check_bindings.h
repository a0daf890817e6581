// Whether what is given for a model's inputs fits what the model declares. Private to the frontend.
//
//   x: float32[1, 3, height, 4]     --shape x=1x3x4x4 --dim height=5    ->
//
//   net.onnx: input 'x': --shape x=1x3x4x4 gives [1,3,4,4], which --dim height=5 contradicts: it is dimension
//   2
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "frontend/import.h"

namespace arenac {

// What a value's type comes to.
struct Kind {
  bool is_sequence, is_optional;
  const onnx::TypeProto::Tensor* tensor;  // of what it holds; null: no tensors
};

Kind kind_of(const onnx::TypeProto& declared);

// `name` is the model's. UserError for a name that the model does not have, a shape that the input cannot
// have, and options that contradict each other: with Exit::kUsage, but for what an input's file is at fault
// for.
void check_bindings(const onnx::GraphProto& proto, const std::string& name, const ImportOptions& options);

}  // namespace arenac
