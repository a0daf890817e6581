// Constants that a model keeps narrow, to be small, and makes floats of, stay narrow:
//
//   w = DequantizeLinear(w8, s)      folded:  y[n] = sum(k) x[k] * w[k,n]                    4 bytes a weight
//   y = MatMul(x, w)                          y[n] = sum(k) x[k] * ((float)w8[k,n] * s[n])   1 byte
#pragma once

#include <cstdint>
#include <limits>

#include "frontend/graph.h"

namespace arenac {

// The graph in which constants that were folded from narrower ones are read as what folding computed their
// elements of: the same operations in the same types. Left alone is what this makes hardly smaller, what
// graph outputs, C kernels or control flow need as it is, and what was folded by more than casts, additions
// and multiplications.
//
// With a cache, of so many bytes, only constants of which a run of a node takes each element once, as a
// product of a matrix and one vector does: where those are more than the cache holds, reading fewer bytes
// pays for converting them. What is read again for each pixel stays wide, and so do float16 and float8, which
// not every processor converts in an instruction. 0: there is no cache, and reading costs what it costs.
Graph with_narrow_constants(Graph graph, int64_t cache);

// A cache that holds every constant: all stay wide.
inline constexpr int64_t kEndlessCache = std::numeric_limits<int64_t>::max();

}  // namespace arenac
