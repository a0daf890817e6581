#include "scheduler/overlap.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "scheduler/liveness.h"
#include "scheduler/loops.h"
#include "scheduler/storage.h"

namespace arenac {
namespace {

// Where an address or a table would get larger than these, an access is taken to touch all of its tensor.
constexpr int64_t kFar = int64_t{1} << 48;  // bytes: farther than any address
constexpr int64_t kLongestTable = 1 << 16;  // values of an axis

// Closed, in elements.
struct Range {
  int64_t low = 0, high = 0;
};
Range operator+(Range a, Range b) { return {a.low + b.low, a.high + b.high}; }
Range operator*(Range a, int64_t factor) {
  return factor < 0 ? Range{a.high * factor, a.low * factor} : Range{a.low * factor, a.high * factor};
}

// Where an access can be when an axis of the output has the value i: factor * i + table[i].
struct Term {
  int64_t factor = 0;
  std::vector<Range> table = {};  // empty: zeros

  Range at(int64_t i) const {
    const Range base = {factor * i, factor * i};
    return table.empty() ? base : base + table[static_cast<size_t>(i)];
  }
};

// The addresses of one access: the sum of a term per axis and of what the axes of the output do not move.
// With rows of 8 elements, a read of x[y + k - 1, c] with k < 3 reduced:
//
//   8 * y + 8 * k - 8 + c      terms y: 8 * y, c: 1 * c            rest: 8 * k - 8 in [-8, 8]
struct Reach {
  Range rest;
  std::vector<Term> terms;  // per axis
};

// Builds the reach of one index of a nest.
// In elements; a place that a bound keeps out of the tensor never counts.
class Reacher {
 public:
  explicit Reacher(const FlatNest& nest) : nest_(nest) {
    for (const Axis& a : nest.axes) whole_.push_back({0, a.extent});
  }

  // `everywhere` is what the access touches at most, and the answer where the index is too large to follow.
  Reach reach(const Expr& index, Range everywhere) {
    result_ = {{}, std::vector<Term>(nest_.axes.size())};
    reduced_.assign(nest_.axes.size(), 0);
    known_ = true;
    split(index, 1);
    for (const Bound& bound : nest_.where) clip(bound);
    for (size_t a = 0; a < reduced_.size(); ++a) {
      const int64_t last = std::max<int64_t>(nest_.axes[a].extent - 1, 0);
      product(result_.terms[a].factor, last);
      add_rest({std::min<int64_t>(product(reduced_[a], last), 0),
                std::max<int64_t>(product(reduced_[a], last), 0)});
    }
    if (!known_) return {everywhere, std::vector<Term>(nest_.axes.size())};
    return result_;
  }

 private:
  // axes of the output: those in whose order things are written
  bool kept(int a) const { return !nest_.axes[a].reduced; }

  // a * b; where that is too far, nothing is known.
  int64_t product(int64_t a, int64_t b) {
    int64_t result = 0;
    known_ = !__builtin_mul_overflow(a, b, &result) && std::abs(result) < kFar && known_;
    return known_ ? result : 0;
  }
  Range product(Range a, int64_t b) {
    const int64_t low = product(a.low, b), high = product(a.high, b);
    return {std::min(low, high), std::max(low, high)};
  }

  void add_rest(Range range) {
    known_ = known_ && std::abs(range.low) < kFar && std::abs(range.high) < kFar;
    if (known_) result_.rest = result_.rest + range;
  }

  // Sorts the summands of factor * e by what moves them.
  void split(const Expr& e, int64_t factor) {
    if (!known_) return;
    const auto is_constant = [&](size_t k) { return e->args[k]->op == Op::kConst; };
    if (e->op == Op::kAdd || e->op == Op::kSub) {
      split(e->args[0], factor);
      split(e->args[1], e->op == Op::kAdd ? factor : -factor);
    } else if (e->op == Op::kMul && is_constant(1)) {
      split(e->args[0], product(e->args[1]->value.i, factor));
    } else if (e->op == Op::kMul && is_constant(0)) {
      split(e->args[1], product(e->args[0]->value.i, factor));
    } else if (e->op == Op::kAxis && e->index >= 0) {
      (kept(e->index) ? result_.terms[e->index].factor : reduced_[e->index]) += factor;
    } else {
      split_atom(e, factor);
    }
  }

