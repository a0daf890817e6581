// Moffitt and Fernando, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning" (ASPLOS 2023): does everything fit into a capacity?
//
//   Buffers are placed in the order of their offsets, each at the lowest offset that those below it leave
//   (canonical solutions; equal offsets in a static order). A section is a time of a greatest live set. What
//   is placed in it reaches up to its floor, which is at least the lowest offset that is left to anybody in
//   it, and at least the offset placed last; floor and sizes to come must keep to the capacity. Nobody is
//   placed so high that another one would fit below it (dominance). Where no remaining buffer crosses from
//   one section to the next, the two sides are solved one after the other. Three static orders take turns,
//   with node limits that double.
//
// The paper asks for a capacity; by_capacity.h says how it is lowered.
#include <algorithm>
#include <array>
#include <limits>

#include "planner/packing.h"
#include "planner/rows/by_capacity.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max() / 2;
enum class Outcome { kFits, kNever, kAborted };

struct Turn {
  int64_t offset;
  int rank, id;
};

class MinimallocSearch {
 public:
  MinimallocSearch(const Problem& problem, int64_t capacity, const Effort& effort)
      : problem_(problem),
        timeline_(make_timeline(problem, all_buffers(problem))),
        capacity_(capacity),
        work_left_(effort.work),
        effort_(effort) {
    const size_t n = problem.buffers.size(), m = size_t(timeline_.slots);
    sections_.resize(m);
    total_.assign(m, 0);
    floor_.assign(m, 0);
    cuts_.assign(m + 1, 0);
    affected_of_.assign(m, 0);
    for (int id = 0; id < int(n); ++id) {
      const Span span = timeline_.spans[id];
      for (int s = span.begin; s < span.end; ++s) {
        sections_[s].push_back(id);
        total_[s] += problem.buffers[id].size;
        if (s > span.begin) ++cuts_[s];
      }
      align_.push_back(alignment_in(problem, id, 0));
    }
    lowest_.assign(n, 0);
    offset_.assign(n, -1);
  }

  Outcome run() {
    for (int64_t nodes = 2 * int64_t(problem_.buffers.size());; nodes *= 2)
      for (int rule = 0; rule < 3; ++rule) {
        rule_ = rule;
        nodes_left_ = nodes;
        const Outcome outcome = solve_parts({0, timeline_.slots}, all_buffers(problem_));
        if (outcome != Outcome::kAborted || work_left_ <= 0) return outcome;
        reset();
      }
  }

  const std::vector<int64_t>& offsets() const { return offset_; }
  int64_t work() const { return effort_.work - work_left_; }

 private:
  struct Change {
    int index;
    int64_t value;
  };

  void reset() {
    std::fill(offset_.begin(), offset_.end(), -1);
    std::fill(lowest_.begin(), lowest_.end(), 0);
    std::fill(floor_.begin(), floor_.end(), 0);
    std::fill(total_.begin(), total_.end(), 0);
    std::fill(cuts_.begin(), cuts_.end(), 0);
    for (int id = 0; id < int(offset_.size()); ++id)
      for (int s = timeline_.spans[id].begin; s < timeline_.spans[id].end; ++s) {
        total_[s] += problem_.buffers[id].size;
        if (s > timeline_.spans[id].begin) ++cuts_[s];
      }
  }

