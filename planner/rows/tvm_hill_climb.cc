// TVM's Unified Static Memory Planner, hill climb: a local search over the order of placing, each buffer at
// its lowest free offset, that starts from the order of greedy by size. One of the topmost buffers is picked;
// of those placed before it that meet it (first level), and those placed before one that meets it and meet
// that (second level, weighted by how many), two change turns. A plan that is no better is kept with a chance
// of half its relative loss, divided by the attempts so far; the last one kept counts, as there.
//
// TVM makes 500 attempts and draws from glibc's rand_r starting at 0, which seed 1 repeats here. Large
// problems get fewer, for time.
#include <algorithm>
#include <numeric>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

constexpr int kAttempts = 500;
constexpr double kMostPairs = 5e8;  // pairs of buffers that meet, looked at in all: some ten seconds

// glibc's rand_r.
struct Random {
  uint32_t state;
  int operator()() {
    const auto next = [&] { return (state = state * 1103515245 + 12345) >> 16; };
    uint32_t result = next() % 2048;
    result = (result << 10) ^ (next() % 1024);
    return int((result << 10) ^ (next() % 1024));
  }
};

class HillClimb {
 public:
  HillClimb(const Problem& problem, const Search& search)
      : problem_(problem), search_(search), random_{uint32_t(search.seed - 1)}, turn_(order_.size()) {
    for (int turn = 0; turn < int(order_.size()); ++turn) {
      turn_[order_[turn]] = turn;
      index_.insert(order_[turn], timeline_);
    }
  }

  std::vector<Placement> run() {
    const Cutoff cutoff = search_.cutoff();
    std::vector<Placement> kept, placements;
    int64_t kept_total = 0;
    const int64_t bound = problem_.pools.size() == 1 ? lower_bound(problem_, 0, order_) : 0;
    for (int attempt = 0; attempt < kAttempts * search_.effort; ++attempt) {
      if (attempt > 0 && (work_ > kMostPairs * search_.effort || cutoff.has_passed())) break;
      placements = pack(problem_, order_, Fit::kLowest);
      work_ += pairs_;
      const int64_t total = total_size(placements);
      if (attempt == 0 || total < kept_total || random_() % 100 < chance(total, kept_total, attempt)) {
        kept = std::move(placements);
        kept_total = total;
        if (total <= bound) break;
      } else {
        exchange(last_[0], last_[1]);
      }
      exchange_turns(kept);
    }
    return kept;
  }

 private:
  // In per cent, of keeping a plan that is no better.
  static int64_t chance(int64_t total, int64_t kept, int attempt) {
    return int64_t(50 * (double(total - kept) / double(std::max<int64_t>(total, 1)))) / attempt;
  }

  int64_t end_of(const std::vector<Placement>& placements, int id) const {
    return placements[id].offset + problem_.buffers[id].size;
  }

  std::vector<int64_t> pool_sizes(const std::vector<Placement>& placements) const {
    std::vector<int64_t> sizes(problem_.pools.size(), 0);
    for (int id : order_)
      sizes[placements[id].pool] = std::max(sizes[placements[id].pool], end_of(placements, id));
    return sizes;
  }

  int64_t total_size(const std::vector<Placement>& placements) const {
    int64_t total = 0;
    for (int64_t size : pool_sizes(placements)) total += size;
    return total;
  }

  void exchange(int a, int b) {
    std::swap(order_[a], order_[b]);
    turn_[order_[a]] = a;
    turn_[order_[b]] = b;
  }

  int topmost(const std::vector<Placement>& placements) {
    const std::vector<int64_t> sizes = pool_sizes(placements);
    std::vector<int> result;
    for (int id : order_)
      if (end_of(placements, id) == sizes[placements[id].pool]) result.push_back(id);
    return result[random_() % result.size()];
  }

  // Per turn: how many times the buffer of that turn is at the second level.
  std::vector<int> second_level(int top) {
    std::vector<int> times(order_.size(), 0);
    index_.meeting(timeline_.spans[top], [&](int near, const Piece&) {
      if (near == top) return;
      index_.meeting(timeline_.spans[near], [&](int far, const Piece&) {
        times[turn_[far]] += turn_[far] < turn_[near];
        ++work_;
      });
    });
    return times;
  }

  // Picks two turns and exchanges them.
  void exchange_turns(const std::vector<Placement>& placements) {
    const int top = topmost(placements);
    std::vector<int> first;  // turns
    index_.meeting(timeline_.spans[top], [&](int near, const Piece&) {
      if (turn_[near] < turn_[top]) first.push_back(turn_[near]);
    });
    if (first.empty()) return;
    std::sort(first.begin(), first.end());
    std::vector<int64_t> upto(order_.size());  // those at the second level with this turn or an earlier one
    const std::vector<int> second = second_level(top);
    std::partial_sum(second.begin(), second.end(), upto.begin(), std::plus<int64_t>());
    const int a = first[random_() % first.size()];
    int b = a;
    for (int tries = 0; b == a && tries < 100; ++tries) {
      if (upto.back() > 0 && random_() % 100 > 25)
        b = int(std::upper_bound(upto.begin(), upto.end(), random_() % upto.back()) - upto.begin());
      else
        b = first[random_() % first.size()];
    }
    if (a == b) return;
    exchange(a, b);
    last_[0] = a;
    last_[1] = b;
  }

  const Problem& problem_;
  const Search& search_;
  Random random_;
  const Timeline timeline_ = make_timeline(without_sharing(problem_), all_buffers(problem_));
  PieceIndex index_{timeline_.slots};
  std::vector<int> order_ = order_by_size_and_conflicts(problem_);
  std::vector<int> turn_;  // the inverse of order_
  int last_[2] = {0, 0};   // turns
  double pairs_ = all_pairs();
  double work_ = 0;

  double all_pairs() const {
    double pairs = 0;
    for (int met : conflicts(timeline_)) pairs += met;
    return pairs;
  }
};

}  // namespace

Plan tvm_hill_climb(const Problem& problem, const Search& search) {
  if (problem.buffers.empty()) return make_plan(problem, {});
  return make_plan(problem, HillClimb(problem, search).run());
}

}  // namespace arenac
