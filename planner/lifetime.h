// The bridge from schedules to planning problems: which storage lives when.
//
//   steps 0..7, storage of conv1 written at 0, last read (by a view of it) at 3   ->   Buffer{"conv1", live
//   [0, 4)}
#pragma once

#include <string>
#include <vector>

#include "planner/problem.h"
#include "scheduler/schedule.h"

namespace arenac {

// A model's output that the next run reads as an input, and the value of its bytes before the first run.
struct State {
  TensorId output, input;
  uint8_t initial = 0;
};

struct Lifetimes {
  Problem problem;
  std::vector<int>
      buffer_of;  // per tensor: the buffer that holds its storage; -1: a constant or the caller's memory
  std::vector<TensorId> tensor_of = {};  // per buffer: the tensor whose storage it is
  std::vector<State> states = {};
};

// The storage of the model's tensor lies in the pool of this name only.
struct Pin {
  std::string tensor, pool;
};

// One buffer per storage, alive from the first step that writes into it to the last that reads from it,
// control flow included: what a loop reads from outside lives through the loop. Buffers and pools are aligned
// to `align` bytes at least. A buffer that no pin names may lie in each of the pools, the first preferred;
// no pools are one without a capacity, "arena". Throws UserError with Exit::kUsage for a pin of an unknown
// pool or of a tensor without a buffer, naming those there are.
//
// A state's input has a buffer that lives at all steps and shares its bytes with none. The output lies there
// too where all that reads the input comes before what writes the output, or the schedule says that they may
// meet; else it has a buffer of its own, to be copied after the last step. Throws UserError with Exit::kUsage
// for a name that is no output or input, naming those there are, and for one that is used twice; UserError
// naming both when types or shapes differ.
//
// Of the schedule's overlaps, the problem of one pool has those that pay: which shorten a step that holds
// more bytes than the fullest step would if all were used.
Lifetimes lifetimes(const Schedule& schedule, Io io, int64_t align, std::vector<Pool> pools = {},
                    const std::vector<Pin>& pins = {}, const std::vector<StateNames>& states = {});

// The indices into `ids`, inputs or outputs of the model, that the caller passes or takes: no states.
std::vector<size_t> of_caller(const Lifetimes& lifetimes, const std::vector<TensorId>& ids);

// The overlap of the schedule's step that the plan makes use of; null: none.
const StorageOverlap* overlap_in_use(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan,
                                     int step);

// Whether the storages of two tensors have a byte of the arena in common.
bool share_bytes(const Lifetimes& lifetimes, const Plan& plan, TensorId a, TensorId b);

}  // namespace arenac
