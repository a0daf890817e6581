#include "scheduler/fusion.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "scheduler/group_keys.h"
#include "scheduler/overlap.h"

namespace arenac {
namespace {

constexpr int64_t kSteps = 20;               // the least difference of two peaks: one part in as many
constexpr int64_t kMostRuns = 60'000'000;    // of slabs traced in the search for groups
constexpr int64_t kMostTrials = 12'000'000;  // the same in the search for what to compute again
constexpr int64_t kMostFree = 4'000'000;     // of these, for windows that take no work
constexpr int64_t kMostFormed = 1'500'000;   // of steps in groups that are formed in either, of all searches
constexpr int64_t kWidestChunk = 48;         // columns
constexpr int64_t kSlack = 32;               // chunks grow where one part in as many of the peak is left
constexpr int64_t kFine = 200;               // a search by halves ends one part in as many above the least
constexpr int64_t kNear = 4, kFew = 1024;    // peaks above the least by one part in as many, or so many bytes
constexpr int64_t kStrips[] = {4, 2, 1};     // rows of windows that are computed at a time

}  // namespace

class Partition {
  // One way to run a group.
  struct Option {
    Keep keep;
    int64_t bytes;  // live during the group
    int64_t work;   // multiply-accumulates done again
  };

  static inline const Keep kNarrow{.width = 1};

  // Which windows the search may keep alone.
  enum class Windows : uint8_t {
    kNone,
    kFree,  // those that take no multiply-accumulates again
    kAny,
  };

  // The ways to run a group, each with more work than the one before and fewer bytes; none: it cannot be one.
  struct Ways {
    std::vector<Option> options;
    int64_t plain = 0;                                    // bytes without windows
    int64_t floor = 0;                                    // bytes that no way goes below
    bool probed = false;                                  // whether the floor has been raised
    bool narrowed = false;                                // whether chunks of a column have been tried
    Keep next = kNarrow;                                  // of the best of them
    int64_t least = 0;                                    // its bytes
    std::vector<TensorId> storages = {};                  // that may be computed again
    Windows tried = Windows::kNone;                       // what `untried` was made of
    std::optional<std::vector<WindowKept>> untried = {};  // windows to try, the last one first
  };

  // Of a window: bytes that it saves, multiply-accumulates that are done again.
  struct Gain {
    int64_t bytes, work;
  };

  // What a group costs beside its bytes: work done again, then bytes of constants read again.
  struct Cost {
    int64_t work, read;
    auto operator<=>(const Cost&) const = default;
    Cost operator+(const Cost& other) const { return {work + other.work, read + other.read}; }
  };

 public:
  Partition(const Schedule& whole, int64_t turns, size_t searches, Deadline deadline, FormedGroups& known)
      : whole_(whole),
        graph_(*whole.graph),
        deadline_(deadline),
        most_formed_(kMostFormed / static_cast<int64_t>(searches)),
        steps_(whole.steps),
        layouts_(whole.layouts),
        facts_(in_turns(step_facts(graph_, steps_, layouts_), turns, steps_)),
        bytes_(counted(facts_, whole.io)),
        keys_(whole, facts_, bytes_),
        known_(known),
        count_(static_cast<int>(steps_.size())),
        begun_(count_ + 1),
        ended_(count_ + 1),
        ending_(count_ + 1),
        formed_to_(count_ + 1) {
    for (size_t id = 0; id < facts_.live.size(); ++id) {
      const auto [from, to] = facts_.live[id];
      if (from >= to || bytes_[id] == 0) continue;
      begun_[from + 1] += bytes_[id];
      ended_[to] += bytes_[id];
      ending_[to].push_back(static_cast<TensorId>(id));
    }
    std::partial_sum(begun_.begin(), begun_.end(), begun_.begin());
    std::partial_sum(ended_.begin(), ended_.end(), ended_.begin());
    for (int s = 0; s < count_; ++s) single_.push_back(bytes_of(s, s + 1));
    std::vector<int64_t> saved(count_);
    for (const StorageOverlap& o : whole.overlaps) saved[o.step] = std::max(saved[o.step], saving(o));
    for (int s = 0; s < count_; ++s) single_[s] -= saved[s];
  }

