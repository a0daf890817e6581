#include "planner/repair.h"

#include <algorithm>

namespace arenac {
namespace {

constexpr size_t kMostTooHigh = 64;
constexpr int kReaches[] = {1, 4, 16};  // lives are short up to so many times the longest that is too high

// Buffers that are too high, in groups whose lives meet, and the time that each group takes.
struct Patch {
  std::vector<int> too_high;
  Span span;
};

std::vector<Patch> patches(const Timeline& timeline, std::vector<int> too_high) {
  std::sort(too_high.begin(), too_high.end(),
            [&](int a, int b) { return timeline.spans[a].begin < timeline.spans[b].begin; });
  std::vector<Patch> result;
  for (int id : too_high) {
    const Span span = timeline.spans[id];
    if (result.empty() || span.begin >= result.back().span.end) result.push_back({{}, span});
    result.back().too_high.push_back(id);
    result.back().span.end = std::max(result.back().span.end, span.end);
  }
  return result;
}

// The buffers that are free, and all that meet one of them, as a problem of its own.
struct Part {
  Problem problem;
  std::vector<int> ids;  // per buffer of the part: its id in the whole
};

Part make_part(const Problem& problem, const Timeline& timeline, const std::vector<int>& members,
               const std::vector<char>& is_free, const std::vector<int64_t>& offsets) {
  PieceIndex free(timeline.slots);
  for (int id : members)
    if (is_free[id]) free.insert(id, {timeline.spans[id], 0, 0});
  Part part{{.pools = problem.pools, .buffers = {}}, {}};
  std::vector<int> index(problem.buffers.size(), -1);
  for (int id : members) {
    bool is_met = false;
    free.meeting(timeline.spans[id], [&](int, const Piece&) { is_met = true; });
    if (!is_met) continue;
    index[id] = int(part.ids.size());
    part.ids.push_back(id);
    part.problem.buffers.push_back(problem.buffers[id]);
    if (!is_free[id]) part.problem.buffers.back().fixed_offset = offsets[id];
  }
  for (const Overlap& o : problem.overlaps)
    if (index[o.above] >= 0 && index[o.below] >= 0)
      part.problem.overlaps.push_back({index[o.above], index[o.below], o.distance});
  return part;
}

// The offsets with the patch mended; none if it has no room below the goal.
Repaired mend(const Problem& problem, const Timeline& timeline, int pool, const std::vector<int>& members,
              const Patch& patch, int reach, int64_t goal, const Effort& effort,
              std::vector<int64_t> offsets) {
  std::vector<char> is_free(problem.buffers.size(), 0);
  int longest = 0;
  for (int id : patch.too_high) {
    is_free[id] = 1;
    longest = std::max(longest, timeline.spans[id].end - timeline.spans[id].begin);
  }
  for (int id : members) {
    const Span span = timeline.spans[id];
    if (!problem.buffers[id].fixed_offset && meet(span, patch.span) &&
        span.end - span.begin <= reach * longest)
      is_free[id] = 1;
  }
  const Part part = make_part(problem, timeline, members, is_free, offsets);
  std::vector<int> all = all_buffers(part.problem);
  int64_t size = 0;
  for (int id : part.ids) size = std::max(size, offsets[id] + problem.buffers[id].size);
  const Exact exact = search_exactly(part.problem, pool, all, size, goal, effort, goal);
  if (exact.offsets.empty() || exact.size > goal) return {{}, exact.work};
  for (size_t i = 0; i < part.ids.size(); ++i) offsets[part.ids[i]] = exact.offsets[i];
  return {std::move(offsets), exact.work};
}

}  // namespace

Repaired repair(const Problem& problem, const Timeline& timeline, int pool, const std::vector<int>& members,
                std::vector<int64_t> offsets, int64_t goal, const Effort& effort) {
  std::vector<int> too_high;
  for (int id : members) {
    if (offsets[id] + problem.buffers[id].size <= goal) continue;
    if (problem.buffers[id].fixed_offset || timeline.pieces(id).empty()) return {};
    too_high.push_back(id);
    if (too_high.size() > kMostTooHigh) return {};
  }
  Effort left = effort;
  for (const Patch& patch : patches(timeline, too_high)) {
    bool is_mended = false;
    for (int reach : kReaches) {
      Repaired mended = mend(problem, timeline, pool, members, patch, reach, goal, left, offsets);
      left.work -= mended.work;
      if (mended.offsets.empty()) continue;
      offsets = std::move(mended.offsets);
      is_mended = true;
      break;
    }
    if (!is_mended) return {{}, effort.work - left.work};
  }
  return {std::move(offsets), effort.work - left.work};
}

}  // namespace arenac
