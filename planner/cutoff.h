// When a search is to end although it might find more: at a time, or as soon as whoever asked for it says so.
//
//   const Cutoff cutoff(0.5, &is_cancelled);        half a second from now
//   while (!cutoff.has_passed()) look_further();
#pragma once

#include <chrono>
#include <functional>
#include <limits>

namespace arenac {

class Cutoff {
 public:
  using Clock = std::chrono::steady_clock;

  Cutoff() = default;  // never

  // More than a billion seconds are no limit. `is_cancelled` outlives this; null or empty: nobody says so.
  Cutoff(double seconds, const std::function<bool()>* is_cancelled) : is_cancelled_(is_cancelled) {
    if (seconds <= 1e9)
      time_ =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  bool has_time() const { return time_ != Clock::time_point::max(); }

  // Whether it has passed by now, or will have when something is done that takes as long as `ahead`.
  bool has_passed(Clock::duration ahead = {}) const {
    if (is_cancelled_ && *is_cancelled_ && (*is_cancelled_)()) return true;
    return has_time() && Clock::now() + ahead >= time_;
  }

  // Infinite where there is no time.
  double seconds_left() const {
    return has_time() ? std::chrono::duration<double>(time_ - Clock::now()).count()
                      : std::numeric_limits<double>::infinity();
  }

 private:
  Clock::time_point time_ = Clock::time_point::max();
  const std::function<bool()>* is_cancelled_ = nullptr;
};

}  // namespace arenac
