// planner_bench: every planner on every planning problem, so that ratios come from one run.
//
//   planner_bench --planner portfolio --planner tflite --problem minimalloc --problem uniform --buffers 1000
//
// Problems are the CSV files beside the project and the families of planning_problems.h in each number of
// buffers. Each cell is a process of its own: its plan is verified, its memory counted, and it ends at the
// time limit. A cell reads "makespan/load seconds"; * marks a proof of optimality. With --edit, one buffer in
// a hundred becomes larger by a tenth, and the default plans the problem anew: from nothing, and from the
// plan before.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "planner/bounds.h"
#include "planner/csv.h"
#include "planner/planners.h"
#include "planner/random.h"
#include "planner/timeline.h"
#include "tests/bench/planning_problems.h"

namespace arenac {
namespace {

struct BenchProblem {
  std::string name;
  std::function<Problem()> make;
};

struct Options {
  std::vector<std::string> planners, problems;  // parts of names; none: all
  std::vector<int> buffers = {1000, 10'000};
  double seconds = 10;
  uint64_t seed = 1;
  double effort = 1;
  bool edit = false;

  Search search() const { return {.effort = effort, .seed = seed}; }
};

struct Cell {
  int64_t makespan = 0, lower_bound = 0;  // bytes
  double seconds = 0;
};

bool chosen(std::string_view name, const std::vector<std::string>& parts) {
  return parts.empty() || std::any_of(parts.begin(), parts.end(),
                                      [&](const std::string& part) { return name.find(part) != name.npos; });
}

std::vector<BenchProblem> problems(const Options& options) {
  std::vector<BenchProblem> result;
  const std::filesystem::path folder = ARENAC_SOURCE_DIR "/../shared/planning";
  if (std::filesystem::exists(folder)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
      result.push_back({file.stem(), [file] {
                          std::ifstream in(file);
                          return problem_from_csv({std::istreambuf_iterator<char>(in), {}}, file);
                        }});
  } else {
    fmt::print("planner_bench: {} is absent, families only\n", folder.string());
  }
  for (int buffers : options.buffers)
    for (const ProblemFamily& family : kProblemFamilies)
      result.push_back({fmt::format("{}_{}", family.name, buffers),
                        [&family, buffers, seed = options.seed] { return family.make(buffers, seed); }});
  std::erase_if(result, [&](const BenchProblem& p) { return !chosen(p.name, options.problems); });
  return result;
}

// In the child process: one plan, told through the pipe.
[[noreturn]] void measure(const Problem& problem, std::string_view planner, const Search& search, int pipe) {
  int status = 1;
  try {
    const auto start = std::chrono::steady_clock::now();
    const Plan result = plan(problem, planner, search);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const Cell cell{result.pools[0].size, result.pools[0].lower_bound, seconds.count()};
    status = write(pipe, &cell, sizeof cell) == ssize_t(sizeof cell) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", planner, error.what());
  }
  _exit(status);
}

struct Loaded {
  Problem problem;
  int64_t load = arenac::load(problem, all_buffers(problem));
};

// The words of one cell; `limit` in seconds.
std::string run(const Loaded& loaded, std::string_view planner, const Search& search, double limit) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::strerror(errno));
  if (child == 0) measure(loaded.problem, planner, search, ends[1]);
  close(ends[1]);
  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  rusage usage = {};
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (std::chrono::steady_clock::now() - start > std::chrono::duration<double>(limit)) kill(child, SIGKILL);
  }
  Cell cell;
  const bool told = read(ends[0], &cell, sizeof cell) == ssize_t(sizeof cell);
  close(ends[0]);
  if (!told) return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "time limit" : "failed";
  const double ratio = double(cell.makespan) / double(std::max<int64_t>(loaded.load, 1));
  return fmt::format("{:.4f}{} {:.3f}s {}M", ratio, cell.makespan == cell.lower_bound ? "*" : " ",
                     cell.seconds, usage.ru_maxrss / 1024);
}

void bench_edit(Problem problem, const Options& options) {
  Search search = options.search();
  const Plan before = plan(problem, kDefaultPlanner, search);
  Random random(options.seed);
  for (size_t edits = 1 + problem.buffers.size() / 100; edits > 0; --edits) {
    Buffer& b = problem.buffers[random.below(problem.buffers.size())];
    b.size += b.size / 10;
  }
  const Loaded loaded{std::move(problem)};
  fmt::print("  {:20} {}\n", "from nothing", run(loaded, kDefaultPlanner, search, options.seconds));
  search.warm_start = {before.placements.begin(), before.placements.end()};
  fmt::print("  {:20} {}\n", "warm start", run(loaded, kDefaultPlanner, search, options.seconds));
}

void bench(const Options& options) {
  for (const BenchProblem& one : problems(options)) {
    const Loaded loaded{one.make()};
    fmt::print("{}: {} buffers, load {}\n", one.name, loaded.problem.buffers.size(), loaded.load);
    std::fflush(stdout);
    if (options.edit) {
      bench_edit(loaded.problem, options);
      continue;
    }
    for (const Planner& planner : kPlanners)
      if (chosen(planner.name, options.planners)) {
        fmt::print("  {:20} {}\n", planner.name,
                   run(loaded, planner.name, options.search(), options.seconds));
        std::fflush(stdout);
      }
  }
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  arenac::Options options;
  CLI::App app("Planners on planning problems: makespan over load, seconds, megabytes; * proven optimal.");
  app.add_option("--planner", options.planners, "only those whose names contain this; repeatable");
  app.add_option("--problem", options.problems, "only those whose names contain this; repeatable");
  app.add_option("--buffers", options.buffers, "sizes of the families' problems")->capture_default_str();
  app.add_option("--seconds", options.seconds, "time limit of a cell")->capture_default_str();
  app.add_option("--seed", options.seed, "of problems and searches")->capture_default_str();
  app.add_option("--effort", options.effort, "of searches")->capture_default_str();
  app.add_flag("--edit", options.edit, "plan again after an edit, from nothing and from the plan before");
  CLI11_PARSE(app, argc, argv);
  arenac::bench(options);
}
