#include "planner/local_search.h"

#include <algorithm>

#include "frontend/error.h"
#include "planner/bounds.h"
#include "planner/packing.h"

namespace arenac {
namespace {

// Knuth's linear congruential generator, so that every machine draws the same numbers.
struct Random {
  uint64_t state = 1;
  int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return int(((state >> 32) * uint64_t(n)) >> 32);
  }
};

// What an order comes to: compared by its height, then by how many slots reach it.
struct Score {
  int64_t makespan = 0;
  int peaks = 0;
  friend auto operator<=>(const Score&, const Score&) = default;
};

// Stacks the free buffers of one pool in any order, around the fixed ones.
class Stacker {
 public:
  Stacker(const Problem& problem, int pool, const std::vector<int>& members,
          const std::vector<Placement>& placements)
      : problem_(problem),
        timeline_(make_timeline(problem, members)),
        overlaps_(overlaps_by_buffer(problem)),
        fixed_(timeline_.slots),
        aligns_(problem.buffers.size(), 1),
        exceptions_(problem.buffers.size()),
        is_member_(problem.buffers.size(), 0),
        placed_(problem.buffers.size(), 0),
        offsets_(problem.buffers.size(), 0),
        skyline_(timeline_.slots, 0) {
    for (int id : members) {
      is_member_[id] = 1;
      aligns_[id] = alignment_in(problem, id, pool);
      offsets_[id] = placements[id].offset;
      if (problem.buffers[id].fixed_offset) {
        fixed_.insert(id, timeline_);
        fixed_top_ = std::max(fixed_top_, end_of(id));
      }
    }
    for (int id : members) find_exceptions(id);
  }

  Score stack(const std::vector<int>& order) {
    std::fill(skyline_.begin(), skyline_.end(), 0);
    for (size_t turn = 0; turn < order.size(); ++turn) place(order, turn);
    for (int id : order) placed_[id] = 0;
    Score score{fixed_top_, 0};
    for (int64_t height : skyline_) score.makespan = std::max(score.makespan, height);
    for (int64_t height : skyline_) score.peaks += height == score.makespan;
    return score;
  }

  const std::vector<int64_t>& offsets() const { return offsets_; }  // per buffer of the problem
  int64_t work() const { return work_; }                            // skyline steps so far

  bool meet(int a, int b) const {
    return timeline_.spans[a].begin < timeline_.spans[b].end &&
           timeline_.spans[b].begin < timeline_.spans[a].end;
  }
  int64_t size(int id) const { return problem_.buffers[id].size; }
  int64_t align(int id) const { return aligns_[id]; }

 private:
  int64_t end_of(int id) const { return offsets_[id] + size(id); }

  // Those that do not simply push the buffer up: fixed ones, and partners in overlaps.
  void find_exceptions(int id) {
    for (const Piece& piece : timeline_.pieces(id))
      fixed_.meeting(piece.slots, [&](int other, const Piece&) {
        if (other != id && !is_partner(id, other)) exceptions_[id].push_back(other);
      });
    for (const Overlap& o : overlaps_[id]) {
      int other = o.above == id ? o.below : o.above;
      if (!is_member_[other] || !meet(id, other) || problem_.buffers[other].fixed_offset) continue;
      if (!is_partner(id, other)) exceptions_[id].push_back(other);
    }
  }

  bool is_partner(int id, int other) const {
    return std::find(exceptions_[id].begin(), exceptions_[id].end(), other) != exceptions_[id].end();
  }

  template <class Visit>
  void for_meeting_pieces(int a, int b, Visit visit) const {
    for (const Piece& p : timeline_.pieces(a))
      for (const Piece& q : timeline_.pieces(b))
        if (p.slots.begin < q.slots.end && q.slots.begin < p.slots.end) visit(p, q);
  }

  // The height of the placed buffers over the span of order[turn], partners left out.
  int64_t floor_under(const std::vector<int>& order, size_t turn) {
    int id = order[turn];
    Span span = timeline_.spans[id];
    work_ += 4 + span.end - span.begin;
    bool beside_partner =
        std::any_of(exceptions_[id].begin(), exceptions_[id].end(), [&](int e) { return placed_[e] != 0; });
    int64_t floor = 0;
    if (!beside_partner) {
      const int64_t* skyline = skyline_.data();
      for (const Piece& piece : timeline_.pieces(id))
        for (int slot = piece.slots.begin; slot < piece.slots.end; ++slot)
          floor = std::max(floor, skyline[slot] - piece.low);
      return floor;
    }
    work_ += int64_t(turn);
    for (size_t i = 0; i < turn; ++i)
      if (!is_partner(id, order[i]))
        for_meeting_pieces(order[i], id, [&](const Piece& below, const Piece& piece) {
          floor = std::max(floor, offsets_[order[i]] + below.high - piece.low);
        });
    return floor;
  }

