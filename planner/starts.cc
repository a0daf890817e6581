#include "planner/starts.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <tuple>

#include "planner/bounds.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

// Greatest key first.
template <class Key>
std::vector<int> ordered_by(const Problem& problem, Key key) {
  std::vector<int> order = all_buffers(problem);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) > key(b); });
  return order;
}

// By the number of buffers each one meets.
std::vector<int> by_conflicts(const Problem& problem) {
  const std::vector<int> met = conflicts(make_timeline(problem, all_buffers(problem)));
  return ordered_by(problem, [&](int id) { return std::pair(met[id], problem.buffers[id].size); });
}

// By the greatest load over the life, then by life: all that lives at the peak is stacked without a hole.
std::vector<int> by_load(const Problem& problem) {
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  std::vector<int64_t> change(timeline.slots + 1, 0);  // of the load
  for (const Piece& piece : timeline.all_pieces) {
    change[piece.slots.begin] += piece.high - piece.low;
    change[piece.slots.end] -= piece.high - piece.low;
  }
  std::vector<std::vector<int64_t>> greatest(1);  // per power of two and slot, over so many slots
  std::partial_sum(change.begin(), change.end(), std::back_inserter(greatest[0]));
  for (int width = 1; 2 * width <= timeline.slots; width *= 2) {
    const std::vector<int64_t>& half = greatest.back();
    std::vector<int64_t> whole;
    for (int slot = 0; slot + 2 * width <= timeline.slots; ++slot)
      whole.push_back(std::max(half[slot], half[slot + width]));
    greatest.push_back(std::move(whole));
  }
  return ordered_by(problem, [&](int id) {
    const Span& span = timeline.spans[id];
    const int life = span.end - span.begin;
    if (life == 0) return std::tuple(int64_t{0}, 0, int64_t{0});
    const int power = std::bit_width(unsigned(life)) - 1;
    return std::tuple(std::max(greatest[power][span.begin], greatest[power][span.end - (1 << power)]), life,
                      problem.buffers[id].size);
  });
}

// Those that live at the greatest load as one stack without a hole, the last to die at the bottom; the others
// around it by size.
std::vector<int> around_peak(const Problem& problem) {
  const int64_t peak = peak_load(problem, all_buffers(problem)).begin;
  return ordered_by(problem, [&](int id) {
    const Buffer& b = problem.buffers[id];
    const bool at_peak = b.begin <= peak && peak < b.end;
    return std::tuple(at_peak, at_peak ? b.end : b.size, b.size);
  });
}

std::vector<int> by_area(const Problem& problem) {
  return ordered_by(problem, [&](int id) {
    return double(problem.buffers[id].size) * double(duration(problem.buffers[id]));
  });
}

}  // namespace

std::vector<int> largest_first(const Problem& problem) {
  return ordered_by(problem, [&](int id) {
    const Buffer& b = problem.buffers[id];
    return std::pair(b.size, -b.begin);
  });
}

const std::vector<Start> kStarts = {
    {.order = by_load},
    {.order = around_peak},
    {.row = tflite_by_breadth},
    {.row = tflite_by_size},
    {.row = iree},
    {.row = by_size_first_fit},
    {.row = by_duration_first_fit},
    {.row = by_area_first_fit},
    {.order = by_conflicts},
    {.row = sekiyama},
};

const std::vector<Start> kStartsOfMany = {
    {.order = largest_first}, {.order = by_area},      {.order = by_load},
    {.order = around_peak},   {.order = by_conflicts},
};

}  // namespace arenac
