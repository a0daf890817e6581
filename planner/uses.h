// What the judges of plans and of certificates take a buffer's life for.
#pragma once

#include <vector>

#include "planner/problem.h"

namespace arenac {

// Bytes [bottom, top) of a pool that a buffer uses at the times [begin, end).
struct Use {
  int id;
  int64_t begin, end, bottom, top;
};

// Of a buffer at this offset. Ends of what a judge has looked at do not overflow.
inline void add_uses(const Buffer& b, int id, int64_t offset, std::vector<Use>& uses) {
  const auto add = [&](int64_t begin, int64_t end, int64_t low, int64_t high) {
    if (begin < end && low < high) uses.push_back({id, begin, end, offset + low, offset + high});
  };
  int64_t from = b.begin;
  for (const Gap& gap : b.gaps) {
    add(from, gap.begin, 0, b.size);
    add(gap.begin, gap.end, gap.low, gap.high);
    from = gap.end;
  }
  add(from, b.end, 0, b.size);
}

}  // namespace arenac
