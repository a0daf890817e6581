// Over which dimensions a step slides windows, and in which order those of what it reads lie best.
//
//   dw[c, y, x] = sum(ky, kx) e[c, 2 * y + ky, 2 * x + kx] * w[c, ky, kx]      over y and x
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The dimension of the write that an axis of the nest indexes, or -1.
int dimension_of(const Nest& nest, int axis);

// The first of the trailing dimensions over which windows move; the rank of the result when those are not the
// trailing ones.
size_t first_windowed_dimension(const Nest& nest, size_t rank);

// Whether what `writer` computes from no windows, and `reader` alone reads through windows, channel by
// channel, takes fewer bytes as planes, one at a time, than as the rows under a window: the former with all
// that the reader makes of it, the latter with a row of that.
bool smaller_in_planes(TensorId id, const Node& writer, const Node& reader, const Graph& graph);

// Whether a step reads whole columns of an image, but not all of its columns: then what runs by rows waits
// for all of the image, what runs by columns does not.
//
//   mean[c, x] = sum(y) spectrum[c, y, x]        over frequencies, for each moment
bool reads_whole_columns(const Graph& graph);

}  // namespace arenac
