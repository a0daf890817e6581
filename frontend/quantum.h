// How finely an output of a model is quantised.
//
//   y = DequantizeLinear(q, 0.25)    ->  0.25: y is a whole number of quarters
//   y = QLinearConv(...)             ->  1: y is the quantised integer itself
#pragma once

#include <string>

namespace onnx {
class GraphProto;
}

namespace arenac {

// The step between neighbouring values of this output of the graph, the largest where channels differ; 0 when
// it is not quantised, or its scale is computed. Operators that move elements are looked through. External
// data lie in `directory`.
double quantum_of(const onnx::GraphProto& graph, const std::string& output, const std::string& directory);

}  // namespace arenac
