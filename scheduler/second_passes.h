// What waits in memory whole is computed again where it is wanted.
//
//   t = f(x);  g = gate(mean(t));  y = t * g          squeeze-excite: y cannot begin before the mean is done
//   t = f(x);  g = gate(mean(t));  u = f(x);  y = u * g     neither t nor u need to be in memory whole
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Graphs of that form, those with the most done again first; nothing where no tensor waits (awaited.h).
// `whole` is a schedule of whole layers; nodes that are done again say so (Node::is_again).
//   - Of every tensor that waits for a reduction of itself, of the larger ones, of the largest. f goes back
//     to the smallest tensor of few steps before or, which is less work, to the nearest that is smaller than
//     t and half as large as what is between them.
//   - Of the few largest that wait across scales, of one less, ..., of the largest, from the inputs on, what
//     these have in common once.
std::vector<Graph> with_second_passes(const Schedule& whole);

// The graph with what waits behind steps that mix rows (awaited.h) computed again, all of it, and as late as
// can be what is made of that; nothing where nothing does.
std::vector<Graph> with_passes_behind_mixing(const Schedule& whole);

}  // namespace arenac
