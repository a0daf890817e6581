#include "planner/local_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "frontend/error.h"
#include "planner/cost_steps.h"
#include "planner/packing.h"
#include "planner/random.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

constexpr int64_t kImmovable = int64_t{1} << 40;  // the weight of what stays where it is
constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min() / 2;
constexpr int kWeights = 1000;        // of the smallest movable buffer to the largest: 1 to this
constexpr int64_t kSteps = 15;        // to the bound
constexpr int64_t kAttempts = 6;      // each with this part of what work is left
constexpr size_t kEdges = 4'000'000;  // of one search
constexpr int kMovable = 2'000;       // of one search, if these would be too many

// What all searches in a pool share.
struct Arena {
  const Problem& problem;
  int pool;
  Timeline timeline;
  std::vector<std::vector<Overlap>> overlaps;
  PieceIndex index;              // of all members
  std::vector<int64_t> offsets;  // per buffer of the problem
  std::vector<int> number;       // per buffer of the problem: in the current search, else -1

  int64_t end_of(int id) const { return offsets[id] + problem.buffers[id].size; }
};

// Moves some buffers of a pool while the others stay.
class Ejection {
 public:
  Ejection(Arena& arena, const std::vector<int>& movable, uint64_t seed)
      : movable_(int(movable.size())), random_(seed) {
    for (int id : movable) add(arena, id);
    double largest = 1;
    const auto area = [&](int id) {
      const Span span = arena.timeline.spans[id];
      return std::sqrt(double(arena.problem.buffers[id].size) * (span.end - span.begin));
    };
    for (int id : movable) largest = std::max(largest, area(id));
    for (int i = 0; i < movable_; ++i) {
      price_.push_back(1 + int64_t((kWeights - 1) * area(movable[i]) / largest));
      weights_.push_back(arena.problem.buffers[movable[i]].fixed_offset ? kImmovable : price_[i]);
    }
    for (int i = 0; i < movable_; ++i) add_edges(arena, i);
    for (int id : ids_) arena.number[id] = -1;
    first_edge_.push_back(edges_.size());
    weights_.resize(ids_.size(), kImmovable);
    places_ = offsets_;
  }

  // Whether everything movable now lies below the capacity. A later call goes on where this one stopped.
  bool fit(int64_t capacity, int64_t work, const LocalSearch& search) {
    for (int i = 0; i < movable_; ++i)
      if (places_[i] != kNowhere && places_[i] + sizes_[i] > capacity) {
        if (weights_[i] == kImmovable || sizes_[i] > capacity) return false;
        eject(i);
      }
    const int64_t limit = work_ + work;
    while (!waiting_.empty()) {
      if (work_ > limit || (++turns_ % 1024 == 0 && search.cutoff.has_passed())) return false;
      const auto dearest = std::ranges::max_element(waiting_, {}, &Waiting::weight);
      const Waiting next = *dearest;
      work_ += int64_t(waiting_.size());
      *dearest = waiting_.back();
      waiting_.pop_back();
      if (!insert(next.number, capacity)) {
        waiting_.push_back(next);
        return false;
      }
    }
    return true;
  }

  void store(Arena& arena) const {
    for (int i = 0; i < movable_; ++i) arena.offsets[ids_[i]] = offsets_[i];
  }
  // Everything where it was stored, at its first weight.
  void restart(const Arena& arena) {
    for (int i = 0; i < movable_; ++i) {
      offsets_[i] = arena.offsets[ids_[i]];
      if (weights_[i] != kImmovable) weights_[i] = price_[i];
    }
    places_ = offsets_;
    waiting_.clear();
  }
  int64_t work() const { return work_; }

 private:
  // What waits, and its weight meanwhile.
  struct Waiting {
    int64_t weight;
    int number;
  };
  // What a placed neighbour forbids: starts in [offset + begin, offset + end).
  struct Edge {
    int other;
    int64_t begin, end;
  };
  void add(Arena& arena, int id) {
    arena.number[id] = int(ids_.size());
    ids_.push_back(id);
    sizes_.push_back(arena.problem.buffers[id].size);
    steps_.push_back(alignment_in(arena.problem, id, arena.pool));
    offsets_.push_back(arena.offsets[id]);
  }

  void add_edges(Arena& arena, int i) {
    first_edge_.push_back(edges_.size());
    const int id = ids_[i];
    for (const Piece& piece : arena.timeline.pieces(id))
      arena.index.meeting(piece.slots, [&](int other, const Piece& there) {
        if (other == id) return;
        const ForbiddenStarts range = forbidden_starts(other, there, 0, id, piece, arena.overlaps[id]);
        if (range.begin >= range.end) return;
        if (arena.number[other] < 0) add(arena, other);
        edges_.push_back({arena.number[other], range.begin, range.end});
      });
  }

  std::span<const Edge> edges_of(int i) const {
    return {edges_.data() + first_edge_[i], edges_.data() + first_edge_[i + 1]};
  }

  // The starts that an edge forbids; of what is not placed, all far below 0.
  std::pair<int64_t, int64_t> forbidden(const Edge& edge) const {
    const int64_t place = places_[edge.other];
    return {place + edge.begin, place + edge.end};
  }

  void eject(int i) {
    places_[i] = kNowhere;
    waiting_.push_back({weights_[i], i});
  }

  // Where it meets nothing, or what has the cheapest owners; not where i was.
  OffsetChoice cheapest(int i, int64_t capacity) {
    costs_.begin(round_down(capacity - sizes_[i], steps_[i]));
    for (const Edge& edge : edges_of(i)) {
      const auto [begin, end] = forbidden(edge);
      costs_.meet(begin, end, weights_[edge.other]);
    }
    work_ += 2 * int64_t(first_edge_[i + 1] - first_edge_[i]) + 10 * int64_t(costs_.changes.size());
    return cheapest_offset(costs_, steps_[i], offsets_[i], random_);
  }

