// The nodes of decision trees as the kernel tree_ensemble walks them.
//
//        0: x[3] <= 0.5                 feature    3    -1    -1
//        /yes      \no          ->      threshold  0.5   -     -
//   1: leaf        2: leaf              yes, no    1,2  0,1   1,2      a leaf's: its entries in target,
//   weight
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/lower.h"

namespace arenac {

struct TreeTable {
  std::vector<int32_t> feature;  // -1: a leaf
  std::vector<double> threshold;
  std::vector<uint8_t> mode;
  std::vector<int32_t> yes, no, roots;
  std::vector<int32_t> target;
  std::vector<double> weight;
};

// From the attributes nodes_* and `prefix`_*, "class" or "target". Fails where the nodes are no trees, or
// name a feature or target out of range.
TreeTable tree_table(const Lowering& node, const std::string& prefix, int64_t targets, int64_t features);

// The same of TreeEnsemble: nodes and leaves are lists of their own, and a node can ask whether the feature
// is one of a set.
TreeTable ensemble_table(const Lowering& node, int64_t targets, int64_t features);

// The attribute `name`, or its newer spelling `name`_as_tensor.
std::vector<double> floats_or_tensor(const Lowering& node, const std::string& name);

}  // namespace arenac
