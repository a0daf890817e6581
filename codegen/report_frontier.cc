// The schedules to choose from, for a terminal:
//
//       arena bytes      of the first   constants read again   steps in groups   bytes of C
//            55,296           100.0 %                      0                 0       19,482
//            12,896            23.3 %                      0                28       31,001
#include <fmt/format.h>

#include <algorithm>

#include "codegen/report_words.h"
#include "codegen/reports.h"

namespace arenac {

std::string frontier_text(const MemoryMap& map) {
  std::string text = "Schedules to choose from, by what they read again\n";
  text += fmt::format("{:>20}{:>18}{:>24}{:>18}{:>16}\n", "arena bytes", "of the first",
                      "constants read again", "steps in groups", "bytes of C");
  for (const MapChoice& choice : map.frontier) {
    const double share = 100.0 * static_cast<double>(choice.arena) /
                         static_cast<double>(std::max<int64_t>(1, map.frontier.front().arena));
    text += fmt::format("{:>20}{:>16.1f} %{:>24}{:>18}{:>16}\n", grouped(choice.arena), share,
                        grouped(choice.read_again), grouped(choice.stages), grouped(choice.code));
  }
  return text;
}

}  // namespace arenac
