#include "planner/occupied.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace arenac {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kStepsOfJoin = 100, kStepsOfLook = 10;  // about a nanosecond each

// Calls whole(node) for the nodes that make up the span, and part(node) for those above them.
template <class Whole, class Part>
void for_each_node(int leaves, Span span, Whole whole, Part part) {
  const int first = leaves + span.begin, last = leaves + span.end;  // half-open
  for (int l = first, r = last; l < r; l /= 2, r /= 2) {
    if (l & 1) whole(l++);
    if (r & 1) whole(--r);
  }
  for (int level = 1; leaves >> level > 0; ++level) {
    const bool begins_before = (first >> level) << level != first,
               ends_after = (last >> level) << level != last;
    const int left = first >> level, right = (last - 1) >> level;
    if (begins_before) part(left);
    if (ends_after && !(begins_before && left == right)) part(right);
  }
}

}  // namespace

Occupied::Occupied(int slots, int64_t grid, int64_t least)
    : leaves_(int(std::bit_ceil(unsigned(std::max(slots, 1))))),
      grid_(grid),
      least_(least),
      cover_(2 * size_t(leaves_)),
      any_(2 * size_t(leaves_)) {}

void Occupied::join(Ranges& ranges, ByteRange bytes) {
  const auto is_apart = [&](const ByteRange& below, const ByteRange& above) {
    return round_up(below.end, grid_) + least_ <= above.begin;
  };
  const auto first = std::partition_point(ranges.begin(), ranges.end(),
                                          [&](const ByteRange& range) { return is_apart(range, bytes); });
  auto last = first;
  work_ += kStepsOfJoin + (ranges.end() - first);
  for (; last != ranges.end() && !is_apart(bytes, *last); ++last) {
    bytes.begin = std::min(bytes.begin, last->begin);
    bytes.end = std::max(bytes.end, last->end);
  }
  if (first == last) {
    ranges.insert(first, bytes);
  } else {
    *first = bytes;
    ranges.erase(first + 1, last);
  }
}

void Occupied::insert(Span slots, ByteRange bytes) {
  for_each_node(
      leaves_, slots,
      [&](int node) {
        join(cover_[node], bytes);
        join(any_[node], bytes);
      },
      [&](int node) { join(any_[node], bytes); });
}

void Occupied::gather(std::span<const Piece> pieces) {
  cursors_.clear();
  for (const Piece& piece : pieces) {
    const auto add = [&](const Ranges& ranges) {
      if (!ranges.empty()) cursors_.push_back({&ranges, piece.low, piece.high});
    };
    for_each_node(
        leaves_, piece.slots, [&](int node) { add(any_[node]); }, [&](int node) { add(cover_[node]); });
  }
}

// The lowest multiple of `step` from `offset` on at which nothing is in the way.
int64_t Occupied::first_free(int64_t offset, int64_t step) {
  for (size_t calm = 0, k = 0; calm < cursors_.size(); ++calm, k = k + 1 == cursors_.size() ? 0 : k + 1) {
    Cursor& cursor = cursors_[k];
    const Ranges& ranges = *cursor.ranges;
    const size_t before = cursor.next;
    for (; cursor.next < ranges.size(); ++cursor.next) {
      const ByteRange& range = ranges[cursor.next];
      if (range.end <= offset + cursor.low) continue;
      if (offset + cursor.high <= range.begin) break;
      offset = round_up(range.end - cursor.low, step);
      calm = 0;
    }
    work_ += kStepsOfLook + 4 * int64_t(cursor.next - before);
  }
  return offset;
}

// How far up a free offset may move before something is in the way; kNever if nothing is.
int64_t Occupied::last_free(int64_t offset) {
  int64_t last = kNever;
  work_ += kStepsOfLook * int64_t(cursors_.size());
  for (const Cursor& cursor : cursors_)
    for (size_t k = cursor.next; k < cursor.ranges->size(); ++k)
      if (const ByteRange& range = (*cursor.ranges)[k]; range.begin >= offset + cursor.high) {
        last = std::min(last, range.begin - cursor.high);
        break;
      }
  return last;
}

int64_t Occupied::offset_for(std::span<const Piece> pieces, int64_t step, Fit fit) {
  gather(pieces);
  int64_t start = 0;
  if (fit == Fit::kOnTop) {
    for (const Cursor& cursor : cursors_) start = std::max(start, cursor.ranges->back().end - cursor.low);
    return round_up(start, step);
  }
  start = first_free(start, step);
  if (fit == Fit::kLowest) return start;
  int64_t best = -1, best_waste = 0;
  for (int64_t last = last_free(start); last != kNever; last = last_free(start)) {
    const int64_t waste = last - start;
    if (best < 0 || (fit == Fit::kTightest ? waste < best_waste : waste > best_waste)) {
      best = start;
      best_waste = waste;
    }
    start = first_free(round_up(last + 1, step), step);
  }
  return best >= 0 ? best : start;
}

bool Occupied::is_free(std::span<const Piece> pieces, int64_t offset) {
  gather(pieces);
  return first_free(offset, 1) == offset;
}

}  // namespace arenac