  // Neither a sum nor an axis: tabulated where one axis of the output moves it.
  void split_atom(const Expr& e, int64_t factor) {
    std::set<int> axes;
    any_of(e, [&](const Expr& x) {
      if (x->op == Op::kAxis && x->index >= 0 && kept(x->index)) axes.insert(x->index);
      return false;
    });
    if (axes.size() == 1 && nest_.axes[*axes.begin()].extent <= kLongestTable)
      return tabulate(*axes.begin(), [&](const std::vector<Interval>& ranges) {
        return product(range_of(e, ranges), factor);
      });
    add_rest(product(range_of(e, whole_), factor));
  }

  Range range_of(const Expr& e, const std::vector<Interval>& ranges) {
    const ClosedInterval all = closed_interval(e, ranges, {});
    known_ = known_ && all.low > -kFar && all.high < kFar;
    return known_ ? Range{all.low, all.high} : Range{};
  }

  // Adds value(ranges with axis a pinned to i) for every i.
  template <typename Value>
  void tabulate(int a, const Value& value) {
    Term& term = result_.terms[a];
    term.table.resize(static_cast<size_t>(nest_.axes[a].extent));
    std::vector<Interval> ranges = whole_;
    for (int64_t i = 0; i < nest_.axes[a].extent && known_; ++i) {
      ranges[a] = {i, i + 1};
      term.table[static_cast<size_t>(i)] = term.table[static_cast<size_t>(i)] + value(ranges);
    }
  }

  // Where the address contains a multiple of a bound's index, a window at the border, that part keeps within
  // the bound. It is taken out of the linear terms and put back as a table of y:
  //
  //   8 * (y + k - 1) + c where 0 <= y + k - 1 < 48     rows of y = 0: [0, 1], of 1: [0, 2], of 47: [46, 47]
  //
  // Without that, the window's row -1 would make the distance a row larger. One bound of an axis, and one
  // such part.
  void clip(const Bound& bound) {
    const auto form = affine_form(bound.index);
    if (!form) return;
    int a = -1;
    int64_t multiple = 0;
    for (const auto& [axis, c] : form->terms) {
      if (axis < 0) return;
      if (kept(axis)) {
        if (a >= 0 || nest_.axes[axis].extent > kLongestTable) return;
        a = axis;
      } else if (multiple == 0 && reduced_[axis] % c == 0) {
        multiple = reduced_[axis] / c;
      }
    }
    if (multiple == 0) return;
    for (const auto& [axis, c] : form->terms)
      (kept(axis) ? result_.terms[axis].factor : reduced_[axis]) -= product(multiple, c);
    add_rest({-product(multiple, form->constant), -product(multiple, form->constant)});
    const auto clipped = [&](const std::vector<Interval>& ranges) {
      const Range all = range_of(bound.index, ranges);
      return product(
          {std::clamp(all.low, bound.begin, bound.end - 1), std::clamp(all.high, bound.begin, bound.end - 1)},
          multiple);
    };
    if (a >= 0)
      tabulate(a, clipped);
    else
      add_rest(clipped(whole_));
  }

