#include "planner/assignment.h"

#include <algorithm>
#include <numeric>

#include "planner/packing.h"

namespace arenac {
namespace {

using Choice = AssignmentItem::Choice;

std::vector<SlotLoad> without(const std::vector<SlotLoad>& loads, Span cut) {
  std::vector<SlotLoad> rest;
  for (const SlotLoad& load : loads) {
    if (!meet({load.begin, load.end}, cut)) {
      rest.push_back(load);
      continue;
    }
    if (load.begin < cut.begin) rest.push_back({load.begin, cut.begin, load.size});
    if (cut.end < load.end) rest.push_back({cut.end, load.end, load.size});
  }
  return rest;
}

// Per buffer its pieces, the larger first without those at which a partner of an overlap counts.
std::vector<std::vector<SlotLoad>> counted_loads(const Problem& problem, const Timeline& timeline) {
  constexpr size_t kMostLoads = 100;  // of a buffer; what is cut into more counts nowhere
  std::vector<std::vector<SlotLoad>> loads(problem.buffers.size());
  const auto overlaps = overlaps_by_buffer(problem);
  std::vector<int> order = all_buffers(problem);
  std::ranges::stable_sort(order, std::greater(), [&](int id) { return problem.buffers[id].size; });
  for (const int id : order) {
    std::vector<SlotLoad> own;
    for (const Piece& piece : timeline.pieces(id))
      if (piece.low < piece.high) own.push_back({piece.slots.begin, piece.slots.end, piece.high - piece.low});
    for (const Overlap& o : overlaps[id])
      for (const SlotLoad& other : loads[o.above == id ? o.below : o.above])
        if (own.size() <= kMostLoads) own = without(own, {other.begin, other.end});
    if (overlaps[id].empty() || own.size() <= kMostLoads) loads[id] = std::move(own);
  }
  return loads;
}

std::vector<Choice> choices_of(const Problem& problem, const Buffer& b) {
  std::vector<Choice> all, fitting;
  for (const int pool : b.pools) {
    const int64_t strayed = pool == b.pools.front() ? 0 : std::max<int64_t>(1, b.size);
    all.push_back({pool, cost_in(b, pool), strayed});
    const int64_t top = b.fixed_offset.value_or(0) + b.size;
    if (top <= problem.pools[pool].capacity.value_or(top)) fitting.push_back(all.back());
  }
  return fitting.empty() ? all : fitting;
}

// The greatest number that every cost of every item is a multiple of.
int64_t unit_of_costs(const Assignment& assignment) {
  int64_t unit = 0;
  for (const AssignmentItem& item : assignment.items)
    for (const Choice& choice : item.choices) unit = std::gcd(unit, choice.cost);
  return unit;
}

// Per slot of each limited pool in turn, what of the room those that may lie there can fill.
std::vector<double> fillable_rooms(const Assignment& assignment) {
  std::vector<double> rooms;
  for (int pool = 0; pool < int(assignment.rooms.size()); ++pool) {
    if (!assignment.is_limited(pool)) continue;
    std::vector<SlotLoad> loads;
    int64_t unit = 0;
    for (const AssignmentItem& item : assignment.items) {
      if (std::ranges::find(item.choices, pool, &Choice::pool) == item.choices.end()) continue;
      loads.insert(loads.end(), item.loads.begin(), item.loads.end());
      for (const SlotLoad& load : item.loads) unit = std::gcd(unit, load.size);
    }
    const int64_t capacity = std::ranges::max(assignment.rooms[pool]);
    for (const int64_t room : fillable(loads, assignment.slots, capacity, unit))
      rooms.push_back(double(room));
  }
  return rooms;
}

Relaxed relax(const Assignment& assignment, const std::vector<double>& rooms,
              const std::vector<double>& flat) {
  const RoomPrices prices(assignment, flat);
  Relaxed result;
  const size_t pools = assignment.rooms.size();
  std::vector<std::vector<double>> asked(pools, std::vector<double>(size_t(assignment.slots) + 1));
  for (const AssignmentItem& item : assignment.items) {
    double least = std::numeric_limits<double>::infinity();
    int pool = 0;
    for (const Choice& choice : item.choices) {
      const double paid = double(choice.cost) + prices.of(item, choice.pool);
      if (paid < least) least = paid, pool = choice.pool;
    }
    result.bound += least;
    result.terms += least;
    for (const SlotLoad& load : item.loads) {
      asked[pool][load.begin] += double(load.size);
      asked[pool][load.end] -= double(load.size);
    }
  }
  for (size_t pool = 0; pool < pools; ++pool) {
    if (!assignment.is_limited(int(pool))) continue;
    std::partial_sum(asked[pool].begin(), asked[pool].end(), asked[pool].begin());
    for (int slot = 0; slot < assignment.slots; ++slot) {
      const size_t k = result.excess.size();
      result.excess.push_back(asked[pool][slot] - rooms[k]);
      result.bound -= flat[k] * rooms[k];
      result.terms += flat[k] * rooms[k];
    }
  }
  return result;
}

}  // namespace

Assignment assignment_of(const Problem& problem, const Timeline& timeline) {
  Assignment result{timeline.slots, {}, {}};
  std::vector<std::vector<SlotLoad>> loads = counted_loads(problem, timeline);
  for (size_t id = 0; id < problem.buffers.size(); ++id)
    result.items.push_back({choices_of(problem, problem.buffers[id]), std::move(loads[id])});
  for (const Pool& pool : problem.pools) {
    result.rooms.emplace_back();
    if (pool.capacity) result.rooms.back().assign(size_t(timeline.slots), *pool.capacity);
  }
  return result;
}

RoomPrices::RoomPrices(const Assignment& assignment) : paid_(assignment.rooms.size()) {}

RoomPrices::RoomPrices(const Assignment& assignment, const std::vector<double>& flat)
    : RoomPrices(assignment) {
  auto next = flat.begin();
  for (size_t pool = 0; pool < paid_.size(); ++pool) {
    if (!assignment.is_limited(int(pool))) continue;
    paid_[pool].resize(size_t(assignment.slots) + 1);
    std::partial_sum(next, next + assignment.slots, paid_[pool].begin() + 1);
    next += assignment.slots;
  }
}

AssignmentBound assignment_bound(const Assignment& assignment, double best_known, int rounds,
                                 const Cutoff& cutoff) {
  const std::vector<double> rooms = fillable_rooms(assignment);
  size_t kinds = 0;
  for (int pool = 0; pool < int(assignment.rooms.size()); ++pool) kinds += assignment.is_limited(pool);
  const PricedBound best =
      ascend({kinds, size_t(assignment.slots), best_known, rounds, unit_of_costs(assignment)}, cutoff,
             [&](const std::vector<double>& flat) { return relax(assignment, rooms, flat); });
  return {best.bound, RoomPrices(assignment, best.prices)};
}

}  // namespace arenac
