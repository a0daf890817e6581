// Greedy by breadth: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020,
// arXiv 2001.03288), for offset calculation and for shared objects: the operators by the sum of the sizes
// live at them (their breadth), greatest first, the later of equals; the buffers live there by size. Offsets:
// where greedy by size would put it. Objects: the smallest free one that is large enough, else the largest,
// which grows, else a new one. Slots stand for the operators: the buffers live at any time are among those of
// one slot, so the order of the buffers is the same.
#include <algorithm>
#include <set>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"
#include "planner/rows/shared_objects.h"

namespace arenac {
namespace {

std::vector<int> order_by_breadth(const Problem& problem) {
  const Timeline timeline = make_timeline(problem, all_buffers(problem));
  std::vector<int64_t> breadth(timeline.slots + 1, 0);  // first as differences, then summed up
  for (int id : all_buffers(problem)) {
    breadth[timeline.spans[id].begin] += problem.buffers[id].size;
    breadth[timeline.spans[id].end] -= problem.buffers[id].size;
  }
  std::vector<int> slots(timeline.slots);
  for (int slot = 0; slot < timeline.slots; ++slot) {
    if (slot > 0) breadth[slot] += breadth[slot - 1];
    slots[slot] = timeline.slots - 1 - slot;
  }
  std::stable_sort(slots.begin(), slots.end(), [&](int a, int b) { return breadth[a] > breadth[b]; });

  // A buffer's turn comes with the broadest of its slots.
  std::vector<int> turn(problem.buffers.size(), timeline.slots);
  PieceIndex index(timeline.slots);
  for (int id : all_buffers(problem)) index.insert(id, timeline);
  for (int rank = 0; rank < timeline.slots; ++rank)
    index.meeting({slots[rank], slots[rank] + 1},
                  [&](int id, const Piece&) { turn[id] = std::min(turn[id], rank); });
  return sorted_by(problem, [&](int id) { return std::pair(turn[id], -problem.buffers[id].size); });
}

// The objects in use, by size.
struct ObjectsBySize {
  SharedObjects objects;
  std::set<std::pair<int64_t, int>> by_size;  // size and number
  std::vector<Lives> lives;                   // per object

  bool is_free(int object, const Buffer& b) const { return distance(lives[object], b) != kMeets; }

  // The first of the smallest free ones that are large enough, else of the largest; -1 if none is free.
  int choose(const Buffer& b) const {
    const auto enough = by_size.lower_bound({b.size, 0});
    for (auto it = enough; it != by_size.end(); ++it)
      if (is_free(it->second, b)) return it->second;
    int best = -1;
    for (auto it = enough; it != by_size.begin();) {
      --it;
      if (best >= 0 && it->first < objects.sizes[best]) break;
      if (is_free(it->second, b)) best = it->second;
    }
    return best;
  }

  void use(int object, int id, const Buffer& b) {
    if (object < 0) {
      object = int(lives.size());
      lives.emplace_back();
      objects.sizes.push_back(b.size);
    }
    by_size.erase({objects.sizes[object], object});
    objects.sizes[object] = std::max(objects.sizes[object], b.size);
    by_size.insert({objects.sizes[object], object});
    add_life(lives[object], b);
    objects.object_of[id] = object;
  }
};

}  // namespace

Plan tflite_by_breadth(const Problem& problem, const Search&) {
  return make_plan(problem, pack(problem, order_by_breadth(problem), Fit::kTightest));
}

Plan tflite_objects_by_breadth(const Problem& problem, const Search&) {
  ObjectsBySize state{{std::vector<int>(problem.buffers.size(), -1), {}}, {}, {}};
  for (int id : order_by_breadth(without_sharing(problem))) {
    const Buffer& b = problem.buffers[id];
    if (b.size > 0) state.use(state.choose(b), id, b);
  }
  return side_by_side(problem, state.objects);
}

}  // namespace arenac
