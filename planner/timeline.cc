#include "planner/timeline.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace arenac {

namespace {

// Calls visit(begin, end, low, high) for each piece of the buffer's life, in its own times.
template <class Visit>
void for_each_piece(const Buffer& b, Visit visit) {
  int64_t from = b.begin;
  for (const Gap& gap : b.gaps) {
    if (from < gap.begin && b.size > 0) visit(from, gap.begin, int64_t{0}, b.size);
    if (gap.low < gap.high) visit(gap.begin, gap.end, gap.low, gap.high);
    from = gap.end;
  }
  if (from < b.end && b.size > 0) visit(from, b.end, int64_t{0}, b.size);
}

}  // namespace

std::vector<Event> events(const Problem& problem, const std::vector<int>& members) {
  std::vector<Event> result;
  result.reserve(2 * members.size());
  for (int id : members)
    for_each_piece(problem.buffers[id], [&](int64_t begin, int64_t end, int64_t low, int64_t high) {
      result.push_back({begin, true, id, low, high});
      result.push_back({end, false, id, low, high});
    });
  std::sort(result.begin(), result.end(), [](const Event& a, const Event& b) {
    return std::tie(a.time, a.begins, a.id) < std::tie(b.time, b.begins, b.id);
  });
  return result;
}

Timeline make_timeline(const Problem& problem, const std::vector<int>& members) {
  const std::vector<Event> all = events(problem, members);
  Timeline timeline{0, std::vector<Span>(problem.buffers.size()), {}, {}};
  timeline.all_pieces.resize(all.size() / 2);
  timeline.first_piece.assign(problem.buffers.size() + 1, 0);
  for (const Event& event : all)
    if (event.begins) ++timeline.first_piece[event.id + 1];
  for (size_t id = 0; id < problem.buffers.size(); ++id)
    timeline.first_piece[id + 1] += timeline.first_piece[id];

  std::vector<int> next(timeline.first_piece.begin(),
                        timeline.first_piece.end() - 1);  // piece of each buffer
  bool ended = true;                                      // has a piece ended since the last slot was opened?
  for (const auto& [time, begins, id, low, high] : all) {
    if (begins && ended) ++timeline.slots;
    ended = !begins;
    Piece& piece = timeline.all_pieces[next[id]];
    if (begins) {
      piece = {{timeline.slots - 1, timeline.slots}, low, high};
    } else {
      piece.slots.end = timeline.slots;
      ++next[id];
    }
  }
  for (int id : members)
    if (const auto pieces = timeline.pieces(id); !pieces.empty())
      timeline.spans[id] = {pieces.front().slots.begin, pieces.back().slots.end};
  return timeline;
}

double meetings(const Timeline& timeline) {
  std::vector<int64_t> begun(timeline.slots + 1, 0), ended(timeline.slots + 1, 0);  // before or at the slot
  for (const Span& span : timeline.spans) {
    ++begun[span.begin];
    ++ended[span.end];
  }
  double count = 0;
  int64_t live = 0;
  for (int slot = 0; slot <= timeline.slots; ++slot) {
    live -= ended[slot];
    count += double(begun[slot]) * double(live + begun[slot]);
    live += begun[slot];
  }
  return count;
}

std::vector<int> all_buffers(const Problem& problem) {
  std::vector<int> ids(problem.buffers.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

PieceIndex::PieceIndex(int slots)
    : leaves_(int(std::bit_ceil(unsigned(std::max(slots, 1))))), nodes_(2 * leaves_) {}

void PieceIndex::insert(int id, const Piece& piece) {
  int node = leaves_ + piece.slots.begin;
  for (int last = leaves_ + piece.slots.end - 1; node != last; last /= 2) node /= 2;
  nodes_[node].items.push_back({id, piece});
  for (; node > 0; node /= 2) nodes_[node].used = true;
}

}  // namespace arenac
