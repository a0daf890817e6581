// Schedules of whole layers, in several orders and storages, of a graph and of rewritings of it:
//
//   file's order, best order, by phases     x     storage for residuals, for products, in planes, by columns
#pragma once

#include <memory>
#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Schedules of whole layers. Those from `accumulating` on take pooling and dense layers by rows, or loops
// over time, where these are other graphs, else 0; those from `again` on compute some of it again. `last` is
// the graph with all of that but the loops.
struct PlainSchedules {
  std::vector<Schedule> schedules;
  size_t accumulating = 0, again = 0;
  std::shared_ptr<const Graph> last = {};
};

// In the file's order and the best one for whole layers, with pooling of whole images or by rows, with one
// operand or another in place: the plainest first, which there is in any time.
PlainSchedules plain_schedules(const std::shared_ptr<const Graph>& graph, const Target& target,
                               Deadline deadline);

// In the file's order with what is awaited computed again.
std::vector<Schedule> second_passes(const std::shared_ptr<const Graph>& graph, const Target& target,
                                    Deadline deadline);

// What is scheduled: the graph, or for whole layers alone what is faster for more memory.
std::vector<std::shared_ptr<const Graph>> bases_of(const Graph& graph, Freedom freedom, const Target& target);

}  // namespace arenac
