// ExecuTorch's greedy planner (exir/memory_planning.py): the largest buffer first. Objects are as large as
// the buffer that opened them and lie side by side. A buffer takes the start of the first object in which it
// meets nobody; else it goes on top of those it meets, in the first object with so much room; else it opens
// one.
#include <algorithm>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

struct Object {
  int64_t begin, end;  // bytes
  int64_t top = 0;     // end of the topmost buffer that meets the one to be placed
  int turn = -1;       // of which `top` is
};

}  // namespace

Plan executorch_greedy(const Problem& original, const Search&) {
  const Problem problem = without_sharing(original);
  const Timeline timeline = make_timeline(problem, all_buffers(problem));
  PieceIndex index(timeline.slots);
  std::vector<Object> objects;
  std::vector<int> object_of(problem.buffers.size());
  std::vector<Placement> placements(problem.buffers.size());
  for (int id : sorted_by(problem, [&](int id) { return -problem.buffers[id].size; })) {
    const int64_t size = problem.buffers[id].size, step = alignment_in(problem, id, 0);
    if (size == 0) break;
    for (Object& object : objects) object.top = object.begin;
    index.meeting(timeline.spans[id], [&](int other, const Piece&) {
      Object& object = objects[object_of[other]];
      object.top = std::max(object.top, placements[other].offset + problem.buffers[other].size);
      object.turn = id;
    });
    const auto fits = [&](const Object& object) { return round_up(object.top, step) + size <= object.end; };
    auto home = std::find_if(objects.begin(), objects.end(),
                             [&](const Object& object) { return object.turn != id && fits(object); });
    if (home == objects.end()) home = std::find_if(objects.begin(), objects.end(), fits);
    if (home == objects.end()) {
      const int64_t begin = round_up(objects.empty() ? 0 : objects.back().end, step);
      home = objects.insert(home, {begin, begin + size, begin});
    }
    placements[id].offset = round_up(home->top, step);
    object_of[id] = int(home - objects.begin());
    index.insert(id, timeline);
  }
  return make_plan(original, placements);
}

}  // namespace arenac
