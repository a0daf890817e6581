// The independent judge of certificates: shares no code with the searches that find them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "planner/certificate.h"
#include "planner/uses.h"

namespace arenac {
namespace {

std::vector<Use> uses_of(const Problem& problem, int id) {
  std::vector<Use> uses;
  add_uses(problem.buffers[id], id, 0, uses);
  return uses;
}

int64_t align_of(const Problem& problem, int pool, int id) {
  return std::lcm(problem.buffers[id].align, problem.pools[pool].align);
}

int64_t up(int64_t bytes, int64_t step) { return (bytes + step - 1) / step * step; }

// Two of the buffers that may share bytes though both live.
std::optional<std::pair<int, int>> pair_that_may_share(const Problem& problem, const std::set<int>& buffers) {
  for (const Overlap& o : problem.overlaps)
    if (buffers.contains(o.above) && buffers.contains(o.below)) return std::pair(o.above, o.below);
  for (const std::vector<int>& group : problem.same_offset) {
    std::vector<int> of_group;
    for (const int id : group)
      if (buffers.contains(id)) of_group.push_back(id);
    if (of_group.size() > 1) return std::pair(of_group[0], of_group[1]);
  }
  return std::nullopt;
}

// Buffers above each other at one time. Where all begin at multiples of a step, each but the topmost covers
// one, or more, of them.
std::optional<std::string> too_few_bytes(const Problem& problem, const Certificate& c) {
  int64_t step = 0, sum = 0, most_padding = 0;
  for (const int id : c.buffers) step = std::gcd(step, align_of(problem, c.pool, id));
  for (const int id : c.buffers)
    if (!problem.buffers[id].gaps.empty()) step = 1;
  for (const int id : c.buffers) {
    const Buffer& b = problem.buffers[id];
    int64_t bytes = 0;
    for (const Use& use : uses_of(problem, id))
      if (use.begin <= *c.time && *c.time < use.end) bytes = use.top - use.bottom;
    if (bytes == 0) return fmt::format("buffer '{}' uses nothing at time {}", b.name, *c.time);
    sum += up(bytes, step);
    most_padding = std::max(most_padding, up(bytes, step) - bytes);
  }
  if (const auto pair = pair_that_may_share(problem, {c.buffers.begin(), c.buffers.end()}))
    return fmt::format("buffers '{}' and '{}' may share bytes", problem.buffers[pair->first].name,
                       problem.buffers[pair->second].name);
  if (sum - most_padding >= c.bound) return std::nullopt;
  return fmt::format("the buffers take {} bytes at time {}, not {}", sum - most_padding, *c.time, c.bound);
}

// Every way to put some buffers above each other, until one keeps to the capacity. Offsets are kept as low as
// the choices so far allow; what collides there is the next choice.
class EveryOrder {
 public:
  EveryOrder(const Problem& problem, const Certificate& c, int64_t most_steps)
      : capacity_(c.bound > 0 ? c.bound - 1 : -1), steps_left_(most_steps) {
    for (const int id : c.buffers) add_item(problem, c.pool, id);
    for (size_t i = 0; i < c.buffers.size(); ++i)
      for (size_t j = 0; j < i; ++j) add_pairs(problem, c.buffers[i], c.buffers[j]);
  }

  enum class Answer { kNone, kOne, kTooLong };
  Answer run() { return below(std::vector<int64_t>(items_.size(), 0), {}); }

 private:
  struct Item {
    int64_t size = 0, align = 1;
    std::optional<int64_t> fixed = {};
  };
  // offset(above) >= offset(below) + distance.
  struct Edge {
    int above, below;
    int64_t distance;
  };
  struct Either {
    Edge one, other;
  };

  // Those of a group have one offset.
  void add_item(const Problem& problem, int pool, int id) {
    int leader = id;
    for (const std::vector<int>& group : problem.same_offset)
      if (std::ranges::count(group, id) > 0) leader = *std::ranges::min_element(group);
    const auto [at, fresh] = item_of_leader_.emplace(leader, static_cast<int>(items_.size()));
    if (fresh) items_.emplace_back();
    item_of_[id] = at->second;
    Item& item = items_[at->second];
    const Buffer& b = problem.buffers[id];
    item.size = std::max(item.size, b.size);
    item.align = std::lcm(item.align, align_of(problem, pool, id));
    if (b.fixed_offset) item.fixed = b.fixed_offset;
  }

