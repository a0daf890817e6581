#include "planner/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/error.h"
#include "planner/move_bound.h"
#include "planner/move_search.h"
#include "planner/verify.h"
#include "planner/verify_moves.h"

namespace arenac {
namespace {

std::vector<Stay> stays_of(const MoveSlots& slots, const Placed& placed) {
  std::vector<Stay> stays;
  for (size_t id = 0; id < placed.states.size(); ++id) {
    std::vector<SlotStay> sequence = placed.states[id];
    std::ranges::sort(sequence, {}, &SlotStay::begin);
    for (const SlotStay& stay : sequence)
      stays.push_back(
          {int(id), stay.pool, 0, slots.times[stay.begin], slots.times[stay.ready], slots.times[stay.end]});
  }
  return stays;
}

// The stays of one pool as a problem of its own.
struct PoolOfStays {
  Problem problem;
  std::vector<Stay*> stays;  // per buffer of the problem
};

PoolOfStays pool_of_stays(const Problem& problem, std::vector<Stay>& stays, int pool) {
  PoolOfStays result{{.pools = {problem.pools[pool]}, .buffers = {}}, {}};
  for (Stay& stay : stays) {
    if (stay.pool != pool) continue;
    const Buffer& b = problem.buffers[stay.buffer];
    result.problem.buffers.push_back({b.name, b.size, b.align, stay.begin, stay.end});
    result.stays.push_back(&stay);
  }
  return result;
}

MoveTotals totals_of(const Problem& problem, const std::vector<Stay>& stays) {
  MoveTotals totals;
  std::vector<std::vector<const Stay*>> fast(problem.buffers.size());
  for (const Stay& stay : stays) {
    if (stay.pool == kFastPool) fast[stay.buffer].push_back(&stay);
    if (stay.ready == stay.begin) continue;
    ++totals.copies;
    totals.moved_bytes += problem.buffers[stay.buffer].size;
  }
  for (size_t id = 0; id < fast.size(); ++id)
    for (const int64_t use : uses_of(problem.buffers[id]))
      if (std::ranges::none_of(fast[id], [&](const Stay* s) { return s->ready <= use && use < s->end; }))
        totals.slow_bytes += problem.buffers[id].size;
  return totals;
}

class MovesPlanning {
 public:
  MovesPlanning(const Problem& problem, int64_t bandwidth, std::string_view planner, const Search& search)
      : problem_(problem),
        slots_(move_slots(problem, bandwidth)),
        planner_(planner),
        search_(search),
        cutoff_(search_.cutoff()) {}

  // Nothing if none was found that the capacities hold.
  std::optional<MovesPlan> plan() {
    const Placed still = without_moves();
    Placed placed = place_stays(slots_, {});
    if (still.cost < placed.cost) placed = still;
    const int rounds = int(std::clamp(kRounds * search_.effort, 1.0, 1e6));
    const MoveBound bound = move_bound(slots_, placed.cost.bytes, rounds, cutoff_);
    Placed priced = place_stays(slots_, bound.rooms);
    if (priced.cost < placed.cost) placed = std::move(priced);
    // Offsets waste some of the pool: how much of it stays are promised is searched by bisection.
    int64_t fits = 0, passes = slots_.fast;
    for (int packing = 0; packing < kPackings && placed.cost.bytes < kImpossible; ++packing) {
      placed =
          improve_stays(slots_, std::move(placed), {search_.effort / (1 + packing), search_.seed}, cutoff_);
      const int64_t top = pack(stays_of(slots_, placed));
      const int64_t over = top - problem_.pools[kFastPool].capacity.value_or(top);
      if ((packing == 0 && over <= 0) || cutoff_.has_passed()) break;
      (over > 0 ? passes : fits) = slots_.fast;
      slots_.fast = fits == 0 ? std::max<int64_t>(0, passes - over) : (fits + passes) / 2;
      placed = fit_stays(slots_, placed);
    }
    if (best_) best_->slow_bound = bound.slow_bytes;
    return best_;
  }

 private:
  static constexpr int kPackings = 6;
  static constexpr double kRounds = 400;          // of prices, that seem worth it
  static constexpr double kPackingEffort = 0.01;  // each of many, where more would help little

  // Keeps the plan in which each buffer lies in one pool, if one is found that the capacities hold. The
  // default planner finds it: not every row takes two pools.
  Placed without_moves() {
    const Plan plan = plan_at_best(problem_, kDefaultPlanner, search_for(problem_.pools));
    if (passed_capacities(problem_, plan)) return {{}, {kImpossible, kImpossible}};
    Placed placed;
    for (size_t id = 0; id < problem_.buffers.size(); ++id) {
      const MoveItem& item = slots_.items[id];
      placed.states.push_back({{plan.placements[id].pool, item.begin, item.begin, item.end}});
      placed.cost = placed.cost + cost_of(item, placed.states.back());
    }
    std::vector<Stay> stays = stays_of(slots_, placed);
    for (Stay& stay : stays) stay.offset = plan.placements[stay.buffer].offset;
    const MoveTotals totals = totals_of(problem_, stays);
    best_ = {std::move(stays), {plan.pools[kFastPool].size, plan.pools[kSlowPool].size}, totals};
    return placed;
  }

