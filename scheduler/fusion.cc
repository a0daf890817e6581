#include "scheduler/fusion.h"

#include <algorithm>
#include <utility>

#include "scheduler/group_ways.h"

namespace arenac {
namespace {

constexpr int64_t kSteps = 20;              // the least difference of two peaks: one part in as many
constexpr int64_t kMostFormed = 1'500'000;  // of steps in groups that are formed in either, of all searches
constexpr int64_t kFine = 200;              // a search by halves ends one part in as many above the least
constexpr int64_t kNear = 4, kFew = 1024;   // peaks above the least by one part in as many, or so many bytes

}  // namespace

// The steps are a line, and a partition of it into single steps and groups is a path from cut 0 to cut n. A
// group that was formed is an edge; its weight is the bytes that are live during it, or what it costs.
//
//    0 --conv1-- 1 --conv2-- 2 --dw-- 3 --pw-- 4           single steps
//                +------------group------------+           an edge 1 -> 4
//
// Two questions of such paths: which largest weight is the least (a peak), and which path within a peak costs
// the least. Both go over the cuts from left to right. Forming a group is what takes time, so only those are
// formed that can matter, and each once.
class Partition {
  using Windows = GroupWays::Windows;

  // What a group costs beside its bytes: work done again, then bytes of constants read again.
  struct Cost {
    int64_t work, read;
    auto operator<=>(const Cost&) const = default;
    Cost operator+(const Cost& other) const { return {work + other.work, read + other.read}; }
  };

 public:
  Partition(const Schedule& whole, std::shared_ptr<const StepFacts> facts, size_t searches, Deadline deadline,
            FormedGroups& known)
      : graph_(*whole.graph),
        steps_(whole.steps),
        shared_facts_(std::move(facts)),
        facts_(*shared_facts_),
        bytes_(whole, facts_),
        ways_(whole, facts_, bytes_, {known, kMostFormed / static_cast<int64_t>(searches), deadline}),
        count_(static_cast<int>(steps_.size())),
        formed_to_(count_ + 1) {}

  double work() const { return ways_.work(); }
  LimitsHit limits_hit() const { return ways_.limits_hit(); }

  // Lower peaks than without windows, by windows that do nothing again.
  std::vector<std::vector<GroupPlan>> least_with_windows() {
    std::vector<std::vector<GroupPlan>> all = least_below(search(), {Windows::kFree, 0}, Expect::kNone);
    if (all.empty()) return all;
    // Between the two there is what takes fewer cycles than the least: wider chunks, fewer windows.
    const int64_t least = peak_of(all.back());
    const auto below = [](int64_t peak) { return peak - std::max<int64_t>(peak / kNear, 1); };
    for (int64_t peak = below(search()); peak > least; peak = below(peak))
      if (auto groups = with_windows(peak, Windows::kFree)) all.push_back(std::move(*groups));
    return all;
  }

  std::vector<std::vector<GroupPlan>> least_below(int64_t high, int64_t most_work, Expect expect) {
    return least_below(high, {Windows::kAny, most_work}, expect);
  }

  std::vector<std::vector<GroupPlan>> near_least() {
    if (count_ == 0) return {};
    return down_to_least(search() + search() / kNear + kFew);
  }

  std::vector<std::vector<GroupPlan>> without_windows() {
    return count_ > 0 ? down_to_least(INT64_MAX) : std::vector<std::vector<GroupPlan>>();
  }

  // Begins with the least without windows, as that is what the others are compared with.
  std::vector<std::vector<GroupPlan>> below_least() {
    if (count_ == 0) return {};
    std::vector<std::vector<GroupPlan>> all = {*cheapest(search())};
    ways_.begin_trials();
    for (int64_t peak = lower_than(all.back(), search()); auto groups = with_windows(peak, Windows::kAny);
         peak = lower_than(all.back(), peak))
      all.push_back(std::move(*groups));
    return all;
  }

 private:
  struct Allowed {
    Windows windows;
    int64_t most_work;  // multiply-accumulates done again
  };

