#include "planner/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "frontend/error.h"
#include "planner/uses.h"

namespace arenac {
namespace {

std::string label(const Problem& p, int b) { return fmt::format("buffer {} '{}'", b, p.buffers[b].name); }

void check_buffer(const Problem& p, int id) {
  const Buffer& b = p.buffers[id];
  auto require = [&](bool fine, const std::string& what) {
    if (!fine) throw UserError(fmt::format("planning problem: {}: {}", label(p, id), what));
  };
  require(b.size >= 0 && b.size <= kMaxBytes, fmt::format("size {} is out of range", b.size));
  require(b.align >= 1 && b.align <= kMaxBytes, fmt::format("alignment {} is out of range", b.align));
  require(b.begin < b.end, fmt::format("its life [{}, {}) is empty", b.begin, b.end));
  require(!b.pools.empty(), "no pool is allowed");
  for (int pool : b.pools)
    require(pool >= 0 && pool < int(p.pools.size()), fmt::format("pool index {} does not exist", pool));
  int64_t from = b.begin;
  for (const Gap& gap : b.gaps) {
    require(from <= gap.begin && gap.begin < gap.end && gap.end <= b.end,
            fmt::format("gap [{}, {}) is empty, outside its life [{}, {}), or before the end of another",
                        gap.begin, gap.end, b.begin, b.end));
    require(0 <= gap.low && gap.low <= gap.high && gap.high <= b.size,
            fmt::format("window [{}, {}) of a gap is outside its {} bytes", gap.low, gap.high, b.size));
    from = gap.end;
  }
  for (size_t k = 0; k < b.uses.size(); ++k)
    require(b.uses[k] >= (k == 0 ? b.begin : b.uses[k - 1] + 1) && b.uses[k] < b.end,
            fmt::format("use {} is outside its life [{}, {}) or not after the one before", b.uses[k], b.begin,
                        b.end));
  require(b.costs.empty() || b.costs.size() == b.pools.size(),
          fmt::format("it has {} costs for {} pools: one for each or none is needed", b.costs.size(),
                      b.pools.size()));
  for (size_t k = 0; k < b.costs.size(); ++k)
    require(b.costs[k] >= 0,
            fmt::format("its cost {} in pool '{}' is negative: costs are whole numbers from 0", b.costs[k],
                        p.pools[b.pools[k]].name));
  require(!b.fixed_offset || (*b.fixed_offset >= 0 && *b.fixed_offset <= kMaxBytes),
          fmt::format("fixed offset {} is out of range", b.fixed_offset.value_or(0)));
}

// Sweeps over the times of one pool. The live uses of buffers that may share with nobody lie in a map by
// address, where a newcomer only has to look at its neighbours; the others, few, are looked at one by one.
class Sweep {
 public:
  Sweep(const Problem& problem, const Plan& plan)
      : problem_(problem),
        plan_(plan),
        overlaps_(problem.buffers.size()),
        group_(problem.buffers.size(), -1) {
    for (const Overlap& o : problem.overlaps) {
      overlaps_[o.above].push_back(o);
      overlaps_[o.below].push_back(o);
    }
    for (size_t k = 0; k < problem.same_offset.size(); ++k)
      for (int id : problem.same_offset[k]) group_[id] = int(k);
  }

  std::optional<std::string> first_collision(int pool) {
    std::vector<Use> uses;
    for (int id = 0; id < int(problem_.buffers.size()); ++id)
      if (plan_.placements[id].pool == pool)
        add_uses(problem_.buffers[id], id, plan_.placements[id].offset, uses);
    struct Turn {
      int64_t time;
      bool begins;  // else ends; ends come first
      const Use* use;
    };
    std::vector<Turn> turns;
    for (const Use& use : uses) {
      turns.push_back({use.begin, true, &use});
      turns.push_back({use.end, false, &use});
    }
    std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
      return std::tie(a.time, a.begins, a.use) < std::tie(b.time, b.begins, b.use);
    });
    for (const Turn& turn : turns) {
      if (!turn.begins)
        remove(*turn.use);
      else if (auto fault = insert(*turn.use))
        return fault;
    }
    return {};
  }

 private:
  bool may_share(int id) const { return !overlaps_[id].empty() || group_[id] >= 0; }

