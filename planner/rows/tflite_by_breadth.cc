// Greedy by breadth for offset calculation: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural
// Net Inference" (2020, arXiv 2001.03288): the operators by the sum of the sizes live at them (their
// breadth), greatest first; the buffers live there by size, each where greedy by size would put it. Slots
// stand for the operators: the buffers live at any time are among those of one slot, so the order of the
// buffers is the same.
#include <algorithm>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/rows.h"

namespace arenac {

Plan tflite_by_breadth(const Problem& problem, const Search&) {
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  std::vector<int> by_size = all_buffers(problem);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int a, int b) { return problem.buffers[a].size > problem.buffers[b].size; });

  std::vector<int64_t> breadth(timeline.slots + 1, 0);  // first as differences, then summed up
  for (int id : by_size) {
    breadth[timeline.spans[id].begin] += problem.buffers[id].size;
    breadth[timeline.spans[id].end] -= problem.buffers[id].size;
  }
  for (int slot = 1; slot < timeline.slots; ++slot) breadth[slot] += breadth[slot - 1];
  std::vector<int> slots(timeline.slots);
  for (int slot = 0; slot < timeline.slots; ++slot) slots[slot] = slot;
  std::stable_sort(slots.begin(), slots.end(), [&](int a, int b) { return breadth[a] > breadth[b]; });

  // A buffer's turn comes with the broadest of its slots.
  std::vector<int> turn(problem.buffers.size(), timeline.slots);
  PieceIndex index(timeline.slots);
  for (int id : by_size) index.insert(id, timeline);
  for (int rank = 0; rank < timeline.slots; ++rank)
    index.meeting({slots[rank], slots[rank] + 1},
                  [&](int id, const Piece&) { turn[id] = std::min(turn[id], rank); });
  std::vector<int> order = by_size;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return turn[a] < turn[b]; });
  return make_plan(problem, pack(problem, order, Fit::kTightest));
}

}  // namespace arenac
