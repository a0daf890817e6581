// Triton's allocation of shared memory (lib/Analysis/Allocation.cpp), after Gergov, "Algorithms for
// compile-time memory optimization" (SODA 1999), interval-graph colouring.
//
// First everybody gets a start: open slots of memory are taken by offset; the largest buffer that meets the
// slot's times and no other open slot's starts there and leaves the slot above it and those beside it, which
// stretch under the buffer, so that what starts in them may collide with it. Then collisions are mended in
// rounds: the graph of colliding buffers is coloured greedily, and whoever does not have the first colour is
// moved on top of all that it collided with. Memory is linear in the buffers and in the pairs that collide.
#include <algorithm>
#include <map>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

class Triton {
 public:
  explicit Triton(const Problem& problem)
      : problem_(problem),
        placements_(problem.buffers.size()),
        colour_(problem.buffers.size(), 1) {  // all may collide
    for (int id : order_)
      if (problem.buffers[id].size > 0) index_.insert(id, timeline_);
    std::erase_if(order_, [&](int id) { return problem.buffers[id].size == 0; });
  }

  std::vector<Placement> run() {
    choose_starts();
    for (find_collisions(); !collisions_.empty(); find_collisions()) {
      colour();
      move();
    }
    return placements_;
  }

 private:
  void choose_starts() {
    std::vector<std::vector<int>> waiting(timeline_.slots);  // by first slot of their lives, the largest last
    for (auto id = order_.rbegin(); id != order_.rend(); ++id)
      waiting[timeline_.spans[*id].begin].push_back(*id);
    open(0, {0, timeline_.slots});
    for (size_t left = order_.size(); left > 0;) {
      const auto [offset, times] = *open_.begin();
      close(open_.begin());
      const int id = largest_meeting(times, waiting);
      if (id < 0) continue;
      --left;
      const Span life = timeline_.spans[id];
      auto& same_begin = waiting[life.begin];
      same_begin.erase(std::prev(std::find(same_begin.rbegin(), same_begin.rend(), id).base()));
      const int64_t start = round_up(offset, alignment_in(problem_, id, 0));
      placements_[id].offset = start;
      open(start + problem_.buffers[id].size,
           {std::max(times.begin, life.begin), std::min(times.end, life.end)});
      if (times.begin < life.begin) open(offset, {times.begin, life.end});
      if (life.end < times.end) open(offset, {life.begin, times.end});
    }
  }

  // The first in order_ of those waiting that meet the times, and no slot that is open.
  int largest_meeting(Span times, const std::vector<std::vector<int>>& waiting) const {
    int best = -1;
    for (int begin = times.begin; begin < times.end;) {
      if (covered_[begin] > 0) {
        ++begin;
        continue;
      }
      Span free{begin, begin + 1};  // as far as nothing is open
      while (free.begin > 0 && covered_[free.begin - 1] == 0) --free.begin;
      while (free.end < timeline_.slots && covered_[free.end] == 0) ++free.end;
      for (int slot = free.begin; slot < std::min(free.end, times.end); ++slot) {
        const auto id = std::find_if(waiting[slot].rbegin(), waiting[slot].rend(), [&](int id) {
          return timeline_.spans[id].end <= free.end && timeline_.spans[id].end > times.begin;
        });
        if (id != waiting[slot].rend() && (best < 0 || rank_[*id] < rank_[best])) best = *id;
      }
      begin = free.end;
    }
    return best;
  }

  void open(int64_t offset, Span times) {
    open_.insert({offset, times});
    for (int slot = times.begin; slot < times.end; ++slot) ++covered_[slot];
  }

  void close(std::multimap<int64_t, Span>::iterator it) {
    for (int slot = it->second.begin; slot < it->second.end; ++slot) --covered_[slot];
    open_.erase(it);
  }

  // The pairs of buffers that share bytes and times, each in both orders, sorted by the rank of the first. At
  // least one of a pair has moved in the last round, for buffers of one colour do not collide.
  void find_collisions() {
    collisions_.clear();
    for (int id : order_) {
      if (colour_[id] == 0) continue;
      const int64_t begin = placements_[id].offset, end = begin + problem_.buffers[id].size;
      index_.meeting(timeline_.spans[id], [&](int other, const Piece& piece) {
        const int64_t at = placements_[other].offset;
        if (at >= end || begin >= at + piece.high || other == id) return;
        collisions_.push_back({rank_[id], rank_[other]});
        if (colour_[other] == 0) collisions_.push_back({rank_[other], rank_[id]});
      });
    }
    std::sort(collisions_.begin(), collisions_.end());
  }

  // Gives each buffer the first colour that none of those before it that it collides with has.
  void colour() {
    std::fill(colour_.begin(), colour_.end(), 0);
    std::vector<int> taken;
    for (size_t i = 0; i < collisions_.size();) {
      const int rank = collisions_[i].first;
      taken.clear();
      for (; i < collisions_.size() && collisions_[i].first == rank; ++i)
        if (collisions_[i].second < rank) taken.push_back(colour_[order_[collisions_[i].second]]);
      std::sort(taken.begin(), taken.end());
      for (int used : taken) colour_[order_[rank]] += used == colour_[order_[rank]];
    }
  }

  // On top of those that collide, at their places of the moment.
  void move() {
    for (size_t i = 0; i < collisions_.size();) {
      const int rank = collisions_[i].first, id = order_[rank];
      int64_t top = 0;
      for (; i < collisions_.size() && collisions_[i].first == rank; ++i) {
        const int other = order_[collisions_[i].second];
        top = std::max(top, placements_[other].offset + problem_.buffers[other].size);
      }
      if (colour_[id] != 0) placements_[id].offset = round_up(top, alignment_in(problem_, id, 0));
    }
  }

  const Problem& problem_;
  const Timeline timeline_ = make_timeline(problem_, all_buffers(problem_));
  std::vector<int> order_ = sorted_by(problem_, [this](int id) { return -problem_.buffers[id].size; });
  std::vector<int> rank_ = ranks();
  PieceIndex index_{timeline_.slots};
  std::multimap<int64_t, Span> open_;                                // slots of memory by offset
  std::vector<int> covered_ = std::vector<int>(timeline_.slots, 0);  // by how many of open_, per time
  std::vector<Placement> placements_;
  std::vector<int> colour_;
  std::vector<std::pair<int, int>> collisions_;  // ranks

  std::vector<int> ranks() const {
    std::vector<int> result(order_.size());
    for (int i = 0; i < int(order_.size()); ++i) result[order_[i]] = i;
    return result;
  }
};

}  // namespace

Plan triton_colouring(const Problem& problem, const Search&) {
  const Problem whole = without_sharing(problem);
  return make_plan(problem, Triton(whole).run());
}

}  // namespace arenac
