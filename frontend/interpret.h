// The nest interpreter: the meaning of a Graph, as slowly and plainly as possible. It folds constants at
// import and is the oracle of every test.
#pragma once

#include <span>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

// The neutral element of a combination: what an empty reduction leaves.
Scalar neutral(Combine combine, Type type);

// The operation that combines, of any but kNone.
Op op_of(Combine combine);

// Whether the nest writes one value to every element of a dense tensor of that shape: no point costs
// anything.
bool is_fill(const Nest& nest, const Shape& shape);

// Runs the nests of one node, in order. `order` permutes the axes of each nest (outermost first); empty: as
// written. Long float sums are of parts (partial_sums.h). Reads are looked up by operand. `iterations[s]` is
// the current trip of the loop with symbol s.
void run_nest(const Nest& nest, std::span<const Value* const> reads, Value& write,
              std::span<const int64_t> iterations = {}, std::span<const int> order = {});

// The value of every tensor that running `graph` on `inputs` (one per graph input, in order) leaves behind;
// null for those never written. Outputs are at graph.outputs.
std::vector<std::shared_ptr<const Value>> interpret(const Graph& graph, const std::vector<Value>& inputs);

// Of these, the graph's outputs.
std::vector<Value> interpret_outputs(const Graph& graph, const std::vector<Value>& inputs);

// One node whose reads are all in `values`, which it extends by its writes. Used by folding.
void run_node(const Node& node, const Graph& graph, std::vector<std::shared_ptr<const Value>>& values,
              std::vector<int64_t>& iterations);

}  // namespace arenac