  std::vector<std::vector<GroupPlan>> least_with_windows() {
    return least_below(search(), {Windows::kFree, 0}, Expect::kNone);
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

  double work() const {
    const auto part = [](int64_t count, int64_t most) {
      return static_cast<double>(count) / static_cast<double>(most);
    };
    return std::max(part(runs_, kMostRuns), part(formed_, most_formed_));
  }

  LimitsHit limits_hit() const {
    LimitsHit hit = facts_.limits_hit;
    if (runs_ > kMostRuns) hit.insert({"groups of layers", kMostRuns, "slab"});
    if (formed_ > most_formed_) hit.insert({"groups of layers", most_formed_, "stage"});
    if (might_be_longer_) hit.insert({"longer groups of layers", kLongestGroup, "step"});
    for (const int64_t count : trials_cut_at_) hit.insert({"what to compute again", count, "slab"});
    return hit;
  }

  std::vector<std::vector<GroupPlan>> below_least() {
    if (count_ == 0) return {};
    std::vector<std::vector<GroupPlan>> all = {*cheapest(search())};
    trials_ = 0;
    for (int64_t peak = lower_than(all.back(), search()); auto groups = with_windows(peak, Windows::kAny);
         peak = lower_than(all.back(), peak))
      all.push_back(std::move(*groups));
    return all;
  }

 private:
  // Bytes per storage, those of the caller's none.
  static std::vector<int64_t> counted(const StepFacts& facts, Io io) {
    std::vector<int64_t> bytes = facts.bytes;
    for (size_t id = 0; id < bytes.size(); ++id)
      if (facts.callers[id] && io == Io::kExternal) bytes[id] = 0;
    return bytes;
  }

  struct Allowed {
    Windows windows;
    int64_t most_work;  // multiply-accumulates done again
  };

  // By enough less than `peak` and that of groups to be worth a choice.
  int64_t lower_than(const std::vector<GroupPlan>& groups, int64_t peak) const {
    return std::min(peak_of(groups) - 1, peak - std::max<int64_t>(peak / kSteps, 1));
  }

  // From `peak` down to the least, without windows.
  std::vector<std::vector<GroupPlan>> down_to_least(int64_t peak) {
    const int64_t least = search();
    std::vector<std::vector<GroupPlan>> all;
    for (peak = std::min(peak, *std::max_element(single_.begin(), single_.end())); peak > least;
         peak = lower_than(all.back(), peak))
      all.push_back(*cheapest(peak));
    all.push_back(*cheapest(least));
    return all;
  }

  // Groups of ever lower peaks below `high`, by halves. Where none are expected, first a little below it.
  std::vector<std::vector<GroupPlan>> least_below(int64_t high, const Allowed& allowed, Expect expect) {
    std::vector<std::vector<GroupPlan>> all;
    search();
    trials_ = 0;
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
    for (const auto& [begin, end] : *segments) groups.push_back(plainest(begin, end, peak));
    return groups;
  }

  // The same with windows where they need them.
  std::optional<std::vector<GroupPlan>> with_windows(int64_t peak, Windows windows) {
    consider_all(kLongestGroup, peak);
    windows_ = windows;
    auto groups = cheapest(peak);
    windows_ = Windows::kNone;
    return groups;
  }

  int64_t work_again(const GroupPlan& plan) const {
    const std::vector<int64_t> stages = arenac::work_again(plan.group, steps_);
    return std::accumulate(stages.begin(), stages.end(), int64_t{0});
  }

  int64_t work_of(const std::vector<GroupPlan>& groups) const {
    int64_t work = 0;
    for (const GroupPlan& plan : groups) work += work_again(plan);
    return work;
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

  std::optional<GroupPlan> form(int begin, int end, const Keep& keep) const {
    return form_group(whole_, facts_, begin, end, keep);
  }

  // A group that fits `peak`: with whole rows if they do, else in the widest chunks.
  GroupPlan plainest(int begin, int end, int64_t peak) {
    auto rows = form(begin, end, Keep{.columns = false});
    if (bytes_of(*rows) <= peak) return std::move(*rows);
    const Option& option = *fitting(grouped_.at({begin, end}), peak);
    for (int64_t width = kWidestChunk; width > option.keep.width; width /= 2) {
      auto wide = form(begin, end, {.width = width, .again = option.keep.again});
      if (wide && bytes_of(*wide) <= peak - peak / kSlack && work_again(*wide) <= option.work)
        return std::move(*wide);
    }
    return std::move(*form(begin, end, option.keep));
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
      bytes -= bytes_[storage];
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
    const int64_t above = bytes_[o.above], below = bytes_[o.below];
    return above > 0 && below > 0 ? above + below - joint_bytes(above, below, o.distance) : 0;
  }

  void consider_all(int longest, int64_t peak) {
    for (int begin = 0; begin < count_; ++begin) {
      int64_t inside = 0, layerwise = 0;  // bytes that live in the steps alone; the most at one of them
      for (int end = begin + 1; end <= std::min(count_, begin + longest); ++end) {
        if (facts_.steps[end - 1].slabs.count == 0) break;
        layerwise = std::max(layerwise, single_[end - 1]);
        for (const TensorId id : ending_[end])
          if (facts_.live[id].begin >= begin) inside += bytes_[id];
        // Groups that cannot lower the peak are not formed.
        const int64_t crossing = bytes_of(begin, end) - inside;
        if (end - begin > 1 && layerwise >= peak && crossing < peak) consider(begin, end);
      }
    }
  }

  void consider(int begin, int end) {
    if (runs_ > kMostRuns || formed_ > most_formed_ || grouped_.contains({begin, end}) ||
        has_passed(deadline_))
      return;
    Ways& ways = grouped_[{begin, end}];
    formed_ += end - begin;
    for (int s = begin; s < end; ++s) runs_ += facts_.steps[s].slabs.count;
    const GroupKeys::Key key = keys_.of(begin, end);
    const auto [at, is_new] = known_.try_emplace(key.hash);
    if (is_new) at->second = formed(begin, end, key);
    const FormedGroup& group = at->second;
    if (!group.can_be) return;
    might_be_longer_ |= end - begin == kLongestGroup && end < count_ && facts_.steps[end].slabs.count > 0;
    ways.least = ways.plain = bytes_of(begin, end) + group.bytes;
    ways.floor = bytes_of(begin, end) + group.floor;
    for (size_t place : group.again) ways.storages.push_back(key.tensors[place]);
    ways.options.push_back({Keep{}, ways.least, 0});
    auto& formed = formed_to_[end];
    formed.insert(std::lower_bound(formed.begin(), formed.end(), std::pair<int, Ways*>(begin, nullptr)),
                  {begin, &ways});
  }

  FormedGroup formed(int begin, int end, const GroupKeys::Key& key) const {
    const auto plan = form(begin, end, Keep{});
    if (!plan) return {};
    FormedGroup group{true, bytes_of(*plan) - bytes_of(begin, end), 0, {}};
    group.floor = group.bytes;
    for (const auto& [storage, ring] : plan->rings)
      if (ring.columns > 0) group.floor -= ring.size() * size_of(graph_.tensors[storage].type);
    for (TensorId storage : can_be_again(*plan)) {
      const auto ring = std::ranges::find(plan->rings, storage, &KeptRing::storage);
      group.floor -= ring->ring.size() * size_of(graph_.tensors[storage].type);
      group.again.push_back(
          static_cast<size_t>(std::ranges::find(key.tensors, storage) - key.tensors.begin()));
    }
    return group;
  }

  // The cheapest way to run a group within `peak`, of those tried.
  static const Option* fitting(const Ways& ways, int64_t peak) {
    for (const Option& option : ways.options)
      if (option.bytes <= peak) return &option;
    return nullptr;
  }

  int64_t most_trials() const { return windows_ == Windows::kFree ? kMostFree : kMostTrials; }

  // Whether windows may still be tried at all.
  bool may_try() const {
    return windows_ != Windows::kNone && trials_ <= most_trials() && formed_ <= most_formed_ &&
           !has_passed(deadline_);
  }

  // Whether windows that have not been tried might make a group fit.
  bool might_fit(const Ways& ways, int64_t peak) const {
    return !ways.options.empty() && ways.floor <= peak &&
           (!ways.narrowed || !is_listed(ways) || has_windows(ways));
  }

  bool has_windows(const Ways& ways) const { return ways.untried && !ways.untried->empty(); }

  // Whether the windows to try are known.
  bool is_listed(const Ways& ways) const { return ways.untried && ways.tried >= windows_; }

  // Tries chunks of a column, then windows, until the group fits or there are no more.
  void try_to_fit(int begin, int end, int64_t peak, Ways& ways) {
    if (may_try() && !std::exchange(ways.narrowed, true))
      if (auto narrow = with_windows(begin, end, kNarrow)) {
        ways.plain = ways.least = narrow->bytes;
        offer(ways.options, std::move(*narrow));
      }
    if (may_try() && !fitting(ways, peak) && !is_listed(ways)) find_windows(begin, end, peak, ways);
    while (may_try() && !fitting(ways, peak) && has_windows(ways)) add_window(begin, end, ways);
    if (const Option* fit = fitting(ways, peak)) lighten(begin, end, peak, Option(*fit), ways);
  }

  // As long as the group fits: leaves out what is computed again, or computes it for more rows of windows at
  // a time, each time where that takes least work.
  void lighten(int begin, int end, int64_t peak, Option fit, Ways& ways) {
    for (bool lighter = true; lighter;) {
      lighter = false;
      Option best = fit;
      for (Keep& keep : with_less_again(fit.keep)) {
        auto way = with_windows(begin, end, std::move(keep));
        if (!way) continue;
        if (way->bytes <= peak && way->work < best.work) best = *way, lighter = true;
        offer(ways.options, std::move(*way));  // it may fit another peak
      }
      fit = std::move(best);
    }
  }

  // With one storage not computed again, others as they were or for half as many rows of windows at a time;
  // or with one for more of them.
  static std::vector<Keep> with_less_again(const Keep& keep) {
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

  // Storages of a group that may be computed again.
  std::vector<TensorId> can_be_again(const GroupPlan& plan) const {
    std::vector<TensorId> storages;
    for (const auto& [storage, ring] : plan.rings) {
      const int writer = facts_.writer[storage], reader = facts_.last_reader[storage];
      const bool within = writer >= plan.group.begin && reader < plan.group.end && reader > writer;
      if (within && ring.columns == 0) storages.push_back(storage);
    }
    return storages;
  }

  // Whether to keep the windows of a storage alone takes no work: its writer multiplies nothing, or its
  // reader sees each of its rows once.
  bool are_free(TensorId storage) const {
    const int writer = facts_.writer[storage], reader = facts_.last_reader[storage];
    if (reader < 0 || reader >= count_ || facts_.steps[reader].slabs.count == 0) return false;
    if (writer >= 0 && writer < count_ && multiply_accumulates(*steps_[writer].node) == 0) return true;
    for (const RowAccess& read : facts_.steps[reader].slabs.reads) {
      if (layouts_[read.tensor].root != storage) continue;
      const auto meet = [](const Interval& a, const Interval& b) { return a.end > b.begin; };
      return std::adjacent_find(read.rows.begin(), read.rows.end(), meet) == read.rows.end();
    }
    return false;
  }

  std::optional<Option> with_windows(int begin, int end, Keep keep) {
    if (!may_try()) return std::nullopt;
    formed_ += end - begin;
    for (int s = begin; s < end; ++s) trials_ += facts_.steps[s].slabs.count;
    if (trials_ > most_trials()) trials_cut_at_.insert(most_trials());
    const auto plan = form(begin, end, keep);
    if (!plan) return std::nullopt;
    return Option{std::move(keep), bytes_of(*plan), work_again(*plan)};
  }

  // Which windows to try, and in which order: those first that save most bytes for their work, alone. Of a
  // storage, those of fewer rows save more, and less for their work.
  void find_windows(int begin, int end, int64_t peak, Ways& ways) {
    if (windows_ == Windows::kAny && !std::exchange(ways.probed, true) && !ways.storages.empty()) {
      // Little less than everything computed again takes can be had.
      Keep everything = kNarrow;
      for (TensorId storage : ways.storages) everything.again.push_back({storage, 1});
      if (const auto least = with_windows(begin, end, everything))
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

  // What a window alone saves and costs: in every group what it does in the first that can have it.
  std::optional<Gain> gain_of(const WindowKept& window, int begin, int end, const Ways& ways) {
    const std::pair key(window.storage, window.strip);
    if (const auto at = gains_.find(key); at != gains_.end()) return at->second;
    const auto with = with_windows(begin, end, {.width = 1, .again = {window}});
    if (!with) return std::nullopt;
    return gains_[key] = {ways.plain - with->bytes, with->work};
  }

  // Ways with one more storage computed again, or for fewer rows of windows at a time, where that saves
  // bytes: beside those that are computed again already or, where these forbid it, instead of them.
  void add_window(int begin, int end, Ways& ways) {
    const WindowKept window = ways.untried->back();
    ways.untried->pop_back();
    Keep keep = ways.next;
    std::erase_if(keep.again, [&](const WindowKept& other) { return other.storage == window.storage; });
    keep.again.push_back(window);
    if (add_way(begin, end, keep, ways) || keep.again.size() == 1) return;
    const auto alone = gains_.find({window.storage, window.strip});
    if (alone != gains_.end() && ways.plain - alone->second.bytes < ways.least)
      add_way(begin, end, {.width = 1, .again = {window}}, ways);
  }

  // Where it saves bytes; others are added to it then.
  bool add_way(int begin, int end, Keep keep, Ways& ways) {
    auto way = with_windows(begin, end, keep);
    if (!way || way->bytes >= ways.least || (windows_ == Windows::kFree && way->work > 0)) return false;
    ways.least = way->bytes;
    ways.next = std::move(keep);
    offer(ways.options, std::move(*way));
    return true;
  }

  // Keeps the options that are better than the others in bytes, work or the width of their chunks.
  static void offer(std::vector<Option>& options, Option option) {
    const auto as_good = [](const Option& a, const Option& b) {
      return a.bytes <= b.bytes && a.work <= b.work && a.keep.width >= b.keep.width;
    };
    if (std::any_of(options.begin(), options.end(), [&](const Option& o) { return as_good(o, option); }))
      return;
    std::erase_if(options, [&](const Option& o) { return as_good(option, o); });
    const auto at =
        std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.work > option.work; });
    options.insert(at, std::move(option));
  }

  int64_t least_peak() const {
    std::vector<int64_t> best(count_ + 1, INT64_MAX);
    best[0] = 0;
    for (int end = 1; end <= count_; ++end) {
      best[end] = std::max(best[end - 1], single_[end - 1]);
      for (const auto& [begin, ways] : formed_to_[end])
        best[end] = std::min(best[end], std::max(best[begin], ways->options.front().bytes));
    }
    return best[count_];
  }

  // What running a step in slabs costs: its constants are read for each. Steps without any are a little
  // dearer in a group, too.
  int64_t cost_of(int step) const {
    return 1 + constant_bytes(*steps_[step].node, graph_) * (facts_.steps[step].slabs.count - 1);
  }

  // The groups of the cheapest partition whose segments all fit `peak`. Windows are only tried for groups of
  // one that would be the cheapest if it took no more of them.
  std::optional<std::vector<std::pair<int, int>>> cheapest_segments(int64_t peak) {
    for (;;) {
      const auto groups = cheapest_at_best(peak);
      if (!groups) return std::nullopt;
      bool fit = true;
      for (const auto& [begin, end] : *groups) {
        Ways& ways = grouped_.at({begin, end});
        if (fitting(ways, peak)) continue;
        try_to_fit(begin, end, peak, ways);
        fit = false;
      }
      if (fit) return groups;
    }
  }

  // The same, where groups that might fit do so without more work.
  std::optional<std::vector<std::pair<int, int>>> cheapest_at_best(int64_t peak) const {
    constexpr Cost kNever = {INT64_MAX / 2, 0};
    const bool more = may_try();
    std::vector<int64_t> until(count_ + 1);
    std::vector<Cost> cost(count_ + 1, kNever);
    std::vector<int> from(count_ + 1, 0);
    for (int s = 0; s < count_; ++s) until[s + 1] = until[s] + cost_of(s);
    cost[0] = {0, 0};
    for (int end = 1; end <= count_; ++end) {
      if (single_[end - 1] <= peak) cost[end] = cost[end - 1], from[end] = end - 1;
      for (const auto& [begin, ways] : formed_to_[end]) {
        if (cost[begin] == kNever) continue;
        const Option* option = fitting(*ways, peak);
        if (!option && more && might_fit(*ways, peak)) option = &ways->options.back();
        if (!option) continue;
        const Cost with = cost[begin] + Cost{option->work, until[end] - until[begin]};
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

  const Schedule& whole_;
  const Graph& graph_;
  const Deadline deadline_;
  const int64_t most_formed_;
  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  const StepFacts facts_;
  const std::vector<int64_t> bytes_;  // per storage; of the caller's 0
  const GroupKeys keys_;
  FormedGroups& known_;
  const int count_;
  std::vector<int64_t> begun_, ended_;         // bytes of storages whose lives begin before, end by a step
  std::vector<std::vector<TensorId>> ending_;  // per step: storages whose lives end there
  std::vector<int64_t> single_;                // bytes live at each step
  std::map<std::pair<int, int>, Ways> grouped_;
  std::vector<std::vector<std::pair<int, Ways*>>> formed_to_;  // per end: ascending begins of what can be one
  std::map<std::pair<TensorId, int64_t>, Gain> gains_;         // per storage and strip of a window
  Windows windows_ = Windows::kNone;                           // that may be kept alone
  std::optional<int64_t> searched_ = {};
  int64_t runs_ = 0, trials_ = 0, formed_ = 0;
  std::set<int64_t> trials_cut_at_;  // the limits that a question met
  bool might_be_longer_ = false;     // a group of kLongestGroup steps
};

int64_t constant_bytes(const Node& node, const Graph& graph) {
  int64_t bytes = 0;
  for (TensorId id : node.reads)
    if (const auto& constant = graph.tensors[id].constant)
      bytes += static_cast<int64_t>(constant->bytes.size());
  return bytes;
}

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

GroupSearch::GroupSearch(const Schedule& whole, int64_t turns, size_t searches, Deadline deadline,
                         FormedGroups& known)
    : deadline_(deadline) {
  if (!has_passed(deadline))
    partition_ = std::make_unique<Partition>(whole, turns, searches, deadline, known);
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
