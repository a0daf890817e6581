// Shared objects handed out as lives begin and taken back as they end. Which of the free ones a buffer gets:
//
// TensorFlow Lite, greedy in order (Lee et al., "On-Device Neural Net Inference with Mobile GPUs", 2019,
// arXiv 1907.01989): the one whose size is nearest, which grows if it must; among equally near ones the
// larger. TensorFlow Lite, equality: one of exactly the same size. ExecuTorch before its greedy planner of
// today: the nearest size, among equally near ones the oldest. Pool: sizes are rounded up to powers of two,
// each of which has its pool of objects. No source gives the rounding of the pool allocators of inference
// runtimes; this is the common one.
#include <bit>
#include <set>

#include "planner/rows/orders.h"
#include "planner/rows/rows.h"
#include "planner/rows/shared_objects.h"

namespace arenac {
namespace {

using FreeObjects = std::set<std::pair<int64_t, int>>;  // size and number

// Per buffer: the size of object it asks for.
using SizeOf = int64_t (*)(const Buffer&);
int64_t exactly(const Buffer& b) { return b.size; }
int64_t power_of_two(const Buffer& b) { return int64_t(std::bit_ceil(uint64_t(b.size))); }

// What to take for so many bytes; free.end() to make a new object.
using Choose = FreeObjects::iterator (*)(const FreeObjects& free, int64_t size);

FreeObjects::iterator same_size(const FreeObjects& free, int64_t size) {
  auto it = free.lower_bound({size, 0});
  return it != free.end() && it->first == size ? it : free.end();
}

FreeObjects::iterator nearest(const FreeObjects& free, int64_t size) {
  auto above = free.lower_bound({size, 0});
  if (above == free.begin()) return above;
  auto below = std::prev(above);
  return above == free.end() || size - below->first < above->first - size ? below : above;
}

FreeObjects::iterator nearest_oldest(const FreeObjects& free, int64_t size) {
  auto above = free.lower_bound({size, 0});
  if (above == free.begin()) return above;
  auto below = free.lower_bound({std::prev(above)->first, 0});
  if (above == free.end()) return below;
  const int64_t down = size - below->first, up = above->first - size;
  return down < up || (down == up && below->second < above->second) ? below : above;
}

Plan in_order(const Problem& problem, Choose choose, SizeOf size_of) {
  SharedObjects objects{std::vector<int>(problem.buffers.size(), -1), {}};
  FreeObjects free;
  for (const Event& event : events(without_sharing(problem), all_buffers(problem))) {
    int& object = objects.object_of[event.id];
    if (!event.begins) {
      free.insert({objects.sizes[object], object});
      continue;
    }
    const int64_t size = size_of(problem.buffers[event.id]);
    const auto taken = choose(free, size);
    if (taken == free.end()) {
      object = int(objects.sizes.size());
      objects.sizes.push_back(size);
      continue;
    }
    object = taken->second;
    objects.sizes[object] = std::max(objects.sizes[object], size);
    free.erase(taken);
  }
  return side_by_side(problem, objects);
}

}  // namespace

Plan tflite_objects_in_order(const Problem& problem, const Search&) {
  return in_order(problem, nearest, exactly);
}
Plan tflite_objects_equality(const Problem& problem, const Search&) {
  return in_order(problem, same_size, exactly);
}
Plan executorch_in_order(const Problem& problem, const Search&) {
  return in_order(problem, nearest_oldest, exactly);
}
Plan glow_pool(const Problem& problem, const Search&) { return in_order(problem, same_size, power_of_two); }

}  // namespace arenac
