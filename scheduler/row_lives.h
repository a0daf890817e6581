// When the rows of what a group touches are written first and touched last, as its slabs run.
//
//   slabs run:    conv 0   conv 1   pool 0   conv 2   conv 3   pool 1
//   row of conv   written at 0 1 3 4, touched last at 2 2 5 5: two at a time are in memory
#pragma once

#include <vector>

#include "scheduler/cut_steps.h"
#include "scheduler/slots.h"

namespace arenac {

// When each slab of a stage runs first and last, -1 where it never does; host and guests at the same time.
struct SlabTimes {
  std::vector<Moment> first, last;
};
// Those of all stages, and the moment after the last of them.
struct GroupTimes {
  std::vector<SlabTimes> stages;
  Moment end = 0;
};
GroupTimes times_of(const Group& group);

// Of a tensor (a source): when its rows are written and touched. Only rows [first, first + size) are kept:
// nothing in the group touches the others, which were written before it or never. None where nobody asks.
struct RowLives {
  TensorId id;
  int64_t first;
  std::vector<Life> rows;
  Moment others_written;  // -1: before the group

  int64_t end() const { return first + static_cast<int64_t>(rows.size()); }
  Life& at(int64_t row) { return rows[static_cast<size_t>(row - first)]; }
  const Life& at(int64_t row) const { return rows[static_cast<size_t>(row - first)]; }
  Moment written(int64_t row) const { return first <= row && row < end() ? at(row).written : others_written; }
};

// What a group does with a storage.
struct StorageUse {
  TensorId id;
  bool was_before;  // something is in it before the group
  int64_t kept;     // rows in memory at a time; 0: it does not live in the group alone, or not in rows
};

// What the stages of a group read and write.
class TouchedSources {
 public:
  explicit TouchedSources(const CutSteps& steps);

  // When slabs run at these times.
  void trace(const GroupTimes& times);

  // Since trace(): whether tensors that share bytes use them one after the other, in each row in the order of
  // the steps.
  bool are_in_order() const;

  // Since trace(), per storage.
  std::vector<StorageUse> storage_uses() const;

 private:
  std::vector<RowLives>::const_iterator at(TensorId source) const;
  void keep_rows(const std::vector<size_t>& counts);

  const CutSteps& steps_;
  std::vector<RowLives> sources_;  // by storage, then tensor
  std::vector<size_t> places_;  // in sources_, per access: stage by stage what is read, then what is written
};

}  // namespace arenac
