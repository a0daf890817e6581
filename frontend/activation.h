// Activation functions that other operators apply by name: fused convolutions and recurrent cells.
//
//   Expr y = activation(node, "LeakyRelu", 0.2f)(x);
#pragma once

#include <functional>
#include <optional>

#include "frontend/lower.h"

namespace arenac {

// The k-th number of an attribute, if it holds that many.
inline std::optional<float> nth(const std::vector<float>& numbers, size_t k) {
  return k < numbers.size() ? std::optional(numbers[k]) : std::nullopt;
}

// Fails on an unknown name, whose case does not matter. Missing parameters take ONNX's defaults.
std::function<Expr(const Expr&)> activation(const Lowering& node, const std::string& name,
                                            std::optional<float> alpha = {}, std::optional<float> beta = {});

}  // namespace arenac
