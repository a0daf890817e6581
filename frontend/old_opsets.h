// Nodes of opsets 1 to 6, spelt as opset 7 spells them.
//
//   Add<broadcast = 1, axis = 1>(x [2,3,4,5], b [3,4])   ->   Add(x, Reshape(b, [3,4,1]))
#pragma once

#include "frontend/importer.h"

namespace arenac {

// Before opset 7 broadcasting was an attribute (of one element it is taken as asked for), PRelu's slope was
// per channel by itself, normalisation and dropout had a training mode, and attributes were what became
// operands, or the reverse. Raises node.opset to 7; UserError for what makes no sense.
void modernise(Importer& importer, OnnxNode& node);

}  // namespace arenac
