// order_bench: the peak of every order on published networks, so that what the search gains can be read off.
//
//   order_bench --network nasnet --states 1000000
//
// Peaks in bytes; "best" is the search's, followed by the bound, whether that proves it, and the seconds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <limits>

#include "tests/bench/published_orders.h"

namespace arenac {
namespace {

void print_row(const std::string& name, const OrderProblem& problem, int64_t states, double seconds_at_most) {
  fmt::print("{:30}{:>6}", name, num_vertices(problem.operators));
  OrderResult result;
  double seconds = 0;
  for (const OrderRow& row : orders()) {
    const auto start = std::chrono::steady_clock::now();
    result = row.order(problem, {states, deadline_in(seconds_at_most)});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{:>14}", result.peak);
  }
  fmt::print("{:>14}{:>8}{:>10}{:>9.3f}\n", result.lower_bound, result.proven ? "proven" : "open",
             result.states, seconds);
  std::fflush(stdout);
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  using namespace arenac;
  std::string part;
  int64_t states = OrderLimits{}.states;
  double seconds = std::numeric_limits<double>::infinity();
  CLI::App app("the peak of every order on published networks");
  app.add_option("--network", part, "part of the names to run");
  app.add_option("--states", states, "down-sets that a search may visit");
  app.add_option("--time", seconds, "bound on each search, in seconds");
  CLI11_PARSE(app, argc, argv);

  fmt::print("{:30}{:>6}", "network", "ops");
  for (const OrderRow& row : orders()) fmt::print("{:>14}", row.name);
  fmt::print("{:>14}{:>8}{:>10}{:>9}\n", "bound", "", "states", "seconds");
  for (const PublishedNetwork& network : published_networks()) {
    if (network.name.find(part) == std::string::npos) continue;
    print_row(network.name, network.make(Concat::kCopied), states, seconds);
    print_row(network.name + " (parts)", network.make(Concat::kParts), states, seconds);
  }
}
