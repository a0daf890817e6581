#include "driver/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "codegen/report_words.h"
#include "driver/certificates.h"
#include "driver/files.h"
#include "driver/progress.h"
#include "driver/standard_streams.h"
#include "frontend/error.h"
#include "planner/bounds.h"
#include "planner/certificate.h"
#include "planner/csv.h"
#include "planner/moves.h"
#include "planner/timeline.h"
#include "planner/verify.h"
#include "planner/verify_moves.h"

namespace arenac {
namespace {

// Pools of the command line come first; the file may name others.
Problem read_problem(const PlanOptions& options) {
  if (options.problem != "-")
    return problem_from_csv(read_file(options.problem), options.problem, options.pools);
  return problem_from_csv({std::istreambuf_iterator<char>(std::cin), {}}, "standard input", options.pools);
}

// What a plan comes to, over all pools: a proof of the sum is one of each.
struct Summary {
  std::string_view planner;
  size_t buffers = 0, pools = 0;
  int64_t load = 0, makespan = 0, lower_bound = 0;  // bytes, of all pools together
  std::vector<PeakLoad> peaks;                      // per pool
  double seconds = 0;
  std::string_view stopped;  // why the search did
  // Of pools; nothing where buffers have none.
  struct Cost {
    int64_t cost = 0, bound = 0;
    bool is_optimal() const { return cost == bound; }
  };
  std::optional<Cost> cost;

