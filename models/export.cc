#include "models/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "models/onnx_builder.h"
#include "models/quantize.h"

namespace arenac::models {
namespace {

Ints ints(const std::array<int64_t, 2>& a) { return {a[0], a[1]}; }

// Explicit pads, [begin y, begin x, end y, end x]: auto_pad is deprecated.
Attributes window_attributes(const Window& window) {
  return {{"kernel_shape", ints(window.kernel)},
          {"strides", ints(window.stride)},
          {"pads", Ints{window.pad_begin[0], window.pad_begin[1], window.pad_end[0], window.pad_end[1]}}};
}

Attributes conv_attributes(const Layer& layer) {
  Attributes attributes = window_attributes(layer.window);
  attributes["group"] = layer.groups;
  return attributes;
}

// ONNX's: [M, C / groups, kh, kw], and [M, C] for Gemm with transB.
Ints weight_shape(const Layer& layer) {
  const auto outputs = static_cast<int64_t>(layer.bias.size());
  const int64_t fan_in = static_cast<int64_t>(layer.weights.size()) / outputs;
  if (layer.op == Op::kDense) return {outputs, fan_in};
  const auto& kernel = layer.window.kernel;
  return {outputs, fan_in / (kernel[0] * kernel[1]), kernel[0], kernel[1]};
}

bool has_weights(const Layer& layer) { return layer.op == Op::kConv || layer.op == Op::kDense; }

// The operator alone, on whatever its inputs hold: of those that only move or compare elements the integers
// of a quantised tensor as well.
std::string operator_node(OnnxBuilder& graph, const Layer& layer, const std::vector<std::string>& inputs) {
  switch (layer.op) {
    case Op::kConv:
      return graph.node(layer.name, "Conv", inputs, conv_attributes(layer));
    case Op::kDense:
      return graph.node(layer.name, "Gemm", inputs, {{"transB", int64_t{1}}});
    case Op::kAdd:
      return graph.node(layer.name, "Add", inputs);
    case Op::kConcat:
      return graph.node(layer.name, "Concat", inputs, {{"axis", int64_t{1}}});
    case Op::kMaxPool:
      return graph.node(layer.name, "MaxPool", inputs, window_attributes(layer.window));
    case Op::kGlobalAveragePool:
      return graph.node(layer.name, "GlobalAveragePool", inputs);
    case Op::kDepthToSpace:
      return graph.node(layer.name, "DepthToSpace", inputs, {{"blocksize", layer.block}});
    case Op::kFlatten:
      return graph.node(layer.name, "Flatten", inputs);
    case Op::kSoftmax:
      return graph.node(layer.name, "Softmax", inputs, {{"axis", int64_t{-1}}});
    case Op::kInput:
      break;
  }
  throw std::invalid_argument(fmt::format("layer '{}' is no operator", layer.name));
}

// The float operator of `layer` with its activation; `inputs` includes weights and bias.
std::string float_nodes(OnnxBuilder& graph, const Layer& layer, const std::vector<std::string>& inputs) {
  const std::string y = operator_node(graph, layer, inputs);
  switch (layer.activation) {
    case Activation::kNone:
      return y;
    case Activation::kRelu:
      return graph.node(y + "_relu", "Relu", {y});
    case Activation::kRelu6:
      return graph.node(
          y + "_relu6", "Clip",
          {y, graph.initializer<float>(y + "_min", {}, {0}), graph.initializer<float>(y + "_max", {}, {6})});
  }
  throw std::logic_error("unknown activation");
}

std::vector<std::string> select(const std::vector<std::string>& names, const std::vector<int>& indices) {
  std::vector<std::string> selected;
  for (const int i : indices) selected.push_back(names[static_cast<size_t>(i)]);
  return selected;
}

// A stored tensor with the names of its parameters.
struct Quantized {
  std::string value, scale, zero_point;
};

// Names the parameters of the activation `name` of `range` and writes them down.
Quantized activation_tensor(OnnxBuilder& graph, const std::string& name, const Range& range,
                            ActivationType type) {
  const QuantParams params = activation_params(range, type == ActivationType::kInt8 ? -128 : 0);
  const std::string zero = name + "_zero_point";
  if (type == ActivationType::kInt8) {
    graph.initializer<int8_t>(zero, {}, {static_cast<int8_t>(params.zero_point)});
  } else {
    graph.initializer<uint8_t>(zero, {}, {static_cast<uint8_t>(params.zero_point)});
  }
  return {name, graph.initializer<float>(name + "_scale", {}, {params.scale}), zero};
}

// The scale does not depend on where the 256 values begin.
float scale_of(const Layer& layer) { return activation_params(layer.range, 0).scale; }

// Quantises the float tensor `name` and reads it back.
std::string quantize_dequantize(OnnxBuilder& graph, const std::string& name, const Range& range,
                                ActivationType type) {
  const Quantized q = activation_tensor(graph, name, range, type);
  const std::string stored = graph.node(name + "_quantized", "QuantizeLinear", {name, q.scale, q.zero_point});
  return graph.node(name + "_dequantized", "DequantizeLinear", {stored, q.scale, q.zero_point});
}

// DequantizeLinear of the int8 weights and the int32 bias.
// As exporters write them: constants behind DequantizeLinear, which arenac folds or takes as the integers
// that they are.
std::vector<std::string> dequantized_weights(OnnxBuilder& graph, const Layer& layer, float input_scale) {
  const QuantWeights q = quantize_weights(layer, input_scale);
  const auto outputs = static_cast<int64_t>(q.scales.size());
  std::vector<float> bias_scales;
  for (const float scale : q.scales) bias_scales.push_back(input_scale * scale);
  const std::string& n = layer.name;
  const Attributes first_axis = {{"axis", int64_t{0}}};
  return {graph.node(
              n + "_weight", "DequantizeLinear",
              {graph.initializer(n + "_weight_quantized", weight_shape(layer), q.values),
               graph.initializer(n + "_weight_scale", {outputs}, q.scales),
               graph.initializer(n + "_weight_zero_point", {outputs}, std::vector<int8_t>(q.scales.size()))},
              first_axis),
          graph.node(
              n + "_bias", "DequantizeLinear",
              {graph.initializer(n + "_bias_quantized", {outputs}, q.bias),
               graph.initializer(n + "_bias_scale", {outputs}, bias_scales),
               graph.initializer(n + "_bias_zero_point", {outputs}, std::vector<int32_t>(q.scales.size()))},
              first_axis)};
}

// The activation is in the output's range: ReLU is what is cut off below the zero point at the end of it.
Quantized qlinear_conv(OnnxBuilder& graph, const Layer& layer, const Quantized& x, float x_scale) {
  const QuantWeights q = quantize_weights(layer, x_scale);
  const auto outputs = static_cast<int64_t>(q.scales.size());
  const std::string& n = layer.name;
  const Quantized y = activation_tensor(graph, n, layer.range, ActivationType::kInt8);
  graph.node(n, "QLinearConv",
             {x.value, x.scale, x.zero_point,  //
              graph.initializer(n + "_weight", weight_shape(layer), q.values),
              graph.initializer(n + "_weight_scale", {outputs}, q.scales),
              graph.initializer(n + "_weight_zero_point", {outputs}, std::vector<int8_t>(q.scales.size())),
              y.scale, y.zero_point, graph.initializer(n + "_bias", {outputs}, q.bias)},
             conv_attributes(layer));
  return y;
}

// Of onnxruntime's own domain: ONNX has none.
Quantized qlinear_add(OnnxBuilder& graph, const Layer& layer, const Quantized& a, const Quantized& b) {
  const Quantized y = activation_tensor(graph, layer.name, layer.range, ActivationType::kInt8);
  graph.node(layer.name, "com.microsoft:QLinearAdd",
             {a.value, a.scale, a.zero_point, b.value, b.scale, b.zero_point, y.scale, y.zero_point});
  return y;
}

// QLinearMatMul has no bias; its result is as wide as the layer's range without any of the biases, then
// QLinearAdd.
Quantized qlinear_dense(OnnxBuilder& graph, const Layer& layer, const Quantized& x) {
  const size_t outputs = layer.bias.size(), inputs = layer.weights.size() / outputs;
  const QuantWeights q = quantize_weights(layer, 1.0f);
  std::vector<int8_t> transposed;  // [C, M]
  for (size_t c = 0; c < inputs; ++c)
    for (size_t m = 0; m < outputs; ++m) transposed.push_back(q.values[m * inputs + c]);

  // Bounds of the product before the bias: what the calibration saw of the sum, less each channel's bias.
  Range product = layer.range;
  for (const float b : layer.bias) {
    product.low = std::min(product.low, layer.range.low - b);
    product.high = std::max(product.high, layer.range.high - b);
  }
  const std::string& n = layer.name;
  const auto rows = static_cast<int64_t>(inputs), columns = static_cast<int64_t>(outputs);
  const Quantized y = activation_tensor(graph, n + "_product", product, ActivationType::kInt8);
  graph.node(y.value, "QLinearMatMul",
             {x.value, x.scale, x.zero_point,  //
              graph.initializer(n + "_weight", {rows, columns}, transposed),
              graph.initializer(n + "_weight_scale", {columns}, q.scales),
              graph.initializer(n + "_weight_zero_point", {columns}, std::vector<int8_t>(outputs)),  //
              y.scale, y.zero_point});

  const QuantVector bias = quantize_symmetric(layer.bias);
  return qlinear_add(graph, layer, y,
                     {graph.initializer(n + "_bias", {columns}, bias.values),
                      graph.initializer<float>(n + "_bias_scale", {}, {bias.scale}),
                      graph.initializer<int8_t>(n + "_bias_zero_point", {}, {0})});
}

Quantized qlinear_global_average_pool(OnnxBuilder& graph, const Layer& layer, const Quantized& x) {
  const Quantized y = activation_tensor(graph, layer.name, layer.range, ActivationType::kInt8);
  graph.node(layer.name, "com.microsoft:QLinearGlobalAveragePool",
             {x.value, x.scale, x.zero_point, y.scale, y.zero_point}, {{"channels_last", int64_t{0}}});
  return y;
}

}  // namespace

// Names of tensors are those of the layers, by index.
onnx::ModelProto float_model(const std::string& name, const Network& network) {
  OnnxBuilder graph(name);
  std::vector<std::string> outputs;
  for (const Layer& layer : network.layers) {
    if (layer.op == Op::kInput) {
      outputs.push_back(graph.input(layer.name, kFloat, layer.shape));
      continue;
    }
    std::vector<std::string> inputs = select(outputs, layer.inputs);
    if (has_weights(layer)) {
      inputs.push_back(graph.initializer(layer.name + "_weight", weight_shape(layer), layer.weights));
      inputs.push_back(
          graph.initializer(layer.name + "_bias", {static_cast<int64_t>(layer.bias.size())}, layer.bias));
    }
    outputs.push_back(float_nodes(graph, layer, inputs));
  }
  graph.output(outputs.back(), kFloat, network.layers.back().shape);
  return graph.finish();
}

// A pair of quantise and dequantise behind every layer and its activation, but the last: what a compiler has
// to find integer operators in.
onnx::ModelProto qdq_model(const std::string& name, const Network& calibrated, ActivationType type) {
  OnnxBuilder graph(name);
  std::vector<std::string> outputs;
  for (const Layer& layer : calibrated.layers) {
    std::string y;
    if (layer.op == Op::kInput) {
      y = graph.input(layer.name, kFloat, layer.shape);
    } else {
      std::vector<std::string> inputs = select(outputs, layer.inputs);
      if (has_weights(layer)) {
        const Layer& x = calibrated.layers[static_cast<size_t>(layer.inputs[0])];
        for (auto& input : dequantized_weights(graph, layer, scale_of(x))) inputs.push_back(input);
      }
      y = float_nodes(graph, layer, inputs);
    }
    const bool last = &layer == &calibrated.layers.back();
    outputs.push_back(last ? y : quantize_dequantize(graph, y, layer.range, type));
  }
  graph.output(outputs.back(), kFloat, calibrated.layers.back().shape);
  return graph.finish();
}

// `last` is the last layer that is written, whose shape the output has.
onnx::ModelProto qop_model(const std::string& name, const Network& calibrated) {
  OnnxBuilder graph(name);
  std::vector<Quantized> outputs;
  const Layer* last = nullptr;
  for (const Layer& layer : calibrated.layers) {
    const auto input = [&](size_t i) { return outputs[static_cast<size_t>(layer.inputs[i])]; };
    switch (layer.op) {
      case Op::kInput:
        graph.input(layer.name, kInt8, layer.shape);
        outputs.push_back(activation_tensor(graph, layer.name, layer.range, ActivationType::kInt8));
        break;
      case Op::kConv:
        outputs.push_back(qlinear_conv(graph, layer, input(0),
                                       scale_of(calibrated.layers[static_cast<size_t>(layer.inputs[0])])));
        break;
      case Op::kDense:
        outputs.push_back(qlinear_dense(graph, layer, input(0)));
        break;
      case Op::kAdd:
        outputs.push_back(qlinear_add(graph, layer, input(0), input(1)));
        break;
      case Op::kGlobalAveragePool:
        outputs.push_back(qlinear_global_average_pool(graph, layer, input(0)));
        break;
      case Op::kFlatten:
      case Op::kMaxPool:
      case Op::kDepthToSpace:
        outputs.push_back(
            {operator_node(graph, layer, {input(0).value}), input(0).scale, input(0).zero_point});
        break;
      case Op::kSoftmax:
        continue;
      case Op::kConcat:
        throw std::invalid_argument(fmt::format("layer '{}' has no int8 operator here", layer.name));
    }
    last = &layer;
  }
  graph.output(outputs.back().value, kInt8, last->shape);
  return graph.finish();
}

}  // namespace arenac::models
