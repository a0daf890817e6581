// A recurrent layer in a stream: its loop over time goes on with what the last iteration of the last call
// left.
//
//   h = 0                                     h = before
//   for t < 100: h = cell(x[t], h)            for t < 10: h = cell(x[t], h)
//                y[t] = h                                 y[t] = h
//                                             after = h
#pragma once

#include "frontend/stream_reads.h"

namespace arenac {

// What a tensor is before the first call, each of its bytes.
struct FirstState {
  TensorId tensor;
  uint8_t byte;
};

struct LoopOverTime {
  Times times;                      // of the stream, with what is written a moment an iteration
  std::vector<FirstState> carried;  // what the loop hands on, where the model says its first value
};

// Lets the loop of a node of `block` walk the moments of a call. Carried values that begin as an input of the
// model's are its own states and none of those. Throws StreamFault where it walks backwards or at another
// pace, knows the number of a moment, ends when it likes, or begins with what is computed.
LoopOverTime follow_loop(Node& node, const Block& block, const Graph& graph, const Times& times);

}  // namespace arenac
