// Bytes that are alive in steps of a schedule of whole nodes, in groups of them, and at most.
//
//   conv1 | conv2 pool | conv3      of(1, 3): all that conv2 and pool touch or pass by;
//                                   of(a group of the two): a ring of rows in place of conv2's result
#pragma once

#include <vector>

#include "scheduler/groups.h"

namespace arenac {

class StepBytes {
 public:
  // Both outlive this. What is the caller's counts where `whole.io` says so.
  StepBytes(const Schedule& whole, const StepFacts& facts);

  // Per storage.
  const std::vector<int64_t>& of_storages() const { return bytes_; }

  // At a step, with the best of its overlaps.
  int64_t at(int step) const { return single_[step]; }

  // Of the storages in use during the steps [begin, end), all at once.
  int64_t of(int begin, int end) const { return begun_[end] - ended_[begin]; }

  // Of a group: rings at what they keep, with the best of its overlaps.
  int64_t of(const GroupPlan& plan) const;

  // Storages whose lives end with the step before `end`.
  const std::vector<TensorId>& ending(int end) const { return ending_[end]; }

 private:
  const Graph& graph_;
  const StepFacts& facts_;
  std::vector<int64_t> bytes_;                 // per storage; 0: the caller's
  std::vector<int64_t> begun_, ended_;         // of storages whose lives begin before, end by a step
  std::vector<std::vector<TensorId>> ending_;  // per step
  std::vector<int64_t> single_;                // per step
};

// At the fullest step of any schedule, with the best of its overlaps, what is the caller's apart.
int64_t peak_of(const Schedule& schedule);

}  // namespace arenac
