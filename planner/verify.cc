#include "planner/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontend/error.h"

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
  require(!b.fixed_offset || (*b.fixed_offset >= 0 && *b.fixed_offset <= kMaxBytes),
          fmt::format("fixed offset {} is out of range", b.fixed_offset.value_or(0)));
}

// Bytes [low, high) from the buffer's offset that are in use at the times [begin, end).
struct Use {
  int64_t begin, end, low, high;
};

std::vector<Use> uses(const Buffer& b) {
  std::vector<Use> result;
  int64_t from = b.begin;
  for (const Gap& gap : b.gaps) {
    result.push_back({from, gap.begin, 0, b.size});
    result.push_back({gap.begin, gap.end, gap.low, gap.high});
    from = gap.end;
  }
  result.push_back({from, b.end, 0, b.size});
  return result;
}

// Nothing unless the two, in one pool, share a byte at one time and no overlap lets them. Ends do not
// overflow: the caller has checked them.
std::optional<std::string> collision(const Problem& p, const Plan& plan, int i, int j) {
  const Buffer &a = p.buffers[i], &b = p.buffers[j];
  int64_t at = plan.placements[i].offset, bt = plan.placements[j].offset;
  if (std::max(at, bt) >= std::min(at + a.size, bt + b.size)) return {};
  for (const Overlap& o : p.overlaps) {
    if (o.above == i && o.below == j && at - bt >= o.distance) return {};
    if (o.above == j && o.below == i && bt - at >= o.distance) return {};
  }
  for (const std::vector<int>& group : p.same_offset)
    if (std::count(group.begin(), group.end(), i) && std::count(group.begin(), group.end(), j)) return {};
  for (const Use& u : uses(a))
    for (const Use& v : uses(b)) {
      int64_t low = std::max(at + u.low, bt + v.low), high = std::min(at + u.high, bt + v.high);
      int64_t begin = std::max(u.begin, v.begin), end = std::min(u.end, v.end);
      if (low < high && begin < end)
        return fmt::format("{} and {} share bytes [{}, {}) of pool '{}' during times [{}, {})", label(p, i),
                           label(p, j), low, high, p.pools[plan.placements[i].pool].name, begin, end);
    }
  return {};
}

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

}  // namespace

void check(const Problem& problem) {
  for (const Pool& pool : problem.pools) {
    if (pool.align < 1 || pool.align > kMaxBytes)
      throw UserError(fmt::format("pool '{}': alignment {} is out of range", pool.name, pool.align));
    if (pool.capacity && *pool.capacity < 0)
      throw UserError(fmt::format("pool '{}': capacity {} is negative", pool.name, *pool.capacity));
  }
  int64_t total = 0;
  for (int id = 0; id < int(problem.buffers.size()); ++id) {
    check_buffer(problem, id);
    const Buffer& b = problem.buffers[id];
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
  std::vector<int> by_begin(p.buffers.size());
  std::iota(by_begin.begin(), by_begin.end(), 0);
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [&](int i, int j) { return p.buffers[i].begin < p.buffers[j].begin; });
  std::vector<std::vector<int>> live(p.pools.size());  // per pool, at the time the sweep has reached
  for (int id : by_begin) {
    std::vector<int>& here = live[plan.placements[id].pool];
    std::erase_if(here, [&](int other) { return p.buffers[other].end <= p.buffers[id].begin; });
    for (int other : here)
      if (auto fault = collision(p, plan, other, id)) return fault;
    here.push_back(id);
  }
  for (size_t i = 0; i < tops.size(); ++i) {
    if (plan.pools[i].size != tops[i])
      return fmt::format("pool '{}' claims size {}, its buffers end at {}", p.pools[i].name,
                         plan.pools[i].size, tops[i]);
    if (plan.pools[i].size < plan.pools[i].lower_bound)
      return fmt::format("pool '{}' of size {} beats its own lower bound {}", p.pools[i].name, tops[i],
                         plan.pools[i].lower_bound);
  }
  return {};
}

}  // namespace arenac
