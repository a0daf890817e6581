// Builds an ONNX model node by node; every call returns the name of the tensor it makes.
//
//   OnnxBuilder graph("tiny");
//   const std::string x = graph.input("image", FLOAT, {1, 1, 16, 16});
//   const std::string w = graph.initializer<float>("conv_weight", {8, 1, 3, 3}, weights);
//   const std::string y = graph.node("conv", "Conv", {x, w}, {{"pads", Ints{1, 1, 1, 1}}});
//   graph.output(y, FLOAT, {1, 8, 16, 16});
//   write_model(graph.finish(), "tiny.onnx");
//
// Models are opset 13, IR 8, with static shapes. Nothing is checked here: onnx::checker does that in the
// tests.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace arenac::models {

using Ints = std::vector<int64_t>;
using Attribute = std::variant<int64_t, float, std::string, Ints>;
using Attributes = std::map<std::string, Attribute>;  // ordered, so that the bytes are too

inline constexpr auto kFloat = onnx::TensorProto::FLOAT;
inline constexpr auto kInt8 = onnx::TensorProto::INT8;
inline constexpr auto kUint8 = onnx::TensorProto::UINT8;

class OnnxBuilder {
 public:
  explicit OnnxBuilder(const std::string& graph_name);

  std::string input(const std::string& name, onnx::TensorProto::DataType type, const Ints& shape);
  void output(const std::string& name, onnx::TensorProto::DataType type, const Ints& shape);

  // A constant; `shape` is {} for a scalar. Throws std::invalid_argument when the number of values does not
  // fit the shape. T is one of float, int8_t, uint8_t, int32_t, int64_t.
  template <typename T>
  std::string initializer(const std::string& name, const Ints& shape, const std::vector<T>& values);

  // A node with one output; node and output are both called `name`. An operator outside the standard domain
  // is written "com.microsoft:QLinearAdd"; its domain is imported at version 1. An absent optional input is
  // "".
  std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {});

  // The same with any outputs, "" for those left out.
  void node_with_outputs(const std::string& name, const std::string& op,
                         const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                         const Attributes& attributes = {});

  onnx::ModelProto finish() const { return model_; }

 private:
  onnx::ModelProto model_;
};

// The same bytes for the same model on every machine.
std::string serialize(const onnx::ModelProto& model);

// Throws std::runtime_error naming the file when it cannot be written.
void write_model(const onnx::ModelProto& model, const std::filesystem::path& file);

}  // namespace arenac::models
