#include "driver/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "codegen/report_words.h"

namespace arenac {
namespace {

// The steps that run as one: those of a group.
MapGroup together_with(const MemoryMap& map, int64_t step) {
  for (const MapGroup& group : map.groups)
    if (group.begin <= step && step < group.end) return group;
  return {step, step + 1};
}

std::string name_of(const MemoryMap& map, const MapGroup& steps) {
  const MapStep &first = map.steps[steps.begin], &last = map.steps[steps.end - 1];
  if (steps.end - steps.begin == 1) return fmt::format("{} ({})", first.node, first.op);
  return fmt::format("{} to {} ({} steps row by row)", first.node, last.node, steps.end - steps.begin);
}

}  // namespace

// Time of a group is its first step's, where the hook stands; the model's cycles for it are summed to stand
// beside that.
std::string profile_text(const MemoryMap& map, const std::vector<double>& spent, const std::string& unit,
                         const std::string& where) {
  std::string title = unit;
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  std::string text = fmt::format("{} of a run on {}: {}\n  {:>7}  {:>14}  {:>6}  {:>14}  node\n", title,
                                 where, grouped(std::llround(spent[0])), "step", unit, "share", "cycles");
  for (int64_t step = 0; step < std::ssize(map.steps);) {
    const MapGroup steps = together_with(map, step);
    const double took = spent[1 + steps.begin];
    int64_t cycles = 0;
    for (int64_t k = steps.begin; k < steps.end; ++k) cycles += map.steps[k].cycles;
    const std::string number = steps.end - steps.begin == 1
                                   ? fmt::format("{}", steps.begin)
                                   : fmt::format("{}-{}", steps.begin, steps.end - 1);
    if (took > 0)
      text += fmt::format("  {:>7}  {:>14}  {:>5.1f}%  {:>14}  {}\n", number, grouped(std::llround(took)),
                          100 * took / spent[0], grouped(cycles), name_of(map, steps));
    step = steps.end;
  }
  return text + fmt::format("cycles: as estimated for {}\n", map.target);
}

}  // namespace arenac
