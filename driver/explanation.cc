#include "driver/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "codegen/report_words.h"
#include "driver/choose.h"
#include "scheduler/explain.h"

namespace arenac {
namespace {

constexpr size_t kMostListed = 6;  // buffers of the peak, schedules with less

// The group that a step is in, if any.
std::optional<size_t> group_of(const Schedule& schedule, size_t step) {
  for (size_t g = 0; g < schedule.groups.size(); ++g)
    if (schedule.groups[g].begin <= static_cast<int>(step) && static_cast<int>(step) < schedule.groups[g].end)
      return g;
  return std::nullopt;
}

// The schedules that take less than the one chosen, the largest first.
std::vector<const Rung*> smaller_ones(const Compilation& c) {
  std::vector<const Rung*> smaller;
  for (const Rung& rung : c.rungs)
    if (total_size(rung.plan) < c.map.totals.arena) smaller.push_back(&rung);
  return smaller;
}

// What the steps in groups write, by name: steps of other schedules have other numbers.
std::set<std::string> written_by_rows(const Schedule& schedule) {
  std::set<std::string> names;
  for (const Group& group : schedule.groups)
    for (int s = group.begin; s < group.end; ++s)
      for (const TensorId id : schedule.steps[static_cast<size_t>(s)].node->writes)
        names.insert(schedule.graph->tensors[static_cast<size_t>(id)].name);
  return names;
}

using Smaller = std::vector<std::pair<const Rung*, std::set<std::string>>>;

// The largest of the smaller ones that runs the step row by row.
const Rung* rung_by_rows(const Compilation& c, size_t step, const Smaller& smaller) {
  for (const TensorId id : c.schedule.steps[step].node->writes)
    for (const auto& [rung, written] : smaller)
      if (written.contains(c.schedule.graph->tensors[static_cast<size_t>(id)].name)) return rung;
  return nullptr;
}

// A line for each step: how it runs, and if whole, why, and with which --ram it would not.
std::string steps_of(const Compilation& c) {
  Smaller smaller;
  for (const Rung* rung : smaller_ones(c)) smaller.emplace_back(rung, written_by_rows(rung->schedule));
  std::string text;
  for (size_t s = 0; s < c.schedule.steps.size(); ++s) {
    text += fmt::format("step {:>4}  {}: {}", s, step_title(c.map, static_cast<int64_t>(s)),
                        c.schedule.steps[s].node && c.schedule.steps[s].node->is_again ? "again, " : "");
    if (const auto group = group_of(c.schedule, s)) {
      text += fmt::format("row by row in {}\n", group_name(group));
      continue;
    }
    std::string words = "whole";
    if (const std::string reason = why_not_by_rows(c.schedule, s); !reason.empty())
      words += ": " + printable(reason);
    if (const Rung* rung = rung_by_rows(c, s, smaller))
      words += fmt::format("; row by row with --ram {}", total_size(rung->plan));
    else if (words == "whole")
      words += ": no group that was found with it makes the arena smaller";
    text += words + "\n";
  }
  return text;
}

// "written by step 1, read by steps 2, 5"
std::string users_of(const MapBuffer& buffer) {
  const auto steps = [](const char* verb, const std::vector<int64_t>& all) {
    return all.empty()
               ? ""
               : fmt::format(", {} by step{} {}", verb, all.size() == 1 ? "" : "s", fmt::join(all, ", "));
  };
  return steps("written", buffer.writers) + steps("read", buffer.readers);
}

// What is in memory when most of it is: those buffers, and nothing else, would have to become smaller.
std::string peak_of_pool(const Compilation& c, const MapPool& pool) {
  const Peak peak = peak_of(c.map, pool.name);
  if (peak.buffers.empty()) return "";
  std::string text =
      fmt::format("\n{} of the {} bytes of pool '{}' are in use at step {}: {}\n", grouped(peak.bytes),
                  grouped(pool.size), printable(pool.name), peak.time, step_title(c.map, peak.time));
  for (size_t k = 0; k < std::min(peak.buffers.size(), kMostListed); ++k) {
    const MapBuffer& buffer = c.map.buffers[peak.buffers[k]];
    const std::string rows =
        buffer.rows ? fmt::format(", {} of {} rows", buffer.rows->kept, buffer.rows->total) : "";
    text +=
        fmt::format("{:>14}  {}{}{}\n", grouped(buffer.size), printable(buffer.name), rows, users_of(buffer));
  }
  if (peak.buffers.size() > kMostListed)
    text += fmt::format("{:>14}  {} more\n", "", peak.buffers.size() - kMostListed);
  return text;
}

// Cycles are counted with each one's own plan, as those of the chosen are.
std::string smaller_arenas(const Compilation& c) {
  const std::vector<const Rung*> smaller = smaller_ones(c);
  constexpr const char* kOthers = "; 'arenac map --pareto' also lists those that compute things again\n";
  if (smaller.empty()) return fmt::format("\nNo other schedule that was looked at takes less{}", kOthers);
  std::string text = "\nLess arena, at the price of cycles:\n";
  ScheduleCycles cycles(target_named(c.map.target));
  const double chosen = cycles.of(c.schedule, c.lifetimes, c.plan);
  for (size_t k = 0; k < std::min(smaller.size(), kMostListed); ++k) {
    const auto& [schedule, lifetimes, plan, unused] = *smaller[k];
    const int64_t bytes = total_size(plan);
    const double more = cycles.of(schedule, lifetimes, plan) / chosen - 1;
    text += fmt::format("{:>14}  --ram {}: {:.1f} % {} cycles\n", grouped(bytes), bytes, 100 * std::abs(more),
                        more < 0 ? "fewer" : "more");
  }
  if (smaller.size() > kMostListed)
    text += fmt::format("{:>14}  and {} more: arenac map --pareto\n", "", smaller.size() - kMostListed);
  return text;
}

}  // namespace

// Steps, peaks, prices: why, where, and what less would cost.
std::string explanation(const Compilation& c) {
  std::string text = steps_of(c);
  for (const MapPool& pool : c.map.pools) text += peak_of_pool(c, pool);
  return text + smaller_arenas(c);
}

}  // namespace arenac
