#include "frontend/quantum.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "frontend/onnx_tensor.h"

namespace arenac {
namespace {

// How many outputs of an operator hold elements that it was given or made: others are indices, masks.
int outputs_of_elements(const onnx::NodeProto& node) {
  return node.op_type() == "Split" ? node.output_size() : std::min(node.output_size(), 1);
}

const onnx::NodeProto* writer_of(const onnx::GraphProto& graph, const std::string& name) {
  for (const onnx::NodeProto& node : graph.node())
    for (int k = 0; k < outputs_of_elements(node); ++k)
      if (node.output(k) == name) return &node;
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

// Operators whose results are their operands' elements, or lie between these, as those of a Resize do.
bool moves_elements(const std::string& op) {
  static constexpr const char* kOps[] = {
      "CenterCropPad", "Clip",          "Concat",   "DepthToSpace", "Expand",      "Flatten",
      "Gather",        "GlobalMaxPool", "Identity", "MaxPool",      "NhwcMaxPool", "Pad",
      "ReduceMax",     "ReduceMin",     "Reshape",  "Resize",       "Slice",       "SpaceToDepth",
      "Split",         "Squeeze",       "Tile",     "Transpose",    "Unsqueeze",   "Upsample"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

bool is_concat(const onnx::NodeProto& node) { return node.op_type() == "Concat"; }

bool moves_operand(const onnx::NodeProto& node, int operand) {
  return moves_elements(node.op_type()) && (operand == 0 || is_concat(node));
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

// The constant that a node reads there, elements of at most one dimension.
std::vector<Scalar> scalars_at(const onnx::GraphProto& graph, const onnx::NodeProto& node, int operand,
                               const std::string& directory) {
  const onnx::TensorProto* tensor = constant_named(graph, node.input(operand));
  if (tensor == nullptr) return {};
  const Value value = tensor_value(*tensor, directory, "quantisation");
  std::vector<Scalar> all;
  if (value.count() > 1 && value.shape.size() > 1) return all;
  for (int64_t k = 0; k < value.count(); ++k) all.push_back(load(value, k));
  return all;
}

int64_t axis_of(const onnx::NodeProto& node) {
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == "axis") return attribute.i();
  return 1;
}

std::optional<QuantizedAs> quantization_at(const onnx::GraphProto& graph, const onnx::NodeProto& node,
                                           int operand, const std::string& directory) {
  // The operands of a QLinearConcat are three by three.
  const bool is_later = node.op_type() == "QLinearConcat" && operand > 2 && operand % 3 == 2;
  const int later = is_later ? operand - 2 : 0;
  for (const QuantizedOperand& row : kQuantizedOperands) {
    const int scale_at = row.scale + later, zero_at = row.zero_point + later;
    if (node.op_type() != row.op || operand - later != row.operand || node.input_size() <= scale_at) continue;
    const std::vector<Scalar> scales = scalars_at(graph, node, scale_at, directory);
    const bool has_zero = node.input_size() > zero_at && !node.input(zero_at).empty();
    const std::vector<Scalar> zeros = has_zero ? scalars_at(graph, node, zero_at, directory)
                                               : std::vector<Scalar>(scales.size(), Scalar{.i = 0});
    if (scales.empty() || zeros.size() != scales.size()) return {};
    QuantizedAs found;
    found.axis = axis_of(node);
    for (const Scalar& scale : scales) {
      if (!std::isfinite(scale.f) || !(scale.f > 0)) return {};
      found.scales.push_back(static_cast<float>(scale.f));
    }
    for (const Scalar& zero : zeros) found.zero_points.push_back(zero.i);
    return found;
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
        const auto found = quantization_at(graph, node, operand, directory);
        if (found && (k == 0 || !found->by_channel())) return found;
        for (int k = 0; moves_operand(node, operand) && k < outputs_of_elements(node); ++k)
          if (seen.insert(node.output(k)).second) names.push_back(node.output(k));
      }
  }
  return {};
}

// Where the elements of a tensor come from, all of them, `most` moves looked through; a cycle ends, too.
struct Origin {
  std::string name;
  const onnx::NodeProto* writer;  // null: nobody, it is an input or a constant
};
std::optional<Origin> origin_of(const onnx::GraphProto& graph, std::string name, int most) {
  for (int k = 0; k < most; ++k) {
    const onnx::NodeProto* node = writer_of(graph, name);
    const bool is_moved =
        node != nullptr && moves_elements(node->op_type()) && !is_concat(*node) && node->input_size() > 0;
    if (!is_moved) return Origin{name, node};
    name = node->input(0);
  }
  return {};
}

// By whoever wrote what the elements were moved from, or by who reads that.
std::optional<QuantizedAs> quantization_of_written(const onnx::GraphProto& graph, const std::string& name,
                                                   const std::string& directory, int most = kMostMoves) {
  const auto origin = origin_of(graph, name, most);
  if (!origin) return {};
  std::optional<QuantizedAs> found;
  if (origin->writer) found = quantization_at(graph, *origin->writer, kResult, directory);
  if (!found && origin->writer && is_concat(*origin->writer) && origin->writer->input_size() > 0)
    found = quantization_of_written(graph, origin->writer->input(0), directory, most - 1);
  if (!found) found = quantization_of_read(graph, origin->name, directory);
  return found && found->by_channel() && origin->name != name ? std::nullopt : found;
}

bool is_integer_value(const onnx::ValueInfoProto& value) {
  constexpr Type kTypes[] = {Type::kInt8, Type::kUint8, Type::kInt16, Type::kUint16,
                             Type::kInt4, Type::kUint4, Type::kInt2,  Type::kUint2};
  const int type = value.type().tensor_type().elem_type();
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](Type t) { return info(t).onnx == type; });
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
