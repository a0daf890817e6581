#include "planner/block_joins.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <ranges>
#include <span>

namespace arenac {
namespace {

constexpr double kArea = 0.1;   // of a block: what a loss costs that is as large as the smaller part
constexpr double kNoise = 0.3;  // of a block, in ranks
constexpr size_t kArms = 8;     // candidates at a slot, in pinwheels
constexpr uint64_t kNoiseGrain = 1000;

void erase(std::vector<int>& from, int id) {
  auto at = std::ranges::find(from, id);
  *at = from.back();
  from.pop_back();
}

std::span<const int> few(const std::vector<int>& ids) {
  return std::span(ids).last(std::min(kArms, ids.size()));
}

double area(const Rectangle& r) { return double(r.size) * (r.span.end - r.span.begin); }

}  // namespace

BlockJoiner::BlockJoiner(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity)
    : given_(int(rectangles.size())),
      slack_(rectangles, slots, capacity),
      change_(slots + 1, 0),
      begins_(slots + 1),
      ends_(slots + 1) {
  double bytes = 0;
  for (const Rectangle& r : rectangles) {
    add({r});
    bytes += double(r.size);
  }
  twice_usual_ = 2 * bytes / double(std::max<size_t>(1, rectangles.size()));
  const std::vector<int64_t> load = loads(rectangles, slots);
  for (int slot = 0; slot <= slots; ++slot) {
    const int64_t before = slot > 0 ? capacity - load[slot - 1] : 0;
    change_[slot] = (slot < slots ? capacity - load[slot] : 0) - before;
    changes_ += std::abs(change_[slot]);
  }
  has_room_ = changes_ > 0;
}

int BlockJoiner::add(Block block) {
  if (free_.empty()) {
    blocks_.push_back(std::move(block));
    is_open_.push_back(0);
    return int(blocks_.size()) - 1;
  }
  const int id = free_.back();
  free_.pop_back();
  blocks_[id] = std::move(block);
  return id;
}

void BlockJoiner::forget(const std::vector<int>& ids) {
  for (int id : ids)
    if (!is_given(id)) free_.push_back(id);
}

void BlockJoiner::lose(const Loss& loss, int times) {
  if (loss.bytes == 0) return;
  const int64_t bytes = loss.bytes * times;
  slack_.lose(loss.span, bytes);
  const auto add = [&](int slot, int64_t more) {
    changes_ += std::abs(change_[slot] + more) - std::abs(change_[slot]);
    change_[slot] += more;
  };
  add(loss.span.begin, -bytes);
  add(loss.span.end, bytes);
}

// In blocks; of a join of these two.
double BlockJoiner::cost(const Loss& loss, int first, int second) const {
  const int64_t fall = change_[loss.span.begin], rise = change_[loss.span.end];
  const int64_t changes =
      std::abs(fall - loss.bytes) - std::abs(fall) + std::abs(rise + loss.bytes) - std::abs(rise);
  const double least = std::min(area(blocks_[first].rectangle), area(blocks_[second].rectangle));
  return kChange * double(changes) / twice_usual_ + kArea * area({loss.span, loss.bytes}) / least;
}

void BlockJoiner::open(int id) {
  is_open_[id] = 1;
  begins_[span(id).begin].push_back(id);
  ends_[span(id).end].push_back(id);
  queue_.push_back(id);
}

void BlockJoiner::close(int id) {
  is_open_[id] = 0;
  erase(begins_[span(id).begin], id);
  erase(ends_[span(id).end], id);
}

int BlockJoiner::make(Block block) {
  for (const Part& part : block.parts) close(part.block);
  lose(block.loss, 1);
  const int id = add(std::move(block));
  open(id);
  made_.push_back(id);
  return id;
}

BlockJoiner::Joined BlockJoiner::join(std::vector<int> blocks, double most, Random& random) {
  shuffle(blocks, random);
  made_.clear();
  for (int id : blocks) open(id);
  join_exactly();
  if (most >= 0) join_loosely(open_ones(blocks), most, random);
  Joined joined{open_ones(blocks), made_};
  for (int id : joined.left) close(id);
  return joined;
}

// Of these and those made of them.
std::vector<int> BlockJoiner::open_ones(const std::vector<int>& blocks) const {
  std::vector<int> result;
  for (const std::vector<int>* list : {&blocks, &made_})
    std::ranges::copy_if(*list, std::back_inserter(result), [&](int id) { return is_open_[id] != 0; });
  return result;
}

void BlockJoiner::join_exactly() {
  while (!queue_.empty()) {
    const int id = queue_.back();
    queue_.pop_back();
    if (is_open_[id]) join_exactly(id);
  }
}

void BlockJoiner::join_exactly(int id) {
  if (stack(id) || line_up(id) || pinwheel(id) || is_given(id)) return;
  // A new arm of a pinwheel, whose centre shares a begin or an end with each arm.
  const Span s = span(id);
  for (const std::vector<int>* list : {&begins_[s.begin], &begins_[s.end], &ends_[s.begin], &ends_[s.end]})
    for (int centre : few(*list))
      if (pinwheel(centre)) return;
}

bool BlockJoiner::stack(int id) {
  const Span s = span(id);
  for (int other : begins_[s.begin] | std::views::reverse)
    if (other != id && span(other).end == s.end) {
      make({{s, size(id) + size(other)}, {{id, 0}, {other, size(id)}}});
      return true;
    }
  return false;
}

bool BlockJoiner::line_up(int id) {
  const auto of_size = [&](const std::vector<int>& ids) {
    const auto at =
        std::find_if(ids.rbegin(), ids.rend(), [&](int other) { return size(other) == size(id); });
    return at == ids.rend() ? -1 : *at;
  };
  const int right = of_size(begins_[span(id).end]);
  const int left = right < 0 ? of_size(ends_[span(id).begin]) : -1;
  if (right < 0 && left < 0) return false;
  make(right >= 0 ? in_line(id, right) : in_line(left, id));
  return true;
}

// By the letters of blocks.h; e is in the middle.
bool BlockJoiner::pinwheel(int e) {
  const Span middle = span(e);
  for (int a : few(ends_[middle.end]))
    for (int d : few(ends_[middle.begin])) {
      if (a == e || span(d).begin != span(a).begin || size(d) <= size(e)) continue;
      for (int b : few(begins_[middle.end])) {
        if (size(b) != size(a) + size(e)) continue;
        for (int c : few(ends_[span(b).end])) {
          if (span(c).begin != middle.begin || size(d) != size(e) + size(c)) continue;
          make({{{span(a).begin, span(b).end}, size(a) + size(d)},
                {{a, 0}, {d, size(a)}, {b, 0}, {c, size(b)}, {e, size(a)}}});
          return true;
        }
      }
    }
  return false;
}

// The cheapest first, as long as each costs less than `most`; what matches then goes first again.
void BlockJoiner::join_loosely(const std::vector<int>& blocks, double most, Random& random) {
  heap_.clear();
  for (int id : blocks) look_for(id, most, random);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Candidate best = heap_.back();
    heap_.pop_back();
    if (!is_open_[best.first] || !is_open_[best.second]) continue;
    Block block = block_of(best);
    if (slack_.of(block.loss.span) < block.loss.bytes) continue;
    if (cost(block.loss, best.first, best.second) > most) continue;
    const size_t before = made_.size();
    make(std::move(block));
    join_exactly();
    for (size_t k = before; k < made_.size(); ++k)
      if (is_open_[made_[k]]) look_for(made_[k], most, random);
  }
}