  // The static order of a part, by what is left in its sections: WAT, TAW, TWA, that is width of the life,
  // area, greatest total of its sections.
  void rank(std::vector<Turn>& turns) const {
    auto key = [&](const Turn& t) {
      const Buffer& b = problem_.buffers[t.id];
      const double width = double(duration(b)), area = width * double(b.size);
      int64_t most = 0;
      for (int s = timeline_.spans[t.id].begin; s < timeline_.spans[t.id].end; ++s)
        most = std::max(most, total_[s]);
      const double total = double(most);
      if (rule_ == 0) return std::array{width, area, total};
      if (rule_ == 1) return std::array{total, area, width};
      return std::array{total, width, area};
    };
    std::vector<std::pair<std::array<double, 3>, int>> order;
    for (const Turn& t : turns) order.push_back({key(t), t.id});
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.first > b.first; });
    for (size_t r = 0; r < turns.size(); ++r) turns[r] = {0, int(r), order[r].second};
  }

  // The range falls apart where no remaining buffer crosses.
  Outcome solve_parts(Span range, const std::vector<int>& ids) {
    int begin = range.begin;
    for (int s = range.begin; s < range.end; ++s) {
      if (s + 1 < range.end && cuts_[s + 1] > 0) continue;
      std::vector<Turn> turns;
      for (int id : ids) {
        const Span span = timeline_.spans[id];
        const bool is_inside = begin <= span.begin && span.end <= s + 1;
        if (offset_[id] >= 0 || !is_inside || (span.begin == span.end && begin > range.begin)) continue;
        turns.push_back({0, 0, id});
      }
      work_left_ -= int64_t(ids.size());
      rank(turns);
      if (!turns.empty())
        if (const Outcome outcome = search({begin, s + 1}, turns, {}); outcome != Outcome::kFits)
          return outcome;
      begin = s + 1;
    }
    return Outcome::kFits;
  }

  Outcome search(Span range, const std::vector<Turn>& before, Turn last) {
    if (nodes_left_-- <= 0 || work_left_ <= 0) return Outcome::kAborted;
    if (nodes_left_ % 256 == 0 && effort_.cutoff.has_passed()) work_left_ = 0;
    std::vector<Turn> turns;
    turns.reserve(before.size());
    int64_t least_top = kNowhere;
    for (const Turn& t : before) {
      if (offset_[t.id] >= 0) continue;
      turns.push_back({lowest_[t.id], t.rank, t.id});
      least_top = std::min(least_top, lowest_[t.id] + problem_.buffers[t.id].size);
    }
    if (turns.empty()) return Outcome::kFits;
    work_left_ -= 8 * int64_t(turns.size());
    std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
    });
    for (const Turn& t : turns) {
      if (t.offset < last.offset || (t.offset == last.offset && t.rank < last.rank)) continue;
      if (t.offset >= least_top && problem_.buffers[t.id].size > 0) continue;
      if (const Outcome outcome = descend(range, turns, t); outcome != Outcome::kNever) return outcome;
    }
    return Outcome::kNever;
  }

  // Places one and searches on; undone unless everything fits.
  Outcome descend(Span range, const std::vector<Turn>& turns, const Turn& t) {
    const size_t lows = lows_.size(), floors = floors_.size(), placed = placed_.size();
    place(t.id, t.offset);
    Outcome outcome = Outcome::kNever;
    if (keeps_to_capacity(range, t.offset)) {
      bool falls_apart = false;
      for (int s = timeline_.spans[t.id].begin + 1; s < timeline_.spans[t.id].end; ++s)
        falls_apart = falls_apart || cuts_[s] == 0;
      if (falls_apart) {
        std::vector<int> ids;
        for (const Turn& other : turns) ids.push_back(other.id);
        outcome = solve_parts(range, ids);
      } else {
        outcome = search(range, turns, t);
      }
    }
    if (outcome == Outcome::kFits) return outcome;
    undo(lows, floors, placed);
    return outcome;
  }

  void place(int id, int64_t offset) {
    const int64_t size = problem_.buffers[id].size;
    const Span span = timeline_.spans[id];
    offset_[id] = offset;
    placed_.push_back(id);
    ++pass_;
    affected_.clear();
    for (int s = span.begin; s < span.end; ++s) {
      floors_.push_back({s, floor_[s]});
      floor_[s] = offset + size;
      total_[s] -= size;
      if (s > span.begin) --cuts_[s];
      work_left_ -= int64_t(sections_[s].size());
      for (int other : sections_[s])
        if (offset_[other] < 0 && lowest_[other] < offset + size) raise(other, offset + size);
    }
    for (int s : affected_) {
      int64_t lowest = kNowhere;
      work_left_ -= int64_t(sections_[s].size());
      for (int other : sections_[s])
        if (offset_[other] < 0) lowest = std::min(lowest, lowest_[other]);
      if (lowest == kNowhere || lowest <= floor_[s]) continue;
      floors_.push_back({s, floor_[s]});
      floor_[s] = lowest;
    }
  }

  void raise(int id, int64_t offset) {
    lows_.push_back({id, lowest_[id]});
    lowest_[id] = (offset + align_[id] - 1) / align_[id] * align_[id];
    for (int s = timeline_.spans[id].begin; s < timeline_.spans[id].end; ++s) {
      if (affected_of_[s] == pass_) continue;
      affected_of_[s] = pass_;
      affected_.push_back(s);
    }
  }

  bool keeps_to_capacity(Span range, int64_t offset) {
    work_left_ -= range.end - range.begin;
    for (int s = range.begin; s < range.end; ++s)
      if (std::max(offset, floor_[s]) + total_[s] > capacity_) return false;
    return true;
  }

  void undo(size_t lows, size_t floors, size_t placed) {
    for (; lows_.size() > lows; lows_.pop_back()) lowest_[lows_.back().index] = lows_.back().value;
    for (; floors_.size() > floors; floors_.pop_back()) floor_[floors_.back().index] = floors_.back().value;
    for (; placed_.size() > placed; placed_.pop_back()) {
      const int id = placed_.back();
      const Span span = timeline_.spans[id];
      offset_[id] = -1;
      for (int s = span.begin; s < span.end; ++s) {
        total_[s] += problem_.buffers[id].size;
        if (s > span.begin) ++cuts_[s];
      }
    }
  }

  const Problem& problem_;
  Timeline timeline_;
  int64_t capacity_, work_left_, nodes_left_ = 0;
  Effort effort_;
  std::vector<std::vector<int>> sections_;        // buffers per section
  std::vector<int64_t> total_, floor_;            // per section; the total of what is not placed
  std::vector<int> cuts_;                         // remaining buffers that cross into the section
  std::vector<int64_t> align_, lowest_, offset_;  // per buffer; an offset of -1: not placed
  std::vector<int> placed_;
  std::vector<Change> lows_, floors_;
  std::vector<int> affected_, affected_of_;
  int rule_ = 0, pass_ = 0;
};

}  // namespace

Plan minimalloc(const Problem& problem, const Search& search) {
  return by_capacity(problem, search, [](const Problem& whole, int64_t capacity, const Effort& effort) {
    MinimallocSearch attempt(whole, capacity, effort);
    const bool fits = attempt.run() == Outcome::kFits;
    return CapacityAttempt{fits ? attempt.offsets() : std::vector<int64_t>{}, attempt.work()};
  });
}

}  // namespace arenac
