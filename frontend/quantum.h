// How the inputs and outputs of a model are quantised.
//
//   y = DequantizeLinear(q, 0.25)    ->  a quantum of 0.25: y is a whole number of quarters
//   y = QLinearConv(...)             ->  a quantum of 1: y is the quantised integer itself, and the node's
//                                        y_scale and y_zero_point say what real number it stands for
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
}

namespace arenac {

// The step between neighbouring values of this output of the graph, the largest where channels differ; 0 when
// it is not quantised, or its scale is computed. Operators that move elements are looked through. External
// data lie in `directory`.
double quantum_of(const onnx::GraphProto& graph, const std::string& output, const std::string& directory);

// The integer q stands for the real number scale * (q - zero_point), of the scale and zero point of all
// elements or, where there are several, of its index along an axis (negative: from the last on).
struct QuantizedAs {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // as many
  int64_t axis = 1;
  bool by_channel() const { return scales.size() > 1; }
};

// Of inputs and outputs of the model by name: those that are integers of constant scales and zero points, as
// the operators say that read an input or write an output; where there is one for all, elements moved in
// between or not.
struct CallerQuantization {
  std::map<std::string, QuantizedAs> inputs, outputs;
};
CallerQuantization caller_quantization(const onnx::GraphProto& graph, const std::string& directory);

}  // namespace arenac