void BlockJoiner::look_for(int id, double most, Random& random) {
  const auto offer = [&](int first, int second, bool is_pile) {
    Candidate candidate{0, first, second, is_pile};
    const Loss loss = block_of(candidate).loss;
    candidate.rank = cost(loss, first, second);
    if (candidate.rank > most || slack_.of(loss.span) < loss.bytes) return;
    candidate.rank += kNoise * double(random.below(kNoiseGrain)) / kNoiseGrain;
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
  };
  const auto offer_pile = [&](int other) {
    if (other != id) length(other) < length(id) ? offer(id, other, true) : offer(other, id, true);
  };
  for (int other : begins_[span(id).begin]) offer_pile(other);
  for (int other : ends_[span(id).end]) offer_pile(other);
  for (int right : begins_[span(id).end]) offer(id, right, false);
  for (int left : ends_[span(id).begin]) offer(left, id, false);
}

// With a begin or an end in common, the shorter on the longer.
BlockJoiner::Block BlockJoiner::pile(int lower, int upper) const {
  const Span a = span(lower), b = span(upper);
  const Span rest = a.begin == b.begin ? Span{b.end, a.end} : Span{a.begin, b.begin};
  return {{a, size(lower) + size(upper)}, {{lower, 0}, {upper, size(lower)}}, {rest, size(upper)}};
}

BlockJoiner::Block BlockJoiner::in_line(int left, int right) const {
  const int64_t lower = std::min(size(left), size(right)), higher = std::max(size(left), size(right));
  return {{{span(left).begin, span(right).end}, higher},
          {{left, 0}, {right, 0}},
          {span(size(left) < size(right) ? left : right), higher - lower}};
}

}  // namespace arenac
