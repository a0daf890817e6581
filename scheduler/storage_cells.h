// The rows of a storage, cut into the cells that tensors and parts of nests tell apart.
//
//   concat of a (2 channels) and b (1), rows of two columns:   a a b  a a b     cells 0 0 1  0 0 1
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "scheduler/slabs.h"

namespace arenac {

// The indices [begin, end) of a tensor, per dimension.
using Box = std::vector<Interval>;
Box whole(const Shape& shape);

// What a nest writes where that is a box.
std::optional<Box> box_written(const Nest& nest);

// Where the elements of a box of a tensor lie: in these rows of its storage, in each at these places.
struct Area {
  std::vector<Interval> rows, places;  // ascending, apart
};
// Nothing where that takes more intervals than are worth looking at.
std::optional<Area> area_of(const Layout& layout, const Box& box, const Rows& rows);

// The columns of a row, and in each of them the cells: places that the same of the areas hold.
struct RowCells {
  Rows columns;             // one, of all of the row, where none need to be told apart
  std::vector<int> counts;  // of cells, per column; empty: one each
  int most = 1;             // of these
  // Of an area that does not hold every place of the row: its cells, per column.
  std::map<int, std::vector<std::vector<int>>> parts = {};

  int count_at(int64_t column) const { return counts.empty() ? 1 : counts[static_cast<size_t>(column)]; }
};
// `areas` by numbers that the caller gives them. Nothing where there are more places to tell apart than are
// worth it.
std::optional<RowCells> cells_of(const Rows& rows, const Rows& columns, const std::map<int, Area>& areas);

}  // namespace arenac