  // A peak below `peak` and that of `groups`, by enough to be worth a choice.
  int64_t lower_than(const std::vector<GroupPlan>& groups, int64_t peak) const {
    return std::min(peak_of(groups) - 1, peak - std::max<int64_t>(peak / kSteps, 1));
  }

  // From `peak` down to the least, without windows. cheapest() always finds something: at a peak that is not
  // below the least, the partition of the least fits.
  std::vector<std::vector<GroupPlan>> down_to_least(int64_t peak) {
    const int64_t least = search();
    std::vector<std::vector<GroupPlan>> all;
    for (peak = std::min(peak, peak_of({})); peak > least; peak = lower_than(all.back(), peak))
      all.push_back(*cheapest(peak));
    all.push_back(*cheapest(least));
    return all;
  }

  // Groups of ever lower peaks below `high`, by halves. Where none are expected, first a little below it.
  // Invariant: none were found for `low`, and the best so far have `high`. Each turn but that first one
  // leaves half of the distance at most, and often less, as the peak of groups may be lower than what was
  // asked for.
  std::vector<std::vector<GroupPlan>> least_below(int64_t high, const Allowed& allowed, Expect expect) {
    std::vector<std::vector<GroupPlan>> all;
    search();
    ways_.begin_trials();
    int64_t low = 0;
    for (int64_t peak = expect == Expect::kSome ? high / 2 : high - 1 - high / kFine;
         high - low > 1 + high / kFine; peak = low + (high - low) / 2) {
      auto groups = with_windows(peak, allowed.windows);
      if (groups && work_of(*groups) <= allowed.most_work) {
        high = std::min(peak, peak_of(*groups));
        all.push_back(std::move(*groups));
      } else {
        low = peak;
      }
    }
    return all;
  }

  // The least peak of a partition into single steps and groups without windows, as far as they were searched.
  int64_t search() {
    if (!searched_) searched_ = searched();
    return *searched_;
  }

  // Short groups first: each lowers the peak, and what need not be lower than the peak is not formed
  // (consider_all). Of one length until nothing gets better, then of the double.
  int64_t searched() {
    if (count_ == 0) return 0;
    int64_t peak = least_peak();
    for (int longest = 3; longest <= kLongestGroup; longest *= 2)
      for (int64_t before = INT64_MAX; peak < before;) {
        before = peak;
        consider_all(longest, peak);
        peak = least_peak();
      }
    return peak;
  }

  // The cheapest groups that all fit `peak`.
  std::optional<std::vector<GroupPlan>> cheapest(int64_t peak) {
    const auto segments = cheapest_segments(peak);
    if (!segments) return std::nullopt;
    std::vector<GroupPlan> groups;
    for (const auto& [begin, end] : *segments) groups.push_back(ways_.plainest(begin, end, peak));
    return groups;
  }

  // The same with windows where they need them. What is known of windows stays, but they are none again in
  // the end.
  std::optional<std::vector<GroupPlan>> with_windows(int64_t peak, Windows windows) {
    consider_all(kLongestGroup, peak);
    ways_.may_keep(windows);
    auto groups = cheapest(peak);
    ways_.may_keep(Windows::kNone);
    return groups;
  }

  int64_t work_of(const std::vector<GroupPlan>& groups) const {
    int64_t work = 0;
    for (const GroupPlan& plan : groups) work += ways_.work_again(plan);
    return work;
  }

  // Of the single steps between the groups as well.
  int64_t peak_of(const std::vector<GroupPlan>& groups) const {
    int64_t peak = 0;
    int s = 0;
    for (const GroupPlan& plan : groups) {
      for (; s < plan.group.begin; ++s) peak = std::max(peak, bytes_.at(s));
      peak = std::max(peak, bytes_.of(plan));
      s = plan.group.end;
    }
    for (; s < count_; ++s) peak = std::max(peak, bytes_.at(s));
    return peak;
  }

