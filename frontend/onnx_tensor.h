// TensorProto and Value, each from the other. Private to the frontend: includes no ONNX header.
#pragma once

#include <string>

#include "frontend/type.h"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace arenac {

// TensorProto::DataType to Type; UserError naming `who` for what arenac cannot hold.
Type type_of_onnx(int data_type, const std::string& who);

// Raw, typed or external data (the file inside `directory`). UserError naming `who` when sizes disagree.
Value tensor_value(const onnx::TensorProto& proto, const std::string& directory, const std::string& who);

// All elements of a sparse tensor; its dense form has at most `most` bytes.
Value sparse_value(const onnx::SparseTensorProto& proto, const std::string& directory, const std::string& who,
                   int64_t most);

}  // namespace arenac
