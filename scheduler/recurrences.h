// Loops over time as rows: what one carries from moment to moment is a row of a tensor for each of them, so
// that the loop may be a stage of a group. Its node is a recurrence (frontend/graph.h): it reads the row
// before the one that it writes.
//
//   h = 0                                    s[0] = 0
//   for t < 40: g = gate(x[t], h)            s[t + 1] = (g, h), t < 40:  g = gate(x[t], s[t].h)
//               h = cell(g, h)                                           h = cell(s[t + 1].g, s[t].h)
//               y[t] = h                     y = s[1 ..].h
//
//   conv   0 1 2   3 4   5 6        slabs of the recurrence pull rows of x as they need them; of s two rows
//   are s    0     1     2     3        in memory
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph with those loops in this form that walk from the first of some thousand moments at most to the
// last, run all of their trips and compute, of nests, what they carry in one type. What does not depend on
// the moment before becomes nodes of their own, one row a moment: before the recurrence what it reads, behind
// it what reads it.
Graph with_recurrences(Graph graph);

}  // namespace arenac