  std::optional<std::string> insert(const Use& use) {
    auto at = alone_.lower_bound(use.bottom);
    if (at != alone_.begin()) --at;
    for (; at != alone_.end() && at->first < use.top; ++at)
      if (auto fault = collision(*at->second, use)) return fault;
    for (const Use* other : sharing_)
      if (auto fault = collision(*other, use)) return fault;
    if (may_share(use.id))
      sharing_.push_back(&use);
    else
      alone_[use.bottom] = &use;
    return {};
  }

  void remove(const Use& use) {
    if (may_share(use.id))
      std::erase(sharing_, &use);
    else
      alone_.erase(use.bottom);
  }

  // Of two uses that meet in time: nothing unless they share a byte and nothing lets them.
  std::optional<std::string> collision(const Use& a, const Use& b) const {
    const int64_t low = std::max(a.bottom, b.bottom), high = std::min(a.top, b.top);
    if (low >= high) return {};
    if (group_[a.id] >= 0 && group_[a.id] == group_[b.id]) return {};
    const Placement at = plan_.placements[a.id], bt = plan_.placements[b.id];
    for (const Overlap& o : overlaps_[a.id]) {
      if (o.above == a.id && o.below == b.id && at.offset - bt.offset >= o.distance) return {};
      if (o.above == b.id && o.below == a.id && bt.offset - at.offset >= o.distance) return {};
    }
    return fmt::format("{} and {} share bytes [{}, {}) of pool '{}' during times [{}, {})",
                       label(problem_, a.id), label(problem_, b.id), low, high, problem_.pools[at.pool].name,
                       std::max(a.begin, b.begin), std::min(a.end, b.end));
  }

  const Problem& problem_;
  const Plan& plan_;
  std::vector<std::vector<Overlap>> overlaps_;  // per buffer
  std::vector<int> group_;                      // per buffer; -1: none
  std::map<int64_t, const Use*> alone_;         // by bottom
  std::vector<const Use*> sharing_;
};

std::optional<std::string> torn_group(const Problem& p, const Plan& plan) {
  for (const std::vector<int>& group : p.same_offset)
    for (int id : group) {
      const Placement a = plan.placements[group.front()], b = plan.placements[id];
      if (a.pool != b.pool || a.offset != b.offset)
        return fmt::format("{} and {} do not lie at one offset", label(p, group.front()), label(p, id));
    }
  return {};
}

// Nothing if the buffer by itself lies where it may.
std::optional<std::string> misplaced(const Problem& p, const Plan& plan, int id) {
  const Buffer& b = p.buffers[id];
  auto [pool, offset] = plan.placements[id];
  if (std::find(b.pools.begin(), b.pools.end(), pool) == b.pools.end())
    return fmt::format("{} lies in pool {}, which it may not", label(p, id), pool);
  const Pool& home = p.pools[pool];
  int64_t end;
  if (offset < 0 || __builtin_add_overflow(offset, b.size, &end))
    return fmt::format("{} lies at impossible offset {}", label(p, id), offset);
  if (offset % b.align != 0 || offset % home.align != 0)
    return fmt::format("{} at offset {} is not aligned to {}, or to {} as pool '{}' asks", label(p, id),
                       offset, b.align, home.align, home.name);
  if (end > home.capacity.value_or(end))
    return fmt::format("{} ends at {}, above the capacity {} of pool '{}'", label(p, id), end, *home.capacity,
                       home.name);
  if (b.fixed_offset.value_or(offset) != offset)
    return fmt::format("{} lies at {}, but is fixed at {}", label(p, id), offset, *b.fixed_offset);
  return {};
}

std::optional<std::string> wrong_cost(const Problem& p, const Plan& plan) {
  const int64_t cost = total_cost(p, plan.placements);
  if (plan.cost != cost)
    return fmt::format("the plan claims a cost of {}, its choice of pools costs {}", plan.cost, cost);
  if (cost < plan.cost_bound)
    return fmt::format("the plan's cost {} beats its own lower bound {}", cost, plan.cost_bound);
  return {};
}

}  // namespace

