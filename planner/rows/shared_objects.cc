#include "planner/rows/shared_objects.h"

#include <algorithm>

#include "planner/bounds.h"
#include "planner/packing.h"

namespace arenac {

Plan side_by_side(const Problem& problem, const SharedObjects& objects) {
  std::vector<std::vector<int>> members(objects.sizes.size());
  for (int id = 0; id < int(problem.buffers.size()); ++id)
    if (objects.object_of[id] >= 0) members[objects.object_of[id]].push_back(id);
  std::vector<Placement> placements(problem.buffers.size());
  int64_t base = 0;
  for (size_t object = 0; object < members.size(); ++object) {
    int64_t end = base;
    for (int id : members[object]) {
      placements[id].offset = round_up(base, alignment_in(problem, id, 0));
      end = std::max(end, placements[id].offset + objects.sizes[object]);
    }
    base = end;
  }
  return make_plan(problem, placements);
}

Lives::iterator add_life(Lives& lives, const Buffer& buffer) {
  const std::pair life(buffer.begin, buffer.end);
  return lives.insert(std::lower_bound(lives.begin(), lives.end(), life), life);
}

uint64_t distance(const Lives& lives, const Buffer& buffer) {
  const auto after = std::lower_bound(lives.begin(), lives.end(), std::pair(buffer.begin, buffer.begin));
  uint64_t result = kMeets;
  if (after != lives.end()) {
    if (after->first < buffer.end) return kMeets;
    result = uint64_t(after->first) - uint64_t(buffer.end);
  }
  if (after != lives.begin()) {
    auto before = std::prev(after);
    if (before->second > buffer.begin) return kMeets;
    result = std::min(result, uint64_t(buffer.begin) - uint64_t(before->second));
  }
  return result;
}

}  // namespace arenac