  bool is_optimal() const { return makespan == lower_bound; }
  bool is_proven() const { return is_optimal() && (!cost || cost->is_optimal()); }
  double ratio() const { return load > 0 ? double(makespan) / double(load) : 1; }
};

// The load of a pool is that of the buffers that the plan has put there.
Summary summary_of(const Problem& problem, const Plan& plan) {
  Summary s;
  s.buffers = problem.buffers.size();
  s.pools = plan.pools.size();
  for (const PoolUse& use : plan.pools) {
    s.makespan += use.size;
    s.lower_bound += use.lower_bound;
  }
  for (const std::vector<int>& members : members_by_pool(problem, plan.placements)) {
    s.peaks.push_back(peak_load(problem, members));
    s.load += s.peaks.back().bytes;
  }
  if (has_costs(problem)) s.cost = {plan.cost, plan.cost_bound};
  return s;
}

// In this order: a proof ends a search before its time does.
std::string_view why_stopped(const Summary& s, const Search& search) {
  if (s.is_proven()) return "optimal";
  if (search.goal == Goal::kFits) return "fits";
  return s.seconds >= search.seconds ? "time" : "effort";
}

struct Result {
  Plan plan;
  Summary summary;
};

// Time is of the planner alone, not of files.
Result timed_plan(const Problem& problem, std::string_view planner, const Search& search) {
  const auto begin = std::chrono::steady_clock::now();
  Result result{plan(problem, planner, search), {}};
  result.summary = summary_of(problem, result.plan);
  result.summary.planner = planner;
  result.summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.summary.stopped = why_stopped(result.summary, search);
  return result;
}

std::string cost_words(const Summary::Cost& cost) {
  if (cost.is_optimal()) return fmt::format("cost {}, no plan costs less (proved); ", cost.cost);
  return fmt::format("cost {}, every plan at least {}; ", cost.cost, cost.bound);
}

// One line, for scripts that grep.
std::string to_text(const Summary& s) {
  return fmt::format("{} buffers: {}makespan {}, {:.4f} of the load {}; {}; {}, {:.3f} s\n", s.buffers,
                     s.cost ? cost_words(*s.cost) : "", s.makespan, s.ratio(), s.load,
                     placement_words(s.makespan, s.lower_bound, s.pools), s.planner, s.seconds);
}

std::string to_json(const Problem& problem, const Result& result) {
  const Summary& s = result.summary;
  nlohmann::ordered_json pools = nlohmann::ordered_json::array();
  for (size_t i = 0; i < problem.pools.size(); ++i) {
    pools.push_back({{"name", problem.pools[i].name},
                     {"size", result.plan.pools[i].size},
                     {"lower_bound", result.plan.pools[i].lower_bound}});
    const PeakLoad& peak = s.peaks[i];
    if (peak.bytes > 0) pools.back().update({{"load", peak.bytes}, {"peak", {peak.begin, peak.end}}});
  }
  nlohmann::ordered_json json = {{"buffers", s.buffers},
                                 {"load", s.load},
                                 {"makespan", s.makespan},
                                 {"lower_bound", s.lower_bound},
                                 {"proof", s.is_optimal() ? "optimal" : "gap"},
                                 {"planner", s.planner},
                                 {"seconds", s.seconds},
                                 {"stopped", s.stopped},
                                 {"pools", pools}};
  if (s.cost)
    json.update({{"cost", s.cost->cost},
                 {"cost_bound", s.cost->bound},
                 {"cost_proof", s.cost->is_optimal() ? "optimal" : "gap"}});
  return json.dump() + "\n";
}

// What is known of a problem whose capacities no plan keeps to, as far as was found.
std::string to_json(const PassesCapacity& passes) {
  nlohmann::ordered_json json = {
      {"stopped", passes.status == Exit::kDoesNotFit ? "impossible" : "not found"}};
  for (const PoolUse& use : passes.best.pools)
    json["pools"].push_back({{"size", use.size}, {"lower_bound", use.lower_bound}});
  json["message"] = passes.what();
  return json.dump() + "\n";
}

// Where nothing fits, JSON has what is known all the same, and the exit status says the rest.
Result timed_plan_or_json(const Problem& problem, const PlanOptions& options, const Search& search) {
  try {
    return timed_plan(problem, options.planner, search);
  } catch (const PassesCapacity& passes) {
    if (options.format == PlanOptions::Format::kJson) fmt::print("{}", to_json(passes));
    throw;
  }
}

// One line per row of the table; a row that refuses the problem says why.
void print_every_planner(const Problem& problem, const Search& search) {
  fmt::print("{:<26} {:>16} {:>9} {:>16} {:>9}\n", "planner", "makespan", "of load", "above the bound",
             "seconds");
  for (const Planner& row : kPlanners) {
    try {
      const Summary s = timed_plan(problem, row.name, search).summary;
      fmt::print("{:<26} {:>16} {:>9.4f} {:>16} {:>9.3f}\n", s.planner, s.makespan, s.ratio(),
                 s.makespan - s.lower_bound, s.seconds);
    } catch (const UserError& error) {
      fmt::print("{:<26} {}\n", row.name, error.what());
    }
    finish_standard_output();
  }
  fmt::print("0 above the bound: {}\n", placement_words(0, 0, problem.pools.size()));
}

// Writes why each pool's bound holds, as far as that was found, and says where it was not.
void write_certificates(const Problem& problem, const Plan& plan, const std::string& file) {
  std::vector<Certificate> found;
  const auto members = members_by_pool(problem, plan.placements);
  for (size_t k = 0; k < plan.pools.size(); ++k) {
    const int64_t bound = plan.pools[k].lower_bound;
    // 0 needs no proof.
    if (bound == 0) continue;
    if (auto certificate = certify(problem, static_cast<int>(k), members[k], bound, {kCertificateWork}))
      found.push_back(std::move(*certificate));
    else
      fmt::print(stderr, "note: no certificate was found for the bound of pool '{}', {}\n",
                 problem.pools[k].name, bound);
  }
  write_text(file, to_json(problem, found));
}

// A certificate says something of the plan where all its buffers lie in the pool.
std::optional<std::string> fault_of(const Problem& problem, const Plan& plan, const Certificate& c) {
  for (const int id : c.buffers)
    if (plan.placements[id].pool != c.pool)
      return fmt::format("buffer '{}' does not lie in pool '{}'", problem.buffers[id].name,
                         problem.pools[c.pool].name);
  return check_certificate(problem, c);
}

struct MovesResult {
  MovesPlan plan;
  double seconds = 0;

