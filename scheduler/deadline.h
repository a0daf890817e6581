// When a search stops with the best that it has found. Searches are bounded by counts first, so that results
// are the same on every machine; a deadline only ends them earlier.
#pragma once

#include <chrono>

namespace arenac {

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
