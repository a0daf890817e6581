#include "driver/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "driver/files.h"
#include "driver/signals.h"
#include "frontend/error.h"

namespace arenac {
namespace {

constexpr size_t kShownOutput = 4000;

volatile sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

// In the child. A process group of its own lets the parent end all of it; the alarm survives exec.
[[noreturn]] void become(const std::vector<char*>& argv, const char* folder, int log, int report,
                         int seconds) {
  setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);
  alarm(static_cast<unsigned>(seconds));
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0 && dup2(null, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0 && chdir(folder) == 0)
    execvp(argv[0], argv.data());
  const int reason = errno;
  _exit(::write(report, &reason, sizeof reason) < 0 ? 1 : 0);
}

// The child's group is killed in any case: a compiler's own children, or a program that went into the
// background, end with it.
int wait_for(pid_t child) {
  const SignalHandlers handlers(note_interrupt);  // they end the wait, so that temporary files are removed
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    ARENAC_CHECK(errno == EINTR, "waitpid failed");
    if (interrupted) kill(-child, SIGKILL);
  }
  kill(-child, SIGKILL);  // whatever it left running
  if (interrupted) throw UserError("interrupted");
  return status;
}

}  // namespace

// The child writes into a file and not into a pipe, so that nobody has to read while it runs. A second pipe,
// closed by exec, tells a program that could not be started from one that failed.
Finished run_process(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     int seconds) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const TemporaryFolder scratch;
  const std::filesystem::path log_path = scratch.path() / "log";
  const int log = open(log_path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (log < 0) throw UserError(fmt::format("{}: cannot be written", log_path.string()));
  int report[2];  // closed when the program starts
  if (pipe2(report, O_CLOEXEC) != 0) throw UserError("no new pipe can be opened");
  const pid_t child = fork();
  if (child == 0) become(argv, folder.c_str(), log, report[1], seconds);
  close(log), close(report[1]);
  int reason = 0;
  const bool started = ::read(report[0], &reason, sizeof reason) <= 0;
  close(report[0]);
  if (child < 0) throw UserError("no new process can be started");
  const int status = wait_for(child);
  std::string output = read_file(log_path);
  if (output.size() > kShownOutput) output = "..." + output.substr(output.size() - kShownOutput);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    throw UserError(fmt::format("{}: not done after {} s, ended", arguments[0], seconds));
  if (!started) throw UserError(fmt::format("{}: cannot be started: {}", arguments[0], strerror(reason)));
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), std::move(output)};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace arenac
