#include "scheduler/liveness.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace arenac {
namespace {

// What steps do to the set of storage that is live after them, to get the set that is live before them: live
// = exposed + (live - killed), the transfer function of backward data-flow analysis (Kildall, "A unified
// approach to global program optimization", 1973). Of steps in a row these functions compose:
//
//   a = b;  c = a         exposed {b}, killed {a, c}:   a is written before it is read, so it is not exposed
struct Transfer {
  std::set<TensorId> exposed, killed;

  void use(TensorId id) { exposed.insert(id); }
  void kill(TensorId id) { exposed.erase(id), killed.insert(id); }
  void after(Transfer earlier) {  // the steps of `earlier` come before those of this one
    for (TensorId id : earlier.killed) exposed.erase(id);
    exposed.merge(earlier.exposed), killed.merge(earlier.killed);
  }
};

// Walks the steps backwards. What is live changes at few tensors a step, and only these are touched: an
// interval is opened when a storage becomes live, with its end known, and closed when it is dead again, with
// its begin.
//
//   step      0: t = ..    1: u = f(t)    2: v = g(t, u)
//   t         [0, 5)       written in step 0 (half-steps 0 and 1), read at 4
class LivenessWalk {
 public:
  LivenessWalk(const Graph& graph, const std::vector<Step>& steps, const std::vector<Layout>& layouts)
      : graph_(graph),
        steps_(steps),
        layouts_(layouts),
        first_write_(graph.tensors.size(), -1),
        live_(graph.tensors.size()) {
    for (int s = static_cast<int>(steps.size()); s-- > 0;)
      if (steps[s].kind == StepKind::kRun)
        for (TensorId id : steps[s].node->writes) first_write_[root(id)] = s;
    occupied_.resize(graph.tensors.size());
  }

  std::vector<Occupancy> occupancies() {
    const int end = static_cast<int>(steps_.size());
    if (end == 0) return std::move(occupied_);
    for (TensorId id : whole_outputs(graph_)) set_live(root(id), true, 2 * int64_t{end} - 1);
    backwards(0, end);
    for (size_t id = 0; id < live_.size(); ++id) {
      set_live(static_cast<TensorId>(id), false, -1);
      std::reverse(occupied_[id].begin(), occupied_[id].end());
    }
    return std::move(occupied_);
  }

 private:
  using States = std::vector<std::pair<TensorId, bool>>;

  TensorId root(TensorId id) const { return layouts_[id].root; }
  bool stored(TensorId id) const { return !graph_.tensors[id].constant; }

  // From this half-step on, going backwards: live at it and before, or dead from it on downwards. What is
  // dead has been live down to half_step + 1.
  void set_live(TensorId id, bool live, int64_t half_step) {
    if (live_[id] == live) return;
    live_[id] = live;
    if (live)
      occupy(id, half_step);
    else
      occupied_[id].back().begin = half_step + 1;
  }
  void use(TensorId id, int64_t half_step) {
    if (stored(root(id))) set_live(root(id), true, half_step);
  }
  // A half-step at which something is written that nobody reads: it needs room for that long all the same.
  // Intervals that touch become one.
  void occupy(TensorId id, int64_t half_step) {
    Occupancy& o = occupied_[id];
    if (!o.empty() && o.back().begin <= half_step) return;
    if (!o.empty() && o.back().begin == half_step + 1)
      o.back().begin = half_step;
    else
      o.push_back({half_step, half_step + 1});
  }