  // Gives the stays offsets, and keeps the plan if it is the best so far. The top of the fast pool, before
  // what lies above its capacity left it.
  int64_t pack(std::vector<Stay> stays) {
    const int64_t top = give_offsets(stays, kFastPool);
    if (top > problem_.pools[kFastPool].capacity.value_or(top)) stays = spilled(stays);
    const MoveTotals totals = totals_of(problem_, stays);
    const auto key = [](const MoveTotals& t) { return std::pair(t.slow_bytes, t.moved_bytes); };
    const bool all_may = std::ranges::all_of(stays, [&](const Stay& stay) {
      return std::ranges::count(problem_.buffers[stay.buffer].pools, stay.pool) > 0;
    });
    if (!all_may || (best_ && key(best_->totals) <= key(totals))) return top;
    const int64_t slow = give_offsets(stays, kSlowPool);
    if (slow > problem_.pools[kSlowPool].capacity.value_or(slow)) return top;
    int64_t fast = 0;
    for (const Stay& stay : stays)
      if (stay.pool == kFastPool) fast = std::max(fast, stay.offset + problem_.buffers[stay.buffer].size);
    best_ = {std::move(stays), {fast, slow}, totals};
    return top;
  }

  // Without the stays that pass the fast pool's capacity: a stay in the slow one serves their uses.
  std::vector<Stay> spilled(std::vector<Stay> stays) const {
    const int64_t capacity = *problem_.pools[kFastPool].capacity;
    std::vector<char> spills(problem_.buffers.size()), born(spills);  // of a buffer: any stay, its first one
    for (const Stay& stay : stays) {
      if (stay.pool != kFastPool || stay.offset + problem_.buffers[stay.buffer].size <= capacity) continue;
      spills[stay.buffer] = 1;
      if (stay.ready == stay.begin) born[stay.buffer] = 1;
    }
    std::erase_if(stays, [&](const Stay& stay) {
      return stay.pool == kFastPool ? stay.offset + problem_.buffers[stay.buffer].size > capacity
                                    : born[stay.buffer] != 0;
    });
    for (Stay& stay : stays)
      if (stay.pool == kSlowPool && spills[stay.buffer]) stay.end = problem_.buffers[stay.buffer].end;
    for (size_t id = 0; id < born.size(); ++id) {
      const Buffer& b = problem_.buffers[id];
      if (born[id]) stays.push_back({int(id), kSlowPool, 0, b.begin, b.begin, b.end});
    }
    std::ranges::sort(stays, {}, [](const Stay& stay) { return std::pair(stay.buffer, stay.begin); });
    return stays;
  }

  // Offsets for the stays of one pool, and where the topmost ends.
  int64_t give_offsets(std::vector<Stay>& stays, int pool) {
    const PoolOfStays alone = pool_of_stays(problem_, stays, pool);
    const Plan plan = plan_at_best(alone.problem, planner_, search_for(alone.problem.pools));
    for (size_t k = 0; k < alone.stays.size(); ++k) alone.stays[k]->offset = plan.placements[k].offset;
    return plan.pools[0].size;
  }

  Search search_for(const std::vector<Pool>& pools) const {
    Search search;
    const bool any_will_do = std::ranges::all_of(pools, [](const Pool& p) { return p.capacity.has_value(); });
    search.goal = any_will_do ? Goal::kFits : Goal::kSmallest;
    search.effort = kPackingEffort * search_.effort;
    search.seconds = std::max(0.0, cutoff_.seconds_left());
    search.seed = search_.seed;
    search.is_cancelled = search_.is_cancelled;
    return search;
  }

  const Problem& problem_;
  MoveSlots slots_;  // with what is promised of the fast pool
  std::string_view planner_;
  Search search_;
  Cutoff cutoff_;
  std::optional<MovesPlan> best_;
};

}  // namespace

MovesPlan plan_moves(const Problem& problem, int64_t bandwidth, std::string_view planner,
                     const Search& search) {
  check_for_moves(problem, bandwidth);
  Problem whole = problem;  // without permissions that moves make no use of
  whole.overlaps.clear();
  for (Buffer& b : whole.buffers) b.gaps.clear();
  if (const auto why = why_impossible(whole)) throw PassesCapacity(*why, Exit::kDoesNotFit, {});
  const std::optional<MovesPlan> plan = MovesPlanning(whole, bandwidth, planner, search).plan();
  if (!plan)
    throw PassesCapacity("no plan with moves was found that both capacities hold: not proven impossible",
                         Exit::kNotFound, {});
  const auto fault = verify_moves(problem, bandwidth, *plan);
  ARENAC_CHECK(!fault, fmt::format("plan with moves: {}", fault.value_or("")));
  return *plan;
}

}  // namespace arenac
