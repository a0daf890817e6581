// How far an output may lie over an input that dies at its step.
//
//                 ____________________________
//   input        |///read already///|  to come |        in[y - 1 .. y + 1] is read for out[y]: while row y is
//            ____|__________________|__________|        written, row y - 1 is the lowest that later rows
//            read.
//   output  | written so far        |  |                So the input lies one row above the output.
//           |<-->| distance
//
// Written bytes must never be read later. For every write and every read that comes after it in the emitted
// order, end(write) - begin(read) bounds the distance from below; Optimizing deep learning memory (DMO,
// "Diagonal memory optimisation", Blacker et al. 2020) calls what is left the safe overlap. The addresses are
// sums of terms that one axis of the output moves, so the largest difference is a sum of largest differences
// along the axes: exact for convolutions, pooling, matrix products and resizes, safe for everything else.
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// The least distances, in bytes, at which no byte is read after it was written. They may be negative, or too
// large to share anything.
struct SafeDistances {
  int64_t input_above;   // offset(input) - offset(output)
  int64_t output_above;  // offset(output) - offset(input)
};

// Of the storages `input` and that of the node's write, when its nests are walked as `loops` say.
SafeDistances safe_distances(const Node& node, const Graph& graph, const std::vector<Layout>& layouts,
                             const std::vector<LoopPlan>& loops, TensorId input);

// Every overlap by which two storages of a step take fewer bytes than apart: where one dies at the step that
// first writes the other, and C lets pointers to their types meet. In either direction, each with the sweep
// and the nesting of blocks that is best for it; those of the schedule if they are as good. Graph inputs and
// outputs take part: they may lie in the arena.
std::vector<StorageOverlap> find_overlaps(const Schedule& schedule);

// Bytes that two storages cover together at the best offset that `distance` allows.
int64_t joint_bytes(int64_t above, int64_t below, int64_t distance);

}  // namespace arenac
