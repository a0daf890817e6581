#include "scheduler/recurrences.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <set>

#include "frontend/facts.h"
#include "frontend/loop_moments.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

// Of loops that are written as rows: each is a slab of what a group lists (slabs.h), with all operands.
constexpr int64_t kMostMoments = 1 << 14, kMostOperands = 24;

// What a loop carries from one iteration to the next.
struct Carried {
  size_t assigned;  // by this node of the body
  TensorId first;   // what it is before the first iteration
};

// Of a loop over time what the nodes of its body are to each other.
struct BodyFacts {
  const Loop* loop;
  std::map<TensorId, Carried> carried;
  std::map<TensorId, size_t> writer;  // of what the body writes: its node
  std::set<TensorId> by_moments;      // of these: those of which an iteration writes its moment
  std::set<TensorId> read_behind;     // of these: those whose last value is read behind the loop
  // Nodes that need each other's results, of this moment or the one before; ascending, and each set behind
  // those that it reads.
  std::vector<std::vector<size_t>> components = {};

  // Whether node k of the body reads what the iteration before left.
  bool reads_before(TensorId id, size_t k) const {
    const auto at = carried.find(id);
    return at != carried.end() && k <= at->second.assigned;
  }
  bool assigns(size_t k) const { return carried.contains(loop->body[k].writes[0]); }
};

// Element [indices] of a dense tensor of that shape, in one index.
Expr flat_index(const std::vector<Expr>& indices, const Shape& shape) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  Expr flat = integer(0);
  for (size_t d = 0; d < shape.size(); ++d) flat = flat + indices[d] * static_cast<double>(strides[d]);
  return flat;
}

// Whether a node stores each element of another tensor of the same shape where it was.
bool is_plain_copy(const Node& node, const Graph& graph) {
  const Nests& nests = std::get<Nests>(node.body);
  const Expr* read = nests.size() == 1 ? copied_read(nests[0], node, graph) : nullptr;
  if (!read) return false;
  const TensorId from = node.reads[(*read)->index];
  return graph.tensors[from].shape == graph.tensors[node.writes[0]].shape &&
         std::ranges::equal((*read)->args, nests[0].store, same);
}

// What a carried tensor begins with: what it is a copy of, where nothing else writes that. -1: not known.
TensorId first_of(TensorId id, const WrittenGraph& written, size_t loop_at) {
  for (size_t k = 0; k < loop_at; ++k) {
    const Node& node = written.graph.block[k];
    if (node.writes != std::vector{id} || !std::holds_alternative<Nests>(node.body)) continue;
    const bool is_copy = is_plain_copy(node, written.graph) && written.writers[node.reads[0]] <= 1;
    return is_copy ? node.reads[0] : id;
  }
  return -1;
}

// Whether the body is of nests that begin with what they combine, and that read and write no moment counted
// from the last one.
bool walks_forward(const Loop& loop, const LoopMoments& moments) {
  bool forward = std::ranges::none_of(moments, [](const auto& moment) { return moment.second.backwards; });
  for (const Node& node : loop.body) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || std::ranges::any_of(*nests, &Nest::accumulate)) return false;
    for (const Nest& nest : *nests)
      visit_reads(nest, [&](const Expr& read) {
        for (const Expr& index : read->args) forward = forward && direction_of(index, loop) != true;
      });
  }
  return forward;
}

// Strongly connected components of "reads", which Boost numbers in an order in which none reads a later one
// (Tarjan, 1972).
std::vector<std::vector<size_t>> components_of(const BodyFacts& facts) {
  const Block& body = facts.loop->body;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> reads(body.size());
  for (size_t k = 0; k < body.size(); ++k)
    for (TensorId id : body[k].reads)
      if (const auto writer = facts.writer.find(id); writer != facts.writer.end())
        add_edge(k, writer->second, reads);
  std::vector<size_t> number(body.size());
  const size_t count = boost::strong_components(
      reads, boost::make_iterator_property_map(number.begin(), get(boost::vertex_index, reads)));
  std::vector<std::vector<size_t>> components(count);
  for (size_t k = 0; k < body.size(); ++k) components[number[k]].push_back(k);
  return components;
}

