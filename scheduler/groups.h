// Groups of steps that run row by row, pulled from their sinks: which slab pulls which, how many rows of each
// storage are in memory at a time, and whether the steps, interleaved, still do what they do one by one.
#pragma once

#include <vector>

#include "scheduler/step_facts.h"

namespace arenac {

// Of a storage that only lives in the group, fewer rows than there are.
struct KeptRing {
  TensorId storage;
  Ring ring;

  bool operator==(const KeptRing&) const = default;
};
struct GroupPlan {
  Group group;
  std::vector<KeptRing> rings;
  // What the group reads and nothing needs after it may lie over what it leaves behind: its rows are done
  // with while those appear.
  std::vector<StorageOverlap> overlaps;

  bool operator==(const GroupPlan&) const = default;
};

// Of a storage only what lies under the windows of its reader is kept, and computed for each slab of these
// again: for `strip` rows of windows at a time.
struct WindowKept {
  TensorId storage;
  int64_t strip;
};

// How little of its rows a group keeps.
struct Keep {
  // What is read where it is written, and what is read through windows, a few columns at a time; else rows,
  // and nothing again.
  bool columns = true;
  int64_t width = 4;  // columns of a chunk, about: fewer save little and kernels are slower
  std::vector<WindowKept> again = {};
};

// The steps [begin, end) of a schedule of whole nodes as a group; nothing where they cannot run row by row,
// one would overwrite what another still reads, or what is to be computed again cannot.
std::optional<GroupPlan> form_group(const Schedule& whole, const StepFacts& facts, int begin, int end,
                                    const Keep& keep);

// One slab of a stage runs. The order in which a group's slabs run is the same in the emitted C; a guest's
// are here before those of its host that they take turns with.
struct SlabRun {
  int stage;
  int64_t slab;
};
std::vector<SlabRun> runs_of(const Group& group);

// Multiply-accumulates, per stage, of the slabs that run more than once, each as often as it is again.
std::vector<int64_t> work_again(const Group& group, const std::vector<Step>& steps);

// Per stage, its guests.
using Guests = std::vector<std::vector<int>>;
Guests guests_of(const Group& group);

// One slab of a stage that is no guest, chunk by chunk, with what its guests run.
struct ChunkRun {
  int stage;
  int64_t slab, chunk;
};
std::vector<ChunkRun> chunk_runs_of(const Group& group, const Guests& guests, const SlabRun& run);

// f(ChunkRun) for the same: of one chunk.
template <typename F>
void for_each_run_of(const ChunkRun& run, const Group& group, const Guests& guests, const F& f) {
  for (int guest : guests[run.stage]) {
    const Stage& g = group.stages[guest];
    if (!g.seen_through_window()) {
      f(ChunkRun{guest, run.slab, run.chunk});
      continue;
    }
    if (g.chunks_at.empty()) continue;  // a group in the making
    for (int64_t s = g.slabs_at[run.slab].begin; s < g.slabs_at[run.slab].end; ++s)
      for (int64_t c = g.chunks_at[run.chunk].begin; c < g.chunks_at[run.chunk].end; ++c)
        for_each_run_of({guest, s, c}, group, guests, f);
  }
  f(run);
}

// Turns of the pulling: in each, every sink goes on by its part.
int64_t turns_of(const Group& group);

}  // namespace arenac