  // All steps in [begin, end) that can be in a group, for each begin the ends from left to right until one
  // cannot. Two bounds tell what is worth forming: `layerwise`, the most at one step, must be at the peak, or
  // single steps are as good; and `crossing`, what lives beyond both ends, is in memory whatever the group
  // keeps.
  void consider_all(int longest, int64_t peak) {
    for (int begin = 0; begin < count_; ++begin) {
      int64_t inside = 0, layerwise = 0;  // bytes that live in the steps alone; the most at one of them
      for (int end = begin + 1; end <= std::min(count_, begin + longest); ++end) {
        if (facts_.steps[end - 1].slabs.count == 0) break;
        layerwise = std::max(layerwise, bytes_.at(end - 1));
        for (const TensorId id : bytes_.ending(end))
          if (facts_.live[id].begin >= begin) inside += bytes_.of_storages()[id];
        // Groups that cannot lower the peak are not formed.
        const int64_t crossing = bytes_.of(begin, end) - inside;
        if (end - begin > 1 && layerwise >= peak && crossing < peak) consider(begin, end);
      }
    }
  }

  // A group that cannot be one, or was formed before, adds nothing.
  void consider(int begin, int end) {
    GroupWays::Ways* ways = ways_.form(begin, end);
    if (!ways) return;
    auto& formed = formed_to_[end];
    const std::pair<int, GroupWays::Ways*> first(begin, nullptr);
    formed.insert(std::lower_bound(formed.begin(), formed.end(), first), {begin, ways});
  }

  // best[end]: the least peak of the steps before cut `end`, the smaller of its last edge's alternatives:
  //
  //   best[end] = min of  max(best[end - 1], bytes at the step)
  //                       max(best[begin], bytes of the group)         for each group [begin, end)
  int64_t least_peak() const {
    std::vector<int64_t> best(count_ + 1, INT64_MAX);
    best[0] = 0;
    for (int end = 1; end <= count_; ++end) {
      best[end] = std::max(best[end - 1], bytes_.at(end - 1));
      for (const auto& [begin, ways] : formed_to_[end])
        best[end] = std::min(best[end], std::max(best[begin], ways->known.front().bytes));
    }
    return best[count_];
  }

  // What running a step in slabs costs: its constants are read for each. Steps without any are a little
  // dearer in a group, too.
  int64_t cost_of(int step) const {
    return 1 + constant_bytes(*steps_[step].node, graph_) * (facts_.steps[step].slabs.count - 1);
  }

  // The groups of the cheapest partition whose segments all fit `peak`. Windows are only tried for groups of
  // one that would be the cheapest if it took no more of them. That is lazy evaluation of edges: an
  // optimistic weight first, the true one only for edges of the best path, until the best path holds no
  // guess. It ends, as each turn tries something.
  std::optional<std::vector<std::pair<int, int>>> cheapest_segments(int64_t peak) {
    for (;;) {
      const auto groups = cheapest_at_best(peak);
      if (!groups) return std::nullopt;
      bool fit = true;
      for (const auto& [begin, end] : *groups) {
        if (ways_.fits(begin, end, peak)) continue;
        ways_.try_to_fit(begin, end, peak);
        fit = false;
      }
      if (fit) return groups;
    }
  }

  // The same, where groups that might fit do so without more work. Costs add up along the path; nothing where
  // no path fits.
  std::optional<std::vector<std::pair<int, int>>> cheapest_at_best(int64_t peak) const {
    constexpr Cost kNever = {INT64_MAX / 2, 0};
    const bool more = ways_.may_try();
    std::vector<int64_t> until(count_ + 1);
    std::vector<Cost> cost(count_ + 1, kNever);
    std::vector<int> from(count_ + 1, 0);
    for (int s = 0; s < count_; ++s) until[s + 1] = until[s] + cost_of(s);
    cost[0] = {0, 0};
    for (int end = 1; end <= count_; ++end) {
      if (bytes_.at(end - 1) <= peak) cost[end] = cost[end - 1], from[end] = end - 1;
      for (const auto& [begin, ways] : formed_to_[end]) {
        if (cost[begin] == kNever) continue;
        const GroupWays::Way* way = GroupWays::fitting(*ways, peak);
        if (!way && more && ways_.might_fit(*ways, peak)) way = &ways->known.back();
        if (!way) continue;
        const Cost with = cost[begin] + Cost{way->work, until[end] - until[begin]};
        if (with < cost[end]) cost[end] = with, from[end] = begin;
      }
    }
    if (cost[count_] == kNever) return std::nullopt;
    std::vector<std::pair<int, int>> groups;
    for (int end = count_; end > 0; end = from[end])
      if (end - from[end] > 1) groups.emplace_back(from[end], end);
    std::reverse(groups.begin(), groups.end());
    return groups;
  }

