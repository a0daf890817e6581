// Nodes beside a loop over moments that move into it, where less is then kept of what they read or write.
//
//   d = Dense(x)                                  for t: d[t] = Dense(x[t])
//   for t: h[t] = f(d[t], ..)           ->               h[t] = f(d[t], ..)
//   r = Relu(h)                                          r[t] = Relu(h[t])
//   z = r[last]                                   z = r[last]
#pragma once

#include "frontend/loop_moments.h"

namespace arenac {

// Moves into the loop at i of the block what follows it moment by moment, where of its result only the last
// moment is read, or all of it is an output, and less is kept of what it reads.
void sink_what_follows(WrittenGraph& written, size_t i);

// Moves into the loop at i what the loop alone reads, moment by moment, of what is computed before, where
// what it is computed of takes less. The loop then reads constants of at most so many bytes. Where the loop
// is afterwards.
size_t sink_what_precedes(WrittenGraph& written, size_t i, int64_t most_constants);

}  // namespace arenac
