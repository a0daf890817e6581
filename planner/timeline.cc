#include "planner/timeline.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace arenac {

std::vector<Event> events(const Problem& problem, const std::vector<int>& members) {
  std::vector<Event> result;
  for (int id : members) {
    result.push_back({problem.buffers[id].begin, true, id});
    result.push_back({problem.buffers[id].end, false, id});
  }
  std::sort(result.begin(), result.end(), [](const Event& a, const Event& b) {
    return std::tie(a.time, a.begins, a.id) < std::tie(b.time, b.begins, b.id);
  });
  return result;
}

Timeline make_timeline(const Problem& problem, const std::vector<int>& members) {
  Timeline timeline{0, std::vector<Span>(problem.buffers.size())};
  bool ended = true;  // has a life ended since the last slot was opened?
  for (auto [time, begins, id] : events(problem, members)) {
    if (begins && ended) ++timeline.slots;
    ended = !begins;
    if (begins)
      timeline.spans[id].begin = timeline.slots - 1;
    else
      timeline.spans[id].end = timeline.slots;
  }
  return timeline;
}

std::vector<int> all_buffers(const Problem& problem) {
  std::vector<int> ids(problem.buffers.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

SpanIndex::SpanIndex(int slots)
    : leaves_(int(std::bit_ceil(unsigned(std::max(slots, 1))))), nodes_(2 * leaves_) {}

void SpanIndex::insert(int id, Span span) {
  int node = leaves_ + span.begin;
  for (int last = leaves_ + span.end - 1; node != last; last /= 2) node /= 2;
  nodes_[node].items.push_back({id, span});
  for (; node > 0; node /= 2) nodes_[node].used = true;
}

}  // namespace arenac
