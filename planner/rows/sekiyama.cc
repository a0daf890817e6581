// The best-fit heuristic: Sekiyama, Imamichi, Imai and Raymond, "Profile-guided memory optimization for deep
// neural networks" (2018, arXiv 1804.10001), a rectangle packing.
//
//   height ^   |      |     +---+       The skyline is the top of what is placed, per time. Take its lowest
//          |   |      +-----+   |       segment, the leftmost if several; put into it the buffer of longest
//          |   +--+         |   +--     life that fits between its walls; if none does, lift it to the lower
//          |      |  valley |           one of its walls.
//          |      +---------+
//
// The result is an order of the buffers by offset. They are then placed anew in that order, each at its
// lowest free offset, which is never worse, and honours alignment, overlaps, fixed offsets and pools, of
// which the skyline knows nothing.
#include <algorithm>
#include <list>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

struct Segment {
  Span span;
  int64_t height = 0;
};
using Skyline = std::list<Segment>;

// The buffers that are not placed yet.
class Waiting {
 public:
  Waiting(const Problem& problem, const Timeline& timeline)
      : problem_(problem), timeline_(timeline), by_slot_(timeline.slots) {
    std::vector<int> ids = sorted_by(problem, [&](int id) { return std::pair(key(id), -id); });
    for (int id : ids)
      if (!timeline.pieces(id).empty()) by_slot_[timeline.spans[id].begin].push_back(id);
  }

  // The buffer of longest life, then greatest size, among those that lie within the span; -1 if none.
  int longest_within(Span span) const {
    int best = -1;
    for (int slot = span.begin; slot < span.end; ++slot) {
      const auto& ids = by_slot_[slot];
      const auto id =
          std::find_if(ids.rbegin(), ids.rend(), [&](int id) { return timeline_.spans[id].end <= span.end; });
      if (id != ids.rend() && (best < 0 || key(*id) > key(best))) best = *id;
    }
    return best;
  }

  void remove(int id) {
    auto& ids = by_slot_[timeline_.spans[id].begin];
    ids.erase(std::prev(std::find(ids.rbegin(), ids.rend(), id).base()));
  }

 private:
  std::pair<uint64_t, int64_t> key(int id) const {
    return {duration(problem_.buffers[id]), problem_.buffers[id].size};
  }

  const Problem& problem_;
  const Timeline& timeline_;
  std::vector<std::vector<int>> by_slot_;  // by first slot of their lives, the longest last
};

// Joins the segment and its neighbours of the same height.
void join(Skyline& skyline, Skyline::iterator segment) {
  if (segment != skyline.begin() && std::prev(segment)->height == segment->height) {
    segment->span.begin = std::prev(segment)->span.begin;
    skyline.erase(std::prev(segment));
  }
  if (auto right = std::next(segment); right != skyline.end() && right->height == segment->height) {
    segment->span.end = right->span.end;
    skyline.erase(right);
  }
}

// Raises the segment to its lower neighbour's height.
void lift(Skyline& skyline, Skyline::iterator valley) {
  auto left = valley == skyline.begin() ? skyline.end() : std::prev(valley), right = std::next(valley);
  bool to_left = right == skyline.end() || (left != skyline.end() && left->height <= right->height);
  valley->height = to_left ? left->height : right->height;
  join(skyline, valley);
}

// Splits the segment around the span, raises it there and joins it to neighbours of its height.
void raise(Skyline& skyline, Skyline::iterator valley, Span span, int64_t size) {
  if (valley->span.begin < span.begin)
    skyline.insert(valley, {{valley->span.begin, span.begin}, valley->height});
  if (span.end < valley->span.end)
    skyline.insert(std::next(valley), {{span.end, valley->span.end}, valley->height});
  *valley = {span, valley->height + size};
  join(skyline, valley);
}

}  // namespace

Plan sekiyama(const Problem& problem, const Search&) {
  std::vector<int> order;
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  for (int id : all_buffers(problem))
    if (timeline.pieces(id).empty()) order.push_back(id);
  Waiting waiting(problem, timeline);
  Skyline skyline = {{{0, timeline.slots}, 0}};
  while (order.size() < problem.buffers.size()) {
    auto valley = std::min_element(skyline.begin(), skyline.end(),
                                   [](const Segment& a, const Segment& b) { return a.height < b.height; });
    int id = waiting.longest_within(valley->span);
    if (id < 0) {
      lift(skyline, valley);
      continue;
    }
    raise(skyline, valley, timeline.spans[id], problem.buffers[id].size);
    waiting.remove(id);
    order.push_back(id);
  }
  return make_plan(problem, pack(problem, order, Fit::kLowest));
}

}  // namespace arenac
