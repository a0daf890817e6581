#include "planner/rows/orders.h"

#include <fmt/format.h>

#include <numeric>

#include "frontend/error.h"

namespace arenac {

uint64_t duration(const Buffer& buffer) { return uint64_t(buffer.end) - uint64_t(buffer.begin); }

std::vector<int> conflicts(const Timeline& timeline) {
  std::vector<int> begun(timeline.slots + 1, 0), ended(timeline.slots + 1, 0);  // at the slot or before
  for (const Span& span : timeline.spans) {
    if (span.begin == span.end) continue;
    ++begun[span.begin];
    ++ended[span.end];
  }
  for (int slot = 1; slot <= timeline.slots; ++slot) {
    begun[slot] += begun[slot - 1];
    ended[slot] += ended[slot - 1];
  }
  std::vector<int> result;
  for (const Span& span : timeline.spans)
    result.push_back(span.begin == span.end ? 0 : begun[span.end - 1] - ended[span.begin] - 1);
  return result;
}

std::vector<int> order_by_size_and_conflicts(const Problem& problem) {
  const std::vector<int> met = conflicts(make_timeline(problem, all_buffers(problem)));
  return sorted_by(problem, [&](int id) { return std::tuple(-problem.buffers[id].size, -met[id], -id); });
}

Plan smaller(Plan a, Plan b) {
  auto total = [](const Plan& plan) {
    int64_t bytes = 0;
    for (const PoolUse& pool : plan.pools) bytes += pool.size;
    return bytes;
  };
  return total(b) < total(a) ? b : a;
}

int64_t common_alignment(const Problem& problem) {
  constexpr int64_t kMost = int64_t{1} << 20;
  int64_t result = problem.pools[0].align;
  for (const Buffer& b : problem.buffers) {
    result = std::max(result, b.align) > kMost ? kMost + 1 : std::lcm(result, b.align);
    if (result > kMost)
      throw UserError(
          fmt::format("this planner aligns all buffers alike and to {} bytes at most, less than "
                      "pool '{}' and buffer '{}' need",
                      kMost, problem.pools[0].name, b.name));
  }
  return result;
}

Problem without_sharing(const Problem& problem) {
  Problem result = problem;
  result.overlaps.clear();
  for (Buffer& b : result.buffers) b.gaps.clear();
  return result;
}

}  // namespace arenac
