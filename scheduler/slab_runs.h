// The order in which the slabs of a group run, which is the same in the emitted C: every sink in turn goes on
// by its part, and a slab first pulls what it reads.
//
//   conv 3x3   0 1   2 3   4 5       one row a slab
//   pool 2x2       0     1     2     reads two of them: slab 1 pulls slabs 2 and 3
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// Turns of the pulling: in each, every sink goes on by its part.
int64_t turns_of(const Group& group);

// Per stage, its guests.
using Guests = std::vector<std::vector<int>>;
Guests guests_of(const Group& group);

// Whether stage k is `host`, or runs within its slabs or chunks.
bool runs_within(const Group& group, int k, int host);
// What stage k runs within at last; itself where it is no guest.
int root_of(const Group& group, int k);

// One slab of a stage runs.
struct SlabRun {
  int stage;
  int64_t slab;
};

// What for_each_slab_run() has done so far.
template <typename F>
struct SlabRunner {
  const Group& group;
  const Guests guests;
  const F& f;
  std::vector<int64_t> done;  // slabs, per stage

  void run(int stage, int64_t upto) {
    const Stage& s = group.stages[stage];
    for (int64_t& t = done[stage]; t <= upto; ++t) {
      for (const Pull& pull : s.pulls)
        if (done[pull.producer] <= pull.upto[t]) run(pull.producer, pull.upto[t]);
      run_slab(stage, t);
    }
  }

  void run_slab(int stage, int64_t t) {
    for (int guest : guests[stage]) {
      const Stage& g = group.stages[guest];
      const Interval slabs = g.seen_through_window() ? g.slabs_at[t] : Interval{t, t + 1};
      for (int64_t s = slabs.begin; s < slabs.end; ++s) run_slab(guest, s);
    }
    f(SlabRun{stage, t});
  }
};

// f(SlabRun) for each, as they run; those of guests are before those of their host that they take turns with.
template <typename F>
void for_each_slab_run(const Group& group, const F& f) {
  SlabRunner<F> runner{group, guests_of(group), f, std::vector<int64_t>(group.stages.size())};
  const int64_t turns = turns_of(group);
  for (int64_t turn = 1; turn <= turns; ++turn)
    for (int sink : group.sinks) runner.run(sink, turn * group.stages[sink].slabs / turns - 1);
  for (int stage : group.completed) runner.run(stage, group.stages[stage].slabs - 1);
}

// Multiply-accumulates, per stage, of the slabs that run more than once, each as often as it is again.
std::vector<int64_t> work_again(const Group& group, const std::vector<Step>& steps);

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

// f(ChunkRun) for each of a group, as they run.
template <typename F>
void for_each_chunk_run(const Group& group, const F& f) {
  const Guests guests = guests_of(group);
  for_each_slab_run(group, [&](const SlabRun& run) {
    if (group.stages[run.stage].host >= 0) return;  // it runs with its host
    for (const ChunkRun& part : chunk_runs_of(group, guests, run)) f(part);
  });
}

}  // namespace arenac
