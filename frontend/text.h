// Text and numbers.
//
//   TensorId y = text_converted(node, x, Type::kFloat32);   // "1.5", "-INF" -> 1.5f, -infinity
#pragma once

#include "frontend/lower.h"

namespace arenac {

// x, text or to become text, in another type. Floats become the fewest digits that tell them apart, as numpy
// writes them: "0.1", "1e-05"; float64 and text that is to become bool are refused.
TensorId text_converted(Lowering& node, TensorId x, Type type);

}  // namespace arenac
