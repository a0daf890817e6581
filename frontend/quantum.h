// How the inputs and outputs of a model are quantised.
//
//   y = DequantizeLinear(q, 0.25)    ->  a quantum of 0.25: y is a whole number of quarters
//   y = QLinearConv(...)             ->  a quantum of 1: y is the quantised integer itself, and the node's
//                                        y_scale and y_zero_point say what real number it stands for
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace onnx {
class GraphProto;
}

namespace arenac {

// The step between neighbouring values of this output of the graph, the largest where channels differ; 0 when
// it is not quantised, or its scale is computed. Operators that move elements are looked through. External
// data lie in `directory`.
double quantum_of(const onnx::GraphProto& graph, const std::string& output, const std::string& directory);

// The integer q stands for the real number scale * (q - zero_point).
struct QuantizedAs {
  float scale;
  int64_t zero_point;
};

// Of inputs and outputs of the model by name: those that are integers of one constant scale and zero point,
// as the operators say that read an input or write an output, elements moved in between or not.
struct CallerQuantization {
  std::map<std::string, QuantizedAs> inputs, outputs;
};
CallerQuantization caller_quantization(const onnx::GraphProto& graph, const std::string& directory);

}  // namespace arenac
