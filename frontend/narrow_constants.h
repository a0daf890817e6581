// Constants that a model keeps narrow, to be small, and makes floats of, stay narrow:
//
//   w = DequantizeLinear(w8, s)      folded:  y[n] = sum(k) x[k] * w[k,n]                    4 bytes a weight
//   y = MatMul(x, w)                          y[n] = sum(k) x[k] * ((float)w8[k,n] * s[n])   1 byte
#pragma once

#include <cstdint>

#include "frontend/graph.h"

namespace arenac {

// Constants that a model keeps narrower than it computes with: as they are, as floats, or as a target with
// such a cache wants them.
enum class ConstantWidth : uint8_t { kAuto, kNarrow, kWide };
struct ConstantWidths {
  ConstantWidth width = ConstantWidth::kWide;
  int64_t cache = 0;  // bytes, of the second level; 0: reading costs what it costs
};

// The graph in which constants that were folded from narrower ones are read as what folding computed their
// elements of: the same operations in the same types. Left alone is what this makes hardly smaller, what
// graph outputs, C kernels or control flow need as it is, and what was folded by more than casts, additions
// and multiplications.
//
// kAuto leaves alone float16 and float8, too, which not every processor converts in an instruction, and where
// there is a cache all but those of which a run of a node takes each element once, as a product of a matrix
// and one vector does: where these are more than the last cache holds, reading fewer bytes pays for
// converting them, which costs up to 1.4 times the time where they are near.
Graph with_narrow_constants(Graph graph, ConstantWidths widths);

}  // namespace arenac
