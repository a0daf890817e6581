// Independent pieces of work on several threads, with results as if they were done one after the other:
//
//   in_parallel(search.threads, 8, cutoff, draw, [&](Plan plan) { keep(plan); return !good_enough(); });
//
//   threads   1: draw(0) keep draw(1) keep ...       2: draw(0) draw(1) keep keep draw(2) ...
//
// What is kept, and when it ends, is the same for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "planner/cutoff.h"

namespace arenac {

// Calls take(do_one(k, cutoff)) for k from 0 on, until that is false or `count` are taken. take() is called
// by the calling thread, in order; do_one() by any, a few ahead, so that some results may never be taken. Its
// cutoff passes as soon as the given one has; who can cancel is asked by the calling thread only. The first
// exception of what would be taken is thrown.
template <class DoOne, class Take>
void in_parallel(int threads, int count, const Cutoff& cutoff, DoOne do_one, Take take) {
  using Result = decltype(do_one(0, cutoff));
  std::atomic<bool> is_over = false;
  const std::function<bool()> is_cancelled = [&] { return is_over.load(); };
  const Cutoff of_others(cutoff.seconds_left(), &is_cancelled);
  const std::function<bool()> is_cancelled_here = [&] {
    if (cutoff.has_passed()) is_over = true;
    return is_over.load();
  };
  const Cutoff here(cutoff.seconds_left(), &is_cancelled_here);
  for (int first = 0; first < count; first += threads) {
    const int end = std::min(count, first + threads);
    std::vector<std::optional<Result>> results(static_cast<size_t>(end - first));
    std::vector<std::exception_ptr> errors(results.size());
    const auto run = [&](size_t k, const Cutoff& until) {
      try {
        results[k].emplace(do_one(first + static_cast<int>(k), until));
      } catch (...) {
        errors[k] = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      for (size_t k = 1; k < results.size(); ++k) others.emplace_back([&, k] { run(k, of_others); });
      run(0, here);
    }
    for (size_t k = 0; k < results.size(); ++k) {
      if (errors[k]) std::rethrow_exception(errors[k]);
      if (!take(std::move(*results[k]))) return;
    }
  }
}

}  // namespace arenac
