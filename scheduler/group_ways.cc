#include "scheduler/group_ways.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

constexpr int64_t kMostRuns = 60'000'000;    // of slabs traced in the search for groups
constexpr int64_t kMostTrials = 12'000'000;  // the same in the search for what to compute again
constexpr int64_t kMostFree = 4'000'000;     // of these, for windows that take no work
constexpr int64_t kWidestChunk = 48;         // columns
constexpr int64_t kSlack = 32;               // chunks grow where one part in as many of the peak is left
constexpr int64_t kStrips[] = {4, 2, 1};     // rows of windows that are computed at a time
const Keep kNarrow{.width = 1};

// Keeps the ways that are better than the others in bytes, work or the width of their chunks: the Pareto
// front of the three, by ascending work. A way that another one equals or beats in all three is dropped.
void offer(std::vector<GroupWays::Way>& all, GroupWays::Way way) {
  const auto as_good = [](const GroupWays::Way& a, const GroupWays::Way& b) {
    return a.bytes <= b.bytes && a.work <= b.work && a.keep.width >= b.keep.width;
  };
  if (std::ranges::any_of(all, [&](const GroupWays::Way& other) { return as_good(other, way); })) return;
  std::erase_if(all, [&](const GroupWays::Way& other) { return as_good(way, other); });
  const auto at =
      std::ranges::find_if(all, [&](const GroupWays::Way& other) { return other.work > way.work; });
  all.insert(at, std::move(way));
}

// With one storage not computed again, others as they were or for half as many rows of windows at a time; or
// with one for more of them. The neighbours of a way that may do less work:
//
//   again {a: 2, b: 1}   ->   {b: 1}   {a: 2}   {a: 1}   {a: 4, b: 1}   {a: 2, b: 4}   {a: 2, b: 2}
std::vector<Keep> with_less_again(const Keep& keep) {
  std::vector<Keep> all;
  for (size_t k = 0; k < keep.again.size(); ++k) {
    Keep without = keep;
    without.again.erase(without.again.begin() + static_cast<std::ptrdiff_t>(k));
    all.push_back(without);
    for (WindowKept& other : without.again) {
      if (other.strip == 1) continue;
      const int64_t strip = std::exchange(other.strip, other.strip / 2);
      all.push_back(without);
      other.strip = strip;
    }
    for (const int64_t strip : kStrips) {
      if (strip <= keep.again[k].strip) break;
      all.push_back(keep);
      all.back().again[k].strip = strip;
    }
  }
  return all;
}

}  // namespace

GroupWays::GroupWays(const Schedule& whole, const StepFacts& facts, const StepBytes& bytes, Shared shared)
    : whole_(whole),
      graph_(*whole.graph),
      facts_(facts),
      bytes_(bytes),
      shared_(shared),
      keys_(whole, facts, bytes.of_storages()),
      barriers_(whole, facts) {}

// What is asked for again, or found to be impossible, stays as an entry without ways. Groups of equal steps
// (a network repeats its blocks) have one key, and are formed once for all searches.
GroupWays::Ways* GroupWays::form(int begin, int end) {
  if (runs_ > kMostRuns || formed_ > shared_.most_formed || ways_.contains({begin, end}) ||
      has_passed(shared_.deadline))
    return nullptr;
  Ways& ways = ways_[{begin, end}];
  if (barriers_.within(begin, end)) return nullptr;
  formed_ += end - begin;
  for (int s = begin; s < end; ++s) runs_ += facts_.steps[s].slabs.count;
  const GroupKeys::Key key = keys_.of(begin, end);
  const auto [at, is_new] = shared_.known.try_emplace(key.hash);
  if (is_new) at->second = formed(begin, end, key);
  const FormedGroup& group = at->second;
  if (!group.can_be) return nullptr;
  might_be_longer_ |=
      end - begin == kLongestGroup && end < std::ssize(whole_.steps) && facts_.steps[end].slabs.count > 0;
  ways.least = ways.plain = bytes_.of(begin, end) + group.bytes;
  ways.floor = bytes_.of(begin, end) + group.floor;
  for (size_t place : group.again) ways.storages.push_back(key.tensors[place]);
  ways.known.push_back({Keep{}, ways.least, 0});
  return &ways;
}

