// Inside a group: rows need not be in memory whole.
//
//   conv   a little ahead of dw    dw reads it through a window: of its rows what lies between that and the
//                                  last element written is in memory (chunk_windows.h)
//   dw     3 columns at a time     pw reads it at the same columns: three are in memory (chunk_turns.h)
//   pw     3 columns at a time     the host: dw and conv run within its slabs (families.h)
#pragma once

#include <map>
#include <set>

#include "scheduler/chunk_windows.h"
#include "scheduler/groups.h"
#include "scheduler/stage_uses.h"

namespace arenac {

// Makes hosts and guests of a group's stages.
class Chunks {
 public:
  // Of which it takes the pulls; these come back by gather_pulls(), or with plain(). All outlive this.
  Chunks(const CutSteps& steps, Group& group, int64_t width);

  // The writer of the storage computes what a slab of its reader sees for each slab. False: it cannot.
  bool compute_again(TensorId storage);

  // Makes chunks of columns of the rings that can be, the smaller of rows and columns each. False: what is to
  // be computed again cannot be in chunks.
  bool cut(std::vector<KeptRing>& rings);

  // Whether anything is cut or computed again.
  bool any() const { return !in_chunks_.empty(); }

  // The stages as they were, in rows.
  std::vector<Stage> plain() const;

  // Hosts pull what their guests read, then what they read themselves.
  void gather_pulls();

 private:
  bool share(KeptRing& ring, std::vector<KeptRing>& rings);
  bool slide(TensorId storage, std::vector<KeptRing>& rings);
  std::optional<SlidingWindow> window_of(TensorId storage) const;
  bool computes_again(int k) const { return again_.contains(uses_.written_by(k)); }
  int64_t bytes_of(const std::vector<KeptRing>& rings) const;

  Group& group_;
  const int64_t width_;
  const StageUses uses_;
  std::set<TensorId> again_;
  std::set<TensorId> in_chunks_;  // storages, those computed again included
  std::map<TensorId, SlidingWindow> windows_;
};

}  // namespace arenac