  void place(const std::vector<int>& order, size_t turn) {
    int id = order[turn];
    int64_t step = align(id), offset = round_up(floor_under(order, turn), step);
    for (bool moved = true; moved;) {
      moved = false;
      for (int other : exceptions_[id]) {
        if (!placed_[other] && !problem_.buffers[other].fixed_offset) continue;
        for_meeting_pieces(other, id, [&](const Piece& there, const Piece& piece) {
          auto [begin, end] = forbidden_starts(other, there, offsets_[other], id, piece, overlaps_[id]);
          if (offset < begin || end <= offset) return;
          offset = round_up(end, step);
          moved = true;
        });
      }
    }
    offsets_[id] = offset;
    placed_[id] = 1;
    int64_t* skyline = skyline_.data();
    for (const Piece& piece : timeline_.pieces(id))
      for (int slot = piece.slots.begin; slot < piece.slots.end; ++slot)
        skyline[slot] = std::max(skyline[slot], offset + piece.high);
  }

  const Problem& problem_;
  Timeline timeline_;
  std::vector<std::vector<Overlap>> overlaps_;
  PieceIndex fixed_;
  int64_t fixed_top_ = 0;
  std::vector<int64_t> aligns_;               // per buffer
  std::vector<std::vector<int>> exceptions_;  // per buffer
  std::vector<char> is_member_, placed_;      // per buffer; fixed ones are not listed as placed
  std::vector<int64_t> offsets_;
  std::vector<int64_t> skyline_;  // per slot, of the free buffers
  int64_t work_ = 0;
};

// A buffer on top of everything, or, as often as not, one of the pile that carries it.
int pick(const Stacker& stacker, const std::vector<int>& order, const std::vector<int64_t>& offsets,
         int64_t makespan, Random& random) {
  std::vector<int> choices;
  for (int id : order)
    if (offsets[id] + stacker.size(id) == makespan) choices.push_back(id);
  ARENAC_CHECK(!choices.empty(), "a pool above its bound has no free buffer on top");
  int picked = choices[random.below(int(choices.size()))];
  while (random.below(3) != 0) {
    choices.clear();
    for (int id : order) {
      int64_t gap = offsets[picked] - offsets[id] - stacker.size(id);
      if (gap >= 0 && gap < stacker.align(picked) && stacker.meet(id, picked)) choices.push_back(id);
    }
    if (choices.empty()) break;
    picked = choices[random.below(int(choices.size()))];
  }
  return picked;
}

// Swaps the buffer with another, or moves it to another turn; mostly an earlier one.
std::vector<int> moved(std::vector<int> order, int id, Random& random) {
  int from = int(std::find(order.begin(), order.end(), id) - order.begin());
  int to = from == 0 || random.below(4) == 0 ? random.below(int(order.size())) : random.below(from);
  if (random.below(2) == 0)
    std::swap(order[from], order[to]);
  else if (to < from)
    std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
  else
    std::rotate(order.begin() + from, order.begin() + from + 1, order.begin() + to + 1);
  return order;
}

// Offsets of the pool's buffers, improved; empty if no order was found that beats the plan.
std::vector<int64_t> climb_pool(const Problem& problem, const Plan& plan, int pool,
                                const std::vector<int>& members, int64_t work) {
  Stacker stacker(problem, pool, members, plan.placements);
  std::vector<int> order;
  for (int id : members)
    if (!problem.buffers[id].fixed_offset) order.push_back(id);
  std::vector<int64_t> offsets = stacker.offsets(), best;
  auto by_offset = [&](int a, int b) { return offsets[a] < offsets[b]; };
  std::stable_sort(order.begin(), order.end(), by_offset);

  Random random;
  Score score = stacker.stack(order);
  offsets = stacker.offsets();
  int64_t least = plan.pools[pool].size, goal = plan.pools[pool].lower_bound;
  if (score.makespan < least) best = offsets, least = score.makespan;
  while (least > goal && stacker.work() < work) {
    std::vector<int> next = moved(order, pick(stacker, order, offsets, score.makespan, random), random);
    Score next_score = stacker.stack(next);
    if (next_score > score) continue;
    order = std::move(next);
    score = next_score;
    offsets = stacker.offsets();
    std::stable_sort(order.begin(), order.end(), by_offset);
    if (score.makespan < least) best = offsets, least = score.makespan;
  }
  return best;
}

}  // namespace

std::vector<Placement> climb(const Problem& problem, const Plan& plan, int64_t work) {
  std::vector<Placement> placements = plan.placements;
  auto members = members_by_pool(problem, placements);
  auto open = std::count_if(plan.pools.begin(), plan.pools.end(),
                            [](const PoolUse& use) { return use.proof() == Proof::kGap; });
  for (int pool = 0; pool < int(problem.pools.size()); ++pool) {
    if (plan.pools[pool].proof() == Proof::kOptimal) continue;
    std::vector<int64_t> offsets = climb_pool(problem, plan, pool, members[pool], work / open);
    if (offsets.empty()) continue;
    for (int id : members[pool]) placements[id].offset = offsets[id];
  }
  return placements;
}

}  // namespace arenac
