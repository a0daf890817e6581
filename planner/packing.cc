#include "planner/packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "frontend/error.h"
#include "planner/occupied.h"

namespace arenac {
namespace {

constexpr int64_t kStepsOfMeeting =
    15;                                // of a buffer with overlaps, for each range that it must not start in
constexpr size_t kTurnsOfClock = 256;  // buffers between two looks at the clock

// What is taken, per pool, as no piece of any buffer may lie in gaps below some bytes.
std::vector<Occupied> nothing_occupied(const Problem& problem, const Timeline& timeline) {
  int64_t least = std::numeric_limits<int64_t>::max(), align = 0;
  bool is_low = true;
  for (const Piece& piece : timeline.all_pieces) {
    least = std::min(least, piece.high - piece.low);
    is_low = is_low && piece.low == 0;
  }
  for (const Buffer& b : problem.buffers) align = std::gcd(align, b.align);
  if (timeline.all_pieces.empty()) least = 1;
  std::vector<Occupied> result;
  for (const Pool& pool : problem.pools)
    result.emplace_back(timeline.slots, is_low ? std::lcm(std::max<int64_t>(align, 1), pool.align) : 1,
                        least);
  return result;
}

struct Packer {
  const Problem& problem;
  Timeline timeline = make_timeline(problem, all_buffers(problem));
  // Per buffer; nothing if there are none.
  std::vector<std::vector<Overlap>> overlaps =
      problem.overlaps.empty() ? std::vector<std::vector<Overlap>>{} : overlaps_by_buffer(problem);
  std::vector<Occupied> occupied = nothing_occupied(problem, timeline);
  // Those with overlaps look at each one that they meet; nothing is in it, and it is small, if there are
  // none.
  std::vector<PieceIndex> placed = std::vector<PieceIndex>(
      problem.pools.size(), PieceIndex(problem.overlaps.empty() ? 0 : timeline.slots));
  std::vector<Placement> placements = std::vector<Placement>(problem.buffers.size());
  int64_t work = 0;

  bool has_overlaps(int id) const { return !overlaps.empty() && !overlaps[id].empty(); }

  void place(int id, Placement where) {
    placements[id] = where;
    Occupied& taken = occupied[where.pool];
    const int64_t before = taken.work();
    for (const Piece& piece : timeline.pieces(id))
      taken.insert(piece.slots, {where.offset + piece.low, where.offset + piece.high});
    work += taken.work() - before;
    if (!problem.overlaps.empty()) placed[where.pool].insert(id, timeline);
  }

  std::vector<ForbiddenStarts> forbidden(int id, int pool) const {
    std::vector<ForbiddenStarts> result;
    for (const Piece& piece : timeline.pieces(id))
      placed[pool].meeting(piece.slots, [&](int other, const Piece& other_piece) {
        auto range = forbidden_starts(other, other_piece, placements[other].offset, id, piece, overlaps[id]);
        if (range.begin < range.end) result.push_back(range);
      });
    std::sort(result.begin(), result.end(),
              [](const ForbiddenStarts& a, const ForbiddenStarts& b) { return a.begin < b.begin; });
    return result;
  }

  bool is_forbidden(int id, int pool, int64_t offset) const {
    const auto ranges = forbidden(id, pool);
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const ForbiddenStarts& r) { return r.begin <= offset && offset < r.end; });
  }

  // Counts the work.
  int64_t offset_for(int id, int pool, Fit fit) {
    int64_t step = alignment_in(problem, id, pool);
    if (!has_overlaps(id)) {
      const int64_t before = occupied[pool].work();
      const int64_t offset = occupied[pool].offset_for(timeline.pieces(id), step, fit);
      work += occupied[pool].work() - before;
      return offset;
    }
    int64_t start = 0;  // the lowest offset above all ranges so far
    int64_t best = -1, best_waste = 0;
    const std::vector<ForbiddenStarts> ranges = forbidden(id, pool);
    work += kStepsOfMeeting * int64_t(ranges.size());
    for (const ForbiddenStarts& range : ranges) {
      // The free starts are [start, range.begin): the gap has range.begin - 1 - start bytes more than the
      // buffer.
      int64_t waste = range.begin - 1 - start;
      if (start < range.begin && fit != Fit::kOnTop) {
        if (fit == Fit::kLowest) return start;
        if (best < 0 || (fit == Fit::kTightest ? waste < best_waste : waste > best_waste)) {
          best = start;
          best_waste = waste;
        }
      }
      if (range.end > start) start = round_up(range.end, step);
    }
    return best >= 0 ? best : start;
  }

