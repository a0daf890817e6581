#include "planner/loose_blocks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <span>
#include <utility>

#include "planner/slack.h"

namespace arenac {
namespace {

constexpr double kNoJoin = std::numeric_limits<double>::infinity();
constexpr size_t kFew = 256;    // candidates at a slot, for two
constexpr size_t kFewer = 128;  // for a place in a pinwheel

// Some become a block, the better the lower the rank.
struct Join {
  struct Part {
    int id = -1;
    int64_t relative = 0;  // bytes from the block's offset
  };
  struct Loss {
    Span span;
    int64_t bytes = 0;
  };
  double rank = kNoJoin;
  Rectangle block;
  std::vector<Part> parts;
  std::vector<Loss> losses = {};
};

// Ids by a slot, in no useful order.
class Shelf {
 public:
  explicit Shelf(int slots) : ids_(slots) {}
  void add(int slot, int id) {
    place_.resize(size_t(id) + 1);
    place_[id] = int(ids_[slot].size());
    ids_[slot].push_back(id);
  }
  void remove(int slot, int id) {
    std::vector<int>& list = ids_[slot];
    place_[list.back()] = place_[id];
    list[place_[id]] = list.back();
    list.pop_back();
  }
  std::span<const int> few(int slot, size_t most) const {
    return std::span(ids_[slot]).first(std::min(most, ids_[slot].size()));
  }
  double count(int slot) const { return double(ids_[slot].size()); }

 private:
  std::vector<std::vector<int>> ids_;
  std::vector<int> place_;
};

class LooseMaker {
 public:
  LooseMaker(const std::vector<Rectangle>& rectangles, int slots, const Looseness& by)
      : by_(by), slack_(rectangles, slots, by.capacity), begins_(slots + 1), ends_(slots + 1) {
    for (const Rectangle& r : rectangles) add(r);
    for (int id = 0; id < int(rectangles.size()); ++id) look_for(id);
  }

  Blocks run() {
    while (!queue_.empty()) {
      const int id = queue_.top().second;
      queue_.pop();
      if (is_part(id)) continue;
      const Join join = std::exchange(best_[id], {});
      const bool is_whole = std::ranges::none_of(join.parts, [&](auto& part) { return is_part(part.id); });
      look_for(is_whole && has_slack(join) ? make(join) : id);
    }
    return std::move(blocks_);
  }

 private:
  Span span(int id) const { return blocks_.all[id].span; }
  int length(int id) const { return span(id).end - span(id).begin; }
  int64_t size(int id) const { return blocks_.all[id].size; }
  double area(int id) const { return double(size(id)) * length(id); }
  bool is_part(int id) const { return blocks_.is_part(id); }

  int add(const Rectangle& r) {
    const int id = blocks_.add(r);
    best_.emplace_back();
    begins_.add(r.span.begin, id);
    ends_.add(r.span.end, id);
    return id;
  }

  int make(const Join& join) {
    const int block = add(join.block);
    for (const auto& [id, relative] : join.parts) {
      blocks_.attach(id, block, relative);
      begins_.remove(span(id).begin, id);
      ends_.remove(span(id).end, id);
    }
    for (const auto& [lost, bytes] : join.losses) slack_.lose(lost, bytes);
    return block;
  }

  bool has_slack(const Join& join) const {
    return std::ranges::all_of(
        join.losses, [&](auto& loss) { return loss.bytes == 0 || slack_.of(loss.span) >= loss.bytes; });
  }

  // Queues the block at the best of its joins. Each join is known to the latest of its parts at least.
  void look_for(int id) {
    best_[id] = {};
    const Span s = span(id);
    for (int other : begins_.few(s.begin, kFew))
      if (other != id) pile(id, other);
    if (best_[id].rank == 0) return queue_.push({0, id});
    for (int other : ends_.few(s.end, kFew))
      if (other != id && span(other).begin != s.begin) pile(id, other);
    for (int other : begins_.few(s.end, kFew)) line_up(id, id, other);
    for (int other : ends_.few(s.begin, kFew)) line_up(id, other, id);
    pinwheels(id, id);
    for (const Shelf* shelf : {&begins_, &ends_})
      for (int slot : {s.begin, s.end})
        for (int middle : shelf->few(slot, kFewer))
          if (middle != id) pinwheels(id, middle);
    if (best_[id].rank <= by_.most) queue_.push({best_[id].rank, id});
  }