  std::string_view proof() const { return plan.totals.slow_bytes == plan.slow_bound ? "optimal" : "gap"; }
};

std::string to_text(const Problem& problem, const MovesResult& result) {
  const MovesPlan& plan = result.plan;
  const std::string bound = result.proof() == "optimal"
                                ? "no plan uses fewer (proved)"
                                : fmt::format("every plan at least {}", plan.slow_bound);
  return fmt::format(
      "{} buffers: {} bytes used from '{}', {}; {} copies of {} bytes; '{}' {}, '{}' {}; {:.3f} s\n",
      problem.buffers.size(), plan.totals.slow_bytes, problem.pools[kSlowPool].name, bound,
      plan.totals.copies, plan.totals.moved_bytes, problem.pools[kFastPool].name, plan.pool_sizes[kFastPool],
      problem.pools[kSlowPool].name, plan.pool_sizes[kSlowPool], result.seconds);
}

std::string to_json(const Problem& problem, const MovesResult& result, std::string_view planner) {
  const MovesPlan& plan = result.plan;
  nlohmann::ordered_json pools = nlohmann::ordered_json::array();
  for (size_t k = 0; k < problem.pools.size(); ++k)
    pools.push_back({{"name", problem.pools[k].name}, {"size", plan.pool_sizes[k]}});
  const nlohmann::ordered_json json = {{"buffers", problem.buffers.size()},
                                       {"moves", plan.totals.copies},
                                       {"moved_bytes", plan.totals.moved_bytes},
                                       {"slow_bytes", plan.totals.slow_bytes},
                                       {"slow_bound", plan.slow_bound},
                                       {"proof", result.proof()},
                                       {"planner", planner},
                                       {"seconds", result.seconds},
                                       {"pools", pools}};
  return json.dump() + "\n";
}

// Moves are a problem of their own: two pools, copies between them, and bytes used from the slow one as what
// counts.
void run_plan_with_moves(const Problem& problem, const PlanOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  MovesResult result;
  try {
    result.plan = plan_moves(problem, *options.bandwidth, options.planner, options.search);
  } catch (const PassesCapacity& passes) {
    if (options.format == PlanOptions::Format::kJson) fmt::print("{}", to_json(passes));
    throw;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.solution.empty()) write_text(options.solution, to_csv(problem, result.plan.stays));
  if (options.solution != "-")
    fmt::print("{}", options.format == PlanOptions::Format::kJson ? to_json(problem, result, options.planner)
                                                                  : to_text(problem, result));
}

// What the solution claims to move and use is computed anew from its stays.
std::optional<std::string> verify_solution_with_moves(const Problem& problem, const PlanOptions& options) {
  check_for_moves(problem, *options.bandwidth);
  const MovesPlan plan =
      claimed_moves(problem, stays_from_csv(read_file(options.solution), options.solution, problem));
  if (auto fault = verify_moves(problem, *options.bandwidth, plan)) return fault;
  fmt::print("{}: {} bytes used from '{}'; {} copies of {} bytes\n", options.solution, plan.totals.slow_bytes,
             problem.pools[kSlowPool].name, plan.totals.copies, plan.totals.moved_bytes);
  return std::nullopt;
}

}  // namespace

// The summary gives way to the solution on standard output, which other programs read.
void run_plan(const PlanOptions& options) {
  const Problem problem = read_problem(options);
  if (options.bandwidth) return run_plan_with_moves(problem, options);
  Search search = options.search;
  if (!options.warm_start.empty())
    search.warm_start = warm_start_from_csv(read_file(options.warm_start), options.warm_start, problem);
  if (options.planner == kEveryPlanner) {
    if (!options.solution.empty() || !options.certificate.empty())
      throw UserError("--planner all compares planners and writes nothing: name one for -o and --certificate",
                      Exit::kUsage);
    return print_every_planner(problem, search);
  }
  ProgressLine line(options.verbosity == PlanOptions::Verbosity::kProgress ? ProgressLine::Shown::kOnTerminal
                                                                           : ProgressLine::Shown::kNever);
  line.stage("plan");
  search.report = [&](const PlanProgress& progress) { line.best(progress.makespan); };
  const Result result = timed_plan_or_json(problem, options, search);

  const auto pause = line.paused();
  if (!options.solution.empty()) write_text(options.solution, to_csv(problem, result.plan));
  if (!options.certificate.empty()) write_certificates(problem, result.plan, options.certificate);
  if (options.solution != "-")
    fmt::print("{}", options.format == PlanOptions::Format::kJson ? to_json(problem, result)
                                                                  : to_text(result.summary));
}

// First that no two buffers collide, then, of each certificate, that the bound holds for them.
std::optional<std::string> verify_solution(const PlanOptions& options) {
  const Problem problem = read_problem(options);
  if (options.bandwidth) return verify_solution_with_moves(problem, options);
  const Plan plan = plan_from_csv(read_file(options.solution), options.solution, problem);
  if (const auto fault = verify(problem, plan); fault || options.certificate.empty()) return fault;
  for (const Certificate& c :
       certificates_from_json(read_file(options.certificate), options.certificate, problem)) {
    if (const auto fault = fault_of(problem, plan, c))
      return fmt::format("{}: {}", options.certificate, *fault);
    const bool is_least = plan.pools[c.pool].size == c.bound;
    fmt::print("{}: {}{}\n", options.certificate, words(problem, c),
               is_least ? ": the solution is the smallest" : "");
  }
  return std::nullopt;
}

}  // namespace arenac
