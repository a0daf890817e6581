// A row that one stage writes and others read at the same columns: they run in turns, a few columns at a
// time, within the last of them.
//
//   dw   a a a . . . . . . b b b . . .        writes columns [3t, 3t + 3) of its row
//   pw   . . . a a a . . . . . . b b b        reads them: three columns are in memory
//
// So do all that touch several such rows, for which they take turns together: head after head of an attention
// its scores, their greatest and their sum.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/stage_uses.h"

namespace arenac {

// Columns of a chunk of a row: the fewest that divide it, from `least`; else, where as few are wanted, 2
// or 1.
int64_t width_of_chunk(int64_t columns, int64_t least);

// Of those who touch a storage, chunk by chunk of its columns.
struct ColumnTurns {
  TensorId storage;
  std::vector<int> users;  // stages, ascending
  int host;                // stage within which the others run
  int64_t chunks;
};

// How all that touch the storage can run so in a group, in chunks of about that width if none of them has
// chunks yet; nothing where they cannot.
std::optional<ColumnTurns> column_turns(const Group& group, const StageUses& uses, TensorId storage,
                                        int64_t width);

// They do.
void take_turns(Group& group, const StageUses& uses, const ColumnTurns& turns);

// What is kept then: the rows of a slab, of which the columns of a chunk.
Ring ring_of_turns(const Group& group, const StageUses& uses, TensorId storage);

}  // namespace arenac
