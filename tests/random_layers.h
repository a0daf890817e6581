// Random models for tests of row fusion, as ONNX text: chains and residual blocks of layers on small images,
// sequences or matrices, of every kind that can run a few rows at a time, and now and then one that cannot.
//
//   const Graph graph = import_text(random_layers(seed));
//   interpret(graph, random_inputs(graph, seed, Numbers::kWhole))
//
// Values stay small whole numbers, or quarters of such, wherever the operators allow it.
#pragma once

#include <string>

namespace arenac {

// 2 to 16 layers. Images: convolutions (strided, dilated, unevenly padded, grouped, depthwise, 1x1), pools,
// transposed convolutions, resizes, pads, depth to space and back, concats and slices of channels and rows,
// residual sums, normalisations (of groups, too), means over columns, squeeze and excitation. Sequences:
// convolutions over time. Matrices: products with weights and with each other, softmax and layer
// normalisation. Several outputs.
std::string random_layers(unsigned seed);

}  // namespace arenac