// Whether one tensor can hold what the nodes compute, and one node do it.
bool may_be_one(const std::vector<size_t>& nodes, const Block& body, const Graph& graph) {
  const auto result = [&](size_t k) -> const Tensor& { return graph.tensors[body[k].writes[0]]; };
  size_t operands = 0;
  for (size_t k : nodes) {
    if (result(k).type != result(nodes.front()).type || element_count(result(k).shape) == 0) return false;
    operands += body[k].reads.size();
  }
  return operands <= kMostOperands;
}

// Nothing where the loop cannot be written as rows.
std::optional<BodyFacts> facts_of_loop(size_t at, const WrittenGraph& written) {
  const Graph& graph = written.graph;
  const Loop& loop = *static_loop(graph.block[at]);
  const LoopMoments moments = moments_of(loop, written);
  if (loop.trips > kMostMoments || !walks_forward(loop, moments)) return std::nullopt;
  BodyFacts facts{&loop, {}, {}, {}, {}};
  std::set<TensorId> read_outside(graph.outputs.begin(), graph.outputs.end());
  for (size_t k = 0; k < graph.block.size(); ++k)
    if (k != at) read_outside.merge(touched_by(graph.block[k]).reads);
  const std::set<TensorId> read_inside = touched_by(graph.block[at]).reads;
  for (size_t k = 0; k < loop.body.size(); ++k) {
    const TensorId id = loop.body[k].writes[0];
    facts.writer[id] = k;
    if (moments.contains(id)) {
      if (read_inside.contains(id)) return std::nullopt;
      facts.by_moments.insert(id);
      continue;
    }
    if (read_outside.contains(id)) facts.read_behind.insert(id);
    if (written.writers[id] == 2) {
      const TensorId first = first_of(id, written, at);
      if (first < 0 || !facts.carried.emplace(id, Carried{k, first}).second) return std::nullopt;
    } else if (written.writers[id] != 1 || writes_by_iteration(loop.body[k])) {
      return std::nullopt;
    }
  }
  facts.components = components_of(facts);
  for (const auto& nodes : facts.components)
    if (!may_be_one(nodes, loop.body, graph)) return std::nullopt;
  return facts.carried.empty() ? std::nullopt : std::optional(std::move(facts));
}

// A node of nests in the making.
struct NodeOfRows {
  Operands operands;
  Nests nests;
};

// Writes a loop as nodes of rows. A component that carries something is a recurrence: row t + 1 of its state
// is what its nodes compute at moment t, one after the other, and row 0 what is there before. Of other
// components, which are a node each, row t is that of moment t.
class RowsOfLoop {
 public:
  RowsOfLoop(Graph& graph, const BodyFacts& facts) : graph_(graph), facts_(facts) {
    for (const std::vector<size_t>& nodes : facts_.components) {
      if (std::ranges::any_of(nodes, [&](size_t k) { return facts_.assigns(k); }))
        add_state(nodes);
      else if (const TensorId id = written_by(nodes.front()); !facts_.by_moments.contains(id))
        rows_[id] = add_rows(graph_.tensors[id]);
    }
  }

  // In an order in which each finds what it reads.
  Block nodes() const {
    Block all;
    for (const std::vector<size_t>& nodes : facts_.components) {
      const Node& first = body()[nodes.front()];
      const TensorId id = first.writes[0];
      const auto part = parts_.find(id);
      NodeOfRows made = part != parts_.end() ? first_row(nodes, part->second.state) : NodeOfRows{};
      for (size_t k : nodes)
        if (!taken_over_.contains(written_by(k))) add_moments(k, made);
      const TensorId out = part != parts_.end() ? part->second.state : rows_.contains(id) ? rows_.at(id) : id;
      all.push_back({first.origin, first.op, std::move(made.operands.ids), {out}, std::move(made.nests)});
    }
    return all;
  }

