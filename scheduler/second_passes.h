// What a barrier keeps in memory whole is computed again behind it.
//
//   t = f(x);  g = gate(mean(t));  y = t * g          squeeze-excite: y cannot begin before the mean is done
//   t = f(x);  g = gate(mean(t));  u = f(x);  y = u * g     neither t nor u need to be in memory whole
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Graphs of that form, those with the most done again first: of every tensor that waits for a reduction of
// itself, of the larger ones, of the largest. f goes back to the smallest tensor of few steps before or,
// which is less work, to the nearest that is smaller than t and half as large as what is between them.
// Nothing where no tensor waits. `whole` is a schedule of whole layers; nodes that are done again say so
// (Node::is_again).
std::vector<Graph> with_second_passes(const Schedule& whole);

}  // namespace arenac
