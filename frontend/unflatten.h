// Sums over a flattened tensor walk the dimensions it had before:
//
//   r[k] = x[k / 16, k / 4 % 4, k % 4];  y[n] = sum(k) r[k] * w[k, n]
//   r[c,i,j] = x[c, i, j];               y[n] = sum(c,i,j) r[c,i,j] * w[c,i,j, n]      w: the same bytes
//
// r is a view of x then, in whatever order x lies in memory, and the sum can take x a row at a time. So are
// groups of channels, which are normalised between two reshapes:
//
//   r[g, k] = x[2 * g + k / 16, k / 4 % 4, k % 4];    m[g] = sum(k) r[g, k]
//   r[g,h,i,j] = x[2 * g + h, i, j];                  m[g] = sum(h,i,j) r[g,h,i,j]
//
//   y[c, i, j] = r[c / 2, c % 2 * 16 + i * 4 + j]     becomes    y[c, i, j] = r[c / 2, c % 2, i, j]
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph in which a copy (or another node of element by element) that joins dimensions leaves them apart
// where its result goes, maybe through element-wise nodes, into nothing but sums (products, maxima) over the
// joined dimension and copies that take it apart again. Every element and the order of every sum stay.
Graph with_unflattened_operands(Graph graph);

}  // namespace arenac
