#include "frontend/stream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "frontend/error.h"
#include "frontend/facts.h"
#include "frontend/merge.h"
#include "frontend/nearest.h"
#include "frontend/stream_loops.h"
#include "frontend/stream_reads.h"

namespace arenac {
namespace {

// A tensor of which earlier moments are read.
struct Past {
  int64_t moments = 0;
  std::optional<uint8_t> fill;  // bytes of what contributes nothing
};

class Streamer {
 public:
  Streamer(Graph graph, const std::vector<StreamInput>& inputs) : graph_(std::move(graph)) {
    for (const StreamInput& s : inputs) begin_at(s);
  }

  Streamed run() && {
    for (Node& node : graph_.block) {
      if (!touches_stream(node)) continue;
      try {
        follow(node);
      } catch (const StreamFault& fault) {
        faults_.push_back(fmt::format("node '{}' ({}) {}", node.origin, node.op, fault.reason));
      }
    }
    if (!faults_.empty())
      throw UserError(fmt::format("{}: --stream: calls cannot go on from each other:\n  {}", graph_.name,
                                  fmt::join(faults_, "\n  ")));
    for (const auto& [id, past] : pasts_) remember(id, past);
    for (const FirstState& state : carried_) hand_on(state);
    for (const auto& [time, before] : counts_) count_moments(before, time.first, time.second);
    return {std::move(graph_), std::move(states_)};
  }

 private:
  void begin_at(const StreamInput& s) {
    const std::string option = fmt::format("--stream {}={}", s.input, s.dimension);
    const auto name = std::find(graph_.input_names.begin(), graph_.input_names.end(), s.input);
    if (name == graph_.input_names.end())
      throw UserError(fmt::format("{}: no input has this name{}", option,
                                  did_you_mean_or_all(s.input, graph_.input_names)),
                      Exit::kUsage);
    const TensorId id = graph_.inputs[name - graph_.input_names.begin()];
    const auto rank = static_cast<int64_t>(graph_.tensors[id].shape.size());
    if (s.dimension < -rank || s.dimension >= rank)
      throw UserError(
          fmt::format("{}: the input has the shape {}", option, to_string(graph_.tensors[id].shape)),
          Exit::kUsage);
    const auto d = static_cast<int>(s.dimension < 0 ? s.dimension + rank : s.dimension);
    int64_t& extent = graph_.tensors[id].shape[d];
    if (extent < 2)
      throw UserError(
          fmt::format("{}: the dimension has {} moments: bind it to more, and let a call bring one "
                      "by --stream {}={}:1",
                      option, extent, s.input, s.dimension),
          Exit::kUsage);
    if (s.moments > extent)
      throw UserError(
          fmt::format("{}: a call may bring 1 to {} moments, as many as the input has: bind it to "
                      "more",
                      option, extent),
          Exit::kUsage);
    if (time_.contains(id)) throw UserError(option + ": the input has a --stream already", Exit::kUsage);
    const int64_t call = s.moments > 0 ? s.moments : extent;
    time_[id] = {d, extent, call};
    extent = call;
  }

  // ---- what a node does to time

  // Control flow inside out.
  bool touches_stream(const Node& node) const {
    const auto streams = [&](TensorId id) { return time_.contains(id); };
    const auto any_in = [&](const Block* block) {
      return std::any_of(block->begin(), block->end(), [&](const Node& n) { return touches_stream(n); });
    };
    return std::ranges::any_of(tensors_read(node), streams) || std::ranges::any_of(node.writes, streams) ||
           std::ranges::any_of(blocks_of(node), any_in);
  }

  void follow(Node& node) {
    if (std::holds_alternative<Loop>(node.body)) return go_round(node);
    Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) throw StreamFault{kOrderOfItsOwn};
    std::optional<Time> time;  // in the result
    bool alone = false;        // a nest works on this call alone
    for (Nest& nest : *nests) {
      const std::vector<TimeRead> reads = time_reads(nest, node, time_);
      if (reads.empty()) continue;
      if (reads[0].axis < 0 || takes_some(nest, reads[0])) {
        require_inside(nest, reads);
        alone = true;
        continue;
      }
      const Time here = go_on(nest, node, reads);
      if (time && *time != here)
        throw StreamFault{"reads operands of different lengths, or has time in two dimensions"};
      time = here;
    }
    if (!time) return work_alone(node);
    if (alone) throw StreamFault{"combines moments with all of a call"};
    cut(node, *time);
    time_[node.writes[0]] = *time;
  }