  const FlatNest& nest_;
  std::vector<Interval> whole_;
  Reach result_;
  std::vector<int64_t> reduced_;  // factors of the reduced axes
  bool known_ = true;
};

// An access in bytes of its storage.
struct Access {
  Reach reach;           // in elements
  Range everywhere;      // in elements
  int64_t offset, size;  // bytes: of the tensor in its storage, of an element
  bool in_finish = false;
};

// One nest's write, and per storage that is asked about its reads.
struct Accesses {
  std::vector<Axis> axes;
  Access write;
  std::map<TensorId, std::vector<Access>> reads;
};

Access access_to(TensorId id, const Expr& index, Reacher& reacher, const Graph& graph,
                 const std::vector<Layout>& layouts) {
  const int64_t size = size_of(graph.tensors[id].type);
  const int64_t span = span_of(layouts[id], graph.tensors[id].shape);
  const Range everywhere = {0, std::max<int64_t>(span - 1, 0)};
  return {reacher.reach(index, everywhere), everywhere, layouts[id].offset * size, size};
}

Accesses accesses_of(const Nest& nest, const Node& node, const Graph& graph,
                     const std::vector<Layout>& layouts, const std::set<TensorId>& inputs) {
  const FlatNest flat = flat_nest(nest, node, layouts);
  Reacher reacher(flat);
  Accesses all{flat.axes, access_to(node.writes[0], flat.store, reacher, graph, layouts), {}};
  const auto look = [&](const Expr& root, bool in_finish) {
    if (root.empty()) return;
    any_of(root, [&](const Expr& e) {
      if (e->op != Op::kRead) return false;
      const TensorId id = node.reads[e->index], storage = layouts[id].root;
      if (!inputs.contains(storage)) return false;
      std::vector<Access>& reads = all.reads[storage];
      reads.push_back(access_to(id, e->args[0], reacher, graph, layouts));
      reads.back().in_finish = in_finish;
      return false;
    });
  };
  // A write is to move evenly; one that does not may be anywhere.
  Reach& written = all.write.reach;
  for (Term& term : written.terms)
    if (!term.table.empty()) {
      written = {all.write.everywhere, std::vector<Term>(flat.axes.size())};
      break;
    }
  look(flat.body, false), look(flat.finish, true), look(flat.store, false);
  for (const Bound& bound : flat.where) look(bound.index, false);
  return all;
}

// How far the end of a write lies above the begin of a read (input above), or the end of a read above the
// begin of a write (output above), at the axis values i and j: the part that axis a contributes. Offsets and
// the element's size are in the constant part, once.
//
//   y[i] = x[i - 1] + x[i + 1], 4 bytes: write of i ends at 4i + 4, the later read of j = i + 1 begins at 4i:
//   so the input must lie 4 bytes above the output at least
enum class Above { kInput, kOutput };

int64_t contribution(const Access& write, const Access& read, int a, int64_t i, int64_t j, Above above) {
  const Range w = write.reach.terms[a].at(i) * write.size, r = read.reach.terms[a].at(j) * read.size;
  return above == Above::kInput ? w.high - r.low : r.high - w.low;
}
int64_t constant_part(const Access& write, const Access& read, Above above) {
  const Range w = write.reach.rest * write.size, r = read.reach.rest * read.size;
  return above == Above::kInput ? write.offset + w.high + write.size - (read.offset + r.low)
                                : read.offset + r.high + read.size - (write.offset + w.low);
}

// Which values of an axis a write and a read that comes later can have. Points run in lexicographic order of
// the loops: a write comes before a read if it does so at some loop, with all loops outside in one block and
// those inside at any value.
//
//   loops y, x:     y before, x any       or       y in one block, x before
enum class Order {
  kBefore,  // the write's comes first on the sweep
  kBlock,   // both lie in a block of `width`
  kAny,
};

// The largest contribution of axis a over such pairs. A write moves evenly along the axis, so that for each
// value of the read the first or the last value of the write is the worst; of a read that moves evenly, too,
// the worst is at an end of a stretch on which the partners' ends move evenly.
int64_t worst(const Access& write, const Access& read, int a, int64_t extent, int64_t width, Order order,
              const LoopPlan& plan, Above above) {
  const auto partners = [&](int64_t j) -> Interval {
    if (order == Order::kAny) return {0, extent};
    if (order == Order::kBlock) return {std::max<int64_t>(0, j - width + 1), std::min(extent, j + width)};
    return plan.sweep == Sweep::kUp ? Interval{0, j} : Interval{j + 1, extent};
  };
  int64_t most = std::numeric_limits<int64_t>::min();
  const auto look = [&](int64_t j) {
    if (j < 0 || j >= extent) return;
    const Interval i = partners(j);
    if (i.begin >= i.end) return;
    for (const int64_t at : {i.begin, i.end - 1})
      most = std::max(most, contribution(write, read, a, at, j, above));
  };
  if (!read.reach.terms[a].table.empty()) {
    for (int64_t j = 0; j < extent; ++j) look(j);
  } else {  // linear between these
    for (const int64_t j : {int64_t{0}, int64_t{1}, width - 1, extent - width, extent - 2, extent - 1})
      look(j);
  }
  return most;
}

// The largest difference over all pairs of a write and a later read of one nest, or nothing if no read comes
// later. As addresses are sums over axes and each level constrains the axes one by one, the largest sum is
// the sum of the largest: time grows with the extents, not with their product.
std::optional<int64_t> worst_pair(const Accesses& all, const Access& read, const LoopPlan& plan, bool blocks,
                                  Above above) {
  std::vector<int> loops;
  for (int a : plan.order)
    if (!all.axes[a].reduced && all.axes[a].extent > 1) loops.push_back(a);
  const auto width = [&](int a) {
    int64_t w = a == plan.vector_axis ? std::min<int64_t>(plan.lanes, all.axes[a].extent) : 1;
    return a == plan.tile_axis ? w * plan.tile : w;
  };
  const auto sum = [&](size_t level) {
    int64_t total = constant_part(all.write, read, above);
    for (size_t k = 0; k < loops.size(); ++k) {
      const Order order = k < level ? Order::kBlock : k == level ? Order::kBefore : Order::kAny;
      const int a = loops[k];
      total += worst(all.write, read, a, all.axes[a].extent, width(a), order, plan, above);
    }
    return total;
  };
  std::optional<int64_t> most;
  const auto raise = [&](int64_t value) { most = std::max(most.value_or(value), value); };
  for (size_t level = 0; level < loops.size(); ++level) {
    const int a = loops[level];
    const bool one_block = a == plan.vector_axis && all.axes[a].extent <= width(a);
    if (!one_block) raise(sum(level));
  }
  // Within a block, an element is finished after others have been written.
  if (read.in_finish && blocks) raise(sum(loops.size()));
  return most;
}

// Where an access begins, at least, and begins last, at most, in bytes of the storage: of a write and a read
// of a later nest the largest difference is that of these.
Range bounds_of(const Access& access, const std::vector<Axis>& axes) {
  Range all = access.reach.rest * access.size + Range{access.offset, access.offset};
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].reduced) continue;
    const Term& term = access.reach.terms[a];
    Range part = term.at(0);
    for (int64_t i = 0; i < axes[a].extent;
         i += term.table.empty() ? std::max<int64_t>(axes[a].extent - 1, 1) : 1)
      part = {std::min(part.low, term.at(i).low), std::max(part.high, term.at(i).high)};
    all = all + part * access.size;
  }
  return all;
}