// Bytes are told beside those that pass by, which differ between groups of one key. The floor: what would be
// left if all that can be narrowed or computed again took nothing.
FormedGroup GroupWays::formed(int begin, int end, const GroupKeys::Key& key) const {
  const auto plan = plan_of(begin, end, Keep{});
  if (!plan) return {};
  FormedGroup group{true, bytes_.of(*plan) - bytes_.of(begin, end), 0, {}};
  group.floor = group.bytes;
  for (const auto& [storage, ring] : plan->rings)
    if (ring.columns > 0) group.floor -= ring.size() * size_of(graph_.tensors[storage].type);
  for (TensorId storage : can_be_again(*plan)) {
    const auto ring = std::ranges::find(plan->rings, storage, &KeptRing::storage);
    group.floor -= ring->ring.size() * size_of(graph_.tensors[storage].type);
    group.again.push_back(static_cast<size_t>(std::ranges::find(key.tensors, storage) - key.tensors.begin()));
  }
  return group;
}

// Ascending work: the first that fits is the cheapest.
const GroupWays::Way* GroupWays::fitting(const Ways& ways, int64_t peak) {
  for (const Way& way : ways.known)
    if (way.bytes <= peak) return &way;
  return nullptr;
}

int64_t GroupWays::most_trials() const { return windows_ == Windows::kFree ? kMostFree : kMostTrials; }

bool GroupWays::may_try() const {
  return windows_ != Windows::kNone && trials_ <= most_trials() && formed_ <= shared_.most_formed &&
         !has_passed(shared_.deadline);
}

// Something is left to be tried, and its floor is low enough.
bool GroupWays::might_fit(const Ways& ways, int64_t peak) const {
  return !ways.known.empty() && ways.floor <= peak &&
         (!ways.narrowed || !is_listed(ways) || has_windows(ways));
}

// From what costs nothing to what costs most: chunks of a column; windows, one after the other; and then less
// work, once it fits.
void GroupWays::try_to_fit(int begin, int end, int64_t peak) {
  Ways& ways = ways_.at({begin, end});
  if (may_try() && !std::exchange(ways.narrowed, true))
    if (auto narrow = tried(begin, end, kNarrow)) {
      ways.plain = ways.least = narrow->bytes;
      offer(ways.known, std::move(*narrow));
    }
  if (may_try() && !fitting(ways, peak) && !is_listed(ways)) find_windows(begin, end, peak, ways);
  while (may_try() && !fitting(ways, peak) && has_windows(ways)) add_window(begin, end, ways);
  if (const Way* fit = fitting(ways, peak); fit && fit->work > 0) lighten(begin, end, peak, Way(*fit), ways);
}

// As long as the group fits: leaves out what is computed again, or computes it for more rows of windows at
// a time, each time where that takes least work.
void GroupWays::lighten(int begin, int end, int64_t peak, Way fit, Ways& ways) {
  for (bool lighter = true; lighter;) {
    lighter = false;
    Way best = fit;
    for (Keep& keep : with_less_again(fit.keep)) {
      auto way = tried(begin, end, std::move(keep));
      if (!way) continue;
      if (way->bytes <= peak && way->work < best.work) best = *way, lighter = true;
      offer(ways.known, std::move(*way));  // it may fit another peak
    }
    fit = std::move(best);
  }
}

// Storages of a group that may be computed again.
std::vector<TensorId> GroupWays::can_be_again(const GroupPlan& plan) const {
  std::vector<TensorId> storages;
  for (const auto& [storage, ring] : plan.rings) {
    const int writer = facts_.writer[storage], reader = facts_.last_reader[storage];
    const bool within = writer >= plan.group.begin && reader < plan.group.end && reader > writer;
    if (within && ring.columns == 0 && !facts_.one_by_one[writer]) storages.push_back(storage);
  }
  return storages;
}

