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
#include <optional>

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
  int object;         // the first of the nearest objects; -1 if the buffer meets all of them
  uint64_t distance;  // to that object
  int64_t begin, end, size;
};

void find_nearest(Candidate& candidate, const Buffer& buffer, const std::vector<Lives>& lives) {
  candidate.distance = kMeets;
  candidate.object = -1;
  for (int object = 0; object < int(lives.size()); ++object)
    if (uint64_t d = distance(lives[object], buffer); d < candidate.distance) {
      candidate.distance = d;
      candidate.object = object;
    }
}

// A life that has joined an object, and the end of the life before it and the begin of the one after it
// there.
struct Joined {
  int object;
  int64_t begin, end;
  std::optional<int64_t> end_before, begin_after;
};

Joined join(const Candidate& c, const Problem& problem, std::vector<Lives>& lives) {
  Lives& all = lives[c.object];
  const auto it = add_life(all, problem.buffers[c.id]);
  Joined result{c.object, c.begin, c.end, {}, {}};
  if (it != all.begin()) result.end_before = std::prev(it)->second;
  if (std::next(it) != all.end()) result.begin_after = std::next(it)->first;
  return result;
}

// Keeps the candidate's nearest object right. One that was farther away can only become the nearest if the
// candidate lies beside the new life, with no other in between.
void update(Candidate& c, const Joined& added, const Problem& problem, const std::vector<Lives>& lives) {
  uint64_t d = kMeets;
  bool is_beside = false;
  if (added.end <= c.begin) {
    d = uint64_t(c.begin) - uint64_t(added.end);
    is_beside = c.end <= added.begin_after.value_or(c.end);
  } else if (c.end <= added.begin) {
    d = uint64_t(added.begin) - uint64_t(c.end);
    is_beside = added.end_before.value_or(c.begin) <= c.begin;
  } else if (c.object == added.object) {
    find_nearest(c, problem.buffers[c.id], lives);
  }
  if (d < c.distance && is_beside) {
    c.distance = d;
    c.object = added.object;
  }
}

}  // namespace

Plan tflite_objects_by_size_distance(const Problem& problem, const Search&) {
  SharedObjects objects{std::vector<int>(problem.buffers.size(), -1), {}};
  std::vector<Lives> lives;
  std::vector<Candidate> waiting;
  std::vector<size_t> ends;  // of each position's candidates
  for (const std::vector<int>& position : by_position(without_sharing(problem))) {
    for (int id : position) {
      const Buffer& b = problem.buffers[id];
      waiting.push_back({id, -1, kMeets, b.begin, b.end, b.size});
    }
    ends.push_back(waiting.size());
  }
  const auto key = [](const Candidate& c) { return std::tuple(c.distance, -c.size, c.id); };
  size_t position = 0;
  for (auto next = waiting.begin(); next != waiting.end(); ++next) {
    while (next - waiting.begin() == ptrdiff_t(ends[position])) ++position;
    std::iter_swap(next, std::min_element(next, waiting.begin() + ends[position],
                                          [&](auto& a, auto& b) { return key(a) < key(b); }));
    if (next->object < 0) {
      next->object = int(lives.size());
      lives.emplace_back();
      objects.sizes.push_back(0);
    }
    const Joined joined = join(*next, problem, lives);
    objects.sizes[next->object] = std::max(objects.sizes[next->object], next->size);
    objects.object_of[next->id] = next->object;
    for (auto c = next + 1; c != waiting.end(); ++c) update(*c, joined, problem, lives);
  }
  return side_by_side(problem, objects);
}

}  // namespace arenac
