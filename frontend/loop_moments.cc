#include "frontend/loop_moments.h"

#include <algorithm>

#include "frontend/facts.h"

namespace arenac {
namespace {

// The index of that element, as formulas of the loop spell it.
Expr element(const Loop& loop, bool backwards) {
  const Expr t = iteration(loop.symbol, loop.trips);
  return backwards ? integer(loop.trips - 1) - t : t;
}

// Whether all reads of the node's nests fulfil accepts(read, nest).
template <typename Accepts>
bool all_reads(const Node& node, const Accepts& accepts) {
  bool all = true;
  for (const Nest& nest : std::get<Nests>(node.body))
    visit_reads(nest, [&](const Expr& read) { all = all && accepts(read, nest); });
  return all;
}

// The nests of a node whose only result they write, each every element of its axes; else null: an
// accumulation reads what it writes, and bounds of a plain nest leave elements as they were, so both need
// what earlier iterations have written.
const Nests* whole_nests(const Node& node) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  const auto is_whole = [](const Nest& nest) {
    return !nest.accumulate && (nest.combine != Combine::kNone || nest.where.empty());
  };
  return nests && std::ranges::all_of(*nests, is_whole) ? nests : nullptr;
}

// Of a nest in the loop's body: the only dimension of its store that names t, by the plain index; else
// nothing.
std::optional<LoopMoment> moment_written(const Nest& nest, const Loop& loop) {
  std::optional<LoopMoment> moment;
  for (size_t d = 0; d < nest.store.size(); ++d) {
    const auto backwards = direction_of(nest.store[d], loop);
    if (backwards && !moment)
      moment = LoopMoment{d, *backwards};
    else if (names_axis(nest.store[d], -1 - loop.symbol))
      return std::nullopt;
  }
  return moment;
}

// The axis along which a nest takes one moment from one moment of what it reads; -1: it reads none. Nothing
// where it reads several moments (a convolution in time), or two tensors of which one runs backwards.
struct Course {
  int axis = -1;
  bool backwards = false;
};
std::optional<Course> course_of(const Nest& nest, const Node& node, const LoopMoments& moments) {
  Course course;
  bool is_one = true;
  visit_reads(nest, [&](const Expr& x) {
    const auto at = moments.find(node.reads[x->index]);
    if (at == moments.end()) return;
    const auto& [dimension, backwards] = at->second;
    const Expr& index = x->args[dimension];
    is_one = is_one && index->op == Op::kAxis && index->index >= 0 &&
             (course.axis < 0 || (course.axis == index->index && course.backwards == backwards));
    course = {index->index, backwards};
  });
  return is_one ? std::optional(course) : std::nullopt;
}

// Leaves of a nest what it does in an iteration of the loop; false if it does not write all moments one by
// one. The axis of time keeps its place with an extent of 1, so that the others keep their numbers, and its
// value is the iteration's.
bool keep_iteration(Nest& nest, const LoopMoment& moment, const Loop& loop) {
  const Expr& along = nest.store[moment.dimension];
  if (along->op != Op::kAxis || along->index < 0) return false;
  const int time = along->index;
  if (nest.axes[time].reduced || nest.axes[time].extent != loop.trips) return false;
  if (std::ranges::count_if(nest.store, [&](const Expr& index) { return names_axis(index, time); }) != 1)
    return false;
  nest.axes[time].extent = 1;
  nest = with_substituted(std::move(nest), [&](const Expr& x) {
    return x->op == Op::kAxis && x->index == time ? element(loop, moment.backwards) : Expr();
  });
  return true;
}

}  // namespace

const Loop* static_loop(const Node& node) {
  const Loop* loop = std::get_if<Loop>(&node.body);
  return loop && !loop->count && !loop->condition && loop->trips > 1 ? loop : nullptr;
}

void number_iterations(Loop& loop, int symbol) {
  const Expr number = iteration(symbol, loop.trips);
  visit_nests(loop.body, [&](Node&, Nests& nests) {
    for (Nest& nest : nests)
      nest = with_substituted(std::move(nest), [&](const Expr& x) {
        return x->op == Op::kAxis && x->index == -1 - loop.symbol ? number : Expr();
      });
  });
  loop.symbol = symbol;
}

std::optional<bool> direction_of(const Expr& index, const Loop& loop) {
  for (const bool backwards : {false, true})
    if (same(index, element(loop, backwards))) return backwards;
  return std::nullopt;
}

