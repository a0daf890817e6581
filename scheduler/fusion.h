// Which steps run together, row by row.
//
//   conv1 | conv2 dw2 pw2 dw3 | pw3 | conv4 dw4 pool      what crosses a bar is in memory whole
#pragma once

#include "scheduler/deadline.h"
#include "scheduler/groups.h"

namespace arenac {

// Bytes of the constants that a node reads: what another slab of it reads again.
int64_t constant_bytes(const Node& node, const Graph& graph);

// The partition of the steps into single ones and groups with the fewest live bytes at a time and, among
// those, the fewest bytes of constants read again; only the groups. `whole` has no groups yet. Among all
// partitions into groups of up to kLongestGroup steps (shortest path over cut positions, Cormen et
// al., 24.2); after the deadline, those formed by then.
std::vector<GroupPlan> best_groups(const Schedule& whole, Deadline deadline);

enum class Expect : uint8_t { kSome, kNone };

// The least peak below `below` bytes, to one part in a hundred, for which it suffices to do up to `most_work`
// multiply-accumulates again; nothing where there is none, which is found fast where it is expected.
std::optional<std::vector<GroupPlan>> smaller_groups(const Schedule& whole, int64_t below, int64_t most_work,
                                                     Expect expect, Deadline deadline);

// From no groups to those of best_groups and on to ever more work, each with a lower peak than the one before
// and the cheapest for it.
std::vector<std::vector<GroupPlan>> groups_by_peak(const Schedule& whole, Deadline deadline);

// As many steps in a group as can be, first come first served.
std::vector<GroupPlan> longest_groups(const Schedule& whole, const Keep& keep);

// The same with every storage computed again that can be, for `strip` rows of windows at a time.
std::vector<GroupPlan> thinnest_groups(const Schedule& whole, int64_t strip);

}  // namespace arenac
