#include "codegen/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "frontend/error.h"
#include "planner/verify.h"

namespace arenac {
namespace {

using Fault = std::optional<std::string>;

// Names and ids that the rest refers to.
// First, because all other checks look pools and buffers up by these.
Fault check_names(const MemoryMap& map) {
  std::unordered_set<std::string_view> pools;
  for (const MapPool& pool : map.pools) {
    if (!pools.insert(pool.name).second) return fmt::format("pool '{}' is listed twice", pool.name);
  }
  std::unordered_set<int64_t> ids;
  for (const MapBuffer& buffer : map.buffers) {
    if (!ids.insert(buffer.id).second) {
      return fmt::format("buffer '{}': id {} is taken", buffer.name, buffer.id);
    }
    if (!pools.contains(buffer.pool)) {
      return fmt::format("buffer '{}' lies in pool '{}', which the map does not list", buffer.name,
                         buffer.pool);
    }
  }
  for (const MapOverlap& overlap : map.overlaps) {
    for (int64_t id : {overlap.above, overlap.below}) {
      if (!ids.contains(id))
        return fmt::format("overlap refers to buffer {}, which the map does not list", id);
    }
  }
  return {};
}

// Lives, readers and writers are of the steps that the map lists; a map without steps (a planning problem)
// has lives alone.
Fault check_times(const MemoryMap& map) {
  for (size_t i = 0; i < map.steps.size(); ++i) {
    if (map.steps[i].time != static_cast<int64_t>(i)) {
      return fmt::format("step {} ('{}') has time {}", i, map.steps[i].node, map.steps[i].time);
    }
  }
  for (const MapBuffer& buffer : map.buffers) {
    const bool inside = map.steps.empty() || buffer.end <= static_cast<int64_t>(map.steps.size());
    std::vector<int64_t> users = buffer.readers;
    users.insert(users.end(), buffer.writers.begin(), buffer.writers.end());
    if (buffer.writer) users.push_back(*buffer.writer);
    for (int64_t step : users)
      if (step < buffer.begin || step >= buffer.end)
        return fmt::format("buffer '{}' lives [{}, {}), but step {} uses it", buffer.name, buffer.begin,
                           buffer.end, step);
    // Lives are half-open: a buffer of the last step ends at the number of steps.
    if (buffer.begin < buffer.end && inside) continue;
    return fmt::format("buffer '{}' lives [{}, {}), which is {}", buffer.name, buffer.begin, buffer.end,
                       inside ? "empty" : fmt::format("beyond the last of {} steps", map.steps.size()));
  }
  return {};
}

// Groups are in order and apart; rings keep no more rows than there are; a bound of all orders is not above
// the peak of one.
Fault check_groups(const MemoryMap& map) {
  int64_t free = 0;  // the first step that no group has taken
  for (size_t g = 0; g < map.groups.size(); ++g) {
    const auto& [begin, end] = map.groups[g];
    if (begin < free || begin >= end || end > static_cast<int64_t>(map.steps.size()))
      return fmt::format(
          "group {} is [{}, {}), which is empty, beyond the last of {} steps or not apart from the others",
          g + 1, begin, end, map.steps.size());
    free = end;
  }
  for (const MapBuffer& buffer : map.buffers) {
    if (buffer.rows && buffer.rows->kept > buffer.rows->total)
      return fmt::format("buffer '{}' keeps {} of {} rows", buffer.name, buffer.rows->kept,
                         buffer.rows->total);
  }
  if (!map.order) return {};
  const auto& [peak, file, found, bound, proven] = *map.order;
  // The bound is one of all orders, so it is no more than the best that was found.
  const int64_t least = found > 0 ? std::min(peak, found) : peak;
  if (bound > least) return fmt::format("order.lower_bound is {}, above the peak of {}", bound, least);
  return {};
}

template <typename Part, typename Value>
Fault check_total(std::string_view name, int64_t total, const std::vector<Part>& parts, Value value) {
  int64_t sum = 0;
  for (const Part& part : parts) {
    if (__builtin_add_overflow(sum, value(part), &sum)) return fmt::format("totals.{} leaves 64 bits", name);
  }
  if (sum == total) return {};
  return fmt::format("totals.{} is {}, the parts add up to {}", name, total, sum);
}

// Sums of 53-bit numbers: checked for overflow all the same, for a map may have been built by hand.
Fault check_totals(const MemoryMap& map) {
  if (auto fault = check_total("arena", map.totals.arena, map.pools, [](auto& pool) { return pool.size; })) {
    return fault;
  }
  if (auto fault =
          check_total("weights", map.totals.weights, map.constants, [](auto& c) { return c.size; })) {
    return fault;
  }
  if (auto fault =
          check_total("cycles", map.totals.cycles, map.steps, [](auto& step) { return step.cycles; })) {
    return fault;
  }
  return check_total("macs", map.totals.macs, map.steps, [](auto& step) { return step.macs; });
}

// The same question in the planner's terms, for the planner's judge: two buffers that collide are found by
// the code that finds them after planning, and nothing is proven twice. Offsets need no alignment of their
// own here, the map does not know it.
Fault check_plan(const MemoryMap& map) {
  Problem problem;
  Plan plan;
  std::unordered_map<std::string_view, int> pool_index;
  for (const MapPool& pool : map.pools) {
    pool_index.emplace(pool.name, static_cast<int>(problem.pools.size()));
    problem.pools.push_back({.name = pool.name, .capacity = pool.capacity, .align = pool.align});
    plan.pools.push_back({.size = pool.size, .lower_bound = pool.lower_bound});
  }
  std::unordered_map<int64_t, int> buffer_index;
  for (const MapBuffer& buffer : map.buffers) {
    const int pool = pool_index.at(buffer.pool);
    buffer_index.emplace(buffer.id, static_cast<int>(problem.buffers.size()));
    problem.buffers.push_back({.name = buffer.name,
                               .size = buffer.size,
                               .begin = buffer.begin,
                               .end = buffer.end,
                               .pools = {pool}});
    plan.placements.push_back({.pool = pool, .offset = buffer.offset});
  }
  for (const MapOverlap& overlap : map.overlaps) {
    problem.overlaps.push_back({.above = buffer_index.at(overlap.above),
                                .below = buffer_index.at(overlap.below),
                                .distance = overlap.distance});
  }
  try {
    return verify(problem, plan);
  } catch (const UserError& unreasonable) {  // sizes that no planner would accept
    return unreasonable.what();
  }
}

}  // namespace

// In this order, for each check takes what the ones before have found for granted.
Fault verify(const MemoryMap& map) {
  for (auto check : {check_names, check_times, check_groups, check_totals, check_plan}) {
    if (auto fault = check(map)) return fault;
  }
  return {};
}

std::optional<size_t> group_at(const MemoryMap& map, int64_t time) {
  for (size_t g = 0; g < map.groups.size(); ++g)
    if (map.groups[g].begin <= time && time < map.groups[g].end) return g;
  return {};
}

// Constants that are copied at the start lie in two memories, so that they are in both regions.
//
//   use         memory   permission   life        what it is
//   constants   flash    read         program     also that of copies in RAM
//   inputs      caller   read         run         or a pool, read-write: bytes of an input are used again
//   outputs     caller   write        run
//   states      arena    read-write   program     not counted in what is internal
//   internal    arena    read-write   run         the rest of each pool
std::vector<MapRegion> regions_of(const MemoryMap& map) {
  std::vector<MapRegion> all;
  // A region is all of one use in one memory.
  const auto add = [&](std::string_view use, const std::string& memory, int64_t size,
                       std::string_view permission, std::string_view life) {
    for (MapRegion& region : all)
      if (region.use == use && region.memory == memory) {
        region.size += size;
        return;
      }
    all.push_back({use, memory, size, permission, life});
  };
  for (const MapConstant& constant : map.constants)
    for (const std::string* memory : {&constant.pool, &constant.copied_from})
      if (!memory->empty()) add("constants", *memory, constant.size, "read", "program");
  for (const MapIo& io : map.io)
    if (io.kind == IoKind::kInput)
      add("inputs", "caller", io.size, "read", "run");
    else
      add("outputs", "caller", io.size, "write", "run");
  std::map<std::string, int64_t> states;  // bytes of each pool
  for (const MapBuffer& buffer : map.buffers) {
    if (buffer.kind == BufferKind::kInput) add("inputs", buffer.pool, buffer.size, "read-write", "run");
    if (buffer.kind == BufferKind::kOutput) add("outputs", buffer.pool, buffer.size, "read-write", "run");
    if (buffer.kind != BufferKind::kState) continue;
    add("states", buffer.pool, buffer.size, "read-write", "program");
    states[buffer.pool] += buffer.size;
  }
  for (const MapPool& pool : map.pools)
    add("internal", pool.name, std::max<int64_t>(pool.size - states[pool.name], 0), "read-write", "run");
  return all;
}

// A sweep over births and deaths. A pair of buffers that share bytes takes these off while both live.
//
//   buffer a    [0, 3) 100      change  0: +100   3: -100
//   buffer b    [2, 5)  80              2:  +80   5:  -80
//   they share  [2, 3)  30              2:  -30   3:  +30      bytes  0: 100   2: 150   3: 80   5: 0
LiveBytes live_bytes(const MemoryMap& map, std::string_view pool) {
  std::map<int64_t, int64_t> change;  // time -> bytes that come or go
  const auto add = [&](int64_t begin, int64_t end, int64_t bytes) {
    if (begin >= end || bytes == 0) return;
    change[begin] += bytes;
    change[end] -= bytes;
  };
  std::unordered_map<int64_t, const MapBuffer*> by_id;
  for (const MapBuffer& buffer : map.buffers) {
    if (buffer.pool != pool) continue;
    by_id.emplace(buffer.id, &buffer);
    add(buffer.begin, buffer.end, buffer.size);
  }
  std::set<std::pair<int64_t, int64_t>> counted;
  for (const MapOverlap& overlap : map.overlaps) {
    if (!counted.insert(std::minmax(overlap.above, overlap.below)).second) continue;
    const auto a = by_id.find(overlap.above), b = by_id.find(overlap.below);
    if (a == by_id.end() || b == by_id.end() || a == b) continue;
    const MapBuffer &above = *a->second, &below = *b->second;
    // The bytes of both, where there are any: an entry is a permission, and need not be used.
    const int64_t shared =
        std::min(above.offset + above.size, below.offset + below.size) - std::max(above.offset, below.offset);
    add(std::max(above.begin, below.begin), std::min(above.end, below.end), -std::max<int64_t>(shared, 0));
  }
  LiveBytes live;
  int64_t bytes = 0;
  // Times at which as much comes as goes are no step of the function.
  for (const auto& [time, delta] : change) {
    if (delta == 0) continue;
    bytes += delta;
    live.time.push_back(time);
    live.bytes.push_back(bytes);
  }
  return live;
}

// Of several equal ones the first.
Peak peak_of(const MemoryMap& map, std::string_view pool) {
  const LiveBytes live = live_bytes(map, pool);
  if (live.bytes.empty()) return {};
  const auto most = std::max_element(live.bytes.begin(), live.bytes.end());
  Peak peak{.time = live.time[most - live.bytes.begin()], .bytes = *most, .buffers = {}};
  for (size_t i = 0; i < map.buffers.size(); ++i) {
    const MapBuffer& buffer = map.buffers[i];
    if (buffer.pool == pool && buffer.begin <= peak.time && peak.time < buffer.end) peak.buffers.push_back(i);
  }
  std::stable_sort(peak.buffers.begin(), peak.buffers.end(),
                   [&](size_t a, size_t b) { return map.buffers[a].size > map.buffers[b].size; });
  return peak;
}

}  // namespace arenac
