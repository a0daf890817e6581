#include "scheduler/slots.h"

#include <algorithm>

namespace arenac {

int64_t slots_for(const std::vector<Life>& lives) {
  std::vector<Moment> next(lives.size());  // when element y or a later one is first written
  for (size_t y = lives.size(); y-- > 0;)
    next[y] = std::min(lives[y].written, y + 1 < lives.size() ? next[y + 1] : kNever);
  size_t kept = 1;
  for (size_t y = 0; y < lives.size(); ++y)
    while (y + kept < lives.size() && next[y + kept] <= lives[y].touched) ++kept;
  return static_cast<int64_t>(kept);
}

}  // namespace arenac
