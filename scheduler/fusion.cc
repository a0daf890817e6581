#include "scheduler/fusion.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "scheduler/overlap.h"

namespace arenac {
namespace {

constexpr int kLongestGroup = 96;          // steps
constexpr int64_t kSteps = 20;             // the least difference of two peaks: one part in as many
constexpr int64_t kMostRuns = 60'000'000;  // of slabs traced in the search for groups

class Partition {
 public:
  Partition(const Schedule& whole, Deadline deadline)
      : graph_(*whole.graph),
        deadline_(deadline),
        steps_(whole.steps),
        layouts_(whole.layouts),
        facts_(step_facts(graph_, steps_, layouts_)),
        count_(static_cast<int>(steps_.size())),
        begun_(count_ + 1),
        ended_(count_ + 1),
        ending_(count_ + 1) {
    for (size_t id = 0; id < facts_.live.size(); ++id) {
      const auto [from, to] = facts_.live[id];
      if (from >= to || facts_.bytes[id] == 0) continue;
      for (auto s = from + 1; s <= count_; ++s) begun_[s] += facts_.bytes[id];
      for (auto s = to; s <= count_; ++s) ended_[s] += facts_.bytes[id];
      ending_[to].push_back(static_cast<TensorId>(id));
    }
    for (int s = 0; s < count_; ++s) single_.push_back(bytes_of(s, s + 1));
    std::vector<int64_t> saved(count_);
    for (const StorageOverlap& o : whole.overlaps) saved[o.step] = std::max(saved[o.step], saving(o));
    for (int s = 0; s < count_; ++s) single_[s] -= saved[s];
  }

  std::vector<GroupPlan> least() { return cheapest(search()); }

  std::vector<std::vector<GroupPlan>> by_peak() {
    if (count_ == 0) return {{}};
    const int64_t least = search();
    std::vector<std::vector<GroupPlan>> all;
    for (int64_t peak = *std::max_element(single_.begin(), single_.end()); peak > least;) {
      all.push_back(cheapest(peak));
      // Less than this one takes, by enough to be worth a choice.
      peak = std::min(peak_of(all.back()) - 1, peak - peak / kSteps);
    }
    all.push_back(cheapest(least));
    return all;
  }

