#include "driver/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "frontend/error.h"

namespace arenac {
namespace {

// A reader that has seen enough (head) is no error: the program ends as any in a pipe does.
[[noreturn]] void lose_standard_output(int error) {
  if (error == EPIPE) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  throw UserError(fmt::format("standard output: cannot be written: {}", std::strerror(error)), Exit::kUsage);
}

}  // namespace

// open() takes the lowest free descriptor, so that these are opened in turn.
void open_standard_streams() {
  constexpr const char* kFiles[] = {"/dev/null", "/", "/dev/null"};  // a folder cannot be written
  constexpr int kModes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && open(kFiles[fd], kModes[fd]) != fd)
      throw UserError(fmt::format("{}: cannot be opened", kFiles[fd]), Exit::kUsage);
  signal(SIGPIPE, SIG_IGN);
}

void finish_standard_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) lose_standard_output(errno);
}

void fail(const std::system_error& error) {
  if (std::ferror(stdout)) lose_standard_output(error.code().value());
  throw UserError(error.what(), Exit::kUsage);
}

}  // namespace arenac
