// What is going on, on one line of a terminal behind standard error, and nothing anywhere else.
//
//   ProgressLine line(ProgressLine::Shown::kOnTerminal);
//   line.stage("schedule");                     // "arenac: schedule, 3.2 s"
//   line.best(22528);                           // "arenac: schedule, 3.4 s, best 22,528 bytes"
//   { const auto pause = line.paused(); fmt::print(stderr, "note: ..."); }
//
// The line is drawn anew several times a second, dim unless NO_COLOR is set, and erased before messages, at
// the end and when a signal ends the program. Other threads than the one that draws may call everything.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "driver/signals.h"

namespace arenac {

class ProgressLine {
 public:
  enum class Shown { kNever, kOnTerminal };

  explicit ProgressLine(Shown shown);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void stage(std::string_view name);  // which begins, nothing found yet
  void best(int64_t bytes);           // the line shows the least of the stage

  // Erases the line, which stays away while the result lives.
  [[nodiscard]] std::unique_lock<std::mutex> paused();

 private:
  void draw();
  void draw_again_and_again();

  const bool shown_;
  std::optional<SignalHandlers> handlers_;  // where it is shown
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // of everything below and of the line
  std::condition_variable ends_;
  bool ended_ = false;
  std::string stage_;
  std::optional<int64_t> best_;
  std::thread thread_;
};

}  // namespace arenac
