#include "driver/progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "codegen/report_words.h"

namespace arenac {
namespace {

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr const char* kErase = "\r\x1b[K";

// Then the signal ends the program, as it would have.
void erase_and_end(int signal_number) {
  const ssize_t written = write(STDERR_FILENO, kErase, std::strlen(kErase));
  static_cast<void>(written);  // there is nobody to tell
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Where it is not one, a line that is drawn over itself would be a mess of control characters in a log.
bool is_terminal() { return isatty(STDERR_FILENO) != 0 && variable("TERM") != "dumb"; }

// Of standard error's terminal; a line of fewer never wraps.
size_t columns() {
  winsize window = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col : 80;
}

}  // namespace

// Without a terminal there is no thread and no handler: the calls below return at once.
ProgressLine::ProgressLine(Shown shown) : shown_(shown == Shown::kOnTerminal && is_terminal()) {
  if (!shown_) return;
  handlers_.emplace(erase_and_end);
  thread_ = std::thread([this] { draw_again_and_again(); });
}

ProgressLine::~ProgressLine() {
  if (!shown_) return;
  {
    const auto pause = paused();
    ended_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void ProgressLine::stage(std::string_view name) {
  if (!shown_) return;
  const std::scoped_lock lock(mutex_);
  stage_ = name;
  best_.reset();
  draw();
}

// Not drawn at once: searches find plans by the thousand, the thread draws ten times a second.
void ProgressLine::best(int64_t bytes) {
  if (!shown_) return;
  const std::scoped_lock lock(mutex_);
  best_ = std::min(bytes, best_.value_or(bytes));
}

// Whoever holds the lock has the terminal: the thread draws again when it is released.
std::unique_lock<std::mutex> ProgressLine::paused() {
  std::unique_lock lock(mutex_);
  if (shown_) std::fputs(kErase, stderr);
  return lock;
}

// Shorter than the terminal is wide: what wraps cannot be erased.
void ProgressLine::draw() {
  if (stage_.empty()) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  std::string words = fmt::format("arenac: {}, {:.1f} s", stage_, seconds);
  if (best_) words += fmt::format(", best {} bytes", grouped(*best_));
  words.resize(std::min(words.size(), columns() - 1));
  const bool plain = !variable("NO_COLOR").empty();
  const std::string line = plain ? words : fmt::format("\x1b[2m{}\x1b[0m", words);
  std::fputs((kErase + line).c_str(), stderr);  // a line that cannot be drawn changes nothing
}

void ProgressLine::draw_again_and_again() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, kBetweenDrawings, [&] { return ended_; })) draw();
}

}  // namespace arenac