  const Graph& graph_;
  const std::vector<Step>& steps_;
  const std::shared_ptr<const StepFacts> shared_facts_;
  const StepFacts& facts_;
  const StepBytes bytes_;
  GroupWays ways_;
  const int count_;
  // Per end: ascending begins of what can be one.
  std::vector<std::vector<std::pair<int, GroupWays::Ways*>>> formed_to_;
  std::optional<int64_t> searched_ = {};
};

int64_t constant_bytes(const Node& node, const Graph& graph) {
  int64_t bytes = 0;
  for (TensorId id : node.reads)
    if (const auto& constant = graph.tensors[id].constant)
      bytes += static_cast<int64_t>(constant->bytes.size());
  return bytes;
}

// Tries all ends: a longer group may be possible where a shorter one is not.
std::vector<GroupPlan> longest_groups(const Schedule& whole, const Keep& keep) {
  const StepFacts facts = step_facts(*whole.graph, whole.steps, whole.layouts);
  const int count = static_cast<int>(whole.steps.size());
  std::vector<GroupPlan> groups;
  for (int begin = 0; begin < count;) {
    std::optional<GroupPlan> longest;
    for (int end = begin + 2; end <= std::min(count, begin + kLongestGroup); ++end)
      if (auto plan = form_group(whole, facts, begin, end, keep)) longest = std::move(plan);
    begin = longest ? longest->group.end : begin + 1;
    if (longest) groups.push_back(std::move(*longest));
  }
  return groups;
}

// The rings are those of the group before any was made thinner: a copy, as `plan` changes in the loop.
std::vector<GroupPlan> thinnest_groups(const Schedule& whole, int64_t strip) {
  const StepFacts facts = step_facts(*whole.graph, whole.steps, whole.layouts);
  std::vector<GroupPlan> groups = longest_groups(whole, Keep{});
  for (GroupPlan& plan : groups) {
    Keep keep;
    for (const KeptRing& ring : GroupPlan(plan).rings) {
      keep.again.push_back({ring.storage, strip});
      auto thinner = form_group(whole, facts, plan.group.begin, plan.group.end, keep);
      if (thinner)
        plan = std::move(*thinner);
      else
        keep.again.pop_back();
    }
  }
  return groups;
}

GroupSearch::GroupSearch(const Schedule& whole, std::shared_ptr<const StepFacts> facts, size_t searches,
                         Deadline deadline, FormedGroups& known)
    : deadline_(deadline) {
  if (facts && !has_passed(deadline))
    partition_ = std::make_unique<Partition>(whole, std::move(facts), searches, deadline, known);
}
GroupSearch::GroupSearch(GroupSearch&&) noexcept = default;
GroupSearch::~GroupSearch() = default;

std::vector<std::vector<GroupPlan>> GroupSearch::near_least() {
  if (!partition_) return {};
  return partition_->near_least();
}

std::vector<std::vector<GroupPlan>> GroupSearch::without_windows() {
  if (!partition_ || has_passed(deadline_)) return {};
  return partition_->without_windows();
}

std::vector<std::vector<GroupPlan>> GroupSearch::least_with_windows() {
  if (!partition_ || has_passed(deadline_)) return {};
  return partition_->least_with_windows();
}

std::vector<std::vector<GroupPlan>> GroupSearch::least_below(int64_t below, int64_t most_work,
                                                             Expect expect) {
  if (!partition_ || has_passed(deadline_)) return {};
  return partition_->least_below(below, most_work, expect);
}

std::vector<std::vector<GroupPlan>> GroupSearch::below_least() {
  if (!partition_ || has_passed(deadline_)) return {};
  return partition_->below_least();
}

double GroupSearch::work() const { return partition_ ? partition_->work() : 0; }

LimitsHit GroupSearch::limits_hit() const { return partition_ ? partition_->limits_hit() : LimitsHit(); }

}  // namespace arenac
