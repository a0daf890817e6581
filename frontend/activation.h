// Activation functions that other operators apply by name: fused convolutions and recurrent cells.
//
//   Expr y = activation(node, "LeakyRelu", {0.2f})(x);
#pragma once

#include <functional>

#include "frontend/lower.h"

namespace arenac {

// Fails on an unknown name. Missing parameters take ONNX's defaults.
std::function<Expr(const Expr&)> activation(const Lowering& node, const std::string& name,
                                            const std::vector<float>& parameters);

}  // namespace arenac