  // A loop over time: its results have time, and its carried values become states.
  void go_round(Node& loop) {
    const LoopOverTime followed = follow_loop(loop, graph_.block, graph_, time_);
    for (const auto& [id, time] : followed.times) graph_.tensors[id].shape[time.dimension] = time.call;
    time_ = followed.times;
    carried_.insert(carried_.end(), followed.carried.begin(), followed.carried.end());
  }

  // Whether the nest takes fewer moments than there are, each by itself: a slice.
  static bool takes_some(const Nest& nest, const TimeRead& read) {
    const int64_t taken = nest.axes[read.axis].extent * read.step;
    return read.earliest == read.latest && !read.has_past() && taken < read.time.stretch;
  }

  // What works on a call alone may not read moments that are dropped.
  static void require_inside(const Nest& nest, const std::vector<TimeRead>& reads) {
    for (const TimeRead& read : reads) {
      const int64_t walked = read.axis < 0 ? 0 : read.step * (nest.axes[read.axis].extent - 1);
      if (read.latest + walked >= read.time.stretch)
        throw StreamFault{"reads moments behind the last of the call: cut them off first"};
    }
  }

  // The dimension of the result that the axis walks from its beginning.
  static int dimension_of(int axis, const Nest& nest) {
    for (size_t d = 0; d < nest.store.size(); ++d)
      if (nest.store[d]->op == Op::kAxis && nest.store[d]->index == axis) return static_cast<int>(d);
    throw StreamFault{"moves or splits the axis of time"};
  }

  // Checks that a nest goes on from call to call and takes the bounds away that are the ends of the stretch
  // of time. The time of its result.
  Time go_on(Nest& nest, const Node& node, const std::vector<TimeRead>& reads) {
    const auto& [dimension, stretch, call] = reads[0].time;
    const int64_t step = reads[0].step;
    for (const TimeRead& read : reads)
      if (!read.time.keeps_step_with(reads[0].time)) throw StreamFault{kOtherLengths};
    if (stretch % step != 0 || call % step != 0)
      throw StreamFault{
          fmt::format("takes every {}. moment: bind the model, and a call, to a multiple of as many", step)};
    const Time time = {dimension_of(reads[0].axis, nest), stretch / step, call / step};
    if (time.stretch < 2) throw StreamFault{"has a single moment as its result: bind the model to more"};
    if (nest.axes[reads[0].axis].extent < time.stretch)
      throw StreamFault{"has fewer moments than it reads: pad before the first moment"};
    for (const TimeRead& read : reads)
      if (read.latest >= step)
        throw StreamFault{
            fmt::format("needs {} later moments: pad before the first moment alone", read.latest - step + 1)};
    std::erase_if(nest.where, [&](const Bound& bound) {
      const auto form = affine_form(bound.index);
      return form && std::any_of(reads.begin(), reads.end(), [&](const TimeRead& read) {
               return *form == read.moment && bound.begin == 0 && bound.end >= read.time.stretch;
             });
    });
    for (const TimeRead& read : reads)
      if (read.has_past()) note_past(read, nest, node);
    return time;
  }

