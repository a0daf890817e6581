// The steps that a group is made of, one a stage, as it takes them:
//
//   steps 5 and 6 of a schedule, four slabs of 6 at a time
//     -> stage 0: cut[0], step 5; stage 1: cut[1], step 6
#pragma once

#include <span>

#include "scheduler/step_facts.h"

namespace arenac {

struct CutSteps {
  const Schedule& whole;
  const StepFacts& facts;
  int begin;                         // the first step
  std::span<const StepInSlabs> cut;  // per stage

  int count() const { return static_cast<int>(cut.size()); }
  int end() const { return begin + count(); }
  const Graph& graph() const { return *whole.graph; }
  TensorId root(TensorId id) const { return whole.layouts[id].root; }
  const Slabs& slabs(int k) const { return cut[k].slabs; }
  const Node& node(int k) const { return *whole.steps[begin + k].node; }

  // Whether it is in use at these steps alone, and no caller's.
  bool holds(TensorId storage) const {
    const Interval live = facts.live[storage];
    return facts.bytes[storage] > 0 && !facts.callers[storage] && begin <= live.begin && live.end <= end();
  }
};

}  // namespace arenac
