#include "planner/exact.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "planner/bounds.h"
#include "planner/disjunctive.h"
#include "planner/packing.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

// The tree search keeps tables of items by sections, and recurses once for each item.
constexpr size_t kMostItems = 8'000;
constexpr int64_t kMostCells = 10'000'000;
constexpr size_t kMostDisjunctiveItems = 64;

struct Stripped {
  Strip strip;
  std::vector<int> item_of;           // per member: its item, or -1 if it shares no byte with anybody
  std::vector<int64_t> size, offset;  // per member; the offset of those without an item
};

bool has_overlaps(const Problem& problem, const std::vector<int>& members) {
  std::vector<char> is_member(problem.buffers.size(), 0);
  for (int id : members) is_member[id] = 1;
  return std::any_of(problem.overlaps.begin(), problem.overlaps.end(),
                     [&](const Overlap& o) { return is_member[o.above] && is_member[o.below]; });
}

// Nothing if the strip search cannot take these buffers.
std::optional<Stripped> make_strip(const Problem& problem, int pool, const std::vector<int>& members) {
  if (members.size() > kMostItems || has_overlaps(problem, members)) return {};
  const Timeline timeline = make_timeline(problem, members);
  Stripped result;
  result.strip.sections = timeline.slots;
  int64_t cells = 0;
  for (int id : members) {
    const Buffer& b = problem.buffers[id];
    result.item_of.push_back(-1);
    result.size.push_back(b.size);
    result.offset.push_back(b.fixed_offset.value_or(0));
    Strip::Item item{b.size, alignment_in(problem, id, pool), b.fixed_offset.value_or(-1), {}};
    for (const Piece& piece : timeline.pieces(id)) {
      if (piece.low > 0) return {};
      item.runs.push_back({piece.slots, piece.high});
      cells += piece.slots.end - piece.slots.begin;
    }
    if (item.runs.empty()) continue;
    result.item_of.back() = int(result.strip.items.size());
    result.strip.items.push_back(item);
  }
  if (cells > kMostCells) return {};
  return result;
}

Disjunctive make_disjunctive(const Problem& problem, int pool, const std::vector<int>& members) {
  const Timeline timeline = make_timeline(problem, members);
  const auto overlaps = overlaps_by_buffer(problem);
  Disjunctive result;
  for (int i = 0; i < int(members.size()); ++i) {
    const Buffer& b = problem.buffers[members[i]];
    result.items.push_back({b.size, alignment_in(problem, members[i], pool), b.fixed_offset.value_or(-1)});
    for (int j = 0; j < i; ++j)
      for (const Piece& p : timeline.pieces(members[i]))
        for (const Piece& q : timeline.pieces(members[j])) {
          if (p.slots.begin >= q.slots.end || q.slots.begin >= p.slots.end) continue;
          const auto [begin, end] = forbidden_starts(members[j], q, 0, members[i], p, overlaps[members[i]]);
          if (begin < end) result.disjunctions.push_back({i, j, begin - 1, end});
        }
  }
  return result;
}

// What every offset and height of a plan that has sunk is a multiple of.
int64_t grid(const Stripped& stripped) {
  int64_t step = 0;
  for (size_t i = 0; i < stripped.item_of.size(); ++i)
    if (stripped.item_of[i] < 0) step = std::gcd(step, stripped.offset[i] + stripped.size[i]);
  for (const Strip::Item& item : stripped.strip.items) {
    step = std::gcd(step, item.size);
    if (item.align > 1) step = std::gcd(step, item.align);
    if (item.fixed > 0) step = std::gcd(step, item.fixed);
    for (const Strip::Run& run : item.runs) step = std::gcd(step, run.height);
  }
  return std::max<int64_t>(step, 1);
}

// One call of search_exactly: between a plan and a bound.
struct Bracket {
  Exact best;
  int64_t goal = 0, step = 1;
  // Done: the plan is proven or good enough, or no plan can be good enough.
  bool is_closed() const {
    return best.size <= std::max(best.lower_bound, goal) || (goal > 0 && best.lower_bound > goal);
  }
};

