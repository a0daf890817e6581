#include "planner/disjunctive.h"

#include <algorithm>

#include "planner/packing.h"

namespace arenac {
namespace {

// offset(upper) >= offset(lower) + distance
struct Difference {
  int lower, upper;
  int64_t distance;
};

// Looking at a constraint, in units of work of the strip search. Plans that this search betters at all it
// betters early: of the networks at hand none gains by a smaller one.
constexpr int64_t kWorkOfConstraint = 8;

class DisjunctiveSearch {
 public:
  DisjunctiveSearch(const Disjunctive& problem, int64_t capacity, const Effort& effort)
      : problem_(problem), effort_(effort) {
    for (const Disjunctive::Item& item : problem.items) {
      lowest_.push_back(std::max<int64_t>(0, item.fixed));
      highest_.push_back(item.fixed >= 0 ? item.fixed : (capacity - item.size) / item.align * item.align);
      possible_ = possible_ && capacity >= item.size && lowest_.back() + item.size <= capacity;
    }
    chosen_.resize(problem.disjunctions.size(), 0);
  }

  DisjunctiveFit run() {
    Verdict verdict = possible_ ? search() : Verdict::kNever;
    return {verdict, verdict == Verdict::kFits ? lowest_ : std::vector<int64_t>{}, work_};
  }

 private:
  Difference side(const Disjunctive::Disjunction& d, int which) const {
    return which == 0 ? Difference{d.a, d.b, -d.below} : Difference{d.b, d.a, d.above};
  }
  bool is_possible(const Difference& d) const { return lowest_[d.lower] + d.distance <= highest_[d.upper]; }
  bool is_kept(const Difference& d) const { return lowest_[d.upper] >= lowest_[d.lower] + d.distance; }

  // Narrows the offsets by one constraint; false if nothing is left.
  bool narrow(const Difference& d) {
    int64_t &lowest = lowest_[d.upper], &highest = highest_[d.lower];
    const int64_t low = lowest_[d.lower] + d.distance, high = highest_[d.upper] - d.distance;
    if (low > lowest) {
      if (low > highest_[d.upper]) return false;
      lowest = round_up(low, problem_.items[d.upper].align);
      if (lowest > highest_[d.upper]) return false;
      changed_ = true;
    }
    if (high < highest) {
      if (high < lowest_[d.lower]) return false;
      highest = round_down(high, problem_.items[d.lower].align);
      if (highest < lowest_[d.lower]) return false;
      changed_ = true;
    }
    return true;
  }

  Verdict propagate() {
    for (changed_ = true; changed_;) {
      changed_ = false;
      work_ += kWorkOfConstraint * int64_t(differences_.size() + chosen_.size());
      if (is_spent()) return Verdict::kUnknown;
      for (size_t i = 0; i < differences_.size(); ++i)
        if (!narrow(differences_[i])) return Verdict::kNever;
      for (size_t i = 0; i < chosen_.size(); ++i) {
        if (chosen_[i]) continue;
        Difference a = side(problem_.disjunctions[i], 0), b = side(problem_.disjunctions[i], 1);
        if (is_possible(a) && is_possible(b)) continue;
        chosen_[i] = 1;
        differences_.push_back(is_possible(a) ? a : b);
        if (!narrow(differences_.back())) return Verdict::kNever;
      }
    }
    return Verdict::kFits;
  }

  // Of those that the lowest offsets violate, the one that starts lowest; -1 if there is none.
  int violated() const {
    int best = -1;
    int64_t least = 0;
    for (int i = 0; i < int(chosen_.size()); ++i) {
      const Disjunctive::Disjunction& d = problem_.disjunctions[i];
      if (chosen_[i] || is_kept(side(d, 0)) || is_kept(side(d, 1))) continue;
      int64_t offset = std::min(lowest_[d.a], lowest_[d.b]);
      if (best < 0 || offset < least) {
        best = i;
        least = offset;
      }
    }
    return best;
  }

  bool is_spent() const { return work_ >= effort_.work || effort_.cutoff.has_passed(); }

  Verdict search() {
    if (Verdict verdict = propagate(); verdict != Verdict::kFits) return verdict;
    int open = violated();
    if (open < 0) return Verdict::kFits;
    const auto lowest = lowest_, highest = highest_;
    const auto chosen = chosen_;
    const size_t differences = differences_.size();
    const Disjunctive::Disjunction& d = problem_.disjunctions[open];
    const int first = lowest_[d.a] <= lowest_[d.b] ? 0 : 1;  // the lower one stays below
    for (int which : {first, 1 - first}) {
      chosen_[open] = 1;
      differences_.push_back(side(d, which));
      Verdict verdict = search();
      if (verdict != Verdict::kNever) return verdict;
      lowest_ = lowest;
      highest_ = highest;
      chosen_ = chosen;
      differences_.resize(differences);
    }
    return Verdict::kNever;
  }

  const Disjunctive& problem_;
  Effort effort_;
  std::vector<int64_t> lowest_, highest_;  // offsets per item
  std::vector<char> chosen_;               // per disjunction
  std::vector<Difference> differences_;    // the chosen sides
  bool possible_ = true, changed_ = false;
  int64_t work_ = 0;
};

}  // namespace

DisjunctiveFit fits(const Disjunctive& problem, int64_t capacity, const Effort& effort) {
  return DisjunctiveSearch(problem, capacity, effort).run();
}

}  // namespace arenac
