// Nodes of opsets 1 to 6, spelt as opset 7 spells them.
//
//   Add<broadcast = 1, axis = 1>(x [2,3,4,5], b [3,4])   ->   Add(x, Reshape(b, [3,4,1]))
#pragma once

#include "frontend/importer.h"

namespace arenac {

// Before opset 7 broadcasting was an attribute (of one element it is taken as asked for), PRelu's slope was
// per channel by itself, and normalisation had a training mode. Raises node.opset to 7; UserError for what
// has no form there.
void modernise(Importer& importer, OnnxNode& node);

}  // namespace arenac