  // Notes what the nest reads of the past, and with which value before the first call that contributes
  // nothing: zero, or the zero point that it subtracts.
  void note_past(const TimeRead& read, const Nest& nest, const Node& node) {
    if (nest.combine != Combine::kSum)
      throw StreamFault{"compares moments: only sums go on from call to call"};
    Past& past = pasts_[read.tensor];
    past.moments = std::max(past.moments, -read.earliest);
    const Type type = graph_.tensors[read.tensor].type;
    const auto contributes_nothing = [&](int64_t value) {
      const Scalar scalar = is_float(type) ? Scalar{.f = static_cast<double>(value)} : Scalar{.i = value};
      if (value != 0 && (size_of(type) != 1 || is_float(type) || round_to(type, scalar).i != value))
        return false;
      const Expr body = substitute(nest.body, [&](const Expr& e) -> Expr {
        const bool is_past = e->op == Op::kRead && node.reads[e->index] == read.tensor &&
                             affine_form(e->args[read.time.dimension]) == read.moment;
        return is_past ? constant(e->type, scalar) : Expr{};
      });
      return is_zero_product(body, node, graph_);
    };
    std::vector<int64_t> candidates = {0};
    any_of(nest.body, [&](const Expr& e) {
      if (e->op == Op::kConst && is_integer(e->type)) candidates.push_back(e->value.i);
      return false;
    });
    const auto fill = std::find_if(candidates.begin(), candidates.end(), contributes_nothing);
    if (fill == candidates.end())
      throw StreamFault{"has no value of its operand that stands for nothing before the first call"};
    const auto byte = static_cast<uint8_t>(*fill);
    if (past.fill && *past.fill != byte)
      throw StreamFault{"takes another value for nothing than another reader"};
    past.fill = byte;
  }

  // The moments of a call, and nothing of what lies behind the last.
  void cut(Node& node, const Time& time) {
    const TensorId result = node.writes[0];
    const auto d = static_cast<size_t>(time.dimension);
    if (graph_.tensors[result].shape[d] != time.stretch &&
        std::count(graph_.outputs.begin(), graph_.outputs.end(), result))
      throw StreamFault{"has moments behind the last of the call: cut them off"};
    for (Nest& nest : std::get<Nests>(node.body)) {
      const Expr& place = nest.store[d];
      if (place->op != Op::kAxis || place->index < 0) throw StreamFault{"moves or splits the axis of time"};
      const int t = place->index;
      if (nest.axes[t].extent < time.stretch) throw StreamFault{kNumberOfMoment};
      if (names_time(nest, node, t, time_)) go_on_counting(nest, node, t, time);
      nest.axes[t].extent = time.call;
    }
    graph_.tensors[result].shape[d] = time.call;
  }

  // Lets a nest that needs the number of a moment, up to some, count those of earlier calls, too.
  void go_on_counting(Nest& nest, Node& node, int t, const Time& time) {
    if (names_time(with_number_of_moment(nest, t, time, integer(0)), node, t, time_))
      throw StreamFault{kNumberOfMoment};
    const auto [count, is_new] = counts_.try_emplace({time.stretch, time.call}, 0);
    if (is_new) count->second = add_tensor(unique("moments_before"), Type::kInt64, {1});
    const Expr earlier = read(static_cast<int>(node.reads.size()), Type::kInt64, {integer(0)});
    node.reads.push_back(count->second);
    nest = with_number_of_moment(nest, t, time, axis(t) + earlier);
  }

  // What has no time in its result is the same only where a call has all of the model's moments.
  void work_alone(const Node& node) {
    for (TensorId id : node.reads)
      if (const auto at = time_.find(id); at != time_.end() && at->second.call != at->second.stretch)
        throw StreamFault{fmt::format("works on all {} moments of the model, of which a call has {}",
                                      at->second.stretch, at->second.call)};
    graph_.warnings.push_back(
        fmt::format("node '{}' ({}) works on the moments of one call alone", node.origin, node.op));
  }

  // ---- the states

  std::string unique(const std::string& name) const {
    const auto taken = [&](const std::string& n) {
      const auto in = [&](const auto& names) {
        return std::find(names.begin(), names.end(), n) != names.end();
      };
      return in(graph_.input_names) || in(graph_.output_names);
    };
    std::string found = name;
    for (int k = 2; taken(found); ++k) found = fmt::format("{}_{}", name, k);
    return found;
  }

