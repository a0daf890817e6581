#include "planner/block_forest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace arenac {
namespace {

constexpr size_t kNearby = 25;    // roots that are joined anew, at least,
constexpr size_t kMost = 100;     // and at most
constexpr uint64_t kOpened = 12;  // of these are broken up,
constexpr uint64_t kBreaks = 40;  // in so many steps; each at most
constexpr int kLooksNear = 2;     // at candidates for that
constexpr int kLooksFull = 50;    // at slots, for one where roots begin or end

// What a change may add to the cost: blocks, and a part of the changes of the load.
constexpr uint64_t kWorseIn = 32;  // one change in so many may cost a block more,
constexpr double kWorse = 0.15;    // the others a part of it, where joins may lose
// What a join may cost by its loss, in blocks.
constexpr uint64_t kExactIn = 4;                    // in one change in so many nothing,
constexpr double kMostLost = 1, kLeastLost = 0.02;  // in the others something between these
constexpr uint64_t kGrain = 1000;

constexpr int64_t kBlockWork = 300, kLooseWork = 500;  // to join one

// Takes out one of them, in no order.
int take(std::vector<int>& from, size_t at) {
  std::swap(from[at], from.back());
  const int one = from.back();
  from.pop_back();
  return one;
}

}  // namespace

BlockForest::BlockForest(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity, uint64_t seed)
    : rectangles_(int(rectangles.size())),
      random_(seed),
      joiner_(rectangles, slots, capacity),
      begins_(slots + 1),
      ends_(slots + 1) {
  const Blocks made = make_blocks(rectangles, slots);
  std::vector<BlockJoiner::Block> blocks;
  std::vector<int> roots;
  for (const Rectangle& r : made.all) blocks.push_back({r});
  for (int id = 0; id < int(made.all.size()); ++id) {
    if (made.is_part(id))
      blocks[made.parent[id]].parts.push_back({id, made.relative[id]});
    else
      roots.push_back(id);
  }
  for (size_t id = rectangles.size(); id < blocks.size(); ++id) joiner_.add(std::move(blocks[id]));
  plant(roots);
  count_ = int(roots.size());
  work_ = kBlockWork * int64_t(made.all.size());
}

bool BlockForest::change() {
  const double changes = joiner_.changes();
  const std::vector<int> before = nearby();
  std::vector<int> pieces = before;
  const std::vector<int> gone = break_up(pieces);
  const double most = most_lost();
  work_ += int64_t(pieces.size()) * (most < 0 ? kBlockWork : kLooseWork);
  const auto [after, made] = joiner_.join(std::move(pieces), most, random_);
  const int more = int(after.size()) - int(before.size());
  if (more + BlockJoiner::kChange * (joiner_.changes() - changes) > allowed()) {
    for (int id : made) joiner_.take_apart(id);
    for (int id : gone) joiner_.put_together(id);
    joiner_.forget(made);
    return false;
  }
  uproot(before);
  joiner_.forget(gone);
  plant(after);
  count_ += more;
  return true;
}

// What the losses of one join may cost; below zero, nothing is lost.
double BlockForest::most_lost() {
  if (!joiner_.has_room() || random_.below(kExactIn) == 0) return -1;
  return kMostLost * std::pow(kLeastLost / kMostLost, double(random_.below(kGrain)) / kGrain);
}

double BlockForest::allowed() {
  if (random_.below(kWorseIn) == 0) return 1;
  return joiner_.has_room() ? kWorse * double(random_.below(kGrain)) / kGrain : 0;
}

void BlockForest::plant(const std::vector<int>& roots) {
  for (int id : roots) {
    const Span span = joiner_[id].rectangle.span;
    begins_[span.begin].push_back(id);
    ends_[span.end].push_back(id);
  }
}

void BlockForest::uproot(const std::vector<int>& roots) {
  for (int id : roots) {
    const Span span = joiner_[id].rectangle.span;
    std::erase(begins_[span.begin], id);
    std::erase(ends_[span.end], id);
  }
}

// Roots that begin or end around a time, as a rule at it: the nearest to it.
std::vector<int> BlockForest::nearby() {
  const int slots = int(begins_.size());
  for (int look = 0; look < kLooksFull; ++look) {
    centre_ = int(random_.below(uint64_t(slots)));
    if (!begins_[centre_].empty() || !ends_[centre_].empty()) break;
  }
  std::vector<int> result;
  is_near_.resize(joiner_.size());
  const auto gather = [&](int slot) {
    if (slot < 0 || slot >= slots) return;
    for (const std::vector<int>* list : {&begins_[slot], &ends_[slot]})
      for (int id : *list)
        if (!std::exchange(is_near_[id], 1)) result.push_back(id);
  };
  gather(centre_);
  for (int far = 1; far < slots && result.size() < kNearby; ++far) {
    gather(centre_ - far);
    gather(centre_ + far);
    work_ += 4;
  }
  for (int id : result) is_near_[id] = 0;
  if (result.size() > kMost) {
    shuffle(result, random_);
    result.resize(kMost);
  }
  return result;
}

// Of a few drawn ones the nearest to the centre.
size_t BlockForest::nearer(const std::vector<int>& blocks) {
  const auto distance = [&](size_t at) {
    const Span span = joiner_[blocks[at]].rectangle.span;
    return std::min(std::abs(span.begin - centre_), std::abs(span.end - centre_));
  };
  size_t best = random_.below(blocks.size());
  for (int k = 1; k < kLooksNear; ++k)
    if (const size_t other = random_.below(blocks.size()); distance(other) < distance(best)) best = other;
  return best;
}

// Replaces some of the pieces by parts of theirs; those that are gone.
std::vector<int> BlockForest::break_up(std::vector<int>& pieces) {
  std::vector<int> open, gone;
  for (uint64_t k = 1 + random_.below(kOpened); k > 0 && !pieces.empty(); --k)
    open.push_back(take(pieces, random_.below(pieces.size())));
  for (uint64_t k = 1 + random_.below(kBreaks); k > 0 && !open.empty(); --k) {
    const int block = take(open, nearer(open));
    if (joiner_.is_given(block)) {
      pieces.push_back(block);
      continue;
    }
    joiner_.take_apart(block);
    gone.push_back(block);
    for (const auto& part : joiner_[block].parts) open.push_back(part.block);
  }
  pieces.insert(pieces.end(), open.begin(), open.end());
  return gone;
}

BlockForest::Layout BlockForest::layout() const {
  Layout layout;
  layout.places.resize(rectangles_);
  for (const std::vector<int>& roots : begins_)
    for (int root : roots) {
      std::vector<BlockJoiner::Part> open = {{root, 0}};
      while (!open.empty()) {
        const auto [block, relative] = open.back();
        open.pop_back();
        if (joiner_.is_given(block)) layout.places[block] = {int(layout.blocks.size()), relative};
        for (const auto& part : joiner_[block].parts) open.push_back({part.block, relative + part.relative});
      }
      layout.blocks.push_back(joiner_[root].rectangle);
    }
  return layout;
}

}  // namespace arenac