void check(const Problem& problem) {
  for (const Pool& pool : problem.pools) {
    if (pool.align < 1 || pool.align > kMaxBytes)
      throw UserError(fmt::format("pool '{}': alignment {} is out of range", pool.name, pool.align));
    if (pool.capacity && *pool.capacity < 0)
      throw UserError(fmt::format("pool '{}': capacity {} is negative", pool.name, *pool.capacity));
  }
  int64_t total = 0, cost = 0;
  for (int id = 0; id < int(problem.buffers.size()); ++id) {
    check_buffer(problem, id);
    const Buffer& b = problem.buffers[id];
    if (!b.costs.empty() &&
        (__builtin_add_overflow(cost, *std::ranges::max_element(b.costs), &cost) || cost > kMaxCost))
      throw UserError(fmt::format("planning problem: up to {} the costs sum to more than {}: scale them down",
                                  label(problem, id), kMaxCost));
    int64_t step = 1;  // the coarsest grid that the buffer may have to keep to
    for (int pool : b.pools) step = std::max(step, problem.pools[pool].align);
    bool too_large = __builtin_mul_overflow(step, b.align, &step) ||
                     __builtin_add_overflow(total, b.size, &total) ||
                     __builtin_add_overflow(total, step, &total) ||
                     __builtin_add_overflow(total, b.fixed_offset.value_or(0), &total) || total > kMaxBytes;
    if (too_large)
      throw UserError(fmt::format("planning problem: up to {} the sizes sum to more than {} bytes",
                                  label(problem, id), kMaxBytes));
  }
  for (const Overlap& o : problem.overlaps) {
    int n = int(problem.buffers.size());
    if (o.above < 0 || o.below < 0 || o.above >= n || o.below >= n || o.above == o.below ||
        o.distance < -kMaxBytes || o.distance > kMaxBytes)
      throw UserError(
          fmt::format("planning problem: overlap of buffers {} and {} at distance {} is out of range",
                      o.above, o.below, o.distance));
  }
  std::vector<char> grouped(problem.buffers.size(), 0);
  for (const std::vector<int>& group : problem.same_offset)
    for (int id : group) {
      if (id < 0 || id >= int(problem.buffers.size()) || grouped[id])
        throw UserError(
            fmt::format("planning problem: buffer {} of a same-offset group does not exist or is in it "
                        "twice, or in another",
                        id));
      grouped[id] = 1;
    }
}

std::optional<std::string> verify(const Problem& p, const Plan& plan) {
  check(p);
  if (plan.placements.size() != p.buffers.size() || plan.pools.size() != p.pools.size())
    return fmt::format("the plan has {} placements and {} pools for {} buffers and {} pools",
                       plan.placements.size(), plan.pools.size(), p.buffers.size(), p.pools.size());
  std::vector<int64_t> tops(p.pools.size(), 0);
  for (int id = 0; id < int(p.buffers.size()); ++id) {
    if (auto fault = misplaced(p, plan, id)) return fault;
    int64_t& top = tops[plan.placements[id].pool];
    top = std::max(top, plan.placements[id].offset + p.buffers[id].size);
  }
  if (auto fault = torn_group(p, plan)) return fault;
  Sweep sweep(p, plan);
  for (int pool = 0; pool < int(p.pools.size()); ++pool)
    if (auto fault = sweep.first_collision(pool)) return fault;
  for (size_t i = 0; i < tops.size(); ++i) {
    if (plan.pools[i].size != tops[i])
      return fmt::format("pool '{}' claims size {}, its buffers end at {}", p.pools[i].name,
                         plan.pools[i].size, tops[i]);
    if (plan.pools[i].size < plan.pools[i].lower_bound)
      return fmt::format("pool '{}' of size {} beats its own lower bound {}", p.pools[i].name, tops[i],
                         plan.pools[i].lower_bound);
  }
  return wrong_cost(p, plan);
}

Plan claimed_plan(const Problem& problem, std::vector<Placement> placements) {
  Plan plan{std::move(placements), std::vector<PoolUse>(problem.pools.size())};
  for (size_t id = 0; id < problem.buffers.size(); ++id) {
    const auto [pool, offset] = plan.placements[id];
    int64_t top;
    if (pool < 0 || static_cast<size_t>(pool) >= plan.pools.size()) continue;
    if (__builtin_add_overflow(offset, problem.buffers[id].size, &top)) continue;
    plan.pools[pool].size = std::max(plan.pools[pool].size, top);
  }
  plan.cost = total_cost(problem, plan.placements);
  return plan;
}

}  // namespace arenac
