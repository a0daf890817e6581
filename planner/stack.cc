#include "planner/stack.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "planner/packing.h"

namespace arenac {
namespace {

// A tree over slots that raises ranges and tells the greatest height in one.
class Heights {
 public:
  explicit Heights(int slots)
      : leaves_(int(std::bit_ceil(unsigned(std::max(1, slots))))),
        greatest_(2 * leaves_, 0),
        whole_(2 * leaves_, 0) {}

  int64_t greatest(Span span) const {
    int64_t result = 0;
    int left = leaves_ + span.begin, right = leaves_ + span.end;  // half-open
    for (int l = left, r = right; l < r; l /= 2, r /= 2) {
      if (l & 1) result = std::max(result, greatest_[l++]);
      if (r & 1) result = std::max(result, greatest_[--r]);
    }
    for (int node = left / 2; node > 0; node /= 2) result = std::max(result, whole_[node]);
    for (int node = (right - 1) / 2; node > 0; node /= 2) result = std::max(result, whole_[node]);
    return result;
  }

  void raise(Span span, int64_t height) {
    int left = leaves_ + span.begin, right = leaves_ + span.end;
    for (int l = left, r = right; l < r; l /= 2, r /= 2) {
      if (l & 1) raise(l++, height);
      if (r & 1) raise(--r, height);
    }
    for (int node = left / 2; node > 0; node /= 2) greatest_[node] = std::max(greatest_[node], height);
    for (int node = (right - 1) / 2; node > 0; node /= 2) greatest_[node] = std::max(greatest_[node], height);
  }

 private:
  void raise(int node, int64_t height) {
    greatest_[node] = std::max(greatest_[node], height);
    whole_[node] = std::max(whole_[node], height);
  }
  int leaves_;
  std::vector<int64_t> greatest_;  // of the slots below the node, raises of the nodes above it left out
  std::vector<int64_t> whole_;     // what all slots below the node were raised to
};

}  // namespace

std::vector<int64_t> stack(const Problem& problem, const Timeline& timeline, int pool,
                           const std::vector<int>& order) {
  Heights heights(timeline.slots);
  std::vector<int64_t> offsets(problem.buffers.size(), 0);
  for (int id : order) {
    const std::optional<int64_t> fixed = problem.buffers[id].fixed_offset;
    int64_t offset = 0;
    for (const Piece& piece : timeline.pieces(id))
      offset = std::max(offset, heights.greatest(piece.slots) - piece.low);
    const int64_t step = alignment_in(problem, id, pool);
    offset = fixed.value_or(round_up(offset, step));
    for (const Piece& piece : timeline.pieces(id)) heights.raise(piece.slots, offset + piece.high);
    offsets[id] = offset;
  }
  return offsets;
}

std::vector<int64_t> stack(const std::vector<Rectangle>& rectangles, int slots,
                           const std::vector<int>& order) {
  Heights heights(slots);
  std::vector<int64_t> offsets(rectangles.size(), 0);
  for (int i : order) {
    offsets[i] = heights.greatest(rectangles[i].span);
    heights.raise(rectangles[i].span, offsets[i] + rectangles[i].size);
  }
  return offsets;
}

}  // namespace arenac
