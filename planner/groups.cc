#include "planner/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "frontend/error.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

[[noreturn]] void fail(const Problem& problem, int id, const char* what) {
  throw UserError(fmt::format("planning problem: buffer {} '{}': those at one offset with it have {}", id,
                              problem.buffers[id].name, what));
}

struct Window {
  int64_t low = 0, high = 0;
};

// What the live members use together. Throws UserError if that is not contiguous.
Window hull(const Problem& problem, const std::vector<Event>& live) {
  std::vector<Window> windows;
  for (const Event& e : live) windows.push_back({e.low, e.high});
  std::sort(windows.begin(), windows.end(), [](Window a, Window b) { return a.low < b.low; });
  Window all = windows.empty() ? Window{} : windows.front();
  for (const Window& w : windows) {
    if (w.low > all.high) fail(problem, live.front().id, "windows with a hole between them");
    all.high = std::max(all.high, w.high);
  }
  return all;
}

// The windows of all members as gaps of one buffer.
std::vector<Gap> gaps_of(const Problem& problem, const std::vector<int>& group, int64_t end) {
  std::vector<Gap> gaps;
  std::vector<Event> live;
  int64_t since = problem.buffers[group.front()].begin;
  for (int id : group) since = std::min(since, problem.buffers[id].begin);
  const auto close = [&](int64_t time) {
    const Window window = hull(problem, live);
    if (since < time) gaps.push_back({since, time, window.low, window.high});
    since = time;
  };
  for (const Event& event : events(problem, group)) {
    close(event.time);
    if (event.begins)
      live.push_back(event);
    else
      std::erase_if(live, [&](const Event& e) { return e.id == event.id; });
  }
  close(end);
  return gaps;
}

// Of all members in each of these pools; none if none has any.
std::vector<int64_t> costs_of(const Problem& problem, const std::vector<int>& group,
                              const std::vector<int>& pools) {
  std::vector<int64_t> costs(pools.size());
  bool any = false;
  for (int id : group) {
    any = any || !problem.buffers[id].costs.empty();
    for (size_t k = 0; k < pools.size(); ++k) costs[k] += cost_in(problem.buffers[id], pools[k]);
  }
  return any ? costs : std::vector<int64_t>();
}

Buffer merged(const Problem& problem, const std::vector<int>& group) {
  Buffer all = problem.buffers[group.front()];
  for (int id : group) {
    const Buffer& b = problem.buffers[id];
    all.size = std::max(all.size, b.size);
    all.align = std::lcm(all.align, b.align);
    all.begin = std::min(all.begin, b.begin);
    all.end = std::max(all.end, b.end);
    std::erase_if(all.pools,
                  [&](int pool) { return std::find(b.pools.begin(), b.pools.end(), pool) == b.pools.end(); });
    if (all.pools.empty()) fail(problem, id, "no pool in common");
    if (!all.fixed_offset) all.fixed_offset = b.fixed_offset;
    if (b.fixed_offset && *b.fixed_offset != *all.fixed_offset) fail(problem, id, "other fixed offsets");
  }
  all.gaps = gaps_of(problem, group, all.end);
  all.costs = costs_of(problem, group, all.pools);
  return all;
}

using GroupOf = std::vector<const std::vector<int>*>;

GroupOf groups_by_buffer(const Problem& problem) {
  GroupOf group_of(problem.buffers.size(), nullptr);
  for (const std::vector<int>& group : problem.same_offset)
    for (int id : group) group_of[id] = &group;
  return group_of;
}

// An overlap of one member becomes one of the whole group: no other member may meet the partner.
bool is_of_whole_group(const Problem& problem, const std::vector<int>* group, int member, int partner) {
  if (!group) return true;
  const Buffer& b = problem.buffers[partner];
  return std::ranges::none_of(*group, [&](int id) {
    return id != member && id != partner && problem.buffers[id].begin < b.end &&
           b.begin < problem.buffers[id].end;
  });
}

void require_for_whole_group(const Problem& problem, const std::vector<int>* group, int member, int partner) {
  if (!is_of_whole_group(problem, group, member, partner))
    fail(problem, member, "an overlap only in part: others of them live with its partner");
}

}  // namespace

void erase_partial_overlaps(Problem& problem) {
  const GroupOf group_of = groups_by_buffer(problem);
  std::erase_if(problem.overlaps, [&](const Overlap& o) {
    return !is_of_whole_group(problem, group_of[o.above], o.above, o.below) ||
           !is_of_whole_group(problem, group_of[o.below], o.below, o.above);
  });
}

Merged merge_groups(const Problem& problem) {
  const int n = int(problem.buffers.size());
  Merged result{problem, std::vector<int>(n)};
  if (problem.same_offset.empty()) {
    std::iota(result.buffer_of.begin(), result.buffer_of.end(), 0);
    return result;
  }
  const GroupOf group_of = groups_by_buffer(problem);

  result.problem.buffers.clear();
  result.problem.same_offset.clear();
  for (int id = 0; id < n; ++id) {
    const std::vector<int>* group = group_of[id];
    const int first = group ? *std::min_element(group->begin(), group->end()) : id;
    if (first == id) {
      result.buffer_of[id] = int(result.problem.buffers.size());
      result.problem.buffers.push_back(group ? merged(problem, *group) : problem.buffers[id]);
    } else {
      result.buffer_of[id] = result.buffer_of[first];
    }
  }
  for (const Overlap& o : problem.overlaps) {
    require_for_whole_group(problem, group_of[o.above], o.above, o.below);
    require_for_whole_group(problem, group_of[o.below], o.below, o.above);
  }
  std::erase_if(result.problem.overlaps, [&](Overlap& o) {
    o.above = result.buffer_of[o.above];
    o.below = result.buffer_of[o.below];
    return o.above == o.below;
  });
  return result;
}

}  // namespace arenac
