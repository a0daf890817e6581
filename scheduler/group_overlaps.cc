#include "scheduler/group_overlaps.h"

#include <algorithm>

namespace arenac {
namespace {

constexpr int64_t kNoByte = INT64_MAX;

// What a slab touches of a storage, in bytes, when it runs first and last.
struct ByteTouch {
  Moment first, last;
  Interval bytes;
};

// Calls visit(touch) for those of a storage.
template <typename Visit>
void visit_touches(TensorId storage, const CutSteps& steps, const GroupTimes& times, const Visit& visit) {
  const auto size = static_cast<int64_t>(size_of(steps.graph().tensors[storage].type));
  const auto add = [&](const RowAccess& access, const SlabTimes& when) {
    if (steps.root(access.tensor) != storage) return;
    const int64_t row = access.elements.empty() ? steps.facts.rows[storage].size : 1;
    const auto& touched = access.elements.empty() ? access.rows : access.elements;
    for (size_t t = 0; t < touched.size(); ++t)
      if (when.first[t] >= 0 && touched[t].begin < touched[t].end)
        visit(ByteTouch{when.first[t], when.last[t],
                        row > 0 ? Interval{touched[t].begin * row * size, touched[t].end * row * size}
                                : Interval{0, steps.facts.bytes[storage]}});
  };
  for (int k = 0; k < steps.count(); ++k) {
    for (const RowAccess& read : steps.slabs(k).reads) add(read, times.stages[k]);
    add(steps.slabs(k).write, times.stages[k]);
  }
}

// Per moment, the lowest byte of a storage that is touched then or later, or kNoByte.
std::vector<int64_t> lowest_bytes(TensorId storage, const CutSteps& steps, const GroupTimes& times) {
  std::vector<int64_t> lowest(static_cast<size_t>(times.end), kNoByte);
  visit_touches(storage, steps, times, [&](const ByteTouch& touch) {
    int64_t& now = lowest[static_cast<size_t>(touch.last)];
    now = std::min(now, touch.bytes.begin);
  });
  for (size_t m = lowest.size(); m-- > 1;) lowest[m - 1] = std::min(lowest[m - 1], lowest[m]);
  return lowest;
}

// How far above the output an input of so many bytes must lie: while bytes are written, the lowest that are
// still to be read are not below their end.
int64_t distance_of(const std::vector<int64_t>& lowest, const std::vector<ByteTouch>& writes, int64_t bytes) {
  int64_t least = -bytes;
  for (const ByteTouch& write : writes)
    if (const int64_t low = lowest[static_cast<size_t>(write.first)]; low != kNoByte)
      least = std::max(least, write.bytes.end - low);
  return least;
}

}  // namespace

std::vector<StorageOverlap> overlaps_of(const CutSteps& steps, const GroupTimes& times,
                                        const std::vector<StorageUse>& storages) {
  const StepFacts& facts = steps.facts;
  std::vector<TensorId> ins, outs;
  for (const auto& [id, was_before, kept] : storages) {
    const Interval live = facts.live[id];
    const bool is_output = facts.last_reader[id] == static_cast<int>(steps.whole.steps.size());
    if (was_before && live.end <= steps.end() && !is_output) ins.push_back(id);
    const bool outlives = live.end > steps.end() || facts.callers[id];
    if (!was_before && live.begin >= steps.begin && outlives) outs.push_back(id);
  }
  if (ins.empty() || outs.empty()) return {};
  std::vector<std::vector<ByteTouch>> writes;
  for (TensorId out : outs)
    visit_touches(out, steps, times,
                  [&all = writes.emplace_back()](const ByteTouch& touch) { all.push_back(touch); });
  std::vector<StorageOverlap> all;
  for (TensorId in : ins) {
    const std::vector<int64_t> lowest = lowest_bytes(in, steps, times);
    for (size_t o = 0; o < outs.size(); ++o)
      all.push_back({in, outs[o], distance_of(lowest, writes[o], facts.bytes[in]), -1, {}});
  }
  return all;
}

}  // namespace arenac
