// What the stages of a group touch and pull, whichever of them runs within which.
//
//   stage   0 conv    1 dw      2 pw             users of a: 0 and 1, a pair; of b: 1 and 2
//           writes a  reads a   reads b          1 pulls 0, 2 pulls 1
//                     writes b  writes c
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "scheduler/cut_steps.h"

namespace arenac {

struct StageUses : CutSteps {
  const Group& group;                                   // of which the sinks and the completed stages count
  std::vector<std::vector<Pull>> pulls;                 // per stage, of what it reads itself
  std::vector<std::vector<int>> pulled_by = {};         // per stage, those that pull it
  std::vector<std::pair<TensorId, int>> touching = {};  // storages and the stages that touch them, ascending

  TensorId written_by(int k) const { return root(slabs(k).write.tensor); }  // a storage
  bool writes(int k, TensorId storage) const { return written_by(k) == storage; }
  // Whether it takes what the caller passes row by row, once.
  bool is_fed(int k) const { return fed_to(node(k), graph()) >= 0; }
};

// `pulls`: per stage.
StageUses stage_uses(const CutSteps& steps, const Group& group, std::vector<std::vector<Pull>> pulls);

bool reads(const StageUses& uses, int k, TensorId storage);
// What a stage that reads the storage reads first of it.
const RowAccess& read_of(const StageUses& uses, int k, TensorId storage);

// The axes of the storage's columns, for a stage that touches it.
const ColumnAxes& column_axes_of(const StageUses& uses, int k, TensorId storage);

// Stages that touch a storage, ascending: the last only reads it. None where it does not.
std::vector<int> users_of(const StageUses& uses, TensorId storage);

struct StagePair {
  int writer, reader;
};
// The only two stages that touch a storage, where nobody needs the first for anything else.
std::optional<StagePair> pair_of(const StageUses& uses, TensorId storage);

// Whether nobody else asks for what all but the last of these stages compute.
bool is_closed(const StageUses& uses, const std::vector<int>& stages);

// Whether a guest can run slab for slab with a host: whoever pulls it pulls slab t for slab t.
bool is_in_step(const StageUses& uses, int guest, int host);

// Rows of the first slab.
inline int64_t height_of(const RowAccess& access) { return access.rows[0].end - access.rows[0].begin; }

// Whether at slab t all users touch only the rows that the first of them writes there, as many as at any
// other.
bool touch_same_rows(const StageUses& uses, const std::vector<int>& users, TensorId storage);

}  // namespace arenac
