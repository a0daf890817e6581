// The nodes of a graph one after the other, control flow as markers around what its blocks hold:
//
//   conv, If(then: a, else: b), pool     ->     conv   if  a   else  b   end if   pool
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Of the top-level nodes in this order, by index in graph.block; partners are yet to be found.
std::vector<Step> flat_steps(const Graph& graph, const std::vector<int>& order);

// The steps with the partners of those of control flow.
std::vector<Step> with_partners(std::vector<Step> steps);

}  // namespace arenac
