#include "frontend/quantum.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

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
  static constexpr const char* kOps[] = {
      "DepthToSpace", "Expand", "Flatten",      "Gather",  "Identity", "MaxPool",   "NhwcMaxPool",
      "Reshape",      "Slice",  "SpaceToDepth", "Squeeze", "Tile",     "Transpose", "Unsqueeze"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

// Where an operator says how an operand or its result is quantised: positions among its inputs.
struct QuantizedOperand {
  const char* op;
  int operand;  // kResult: its first output
  int scale, zero_point;
};
constexpr int kResult = -1;
constexpr QuantizedOperand kQuantizedOperands[] = {
    {"DequantizeLinear", 0, 1, 2},
    {"QuantizeLinear", kResult, 1, 2},
    {"QLinearConv", 0, 1, 2},
    {"QLinearConv", kResult, 6, 7},
    {"QLinearMatMul", 0, 1, 2},
    {"QLinearMatMul", 3, 4, 5},
    {"QLinearMatMul", kResult, 6, 7},
    {"QGemm", 0, 1, 2},
    {"QGemm", kResult, 7, 8},
    {"QLinearAdd", 0, 1, 2},
    {"QLinearAdd", 3, 4, 5},
    {"QLinearAdd", kResult, 6, 7},
    {"QLinearMul", 0, 1, 2},
    {"QLinearMul", 3, 4, 5},
    {"QLinearMul", kResult, 6, 7},
    {"QLinearConcat", kResult, 0, 1},
    {"QLinearWhere", 1, 2, 3},
    {"QLinearWhere", 4, 5, 6},
    {"QLinearWhere", kResult, 7, 8},
    {"QLinearAveragePool", 0, 1, 2},
    {"QLinearAveragePool", kResult, 3, 4},
    {"QLinearGlobalAveragePool", 0, 1, 2},
    {"QLinearGlobalAveragePool", kResult, 3, 4},
    {"QLinearLeakyRelu", 0, 1, 2},
    {"QLinearLeakyRelu", kResult, 3, 4},
    {"QLinearReduceMean", 0, 1, 2},
    {"QLinearReduceMean", kResult, 3, 4},
    {"QLinearSigmoid", 0, 1, 2},
    {"QLinearSigmoid", kResult, 3, 4},
    {"QLinearSoftmax", 0, 1, 2},
    {"QLinearSoftmax", kResult, 3, 4},
};

// The constant of one element that a node reads there.
std::optional<Scalar> scalar_at(const onnx::GraphProto& graph, const onnx::NodeProto& node, int operand,
                                const std::string& directory) {
  const onnx::TensorProto* tensor = constant_named(graph, node.input(operand));
  if (tensor == nullptr) return {};
  const Value value = tensor_value(*tensor, directory, "quantisation");
  return value.count() == 1 ? std::optional(load(value, 0)) : std::nullopt;
}

std::optional<QuantizedAs> quantization_at(const onnx::GraphProto& graph, const onnx::NodeProto& node,
                                           int operand, const std::string& directory) {
  for (const QuantizedOperand& row : kQuantizedOperands) {
    if (node.op_type() != row.op || operand != row.operand || node.input_size() <= row.scale) continue;
    const auto scale = scalar_at(graph, node, row.scale, directory);
    const bool has_zero = node.input_size() > row.zero_point && !node.input(row.zero_point).empty();
    const auto zero = has_zero ? scalar_at(graph, node, row.zero_point, directory) : Scalar{.i = 0};
    if (!scale || !zero || !std::isfinite(scale->f) || !(scale->f > 0)) return {};
    return QuantizedAs{static_cast<float>(scale->f), zero->i};
  }
  return {};
}

constexpr int kMostMoves = 100;  // that are looked through

// By whoever reads the tensor, or what its elements are moved to.
std::optional<QuantizedAs> quantization_of_read(const onnx::GraphProto& graph, const std::string& tensor,
                                                const std::string& directory) {
  std::vector<std::string> names = {tensor};
  std::set<std::string> seen = {tensor};
  for (size_t k = 0; k < std::min<size_t>(names.size(), kMostMoves); ++k) {
    const std::string name = names[k];
    for (const onnx::NodeProto& node : graph.node())
      for (int operand = 0; operand < node.input_size(); ++operand) {
        if (node.input(operand) != name) continue;
        if (const auto found = quantization_at(graph, node, operand, directory)) return found;
        if (operand == 0 && moves_elements(node.op_type()) && node.output_size() > 0 &&
            seen.insert(node.output(0)).second)
          names.push_back(node.output(0));
      }
  }
  return {};
}

// Where the elements of a tensor come from, `most` moves looked through; a cycle ends, too.
struct Origin {
  std::string name;
  const onnx::NodeProto* writer;  // null: nobody, it is an input or a constant
};
std::optional<Origin> origin_of(const onnx::GraphProto& graph, std::string name, int most) {
  for (int k = 0; k < most; ++k) {
    const onnx::NodeProto* node = writer_of(graph, name);
    const bool is_moved = node != nullptr && moves_elements(node->op_type()) && node->input_size() > 0;
    if (!is_moved) return Origin{name, node};
    name = node->input(0);
  }
  return {};
}

// By whoever wrote what the elements were moved from, or by who reads that.
std::optional<QuantizedAs> quantization_of_written(const onnx::GraphProto& graph, const std::string& name,
                                                   const std::string& directory) {
  const auto origin = origin_of(graph, name, kMostMoves);
  if (!origin) return {};
  return origin->writer ? quantization_at(graph, *origin->writer, kResult, directory)
                        : quantization_of_read(graph, origin->name, directory);
}

bool is_integer_value(const onnx::ValueInfoProto& value) {
  const int type = value.type().tensor_type().elem_type();
  using onnx::TensorProto;
  return type == TensorProto::INT8 || type == TensorProto::UINT8 || type == TensorProto::INT16 ||
         type == TensorProto::UINT16;
}

}  // namespace

CallerQuantization caller_quantization(const onnx::GraphProto& graph, const std::string& directory) {
  CallerQuantization all;
  for (const onnx::ValueInfoProto& input : graph.input())
    if (is_integer_value(input))
      if (const auto found = quantization_of_read(graph, input.name(), directory))
        all.inputs.emplace(input.name(), *found);
  for (const onnx::ValueInfoProto& output : graph.output())
    if (is_integer_value(output))
      if (const auto found = quantization_of_written(graph, output.name(), directory))
        all.outputs.emplace(output.name(), *found);
  return all;
}

double quantum_of(const onnx::GraphProto& graph, const std::string& output, const std::string& directory) {
  const auto origin = origin_of(graph, output, graph.node_size() + 1);
  if (!origin || origin->writer == nullptr) return 0;
  const std::string& op = origin->writer->op_type();
  if (op == "QuantizeLinear" || op.starts_with("QLinear") || op == "QGemm") return 1;
  if (op != "DequantizeLinear" || origin->writer->input_size() < 2) return 0;
  const onnx::TensorProto* scale = constant_named(graph, origin->writer->input(1));
  return scale ? greatest(*scale, directory) : 0;
}

}  // namespace arenac
