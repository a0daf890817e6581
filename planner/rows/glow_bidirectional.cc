// The bidirectional allocator of Esperanto's runtime for Glow: memory grows from both ends of a region, so
// that what stays long does not come between what comes and goes. There constants go to the front,
// placeholders to the back; here the half of the buffers that live longest and the others. Both sides take
// buffers as their lives begin, first fit from their end, and the region is as small as keeps them apart.
#include <algorithm>
#include <set>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

// First fit, as lives begin, of these buffers alone.
void pack_side(const Problem& problem, std::vector<int> ids, std::vector<Placement>& placements) {
  Problem side{.pools = problem.pools, .buffers = {}};
  for (int id : ids) side.buffers.push_back(problem.buffers[id]);
  const auto order = sorted_by(side, [&](int i) { return side.buffers[i].begin; });
  const std::vector<Placement> packed = pack(side, order, Fit::kLowest);
  for (size_t i = 0; i < ids.size(); ++i) placements[ids[i]] = packed[i];
}

}  // namespace

Plan glow_bidirectional(const Problem& original, const Search&) {
  Problem problem = without_sharing(original);
  const int64_t step = common_alignment(problem);  // the back counts from the end of the region
  for (Buffer& b : problem.buffers) {
    b.size = round_up(b.size, step);
    b.align = step;
  }
  const std::vector<int> longest = sorted_by(problem, [&](int id) { return ~duration(problem.buffers[id]); });
  const auto middle = longest.begin() + longest.size() / 2;
  std::vector<Placement> placements(problem.buffers.size());
  pack_side(problem, {longest.begin(), middle}, placements);
  pack_side(problem, {middle, longest.end()}, placements);

  std::vector<int> side_of(problem.buffers.size(), 0);
  for (auto it = middle; it != longest.end(); ++it) side_of[*it] = 1;
  std::multiset<int64_t> tops[2] = {{0}, {0}};  // of the live buffers
  int64_t region = 0;
  for (const Event& event : events(problem, all_buffers(problem))) {
    std::multiset<int64_t>& side = tops[side_of[event.id]];
    const int64_t top = placements[event.id].offset + event.high;
    event.begins ? (void)side.insert(top) : (void)side.erase(side.find(top));
    region = std::max(region, *tops[0].rbegin() + *tops[1].rbegin());
  }
  for (auto it = middle; it != longest.end(); ++it)
    placements[*it].offset = region - placements[*it].offset - problem.buffers[*it].size;
  return make_plan(original, placements);
}

}  // namespace arenac
