// The bridge from schedules to planning problems: which storage lives when.
//
//   steps 0..7, storage of conv1 written at 0, last read (by a view of it) at 3   ->   Buffer{"conv1", live
//   [0, 4)}
#pragma once

#include <vector>

#include "planner/problem.h"
#include "scheduler/schedule.h"

namespace arenac {

// Where the model's inputs and outputs live.
enum class Io : uint8_t { kExternal, kArena };

struct Lifetimes {
  Problem problem;  // one pool, "arena"
  std::vector<int>
      buffer_of;  // per tensor: the buffer that holds its storage; -1: a constant or the caller's memory
};

// One buffer per storage, alive from the first step that writes into it to the last that reads from it,
// control flow included: what a loop reads from outside lives through the loop. Buffers are aligned to
// `align` bytes.
Lifetimes lifetimes(const Schedule& schedule, Io io, int64_t align);

}  // namespace arenac
