// Maas, Beaugnon, Chauhan and Ilbeyi, "TelaMalloc: Efficient On-Chip Memory Allocation for Production Machine
// Learning Accelerators" (ASPLOS 2022): heuristics choose, a solver says what is still possible.
//
//   Phases: the time of most live bytes and the buffers that live then are the first phase, then the same
//   among the rest. At each step the candidates are those of longest life, of greatest size and of greatest
//   area of the first phase with buffers left, then those of the next phase. Each goes to the lowest place.
//   If some buffer has no place left after it, the next candidate is tried (minor backtrack). After the last
//   candidate the search returns to the last but one of the placed buffers that are in the way of the one
//   without a place, and tries that one there first (major backtrack).
//
// The solver of the paper is a constraint programme over pairs; here it is the part of it that the search
// asks for: the lowest place of each buffer among the placed ones. Incomplete, as in the paper: proves
// nothing. by_capacity.h says how the capacity is lowered.
#include <algorithm>

#include "planner/packing.h"
#include "planner/rows/by_capacity.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

class TelamallocSearch {
 public:
  TelamallocSearch(const Problem& problem, int64_t capacity, const Effort& effort)
      : problem_(problem),
        timeline_(make_timeline(problem, all_buffers(problem))),
        capacity_(capacity),
        effort_(effort),
        offset_(problem.buffers.size(), -1),
        phase_(problem.buffers.size(), 0),
        neighbours_(problem.buffers.size()) {
    const std::vector<int> ids = all_buffers(problem);
    PieceIndex index(timeline_.slots);
    for (int id : ids) index.insert(id, timeline_);
    for (int id : ids)
      index.meeting(timeline_.spans[id], [&](int other, const Piece&) {
        if (other != id && timeline_.spans[id].begin < timeline_.spans[id].end)
          neighbours_[id].push_back(other);
      });
    for (auto& list : neighbours_) std::sort(list.begin(), list.end());
    make_phases();
  }

  bool run() {
    decisions_.push_back({candidates()});
    while (placed_.size() < problem_.buffers.size()) {
      if (is_spent()) return false;
      Decision& decision = decisions_.back();
      if (decision.next == decision.candidates.size()) {
        if (!backtrack()) return false;
        continue;
      }
      if (place(decision.candidates[decision.next++])) decisions_.push_back({candidates()});
    }
    return true;
  }

  const std::vector<int64_t>& offsets() const { return offset_; }
  int64_t work() const { return work_; }

 private:
  struct Decision {
    std::vector<int> candidates;
    size_t next = 0;  // candidate to try
  };

  void make_phases() {
    std::vector<int64_t> live(timeline_.slots, 0);
    std::vector<std::vector<int>> at(timeline_.slots);
    for (int id : all_buffers(problem_))
      for (int s = timeline_.spans[id].begin; s < timeline_.spans[id].end; ++s) {
        live[s] += problem_.buffers[id].size;
        at[s].push_back(id);
      }
    std::vector<char> has_phase(problem_.buffers.size(), 0);
    for (int phase = 0;; ++phase) {
      const auto most = std::max_element(live.begin(), live.end());
      if (most == live.end() || *most == 0) return;
      for (int id : at[size_t(most - live.begin())]) {
        if (has_phase[id]) continue;
        has_phase[id] = 1;
        phase_[id] = phase;
        for (int s = timeline_.spans[id].begin; s < timeline_.spans[id].end; ++s)
          live[s] -= problem_.buffers[id].size;
      }
    }
  }

