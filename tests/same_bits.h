// Rewritings of a graph that change no bit.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/interpret.h"
#include "tests/random_graph.h"

namespace arenac {

inline std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> all;
  for (const Node& node : graph.block) all.push_back(node.op);
  return all;
}

// The outputs of both are the same on the inputs of a seed.
inline void assert_same_bits(const Graph& before, const Graph& after, unsigned seed, Numbers numbers) {
  verify(after);
  const auto inputs = random_inputs(before, seed, numbers);
  const auto want = interpret(before, inputs), got = interpret(after, inputs);
  for (TensorId id : before.outputs)
    ASSERT_EQ(got[id]->bytes, want[id]->bytes) << "seed " << seed << "\n" << dump(before) << dump(after);
}

}  // namespace arenac
