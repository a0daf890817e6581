// Of a storage that a stage reads through windows: what of it is in memory while its writer runs in turns
// with that stage, a little ahead.
//
//   . . . # # # * * *       a 3x3 window at `#`: the elements from the first
//   * * * # # # * * *       that it sees to the last that has been written,
//   * * * # # #             row after row,
//
//   . . . # # # . . .       or, of rows that are computed again for each row
//   . . . # # # . . .       of windows, some of their columns
//   . . . # # #
#pragma once

#include <map>

#include "scheduler/slabs.h"

namespace arenac {

// Who touches the storage, and where. The writer runs within the reader or what that runs within.
struct WindowUse {
  int writer, reader;                    // stages
  Rows rows, columns;                    // of the storage
  const std::vector<Interval>& written;  // rows, per slab of the writer
  const std::vector<Interval>& read;     // rows, per slab of the reader
  const std::vector<Interval>& seen;     // columns, per chunk of the reader
};

// The ring of elements. `known`: their number, by a hash of all that decides it.
Ring elements_kept(const Group& group, const WindowUse& use, std::map<size_t, int64_t>& known);

// The ring of as many rows as are computed for a slab of the reader, and of their columns as many as are kept
// at a time.
Ring columns_of_window_kept(const Group& group, const WindowUse& use);

}  // namespace arenac
