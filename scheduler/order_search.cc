#include "scheduler/order_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <tuple>

#include "frontend/error.h"
#include "scheduler/frontier.h"
#include "scheduler/large_tensors.h"
#include "scheduler/state_table.h"

namespace arenac {
namespace {

// Limits of work, not of time, so that results are the same on every machine.
constexpr int64_t kMostMoves = 50'000'000;
constexpr int64_t kNear = 1024;              // an order less than one part in so many above what is proven
constexpr int64_t kMostStatesNear = 20'000;  // to gain so little
constexpr int64_t kSmall = 256;              // what of a tensor of less than one part in so many of the peak
constexpr int64_t kPartForLarge = 10;        // of the states, for the order by large tensors
constexpr size_t kBeamWidth = 32;
constexpr int64_t kMostBeamWork = 200'000'000;  // of one segment: operators copied from state to state

// What all segments may spend together.
struct Budget {
  int64_t states;
  Deadline deadline;
  int64_t visited = 0;
  int64_t near = 0;   // of these where little is left to win
  int64_t moves = 0;  // looked at

  bool spent() const {
    return visited >= states || near >= kMostStatesNear || moves >= kMostMoves ||
           (visited % 1024 == 0 && has_passed(deadline));
  }
};

// Walks the down-sets of one segment; the operators before it have run.
// A down-set (order ideal) is a set of operators with everything that must run before them: what has run at
// some point of some order. Two orders of the same set leave the same tensors alive, so a search over sets
// visits each once: at most 2^n in place of n! orders, and few where the graph is narrow.
//
//   a -> b, a -> c:     {}  {a}  {a,b}  {a,c}  {a,b,c}
//
// The walk stands at one set, reached by `trail`; running and undoing an operator takes time for its edges
// alone.
class SegmentWalk {
 public:
  SegmentWalk(const OrderProblem& problem, Interval segment)
      : segment_(segment), frontier_(problem), set_(static_cast<size_t>(size() + 63) / 64) {
    for (int op = 0; op < segment.begin; ++op) frontier_.run(op);
  }

  int64_t size() const { return segment_.end - segment_.begin; }
  bool complete() const { return static_cast<int64_t>(trail_.size()) == size(); }
  const std::vector<int>& trail() const { return trail_; }
  const std::vector<uint64_t>& set() const { return set_; }
  int64_t bytes() const { return frontier_.bytes(); }
  const std::vector<int>& ready() const { return frontier_.ready(); }
  Frontier::Move move(int op) const { return frontier_.move(op); }

  void run(int op) {
    frontier_.run(op);
    trail_.push_back(op);
    flip(op);
  }
  void back_to(size_t length) {
    for (; trail_.size() > length; trail_.pop_back()) {
      frontier_.undo(trail_.back());
      flip(trail_.back());
    }
  }
  // To another set of the segment, by way of what both trails begin with.
  void go_to(const std::vector<int>& path) {
    const auto apart = std::mismatch(trail_.begin(), trail_.end(), path.begin(), path.end());
    const auto common = static_cast<size_t>(apart.first - trail_.begin());
    back_to(common);
    for (size_t k = common; k < path.size(); ++k) run(path[k]);
  }

  // Runs what some best continuation runs first, as long as no step needs more than `level` bytes.
  //
  // The bytes after a down-set are submodular, and what an operator adds while it runs only shrinks as the
  // set grows. So a set Z that may run now can be moved to the front of any continuation without harm, if
  // afterwards no more is alive than before, and if no down-set within Z has that property: moved past any
  // step, it lowers or keeps what is alive there. Z is one operator (free move), or a chain of which each
  // becomes ready by the one before (free chain).
  // Example: an activation in place adds nothing, so it runs as soon as it can; a chain of a 1x1 convolution
  // to more channels and a pooling back to few is taken as a whole, if its widest point fits the level.
  void close(int64_t level) {
    while (!complete() && (free_move(level) || free_chain(level))) {
    }
  }

 private:
  static constexpr int kLongestChain = 12;

  // The set as bits of the segment's operators: the key of a state.
  void flip(int op) {
    const auto bit = static_cast<size_t>(op - segment_.begin);
    set_[bit / 64] ^= uint64_t{1} << bit % 64;
  }

  // One operator after which no more is alive than before.
  bool free_move(int64_t level) {
    for (int op : ready()) {
      const Frontier::Move next = move(op);
      if (next.during > level || next.after > bytes()) continue;
      run(op);
      return true;
    }
    return false;
  }

