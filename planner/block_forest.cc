#include "planner/block_forest.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace arenac {
namespace {

constexpr size_t kNearby = 50;       // roots that are joined anew, about
constexpr uint64_t kOpened = 6;      // of these are broken up,
constexpr uint64_t kBreaks = 40;     // in so many steps; each at most
constexpr uint64_t kWorseIn = 32;    // one change in so many may leave a block more than before
constexpr int kLooksNear = 3;        // at candidates for that
constexpr int64_t kPieceWork = 400;  // to join one

// Takes out one of them, in no order.
int take(std::vector<int>& from, size_t at) {
  std::swap(from[at], from.back());
  const int one = from.back();
  from.pop_back();
  return one;
}

// The same rectangles in times of fewer slots: those at which one of them begins or ends.
int renumber(std::vector<Rectangle>& rectangles) {
  std::vector<int> slots;
  for (const Rectangle& r : rectangles) slots.insert(slots.end(), {r.span.begin, r.span.end});
  std::ranges::sort(slots);
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  const auto number = [&](int slot) { return int(std::ranges::lower_bound(slots, slot) - slots.begin()); };
  for (Rectangle& r : rectangles) r.span = {number(r.span.begin), number(r.span.end)};
  return int(slots.size()) - 1;
}

}  // namespace

BlockForest::BlockForest(const std::vector<Rectangle>& rectangles, int real, int slots, uint64_t seed)
    : real_(real), random_(seed), begins_(slots + 1), ends_(slots + 1) {
  std::vector<int> all;
  for (int id = 0; id < int(rectangles.size()); ++id) all.push_back(add({rectangles[id], id < real}));
  Change change;
  merge(std::move(all), change);
  drop(change.gone);
  plant(change.after);
  count_ = count_real(change.after);
}

bool BlockForest::change() {
  Change change;
  change.before = nearby();
  std::vector<int> pieces = change.before;
  break_up(pieces, change);
  merge(std::move(pieces), change);
  const int more = count_real(change.after) - count_real(change.before);
  if (more > (random_.below(kWorseIn) == 0 ? 1 : 0)) {
    drop(change.made);
    return false;
  }
  uproot(change.before);
  drop(change.gone);
  plant(change.after);
  count_ += more;
  return true;
}

int BlockForest::add(Node node) {
  if (free_.empty()) {
    nodes_.push_back(std::move(node));
    is_near_.push_back(0);
    return int(nodes_.size()) - 1;
  }
  const int id = free_.back();
  free_.pop_back();
  nodes_[id] = std::move(node);
  return id;
}

// Given ones that are real stay for good.
void BlockForest::drop(const std::vector<int>& nodes) {
  for (int id : nodes)
    if (id >= real_) free_.push_back(id);
}

int BlockForest::count_real(const std::vector<int>& nodes) const {
  return int(std::ranges::count_if(nodes, [&](int id) { return nodes_[id].is_real; }));
}

void BlockForest::plant(const std::vector<int>& roots) {
  for (int id : roots) {
    begins_[nodes_[id].rectangle.span.begin].push_back(id);
    ends_[nodes_[id].rectangle.span.end].push_back(id);
  }
}

void BlockForest::uproot(const std::vector<int>& roots) {
  for (int id : roots) {
    std::erase(begins_[nodes_[id].rectangle.span.begin], id);
    std::erase(ends_[nodes_[id].rectangle.span.end], id);
  }
}

// Roots that begin or end around a time, the nearest to it.
std::vector<int> BlockForest::nearby() {
  const int slots = int(begins_.size());
  centre_ = int(random_.below(uint64_t(slots)));
  std::vector<int> result;
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
  return result;
}

// Two parts of a hole, cut at a time or at the size of another; none if that does not cut it.
std::vector<int> BlockForest::halves(int hole, const Rectangle& other) {
  const Rectangle whole = nodes_[hole].rectangle;
  Rectangle first = whole, second = whole;
  if (const uint64_t way = random_.below(4); way >= 2) {
    first.size = other.size;
    second.size -= other.size;
  } else {
    first.span.end = second.span.begin = way == 0 ? other.span.begin : other.span.end;
  }
  const auto is_empty = [](const Rectangle& r) { return r.size <= 0 || r.span.begin >= r.span.end; };
  if (is_empty(first) || is_empty(second)) return {};
  return {add({first, false}), add({second, false})};
}