// Whether to keep the windows of a storage alone takes no work: its writer multiplies nothing, or its
// reader sees each of its rows once.
bool GroupWays::are_free(TensorId storage) const {
  const int writer = facts_.writer[storage], reader = facts_.last_reader[storage];
  const int count = static_cast<int>(whole_.steps.size());
  if (reader < 0 || reader >= count || facts_.steps[reader].slabs.count == 0) return false;
  if (writer >= 0 && writer < count && multiply_accumulates(*whole_.steps[writer].node) == 0) return true;
  for (const RowAccess& read : facts_.steps[reader].slabs.reads) {
    if (whole_.layouts[read.tensor].root != storage) continue;
    const auto meet = [](const Interval& a, const Interval& b) { return a.end > b.begin; };
    return std::adjacent_find(read.rows.begin(), read.rows.end(), meet) == read.rows.end();
  }
  return false;
}

// Forms the group so; nothing where that is impossible or the trials are spent. What a trial costs is counted
// before it is known to succeed: limits are the same whatever it finds.
std::optional<GroupWays::Way> GroupWays::tried(int begin, int end, Keep keep) {
  if (!may_try()) return std::nullopt;
  formed_ += end - begin;
  for (int s = begin; s < end; ++s) trials_ += facts_.steps[s].slabs.count;
  if (trials_ > most_trials()) trials_cut_at_.insert(most_trials());
  const auto plan = plan_of(begin, end, keep);
  if (!plan) return std::nullopt;
  return Way{std::move(keep), bytes_.of(*plan), work_again(*plan)};
}

// Which windows to try, and in which order: those first that save most bytes for their work, alone. Of a
// storage, those of fewer rows save more, and less for their work: of each storage the concave hull over its
// strips is kept, along which the rates fall (as in the greedy solution of the multiple-choice knapsack
// problem, Sinha and Zoltners, 1979).
//
//   bytes saved     .---x strip 1          the rate from corner to corner falls; a strip below the line
//                .-x strip 2               between its neighbours is never the best choice
//              x strip 4
//             +------------- work
void GroupWays::find_windows(int begin, int end, int64_t peak, Ways& ways) {
  if (windows_ == Windows::kAny && !std::exchange(ways.probed, true) && !ways.storages.empty()) {
    // Little less than everything computed again takes can be had.
    Keep everything = kNarrow;
    for (TensorId storage : ways.storages) everything.again.push_back({storage, 1});
    if (const auto least = tried(begin, end, everything))
      ways.floor = std::max(ways.floor, least->bytes - least->bytes / 16);
  }
  if (ways.floor > peak) return;
  ways.tried = windows_;
  ways.untried.emplace();
  std::vector<std::pair<double, WindowKept>> ranked;
  for (TensorId storage : ways.storages) {
    if (windows_ == Windows::kFree && !are_free(storage)) continue;
    std::vector<std::pair<double, WindowKept>> hull;  // rates fall
    std::vector<Gain> corners = {{0, 0}};
    for (int64_t strip : kStrips) {
      const auto gain = gain_of({storage, strip}, begin, end, ways);
      if (!gain || gain->bytes <= corners.back().bytes) continue;
      const auto rate = [&] {
        return static_cast<double>(gain->bytes - corners.back().bytes) /
               static_cast<double>(1 + gain->work - corners.back().work);
      };
      while (!hull.empty() && (gain->work <= corners.back().work || rate() >= hull.back().first))
        hull.pop_back(), corners.pop_back();
      hull.push_back({rate(), {storage, strip}});
      corners.push_back(*gain);
    }
    ranked.insert(ranked.end(), hull.begin(), hull.end());
  }
  const auto lower = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(ranked.begin(), ranked.end(), lower);
  for (const auto& [rate, window] : ranked) ways.untried->push_back(window);
}

