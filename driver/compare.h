// How far a computed tensor is from the expected one.
//
//   difference(got, want, {.rtol = 1e-3, .atol = 1e-5})
//     -> "element [0,17] is 0.25, expected 0.5 (off by 0.25); 3 of 1000 elements differ"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

struct Tolerance {
  double rtol = 1e-3;  // relative to the expected value; floats only
  double atol = 1e-5;
  double quanta = 1;   // of quantised outputs: how many steps
  double quantum = 0;  // the step of the output at hand; 0: it is not quantised
};

// The element as a number; of text none.
double number(Type type, Scalar element);

// Nothing when types and shapes are the same and every element is within the largest of atol, rtol *
// |expected| (floats only) and quanta * quantum. NaN equals NaN, an infinity only itself. Otherwise says
// which element differs most.
std::optional<std::string> difference(const Value& got, const Value& want, const Tolerance& tolerance);

// Of the graph's outputs those of the model, each cut to its true shape (Graph::true_shapes).
std::vector<Value> model_outputs(const Graph& graph, std::vector<Value> outputs);

// `value` as `type` where both store 16 bits: ONNX's backend data keep bfloat16 as UINT16. Else `value`
// itself.
Value reinterpret_bfloat(Value value, Type type);

}  // namespace arenac
