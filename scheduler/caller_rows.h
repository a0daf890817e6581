// Inputs that the caller passes row by row, and outputs that it takes so: no image of its own.
//
//   x[1, 3, 96, 96] -> conv                    x: row y of each channel, [1, 3, 1, 96], at a time
//   x -> copy, row by row -> x' -> conv        where x' lies, and how many of its rows, the schedule decides
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// An input or output by the model's name; -1 is the last dimension; none: the one along which most steps
// run while rows come, or are taken.
struct CallerRows {
  std::string name;
  std::optional<int64_t> dimension = {};
};

// The graph with copies of what is passed and taken row by row: of one input at most. UserError with
// Exit::kUsage for names and dimensions that are not there and for what has but one row.
Graph with_caller_rows(Graph graph, const std::vector<CallerRows>& fed,
                       const std::vector<CallerRows>& emitted);

// Of a schedule that holds all rows of a fed input, the step that needs them before it begins, and why.
std::optional<std::string> needs_all_rows(const Schedule& schedule);

}  // namespace arenac
