#include "frontend/quantum.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>

#include "frontend/onnx_tensor.h"

namespace arenac {
namespace {

const onnx::NodeProto* writer_of(const onnx::GraphProto& graph, const std::string& name) {
  for (const onnx::NodeProto& node : graph.node())
    if (node.output_size() > 0 && node.output(0) == name) return &node;
  return nullptr;
}

// The initializer or Constant of this name.
const onnx::TensorProto* constant_named(const onnx::GraphProto& graph, const std::string& name) {
  for (const onnx::TensorProto& tensor : graph.initializer())
    if (tensor.name() == name) return &tensor;
  const onnx::NodeProto* node = writer_of(graph, name);
  if (node == nullptr || node->op_type() != "Constant" || node->attribute_size() != 1) return nullptr;
  return node->attribute(0).name() == "value" ? &node->attribute(0).t() : nullptr;
}

double greatest(const onnx::TensorProto& tensor, const std::string& directory) {
  const Value scale = tensor_value(tensor, directory, "scale");
  double most = 0;
  for (int64_t k = 0; is_float(scale.type) && k < scale.count(); ++k)
    most = std::max(most, std::abs(load(scale, k).f));
  return most;
}

bool moves_elements(const std::string& op) {
  static constexpr const char* kOps[] = {"Flatten", "Identity",  "Reshape",  "Slice",
                                         "Squeeze", "Transpose", "Unsqueeze"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

}  // namespace

double quantum_of(const onnx::GraphProto& graph, const std::string& output, const std::string& directory) {
  std::string name = output;
  for (int k = 0; k <= graph.node_size(); ++k) {  // a cycle ends, too
    const onnx::NodeProto* node = writer_of(graph, name);
    if (node == nullptr) return 0;
    const std::string& op = node->op_type();
    if (op == "QuantizeLinear" || op.starts_with("QLinear") || op == "QGemm") return 1;
    if (op == "DequantizeLinear" && node->input_size() > 1) {
      const onnx::TensorProto* scale = constant_named(graph, node->input(1));
      return scale ? greatest(*scale, directory) : 0;
    }
    if (!moves_elements(op) || node->input_size() == 0) return 0;
    name = node->input(0);
  }
  return 0;
}

}  // namespace arenac