  void add_pairs(const Problem& problem, int a, int b) {
    const int i = item_of_.at(a), j = item_of_.at(b);
    if (i == j) return;
    for (const Use& p : uses_of(problem, a))
      for (const Use& q : uses_of(problem, b)) {
        if (p.begin >= q.end || q.begin >= p.end) continue;
        Either either = {{i, j, q.top - p.bottom}, {j, i, p.top - q.bottom}};
        for (const Overlap& o : problem.overlaps) {
          if (o.above == a && o.below == b) either.one.distance = std::min(either.one.distance, o.distance);
          if (o.above == b && o.below == a)
            either.other.distance = std::min(either.other.distance, o.distance);
        }
        pairs_.push_back(either);
      }
  }

  // Raises the offsets as far as the edges want; false where one passes the capacity or a fixed place.
  bool raise(std::vector<int64_t>& offsets, const std::vector<Edge>& edges) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < items_.size(); ++k) {
        const Item& item = items_[k];
        if (item.fixed && offsets[k] < *item.fixed) offsets[k] = *item.fixed, changed = true;
        if (item.fixed && offsets[k] > *item.fixed) return false;
        if (offsets[k] % item.align != 0) offsets[k] = up(offsets[k], item.align), changed = true;
        if (offsets[k] > capacity_ - item.size) return false;
      }
      for (const Edge& edge : edges) {
        const int64_t least = offsets[edge.below] + edge.distance;
        if (offsets[edge.above] < least) offsets[edge.above] = least, changed = true;
        if (--steps_left_ < 0) return true;  // below() says so
      }
    }
    return true;
  }

  bool holds(const Edge& edge, const std::vector<int64_t>& offsets) const {
    return offsets[edge.above] >= offsets[edge.below] + edge.distance;
  }
  bool is_possible(const Edge& edge, const std::vector<int64_t>& offsets) const {
    return offsets[edge.below] + edge.distance <= capacity_ - items_[edge.above].size;
  }

  // A plan with these edges. As deep as there are pairs.
  Answer below(std::vector<int64_t> offsets, const std::vector<Edge>& edges) {
    if (!raise(offsets, edges)) return Answer::kNone;
    if (steps_left_ < 0) return Answer::kTooLong;
    const Either* next = nullptr;
    int64_t most = -1;
    for (const Either& pair : pairs_) {
      if (holds(pair.one, offsets) || holds(pair.other, offsets)) continue;
      const bool forced = !is_possible(pair.one, offsets) || !is_possible(pair.other, offsets);
      const int64_t bytes = forced ? INT64_MAX : pair.one.distance + pair.other.distance;
      if (bytes > most) most = bytes, next = &pair;
    }
    if (!next) return Answer::kOne;
    for (const Edge& edge : {next->one, next->other}) {
      if (!is_possible(edge, offsets)) continue;
      std::vector<Edge> more = edges;
      more.push_back(edge);
      const Answer answer = below(offsets, more);
      if (answer != Answer::kNone) return answer;
    }
    return Answer::kNone;
  }

  const int64_t capacity_;
  int64_t steps_left_;
  std::map<int, int> item_of_leader_, item_of_;
  std::vector<Item> items_;
  std::vector<Either> pairs_;
};

}  // namespace

std::optional<std::string> check_certificate(const Problem& problem, const Certificate& c,
                                             int64_t most_steps) {
  constexpr size_t kMostBuffers = 200;  // of a search, whose depth grows with their pairs
  if (c.pool < 0 || c.pool >= static_cast<int>(problem.pools.size())) return "there is no such pool";
  if (c.buffers.empty()) return "it names no buffer";
  for (size_t k = 0; k < c.buffers.size(); ++k) {
    const int id = c.buffers[k];
    if (id < 0 || id >= static_cast<int>(problem.buffers.size())) return "there is no such buffer";
    if (k > 0 && id <= c.buffers[k - 1]) return "a buffer is there twice, or they are not in order";
  }
  if (c.time) return too_few_bytes(problem, c);
  if (c.buffers.size() > kMostBuffers)
    return fmt::format("more than {} buffers are not searched", kMostBuffers);
  switch (EveryOrder(problem, c, most_steps).run()) {
    case EveryOrder::Answer::kNone:
      return std::nullopt;
    case EveryOrder::Answer::kOne:
      return fmt::format("the buffers fit {} bytes", c.bound - 1);
    case EveryOrder::Answer::kTooLong:
      break;
  }
  return fmt::format("not decided within {} steps", most_steps);
}

}  // namespace arenac
