// Triton's allocation of shared memory (lib/Analysis/Allocation.cpp), after Gergov, "Algorithms for
// compile-time memory optimization" (SODA 1999), interval-graph colouring.
//
// First everybody gets a start: open slots of memory are taken by offset; the largest buffer that meets the
// slot's times and no other open slot's starts there and leaves the slot above it and those beside it, which
// stretch under the buffer, so that what starts in them may collide with it. Then collisions are mended in
// rounds: the graph of colliding buffers is coloured greedily, and whoever does not have the first colour is
// moved on top of all that it collided with.
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
        colour_(problem.buffers.size(), 1) {  // all are suspect
    for (int id : order_)
      if (problem.buffers[id].size > 0) index_.insert(id, timeline_);
    std::erase_if(order_, [&](int id) { return problem.buffers[id].size == 0; });
  }

  std::vector<Placement> run() {
    choose_starts();
    while (colour()) move();
    return placements_;
  }

 private:
  void choose_starts() {
    std::vector<std::vector<int>> waiting(timeline_.slots);  // by first slot of their lives, in order_
    for (int id : order_) waiting[timeline_.spans[id].begin].push_back(id);
    open(0, {0, timeline_.slots});
    for (size_t left = order_.size(); left > 0;) {
      const auto [offset, times] = *open_.begin();
      close(open_.begin());
      const int id = largest_meeting(times, waiting);
      if (id < 0) continue;
      --left;
      const Span life = timeline_.spans[id];
      std::erase(waiting[life.begin], id);
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
      for (int slot = free.begin; slot < std::min(free.end, times.end); ++slot)
        for (int id : waiting[slot]) {
          const Span life = timeline_.spans[id];
          if (life.end <= free.end && life.end > times.begin && (best < 0 || rank_[id] < rank_[best]))
            best = id;
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

  // Calls visit(other) for each buffer that shares bytes and times with this one at these places.
  template <class Visit>
  void colliding(int id, const std::vector<Placement>& places, Visit visit) const {
    const int64_t begin = places[id].offset, end = begin + problem_.buffers[id].size;
    index_.meeting(timeline_.spans[id], [&](int other, const Piece& piece) {
      const int64_t at = places[other].offset;
      if (other != id && at < end && begin < at + piece.high) visit(other);
    });
  }

  // Of those that moved in the last round and those that they collide with now; all others keep to
  // themselves, for equal colours do not collide.
  std::vector<int> suspects() const {
    std::vector<char> is_suspect(rank_.size(), 0);
    for (int id : order_)
      if (colour_[id] != 0)
        colliding(id, placements_, [&](int other) { is_suspect[rank_[id]] = is_suspect[rank_[other]] = 1; });
    std::vector<int> result;
    for (int id : order_)
      if (is_suspect[rank_[id]]) result.push_back(id);
    return result;
  }

  // Gives each buffer the first colour that none of those before it that it collides with has. Whether any
  // two collide.
  bool colour() {
    const std::vector<int> coloured = suspects();
    std::fill(colour_.begin(), colour_.end(), 0);
    for (int id : coloured) {
      std::vector<int> taken;
      colliding(id, placements_, [&](int other) {
        if (rank_[other] < rank_[id]) taken.push_back(colour_[other]);
      });
      std::sort(taken.begin(), taken.end());
      for (int used : taken) colour_[id] += used == colour_[id];
    }
    return !coloured.empty();
  }

  // Collisions are those before anybody moves, the places to move on top of those of the moment.
  void move() {
    const std::vector<Placement> before = placements_;
    for (int id : order_) {
      if (colour_[id] == 0) continue;
      int64_t top = 0;
      colliding(id, before, [&](int other) {
        top = std::max(top, placements_[other].offset + problem_.buffers[other].size);
      });
      placements_[id].offset = round_up(top, alignment_in(problem_, id, 0));
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
