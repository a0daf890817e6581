// The bytes of a model as its message. Private to the frontend.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

namespace arenac {

// UserError for what cannot be read, is no model, or nests so deep that the stack may not hold it.
onnx::ModelProto model_of_file(const std::string& path);
onnx::ModelProto model_of_bytes(const std::string& bytes, const std::string& name);

}  // namespace arenac