  // The same of up to kLongestChain operators.
  bool free_chain(int64_t level) {
    const std::vector<int> starts = ready();
    const int64_t before = bytes();
    for (int op : starts) {
      if (move(op).during > level) continue;
      if (extend_chain(op, level, before, kLongestChain)) return true;
    }
    return false;
  }

  // Runs `op` and what follows through it only; undone unless at most `before` bytes are alive at the end.
  bool extend_chain(int op, int64_t level, int64_t before, int longest) {
    const size_t length = trail_.size(), others = ready().size() - 1;
    run(op);
    if (complete() || bytes() <= before) return true;
    // What became ready through `op` stands behind what was.
    const std::vector<int> opened(ready().begin() + static_cast<long>(others), ready().end());
    if (longest > 1)
      for (int next : opened)
        if (move(next).during <= level && extend_chain(next, level, before, longest - 1)) return true;
    back_to(length);
    return false;
  }

  Interval segment_;
  Frontier frontier_;
  std::vector<uint64_t> set_;
  std::vector<int> trail_;
};

struct Found {
  std::vector<int> order;  // of the segment
  int64_t peak;
};

// The most bytes alive while one of them runs, counted from the beginning of the segment; the walk stands at
// its end then.
int64_t peak_of(SegmentWalk& walk, const std::vector<int>& order) {
  int64_t peak = 0;
  walk.back_to(0);
  for (int op : order) {
    peak = std::max(peak, walk.move(op).during);
    walk.run(op);
  }
  return peak;
}

struct Beamed {
  std::optional<Found> found;  // none when nothing below `upper` is found in time
  bool cut;                    // by kMostBeamWork
};

// Beam search over down-sets by size; keeps those of lowest peak, then of fewest bytes alive. Sets of `upper`
// bytes or more are dropped, as an order that good is known. It is fast and finds good orders, but proves
// nothing: a set that is dropped may have been the way to the best. `level` is a bound below which it need
// not look.
Beamed beam(SegmentWalk& walk, int64_t level, int64_t upper, size_t width, Deadline deadline) {
  struct Entry {
    int64_t peak, bytes;
    std::vector<uint64_t> set;
    std::vector<int> path;
    auto key() const { return std::tie(peak, bytes, set); }
  };
  std::map<size_t, std::vector<Entry>> by_size;  // each sorted by key
  by_size[0].push_back({level, 0, walk.set(), {}});
  int64_t work = 0;
  while (!by_size.empty() && !has_passed(deadline) && work < kMostBeamWork) {
    // sets grow by one operator, or by more where close() goes on: the smallest are complete as a layer
    const std::vector<Entry> entries = std::move(by_size.begin()->second);
    by_size.erase(by_size.begin());
    for (const Entry& from : entries) {
      walk.go_to(from.path);
      if (walk.complete()) return {Found{from.path, peak_of(walk, from.path)}, false};
      std::vector<int> ready = walk.ready();
      std::sort(ready.begin(), ready.end());
      for (int op : ready) {
        const int64_t peak = std::max(from.peak, walk.move(op).during);
        if (peak >= upper) continue;
        work += walk.size();
        walk.run(op);
        walk.close(peak);
        std::vector<Entry>& layer = by_size[walk.trail().size()];
        Entry entry{peak, walk.bytes(), walk.set(), walk.trail()};
        const auto place = std::lower_bound(layer.begin(), layer.end(), entry,
                                            [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
        const auto same = [&](const Entry& e) { return e.set == entry.set; };
        if (std::none_of(layer.begin(), place, same)) {
          layer.insert(place, std::move(entry));
          if (layer.size() > width) layer.pop_back();
        }
        walk.back_to(from.path.size());
      }
    }
  }
  return {{}, work >= kMostBeamWork};
}

// Looks for an order within `level` bytes, by depth; when there is none, the level rises to the lowest at
// which some state has another successor. So whatever is found first is best, and the level always is a lower
// bound.
//
//   level 80    visits all sets that are reached within 80 bytes; those with a successor of 96 or 112 wait
//   level 96    goes on from the sets that wait for 96: nothing is visited twice
//
// That is a search for a path whose largest weight is least (a bottleneck shortest path) over sets as nodes,
// with ties broken by depth, so that an order is complete early.
class LevelSearch {
 public:
  LevelSearch(SegmentWalk& walk, int64_t level, int64_t upper, Budget& budget)
      : walk_(walk),
        level_(level),
        upper_(upper),
        budget_(budget),
        table_(static_cast<size_t>(walk.size())) {}

  // Nothing if no order needs less than `upper`, or the budget is spent; level() tells which.
  std::optional<Found> run() {
    walk_.back_to(0);
    table_.insert(walk_.set(), 0, {});
    later_.push({0, 0});
    while (!later_.empty() && later_.top().level < upper_) {
      const Later next = later_.top();
      later_.pop();
      level_ = std::max(level_, next.level);
      walk_.go_to(table_.path(next.state));
      if (explore(next)) return Found{walk_.trail(), peak_of(walk_, std::vector<int>(walk_.trail()))};
      if (budget_.spent()) return std::nullopt;
    }
    level_ = upper_;
    return std::nullopt;
  }

  int64_t level() const { return level_; }

 private:
  // A state with successors that need `level` bytes and more.
  struct Later {
    int64_t level;
    StateTable::Id state;
    bool operator<(const Later& other) const {  // the lowest, then the latest, on top
      return std::tie(other.level, state) < std::tie(level, other.state);
    }
  };
  struct Child {
    int64_t after;
    int op;
    bool operator<(const Child& other) const { return std::tie(after, op) < std::tie(other.after, other.op); }
  };
  struct Frame {
    StateTable::Id state;
    size_t length;          // of the trail
    size_t children_begin;  // those not yet visited are from here to the end of the stack of children
  };

  // True when complete; the walk stands there.
  // Depth first without recursion: `frames_` are the states on the way, `children_` the successors still to
  // be visited of all of them, those of the last state on top. A start at which close() moves on is not that
  // state any longer.
  bool explore(const Later& start) {
    frames_.clear(), children_.clear();
    const size_t length = walk_.trail().size();
    walk_.close(level_);
    if (walk_.complete()) return true;
    if (walk_.trail().size() == length)
      open(start.state, start.level);
    else if (!enter(start.state, length))
      return false;
    while (!frames_.empty()) {
      const Frame frame = frames_.back();
      walk_.back_to(frame.length);
      if (children_.size() == frame.children_begin) {
        frames_.pop_back();
        continue;
      }
      const int op = children_.back().op;
      children_.pop_back();
      walk_.run(op);
      walk_.close(level_);
      if (walk_.complete()) return true;
      enter(frame.state, frame.length);
      if (budget_.spent()) return false;
    }
    return false;
  }

  // The walk stands at a state reached from `parent`, whose trail was `length` long.
  // False if it has been visited: what can be done from there has been, or waits.
  bool enter(StateTable::Id parent, size_t length) {
    if (!table_.insert(walk_.set(), parent, std::span(walk_.trail()).subspan(length))) return false;
    ++budget_.visited;
    budget_.near += upper_ - level_ < upper_ / kNear;
    open(table_.last(), 0);
    return true;
  }

  // Successors that need at least `from` bytes: now, or at a later level.
  // What needs more than the level is remembered by the least of it, once a state: when the level is there,
  // `from` says that smaller ones have been done.
  void open(StateTable::Id state, int64_t from) {
    frames_.push_back({state, walk_.trail().size(), children_.size()});
    int64_t next = upper_;
    budget_.moves += static_cast<int64_t>(walk_.ready().size());
    for (int op : walk_.ready()) {
      const Frontier::Move move = walk_.move(op);
      if (move.during > level_)
        next = std::min(next, move.during);
      else if (move.during >= from)
        children_.push_back({move.after, op});
    }
    // The last is visited first.
    std::sort(children_.rbegin(), children_.rend() - static_cast<long>(frames_.back().children_begin));
    if (next < upper_) later_.push({next, state});
  }

  SegmentWalk& walk_;
  int64_t level_;
  const int64_t upper_;
  Budget& budget_;
  StateTable table_;
  std::priority_queue<Later> later_;
  std::vector<Frame> frames_;
  std::vector<Child> children_;
};

// Per segment the peak of an order: all orders agree on the segments, and pass the same sets between them.
std::vector<int64_t> peaks_of(const OrderProblem& problem, const std::vector<Interval>& segments,
                              const std::vector<int>& order) {
  std::vector<int64_t> peaks;
  Frontier frontier(problem);
  for (const Interval& segment : segments) {
    int64_t& peak = peaks.emplace_back(frontier.bytes());
    for (int64_t k = segment.begin; k < segment.end; ++k) {
      peak = std::max(peak, frontier.move(order[k]).during);
      frontier.run(order[k]);
    }
  }
  return peaks;
}

// An order of all segments that gets better segment by segment, and what is proven of any.
struct Best {
  const OrderProblem& problem;
  const std::vector<Interval>& segments;
  std::vector<int> order;
  std::vector<int64_t> peaks;  // of the order, per segment
  int64_t level;               // no order of all segments has a lower peak

  void improve(const std::vector<int>& other) {
    const std::vector<int64_t> with = peaks_of(problem, segments, other);
    for (size_t k = 0; k < segments.size(); ++k)
      if (with[k] < peaks[k]) replace(k, with[k], std::span(other).subspan(segments[k].begin));
  }
  // Of segment k, by the operators that `from` begins with.
  void replace(size_t k, int64_t peak, std::span<const int> from) {
    peaks[k] = peak;
    std::copy_n(from.begin(), segments[k].end - segments[k].begin, order.begin() + segments[k].begin);
  }
  bool is_open() const {
    return std::ranges::any_of(peaks, [&](int64_t peak) { return peak > level; });
  }
};

// The best simple order of each segment, the file's where they are alike; and one by the large tensors: the
// problem without the small ones has far fewer states, and what it proves holds for all of it.
Best begun(const OrderProblem& problem, const std::vector<Interval>& segments, const OrderLimits& limits) {
  Best best{problem, segments, file_order(problem), {}, 0};
  best.peaks = peaks_of(problem, segments, best.order);
  for (const auto& simple : {depth_first_order, breadth_first_order, greedy_order})
    best.improve(simple(problem));
  for (const int64_t bound : lower_bounds(problem, segments)) best.level = std::max(best.level, bound);
  const int64_t least = best.level / kSmall;
  const auto large = best.is_open() ? of_large_tensors(problem, least) : std::nullopt;
  if (!large) return best;
  const OrderResult found = optimal_order(*large, {limits.states / kPartForLarge, limits.deadline});
  best.level = std::max(best.level, found.lower_bound);
  best.improve(with_small_late(problem, found.order, least));
  return best;
}

}  // namespace

// The peak of an order is the largest of its segments' peaks, so these are solved one by one, those of the
// highest peak first: what is proven of one is a level below which no other needs to be improved.
//
//   peaks 90 70 40, level 80 after the first is solved at 80:    the others are good enough
//
// The budget is shared; limits that were hit are told only where the result is not proven to be best.
OrderResult optimal_order(const OrderProblem& problem, const OrderLimits& limits) {
  const std::vector<Interval> segments = segments_of(problem);
  Budget budget{limits.states, limits.deadline};
  Best best = begun(problem, segments, limits);
  LimitsHit limits_hit;
  std::vector<size_t> hardest(segments.size());
  std::iota(hardest.begin(), hardest.end(), 0);
  std::ranges::stable_sort(hardest, std::greater{}, [&](size_t k) { return best.peaks[k]; });
  for (size_t k : hardest) {
    if (best.peaks[k] <= best.level) continue;
    if (has_passed(limits.deadline)) break;
    if (segments[k].end - segments[k].begin > kLargestSegment) {
      limits_hit.insert({"orders of layers side by side", kLargestSegment, "layer"});
      continue;
    }
    SegmentWalk walk(problem, segments[k]);
    const auto keep = [&](const std::optional<Found>& found) {
      if (found && found->peak < best.peaks[k]) best.replace(k, found->peak, found->order);
    };
    const Beamed beamed = beam(walk, best.level, best.peaks[k], kBeamWidth, limits.deadline);
    keep(beamed.found);
    if (beamed.cut) limits_hit.insert({"orders of layers", kMostBeamWork, "operator"});
    if (best.peaks[k] <= best.level) continue;
    LevelSearch search(walk, best.level, best.peaks[k], budget);
    keep(search.run());
    best.level = std::max(best.level, std::min(search.level(), best.peaks[k]));
  }
  const int64_t peak = best.peaks.empty() ? 0 : std::ranges::max(best.peaks);
  if (budget.visited >= budget.states) limits_hit.insert({"orders of layers", budget.states, "state"});
  if (budget.near >= kMostStatesNear) limits_hit.insert({"orders of layers", kMostStatesNear, "state"});
  if (budget.moves >= kMostMoves) limits_hit.insert({"orders of layers", kMostMoves, "move"});
  const bool proven = peak == best.level;
  if (proven) limits_hit.clear();
  return {std::move(best.order), peak, best.level, proven, budget.visited, std::move(limits_hit)};
}

}  // namespace arenac
