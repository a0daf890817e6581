// What a group comes to depends on its steps alone, not on where in a schedule they are:
//
//   conv relu | conv relu | conv relu | pool      three groups of one key, formed once
//
// The key of a group is a hash of all that forming it looks at, its tensors by the order in which it touches
// them. Equal keys: as many bytes beside those that only pass by, in the same way.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/step_facts.h"

namespace arenac {

class GroupKeys {
 public:
  // `bytes`: per storage, as the search counts them. All outlives this.
  GroupKeys(const Schedule& whole, const StepFacts& facts, const std::vector<int64_t>& bytes);

  struct Key {
    size_t hash;
    std::vector<TensorId> tensors;  // in the order of the key: counterparts have the same places
  };
  // Of the steps [begin, end), which can all be in a group.
  Key of(int begin, int end) const;

 private:
  // To an earlier step: a hash of how far it must have come. Of those from before a group nothing depends.
  struct Link {
    int producer;
    size_t upto;
  };

  const std::vector<Layout>& layouts_;
  const StepFacts& facts_;
  std::vector<size_t> steps_;                     // per step: what it does, however its tensors are called
  std::vector<std::vector<Link>> pulls_, waits_;  // per step
  std::vector<size_t> tensors_;  // per tensor: its shape and type, and how it lies in its storage
};

}  // namespace arenac