std::vector<int> BlockForest::parts_of(int node, const std::vector<int>& pieces, Change& change) {
  std::vector<int> parts;
  if (nodes_[node].is_real) {
    for (const Child& child : nodes_[node].children) parts.push_back(child.node);
  } else if (!pieces.empty()) {
    parts = halves(node, nodes_[pieces[random_.below(pieces.size())]].rectangle);
    change.made.insert(change.made.end(), parts.begin(), parts.end());
  }
  if (!parts.empty()) change.gone.push_back(node);
  return parts;
}

// Of a few drawn ones the nearest to the centre.
size_t BlockForest::nearer(const std::vector<int>& nodes) {
  const auto distance = [&](size_t at) {
    const Span span = nodes_[nodes[at]].rectangle.span;
    return std::min(std::abs(span.begin - centre_), std::abs(span.end - centre_));
  };
  size_t best = random_.below(nodes.size());
  for (int k = 1; k < kLooksNear; ++k)
    if (const size_t other = random_.below(nodes.size()); distance(other) < distance(best)) best = other;
  return best;
}

// Replaces some of the pieces by parts of theirs.
void BlockForest::break_up(std::vector<int>& pieces, Change& change) {
  std::vector<int> open;
  for (uint64_t k = 1 + random_.below(kOpened); k > 0 && !pieces.empty(); --k)
    open.push_back(take(pieces, random_.below(pieces.size())));
  for (uint64_t k = 1 + random_.below(kBreaks); k > 0 && !open.empty(); --k) {
    const int node = take(open, nearer(open));
    const std::vector<int> parts = parts_of(node, pieces, change);
    if (parts.empty()) pieces.push_back(node);
    open.insert(open.end(), parts.begin(), parts.end());
  }
  pieces.insert(pieces.end(), open.begin(), open.end());
}

// Holes that are made of holes may be cut anywhere, so that what they are made of does not matter.
BlockForest::Node BlockForest::made_of(std::vector<Child> children, int64_t size) const {
  Node node{{{}, size}, false};
  for (const Child& child : children) {
    node.rectangle.span = hull(node.rectangle.span, nodes_[child.node].rectangle.span);
    node.is_real |= nodes_[child.node].is_real;
  }
  if (node.is_real) node.children = std::move(children);
  return node;
}

void BlockForest::merge(std::vector<int> pieces, Change& change) {
  shuffle(pieces, random_);
  std::vector<Rectangle> rectangles;
  for (int id : pieces) rectangles.push_back(nodes_[id].rectangle);
  const int slots = renumber(rectangles);
  const Blocks blocks = make_blocks(rectangles, slots);
  work_ += kPieceWork * int64_t(blocks.all.size());
  std::vector<std::vector<Child>> children(blocks.all.size());
  for (int k = 0; k < int(blocks.all.size()); ++k) {
    if (k >= int(pieces.size())) {
      Node node = made_of(children[k], blocks.all[k].size);
      if (!node.is_real)
        for (const Child& child : children[k]) change.gone.push_back(child.node);
      pieces.push_back(add(std::move(node)));
      change.made.push_back(pieces.back());
    }
    if (blocks.is_part(k))
      children[blocks.parent[k]].push_back({pieces[k], blocks.relative[k]});
    else
      change.after.push_back(pieces[k]);
  }
}

BlockForest::Layout BlockForest::layout() const {
  Layout layout;
  layout.places.resize(real_);
  for (const std::vector<int>& roots : begins_)
    for (int root : roots) {
      if (!nodes_[root].is_real) continue;
      std::vector<Child> open = {{root, 0}};
      while (!open.empty()) {
        const auto [node, relative] = open.back();
        open.pop_back();
        if (node < real_) layout.places[node] = {int(layout.blocks.size()), relative};
        for (const Child& child : nodes_[node].children)
          open.push_back({child.node, relative + child.relative});
      }
      layout.blocks.push_back(nodes_[root].rectangle);
    }
  return layout;
}

}  // namespace arenac
