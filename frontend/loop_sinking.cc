#include "frontend/loop_sinking.h"

#include <algorithm>

#include "frontend/facts.h"

namespace arenac {
namespace {

// A product of matrices reads its weights anew for each moment in a loop: whole results are made there where
// they take at most such a part of the loop's multiply-accumulates.
constexpr int64_t kCheap = 8;

// Bytes of what is computed among these tensors: constants and the caller's inputs are there anyway.
int64_t computed_bytes(const std::set<TensorId>& ids, const Graph& graph) {
  int64_t bytes = 0;
  for (const TensorId id : ids)
    if (!graph.tensors[id].constant && std::ranges::count(graph.inputs, id) == 0)
      bytes += bytes_of(graph.tensors[id]);
  return bytes;
}

// The moment of a tensor that all reads of a block's nests ask for; nothing where they ask for others, too.
std::optional<LoopMoment> moment_read(TensorId id, const Block& block, const Loop& loop) {
  std::optional<LoopMoment> moment;
  for (const Node& node : block) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || moment) continue;
    for (const Nest& nest : *nests)
      visit_reads(nest, [&](const Expr& x) {
        for (size_t d = 0; node.reads[x->index] == id && !moment && d < x->args.size(); ++d)
          if (const auto backwards = direction_of(x->args[d], loop)) moment = LoopMoment{d, *backwards};
      });
  }
  bool is_own = moment.has_value();
  for (const Node& node : block)
    visit_nodes(node, [&](const Node& inner) {
      is_own = is_own && reads_own_moment(inner, loop, {{id, moment.value_or(LoopMoment{})}});
    });
  return is_own ? moment : std::nullopt;
}

// The block without the nodes of these indices, a set or the keys of a map.
template <typename Indices>
Block without(Block block, const Indices& gone) {
  Block left;
  for (size_t k = 0; k < block.size(); ++k)
    if (!gone.contains(k)) left.push_back(std::move(block[k]));
  return left;
}

// Whether what a sunk node reads at the iteration's moment, it reads at none beside.
bool reads_moments_alone(const Node& node, const Loop& loop) {
  bool alone = true;
  for (const Nest& nest : std::get<Nests>(node.body))
    visit_reads(nest, [&](const Expr& x) {
      for (const Expr& index : x->args)
        alone = alone && (!names_axis(index, -1 - loop.symbol) || direction_of(index, loop).has_value());
    });
  return alone;
}

}  // namespace

// Whether one node may move depends on those that read its result, which depend on it in turn: so all
// candidates are taken, those that do not pay are refused, and everything is looked at again without them
// until nothing is refused. Each round refuses one more at least.
void sink_what_follows(WrittenGraph& written, size_t i) {
  Graph& graph = written.graph;
  const Loop& loop = *static_loop(graph.block[i]);
  const LoopMoments own = moments_of(loop, written);
  const int64_t in_loop = multiply_accumulates(graph.block[i]);
  if (own.empty()) return;
  std::set<TensorId> refused;  // results of nodes that stay, and what the loop leaves when it ends
  for (TensorId id : touched_by(graph.block[i]).writes)
    if (!own.contains(id)) refused.insert(id);
  for (;;) {
    LoopMoments moments = own;
    std::set<TensorId> later = refused;  // written after the loop
    std::map<size_t, Sunk> moved;        // by the node's index in the block
    for (size_t k = i + 1; k < graph.block.size(); ++k) {
      const Touched touched = touched_by(graph.block[k]);
      std::optional<Sunk> one;
      if (!meet(touched.reads, later) && !meet(touched.writes, later))
        one = sunk(graph.block[k], loop, moments, written);
      if (one)
        moments[graph.block[k].writes[0]] = one->moment, moved.emplace(k, std::move(*one));
      else
        later.insert(touched.writes.begin(), touched.writes.end());
    }
    // Whether one moment of a tensor is enough, with what is moved.
    const auto is_momentary = [&](TensorId id) {
      if (written.is_output(id)) return false;
      for (size_t n = i + 1; n < graph.block.size(); ++n)
        if (!moved.contains(n) && !reads_last(graph.block[n], id, moments.at(id), loop.trips)) return false;
      return true;
    };
    const size_t before = refused.size();
    for (const auto& [k, one] : moved) {
      const TensorId id = one.node.writes[0];
      const auto saves = [&, &node = one.node] {
        return std::ranges::any_of(
            node.reads, [&](TensorId read) { return moments.contains(read) && is_momentary(read); });
      };
      const bool is_cheap = kCheap * multiply_accumulates(graph.block[k]) <= in_loop;
      if (written.is_output(id) ? !is_cheap || !saves() : !is_momentary(id)) refused.insert(id);
    }
    if (refused.size() != before) continue;
    Block& body = std::get<Loop>(graph.block[i].body).body;
    for (auto& [k, one] : moved) body.push_back(std::move(one.node));
    graph.block = without(std::move(graph.block), moved);
    return;
  }
}

// Backwards from the loop, node by node: each adds its operands to what the loop reads and takes its result
// away. Of these ever larger loops that one is taken which reads least of what is computed, if that is less
// than before.
//
//   x, the caller's -> Dense -> Norm -> loop     the loop reads 64 floats, with Norm 64, with both none
size_t sink_what_precedes(WrittenGraph& written, size_t i, int64_t most_constants) {
  Graph& graph = written.graph;
  const Loop loop = *static_loop(graph.block[i]);
  const int64_t most_work = multiply_accumulates(graph.block[i]) / kCheap;
  Node grown = graph.block[i];  // with what is sunk so far at the front of its body
  std::vector<size_t> candidates;
  size_t taken = 0;                           // of these, the first so many
  auto [reads, changed] = touched_by(grown);  // what the loop, grown, reads; what is written from here on
  std::set<TensorId> elsewhere(graph.outputs.begin(), graph.outputs.end());  // what others read
  for (size_t k = i + 1; k < graph.block.size(); ++k) elsewhere.merge(touched_by(graph.block[k]).reads);
  int64_t least = computed_bytes(reads, graph);
  for (size_t k = i; k-- > 0;) {
    const Node& node = graph.block[k];
    Touched touched = touched_by(node);
    Block& body = std::get<Loop>(grown.body).body;
    const bool is_candidate = node.writes.size() == 1 && !meet(touched.writes, elsewhere) &&
                              meet(touched.writes, reads) && !meet(touched.reads, changed) &&
                              multiply_accumulates(node) <= most_work;
    const auto moment = is_candidate ? moment_read(node.writes[0], body, loop) : std::nullopt;
    const auto one = moment ? sunk_to(*moment, node, loop, written) : std::nullopt;
    changed.merge(std::set(touched.writes));
    std::set<TensorId> with = reads;
    if (one) with.erase(node.writes[0]), with.insert(touched.reads.begin(), touched.reads.end());
    if (!one || !reads_moments_alone(one->node, loop) || bytes_of_constants(with, graph) > most_constants) {
      elsewhere.merge(touched.reads);
      continue;
    }
    body.insert(body.begin(), one->node);
    candidates.push_back(k);
    reads = std::move(with);
    if (const int64_t bytes = computed_bytes(reads, graph); bytes < least)
      least = bytes, taken = candidates.size();
  }
  Block& body = std::get<Loop>(grown.body).body;
  body.erase(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(candidates.size() - taken));
  graph.block[i] = std::move(grown);
  graph.block =
      without(std::move(graph.block),
              std::set(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(taken)));
  return i - taken;
}

}  // namespace arenac
