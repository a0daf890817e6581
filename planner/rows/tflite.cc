// TensorFlow Lite's planners that calculate offsets.
//
// By size: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020, arXiv
// 2001.03288), greedy by size for offset calculation, and the default of the arena planner: the largest
// buffer first, among equals the one that begins first, each into the tightest gap. Micro: TensorFlow Lite
// Micro's greedy memory planner: the same at the lowest offset, equals as given.
#include <tuple>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {

Plan tflite_by_size(const Problem& problem, const Search&) {
  auto key = [&](int id) { return std::pair(-problem.buffers[id].size, problem.buffers[id].begin); };
  return make_plan(problem, pack(problem, sorted_by(problem, key), Fit::kTightest));
}

Plan tflite_micro(const Problem& problem, const Search&) {
  auto key = [&](int id) { return -problem.buffers[id].size; };
  return make_plan(problem, pack(problem, sorted_by(problem, key), Fit::kLowest));
}

}  // namespace arenac
