// Keyword spotters that read 49 frames of 10 cepstral coefficients one after the other.
//
//   [1,49,10] --Transpose--> [49,1,10] --LSTM or GRU--> last state --Gemm--Softmax--> [1,12]
//
// Weights are uniform within 1/sqrt(hidden units), PyTorch's start for recurrent layers; the dense layer's
// are wider, so that the words' scores differ.
#include <cmath>

#include "models/onnx_builder.h"
#include "models/random.h"
#include "models/topologies.h"

namespace arenac::models {
namespace {

constexpr int64_t kFrames = 49, kFeatures = 10, kWords = 12;

// ONNX's recurrent operators want time as the first dimension.
std::string frames_first(OnnxBuilder& graph) {
  const std::string input = graph.input("input", kFloat, {1, kFrames, kFeatures});
  return graph.node("frames", "Transpose", {input}, {{"perm", Ints{1, 0, 2}}});
}

// Of the last state, which has seen all frames.
void classifier(OnnxBuilder& graph, Random& random, const std::string& state, int64_t units) {
  const std::string weight =
      graph.initializer("dense_weight", {kWords, units}, random.uniform(kWords * units, 2));
  const std::string bias = graph.initializer("dense_bias", {kWords}, random.uniform(kWords, 0.5));
  const std::string logits = graph.node("logits", "Gemm", {state, weight, bias}, {{"transB", int64_t{1}}});
  graph.output(graph.node("probabilities", "Softmax", {logits}, {{"axis", int64_t{-1}}}), kFloat,
               {1, kWords});
}

// Input and recurrent weights and biases [directions, gates * hidden, ...] in the layout of ONNX's LSTM and
// GRU.
std::vector<std::string> recurrent_weights(OnnxBuilder& graph, Random& random, int64_t directions,
                                           int64_t gates, int64_t hidden) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const auto tensor = [&](const std::string& name, const Ints& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return graph.initializer(name, shape, random.uniform(count, bound));
  };
  const std::string w = tensor("input_weight", {directions, gates * hidden, kFeatures});
  const std::string r = tensor("recurrent_weight", {directions, gates * hidden, hidden});
  return {w, r, tensor("recurrent_bias", {directions, 2 * gates * hidden})};
}

}  // namespace

onnx::ModelProto lstm_model() {
  constexpr int64_t kHidden = 32;
  OnnxBuilder graph("lstm");
  Random random(8);
  const std::string x = frames_first(graph);
  const auto weights = recurrent_weights(graph, random, 1, 4, kHidden);
  graph.node_with_outputs("lstm", "LSTM", {x, weights[0], weights[1], weights[2]}, {"", "last_hidden"},
                          {{"hidden_size", kHidden}});
  // last_hidden is [directions, batch, hidden].
  const std::string axes = graph.initializer<int64_t>("direction_axis", {1}, {0});
  classifier(graph, random, graph.node("state", "Squeeze", {"last_hidden", axes}), kHidden);
  return graph.finish();
}

// Both directions, 16 units each; the reset gate acts after the recurrent product, as in PyTorch and cuDNN.
onnx::ModelProto gru_model() {
  constexpr int64_t kHidden = 16;
  OnnxBuilder graph("gru");
  Random random(9);
  const std::string x = frames_first(graph);
  const auto weights = recurrent_weights(graph, random, 2, 3, kHidden);
  graph.node_with_outputs("gru", "GRU", {x, weights[0], weights[1], weights[2]}, {"", "last_hidden"},
                          {{"hidden_size", kHidden},
                           {"direction", std::string("bidirectional")},
                           {"linear_before_reset", int64_t{1}}});
  // Both directions side by side: [2, 1, hidden] as [1, 2 * hidden].
  const std::string batch_first =
      graph.node("batch_first", "Transpose", {"last_hidden"}, {{"perm", Ints{1, 0, 2}}});
  const std::string shape = graph.initializer<int64_t>("state_shape", {2}, {1, 2 * kHidden});
  classifier(graph, random, graph.node("state", "Reshape", {batch_first, shape}), 2 * kHidden);
  return graph.finish();
}

}  // namespace arenac::models