  // The state of all storage that the steps [begin, end) read or write: no other's can change there.
  States touched(int begin, int end) const {
    std::vector<TensorId> ids;
    for (int s = begin; s < end; ++s) {
      for (TensorId id : tensors_read(*steps_[s].node)) ids.push_back(root(id));
      for (TensorId id : steps_[s].node->writes) ids.push_back(root(id));
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    States states;
    for (TensorId id : ids) states.push_back({id, live_[id]});
    return states;
  }

  void backwards(int begin, int end) {
    for (int s = end; s-- > begin;) {
      switch (steps_[s].kind) {
        case StepKind::kEndLoop:
          s = loop(s);
          break;
        case StepKind::kEndIf:
          s = branches(s);
          break;
        default:
          run(s);
      }
    }
  }

  // Backwards: the result is dead before it is written, the operands are live before they are read. Both meet
  // at half-step 2s, the result's room being there while operands are read.
  void run(int s) {
    const Node& node = *steps_[s].node;
    const int64_t read = 2 * int64_t{s}, written = read + 1;
    for (TensorId id : node.writes)
      if (!live_[root(id)]) occupy(root(id), written);
    // A slice written at one iteration defines no whole tensor.
    if (!writes_by_iteration(node))
      for (TensorId id : node.writes) set_live(root(id), false, read);
    for (TensorId id : tensors_read(node)) use(id, read);
    for (TensorId id : node.writes)
      if (!live_[root(id)]) occupy(root(id), read);
  }

  // Returns the index of the step that opens the construct, as branches() does. A fixed point of "live at the
  // end of the body = live behind the loop or at its begin" without iterating: the body's transfer function
  // says at once what one iteration needs of the one before.
  //
  //   for t: { s' = f(s, w);  s = s' }       s and w are live throughout, s' from its write to the copy
  int loop(int end) {
    const int begin = steps_[end].partner;
    const Loop& loop = std::get<Loop>(steps_[end].node->body);
    // What the next iteration needs is live at the end of each.
    if (loop.condition) use(*loop.condition, 2 * int64_t{end} + 1);
    for (TensorId id : in_loop(end).exposed) set_live(id, true, 2 * int64_t{end} + 1);
    States states = touched(begin, end);
    backwards(begin + 1, end);
    const int64_t before = 2 * int64_t{begin} + 1;
    if (loop.count && stored(root(*loop.count)))
      for (auto& [id, live] : states) live |= id == root(*loop.count);
    // Storage that the loop itself fills slice by slice holds nothing before.
    for (auto [id, live] : states)
      set_live(id, live && !(begin < first_write_[id] && first_write_[id] < end), before);
    return begin;
  }

  // Each branch begins, going backwards, with what is live behind the If; before it is live what either of
  // them needs.
  int branches(int end) {
    const int begin = steps_[end].partner, middle = steps_[begin].partner;
    const States after = touched(begin, end);
    backwards(middle + 1, end);
    std::vector<bool> otherwise;
    for (auto [id, live] : after) {
      otherwise.push_back(live_[id]);
      set_live(id, live, 2 * int64_t{middle} + 1);
    }
    backwards(begin + 1, middle);
    for (size_t k = 0; k < after.size(); ++k)
      if (otherwise[k]) set_live(after[k].first, true, 2 * int64_t{begin} + 1);
    use(steps_[begin].node->reads[0], 2 * int64_t{begin} + 1);
    return begin;
  }

  // Of the body of the loop that ends at step `end`. Kept, as an inner loop is asked for once per loop around
  // it.
  const Transfer& in_loop(int end) {
    const auto known = in_loop_.find(end);
    if (known != in_loop_.end()) return known->second;
    Transfer body = transfer(steps_[end].partner + 1, end);
    return in_loop_.emplace(end, std::move(body)).first->second;
  }

  // Of the steps [begin, end), constructs within as a whole.
  Transfer transfer(int begin, int end) {
    Transfer all;
    for (int s = end; s-- > begin;) {
      const Node& node = *steps_[s].node;
      Transfer one;
      if (steps_[s].kind == StepKind::kEndLoop) {
        one = of_loop(s);
        s = steps_[s].partner;
      } else if (steps_[s].kind == StepKind::kEndIf) {
        one = of_branches(s);
        s = steps_[s].partner;
      } else {
        if (!writes_by_iteration(node))
          for (TensorId id : node.writes) one.kill(root(id));
        for (TensorId id : node.reads)
          if (stored(root(id))) one.use(root(id));
      }
      all.after(std::move(one));
    }
    return all;
  }

  // A loop may run no iteration, so it kills only what nobody else writes first: storage that it fills
  // itself.
  Transfer of_loop(int end) {
    const int begin = steps_[end].partner;
    const Loop& loop = std::get<Loop>(steps_[end].node->body);
    Transfer all{in_loop(end).exposed, {}};
    for (const auto& id : {loop.condition, loop.count})
      if (id && stored(root(*id))) all.use(root(*id));
    for (int s = begin + 1; s < end; ++s)
      for (TensorId id : steps_[s].node->writes)
        if (begin < first_write_[root(id)] && first_write_[root(id)] < end) all.kill(root(id));
    return all;
  }

  Transfer of_branches(int end) {
    const int begin = steps_[end].partner, middle = steps_[begin].partner;
    Transfer then = transfer(begin + 1, middle), otherwise = transfer(middle + 1, end);
    then.exposed.merge(otherwise.exposed);
    std::erase_if(then.killed, [&](TensorId id) { return !otherwise.killed.contains(id); });
    const TensorId condition = root(steps_[begin].node->reads[0]);
    if (stored(condition)) then.use(condition);
    return then;
  }

  const Graph& graph_;
  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  std::vector<int> first_write_;
  std::vector<bool> live_;
  std::vector<Occupancy>
      occupied_;  // descending while walking; what is live has the last one's begin to come
  std::map<int, Transfer> in_loop_;  // by the step that ends the loop
};

}  // namespace

std::vector<Occupancy> occupancies(const Graph& graph, const std::vector<Step>& steps,
                                   const std::vector<Layout>& layouts) {
  return LivenessWalk(graph, steps, layouts).occupancies();
}

// Both ascend: one pass over both, always moving on in the one that ends first.
bool collide(const Occupancy& a, const Occupancy& b, int64_t except_half_step) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const Interval both = {std::max(i->begin, j->begin), std::min(i->end, j->end)};
    const bool only_exception = both.begin == except_half_step && both.end == except_half_step + 1;
    if (both.begin < both.end && !only_exception) return true;
    (i->end < j->end ? i : j)++;
  }
  return false;
}

std::vector<Interval> steps_occupied(const std::vector<Occupancy>& occupied) {
  std::vector<Interval> lives(occupied.size(), {0, 0});
  for (size_t id = 0; id < lives.size(); ++id)
    if (!occupied[id].empty())
      lives[id] = {occupied[id].front().begin / 2, (occupied[id].back().end + 1) / 2};
  return lives;
}

// Differences at the begins and ends, then their prefix sums. [0, 0) adds nothing.
std::vector<int64_t> live_bytes(const std::vector<int64_t>& bytes, const std::vector<Interval>& lives,
                                int64_t end) {
  std::vector<int64_t> live(static_cast<size_t>(end + 1));
  for (size_t id = 0; id < lives.size(); ++id) {
    live[static_cast<size_t>(lives[id].begin)] += bytes[id];
    live[static_cast<size_t>(lives[id].end)] -= bytes[id];
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  live.pop_back();
  return live;
}

}  // namespace arenac
