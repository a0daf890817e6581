#include "planner/block_search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "planner/block_forest.h"
#include "planner/holes.h"
#include "planner/loose_blocks.h"
#include "planner/random.h"
#include "planner/skyline.h"
#include "planner/stack.h"

namespace arenac {
namespace {

constexpr double kMosts[] = {1, 4};
constexpr double kRooms[] = {0.003, 0.01, 0.03, 0.1};  // of the goal, that blocks may waste above it
constexpr double kDoubts[] = {0, 0.001, 0.01, 0.05};
constexpr int kLooseSettings = 8;       // settings of their own, and what decides whether there are more
constexpr size_t kSmallestIn = 50;      // holes are at least half as large as the smallest but one in so many
constexpr int kWays = 3;                // of filling valleys
constexpr int kFewBlocks = 200;         // are planned on the way, when they get no fewer for so
constexpr int64_t kStalls = 4;          // small a part of the patience,
constexpr double kFewerBlocks = 0.8;    // and are fewer than the last time
constexpr double kMostLeft = 0.5;       // of the rectangles, in blocks made once: else little coincides
constexpr int64_t kChangesAtOnce = 64;  // between looks at the clock
constexpr int64_t kPatience = 4;        // one part of the work in so many makes blocks fewer,
constexpr double kFirstPart = 0.1;      // and from here on the longer the fewer: after the first such part
constexpr int kFewLeft = 100;           // so many are left,
constexpr size_t kFewLeftIn = 20;       // or one for so many rectangles

// Blocks, and the rectangles in the order they are made of.
struct Made {
  Blocks blocks;
  std::vector<int> order;
};

// Offsets of blocks, valleys filled with them in one of the ways.
std::vector<int64_t> floors_of(const std::vector<Rectangle>& blocks, int slots, int way) {
  return way == 0 ? fill_valleys(blocks, slots)
                  : fill_valleys(blocks, slots, ByNeed{.looks_ahead = way == 2}).offsets;
}

std::vector<int64_t> placed(const BlockForest::Layout& layout, const std::vector<int64_t>& floors) {
  std::vector<int64_t> offsets;
  for (const BlockForest::Place& place : layout.places)
    offsets.push_back(floors[place.block] + place.relative);
  return offsets;
}

// Offsets of the rectangles, valleys filled with the blocks in one of the ways.
std::vector<int64_t> filled(const Made& made, int slots, int way) {
  const Blocks& blocks = made.blocks;
  std::vector<Rectangle> whole;
  for (size_t i = 0; i < blocks.all.size(); ++i)
    if (!blocks.is_part(int(i))) whole.push_back(blocks.all[i]);
  const std::vector<int64_t> floors = floors_of(whole, slots, way);
  std::vector<int64_t> offsets(blocks.all.size());
  for (size_t i = blocks.all.size(), next = whole.size(); i-- > 0;)
    offsets[i] = blocks.parent[i] < 0 ? floors[--next] : offsets[blocks.parent[i]] + blocks.relative[i];
  std::vector<int64_t> result(made.order.size());
  for (size_t i = 0; i < made.order.size(); ++i) result[made.order[i]] = offsets[i];
  return result;
}

std::vector<Rectangle> in_order(const std::vector<Rectangle>& rectangles, const std::vector<int>& order) {
  std::vector<Rectangle> ordered;
  for (int i : order) ordered.push_back(rectangles[i]);
  return ordered;
}

std::vector<int> all_of(const std::vector<Rectangle>& rectangles) {
  std::vector<int> order(rectangles.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Lets what lies on waste sink.
std::vector<int64_t> sunk(const std::vector<Rectangle>& rectangles, int slots,
                          const std::vector<int64_t>& offsets) {
  std::vector<int> order = all_of(rectangles);
  std::ranges::stable_sort(order, {}, [&](int i) { return offsets[i]; });
  return stack(rectangles, slots, order);
}

// The best so far.
struct Lowest {
  explicit Lowest(const std::vector<Rectangle>& all) : rectangles(all) {}
  bool offer(std::vector<int64_t> other) {
    int64_t top = 0;
    for (size_t i = 0; i < other.size(); ++i) top = std::max(top, other[i] + rectangles[i].size);
    if (top >= height) return false;
    height = top;
    offsets = std::move(other);
    return true;
  }

  const std::vector<Rectangle>& rectangles;
  std::vector<int64_t> offsets;
  int64_t height = std::numeric_limits<int64_t>::max();
};

struct LooseDraw {
  Looseness by;
  bool fills_holes = false;
};

LooseDraw loose_draw(int64_t goal, Random& random) {
  const auto one_of = [&](const auto& list) { return list[random.below(std::size(list))]; };
  const double room = one_of(kRooms);
  return {{goal + int64_t(room * double(goal)), one_of(kMosts), one_of(kDoubts)}, random.below(2) == 0};
}

// What is no less than a usual rectangle.
std::vector<Rectangle> usual_holes(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity) {
  std::vector<int64_t> sizes;
  for (const Rectangle& r : rectangles) sizes.push_back(r.size);
  const auto least = sizes.begin() + std::ptrdiff_t(sizes.size() / kSmallestIn);
  std::nth_element(sizes.begin(), least, sizes.end());
  return holes(rectangles, slots, capacity, *least / 2);
}

}  // namespace

std::vector<int64_t> search_blocks(const std::vector<Rectangle>& rectangles, int slots, int64_t goal,
                                   const BlockSearch& search) {
  Random random(search.seed);
  Lowest lowest(rectangles);
  std::vector<int> order = all_of(rectangles);
  for (int draw = 0; draw < search.draws && lowest.height > goal; ++draw) {
    if (draw > 0 && search.cutoff.has_passed()) break;
    lowest.offer(filled({make_blocks(in_order(rectangles, order), slots), order}, slots, 0));
    shuffle(order, random);
  }
  return std::move(lowest.offsets);
}

std::vector<int64_t> search_loose_blocks(const std::vector<Rectangle>& rectangles, int slots, int64_t goal,
                                         int64_t known, const BlockSearch& search) {
  Random random(search.seed);
  Lowest lowest(rectangles);
  std::vector<Rectangle> with_holes = rectangles;
  for (const Rectangle& hole : usual_holes(rectangles, slots, goal)) with_holes.push_back(hole);
  LooseDraw best;
  for (int draw = 0; draw < search.draws && lowest.height > goal; ++draw) {
    if ((draw > 0 && search.cutoff.has_passed()) || (draw == kLooseSettings && lowest.height >= known)) break;
    const bool is_new = draw < kLooseSettings || random.below(2) == 0;
    const LooseDraw settings = is_new ? loose_draw(goal, random) : best;
    const std::vector<Rectangle>& all = settings.fills_holes ? with_holes : rectangles;
    std::vector<int> order = all_of(all);
    shuffle(order, random);
    const Made made{make_loose_blocks(in_order(all, order), slots, settings.by), std::move(order)};
    for (int way = 0; way < kWays; ++way) {
      std::vector<int64_t> offsets = filled(made, slots, way);
      offsets.resize(rectangles.size());  // without the holes
      if (lowest.offer(sunk(rectangles, slots, offsets))) best = settings;
    }
  }
  if (lowest.height >= known) return {};
  return std::move(lowest.offsets);
}

std::vector<int64_t> regroup_blocks(const std::vector<Rectangle>& rectangles, int slots, int64_t goal,
                                    uint64_t seed, const Effort& effort, const PlanBlocks& plan) {
  BlockForest forest(rectangles, slots, goal, seed);
  Lowest lowest(rectangles);
  int fewest = forest.count(), planned = std::numeric_limits<int>::max();
  if (fewest > int(kMostLeft * double(rectangles.size()))) return {};
  int64_t at_fewest = forest.work();
  const int few_left = std::max(kFewLeft, int(rectangles.size() / kFewLeftIn));
  const auto offer = [&] {
    planned = forest.count();
    const BlockForest::Layout layout = forest.layout();
    lowest.offer(sunk(rectangles, slots, placed(layout, plan(layout.blocks))));
  };
  for (int64_t changes = 0; lowest.height > goal && forest.work() < effort.work; ++changes) {
    if (changes % kChangesAtOnce == 0 && effort.cutoff.has_passed()) break;
    const int64_t idle = forest.work() - at_fewest;
    if (idle > effort.work / kPatience) break;
    const double spent = double(forest.work()) / double(effort.work);
    if (spent > kFirstPart && fewest * spent * kPatience > few_left) break;
    forest.change();
    const bool is_few = forest.count() <= kFewBlocks;
    if (forest.count() == 1 ||
        (is_few && idle > effort.work / kPatience / kStalls && fewest < planned * kFewerBlocks))
      offer();
    if (forest.count() >= fewest) continue;
    fewest = forest.count();
    at_fewest = forest.work();
  }
  if (lowest.height > goal && forest.count() != planned) offer();
  return std::move(lowest.offsets);
}

}  // namespace arenac