  // Of the first two phases with buffers left.
  std::vector<int> candidates() {
    std::vector<int> result;
    work_ += int64_t(offset_.size());
    int after = -1;
    for (int round = 0; round < 2; ++round) {
      std::vector<int> left;
      int phase = -1;
      for (int id = 0; id < int(offset_.size()); ++id) {
        if (offset_[id] >= 0 || phase_[id] <= after || (phase >= 0 && phase_[id] > phase)) continue;
        if (phase_[id] != phase) left.clear();
        phase = phase_[id];
        left.push_back(id);
      }
      if (left.empty()) break;
      after = phase;
      auto add_greatest = [&](auto key) {
        const int id =
            *std::max_element(left.begin(), left.end(), [&](int a, int b) { return key(a) < key(b); });
        if (std::find(result.begin(), result.end(), id) == result.end()) result.push_back(id);
      };
      const auto& buffers = problem_.buffers;
      add_greatest([&](int id) { return double(duration(buffers[id])); });
      add_greatest([&](int id) { return double(buffers[id].size); });
      add_greatest([&](int id) { return double(buffers[id].size) * double(duration(buffers[id])); });
    }
    return result;
  }

  // The lowest place among the placed ones, or -1.
  int64_t lowest_place(int id) {
    taken_.clear();
    for (int other : neighbours_[id])
      if (offset_[other] >= 0)
        taken_.push_back({offset_[other], offset_[other] + problem_.buffers[other].size});
    work_ += int64_t(neighbours_[id].size() + 12 * taken_.size());
    std::sort(taken_.begin(), taken_.end());
    const int64_t step = alignment_in(problem_, id, 0), size = problem_.buffers[id].size;
    int64_t place = 0;
    for (auto [begin, end] : taken_) {
      if (place + size <= begin) break;
      if (end > place) place = (end + step - 1) / step * step;
    }
    return place + size <= capacity_ ? place : -1;
  }

  // False, with the buffer in stuck_ that has no place left, if it cannot be.
  bool place(int id) {
    offset_[id] = lowest_place(id);
    stuck_ = id;
    if (offset_[id] < 0) return false;
    for (int other : neighbours_[id]) {
      if (offset_[other] >= 0 || lowest_place(other) >= 0) continue;
      stuck_ = other;
      offset_[id] = -1;
      return false;
    }
    placed_.push_back(id);
    return true;
  }

  // To the last but one of those in the way of the stuck buffer, or before it if that was tried there.
  bool backtrack() {
    int in_the_way = 0;
    size_t target = 0;
    for (size_t depth = placed_.size(); depth-- > 0 && in_the_way < 2;)
      if (std::binary_search(neighbours_[stuck_].begin(), neighbours_[stuck_].end(), placed_[depth])) {
        target = depth;
        ++in_the_way;
      }
    while (!placed_.empty()) {
      offset_[placed_.back()] = -1;
      placed_.pop_back();
      decisions_.pop_back();
      if (placed_.size() > target) continue;
      Decision& decision = decisions_.back();
      const auto tried = decision.candidates.begin() + int64_t(decision.next);
      if (std::find(decision.candidates.begin(), tried, stuck_) != tried) continue;
      decision.candidates.erase(std::remove(tried, decision.candidates.end(), stuck_),
                                decision.candidates.end());
      decision.candidates.insert(decision.candidates.begin() + int64_t(decision.next), stuck_);
      return true;
    }
    return false;
  }

  bool is_spent() const { return work_ > effort_.work || effort_.cutoff.has_passed(); }

  const Problem& problem_;
  Timeline timeline_;
  int64_t capacity_;
  Effort effort_;
  std::vector<int64_t> offset_;               // per buffer; -1: not placed
  std::vector<int> phase_;                    // per buffer
  std::vector<std::vector<int>> neighbours_;  // per buffer, by id
  std::vector<int> placed_;
  std::vector<Decision> decisions_;  // one more than placed
  std::vector<std::pair<int64_t, int64_t>> taken_;
  int stuck_ = -1;
  int64_t work_ = 0;
};

}  // namespace

Plan telamalloc(const Problem& problem, const Search& search) {
  return by_capacity(problem, search, [](const Problem& whole, int64_t capacity, const Effort& effort) {
    TelamallocSearch attempt(whole, capacity, effort);
    const bool fits = attempt.run();
    return CapacityAttempt{fits ? attempt.offsets() : std::vector<int64_t>{}, attempt.work()};
  });
}

}  // namespace arenac