  TensorId add_tensor(const std::string& name, Type type, const Shape& shape) {
    graph_.tensors.push_back({name, type, shape, nullptr});
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  // Replaces a tensor, where it is read, by one that begins with its past, and keeps what follows the first
  // moments of that for the next call.
  void remember(TensorId id, const Past& past) {
    const Tensor now = graph_.tensors[id];
    const int d = time_.at(id).dimension;
    Shape kept = now.shape, both = now.shape;
    kept[d] = past.moments, both[d] += past.moments;
    const TensorId before = add_tensor(unique(now.name + "_before"), now.type, kept);
    const TensorId all = add_tensor(now.name, now.type, both);
    const TensorId after = add_tensor(unique(now.name + "_after"), now.type, kept);
    for (Node& node : graph_.block) read_later(node, id, all, past.moments);

    Nest first = copy_nest(now.type, kept), then = copy_nest(now.type, now.shape), last = first;
    then.body = read(1, now.type, then.store);
    then.store[d] = then.store[d] + integer(past.moments);
    std::vector<Expr> from = last.store;
    from[d] = from[d] + integer(now.shape[d]);
    last.body = read(0, now.type, from);
    const Node joined{now.name, "Stream", {before, id}, {all}, Nests{first, then}};
    const Node left{now.name, "Stream", {all}, {after}, Nests{last}};
    const auto writer = std::find_if(graph_.block.begin(), graph_.block.end(),
                                     [&](const Node& n) { return !n.writes.empty() && n.writes[0] == id; });
    graph_.block.insert(writer == graph_.block.end() ? graph_.block.begin() : writer + 1, joined);
    graph_.block.push_back(left);

    add_state(before, after, *past.fill);
  }

  // Lets a loop's value begin as the last call left it.
  void hand_on(const FirstState& state) {
    const Tensor value = graph_.tensors[state.tensor];
    const TensorId before = add_tensor(unique(value.name + "_before"), value.type, value.shape);
    const TensorId after = add_tensor(unique(value.name + "_after"), value.type, value.shape);
    Node& first = *std::ranges::find(graph_.block, std::vector{state.tensor}, &Node::writes);
    first.reads = {before};
    first.body = Nests{copy_nest(value.type, value.shape)};
    graph_.block.push_back({value.name, "Stream", {state.tensor}, {after}, first.body});
    add_state(before, after, state.byte);
  }

  // Counts the moments of calls, up to those of the model's stretch of time.
  void count_moments(TensorId before, int64_t stretch, int64_t call) {
    const TensorId after = add_tensor(unique("moments_after"), Type::kInt64, {1});
    Nest nest = copy_nest(Type::kInt64, {1});
    nest.body = make(Op::kMin, {nest.body + integer(call), integer(stretch)});
    graph_.block.push_back({"moments", "Stream", {before}, {after}, Nests{nest}});
    add_state(before, after, 0);
  }

  // What a call finds as `before`, it leaves as `after`.
  void add_state(TensorId before, TensorId after, uint8_t initial) {
    const auto &from = graph_.tensors[before].name, &to = graph_.tensors[after].name;
    graph_.inputs.push_back(before), graph_.input_names.push_back(from);
    graph_.outputs.push_back(after), graph_.output_names.push_back(to);
    states_.push_back({to, from, initial});
  }

  // Lets a node read `all` where it reads the tensor, each moment `past` later.
  void read_later(Node& node, TensorId id, TensorId all, int64_t past) const {
    Nests* nests = std::get_if<Nests>(&node.body);
    const auto operand = std::find(node.reads.begin(), node.reads.end(), id);
    if (!nests || operand == node.reads.end()) return;
    const int k = static_cast<int>(operand - node.reads.begin());
    const int d = time_.at(id).dimension;
    const std::function<Expr(const Expr&)> later = [&](const Expr& e) -> Expr {
      if (e->op != Op::kRead || e->index != k) return {};
      std::vector<Expr> indices = e->args;
      for (Expr& index : indices) index = substitute(index, later);
      indices[d] = indices[d] + integer(past);
      return read(k, e->type, indices);
    };
    for (Nest& nest : *nests) nest = with_substituted(std::move(nest), later);
    *operand = all;
  }

  Graph graph_;
  Times time_;
  std::map<TensorId, Past> pasts_;
  std::vector<FirstState> carried_;  // of loops
  std::map<std::pair<int64_t, int64_t>, TensorId>
      counts_;  // by stretch and call: the moments of earlier calls
  std::vector<StateNames> states_;
  std::vector<std::string> faults_;
};

}  // namespace

Streamed streamed(Graph graph, const std::vector<StreamInput>& inputs) {
  return Streamer(std::move(graph), inputs).run();
}

}  // namespace arenac
