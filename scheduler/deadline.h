// When a search stops with the best that it has found. Searches are bounded by counts first, so that results
// are the same on every machine; a deadline only ends them earlier.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <set>
#include <string_view>

namespace arenac {

// A search that a count ended before it was done: what is found may be larger for it.
//
//   {"groups of layers", 60'000'000, "slab"}
struct Limit {
  std::string_view search;
  int64_t count;
  std::string_view unit;  // one of it

  auto operator<=>(const Limit&) const = default;
};
using LimitsHit = std::set<Limit>;

using Deadline = std::chrono::steady_clock::time_point;

inline constexpr Deadline kNoDeadline = Deadline::max();

// From now on.
inline Deadline deadline_in(double seconds) {
  if (!(seconds < 1e6)) return kNoDeadline;
  return Deadline::clock::now() +
         std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds));
}

inline bool has_passed(Deadline deadline) {
  return deadline != kNoDeadline && Deadline::clock::now() >= deadline;
}

}  // namespace arenac
