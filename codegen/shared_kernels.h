// Kernels that differ in numbers only, as one that reads them from a table: the least code.
//
//   for i in [0, 16): y[i] = x[8 * i + 1]               for i in [0, k0): y[i] = x[k1 * i + 1]
//   for i in [0, 32): y[i] = x[4 * i + 1]               {{16, 8}, {32, 4}}
//
// Names and numbers of axes may differ, too, whether loops end in a last step that does some again, and which
// way they go; kernels of another tree are left as they are.
//
// A network of thirty convolutions has a few shapes of them, each with other extents. Where flash is scarce
// one text for all of them is worth that its numbers are loaded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/c_kernel.h"
#include "codegen/lowered.h"

namespace arenac {

struct SharedKernel {
  std::string signature;               // parameters and body
  std::vector<std::vector<int>> rows;  // numbers, for each of the kernels in whose place it is
};

struct SharedKernels {
  struct Row {
    size_t kernel, row;
  };
  std::vector<SharedKernel> kernels;
  std::map<std::string, Row> rows;  // per signature of a kernel by itself; only of those that share one
};

// Of all nests of a program. Numbers that may differ are the ints in ranges of loops, conditions on ints and
// indices, and what integers are added
// to or multiplied by, zero points above all. A pointer is only promised to be apart where it is in all of
// them.
SharedKernels shared_kernels(const std::vector<std::vector<LoweredNest>>& steps, const std::string& prefix,
                             Helpers& helpers);

}  // namespace arenac
