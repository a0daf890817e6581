// A row of a storage as columns: the outermost dimension within it.
//
//   [16, 48, 48] channels-last: rows of 48 columns of 16 elements
#pragma once

#include "scheduler/slabs.h"

namespace arenac {

// What lies at one place of a row. `size` 0: no columns.
Rows columns_of(const Layout& layout, const Rows& rows, const Shape& shape);

// Per nest of a node the axis that alone is the column wherever the nest touches `storage`; -1 where it only
// clears what a later nest adds to. Empty if there is no such axis, or if it is the one that `slabs` cut.
std::vector<int> column_axes(const Node& node, const Slabs& slabs, TensorId storage, const Rows& rows,
                             const Graph& graph, const std::vector<Layout>& layouts);

// Of a node whose columns are those axes.
ColumnFactors column_factors(const Node& node, const std::vector<int>& axes);

// Columns of the storage of a tensor that the node reads or writes in each of `chunks` equal parts of the
// axes, one a nest; nests with -1 run with the first part.
std::vector<Interval> columns_touched(const Node& node, const std::vector<int>& axes, int64_t chunks,
                                      TensorId id, const Rows& rows, const Graph& graph,
                                      const std::vector<Layout>& layouts);

}  // namespace arenac
