#include "planner/verify_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/error.h"
#include "planner/verify.h"

namespace arenac {
namespace {

std::string stay_words(const Problem& p, const Stay& stay) {
  return fmt::format("stay [{}, {}) of buffer '{}' in pool '{}'", stay.begin, stay.end,
                     p.buffers[stay.buffer].name, p.pools[stay.pool].name);
}

bool holds_at(const Stay& stay, int64_t time) { return stay.ready <= time && time < stay.end; }

// Per buffer, its stays; of those that name a buffer.
std::vector<std::vector<Stay>> stays_by_buffer(const Problem& p, const std::vector<Stay>& stays) {
  std::vector<std::vector<Stay>> by_buffer(p.buffers.size());
  for (const Stay& stay : stays)
    if (stay.buffer >= 0 && size_t(stay.buffer) < by_buffer.size()) by_buffer[stay.buffer].push_back(stay);
  return by_buffer;
}

bool in_fast(const std::vector<Stay>& stays, int64_t time) {
  return std::ranges::any_of(
      stays, [&](const Stay& stay) { return stay.pool == kFastPool && holds_at(stay, time); });
}

// Sums saturate: what they are compared with is far below.
void add_bytes(int64_t& sum, int64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = INT64_MAX;
}

std::optional<std::string> wrong_times(const Problem& p, const Stay& stay) {
  if (stay.buffer < 0 || size_t(stay.buffer) >= p.buffers.size() || stay.pool < 0 ||
      size_t(stay.pool) >= p.pools.size())
    return fmt::format("a stay is of buffer {} in pool {}, which does not exist", stay.buffer, stay.pool);
  const Buffer& b = p.buffers[stay.buffer];
  if (std::ranges::count(b.pools, stay.pool) == 0)
    return fmt::format("{}: the buffer may not lie there", stay_words(p, stay));
  if (stay.begin < b.begin || stay.ready < stay.begin || stay.end <= stay.ready || stay.end > b.end)
    return fmt::format("{}, ready at {}: the times are not in order within the life [{}, {})",
                       stay_words(p, stay), stay.ready, b.begin, b.end);
  return {};
}

// Of a stay that is not born with its buffer.
std::optional<std::string> wrong_copy(const Problem& p, const Stay& stay, const std::vector<Stay>& stays) {
  const int64_t write = uses_of(p.buffers[stay.buffer]).front();
  if (stay.begin <= write)
    return fmt::format("{}: its copy begins before the write at time {} is done", stay_words(p, stay), write);
  if (stay.ready == stay.begin)
    return fmt::format("{}: it is neither the first stay nor copied", stay_words(p, stay));
  const bool has_source = std::ranges::any_of(stays, [&](const Stay& from) {
    return from.pool != stay.pool && from.ready <= stay.begin && stay.ready <= from.end;
  });
  if (!has_source)
    return fmt::format("{}: no stay in the other pool holds the contents while they are copied, at [{}, {})",
                       stay_words(p, stay), stay.begin, stay.ready);
  return {};
}

// The first stay is there from the beginning, the others are copied, and at every time one holds the
// contents.
std::optional<std::string> wrong_stays(const Problem& p, int id, std::vector<Stay> stays) {
  const Buffer& b = p.buffers[id];
  const auto is_born = [&](const Stay& stay) { return stay.begin == b.begin && stay.ready == b.begin; };
  if (const auto born = std::ranges::count_if(stays, is_born); born != 1)
    return fmt::format("buffer '{}': {} of its stays begin with its life and are ready then; one must",
                       b.name, born);
  for (const Stay& stay : stays)
    if (!is_born(stay))
      if (auto fault = wrong_copy(p, stay, stays)) return fault;
  std::ranges::sort(stays, {}, &Stay::ready);
  int64_t held = b.begin;  // until then
  for (const Stay& stay : stays)
    if (stay.ready <= held) held = std::max(held, stay.end);
  if (held < b.end)
    return fmt::format("buffer '{}': at time {} of its life [{}, {}) no stay holds its contents", b.name,
                       held, b.begin, b.end);
  return {};
}

std::optional<std::string> passed_bandwidth(const Problem& p, int64_t bandwidth,
                                            const std::vector<Stay>& stays) {
  std::map<int64_t, int64_t> change;  // of the bytes per step, from that time on
  for (const Stay& stay : stays) {
    if (stay.ready == stay.begin) continue;
    const int64_t steps = stay.ready - stay.begin, size = p.buffers[stay.buffer].size;
    const int64_t rate = size / steps + (size % steps != 0);
    change[stay.begin] += rate;
    change[stay.ready] -= rate;
  }
  int64_t moving = 0;
  for (const auto& [time, bytes] : change)
    if ((moving += bytes) > bandwidth)
      return fmt::format("at time {} copies move {} bytes per step, the bandwidth is {}", time, moving,
                         bandwidth);
  return {};
}

// As any plan of buffers of which each lies in one place.
std::optional<std::string> wrong_places(const Problem& p, const std::vector<Stay>& stays) {
  Problem apart{.pools = p.pools, .buffers = {}};
  std::vector<Placement> places;
  for (const Stay& stay : stays) {
    const Buffer& b = p.buffers[stay.buffer];
    apart.buffers.push_back({fmt::format("{} [{}, {})", b.name, stay.begin, stay.end), b.size, b.align,
                             stay.begin, stay.end, b.pools});
    places.push_back({stay.pool, stay.offset});
  }
  return verify(apart, claimed_plan(apart, std::move(places)));
}

std::optional<std::string> wrong_claims(const Problem& p, const MovesPlan& plan) {
  const MovesPlan is = claimed_moves(p, plan.stays);
  const auto differ = [](const char* what, int64_t claimed, int64_t is) {
    return fmt::format("the plan claims {} {}, its stays come to {}", claimed, what, is);
  };
  if (plan.totals.slow_bytes != is.totals.slow_bytes)
    return differ("bytes used from the slow pool", plan.totals.slow_bytes, is.totals.slow_bytes);
  if (plan.totals.moved_bytes != is.totals.moved_bytes)
    return differ("bytes moved", plan.totals.moved_bytes, is.totals.moved_bytes);
  if (plan.totals.copies != is.totals.copies) return differ("copies", plan.totals.copies, is.totals.copies);
  for (size_t k = 0; k < p.pools.size(); ++k)
    if (plan.pool_sizes.size() != p.pools.size() || plan.pool_sizes[k] != is.pool_sizes[k])
      return fmt::format("pool '{}' ends at {}, the plan claims something else", p.pools[k].name,
                         is.pool_sizes[k]);
  if (plan.totals.slow_bytes < plan.slow_bound)
    return fmt::format("{} bytes used from the slow pool beat the plan's own bound {}",
                       plan.totals.slow_bytes, plan.slow_bound);
  return {};
}

}  // namespace

void check_for_moves(const Problem& p, int64_t bandwidth) {
  if (p.pools.size() != 2)
    throw UserError(fmt::format("--moves needs two pools, the fast one first (--pool name=fast,size=64K "
                                "--pool name=slow); there {} {}",
                                p.pools.size() == 1 ? "is" : "are", p.pools.size()),
                    Exit::kUsage);
  if (bandwidth < 1)
    throw UserError(fmt::format("--moves {}: at least 1 byte per step is needed", bandwidth), Exit::kUsage);
  if (!p.same_offset.empty())
    throw UserError(fmt::format("buffer '{}' is in a group: --moves takes no groups; remove that column",
                                p.buffers.at(p.same_offset[0].at(0)).name));
  check(p);
  int64_t used = 0;
  for (const Buffer& b : p.buffers) {
    if (!b.costs.empty())
      throw UserError(
          fmt::format("buffer '{}' has costs: --moves counts bytes of uses and takes none; remove "
                      "that column, or leave out --moves",
                      b.name));
    if (b.fixed_offset)
      throw UserError(
          fmt::format("buffer '{}' has a fixed offset: --moves takes none; remove that column", b.name));
    if (b.begin < -kLatestMove || b.end > kLatestMove)
      throw UserError(fmt::format("buffer '{}' lives [{}, {}): --moves takes times up to {}", b.name, b.begin,
                                  b.end, kLatestMove));
    int64_t bytes;
    if (__builtin_mul_overflow(b.size, int64_t(uses_of(b).size()), &bytes) ||
        __builtin_add_overflow(used, bytes, &used) || used > kMostUsed)
      throw UserError(fmt::format("up to buffer '{}' uses sum to more than {} bytes: --moves takes no more",
                                  b.name, kMostUsed));
  }
}

std::optional<std::string> verify_moves(const Problem& p, int64_t bandwidth, const MovesPlan& plan) {
  check_for_moves(p, bandwidth);
  for (const Stay& stay : plan.stays)
    if (auto fault = wrong_times(p, stay)) return fault;
  const auto by_buffer = stays_by_buffer(p, plan.stays);
  for (int id = 0; id < int(by_buffer.size()); ++id)
    if (auto fault = wrong_stays(p, id, by_buffer[id])) return fault;
  if (auto fault = wrong_places(p, plan.stays)) return fault;
  if (auto fault = passed_bandwidth(p, bandwidth, plan.stays)) return fault;
  return wrong_claims(p, plan);
}

MovesPlan claimed_moves(const Problem& p, std::vector<Stay> stays) {
  MovesPlan plan{std::move(stays), std::vector<int64_t>(p.pools.size()), {}};
  for (const Stay& stay : plan.stays) {
    if (wrong_times(p, stay)) continue;
    const int64_t size = p.buffers[stay.buffer].size;
    int64_t top;
    if (!__builtin_add_overflow(stay.offset, size, &top))
      plan.pool_sizes[stay.pool] = std::max(plan.pool_sizes[stay.pool], top);
    if (stay.ready == stay.begin) continue;
    ++plan.totals.copies;
    add_bytes(plan.totals.moved_bytes, size);
  }
  const auto by_buffer = stays_by_buffer(p, plan.stays);
  for (size_t id = 0; id < by_buffer.size(); ++id)
    for (const int64_t time : uses_of(p.buffers[id]))
      if (!in_fast(by_buffer[id], time)) add_bytes(plan.totals.slow_bytes, p.buffers[id].size);
  return plan;
}

}  // namespace arenac