// In the order of how soon they found plans on minimalloc's problems.
using Valley = StripSearch::Valley;
using Rank = StripSearch::Rank;
constexpr StripSearch::Strategy kStrategies[] = {
    {Valley::kFewest, Rank::kTotalWidthArea},       {Valley::kLowest, Rank::kTotalWidthArea},
    {Valley::kTightest, Rank::kTotalWidthArea},     {Valley::kFewest, Rank::kTotalAreaWidth},
    {Valley::kLowest, Rank::kTotalAreaWidth},       {Valley::kFewestLowest, Rank::kTotalAreaWidth},
    {Valley::kTightest, Rank::kTotalAreaWidth},     {Valley::kLowest, Rank::kWidthAreaTotal},
    {Valley::kFewestLowest, Rank::kWidthAreaTotal}, {Valley::kRanked, Rank::kTotalWidthArea},
    {Valley::kRanked, Rank::kWidthAreaTotal},       {Valley::kRanked, Rank::kTotalAreaWidth},
    {Valley::kFewest, Rank::kWidthAreaTotal},
};
// Capacities, as parts of the way from the best plan down to the bound. The bound itself, often out of reach,
// has a smaller share of the work.
constexpr double kLevels[] = {1, 1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};
constexpr double kShareOfBound = 0.25;

// Learns from a capacity that was tried: the plan that keeps to it, or the bound above it.
void narrow(Bracket& bracket, int64_t capacity, Verdict verdict, const std::vector<int64_t>& offsets,
            const Stripped& stripped) {
  if (verdict == Verdict::kNever)
    bracket.best.lower_bound = std::min(capacity + bracket.step, bracket.best.size);
  if (verdict != Verdict::kFits) return;
  bracket.best.offsets.clear();
  bracket.best.size = 0;
  for (size_t i = 0; i < stripped.item_of.size(); ++i) {
    const int item = stripped.item_of[i];
    const int64_t offset = item < 0 ? stripped.offset[i] : offsets[item];
    bracket.best.offsets.push_back(offset);
    bracket.best.size = std::max(bracket.best.size, offset + stripped.size[i]);
  }
}

// Work that flows by result: whoever has had the least for its weight is next, and weights grow with success
// and fall with failure (stride scheduling, Waldspurger and Weihl 1995).
class Shares {
 public:
  // The weight of the first one may fall as low as `least`, that of the others to 1.
  explicit Shares(size_t count, double least = 1) : all_(count) { all_[0].weight = all_[0].least = least; }

  size_t next() const {
    const auto less = [](const Share& a, const Share& b) { return a.had < b.had; };
    return size_t(std::min_element(all_.begin(), all_.end(), less) - all_.begin());
  }
  void learn(size_t which, Verdict verdict, int64_t work) {
    Share& share = all_[which];
    share.had += double(work) / share.weight;
    share.weight = verdict == Verdict::kUnknown ? std::max(share.least, kFall * share.weight)
                                                : std::min(kMost, 2 * share.weight);
  }

 private:
  static constexpr double kMost = 32, kFall = 0.9;
  struct Share {
    double had = 0, weight = 1, least = 1;
  };
  std::vector<Share> all_;
};

}  // namespace

// Attempts by strategies at capacities between the bound and the best plan. Each strategy begins with its
// order as it is, and shuffles it for each attempt after that; some attempts are longer than others.
class StripSchedule {
 public:
  explicit StripSchedule(Stripped stripped)
      : stripped_(std::move(stripped)), search_(stripped_.strip), step_(grid(stripped_)) {
    for (size_t i = 0; i < stripped_.item_of.size(); ++i)
      if (stripped_.item_of[i] < 0) bound_ = std::max(bound_, stripped_.offset[i] + stripped_.size[i]);
  }
  StripSchedule(const StripSchedule&) = delete;  // the search refers to the strip

  void run(Bracket& bracket, Effort effort) {
    bracket.step = step_;
    int64_t& bound = bracket.best.lower_bound;
    bound = std::min(std::max((bound + step_ - 1) / step_ * step_, bound_), bracket.best.size);
    const int64_t before = search_.work();
    effort.work += before;
    while (!bracket.is_closed() && !search_.is_spent(effort)) {
      // The bound itself is asked of each strategy once, before anything else.
      const bool is_first = first_ < std::size(kStrategies);
      const size_t arm = is_first ? first_ : arms_.next(), level = is_first ? 0 : levels_.next();
      attempt(bracket, arm, level, effort);
      if (is_first) ++first_;
    }
    bracket.best.work = search_.work() - before;
    bound_ = bound;
  }

