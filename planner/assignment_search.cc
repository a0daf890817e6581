#include "planner/assignment_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "planner/random.h"
#include "planner/range_maximum.h"

namespace arenac {
namespace {

using Choice = AssignmentItem::Choice;

constexpr double kNoRoom = std::numeric_limits<double>::infinity();

class PoolPlacing {
 public:
  using State = int;  // a pool, or -1
  using Cost = AssignmentCost;

  // `factor` of the prices counts.
  PoolPlacing(const Assignment& assignment, const RoomPrices& prices, double factor)
      : assignment_(assignment), prices_(prices), factor_(factor), pools_(assignment.items.size(), -1) {
    for (const std::vector<int64_t>& rooms : assignment.rooms) {
      std::vector<int64_t> passed(rooms.size());
      std::ranges::transform(rooms, passed.begin(), std::negate());
      passed_.emplace_back(passed);
    }
  }

  bool place(int id) {
    const AssignmentItem& item = assignment_.items[id];
    AssignmentCost best{kNoRoom, kNoRoom};
    int pool = -1;
    for (const Choice& choice : item.choices) {
      const AssignmentCost now{double(choice.cost) + prices_.of(item, choice.pool, factor_),
                               double(choice.strayed)};
      if (now < best && has_room(item, choice.pool)) best = now, pool = choice.pool;
    }
    restore(id, pool);
    return pool >= 0;
  }

  // Places it there if there is room.
  bool fits(int id, int pool) {
    const AssignmentItem& item = assignment_.items[id];
    if (std::ranges::find(item.choices, pool, &Choice::pool) == item.choices.end()) return false;
    if (!has_room(item, pool)) return false;
    restore(id, pool);
    return true;
  }

  int remove(int id) {
    take(id, -1);
    return std::exchange(pools_[id], -1);
  }

  void restore(int id, int pool) {
    pools_[id] = pool;
    take(id, 1);
  }

  AssignmentCost cost(int id) const {
    for (const Choice& choice : assignment_.items[id].choices)
      if (choice.pool == pools_[id]) return {double(choice.cost), double(choice.strayed)};
    return {kNoRoom, kNoRoom};
  }

  const std::vector<int>& states() const { return pools_; }

  // A buffer that a cheaper pool could hold, and those that lie there at one of its times.
  std::vector<int> neighbours(Random& random) const {
    const int id = in_dear_pool(random);
    if (id < 0) return {};
    const int pool = cheaper_pool(id, random);
    std::vector<int> ids = {id};
    if (assignment_.items[id].loads.empty()) return ids;
    const int slot = slot_of(id, pool, random);
    for (int other = 0; other < int(pools_.size()); ++other)
      if (other != id && pools_[other] == pool && lives_at(assignment_.items[other], slot))
        ids.push_back(other);
    shuffle(std::span(ids).subspan(1), random);  // all but the first
    return ids;
  }

 private:
  static bool lives_at(const AssignmentItem& item, int slot) {
    return std::ranges::any_of(item.loads,
                               [&](const SlotLoad& load) { return load.begin <= slot && slot < load.end; });
  }

  bool has_room(const AssignmentItem& item, int pool) const {
    return !assignment_.is_limited(pool) || std::ranges::all_of(item.loads, [&](const SlotLoad& load) {
      return passed_[pool].greatest({load.begin, load.end}) + load.size <= 0;
    });
  }

  void take(int id, int sign) {
    const int pool = pools_[id];
    if (pool < 0 || !assignment_.is_limited(pool)) return;
    for (const SlotLoad& load : assignment_.items[id].loads)
      passed_[pool].add({load.begin, load.end}, sign * load.size);
  }

  bool is_cheaper(const Choice& choice, int id) const {
    return AssignmentCost{double(choice.cost), double(choice.strayed)} < cost(id);
  }

  // A buffer with a cheaper choice, or -1.
  int in_dear_pool(Random& random) const {
    constexpr int kDraws = 64;
    for (int draw = 0; draw < kDraws; ++draw) {
      const int id = int(random.below(pools_.size()));
      const auto& choices = assignment_.items[id].choices;
      if (std::ranges::any_of(choices, [&](const Choice& c) { return is_cheaper(c, id); })) return id;
    }
    return -1;
  }