// What a window alone saves and costs: in every group what it does in the first that can have it. An
// estimate, to order the trials by: each trial forms the group and knows the truth.
std::optional<GroupWays::Gain> GroupWays::gain_of(const WindowKept& window, int begin, int end,
                                                  const Ways& ways) {
  const std::pair key(window.storage, window.strip);
  if (const auto at = gains_.find(key); at != gains_.end()) return at->second;
  const auto with = tried(begin, end, {.width = 1, .again = {window}});
  if (!with) return std::nullopt;
  return gains_[key] = {ways.plain - with->bytes, with->work};
}

// Ways with one more storage computed again, or for fewer rows of windows at a time, where that saves
// bytes: beside those that are computed again already or, where these forbid it, instead of them.
void GroupWays::add_window(int begin, int end, Ways& ways) {
  const WindowKept window = ways.untried->back();
  ways.untried->pop_back();
  Keep keep = ways.next;
  std::erase_if(keep.again, [&](const WindowKept& other) { return other.storage == window.storage; });
  keep.again.push_back(window);
  if (add(begin, end, keep, ways) || keep.again.size() == 1) return;
  const auto alone = gains_.find({window.storage, window.strip});
  if (alone != gains_.end() && ways.plain - alone->second.bytes < ways.least)
    add(begin, end, {.width = 1, .again = {window}}, ways);
}

// Where it saves bytes; others are added to it then (ways.next).
bool GroupWays::add(int begin, int end, Keep keep, Ways& ways) {
  auto way = tried(begin, end, keep);
  if (!way || way->bytes >= ways.least || (windows_ == Windows::kFree && way->work > 0)) return false;
  ways.least = way->bytes;
  ways.next = std::move(keep);
  offer(ways.known, std::move(*way));
  return true;
}

// Wide chunks have faster kernels, so what fits is widened again as long as some of the peak is left
// (kSlack), halving from kWidestChunk.
GroupPlan GroupWays::plainest(int begin, int end, int64_t peak) const {
  auto rows = plan_of(begin, end, Keep{.columns = false});
  if (bytes_.of(*rows) <= peak) return std::move(*rows);
  const Way& way = *fitting(ways_.at({begin, end}), peak);
  for (int64_t width = kWidestChunk; width > way.keep.width; width /= 2) {
    auto wide = plan_of(begin, end, {.width = width, .again = way.keep.again});
    if (wide && bytes_.of(*wide) <= peak - peak / kSlack && work_again(*wide) <= way.work)
      return std::move(*wide);
  }
  return std::move(*plan_of(begin, end, way.keep));
}

// Of all stages.
int64_t GroupWays::work_again(const GroupPlan& plan) const {
  const std::vector<int64_t> stages = arenac::work_again(plan.group, whole_.steps);
  return std::accumulate(stages.begin(), stages.end(), int64_t{0});
}

// The part of its limits that is used, of the one that is nearest.
double GroupWays::work() const {
  const auto part = [](int64_t count, int64_t most) {
    return static_cast<double>(count) / static_cast<double>(most);
  };
  return std::max(part(runs_, kMostRuns), part(formed_, shared_.most_formed));
}

// For the report: what a larger limit might have found.
LimitsHit GroupWays::limits_hit() const {
  LimitsHit hit = facts_.limits_hit;
  if (runs_ > kMostRuns) hit.insert({"groups of layers", kMostRuns, "slab"});
  if (formed_ > shared_.most_formed) hit.insert({"groups of layers", shared_.most_formed, "stage"});
  if (might_be_longer_) hit.insert({"longer groups of layers", kLongestGroup, "step"});
  for (const int64_t count : trials_cut_at_) hit.insert({"what to compute again", count, "slab"});
  return hit;
}

}  // namespace arenac
