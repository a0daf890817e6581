// The line of progress on a terminal, and what is left of it when a signal ends the program.
#include "driver/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace arenac {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// A terminal of which the test is the other end.
class Terminal {
 public:
  Terminal() : screen_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (screen_ < 0 || grantpt(screen_) != 0 || unlockpt(screen_) != 0) return;
    stderr_ = open(ptsname(screen_), O_RDWR | O_NOCTTY);
  }
  ~Terminal() {
    close(stderr_);
    close(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool is_open() const { return stderr_ >= 0; }

  // In a process that ends.
  void become_standard_error() const {
    dup2(stderr_, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
  }

  // What was written to it so far.
  std::string text() const {
    std::array<char, 4096> bytes = {};
    fcntl(screen_, F_SETFL, O_NONBLOCK);
    std::string all;
    for (ssize_t n = 0; (n = ::read(screen_, bytes.data(), bytes.size())) > 0;) all.append(bytes.data(), n);
    return all;
  }

 private:
  int screen_, stderr_ = -1;
};

class Signals : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { ASSERT_TRUE(terminal_.is_open()); }

  // What is left of the line once the signal has ended the program.
  void expect_erased(const std::string& shown) const {
    const std::string text = terminal_.text();
    EXPECT_THAT(text, HasSubstr(shown));
    EXPECT_THAT(text, EndsWith("\r\x1b[K"));
  }

  const Terminal terminal_;
};
INSTANTIATE_TEST_SUITE_P(ThatEnd, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(Signals, EraseTheLine) {
  EXPECT_EXIT(
      {
        terminal_.become_standard_error();
        ProgressLine line(ProgressLine::Shown::kOnTerminal);
        line.stage("schedule");
        raise(GetParam());
      },
      testing::KilledBySignal(GetParam()), "");
  expect_erased("arenac: schedule");
}

// One that waits for a child process takes them while it waits; the line has them again then.
TEST_P(Signals, EraseTheLineAfterOthersHadThem) {
  EXPECT_EXIT(
      {
        terminal_.become_standard_error();
        ProgressLine line(ProgressLine::Shown::kOnTerminal);
        {
          const SignalHandlers others([](int) {});
          raise(GetParam());
        }
        line.stage("still here");
        raise(GetParam());
      },
      testing::KilledBySignal(GetParam()), "");
  expect_erased("arenac: still here");
}

TEST_P(Signals, ThatAreIgnoredStayIgnored) {
  EXPECT_EXIT(
      {
        terminal_.become_standard_error();
        signal(GetParam(), SIG_IGN);
        {
          ProgressLine line(ProgressLine::Shown::kOnTerminal);
          raise(GetParam());
        }
        std::_Exit(3);
      },
      testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace arenac
