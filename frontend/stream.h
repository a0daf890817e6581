// A model of a stretch of time as one of a stream: each call goes on where the one before it ended.
//
//   y[t] = sum(k) x[t + k - 2] * w[k], 0 <= t + k - 2 < n
//
//   all = before, x;   y[t] = sum(k) all[t + k] * w[k]
//   after = the last two of all      the next call's `before`
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The dimension of an input that is time, -1 is the last, and how many moments a call brings; 0: as many as
// the model's stretch of time has.
struct StreamInput {
  std::string input;
  int64_t dimension;
  int64_t moments = 0;
};

struct Streamed {
  Graph graph;  // with an input and an output more for each state
  std::vector<StateNames> states;
};

// The graph in which causal sums, convolutions and averages over time, go on with what earlier calls brought,
// and loops over time with what the last call left: the results of calls in turn are those of one call with
// all that they were given, where that begins with zeros, or with the zero point of integers. What divides by
// how many moments a window has had so far counts them. What works on each moment alone stays as it is.
// Moments behind the last that the model is given, which a convolution padded at both ends has, are dropped
// where no output shows them. What has no axis of time in its result works on the moments of one call, with a
// warning, if a call brings as many as the model's stretch of time has.
//
// Throws UserError for an input or a dimension that is not there, that has a single moment, which no axis
// walks, or that comes twice (Exit::kUsage), and naming all nodes that need later moments, depend on the
// number of a moment, combine moments in another way, or work in branches or in loops that go on otherwise.
Streamed streamed(Graph graph, const std::vector<StreamInput>& inputs);

}  // namespace arenac