  void place_free(int id, Fit fit) {
    const Buffer& b = problem.buffers[id];
    for (size_t choice = 0; choice < b.pools.size(); ++choice) {
      int pool = b.pools[choice];
      int64_t offset = offset_for(id, pool, fit);
      bool fits = offset + b.size <= problem.pools[pool].capacity.value_or(offset + b.size);
      if (fits || choice + 1 == b.pools.size()) return place(id, {pool, offset});
    }
  }

  // Whether it may lie there, in one of its pools, and does from now on.
  bool place_at(int id, Placement where) {
    const Buffer& b = problem.buffers[id];
    const auto& [pool, offset] = where;
    if (offset % alignment_in(problem, id, pool) != 0) return false;
    const bool free = has_overlaps(id) ? !is_forbidden(id, pool, offset)
                                       : occupied[pool].is_free(timeline.pieces(id), offset);
    const bool fits = offset + b.size <= problem.pools[pool].capacity.value_or(offset + b.size);
    if (free && fits) place(id, where);
    return free && fits;
  }

  void place_fixed(int id) {
    const Buffer& b = problem.buffers[id];
    const int64_t offset = *b.fixed_offset;
    for (int pool : b.pools)
      if (place_at(id, {pool, offset})) return;
    throw UserError(
        fmt::format("planning problem: buffer {} '{}' cannot lie at its fixed offset {}: misaligned, above "
                    "the capacity, or taken",
                    id, b.name, offset));
  }
};

}  // namespace

int64_t alignment_in(const Problem& problem, int id, int pool) {
  return std::lcm(problem.buffers[id].align, problem.pools[pool].align);
}

std::vector<std::vector<Overlap>> overlaps_by_buffer(const Problem& problem) {
  std::vector<std::vector<Overlap>> result(problem.buffers.size());
  for (const Overlap& o : problem.overlaps) {
    result[o.above].push_back(o);
    result[o.below].push_back(o);
  }
  return result;
}

ForbiddenStarts forbidden_starts(int placed, const Piece& placed_piece, int64_t offset, int other,
                                 const Piece& other_piece, const std::vector<Overlap>& overlaps) {
  ForbiddenStarts range{offset + placed_piece.low - other_piece.high + 1,
                        offset + placed_piece.high - other_piece.low};
  for (const Overlap& o : overlaps) {
    if (o.above == other && o.below == placed) range.end = std::min(range.end, offset + o.distance);
    if (o.above == placed && o.below == other) range.begin = std::max(range.begin, offset - o.distance + 1);
  }
  return range;
}

std::vector<Placement> pack(const Problem& problem, const std::vector<int>& order, Fit fit) {
  return *pack_within(problem, order, fit, {std::numeric_limits<int64_t>::max()}).placements;
}

Packed pack_within(const Problem& problem, const std::vector<int>& order, Fit fit, const Effort& effort,
                   const WarmStart& kept) {
  Packer packer{problem};
  std::vector<int> free;  // to be placed
  for (int id : order)
    if (problem.buffers[id].fixed_offset)
      packer.place_fixed(id);
    else
      free.push_back(id);
  if (!kept.empty()) std::erase_if(free, [&](int id) { return kept[id] && packer.place_at(id, *kept[id]); });
  size_t turns = 0;
  for (int id : free) {
    if (packer.work > effort.work || (++turns % kTurnsOfClock == 0 && effort.cutoff.has_passed()))
      return {std::nullopt, packer.work};
    packer.place_free(id, fit);
  }
  return {std::move(packer.placements), packer.work};
}

}  // namespace arenac
