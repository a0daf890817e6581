#include "planner/verify_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/error.h"
#include "scheduler/storage_slots.h"

namespace arenac {
namespace {

// Of each byte of a pool the buffer that wrote it last.
class Owners {
 public:
  // A buffer other than this one that owns a byte of them; -1: none.
  int other_than(int buffer, Interval bytes) const {
    for (auto at = owned_.upper_bound(bytes.begin); at != owned_.end() && at->second.begin < bytes.end; ++at)
      if (at->second.buffer != buffer) return at->second.buffer;
    return -1;
  }

  void take(int buffer, Interval bytes) {
    auto at = owned_.upper_bound(bytes.begin);
    while (at != owned_.end() && at->second.begin < bytes.end) {
      const auto [begin, owner] = at->second;
      if (owner == buffer && begin <= bytes.begin && bytes.end <= at->first) return;
      if (begin < bytes.begin) owned_.emplace_hint(at, bytes.begin, Owned{begin, owner});
      if (bytes.end < at->first) {
        at->second.begin = bytes.end;
        break;
      }
      at = owned_.erase(at);
    }
    owned_.emplace(bytes.end, Owned{bytes.begin, buffer});
  }

  void forget() { owned_.clear(); }

 private:
  struct Owned {
    int64_t begin;
    int buffer;
  };
  std::map<int64_t, Owned> owned_;  // by their ends, apart
};

// Per buffer, whether it lies over another one by an overlap.
std::vector<bool> lying_over_another(const Lifetimes& lifetimes, const Plan& plan) {
  std::vector<bool> result(lifetimes.problem.buffers.size());
  for (const auto& [above, below, distance] : lifetimes.problem.overlaps)
    if (share_bytes(lifetimes, plan, lifetimes.tensor_of[above], lifetimes.tensor_of[below]))
      result[above] = result[below] = true;
  return result;
}

// Runs steps and slabs on the bytes of the buffers that lie over others.
class ByteChecker {
 public:
  ByteChecker(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan)
      : schedule_(schedule),
        graph_(*schedule.graph),
        lifetimes_(lifetimes),
        plan_(plan),
        is_watched_(lying_over_another(lifetimes, plan)),
        cuts_(cuts_of(schedule)),
        slots_(schedule, cuts_),
        owners_(lifetimes.problem.pools.size()) {}

  void run(int step) {
    for (const StepPart& part : slots_.parts(step))
      for (TensorId id : part.reads) each_run(id, id, kAll, kAll, [&](const Run& run) { read(step, run); });
    for (const StepPart& part : slots_.parts(step))
      if (part.written >= 0)
        each_run(part.written, part.area, kAll, kAll, [&](const Run& run) { write(run); });
  }

  void run(const Group& group, const ChunkRun& run) {
    const Stage& stage = group.stages[run.stage];
    for (const StepPart& part : slots_.parts(stage.step))
      for (const RowAccess* access : part.slabs_read)
        each_run(access->tensor, stage, run, *access, [&](const Run& bytes) { read(stage.step, bytes); });
    for (const StepPart& part : slots_.parts(stage.step))
      if (part.written >= 0)
        each_run(part.area, stage, run, cuts_.slabs[stage.step].write,
                 [&](const Run& bytes) { write(bytes); });
  }

  void pass(int) {
    for (Owners& pool : owners_) pool.forget();
  }

  void finish() {
    const int last = static_cast<int>(schedule_.steps.size()) - 1;
    for (TensorId id : whole_outputs(graph_))
      each_run(id, id, kAll, kAll, [&](const Run& run) { read(last, run); });
  }

 private:
  // Bytes of a pool that follow each other.
  struct Run {
    int buffer, pool;
    Interval bytes;
  };
  void read(int step, const Run& run) const {
    const int other = owners_[run.pool].other_than(run.buffer, run.bytes);
    const auto& buffers = lifetimes_.problem.buffers;
    ARENAC_CHECK(other < 0, fmt::format("'{}' reads bytes of '{}' that '{}' has written over",
                                        schedule_.steps[step].node->origin, buffers[run.buffer].name,
                                        buffers[other].name));
  }
  void write(const Run& run) { owners_[run.pool].take(run.buffer, run.bytes); }

  // f(Run) for those rows and columns of an area of a tensor.
  template <typename F>
  void each_run(TensorId id, int number, Interval rows, Interval columns, const F& f) const {
    const Area* area = is_watched(id) ? slots_.area(number) : nullptr;
    if (!area) return;
    Interval run = {0, 0};
    slots_.watched(id).each_run(*area, rows, columns, [&](Interval elements) {
      if (elements.begin != run.end) {
        use(id, run, f);
        run.begin = elements.begin;
      }
      run.end = elements.end;
    });
    use(id, run, f);
  }
  // f(Run) for what a chunk of a stage touches of an area.
  template <typename F>
  void each_run(int number, const Stage& stage, const ChunkRun& run, const RowAccess& access, const F& f) {
    if (!access.elements.empty()) {
      if (is_watched(access.tensor)) use(access.tensor, access.elements[run.slab], f);
      return;
    }
    each_run(access.tensor, number, access.rows[run.slab], slots_.columns_at(stage, run.chunk, access), f);
  }
  template <typename F>
  void use(TensorId id, Interval elements, const F& f) const {
    const int buffer = lifetimes_.buffer_of[id];
    const auto [pool, offset] = plan_.placements[buffer];
    const auto size = static_cast<int64_t>(size_of(graph_.tensors[id].type));
    if (elements.begin < elements.end)
      f(Run{buffer, pool, {offset + elements.begin * size, offset + elements.end * size}});
  }
  bool is_watched(TensorId id) const {
    const int buffer = lifetimes_.buffer_of[id];
    return buffer >= 0 && is_watched_[buffer] && slots_.is_tracked(id);
  }

  const Schedule& schedule_;
  const Graph& graph_;
  const Lifetimes& lifetimes_;
  const Plan& plan_;
  const std::vector<bool> is_watched_;  // per buffer
  const SlabCuts cuts_;
  StorageSlots slots_;
  std::vector<Owners> owners_;  // per pool
};

}  // namespace

void verify_bytes(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan) {
  if (std::ranges::count(lying_over_another(lifetimes, plan), true) == 0) return;
  ByteChecker checker(schedule, lifetimes, plan);
  run_on(checker, schedule);
}

}  // namespace arenac