 private:
  // The least peak of a partition into single steps and groups, as far as they were searched.
  int64_t search() {
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

  std::vector<GroupPlan> cheapest(int64_t peak) const {
    std::vector<GroupPlan> groups;
    for (const auto& [begin, end] : cheapest_groups(peak)) groups.push_back(plainest(begin, end, peak));
    return groups;
  }

  int64_t peak_of(const std::vector<GroupPlan>& groups) const {
    int64_t peak = 0;
    int s = 0;
    for (const GroupPlan& plan : groups) {
      for (; s < plan.group.begin; ++s) peak = std::max(peak, single_[s]);
      peak = std::max(peak, bytes_of(plan));
      s = plan.group.end;
    }
    for (; s < count_; ++s) peak = std::max(peak, single_[s]);
    return peak;
  }

  // A group that fits `peak`, with whole rows if they do.
  GroupPlan plainest(int begin, int end, int64_t peak) const {
    const auto rows = form_group(begin, end, steps_, layouts_, graph_, facts_, Keep{.columns = false});
    if (bytes_of(*rows) <= peak) return *rows;
    return *form_group(begin, end, steps_, layouts_, graph_, facts_, Keep{});
  }

  // Bytes of the storages in use during the steps: those that began by then less those that ended before.
  int64_t bytes_of(int begin, int end) const { return begun_[end] - ended_[begin]; }

  // The same of a group: rings at what they keep, and its best overlap.
  int64_t bytes_of(const GroupPlan& plan) const {
    const auto [begin, end] = std::pair(plan.group.begin, plan.group.end);
    int64_t bytes = bytes_of(begin, end), saved = 0;
    std::vector<int64_t> change(end - begin + 1);  // of the bytes of columns, which come and go
    for (const auto& [storage, ring] : plan.rings) {
      const int64_t kept = ring.size() * size_of(graph_.tensors[storage].type);
      bytes -= facts_.bytes[storage];
      const Interval live = steps_of_ring(plan.group, facts_.live[storage], ring);
      change[live.begin - begin] += kept;
      change[live.end - begin] -= kept;
    }
    int64_t now = 0, most = 0;
    for (int64_t by : change) most = std::max(most, now += by);
    for (const StorageOverlap& o : plan.overlaps) saved = std::max(saved, saving(o));
    return bytes + most - saved;
  }

  int64_t saving(const StorageOverlap& o) const {
    const int64_t above = facts_.bytes[o.above], below = facts_.bytes[o.below];
    return above > 0 && below > 0 ? above + below - joint_bytes(above, below, o.distance) : 0;
  }

  void consider_all(int longest, int64_t peak) {
    for (int begin = 0; begin < count_; ++begin) {
      int64_t inside = 0, layerwise = 0;  // bytes that live in the steps alone; the most at one of them
      for (int end = begin + 1; end <= std::min(count_, begin + longest); ++end) {
        if (facts_.slabs[end - 1].count == 0) break;
        layerwise = std::max(layerwise, single_[end - 1]);
        for (const TensorId id : ending_[end])
          if (facts_.live[id].begin >= begin) inside += facts_.bytes[id];
        // Groups that cannot lower the peak are not formed.
        const int64_t crossing = bytes_of(begin, end) - inside;
        if (end - begin > 1 && layerwise >= peak && crossing < peak) consider(begin, end);
      }
    }
  }

  void consider(int begin, int end) {
    if (grouped_.contains({begin, end}) || runs_ > kMostRuns || has_passed(deadline_)) return;
    for (int s = begin; s < end; ++s) runs_ += facts_.slabs[s].count;
    const auto plan = form_group(begin, end, steps_, layouts_, graph_, facts_, Keep{});
    grouped_[{begin, end}] = plan ? bytes_of(*plan) : INT64_MAX;
  }

  int64_t least_peak() const {
    std::vector<int64_t> best(count_ + 1, INT64_MAX);
    best[0] = 0;
    for (int end = 1; end <= count_; ++end) best[end] = std::max(best[end - 1], single_[end - 1]);
    relax(best);
    return best[count_];
  }

  void relax(std::vector<int64_t>& best) const {
    for (int end = 1; end <= count_; ++end) {
      best[end] = std::max(best[end - 1], single_[end - 1]);
      for (int begin = std::max(0, end - kLongestGroup); begin < end - 1; ++begin)
        if (const auto at = grouped_.find({begin, end}); at != grouped_.end())
          best[end] = std::min(best[end], std::max(best[begin], at->second));
    }
  }

  // What running a step in slabs costs: its constants are read for each. Steps without any are a little
  // dearer in a group, too.
  int64_t cost_of(int step) const {
    int64_t bytes = 0;
    for (TensorId id : steps_[step].node->reads)
      if (graph_.tensors[id].constant)
        bytes += static_cast<int64_t>(graph_.tensors[id].constant->bytes.size());
    return 1 + bytes * (facts_.slabs[step].count - 1);
  }

  // The groups of the cheapest partition whose segments all fit `peak`.
  std::vector<std::pair<int, int>> cheapest_groups(int64_t peak) const {
    constexpr int64_t kNever = INT64_MAX / 2;
    std::vector<int64_t> until(count_ + 1), cost(count_ + 1, kNever);
    std::vector<int> from(count_ + 1, 0);
    for (int s = 0; s < count_; ++s) until[s + 1] = until[s] + cost_of(s);
    cost[0] = 0;
    for (int end = 1; end <= count_; ++end) {
      if (single_[end - 1] <= peak) cost[end] = cost[end - 1], from[end] = end - 1;
      for (int begin = std::max(0, end - kLongestGroup); begin < end - 1; ++begin) {
        const auto at = grouped_.find({begin, end});
        if (at == grouped_.end() || at->second > peak || cost[begin] == kNever) continue;
        const int64_t with = cost[begin] + until[end] - until[begin];
        if (with < cost[end]) cost[end] = with, from[end] = begin;
      }
    }
    std::vector<std::pair<int, int>> groups;
    for (int end = count_; end > 0; end = from[end])
      if (end - from[end] > 1) groups.emplace_back(from[end], end);
    std::reverse(groups.begin(), groups.end());
    return groups;
  }

  const Graph& graph_;
  const Deadline deadline_;
  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  const StepFacts facts_;
  const int count_;
  std::vector<int64_t> begun_, ended_;         // bytes of storages whose lives begin before, end by a step
  std::vector<std::vector<TensorId>> ending_;  // per step: storages whose lives end there
  std::vector<int64_t> single_;                // bytes live at each step
  std::map<std::pair<int, int>, int64_t> grouped_;  // bytes live during a group
  int64_t runs_ = 0;
};

}  // namespace

std::vector<GroupPlan> longest_groups(const Schedule& whole, const Keep& keep) {
  const auto& [graph, steps, layouts] = std::tie(*whole.graph, whole.steps, whole.layouts);
  const StepFacts facts = step_facts(graph, steps, layouts);
  const int count = static_cast<int>(steps.size());
  std::vector<GroupPlan> groups;
  for (int begin = 0; begin < count;) {
    std::optional<GroupPlan> longest;
    for (int end = begin + 2; end <= std::min(count, begin + kLongestGroup); ++end)
      if (auto plan = form_group(begin, end, steps, layouts, graph, facts, keep)) longest = std::move(plan);
    begin = longest ? longest->group.end : begin + 1;
    if (longest) groups.push_back(std::move(*longest));
  }
  return groups;
}

std::vector<GroupPlan> thinnest_groups(const Schedule& whole) {
  const auto& [graph, steps, layouts] = std::tie(*whole.graph, whole.steps, whole.layouts);
  const StepFacts facts = step_facts(graph, steps, layouts);
  std::vector<GroupPlan> groups = longest_groups(whole, Keep{});
  for (GroupPlan& plan : groups) {
    Keep keep;
    for (const KeptRing& ring : GroupPlan(plan).rings) {
      keep.again.push_back(ring.storage);
      auto thinner = form_group(plan.group.begin, plan.group.end, steps, layouts, graph, facts, keep);
      if (thinner)
        plan = std::move(*thinner);
      else
        keep.again.pop_back();
    }
  }
  return groups;
}

std::vector<GroupPlan> best_groups(const Schedule& whole, Deadline deadline) {
  if (has_passed(deadline)) return {};
  return Partition(whole, deadline).least();
}

std::vector<std::vector<GroupPlan>> groups_by_peak(const Schedule& whole, Deadline deadline) {
  if (has_passed(deadline)) return {{}};
  return Partition(whole, deadline).by_peak();
}

}  // namespace arenac
