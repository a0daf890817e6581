#include "planner/bounds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "planner/packing.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

// Two buffers that may share at most `bytes` bytes.
struct Sharing {
  int a, b;
  int64_t bytes;
};

// `footprint` per buffer: its size on the pool's grid, of which all offsets and so their distances are
// multiples.
std::vector<Sharing> sharings(const Problem& problem, const std::vector<int64_t>& footprint, int64_t grid) {
  std::map<std::pair<int, int>, int64_t> most;  // of a pair with an overlap in both directions
  for (const Overlap& o : problem.overlaps) {
    // offset(above) >= offset(below) + distance: what is left of `below` from there on, and no more than
    // either.
    int64_t bytes =
        std::min(footprint[o.above], footprint[o.below] - round_up(std::max<int64_t>(o.distance, 0), grid));
    if (bytes > 0) {
      int64_t& known = most[std::minmax(o.above, o.below)];
      known = std::max(known, bytes);
    }
  }
  std::vector<Sharing> result;
  for (auto& [pair, bytes] : most) result.push_back({pair.first, pair.second, bytes});
  return result;
}

// How many bytes fewer than the sum of their footprints the buffers of `live` sharings may cover. In any
// order of the buffers, each covers at least its footprint less what it shares with each one before it;
// buffers with few partners go first, so that two inputs which both overlap one output are counted in full.
int64_t most_saved(const std::vector<Sharing>& live, const std::vector<int64_t>& footprint) {
  std::map<int, std::vector<const Sharing*>> partners;
  for (const Sharing& s : live) {
    partners[s.a].push_back(&s);
    partners[s.b].push_back(&s);
  }
  std::vector<std::pair<size_t, int>> order;  // by number of partners
  for (auto& [id, list] : partners) order.push_back({list.size(), id});
  std::sort(order.begin(), order.end());
  int64_t saved = 0;
  std::set<int> before;
  for (auto [degree, id] : order) {
    int64_t shared = 0;
    for (const Sharing* s : partners[id])
      if (before.contains(s->a == id ? s->b : s->a)) shared += s->bytes;
    saved += std::min(shared, footprint[id]);
    before.insert(id);
  }
  return saved;
}

}  // namespace

PeakLoad peak_load(const Problem& problem, const std::vector<int>& members) {
  PeakLoad peak;
  int64_t now = 0;
  for (const auto& [time, begins, id, low, high] : events(problem, members)) {
    if (peak.end <= peak.begin && time > peak.begin) peak.end = time;
    now += begins ? high - low : low - high;
    if (now > peak.bytes) peak = {now, time, time};
  }
  return peak;
}

int64_t load(const Problem& problem, const std::vector<int>& members) {
  return peak_load(problem, members).bytes;
}

int64_t lower_bound(const Problem& problem, int pool, const std::vector<int>& members) {
  // Every offset is a multiple of `grid`, so every buffer but the topmost covers its size rounded up to it,
  // unless a window that starts anywhere can use the padding.
  if (members.empty()) return 0;
  int64_t grid = 0, bound = 0;
  for (int id : members) {
    grid = std::gcd(grid, std::lcm(problem.buffers[id].align, problem.pools[pool].align));
    for (const Gap& gap : problem.buffers[id].gaps)
      if (gap.low < gap.high) grid = 1;
  }
  std::vector<int64_t> footprint(problem.buffers.size(), 0);
  for (int id : members) {
    const Buffer& b = problem.buffers[id];
    footprint[id] = round_up(b.size, grid);
    if (b.fixed_offset) bound = std::max(bound, *b.fixed_offset + b.size);
  }
  std::vector<std::vector<Sharing>> sharings_of(problem.overlaps.empty() ? 0 : problem.buffers.size());
  for (const Sharing& s : sharings(problem, footprint, grid)) {
    sharings_of[s.a].push_back(s);
    sharings_of[s.b].push_back(s);
  }

  int64_t now = 0;
  std::multiset<int64_t> padding;  // of the live buffers
  std::vector<char> is_live(problem.buffers.size(), 0);
  std::vector<Sharing> live_sharings;
  for (const auto& [time, begins, id, low, high] : events(problem, members)) {
    int64_t pad = footprint[id] - problem.buffers[id].size;
    is_live[id] = begins;
    if (!begins) {
      now -= high - low + pad;
      padding.erase(padding.find(pad));
      std::erase_if(live_sharings, [&](const Sharing& s) { return s.a == id || s.b == id; });
      continue;
    }
    now += high - low + pad;
    padding.insert(pad);
    if (!sharings_of.empty())
      for (const Sharing& s : sharings_of[id])
        if (is_live[s.a] && is_live[s.b]) live_sharings.push_back(s);
    bound = std::max(bound, now - *padding.rbegin() - most_saved(live_sharings, footprint));
  }
  return bound;
}

std::vector<std::vector<int>> members_by_pool(const Problem& problem,
                                              const std::vector<Placement>& placements) {
  std::vector<std::vector<int>> members(problem.pools.size());
  for (int id = 0; id < int(placements.size()); ++id) members[placements[id].pool].push_back(id);
  return members;
}

Problem pool_alone(const Problem& whole, int pool, const std::vector<int>& members) {
  Problem alone{.pools = {whole.pools[pool]}, .buffers = {}};
  std::vector<int> at(whole.buffers.size(), -1);
  for (int id : members) {
    at[id] = int(alone.buffers.size());
    alone.buffers.push_back(whole.buffers[id]);
    alone.buffers.back().pools = {0};
  }
  for (const Overlap& o : whole.overlaps)
    if (at[o.above] >= 0 && at[o.below] >= 0)
      alone.overlaps.push_back({at[o.above], at[o.below], o.distance});
  for (const std::vector<int>& group : whole.same_offset) {
    if (at[group[0]] < 0) continue;
    alone.same_offset.emplace_back();
    for (int id : group) alone.same_offset.back().push_back(at[id]);
  }
  return alone;
}

Plan make_plan(const Problem& problem, const std::vector<Placement>& placements) {
  Plan plan{placements, {}};
  auto members = members_by_pool(problem, placements);
  for (int pool = 0; pool < int(problem.pools.size()); ++pool) {
    int64_t size = 0;
    for (int id : members[pool]) size = std::max(size, placements[id].offset + problem.buffers[id].size);
    plan.pools.push_back({size, lower_bound(problem, pool, members[pool])});
  }
  return plan;
}

}  // namespace arenac