  // A node that computes of the rows what a tensor of the body is behind the loop.
  Node last_of(TensorId id) const {
    const Tensor& tensor = graph_.tensors[id];
    Nest nest = copy_nest(tensor.type, tensor.shape);
    const bool is_state = parts_.contains(id);
    std::vector<Expr> element = nest.store;
    if (is_state) element = {in_row(id, nest.store)};
    element.insert(element.begin(), integer(is_state ? trips() : trips() - 1));
    nest.body = read(0, tensor.type, std::move(element));
    const Node& writer = body()[facts_.writer.at(id)];
    const TensorId rows = is_state ? parts_.at(id).state : rows_.at(id);
    return {writer.origin, writer.op, {rows}, {id}, Nests{std::move(nest)}};
  }

 private:
  // Of the rows of a state.
  struct Part {
    TensorId state;
    int64_t begin;
  };

  const Block& body() const { return facts_.loop->body; }
  int64_t trips() const { return facts_.loop->trips; }
  TensorId written_by(size_t k) const { return body()[k].writes[0]; }

  TensorId add(Tensor tensor) {
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }
  TensorId add_rows(Tensor tensor) {
    tensor.shape.insert(tensor.shape.begin(), trips());
    return add(std::move(tensor));
  }

  void add_state(const std::vector<size_t>& nodes) {
    const auto state = static_cast<TensorId>(graph_.tensors.size());
    int64_t row = 0;
    for (size_t k : nodes) {
      const TensorId id = written_by(k);
      if (takes_over(k, state)) {
        taken_over_[id] = body()[k].reads[0];
        parts_[id] = parts_.at(body()[k].reads[0]);
        continue;
      }
      parts_[id] = {state, row};
      row += element_count(graph_.tensors[id].shape);
    }
    const Tensor named = graph_.tensors[written_by(nodes.front())];
    add({named.name, named.type, {trips() + 1, row}, nullptr});
  }

  // Whether node k assigns what another of its component computes, as it is: then what is carried is that
  // part of the row before, unless another carried tensor is, which may begin as something else.
  bool takes_over(size_t k, TensorId state) const {
    if (!facts_.assigns(k) || !is_plain_copy(body()[k], graph_)) return false;
    const TensorId of = body()[k].reads[0];
    const auto part = parts_.find(of);
    const bool is_taken =
        std::ranges::any_of(taken_over_, [&](const auto& taken) { return taken.second == of; });
    return part != parts_.end() && part->second.state == state && !facts_.carried.contains(of) && !is_taken;
  }

  // Where an element of a part lies in its row.
  Expr in_row(TensorId id, const std::vector<Expr>& indices) const {
    return flat_index(indices, graph_.tensors[id].shape) + static_cast<double>(parts_.at(id).begin);
  }

  // Row 0: what is there before the loop; zeros in what no iteration takes from the one before.
  NodeOfRows first_row(const std::vector<size_t>& nodes, TensorId id) const {
    const Tensor& state = graph_.tensors[id];
    const Expr zero = constant(compute_type(state.type), 0);
    NodeOfRows row;
    row.nests.push_back(
        {{{state.shape[1], false}}, {integer(0), axis(0)}, Combine::kNone, false, {}, zero, {}});
    for (size_t k : nodes) {
      if (!facts_.assigns(k)) continue;
      const TensorId carried = written_by(k);
      Nest nest = copy_nest(state.type, graph_.tensors[carried].shape);
      nest.body = read(row.operands.of(facts_.carried.at(carried).first), state.type, nest.store);
      nest.store = {integer(0), in_row(carried, nest.store)};
      row.nests.push_back(std::move(nest));
    }
    return row;
  }

