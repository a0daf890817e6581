// What the signals that end a program do for a while: SIGINT, SIGTERM and SIGHUP.
//
//   { const SignalHandlers handlers(note_interrupt); wait(); }   // then as before
#pragma once

#include <signal.h>

#include <array>

namespace arenac {

// While it lives, `handler` takes them; a signal that is ignored stays so. One within another's life restores
// that one's handler.
class SignalHandlers {
 public:
  explicit SignalHandlers(void (*handler)(int));
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> previous_ = {};
};

}  // namespace arenac
