// The order in which constants lie: that in which loops walk them.
//
//   w[m, c, ky, kx], m in lanes      w[ky][kx][c][m]
#pragma once

#include <optional>

#include "scheduler/loops.h"

namespace arenac {

// The column of a read in the rows that it walks along the innermost reduced axis of a sum of products of
// bytes over lanes (walks_bytes_of_lanes), and these rows: the factor's whose elements the lanes are. Nothing
// where rows are not blocks of the whole operand.
struct WalkedRows {
  Words rows;
  Affine column;
};
std::optional<WalkedRows> walked_rows(const FlatNest& nest, const LoopPlan& plan, const Expr& read);

struct PlannedNest {
  const Nest* nest;
  const Node* node;
  const LoopPlan* plan;
};
// Gives constants of bytes, which have none yet, but those that C kernels were `called` with, words where
// every one of all nests that reads them walks_bytes_of_lanes in these rows.
void pack_words(const std::vector<PlannedNest>& nests, const Graph& graph, const std::vector<bool>& called,
                std::vector<Layout>& layouts);

// Gives constants the layout in which their (first) reader walks them; those that lay otherwise before.
std::vector<TensorId> pack_constants(const Nests& nests, const Node& node, const std::vector<LoopPlan>& plans,
                                     const Graph& graph, std::vector<bool>& packed,
                                     std::vector<Layout>& layouts);

}  // namespace arenac
