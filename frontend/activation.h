// Activation functions that other operators apply by name: fused convolutions and recurrent cells.
//
//   Expr y = activation(node, "LeakyRelu", 0.2f)(x);
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/lower.h"

namespace arenac {

// The k-th number of an attribute, if it holds that many.
inline std::optional<float> nth(const std::vector<float>& numbers, size_t k) {
  return k < numbers.size() ? std::optional(numbers[k]) : std::nullopt;
}

using Activation = std::function<Expr(const Expr&)>;

// Fails on an unknown name, whose case does not matter. Missing parameters take ONNX's defaults.
Activation activation(const Lowering& node, const std::string& name, std::optional<float> alpha = {},
                      std::optional<float> beta = {});

// Of a recurrent layer: the numbers belong in order to those of the functions that take one.
//
//   {"Sigmoid", "LeakyRelu", "HardSigmoid"}, alphas {0.5, 0.25}: LeakyRelu has 0.5, HardSigmoid 0.25
std::vector<Activation> activations(const Lowering& node, const std::vector<std::string>& names,
                                    const std::vector<float>& alphas, const std::vector<float>& betas);

}  // namespace arenac
