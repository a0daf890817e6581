// `arenac plan` and `arenac verify PROBLEM.csv SOLUTION.csv`: the planner alone, on planning problems as
// files.
#pragma once

#include <string>
#include <vector>

#include "planner/planners.h"

namespace arenac {

inline constexpr std::string_view kEveryPlanner = "all";  // a table of what each row makes of the problem

struct PlanOptions {
  std::string problem, solution;  // CSV files; "-": standard input, output; no solution: none is written
  std::string planner = std::string(kDefaultPlanner);
  std::string warm_start;            // a CSV file; or empty
  std::string certificate;           // a JSON file, written by plan and checked by verify; or empty
  std::vector<Pool> pools;           // in order of preference
  std::optional<int64_t> bandwidth;  // bytes per step that move between two pools; else nothing moves
  Search search;
  enum class Format { kText, kJson } format = Format::kText;
  enum class Verbosity { kQuiet, kProgress } verbosity = Verbosity::kProgress;  // on a terminal
};

// Prints a summary, as text or JSON, on standard output. Throws UserError; nothing is written then but, as
// JSON, what is known of a problem that does not fit.
void run_plan(const PlanOptions& options);

// The first fault of the solution or of a certificate of its bounds, or nothing. Throws UserError for files
// that make no sense.
std::optional<std::string> verify_solution(const PlanOptions& options);

}  // namespace arenac
