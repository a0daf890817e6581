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
  for (size_t id = 0; id < placed.stays.size(); ++id) {
    std::vector<SlotStay> sequence = placed.stays[id];
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

// The doubles are exact: check_for_moves() keeps sums of uses small.
MoveTotals totals_of(const MoveSlots& slots, const Placed& placed, const std::vector<Stay>& stays) {
  MoveCost sum;
  for (size_t id = 0; id < placed.stays.size(); ++id) sum = sum + cost_of(slots.items[id], placed.stays[id]);
  const auto copies = std::ranges::count_if(stays, [](const Stay& stay) { return stay.ready > stay.begin; });
  return {copies, int64_t(sum.bytes), int64_t(sum.moved)};
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
    Placed placed = place_stays(slots_, {});
    const int rounds = int(std::clamp(kRounds * search_.effort, 1.0, 1e6));
    const MoveBound bound = move_bound(slots_, placed.cost.bytes, rounds, cutoff_);
    Placed priced = place_stays(slots_, bound.rooms);
    if (priced.cost < placed.cost) placed = std::move(priced);
    const int64_t capacity = slots_.fast;
    for (int packing = 0; packing < kPackings && placed.cost.bytes < kImpossible; ++packing) {
      placed =
          improve_stays(slots_, std::move(placed), {search_.effort / (1 + packing), search_.seed}, cutoff_);
      const int64_t top = pack(placed);
      if (top <= capacity || cutoff_.has_passed()) break;
      // Offsets waste some of the pool: stays are promised less, by half of what was too much.
      slots_.fast -= std::min(slots_.fast, std::max<int64_t>(1, (top - capacity) / 2));
      placed = fit_stays(slots_, placed);
    }
    if (best_) best_->slow_bound = bound.slow_bytes;
    return best_;
  }

 private:
  static constexpr int kPackings = 6;
  static constexpr double kRounds = 300;  // of prices, that seem worth it
  static constexpr double kPackingEffort = 0.1;

  // Gives the stays offsets, and keeps the plan if it is the best so far. The top of the fast pool, before
  // what lies above its capacity left it.
  int64_t pack(Placed placed) {
    std::vector<Stay> stays = stays_of(slots_, placed);
    const int64_t top = give_offsets(stays, kFastPool);
    const bool fits = spill(placed, stays);
    const int64_t slow = fits ? give_offsets(stays, kSlowPool) : 0;
    if (!fits || slow > problem_.pools[kSlowPool].capacity.value_or(slow)) return top;
    MovesPlan plan{std::move(stays), {0, slow}, {}};
    for (const Stay& stay : plan.stays)
      if (stay.pool == kFastPool)
        plan.pool_sizes[kFastPool] =
            std::max(plan.pool_sizes[kFastPool], stay.offset + slots_.items[stay.buffer].size);
    plan.totals = totals_of(slots_, placed, plan.stays);
    const auto key = [](const MovesPlan& p) { return std::pair(p.totals.slow_bytes, p.totals.moved_bytes); };
    if (!best_ || key(plan) < key(*best_)) best_ = std::move(plan);
    return top;
  }

  // Offsets for the stays of one pool, and where the topmost ends.
  int64_t give_offsets(std::vector<Stay>& stays, int pool) {
    const PoolOfStays alone = pool_of_stays(problem_, stays, pool);
    Search search;
    search.goal = problem_.pools[pool].capacity ? Goal::kFits : Goal::kSmallest;
    search.effort = kPackingEffort * search_.effort;
    search.seconds = std::max(0.0, cutoff_.seconds_left());
    search.seed = search_.seed;
    search.is_cancelled = search_.is_cancelled;
    const Plan plan = plan_at_best(alone.problem, planner_, search);
    for (size_t k = 0; k < alone.stays.size(); ++k) alone.stays[k]->offset = plan.placements[k].offset;
    return plan.pools[0].size;
  }

  // Buffers that pass the fast pool's capacity lie in the slow one instead, all their lives; whether they
  // may.
  bool spill(Placed& placed, std::vector<Stay>& stays) const {
    const int64_t capacity = problem_.pools[kFastPool].capacity.value_or(INT64_MAX);
    std::vector<int> spilled;
    for (const Stay& stay : stays)
      if (stay.pool == kFastPool && stay.offset + slots_.items[stay.buffer].size > capacity &&
          (spilled.empty() || spilled.back() != stay.buffer))
        spilled.push_back(stay.buffer);
    std::erase_if(stays, [&](const Stay& stay) { return std::ranges::binary_search(spilled, stay.buffer); });
    for (const int id : spilled) {
      const MoveItem& item = slots_.items[id];
      if (!item.may_be_slow) return false;
      placed.stays[id] = {{kSlowPool, item.begin, item.begin, item.end}};
      const Buffer& b = problem_.buffers[id];
      stays.push_back({id, kSlowPool, 0, b.begin, b.begin, b.end});
    }
    std::ranges::stable_sort(stays, {}, &Stay::buffer);
    return true;
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
    throw PassesCapacity(
        "no plan with moves was found that the capacities of both pools hold: not proven "
        "impossible",
        Exit::kNotFound, {});
  const auto fault = verify_moves(problem, bandwidth, *plan);
  ARENAC_CHECK(!fault, fmt::format("plan with moves: {}", fault.value_or("")));
  return *plan;
}

}  // namespace arenac
