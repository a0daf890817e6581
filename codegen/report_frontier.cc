// The schedules to choose from, for a terminal:
//
//  arena bytes of first  cycles work again    read again grouped steps bytes of C
//       55,296  100.0 %   12.1M          0             0             0     19,482
//       12,896   23.3 %   12.9M          0       417,792            28     31,001
#include <fmt/format.h>

#include <algorithm>

#include "codegen/report_words.h"
#include "codegen/reports.h"

namespace arenac {

std::string frontier_text(const MemoryMap& map) {
  std::string text =
      "Schedules to choose from, the fastest first, with multiply-accumulates done\n"
      "again and bytes of constants read again";
  text += map.target.empty() ? "\n" : fmt::format("; estimated cycles on {}\n", map.target);
  text += fmt::format("{:>13}{:>9}{:>8}{:>11}{:>14}{:>14}{:>11}\n", "arena bytes", "of first", "cycles",
                      "work again", "read again", "grouped steps", "bytes of C");
  for (const MapChoice& choice : map.frontier) {
    const double share = 100.0 * static_cast<double>(choice.arena) /
                         static_cast<double>(std::max<int64_t>(1, map.frontier.front().arena));
    text += fmt::format("{:>13}{:>7.1f} %{:>8}{:>11}{:>14}{:>14}{:>11}\n", grouped(choice.arena), share,
                        choice.cycles > 0 ? short_count(choice.cycles) : "", short_count(choice.macs_again),
                        grouped(choice.read_again), grouped(choice.stages), grouped(choice.code));
  }
  return text;
}

}  // namespace arenac
