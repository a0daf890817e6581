// Allocators as at run time: buffers in the order in which their lives begin. What they lose against the
// others is what planning ahead is worth.
//
// IREE's LayoutSlices takes the tightest gap, as TensorFlow Lite's arena does for one buffer after the other
// (online best fit); Glow's MemoryAllocator the lowest (online first fit); worst fit the widest, so that what
// remains of it is still of use.
#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

Plan online(const Problem& problem, Fit fit) {
  auto key = [&](int id) { return problem.buffers[id].begin; };
  return make_plan(problem, pack(problem, sorted_by(problem, key), fit));
}

}  // namespace

Plan iree(const Problem& problem, const Search&) { return online(problem, Fit::kTightest); }
Plan glow_linear(const Problem& problem, const Search&) { return online(problem, Fit::kLowest); }
Plan online_worst_fit(const Problem& problem, const Search&) { return online(problem, Fit::kWidest); }

}  // namespace arenac