 private:
  // Again with success, until it fails.
  void attempt(Bracket& bracket, size_t arm, size_t level, const Effort& effort) {
    StripSearch::Strategy strategy = kStrategies[arm];
    const uint64_t run = strategy.seed = runs_[arm]++;
    // 2, 4, 2, 8, 2, 4, 2, 16, ... (Luby, Sinclair and Zuckerman 1993, but for the repeats)
    const int64_t nodes = int64_t(stripped_.strip.items.size()) * int64_t((run + 1) & -(run + 1)) * 2;
    for (Verdict verdict = Verdict::kFits; verdict == Verdict::kFits && !bracket.is_closed();) {
      const int64_t before = search_.work(), capacity = capacity_of(bracket, level);
      verdict = search_.attempt(capacity, strategy, nodes, effort);
      narrow(bracket, capacity, verdict, search_.offsets(), stripped_);
      arms_.learn(arm, verdict, search_.work() - before);
      levels_.learn(level, verdict, search_.work() - before);
    }
  }

  int64_t capacity_of(const Bracket& bracket, size_t level) const {
    const int64_t low = std::max(bracket.best.lower_bound, bracket.goal / step_ * step_);
    const int64_t high = (bracket.best.size - 1) / step_ * step_;
    if (bracket.goal > bracket.best.lower_bound || low >= high) return low;
    const auto down = std::max(int64_t(double(bracket.best.size - low) * kLevels[level]), step_);
    return std::clamp((bracket.best.size - down) / step_ * step_, low, high);
  }

  Stripped stripped_;
  StripSearch search_;
  int64_t step_, bound_ = 0;  // what heights are multiples of; the best bound known
  Shares arms_{std::size(kStrategies)}, levels_{std::size(kLevels), kShareOfBound};
  std::array<uint64_t, std::size(kStrategies)> runs_ = {};  // per strategy
  size_t first_ = 0;
};

namespace {

void search_disjunctive(Bracket& bracket, const Disjunctive& problem, const Effort& effort) {
  while (!bracket.is_closed()) {
    const int64_t capacity = bracket.best.size - 1;
    Effort left = effort;
    left.work -= bracket.best.work;
    DisjunctiveFit fit = fits(problem, capacity, left);
    bracket.best.work += fit.work;
    if (fit.verdict == Verdict::kUnknown) return;
    if (fit.verdict == Verdict::kNever) {
      bracket.best.lower_bound = bracket.best.size;
      return;
    }
    bracket.best.size = 0;
    for (size_t i = 0; i < problem.items.size(); ++i)
      bracket.best.size = std::max(bracket.best.size, fit.offsets[i] + problem.items[i].size);
    bracket.best.offsets = std::move(fit.offsets);
  }
}

}  // namespace

ExactSearch::ExactSearch(const Problem& problem, int pool, const std::vector<int>& members) {
  if (auto stripped = make_strip(problem, pool, members))
    strip_ = std::make_unique<StripSchedule>(std::move(*stripped));
  else if (members.size() <= kMostDisjunctiveItems)
    disjunctive_ = std::make_unique<Disjunctive>(make_disjunctive(problem, pool, members));
}
ExactSearch::~ExactSearch() = default;

Exact ExactSearch::run(int64_t upper, int64_t lower, const Effort& effort, int64_t goal) {
  Bracket bracket{{{}, upper, std::min(lower, upper), 0}, goal > lower ? goal : 0, 1};
  if (bracket.is_closed()) return bracket.best;
  if (strip_) strip_->run(bracket, effort);
  if (disjunctive_) search_disjunctive(bracket, *disjunctive_, effort);
  return bracket.best;
}

Exact search_exactly(const Problem& problem, int pool, const std::vector<int>& members, int64_t upper,
                     int64_t lower, const Effort& effort, int64_t goal) {
  return ExactSearch(problem, pool, members).run(upper, lower, effort, goal);
}

}  // namespace arenac
