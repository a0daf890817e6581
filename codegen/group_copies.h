// Constants that are read in copies: what a group of rows, or a step of whole layers, reads often is copied
// into fast memory before it, and its bytes are others' afterwards.
//
//   --pool name=dtcm,kind=constants,size=16K,copy=group
//
//      dtcm ^
//       16K |  +--------+           +--------+     a pool of the workspace: a copy is a buffer of the plan
//           |  | conv2  |  +-----+  | dense  |     that lives in the steps of the group which reads it
//           |  +--------+  |conv3|  |        |
//           |  | conv1  |  |     |  |        |
//           +--+--------+--+-----+--+--------+--> time
//
// It pays where reads wait longer in the constants' memory (wait=) than copying takes.
#pragma once

#include <string>

#include "codegen/emit.h"

namespace arenac {

// A plan with the copies, in a pool behind the others, the last.
struct WithCopies {
  Lifetimes lifetimes;
  Plan plan;
  double saved = 0;           // cycles of a run, as reads wait in the memories
  std::string left_out = {};  // what would have paid and finds no room, or why there are none; empty: nothing
};

// Of each group those that are pinned and then those that save most cycles for their bytes, while they fit.
// With `lifetimes` and `plan` as they are where the options have no pool for them. Throws UserError with
// Exit::kUsage for a pin of what no step reads, with Exit::kDoesNotFit where one finds no room.
WithCopies with_group_copies(const Schedule& schedule, Lifetimes lifetimes, Plan plan,
                             const EmitOptions& options, const Target& target);

// Whether a buffer of such a plan is the copy of a constant.
bool is_copy(const Graph& graph, const Lifetimes& lifetimes, size_t buffer);

}  // namespace arenac
