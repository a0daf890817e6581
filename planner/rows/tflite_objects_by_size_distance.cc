// Greedy by size improved, for shared objects: Pisarchyk and Lee, "Efficient Memory Management for Deep
// Neural Net Inference" (2020, arXiv 2001.03288). A buffer's position is the least object that could have to
// be as large as it: position 0 holds the largest buffers, position k those of which at most k + 1 are live
// at once among all as large. Positions in order; within one the buffer that comes closest in time to the
// buffers of an object, which it joins, first, among equals the largest; an object of its own if it meets
// all.
//
// Among objects at the same distance a buffer keeps to the one it found first. Distances to all objects would
// take n times objects in memory: each buffer remembers its nearest, and looks for another when it meets a
// buffer that has joined it. Time is quadratic in the buffers.
#include <algorithm>
#include <bit>

#include "planner/rows/orders.h"
#include "planner/rows/rows.h"
#include "planner/rows/shared_objects.h"

namespace arenac {
namespace {

// Counts per slot, with their maximum over all slots.
class MostLive {
 public:
  explicit MostLive(int slots)
      : leaves_(int(std::bit_ceil(unsigned(std::max(slots, 1))))), nodes_(2 * leaves_) {}
  void add(Span span) { add(1, 0, leaves_, span); }
  int most() const { return nodes_[1].most; }

 private:
  struct Node {
    int whole = 0, most = 0;  // additions that cover the node; maximum including them
  };
  void add(int node, int begin, int end, Span span) {
    if (span.end <= begin || end <= span.begin) return;
    if (span.begin <= begin && end <= span.end) {
      ++nodes_[node].whole;
      ++nodes_[node].most;
      return;
    }
    const int middle = begin + (end - begin) / 2;
    add(2 * node, begin, middle, span);
    add(2 * node + 1, middle, end, span);
    nodes_[node].most = nodes_[node].whole + std::max(nodes_[2 * node].most, nodes_[2 * node + 1].most);
  }
  int leaves_;
  std::vector<Node> nodes_;
};

// The buffers that have bytes, by position.
std::vector<std::vector<int>> by_position(const Problem& problem) {
  const Timeline timeline = make_timeline(problem, all_buffers(problem));
  const std::vector<int> order = sorted_by(problem, [&](int id) { return -problem.buffers[id].size; });
  MostLive live(timeline.slots);
  std::vector<std::vector<int>> result;
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    const int64_t size = problem.buffers[order[begin]].size;
    if (size == 0) break;
    for (end = begin; end < order.size() && problem.buffers[order[end]].size == size; ++end)
      live.add(timeline.spans[order[end]]);
    result.resize(live.most());
    result.back().insert(result.back().end(), order.begin() + begin, order.begin() + end);
  }
  return result;
}

struct Candidate {
  int id;
  uint64_t distance;  // to the nearest object
  int object;         // the first of that distance; -1 if the buffer meets all objects
};

void find_nearest(Candidate& candidate, const Buffer& buffer, const std::vector<Lives>& lives) {
  candidate = {candidate.id, kMeets, -1};
  for (int object = 0; object < int(lives.size()); ++object)
    if (uint64_t d = distance(lives[object], buffer); d < candidate.distance) {
      candidate.distance = d;
      candidate.object = object;
    }
}

// Keeps the candidate's nearest object right after `added` has joined that object.
void update(Candidate& candidate, const Buffer& buffer, const Buffer& added, int object,
            const std::vector<Lives>& lives) {
  const bool before = added.end <= buffer.begin, after = buffer.end <= added.begin;
  const uint64_t d = before  ? uint64_t(buffer.begin) - uint64_t(added.end)
                     : after ? uint64_t(added.begin) - uint64_t(buffer.end)
                             : kMeets;
  if (d == kMeets && candidate.object == object) return find_nearest(candidate, buffer, lives);
  if (d < candidate.distance && distance(lives[object], buffer) != kMeets) {
    candidate.distance = d;
    candidate.object = object;
  }
}

}  // namespace

Plan tflite_objects_by_size_distance(const Problem& problem, const Search&) {
  const std::vector<Buffer>& buffers = problem.buffers;
  SharedObjects objects{std::vector<int>(buffers.size(), -1), {}};
  std::vector<Lives> lives;
  std::vector<Candidate> waiting;
  std::vector<size_t> ends;  // of each position's candidates
  for (const std::vector<int>& position : by_position(without_sharing(problem))) {
    for (int id : position) waiting.push_back({id, kMeets, -1});
    ends.push_back(waiting.size());
  }
  const auto key = [&](const Candidate& c) { return std::tuple(c.distance, -buffers[c.id].size, c.id); };
  size_t position = 0;
  for (auto next = waiting.begin(); next != waiting.end(); ++next) {
    while (next - waiting.begin() == ptrdiff_t(ends[position])) ++position;
    std::iter_swap(next, std::min_element(next, waiting.begin() + ends[position],
                                          [&](auto& a, auto& b) { return key(a) < key(b); }));
    const Buffer& b = buffers[next->id];
    int object = next->object;
    if (object < 0) {
      object = int(lives.size());
      lives.emplace_back();
      objects.sizes.push_back(0);
    }
    lives[object][b.begin] = b.end;
    objects.sizes[object] = std::max(objects.sizes[object], b.size);
    objects.object_of[next->id] = object;
    for (auto c = next + 1; c != waiting.end(); ++c) update(*c, buffers[c->id], b, object, lives);
  }
  return side_by_side(problem, objects);
}

}  // namespace arenac