  void offer(int id, double rank, auto make_join) {
    if (rank >= best_[id].rank || rank > by_.most) return;
    Join join = make_join();
    join.rank = rank;
    if (has_slack(join)) best_[id] = std::move(join);
  }

  // With a begin or an end in common, the shorter on the longer.
  void pile(int id, int other) {
    const auto [upper, lower] = std::minmax(id, other, [&](int a, int b) { return length(a) < length(b); });
    const Span a = span(lower), b = span(upper);
    const bool is_left = a.begin == b.begin;
    const Span rest = is_left ? Span{b.end, a.end} : Span{a.begin, b.begin};
    const double choices = 1 + (is_left ? begins_.count(b.end) : ends_.count(b.begin));
    const double lost = double(length(lower) - length(upper)) / length(upper);
    offer(id, lost == 0 ? 0 : (lost + by_.doubt) * choices, [&] {
      return Join{.block = {a, size(id) + size(other)},
                  .parts = {{lower, 0}, {upper, size(lower)}},
                  .losses = {{rest, lost == 0 ? 0 : size(upper)}}};
    });
  }

  void line_up(int id, int left, int right) {
    const auto [lower, higher] = std::minmax(left, right, [&](int a, int b) { return size(a) < size(b); });
    const int64_t bytes = size(higher) - size(lower);
    const double choices = ends_.count(span(left).end) * begins_.count(span(left).end);
    offer(id, (double(bytes) / double(size(lower)) + by_.doubt) * choices, [&] {
      return Join{.block = {{span(left).begin, span(right).end}, size(higher)},
                  .parts = {{left, 0}, {right, 0}},
                  .losses = {{span(lower), bytes}}};
    });
  }

  // All with e in the middle that the block takes part in, by the letters of the drawing.
  void pinwheels(int id, int e) {
    const Span middle = span(e);
    for (int a : ends_.few(middle.end, kFewer)) {
      if (span(a).begin >= middle.begin) continue;
      for (int d : begins_.few(span(a).begin, kFewer)) {
        if (span(d).end != middle.begin) continue;
        for (int b : begins_.few(middle.end, kFewer))
          for (int c : begins_.few(middle.begin, kFewer))
            if (c != e && span(c).end == span(b).end) pinwheel(id, {a, b, c, d, e});
      }
    }
  }

  void pinwheel(int id, const std::array<int, 5>& arms) {
    if (std::ranges::find(arms, id) == arms.end()) return;
    const auto [a, b, c, d, e] = arms;
    const int64_t below_c = std::max(size(a) + size(e), size(b));
    const int64_t height = std::max(size(a) + size(d), below_c + size(c));
    const Span whole{span(a).begin, span(b).end};
    double used = 0;
    for (int arm : arms) used += area(arm);
    const double lost = double(height) * (whole.end - whole.begin) - used;
    offer(id, lost / used + by_.doubt, [&] {
      return Join{.block = {whole, height},
                  .parts = {{a, 0}, {b, 0}, {c, below_c}, {d, size(a)}, {e, size(a)}},
                  .losses = {{span(d), height - size(a) - size(d)},
                             {span(e), height - size(a) - size(e) - size(c)},
                             {span(b), height - size(b) - size(c)}}};
    });
  }

  const Looseness by_;
  Slack slack_;
  Blocks blocks_;
  Shelf begins_, ends_;     // of blocks that are no parts
  std::vector<Join> best_;  // per block
  using Ranked = std::pair<double, int>;
  std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>> queue_;
};

}  // namespace

Blocks make_loose_blocks(const std::vector<Rectangle>& rectangles, int slots, const Looseness& by) {
  return LooseMaker(rectangles, slots, by).run();
}

}  // namespace arenac
