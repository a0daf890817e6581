#include "planner/exact.h"

#include <algorithm>
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
    {Valley::kFewestLowest, Rank::kWidthAreaTotal},
};

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

// The capacity to try next: the lowest one at first and then on every fourth turn; else a step below the best
// plan which grows with success and shrinks with failure.
class Ladder {
 public:
  int64_t next(const Bracket& bracket) {
    const int64_t step = bracket.step;
    const int64_t low = std::max(bracket.best.lower_bound, bracket.goal / step * step);
    const int64_t high = (bracket.best.size - 1) / step * step;
    if (down_ == 0) down_ = (high - low) / 4;
    at_low_ = turn_ < kTurnsAtLow || turn_ % 4 == 0 || bracket.goal > bracket.best.lower_bound || low >= high;
    ++turn_;
    if (at_low_) return low;
    return std::clamp((high - down_) / step * step, low, high);
  }

  void learn(Verdict verdict) {
    if (at_low_) return;
    if (verdict == Verdict::kFits) down_ += down_ / 2;
    if (verdict == Verdict::kUnknown && ++failures_ % kPatience == 0) down_ -= down_ / 4;
  }

 private:
  static constexpr int kPatience = 3, kTurnsAtLow = 9;
  int64_t down_ = 0;  // bytes
  int failures_ = 0, turn_ = 0;
  bool at_low_ = false;
};

// Rounds of attempts by each strategy in turn, at first as they are, then shuffled; with more nodes from time
// to time.
void search_strip(Bracket& bracket, const Stripped& stripped, const Effort& effort) {
  StripSearch search(stripped.strip);
  bracket.step = grid(stripped);
  int64_t& bound = bracket.best.lower_bound;
  bound = (bound + bracket.step - 1) / bracket.step * bracket.step;
  for (size_t i = 0; i < stripped.item_of.size(); ++i)
    if (stripped.item_of[i] < 0) bound = std::max(bound, stripped.offset[i] + stripped.size[i]);
  bound = std::min(bound, bracket.best.size);
  Ladder ladder;
  const auto items = int64_t(stripped.strip.items.size());
  for (uint64_t turn = 0; !bracket.is_closed() && !search.is_spent(effort); ++turn) {
    const uint64_t round = turn / std::size(kStrategies);
    StripSearch::Strategy strategy = kStrategies[turn % std::size(kStrategies)];
    strategy.seed = round;
    // 2, 4, 2, 8, 2, 4, 2, 16, ... (Luby, Sinclair and Zuckerman 1993, but for the repeats)
    const int64_t nodes = items * ((round + 1) & -(round + 1)) * 2;
    const int64_t capacity = ladder.next(bracket);
    const Verdict verdict = search.attempt(capacity, strategy, nodes, effort);
    narrow(bracket, capacity, verdict, search.offsets(), stripped);
    ladder.learn(verdict);
    if (verdict == Verdict::kFits) --turn;  // again, until it fails
    bracket.best.work = search.work();
  }
}

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

Exact search_exactly(const Problem& problem, int pool, const std::vector<int>& members, int64_t upper,
                     int64_t lower, const Effort& effort, int64_t goal) {
  Bracket bracket{{{}, upper, std::min(lower, upper), 0}, goal > lower ? goal : 0, 1};
  if (bracket.is_closed()) return bracket.best;
  if (const auto stripped = make_strip(problem, pool, members))
    search_strip(bracket, *stripped, effort);
  else if (members.size() <= kMostDisjunctiveItems)
    search_disjunctive(bracket, make_disjunctive(problem, pool, members), effort);
  return bracket.best;
}

}  // namespace arenac