// A node's accesses to its result and to storages that die there. Found once; distances() then asks of each
// way to walk.
class Walked {
 public:
  Walked(const Node& node, const Graph& graph, const std::vector<Layout>& layouts,
         const std::set<TensorId>& inputs) {
    for (const Nest& nest : std::get<Nests>(node.body)) {
      const bool runs = !is_empty(nest) && !is_elided(nest, node, graph, layouts);
      nests_.push_back(runs ? accesses_of(nest, node, graph, layouts, inputs) : Accesses{});
      const Range before = written_before_.empty() ? Range{kFar, -kFar} : written_before_.back();
      Range all = before;
      if (runs) {
        const Access& write = nests_.back().write;
        const Range mine = bounds_of(write, nests_.back().axes);
        all = {std::min(before.low, mine.low), std::max(before.high, mine.high + write.size)};
        for (const auto& [input, reads] : nests_.back().reads) readers_[input].push_back(nests_.size() - 1);
      }
      written_before_.push_back(all);
    }
  }

  SafeDistances distances(TensorId input, const std::vector<LoopPlan>& loops) const {
    return {distance(input, loops, Above::kInput), distance(input, loops, Above::kOutput)};
  }

 private:
  // Of the nests in their order: within one, pairs of a write and a later read; between two, everything that
  // the earlier ones write against everything that this one reads. -kFar where no read comes after a write.
  int64_t distance(TensorId input, const std::vector<LoopPlan>& loops, Above above) const {
    int64_t most = -kFar;
    const auto readers = readers_.find(input);
    if (readers == readers_.end()) return most;
    for (const size_t k : readers->second) {
      const bool blocks = loops[k].lanes > 1 || loops[k].tile > 1;
      for (const Access& read : nests_[k].reads.at(input)) {
        most = std::max(most, worst_pair(nests_[k], read, loops[k], blocks, above).value_or(-kFar));
        const Range written = k > 0 ? written_before_[k - 1] : Range{kFar, -kFar};
        if (written.low > written.high) continue;  // nothing
        const Range seen = bounds_of(read, nests_[k].axes);
        most = std::max(
            most, above == Above::kInput ? written.high - seen.low : seen.high + read.size - written.low);
      }
    }
    return most;
  }

