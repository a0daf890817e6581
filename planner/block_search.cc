#include "planner/block_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "planner/random.h"
#include "planner/skyline.h"

namespace arenac {
namespace {

// Valleys filled with the blocks that the rectangles make in this order; offsets of the rectangles.
std::vector<int64_t> in_blocks(const std::vector<Rectangle>& rectangles, int slots,
                               const std::vector<int>& order) {
  std::vector<Rectangle> ordered;
  for (int i : order) ordered.push_back(rectangles[i]);
  const Blocks blocks = make_blocks(ordered, slots);
  std::vector<Rectangle> whole;
  for (size_t i = 0; i < blocks.all.size(); ++i)
    if (blocks.parent[i] < 0) whole.push_back(blocks.all[i]);
  const std::vector<int64_t> filled = fill_valleys(whole, slots);
  std::vector<int64_t> offsets(blocks.all.size());
  for (size_t i = blocks.all.size(), next = whole.size(); i-- > 0;)
    offsets[i] = blocks.parent[i] < 0 ? filled[--next] : offsets[blocks.parent[i]] + blocks.relative[i];
  std::vector<int64_t> result(rectangles.size());
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = offsets[i];
  return result;
}

}  // namespace

std::vector<int64_t> search_blocks(const std::vector<Rectangle>& rectangles, int slots, int64_t goal,
                                   const BlockSearch& search) {
  Random random(search.seed);
  std::vector<int> order(rectangles.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<int64_t> lowest;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int draw = 0; draw < search.draws && least > goal; ++draw) {
    if (draw > 0 && search.cutoff.has_passed()) break;
    std::vector<int64_t> offsets = in_blocks(rectangles, slots, order);
    int64_t height = 0;
    for (size_t i = 0; i < offsets.size(); ++i) height = std::max(height, offsets[i] + rectangles[i].size);
    if (height < least) {
      least = height;
      lowest = std::move(offsets);
    }
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  }
  return lowest;
}

}  // namespace arenac
