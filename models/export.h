// One network, three ways to write it down in ONNX.
//
//   float   x --Conv--Relu-->
//   QDQ     x --QuantizeLinear--DequantizeLinear--Conv--Relu--QuantizeLinear--DequantizeLinear-->
//   QOp     x_int8 --QLinearConv-->
//
// Quantisation as in Jacob et al., Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference (2018): real = scale * (stored - zero point); activations per tensor and
// asymmetric over the calibrated range, weights per output channel and symmetric in [-127, 127], bias int32
// of scale input scale * weight scale.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "models/network.h"

namespace arenac::models {

enum class ActivationType { kInt8, kUint8 };

onnx::ModelProto float_model(const std::string& name, const Network& network);

// Inputs and outputs are float. The output of the last layer is not quantised.
onnx::ModelProto qdq_model(const std::string& name, const Network& calibrated, ActivationType type);

// Everything is int8, inputs and outputs too; their parameters are the initializers NAME_scale and
// NAME_zero_point. Activations become the saturation of the operator before them. Softmax is left out: the
// output is the logits. Throws std::invalid_argument for a layer that has no operator of this form here
// (Concat).
onnx::ModelProto qop_model(const std::string& name, const Network& calibrated);

}  // namespace arenac::models