  std::vector<Accesses> nests_;        // per nest of the node; of one that does not run nothing
  std::vector<Range> written_before_;  // per nest: bytes that it and those before it write, as [low, high)
  std::map<TensorId, std::vector<size_t>> readers_;  // per storage: nests
};

// ---- the choice

// The same with the blocks of lanes inside the tiles, so that a tile is written as a whole: a pixel's
// channels are done before the next tile's are read.
LoopPlan tiles_first(LoopPlan plan) {
  if (plan.tile_axis < 0 || plan.tile_axis == plan.vector_axis) return plan;
  const auto vector = std::find(plan.order.begin(), plan.order.end(), plan.vector_axis);
  const auto tile = std::find(plan.order.begin(), plan.order.end(), plan.tile_axis);
  if (vector < tile) std::iter_swap(vector, tile);
  return plan;
}

// The ways to walk a step, the schedule's own first: upwards and downwards, as planned and with tiles first.
// Downwards pays where a result is larger than what it is made of (a Resize): its last rows are written while
// the first are unread.
std::vector<std::vector<LoopPlan>> ways(const std::vector<LoopPlan>& loops) {
  std::vector<std::vector<LoopPlan>> all = {loops, loops};
  for (LoopPlan& plan : all[1]) plan = tiles_first(plan);
  for (size_t k = 0; k < 2; ++k) {
    all.push_back(all[k]);
    for (LoopPlan& plan : all.back()) plan.sweep = Sweep::kDown;
  }
  return {all[0], all[2], all[1], all[3]};
}

// The storages that die at step s, which writes `out` first: read at half-step 2s and never after it. None
// where a part of `out` was there before, nor of types by which C forbids one memory to be accessed both
// ways.
std::vector<TensorId> dying(const Schedule& schedule, const std::vector<Occupancy>& occupied, int s) {
  const Node& node = *schedule.steps[s].node;
  const TensorId y = node.writes[0], out = schedule.layouts[y].root;
  std::vector<TensorId> all;
  if (occupied[out].empty() || occupied[out].front().begin != 2 * s) return all;
  const std::vector<Tensor>& tensors = schedule.graph->tensors;
  std::set<TensorId> seen = {out};  // and what may not meet it
  for (TensorId x : node.reads)
    if (!may_meet(tensors[x].type, tensors[y].type)) seen.insert(schedule.layouts[x].root);
  for (TensorId x : node.reads) {
    const TensorId in = schedule.layouts[x].root;
    if (tensors[in].constant || occupied[in].empty() || occupied[in].back().end != 2 * s + 1) continue;
    if (seen.insert(in).second) all.push_back(in);
  }
  return all;
}

using Walks = std::shared_ptr<const std::vector<LoopPlan>>;

// All that can be said of one storage and the step's result, per way to walk.
struct Pair {
  TensorId in, out;
  int64_t in_bytes, out_bytes;
  std::vector<SafeDistances> distances;

