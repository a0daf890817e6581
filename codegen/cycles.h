// Cycles that kernels and schedules take on a target, without running them: of every statement those of its
// operations (the target's Costs, the table of instructions) times how often it runs.
//
//   for i in [0, 16):                      16 * (loop +
//     acc = acc + x[i] * w[i]                    2 * load + multiply_add)
//
// What a compiler at -O2 makes of it is taken for granted: indices that are sums cost nothing, for pointers
// move along; what is read is widened by its load; a product that is added is one operation.
//
// Schedules and copies of constants are chosen by it, so what matters is that it orders them rightly and is
// the same on every machine: it counts, and never measures. tests/instructions_test.cc holds it against
// executed instructions of cores in QEMU.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "codegen/lowered.h"

namespace arenac {

// Of one run of the kernel; iterations[k] is the value of symbol k.
double cycles_of(const Kernel& kernel, const Costs& costs, std::span<const int64_t> iterations);

// Of each step in one run of the model, in a loop's body those of all its trips; with those of the copies
// that are made before it.
std::vector<double> cycles_of(const Lowered& lowered, const Target& target);

// Of a copy of so many bytes.
double cycles_of_copying(int64_t bytes, const Costs& costs);

// Of each step in one run, per operand, the cycles that its reads of a constant wait: `wait` for each.
std::vector<std::vector<double>> waits_for_constants(const Lowered& lowered, const Target& target,
                                                     const std::function<double(TensorId)>& wait);

// Their sum for one schedule of a model after another: what schedules have in common is lowered once. Graphs
// that schedules only borrow live as long as this.
class ScheduleCycles {
 public:
  explicit ScheduleCycles(const Target& target) : target_(target) {}
  double of(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan);

 private:
  const Target& target_;
  std::set<std::shared_ptr<const Graph>> graphs_;  // whose nodes are in the keys
  std::map<std::vector<int64_t>, double> known_;   // per step, by what decides its kernels and their runs
};

}  // namespace arenac
