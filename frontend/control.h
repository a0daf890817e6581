// What operators with bodies share.
#pragma once

#include <string>
#include <vector>

#include "frontend/lower.h"

namespace arenac {

// A node's attribute that is a graph; fails when it is none.
const onnx::GraphProto& subgraph(const Lowering& node, const std::string& name);

// Lowers a body whose inputs are bound in the current scope; what it yields, of any kind. Fails when a node
// of it could not be lowered.
std::vector<TensorId> lower_body(Lowering& node, const onnx::GraphProto& proto);

}  // namespace arenac