  int64_t bytes(size_t way, Above above) const {
    return above == Above::kInput ? joint_bytes(in_bytes, out_bytes, distances[way].input_above)
                                  : joint_bytes(out_bytes, in_bytes, distances[way].output_above);
  }
  int64_t bytes(size_t way) const { return std::min(bytes(way, Above::kInput), bytes(way, Above::kOutput)); }

  // Adds the overlap if it saves bytes. Distances below -(all bytes) say no more than that one, and stay
  // small numbers.
  void offer(size_t way, Above above, int step, const Walks& loops, std::vector<StorageOverlap>& to) const {
    if (bytes(way, above) >= in_bytes + out_bytes) return;
    const bool input = above == Above::kInput;
    const int64_t distance = input ? distances[way].input_above : distances[way].output_above;
    to.push_back(
        {input ? in : out, input ? out : in, std::max(distance, -in_bytes - out_bytes), step, loops});
  }
};

template <typename Cost>
// The first of the cheapest: the schedule's own way where others are no better.
size_t cheapest(size_t count, const Cost& cost) {
  size_t best = 0;
  for (size_t k = 1; k < count; ++k)
    if (cost(k) < cost(best)) best = k;
  return best;
}

}  // namespace

SafeDistances safe_distances(const Node& node, const Graph& graph, const std::vector<Layout>& layouts,
                             const std::vector<LoopPlan>& loops, TensorId input) {
  return Walked(node, graph, layouts, {input}).distances(input, loops);
}

//   below  |________________|                     `above` may begin at `distance` or higher; apart they take
//   above      |____________________|             the sum of both, which always is allowed
//          |<->| distance
int64_t joint_bytes(int64_t above, int64_t below, int64_t distance) {
  return std::min(above + below, std::max(std::max<int64_t>(distance, 0) + above, below));
}

std::vector<StorageOverlap> find_overlaps(const Schedule& schedule) {
  const auto occupied = occupancies(*schedule.graph, schedule.steps, schedule.layouts);
  const auto bytes = storage_bytes(*schedule.graph, schedule.layouts);
  std::vector<StorageOverlap> all;
  for (int s = 0; s < static_cast<int>(schedule.steps.size()); ++s) {
    const Step& step = schedule.steps[s];
    if (step.kind != StepKind::kRun || !std::holds_alternative<Nests>(step.node->body)) continue;
    if (stage_of(schedule, s)) continue;  // a group's steps do not follow each other
    const TensorId out = schedule.layouts[step.node->writes[0]].root;
    std::vector<TensorId> inputs = dying(schedule, occupied, s);
    std::erase_if(inputs, [&](TensorId in) { return bytes[in] == 0 || bytes[out] == 0; });
    if (inputs.empty()) continue;
    std::vector<Walks> choices;
    for (auto& loops : ways(schedule.loops[s]))
      choices.push_back(std::make_shared<const std::vector<LoopPlan>>(std::move(loops)));
    const Walked walk(*step.node, *schedule.graph, schedule.layouts, {inputs.begin(), inputs.end()});
    std::vector<Pair> pairs;
    for (TensorId in : inputs) {
      Pair& pair = pairs.emplace_back(Pair{in, out, bytes[in], bytes[out], {}});
      for (const Walks& loops : choices) pair.distances.push_back(walk.distances(in, *loops));
    }
    if (pairs.size() == 1) {
      for (const Above above : {Above::kInput, Above::kOutput}) {
        const size_t way = cheapest(choices.size(), [&](size_t k) { return pairs[0].bytes(k, above); });
        pairs[0].offer(way, above, s, choices[way], all);
      }
    } else if (pairs.size() > 1) {
      // one way for all pairs: the step is walked once
      const size_t way = cheapest(choices.size(), [&](size_t k) {
        int64_t sum = 0;
        for (const Pair& pair : pairs) sum += pair.bytes(k);
        return sum;
      });
      for (const Pair& pair : pairs)
        for (const Above above : {Above::kInput, Above::kOutput})
          pair.offer(way, above, s, choices[way], all);
    }
  }
  return all;
}

}  // namespace arenac
