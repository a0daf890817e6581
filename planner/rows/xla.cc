// XLA's heap simulator, GlobalDecreasingSizeBestFitHeap: each buffer into the smallest free chunk that it
// fits into, in one of two orders: spatial, the largest buffer first, among equals the longest life;
// temporal, the longest life first, among equals the largest. Buffer assignment takes the better of the two.
//
// Memory space assignment repacks what it has placed when it runs out of room: in the temporal order, all
// anew, kept only if it is smaller (BestFitRepacker). Here it repacks the plan of the spatial order.
#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

std::vector<Placement> spatial(const Problem& problem) {
  auto key = [&](int id) { return std::pair(-problem.buffers[id].size, ~duration(problem.buffers[id])); };
  return pack(problem, sorted_by(problem, key), Fit::kTightest);
}

std::vector<Placement> temporal(const Problem& problem) {
  auto key = [&](int id) { return std::pair(~duration(problem.buffers[id]), -problem.buffers[id].size); };
  return pack(problem, sorted_by(problem, key), Fit::kTightest);
}

}  // namespace

Plan xla_by_size(const Problem& problem, const Search&) { return make_plan(problem, spatial(problem)); }

Plan xla_by_lifetime(const Problem& problem, const Search&) { return make_plan(problem, temporal(problem)); }

Plan xla_best_of_both(const Problem& problem, const Search& search) {
  return smaller(xla_by_size(problem, search), xla_by_lifetime(problem, search));
}

Plan xla_repacker(const Problem& problem, const Search&) {
  const std::vector<Placement> before = spatial(problem);
  auto key = [&](int id) {
    const Buffer& b = problem.buffers[id];
    return std::tuple(~duration(b), -b.size, b.begin, before[id].offset);
  };
  return smaller(make_plan(problem, before),
                 make_plan(problem, pack(problem, sorted_by(problem, key), Fit::kTightest)));
}

}  // namespace arenac