Touched touched_by(const Node& node) {
  Touched touched;
  visit_nodes(node, [&](const Node& one) {
    for (TensorId id : tensors_read(one)) touched.reads.insert(id);
    touched.writes.insert(one.writes.begin(), one.writes.end());
  });
  return touched;
}

bool meet(const std::set<TensorId>& a, const std::set<TensorId>& b) {
  return std::ranges::any_of(a, [&](TensorId id) { return b.contains(id); });
}

int64_t bytes_of_constants(const std::set<TensorId>& ids, const Graph& graph) {
  int64_t bytes = 0;
  for (const TensorId id : ids)
    if (graph.tensors[id].constant) bytes += bytes_of(graph.tensors[id]);
  return bytes;
}

WrittenGraph::WrittenGraph(Graph g) : graph(std::move(g)), writers(graph.tensors.size()) {
  for (const Node& node : graph.block)
    visit_nodes(node, [&](const Node& one) {
      if (blocks_of(one).empty())
        for (TensorId id : one.writes) ++writers[id];
    });
}

bool WrittenGraph::is_output(TensorId id) const { return std::ranges::count(graph.outputs, id) > 0; }

LoopMoments moments_of(const Loop& loop, const WrittenGraph& written) {
  LoopMoments moments;
  for (const Node& node : loop.body) {
    const Nests* nests = whole_nests(node);
    if (!nests || written.writers[node.writes[0]] != 1) continue;
    std::optional<LoopMoment> moment = moment_written(nests->front(), loop);
    for (const Nest& nest : *nests)
      if (moment && moment_written(nest, loop) != moment) moment.reset();
    if (moment && written.graph.tensors[node.writes[0]].shape[moment->dimension] == loop.trips)
      moments[node.writes[0]] = *moment;
  }
  return moments;
}

std::optional<Sunk> sunk(const Node& node, const Loop& loop, const LoopMoments& moments,
                         const WrittenGraph& written) {
  const Nests* nests = whole_nests(node);
  if (!nests) return std::nullopt;
  std::optional<LoopMoment> moment;  // of the result
  for (const Nest& nest : *nests) {
    const auto course = course_of(nest, node, moments);
    if (!course) return std::nullopt;
    if (course->axis < 0) continue;
    const auto along = std::ranges::find_if(nest.store, [&](const Expr& index) {
      return index->op == Op::kAxis && index->index == course->axis;
    });
    if (along == nest.store.end()) return std::nullopt;
    const LoopMoment own = {static_cast<size_t>(along - nest.store.begin()), course->backwards};
    if (moment && *moment != own) return std::nullopt;
    moment = own;
  }
  return moment ? sunk_to(*moment, node, loop, written) : std::nullopt;
}

std::optional<Sunk> sunk_to(const LoopMoment& moment, const Node& node, const Loop& loop,
                            const WrittenGraph& written) {
  if (!whole_nests(node) || written.writers[node.writes[0]] != 1 ||
      written.graph.tensors[node.writes[0]].shape[moment.dimension] != loop.trips)
    return std::nullopt;
  Sunk result{node, moment};
  for (Nest& nest : std::get<Nests>(result.node.body))
    if (!keep_iteration(nest, moment, loop)) return std::nullopt;
  return result;
}

bool reads_own_moment(const Node& node, const Loop& loop, const LoopMoments& moments) {
  const auto known = [&](TensorId id) { return moments.contains(id); };
  if (!std::holds_alternative<Nests>(node.body)) return std::ranges::none_of(tensors_read(node), known);
  return all_reads(node, [&](const Expr& x, const Nest&) {
    const auto at = moments.find(node.reads[x->index]);
    return at == moments.end() || direction_of(x->args[at->second.dimension], loop) == at->second.backwards;
  });
}

bool reads_last(const Node& node, TensorId id, const LoopMoment& moment, int64_t trips) {
  if (!touched_by(node).reads.contains(id)) return true;
  if (!std::holds_alternative<Nests>(node.body)) return false;
  return all_reads(node, [&](const Expr& x, const Nest& nest) {
    if (node.reads[x->index] != id) return true;
    const Expr index = substitute(x->args[moment.dimension], [&](const Expr& a) {
      return a->op == Op::kAxis && a->index >= 0 && nest.axes[a->index].extent == 1 ? integer(0) : Expr();
    });
    return is_constant(index, moment.backwards ? 0 : static_cast<double>(trips - 1));
  });
}

}  // namespace arenac
