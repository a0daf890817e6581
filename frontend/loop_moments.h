// What the loops of recurrences, and the nodes beside them, do moment by moment.
//
//   for t: y[t] = f(x[t], ..)      y: moment t of dimension 0 in iteration t
//   r = Relu(y)                    one moment of one moment: in the loop it is r[t] = Relu(y[t])
//   z = r[last]                    of r the last moment alone
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

// Iteration t of a loop touches element t of the dimension, or element trips - 1 - t: a reversed direction of
// a recurrent layer, which begins at the end. Per tensor there is one such dimension, or none.
struct LoopMoment {
  size_t dimension;
  bool backwards;

  bool operator==(const LoopMoment&) const = default;
};
using LoopMoments = std::map<TensorId, LoopMoment>;

// The loop that a node is, where it runs all of its trips, two or more; else null.
const Loop* static_loop(const Node& node);

// Gives the loop another symbol, or the same one: the nests of its body number its iterations by that, and
// know how many trips it has now.
void number_iterations(Loop& loop, int symbol);

// Which of the two the index is, of an expression in the loop; nothing for any other, such as t + 1 of a
// neighbour in time.
std::optional<bool> direction_of(const Expr& index, const Loop& loop);

// All that a node reads and writes, its blocks included: two nodes may change places if neither writes what
// the other touches (Bernstein's conditions, 1966).
struct Touched {
  std::set<TensorId> reads, writes;
};
Touched touched_by(const Node& node);
bool meet(const std::set<TensorId>& a, const std::set<TensorId>& b);
// Of those among the tensors that are constants.
int64_t bytes_of_constants(const std::set<TensorId>& ids, const Graph& graph);

// A graph with how many nodes write each of its tensors.
struct WrittenGraph {
  explicit WrittenGraph(Graph graph);

  bool is_output(TensorId id) const;

  Graph graph;
  std::vector<int> writers;  // per tensor
};

// What the loop's body itself writes a moment of in each iteration: tensors with one writer, a dimension as
// long as the loop has trips, and an index there that is t (or its reverse) in every nest.
LoopMoments moments_of(const Loop& loop, const WrittenGraph& written);

// A node as it computes one moment of its result in an iteration.
struct Sunk {
  Node node;
  LoopMoment moment;  // of its result
};
// The node as it computes one moment from the same moment of those tensors, in the loop; nothing where it
// does otherwise, or reads none of them.
//
//   r[t, i] = max(h[t, i], 0), axes t < 100, i < 8   ->   the same with t the iteration, axis i < 8
std::optional<Sunk> sunk(const Node& node, const Loop& loop, const LoopMoments& moments,
                         const WrittenGraph& written);
// The node as it computes that moment, whatever it reads; nothing where it does not write moment by moment.
std::optional<Sunk> sunk_to(const LoopMoment& moment, const Node& node, const Loop& loop,
                            const WrittenGraph& written);

// Whether a node in `loop` reads of these tensors only the moment of its iteration. Only nests can be looked
// into: a Call that reads one of them reads all of it.
bool reads_own_moment(const Node& node, const Loop& loop, const LoopMoments& moments);

// Whether a node after the loop of `trips` reads of the tensor only what the last iteration wrote: element
// trips - 1, or 0 of what runs backwards. Axes of one point count as 0 in its index.
bool reads_last(const Node& node, TensorId id, const LoopMoment& moment, int64_t trips);

}  // namespace arenac
