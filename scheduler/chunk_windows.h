// Rows that one stage reads through a window: their writer runs in turns with it, too, a little ahead.
//
//   . . . # # # * * *                         a 3x3 window at `#`; what is kept begins with it and ends
//   * * * # # # * * *                         where the writer is,
//   * * * # # #
//
//   . . . # # # . . .                         or is the window alone: two of its rows are computed again for
//   . . . # # # . . .                         the next row of windows (MCUNetV2's patches in one direction)
//   . . . # # #
#pragma once

#include <optional>
#include <vector>

#include "scheduler/stage_uses.h"

namespace arenac {

struct SlidingWindow {
  TensorId storage;
  StagePair stages;
  bool is_again;  // computed for each slab of the reader; `slabs_at` of the writer says what
};

// Per slab of a reader, which reads these rows, the slabs of the writer in which they are written; nothing
// where these do not go on row after row, or where a slab reads what none writes.
std::optional<std::vector<Interval>> slabs_read(const RowAccess& read, const RowAccess& written);

// Makes a guest of the writer, in chunks that are as wide as the reader goes on at a time, and chunks of the
// reader, of about that width, if it has none. False where columns cannot be told apart; stages other than
// the two of the window are as they were then.
bool place_window(Group& group, const StageUses& uses, const SlidingWindow& window, int64_t width);

// What is kept of a window that is placed.
Ring ring_of_window(const Group& group, const StageUses& uses, const SlidingWindow& window);

}  // namespace arenac