  // False if only what stays could make room.
  bool insert(int i, int64_t capacity) {
    const OffsetChoice choice = cheapest(i, capacity);
    if (choice.cost >= kImmovable) return false;
    if (choice.cost > 0) {
      weights_[i] += price_[i];
      for (const Edge& edge : edges_of(i)) {
        const auto [begin, end] = forbidden(edge);
        if (begin <= choice.offset && choice.offset < end) eject(edge.other);
      }
    }
    places_[i] = offsets_[i] = choice.offset;
    return true;
  }

  int movable_;           // the first so many
  std::vector<int> ids_;  // of the problem
  std::vector<int64_t> sizes_, steps_, offsets_;
  std::vector<int64_t> price_, weights_;  // what waiting adds to the weight, and the weight
  std::vector<int64_t> places_;           // the offset of what is placed, else kNowhere
  std::vector<size_t> first_edge_;        // per movable buffer, and the end
  std::vector<Edge> edges_;
  std::vector<Waiting> waiting_;
  CostSteps costs_;  // of the last that was placed
  Random random_;
  int64_t work_ = 0, turns_ = 0;
};

// How many edges a search of all members would have.
size_t count_edges(const Timeline& timeline) {
  std::vector<int64_t> begun(timeline.slots + 1, 0), ended(timeline.slots + 1, 0);  // before or at the slot
  for (const Piece& piece : timeline.all_pieces) {
    ++begun[piece.slots.begin];
    ++ended[piece.slots.end];
  }
  for (int slot = 1; slot <= timeline.slots; ++slot) {
    begun[slot] += begun[slot - 1];
    ended[slot] += ended[slot - 1];
  }
  size_t count = 0;
  for (const Piece& piece : timeline.all_pieces)
    count += size_t(begun[piece.slots.end - 1] - ended[piece.slots.begin] - 1);
  return count;
}

// The members that live within a stretch of time around the buffer's life, as long a stretch as one search
// can do.
std::vector<int> around(const Arena& arena, int id) {
  const Span life = arena.timeline.spans[id];
  std::vector<int> inside = {id}, wider;
  for (int margin = life.end - life.begin; margin < 2 * arena.timeline.slots; margin *= 2) {
    const Span window{std::max(0, life.begin - margin), std::min(arena.timeline.slots, life.end + margin)};
    size_t meeting = 0;
    wider.clear();
    arena.index.meeting(window, [&](int other, const Piece&) {
      ++meeting;
      const Span span = arena.timeline.spans[other];
      if (window.begin <= span.begin && span.end <= window.end) wider.push_back(other);
    });
    std::sort(wider.begin(), wider.end());
    wider.erase(std::unique(wider.begin(), wider.end()), wider.end());
    if (int(wider.size()) > kMovable || meeting * wider.size() > 2 * kEdges) break;
    inside = wider;
  }
  return inside;
}

// Lowers all that ends above the capacity, one stretch of time after the other; false at the first failure.
// The work done is taken from `work`.
bool fit_by_stretches(Arena& arena, const std::vector<int>& members, int64_t capacity, int64_t& work,
                      const LocalSearch& search) {
  const int64_t share = work / 8;
  for (int id : members) {
    if (arena.end_of(id) <= capacity) continue;
    const std::vector<int> movable = around(arena, id);
    Ejection ejection(arena, movable, search.seed);
    const bool fits = ejection.fit(capacity, std::min(work, share), search);
    work -= ejection.work() + 50 * int64_t(movable.size());
    if (!fits) return false;
    ejection.store(arena);
  }
  return true;
}

}  // namespace

Improved make_room(const Problem& problem, int pool, const std::vector<int>& members,
                   std::vector<int64_t> offsets, const LocalSearch& search) {
  const int64_t lower_bound = search.lower_bound;
  Timeline timeline = make_timeline(problem, members);
  PieceIndex index(timeline.slots);
  for (int id : members) index.insert(id, timeline);
  Arena arena{problem,
              pool,
              std::move(timeline),
              overlaps_by_buffer(problem),
              std::move(index),
              std::move(offsets),
              std::vector<int>(problem.buffers.size(), -1)};
  const auto size_of_pool = [&] {
    int64_t size = 0;
    for (int id : members) size = std::max(size, arena.end_of(id));
    return size;
  };
  std::optional<Ejection> all;
  if (count_edges(arena.timeline) <= kEdges) all.emplace(arena, members, search.seed);

  Improved best{arena.offsets, size_of_pool()};
  int failures = 0;  // in a row
  int64_t work = search.work;
  // In steps of a part of the way to the bound; after a failure half as far, until that is hardly worth it.
  for (int64_t ambition = (best.size - lower_bound) / kSteps + 1; best.size > lower_bound && work > 0;) {
    ambition = std::min(ambition, best.size - lower_bound);
    if (best.size - ambition - lower_bound < lower_bound / 1000) ambition = best.size - lower_bound;
    const int64_t target = best.size - ambition;
    bool fits;
    if (all) {
      const int64_t before = all->work();
      fits = all->fit(target, work / kAttempts, search);
      work -= all->work() - before + int64_t(members.size());
      fits ? all->store(arena) : all->restart(arena);
    } else {
      fits = fit_by_stretches(arena, members, target, work, search);
    }
    if (const int64_t size = size_of_pool(); size < best.size) best = {arena.offsets, size};
    failures = fits ? 0 : failures + 1;
    if (failures == kAttempts) break;
    if (!fits && ambition > lower_bound / 2000) ambition = (ambition + 1) / 2;
    if (search.cutoff.has_passed()) break;
  }
  return best;
}

}  // namespace arenac
