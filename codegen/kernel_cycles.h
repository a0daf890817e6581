// Cycles of one kernel, run after run.
//
//   KernelCycles cycles(kernel, target.costs);
//   cycles.run({slab, chunk}) + cycles.run({slab, chunk + 1}) + ...
//
// Loops are multiplied out; where their bodies take other ways from one iteration to the next, some are
// looked at. Runs that cannot differ are counted once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codegen/lowered.h"

namespace arenac {

// An operand whose reads wait, each so long, in units of Costs.
struct Waiting {
  int operand = -1;
  double each = 0;
};

class CycleCounter;

// The kernel and the costs outlive it.
class KernelCycles {
 public:
  // `between` are, per operand and then of the result, the bytes that are touched from one run to the next
  // (fetches.h); none: all are near.
  KernelCycles(const Kernel& kernel, const Costs& costs, std::vector<double> between = {},
               const Waiting& waiting = {});
  KernelCycles(KernelCycles&&) noexcept;
  ~KernelCycles();

  // Units of Costs; iterations[k] is the value of symbol k.
  double run(std::span<const int64_t> iterations);

 private:
  std::unique_ptr<CycleCounter> counter_;
};

}  // namespace arenac
