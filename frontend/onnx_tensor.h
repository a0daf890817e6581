// TensorProto and Value, each from the other. Private to the frontend: includes no ONNX header.
#pragma once

#include <string>

#include "frontend/type.h"

namespace onnx {
class TensorProto;
}

namespace arenac {

// TensorProto::DataType to Type; UserError naming `who` for what arenac cannot hold.
Type type_of_onnx(int data_type, const std::string& who);

// Raw, typed or external data (the file inside `directory`). UserError naming `who` when sizes disagree.
Value tensor_value(const onnx::TensorProto& proto, const std::string& directory, const std::string& who);

}  // namespace arenac
