// Which steps run together, row by row.
//
//   conv1 | conv2 dw2 pw2 dw3 | pw3 | conv4 dw4 pool      what crosses a bar is in memory whole
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/groups.h"

namespace arenac {

// Bytes of the constants that a node reads: what another slab of it reads again.
int64_t constant_bytes(const Node& node, const Graph& graph);

enum class Expect : uint8_t { kSome, kNone };

// What groups come to that searches have formed, by the hashes of group_keys.h.
struct FormedGroup {
  bool can_be = false;           // one at all
  int64_t bytes = 0, floor = 0;  // beside those of storages that only pass by
  std::vector<size_t> again;     // places in the key of the storages that may be computed again
};
using FormedGroups = std::map<size_t, FormedGroup>;

class Partition;

// The search for groups of a schedule, which has none yet and outlives it, whose steps are cut as `facts` say
// (null: nothing is searched), one of `searches` of a compilation: among all partitions of its steps into
// single ones and groups of up to kLongestGroup (shortest path over cut positions, Cormen et al., 24.2);
// after the deadline, of the groups formed by then. What one question finds, the next one knows, and what one
// search forms is `known` to the others.
class GroupSearch {
 public:
  GroupSearch(const Schedule& whole, std::shared_ptr<const StepFacts> facts, size_t searches,
              Deadline deadline, FormedGroups& known);
  GroupSearch(GroupSearch&&) noexcept;
  ~GroupSearch();

  // Those with the fewest live bytes at a time and, among these, the fewest bytes of constants read again;
  // and before them cheaper ones with hardly more live bytes, of which a plan may need fewer.
  std::vector<std::vector<GroupPlan>> near_least();

  // From no groups to the least, each with a lower peak than the one before and the cheapest for it.
  std::vector<std::vector<GroupPlan>> without_windows();

  // Lower peaks, down to the least, with chunks of one column, and with windows kept alone as far as that
  // takes no multiply-accumulates again; none where that saves nothing.
  std::vector<std::vector<GroupPlan>> least_with_windows();

  // Ever lower peaks below `below` bytes, down to the least to one part in two hundred, for which it suffices
  // to do up to `most_work` multiply-accumulates again; none where there is none, which is found fast where
  // it is expected.
  std::vector<std::vector<GroupPlan>> least_below(int64_t below, int64_t most_work, Expect expect);

  // From the least without windows on to ever more work, each with a lower peak than the one before and the
  // cheapest for it.
  std::vector<std::vector<GroupPlan>> below_least();

  // What the search has taken of what it may, as far as limits count it.
  double work() const;

  LimitsHit limits_hit() const;

 private:
  Deadline deadline_;
  std::unique_ptr<Partition> partition_;
};

// As many steps in a group as can be, first come first served.
std::vector<GroupPlan> longest_groups(const Schedule& whole, const Keep& keep);

// The same with every storage computed again that can be, for `strip` rows of windows at a time.
std::vector<GroupPlan> thinnest_groups(const Schedule& whole, int64_t strip);

}  // namespace arenac
