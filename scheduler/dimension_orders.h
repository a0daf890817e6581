// In which order the dimensions of a result lie:
//
//   conv   [1, 16, 8, 8]   strides [1024, 1, 128, 16]: windows slide over y and x, channels are side by side
//   relu   [1, 16, 8, 8]   the same: its operand has it so
//   pool   [1, 16]         [16, 1]: nobody asks for anything
#pragma once

#include "scheduler/storage.h"
#include "scheduler/storage_facts.h"

namespace arenac {

// Dense strides with the dimensions in this order, outermost first.
std::vector<int64_t> dense_strides(const Shape& shape, const std::vector<int>& order);

// The strides in which a node that reads what lies as `layouts` say writes `out`, dense. Asked are in turn
// the windows of the node, a reader that only renames the elements, the largest operand, the windows of the
// readers, and the lanes of a product.
std::vector<int64_t> preferred_strides(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                       const StorageChoice& choice, const Node& node, TensorId out);

}  // namespace arenac
