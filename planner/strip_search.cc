#include "planner/strip_search.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace arenac {
namespace {

// Failures to remember, a power of two.
size_t remembered(size_t items) { return items < 32 ? size_t{1} << 10 : size_t{1} << 18; }

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

StripSearch::StripSearch(const Strip& strip) : strip_(strip) {
  size_t n = strip.items.size(), m = size_t(strip.sections);
  in_section_.resize(m);
  for (auto* per_section : {&floor_, &rest_}) per_section->assign(m, 0);
  for (auto* per_section : {&left_, &pass_of_, &queued_of_}) per_section->assign(m, 0);
  crossing_.assign(m + 1, 0);
  tokens_.assign(m, 0);
  support_.assign(m, -1);
  reason_.assign(m, {});
  placed_.assign(n, 0);
  lowest_.assign(n, 0);
  offset_.assign(n, 0);
  source_.assign(n, -1);
  failures_.resize(remembered(n));
  for (int i = 0; i < int(n); ++i) {
    const Strip::Item& item = strip.items[i];
    hull_.push_back({item.runs.front().sections.begin, item.runs.back().sections.end});
    token_.push_back(mix(uint64_t(i) + 1));
    has_steps_ |= item.runs.size() > 1;
    item.each_section([&](int s, int64_t) { in_section_[s].push_back(i); });
  }
}

bool StripSearch::start() {
  std::fill(floor_.begin(), floor_.end(), 0);
  std::fill(rest_.begin(), rest_.end(), 0);
  std::fill(left_.begin(), left_.end(), 0);
  std::fill(crossing_.begin(), crossing_.end(), 0);
  std::fill(tokens_.begin(), tokens_.end(), 0);
  std::fill(placed_.begin(), placed_.end(), 0);
  std::fill(source_.begin(), source_.end(), -1);
  order_.clear();
  changes_.clear();
  raised_.clear();
  queue_.clear();
  unsettled_.clear();
  for (int i = 0; i < int(strip_.items.size()); ++i) {
    const Strip::Item& item = strip_.items[i];
    work_ += 10 + 4 * (hull_[i].end - hull_[i].begin);
    lowest_[i] = std::max<int64_t>(0, item.fixed);
    if (lowest_[i] + item.size > capacity_) return false;
    for (int s = hull_[i].begin + 1; s < hull_[i].end; ++s) ++crossing_[s];
    item.each_section([&](int s, int64_t height) {
      rest_[s] += height;
      ++left_[s];
      tokens_[s] ^= token_[i];
    });
  }
  ++pass_;
  for (int s = 0; s < strip_.sections; ++s) {
    if (rest_[s] > capacity_) return false;
    unsettled_.push_back(s);
    queued_of_[s] = pass_;
  }
  return propagate();
}

StripSearch::Mark StripSearch::begin_trial() {
  ++pass_;
  queue_.clear();
  unsettled_.clear();
  return {changes_.size(), raised_.size(), order_.size()};
}

Verdict StripSearch::explore_trial(Span range, const Mark& before) {
  const Verdict verdict = explore_parts(range);
  if (verdict == Verdict::kNever) failed_ = translated(failed_, before.raised);
  return verdict;
}

Verdict StripSearch::end_trial(const Mark& before, Verdict verdict) {
  if (verdict == Verdict::kFits) return verdict;
  while (order_.size() > before.placed) unplace();
  undo(before.changes);
  raised_.resize(before.raised);
  return verdict;
}

Verdict StripSearch::try_item(Span range, int i, int64_t offset) {
  const Mark before = begin_trial();
  place(i, offset);
  bool fits = true;
  strip_.items[i].each_section([&](int s, int64_t) {
    if (fits && floor_[s] + rest_[s] > capacity_) {
      fits = false;
      failed_ = {s, s + 1};
    }
  });
  return end_trial(before, fits && propagate() ? explore_trial(range, before) : Verdict::kNever);
}

// None of the branch's items begins at the floor of its section.
Verdict StripSearch::try_waste(Span range, const Branch& branch) {
  int s = branch.section;
  int64_t floor = floor_[s], next = kNowhere;
  failed_ = {s, s + 1};
  if (floor + 1 + rest_[s] > capacity_) return Verdict::kNever;
  Span crossing;
  for (int i : remaining(s)) {
    if (lowest_[i] > floor) next = std::min(next, lowest_[i]);
    if (lowest_[i] == floor) {
      crossing = hull(crossing, hull_[i]);
      if (strip_.items[i].fixed >= 0) return Verdict::kNever;
    }
  }
  auto covers = [&](int i) {
    return std::any_of(strip_.items[i].runs.begin(), strip_.items[i].runs.end(), [&](const Strip::Run& run) {
      return run.sections.begin <= s && s < run.sections.end;
    });
  };
  std::vector<int> others;
  work_ += int64_t(strip_.items.size());
  for (int i = 0; i < int(strip_.items.size()); ++i)
    if (!placed_[i] && meet(hull_[i], crossing) && !covers(i)) others.push_back(i);
  auto least_height = [&](int i) {
    int64_t least = strip_.items[i].size;
    for (const Strip::Run& run : strip_.items[i].runs) least = std::min(least, run.height);
    return least;
  };
  for (int i : others) next = std::min(next, lowest_[i] + least_height(i));
  Span reason{s, s + 1};
  for (int i : remaining(s))
    if (lowest_[i] > floor && source_[i] >= 0) reason = hull(reason, {source_[i], source_[i] + 1});
  for (int i : others)
    if (source_[i] >= 0 && least_height(i) < next) reason = hull(reason, {source_[i], source_[i] + 1});
  failed_ = reason;
  if (next == kNowhere || next + rest_[s] > capacity_) return Verdict::kNever;

  const Mark before = begin_trial();
  const bool is_possible = raise_floor(s, next, reason) && propagate();
  return end_trial(before, is_possible ? explore_trial(range, before) : Verdict::kNever);
}

// The count is kNowhere if one of them reaches above lower floors; it may end above `most`.
StripSearch::Choices StripSearch::choices(int section, int64_t most) {
  Choices result;
  work_ += left_[section];
  for (int i : remaining(section)) {
    if (lowest_[i] != floor_[section]) continue;
    if (++result.count > most) break;
    result.first = std::min(result.first, rank_[i]);
    if (!has_steps_ || strip_.items[i].runs.size() == 1) continue;
    bool is_level = true;
    strip_.items[i].each_section([&](int s, int64_t) { is_level &= floor_[s] == floor_[section]; });
    if (!is_level) return {kNowhere};
  }
  return result;
}

// The least is branched on.
std::array<int64_t, 3> StripSearch::key_of_valley(int section, const Choices& choices) const {
  const int64_t floor = floor_[section], slack = capacity_ - floor - rest_[section];
  const int64_t count = choices.count + (slack > 0);  // nothing at all is a choice too
  switch (strategy_.valley) {
    case Valley::kFewest:
      return {count, slack, floor};
    case Valley::kFewestLowest:
      return {count, floor, slack};
    case Valley::kLowest:
      return {floor, count, slack};
    case Valley::kTightest:
      return {slack, count, floor};
    case Valley::kRanked:
      return {floor, choices.first, count};
  }
  return {};
}

// Whether the key may begin with a number up to `least`, as far as that is known without its choices.
bool StripSearch::may_be_least(int section, int64_t least) const {
  switch (strategy_.valley) {
    case Valley::kLowest:
    case Valley::kRanked:
      return floor_[section] <= least;
    case Valley::kTightest:
      return capacity_ - floor_[section] - rest_[section] <= least;
    default:
      return true;
  }
}

StripSearch::Branch StripSearch::choose(Span range) {
  const bool is_by_count = strategy_.valley == Valley::kFewest || strategy_.valley == Valley::kFewestLowest;
  Branch best;
  std::array<int64_t, 3> least{kNowhere, 0, 0};
  int s = range.begin;
  while (s < range.end) {
    int begin = s;
    while (s < range.end && left_[s] > 0 && left_[begin] > 0 && floor_[s] == floor_[begin]) ++s;
    if (s == begin) {
      ++s;
      continue;
    }
    bool wall_before = begin == range.begin || left_[begin - 1] == 0 || floor_[begin - 1] > floor_[begin];
    bool wall_after = s == range.end || left_[s] == 0 || floor_[s] > floor_[begin];
    if (!wall_before || !wall_after) continue;
    for (int t = begin; t < s; ++t) {
      if (!may_be_least(t, least[0])) continue;
      const Choices here = choices(t, is_by_count ? least[0] : kNowhere);
      if (here.count == kNowhere) continue;
      const std::array<int64_t, 3> key = key_of_valley(t, here);
      if (key < least) {
        least = key;
        best.section = t;
      }
    }
  }
  work_ += range.end - range.begin;
  if (best.section < 0) return best;
  for (int i : remaining(best.section))
    if (lowest_[i] == floor_[best.section]) best.items.push_back(i);
  std::sort(best.items.begin(), best.items.end(), [&](int a, int b) { return rank_[a] < rank_[b]; });
  return best;
}

StripSearch::Key StripSearch::key_of(Span range) {
  uint64_t a = 0, b = 0;
  work_ += 2 * (range.end - range.begin);
  for (int s = range.begin; s < range.end; ++s) {
    if (left_[s] == 0) continue;
    uint64_t x = mix(tokens_[s] + uint64_t(floor_[s]) * 0x9e3779b97f4a7c15 + uint64_t(s));
    a += x;
    b += x * x ^ (x >> 32);
  }
  return {mix(a) & (failures_.size() - 1), mix(a ^ mix(b))};
}

bool StripSearch::is_spent(const Effort& effort) const {
  return work_ >= effort.work || effort.cutoff.has_passed();
}

bool StripSearch::is_too_deep() const {
  return std::abs(stack_ - static_cast<const char*>(__builtin_frame_address(0))) > kMostStack;
}

Verdict StripSearch::branch(Span range) {
  if (nodes_left_-- <= 0 || is_too_deep() || (nodes_ % 256 == 0 ? is_spent(effort_) : work_ >= effort_.work))
    return Verdict::kUnknown;
  ++nodes_;
  Key key = key_of(range);
  if (const Failure& known = failures_[key.slot]; known.check == key.check && capacity_ <= known.capacity) {
    failed_ = known.reason;
    return Verdict::kNever;
  }
  Branch branch = choose(range);
  if (branch.section < 0) return Verdict::kFits;
  Span section{branch.section, branch.section + 1}, reason = section;
  int64_t floor = floor_[branch.section];
  for (int i : remaining(branch.section))
    if (lowest_[i] > floor && source_[i] >= 0) reason = hull(reason, {source_[i], source_[i] + 1});
  for (int i : branch.items) {
    Verdict verdict = try_item(range, i, floor);
    if (verdict != Verdict::kNever) return verdict;
    if (!meet(failed_, hull_[i])) {
      failures_[key.slot] = {key.check, capacity_, failed_};
      return Verdict::kNever;
    }
    reason = hull(reason, failed_);
  }
  Verdict verdict = try_waste(range, branch);
  if (verdict != Verdict::kNever) return verdict;
  reason = meet(failed_, section) ? hull(reason, failed_) : failed_;
  failed_ = reason;
  failures_[key.slot] = {key.check, capacity_, reason};
  return Verdict::kNever;
}

// The parts of the range that no remaining item connects are problems of their own.
Verdict StripSearch::explore_parts(Span range) {
  std::vector<Span> parts;
  int begin = range.begin;
  for (int s = range.begin; s < range.end; ++s) {
    if (s + 1 < range.end && crossing_[s + 1] > 0) continue;
    bool is_done = true;
    for (int t = begin; t <= s && is_done; ++t) is_done = left_[t] == 0;
    if (!is_done) parts.push_back({begin, s + 1});
    begin = s + 1;
  }
  for (Span part : parts) {
    Verdict verdict = branch(part);
    if (verdict != Verdict::kFits) return verdict;
  }
  return Verdict::kFits;
}

void StripSearch::rank(Rank rule, uint64_t seed) {
  struct Measure {
    int64_t total = 0, width = 0, area = 0;
  };
  std::vector<Measure> measures(strip_.items.size());
  for (int i = 0; i < int(strip_.items.size()); ++i)
    strip_.items[i].each_section([&, &m = measures[i]](int s, int64_t height) {
      m.total = std::max(m.total, rest_[s]);
      m.area += height;
      ++m.width;
    });
  auto key = [&](int i) {
    const auto& [total, width, area] = measures[i];
    switch (rule) {
      case Rank::kTotalWidthArea:
        return std::array{total, width, area};
      case Rank::kTotalAreaWidth:
        return std::array{total, area, width};
      case Rank::kWidthAreaTotal:
        return std::array{width, area, total};
    }
    return std::array<int64_t, 3>{};
  };
  std::vector<int> order(strip_.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) > key(b); });
  // Neighbours in the order change places.
  for (size_t r = 0; seed != 0 && r + 1 < order.size(); ++r) {
    size_t ahead = (seed = mix(seed)) % 8;
    if (ahead > 0 && r + ahead < order.size() && (seed >> 32) % 2) std::swap(order[r], order[r + ahead]);
  }
  rank_.resize(order.size());
  for (int r = 0; r < int(order.size()); ++r) rank_[order[r]] = r;
}

Verdict StripSearch::attempt(int64_t capacity, const Strategy& strategy, int64_t nodes,
                             const Effort& effort) {
  effort_ = effort;
  capacity_ = capacity;
  strategy_ = strategy;
  nodes_left_ = nodes;
  stack_ = static_cast<const char*>(__builtin_frame_address(0));
  if (!start()) return Verdict::kNever;
  rank(strategy.rank, strategy.seed);
  return explore_parts({0, strip_.sections});
}

}  // namespace arenac
