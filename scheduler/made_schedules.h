// Schedules made of what the searches find: an order with its storage, then groups.
//
//   conv, relu, pool in order     ->     steps 0, 1, 2 with walks     ->     the group [0, 3) of these
#pragma once

#include <memory>
#include <vector>

#include "scheduler/groups.h"
#include "scheduler/ordered.h"

namespace arenac {

// One node a step; nodes that only run row by row are groups of one.
Schedule whole_layers(Ordered ordered, std::shared_ptr<const Graph> graph, const Target& target);

// A schedule of whole layers with these groups. `known`: schedules of the same steps in other groups.
Schedule with_groups(Schedule schedule, std::vector<GroupPlan> groups, const Target& target,
                     const std::vector<const Schedule*>& known);

// The graph stays the caller's.
std::shared_ptr<const Graph> borrowed(const Graph& graph);

}  // namespace arenac