  // Node k of the body for all moments, which are axis 0, as nests of `made`.
  void add_moments(size_t k, NodeOfRows& made) const {
    const Node& node = body()[k];
    const std::function<Expr(const Expr&)> moved = [&](const Expr& e) {
      if (e->op == Op::kAxis && e->index >= 0) return axis(e->index + 1);
      if (e->op == Op::kAxis) return e->index == -1 - facts_.loop->symbol ? axis(0) : Expr();
      if (e->op != Op::kRead) return Expr();
      Expr::Tree element = *e;
      for (Expr& index : element.args) index = substitute(index, moved);
      element.index = made.operands.of(moved_operand(node.reads[e->index], k, element.args));
      return Expr(std::make_shared<const Expr::Tree>(std::move(element)));
    };
    const TensorId out = node.writes[0];
    for (Nest nest : std::get<Nests>(node.body)) {
      nest = with_substituted(std::move(nest), moved);
      nest.axes.insert(nest.axes.begin(), {trips(), false});
      if (parts_.contains(out))
        nest.store = {axis(0) + 1, in_row(out, nest.store)};
      else if (rows_.contains(out))
        nest.store.insert(nest.store.begin(), axis(0));
      made.nests.push_back(std::move(nest));
    }
  }

  // What node k of the body reads at the moment that is axis 0, and at which indices.
  TensorId moved_operand(TensorId id, size_t k, std::vector<Expr>& indices) const {
    if (parts_.contains(id)) {
      indices = {facts_.reads_before(id, k) ? axis(0) : axis(0) + 1, in_row(id, indices)};
      return parts_.at(id).state;
    }
    if (!rows_.contains(id)) return id;
    indices.insert(indices.begin(), axis(0));
    return rows_.at(id);
  }

  Graph& graph_;
  const BodyFacts& facts_;
  std::map<TensorId, Part> parts_;           // of the results of components with states
  std::map<TensorId, TensorId> taken_over_;  // of these: carried tensors, and what they are of the row before
  std::map<TensorId, TensorId> rows_;        // of the other results: a tensor of a row a moment
};

// Gives what a carried tensor begins with, before its loop, a tensor of its own; its node goes where that is
// a copy which nothing else reads.
void begin_apart(Graph& graph, TensorId id, Carried& carried) {
  const auto writes = [&](const Node& node) { return node.writes == std::vector{id}; };
  const bool is_read =
      std::ranges::any_of(graph.block, [&](const Node& node) { return touched_by(node).reads.contains(id); });
  if (carried.first != id && !is_read) {
    std::erase_if(graph.block, writes);
    return;
  }
  const auto first = static_cast<TensorId>(graph.tensors.size());
  graph.tensors.push_back(Tensor(graph.tensors[id]));
  std::ranges::find_if(graph.block, writes)->writes = {first};
  replace_reads(graph.block, id, first);
  if (carried.first == id) carried.first = first;
}

}  // namespace

// Loops are written anew one by one. What was carried is written once now, behind the rows; what it began
// with is a tensor of its own.
Graph with_recurrences(Graph graph) {
  for (size_t k = 0; k < graph.block.size(); ++k) {
    if (!static_loop(graph.block[k])) continue;
    WrittenGraph written(std::move(graph));
    std::optional<BodyFacts> facts = facts_of_loop(k, written);
    graph = std::move(written.graph);
    if (!facts) continue;
    const Node loop = std::move(graph.block[k]);
    facts->loop = &std::get<Loop>(loop.body);
    const auto next = graph.block.begin() + static_cast<std::ptrdiff_t>(k) + 1;
    Block behind(std::make_move_iterator(next), std::make_move_iterator(graph.block.end()));
    graph.block.resize(k);
    for (auto& [id, carried] : facts->carried) begin_apart(graph, id, carried);
    const RowsOfLoop rows(graph, *facts);
    std::ranges::move(rows.nodes(), std::back_inserter(graph.block));
    for (TensorId id : facts->read_behind) graph.block.push_back(rows.last_of(id));
    k = graph.block.size() - 1;
    std::ranges::move(behind, std::back_inserter(graph.block));
  }
  return graph;
}

}  // namespace arenac
