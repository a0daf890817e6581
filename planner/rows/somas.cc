// MindSpore's SOMAS (Safe Optimized Memory Allocation Solver): the largest buffer first, among equals as
// given; the smallest of four plans, best fit and first fit of two algorithms.
//
// Single object: among all that is placed. Shared objects: in shelves,
//
//   offset ^  +-----------+ +--+       each as high as the buffer that opened it, lying above the last. A
//          |  |  opener 1 | +--+       buffer takes the first shelf whose opener it does not meet and that
//          |  +------+----+-+---+      has a gap for it, else it opens a shelf.
//          |  |      | opener 0 |
//          +--+------+----------+--> time
#include <algorithm>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

struct Range {
  int64_t begin = 0, end = 0;  // bytes
};

struct Shelf {
  Range range;
  int opener = 0;
};

// Where in the shelf a buffer of this size fits between the taken ranges, sorted by begin; -1 if nowhere.
int64_t offset_in(const Shelf& shelf, std::span<const Range> taken, int64_t size, int64_t step, Fit fit) {
  int64_t start = shelf.range.begin, best = -1, best_gap = 0;
  start = round_up(start, step);
  const auto consider = [&](int64_t gap_end) {
    const int64_t gap = gap_end - start;
    if (gap < size || (best >= 0 && (fit == Fit::kLowest || gap >= best_gap))) return;
    best = start;
    best_gap = gap;
  };
  for (const Range& range : taken) {
    consider(range.begin);
    start = std::max(start, round_up(range.end, step));
  }
  consider(shelf.range.end);
  return best;
}

class Shelves {
 public:
  Shelves(const Problem& problem, Fit fit)
      : problem_(problem),
        fit_(fit),
        placements_(problem.buffers.size()),
        shelf_of_(problem.buffers.size()) {}

  std::vector<Placement> fill(const std::vector<int>& order) {
    for (int id : order)
      if (problem_.buffers[id].size > 0) place(id);
    return placements_;
  }

 private:
  void place(int id) {
    const int64_t size = problem_.buffers[id].size, step = alignment_in(problem_, id, 0);
    std::vector<int> met;
    index_.meeting(timeline_.spans[id], [&](int other, const Piece&) { met.push_back(other); });
    std::sort(met.begin(), met.end(),
              [&](int a, int b) { return placements_[a].offset < placements_[b].offset; });
    auto first = met.begin();  // of those in this shelf or above
    int shelf = 0;
    int64_t offset = -1;
    for (; shelf < int(shelves_.size()); ++shelf) {
      std::vector<Range> taken;
      bool meets_opener = false;
      for (; first != met.end() && shelf_of_[*first] == shelf; ++first) {
        meets_opener |= *first == shelves_[shelf].opener;
        taken.push_back(
            {placements_[*first].offset, placements_[*first].offset + problem_.buffers[*first].size});
      }
      if (!meets_opener) offset = offset_in(shelves_[shelf], taken, size, step, fit_);
      if (offset >= 0) break;
    }
    if (offset < 0) {
      offset = round_up(shelves_.empty() ? 0 : shelves_.back().range.end, step);
      shelves_.push_back({{offset, offset + size}, id});
    }
    placements_[id].offset = offset;
    shelf_of_[id] = shelf;
    index_.insert(id, timeline_);
  }

  const Problem& problem_;
  const Fit fit_;
  const Timeline timeline_ = make_timeline(problem_, all_buffers(problem_));
  PieceIndex index_{timeline_.slots};
  std::vector<Placement> placements_;
  std::vector<int> shelf_of_;
  std::vector<Shelf> shelves_;
};

}  // namespace

Plan somas(const Problem& problem, const Search&) {
  const std::vector<int> order = sorted_by(problem, [&](int id) { return -problem.buffers[id].size; });
  const Problem whole = without_sharing(problem);
  Plan best = make_plan(problem, pack(problem, order, Fit::kTightest));
  best = smaller(std::move(best), make_plan(problem, pack(problem, order, Fit::kLowest)));
  for (Fit fit : {Fit::kTightest, Fit::kLowest})
    best = smaller(std::move(best), make_plan(problem, Shelves(whole, fit).fill(order)));
  return best;
}

}  // namespace arenac
