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
#include "planner/rows/rows.h"

namespace arenac {
namespace {

struct Segment {
  Span span;
  int64_t height = 0;
};
using Skyline = std::list<Segment>;

// The buffer of longest life, then greatest size, among those waiting that lie within the span; -1 if none.
// `waiting` holds ids per first slot of their lives.
int longest_within(const Problem& problem, const Timeline& timeline,
                   const std::vector<std::vector<int>>& waiting, Span span) {
  int best = -1;
  auto key = [&](int id) {
    const Buffer& b = problem.buffers[id];
    return std::pair(uint64_t(b.end) - uint64_t(b.begin), b.size);
  };
  for (int slot = span.begin; slot < span.end; ++slot)
    for (int id : waiting[slot])
      if (timeline.spans[id].end <= span.end && (best < 0 || key(id) > key(best))) best = id;
  return best;
}

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
  std::vector<int> order, ids = all_buffers(problem);
  Timeline timeline = make_timeline(problem, ids);
  std::vector<std::vector<int>> waiting(timeline.slots);
  for (int id : ids) {
    if (timeline.pieces(id).empty())
      order.push_back(id);
    else
      waiting[timeline.spans[id].begin].push_back(id);
  }
  Skyline skyline = {{{0, timeline.slots}, 0}};
  while (order.size() < ids.size()) {
    auto valley = std::min_element(skyline.begin(), skyline.end(),
                                   [](const Segment& a, const Segment& b) { return a.height < b.height; });
    int id = longest_within(problem, timeline, waiting, valley->span);
    if (id < 0) {
      lift(skyline, valley);
      continue;
    }
    raise(skyline, valley, timeline.spans[id], problem.buffers[id].size);
    std::erase(waiting[timeline.spans[id].begin], id);
    order.push_back(id);
  }
  return make_plan(problem, pack(problem, order, Fit::kLowest));
}

}  // namespace arenac
