#include "driver/signals.h"

namespace arenac {

// nohup's SIGHUP, say, is ignored by whoever started us, and stays so.
SignalHandlers::SignalHandlers(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  for (size_t k = 0; k < kSignals.size(); ++k) {
    sigaction(kSignals[k], nullptr, &previous_[k]);
    if (previous_[k].sa_handler != SIG_IGN) sigaction(kSignals[k], &action, nullptr);
  }
}

SignalHandlers::~SignalHandlers() {
  for (size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &previous_[k], nullptr);
}

}  // namespace arenac