  int cheaper_pool(int id, Random& random) const {
    std::vector<int> pools;
    for (const Choice& choice : assignment_.items[id].choices)
      if (is_cheaper(choice, id)) pools.push_back(choice.pool);
    return pools[random.below(pools.size())];
  }

  // Of one of its loads: where the pool is fullest, or any.
  int slot_of(int id, int pool, Random& random) const {
    const std::vector<SlotLoad>& loads = assignment_.items[id].loads;
    const SlotLoad& load = loads[random.below(loads.size())];
    if (assignment_.is_limited(pool) && random.below(2) == 0)
      return passed_[pool].first_greatest({load.begin, load.end});
    return load.begin + int(random.below(uint64_t(load.end - load.begin)));
  }

  const Assignment& assignment_;
  const RoomPrices& prices_;
  double factor_;
  std::vector<RangeMaximum> passed_;  // per pool and slot, by how many bytes its room is passed
  std::vector<int> pools_;
};

// What the dearest choice costs more than the cheapest.
double regret(const AssignmentItem& item) {
  const auto [least, most] = std::ranges::minmax(item.choices, {}, &Choice::cost);
  return double(most.cost - least.cost);
}

// Bytes times slots.
double area(const AssignmentItem& item) {
  double sum = 0;
  for (const SlotLoad& load : item.loads) sum += double(load.size) * double(load.end - load.begin);
  return sum;
}

}  // namespace

bool AssignmentCost::is_possible() const { return cost < kNoRoom; }

Assigned assign(const Assignment& assignment, const RoomPrices& prices) {
  const std::vector<int> orders[] = {
      sorted_ids(assignment.items,
                 [](const AssignmentItem& item) { return regret(item) / (1 + area(item)); }),
      sorted_ids(assignment.items, regret),
      sorted_ids(assignment.items, area),
      sorted_ids(assignment.items,
                 [](const AssignmentItem& item) {
                   return item.loads.empty() ? 0.0 : -double(item.loads.front().begin);
                 }),
  };
  Assigned best{{}, {kNoRoom, kNoRoom}};
  for (const double factor : {0.0, 0.5, 0.9, 1.0})
    for (const std::vector<int>& order : orders) {
      Assigned now = place_in_order([&] { return PoolPlacing(assignment, prices, factor); }, order);
      if (best.states.empty() || now.cost < best.cost) best = std::move(now);
    }
  return best;
}

Assigned fit(const Assignment& assignment, const std::vector<int>& pools) {
  const RoomPrices none(assignment);
  PoolPlacing placing(assignment, none, 0);
  std::vector<int> rest;
  const std::vector<int> order = sorted_ids(
      assignment.items, [](const AssignmentItem& item) { return regret(item) / (1 + area(item)); });
  for (const int id : order)
    if (!placing.fits(id, pools[id])) rest.push_back(id);
  for (const int id : rest) placing.place(id);
  return arrangement_of(placing);
}

Assigned improve(const Assignment& assignment, const Assigned& from, double bound,
                 const AssignmentEffort& effort, const Cutoff& cutoff) {
  constexpr double kTriesEach = 500, kMostTries = 1e5, kWork = 4e8;  // a try looks at all buffers
  constexpr double kThreshold = 0.2;                                 // of a regret on average
  if (!from.cost.is_possible()) return from;
  const double buffers = double(assignment.items.size());
  const double tries = effort.effort * std::min({kTriesEach * buffers, kMostTries, kWork / buffers});
  double regrets = 0;
  for (const AssignmentItem& item : assignment.items) regrets += regret(item);
  const RoomPrices none(assignment);
  Neighbourhoods search(PoolPlacing(assignment, none, 0), from, effort.seed);
  for (double k = 0; k < tries && bound < search.best().cost.cost && !cutoff.has_passed(); ++k) {
    const double left = 1 - k / tries;
    search.try_one({kThreshold * left * left * regrets / buffers, kNoRoom});
  }
  return search.best();
}

}  // namespace arenac
