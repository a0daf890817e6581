#include "scheduler/liveness.h"

#include <algorithm>

namespace arenac {
namespace {

using Live = std::vector<bool>;

class LivenessWalk {
 public:
  LivenessWalk(const Graph& graph, const std::vector<Step>& steps, const std::vector<Layout>& layouts)
      : graph_(graph), steps_(steps), layouts_(layouts), first_write_(graph.tensors.size(), -1) {
    for (int s = static_cast<int>(steps.size()); s-- > 0;)
      if (steps[s].kind == StepKind::kRun)
        for (TensorId id : steps[s].node->writes) first_write_[root(id)] = s;
    occupied.resize(graph.tensors.size());
  }

  // Walks the steps [begin, end) backwards; `live` holds what is live after them, and then what is live
  // before them.
  void backwards(int begin, int end, Live& live, bool record) {
    for (int s = end; s-- > begin;) {
      switch (steps_[s].kind) {
        case StepKind::kEndLoop:
          s = loop(s, live, record);
          break;
        case StepKind::kEndIf:
          s = branches(s, live, record);
          break;
        default:
          run(s, live, record);
      }
    }
  }

  std::vector<Occupancy> occupied;  // descending while walking

 private:
  TensorId root(TensorId id) const { return layouts_[id].root; }
  bool stored(TensorId id) const { return !graph_.tensors[id].constant; }

  void mark(const Live& live, int64_t half_step) {
    for (size_t id = 0; id < live.size(); ++id)
      if (live[id]) mark_one(id, half_step);
  }
  void mark_one(size_t id, int64_t half_step) {
    Occupancy& o = occupied[id];
    if (!o.empty() && o.back().begin <= half_step) return;
    if (!o.empty() && o.back().begin == half_step + 1)
      o.back().begin = half_step;
    else
      o.push_back({half_step, half_step + 1});
  }

  void use(TensorId id, Live& live) const {
    if (stored(root(id))) live[root(id)] = true;
  }

  static bool iterates(const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) return false;
    for (const Nest& nest : *nests)
      for (const Expr& index : nest.store)
        if (any_of(index, [](const Expr& e) { return e->op == Op::kAxis && e->index < 0; })) return true;
    return false;
  }

  void run(int s, Live& live, bool record) {
    const Node& node = *steps_[s].node;
    if (record) {
      mark(live, 2 * s + 1);
      for (TensorId id : node.writes) mark_one(root(id), 2 * s + 1);
    }
    // A slice written at one iteration defines no whole tensor.
    if (!iterates(node))
      for (TensorId id : node.writes) live[root(id)] = false;
    for (TensorId id : node.reads) use(id, live);
    if (record) {
      mark(live, 2 * s);
      for (TensorId id : node.writes) mark_one(root(id), 2 * s);
    }
  }

  // Returns the index of the step that opens the construct.
  int loop(int end, Live& live, bool record) {
    const int begin = steps_[end].partner;
    const Loop& loop = std::get<Loop>(steps_[end].node->body);
    if (loop.condition) use(*loop.condition, live);
    Live around = live;
    backwards(begin + 1, end, around, false);
    merge(live, around);  // what the next iteration needs
    if (record) mark(live, 2 * end + 1), mark(live, 2 * end);
    around = live;
    backwards(begin + 1, end, around, record);
    merge(live, around);
    if (loop.count) use(*loop.count, live);
    // Storage that the loop itself fills slice by slice holds nothing before.
    for (size_t id = 0; id < live.size(); ++id)
      if (first_write_[id] > begin && first_write_[id] < end) live[id] = false;
    if (record) mark(live, 2 * begin + 1), mark(live, 2 * begin);
    return begin;
  }

  int branches(int end, Live& live, bool record) {
    const int begin = steps_[end].partner, middle = steps_[begin].partner;
    if (record) mark(live, 2 * end + 1), mark(live, 2 * end);
    Live otherwise = live;
    backwards(middle + 1, end, otherwise, record);
    if (record) mark(live, 2 * middle + 1), mark(live, 2 * middle);
    backwards(begin + 1, middle, live, record);
    merge(live, otherwise);
    use(steps_[begin].node->reads[0], live);
    if (record) mark(live, 2 * begin + 1), mark(live, 2 * begin);
    return begin;
  }

  static void merge(Live& into, const Live& from) {
    for (size_t id = 0; id < into.size(); ++id) into[id] = into[id] || from[id];
  }

  const Graph& graph_;
  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  std::vector<int> first_write_;
};

}  // namespace

std::vector<Occupancy> occupancies(const Graph& graph, const std::vector<Step>& steps,
                                   const std::vector<Layout>& layouts) {
  LivenessWalk walk(graph, steps, layouts);
  Live live(graph.tensors.size());
  for (TensorId id : graph.outputs) live[layouts[id].root] = true;
  walk.backwards(0, static_cast<int>(steps.size()), live, true);
  for (Occupancy& o : walk.occupied) std::reverse(o.begin(), o.end());
  return std::move(walk.occupied);
}

bool collide(const Occupancy& a, const Occupancy& b, int64_t except_half_step) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const Interval both = {std::max(i->begin, j->begin), std::min(i->end, j->end)};
    const bool only_exception = both.begin == except_half_step && both.end == except_half_step + 1;
    if (both.begin < both.end && !only_exception) return true;
    (i->end < j->end ? i : j)++;
  }
  return false;
}

}  // namespace arenac
