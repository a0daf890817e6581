#include "scheduler/dataflow.h"

// clang-format off
#include <boost/pending/disjoint_sets.hpp>  // Boost 1.74 does not compile it behind reverse_graph.hpp
// clang-format on

#include <algorithm>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>
#include <set>

#include "frontend/error.h"
#include "scheduler/liveness.h"

namespace arenac {
namespace {

// What a node touches, the blocks of control nodes included: from outside it is one operator.
struct Touched {
  std::set<TensorId> reads, writes;
};

void collect(const Node& node, Touched& accesses) {
  const std::vector<TensorId> reads = tensors_read(node);
  accesses.reads.insert(reads.begin(), reads.end());
  accesses.writes.insert(node.writes.begin(), node.writes.end());
  for (const Block* block : blocks_of(node))
    for (const Node& inner : *block) collect(inner, accesses);
}

Touched accesses_of(const Node& node) {
  Touched accesses;
  collect(node, accesses);
  return accesses;
}

bool is_control(const Node& node) {
  return std::holds_alternative<If>(node.body) || std::holds_alternative<Loop>(node.body);
}

// Per control node: the bytes of what lives only inside, in the file's order: the most at any of its
// half-steps. Whatever order the outer block gets, the inside of a control node stays as it is.
std::map<const Node*, int64_t> workspaces(const Graph& graph) {
  std::map<const Node*, int64_t> result;
  if (std::none_of(graph.block.begin(), graph.block.end(), is_control)) return result;
  const Storage storage = assign_storage(graph);
  const auto occupied = occupancies(graph, storage.steps, storage.layouts);
  int depth = 0, begin = 0;
  for (int s = 0; s < static_cast<int>(storage.steps.size()); ++s) {
    const Step& step = storage.steps[s];
    if ((step.kind == StepKind::kIf || step.kind == StepKind::kLoop) && depth++ == 0) begin = s;
    if ((step.kind != StepKind::kEndIf && step.kind != StepKind::kEndLoop) || --depth > 0) continue;
    // from where the construct opens to behind where it closes
    const Interval half_steps = {2 * begin, 2 * s + 2};
    std::vector<int64_t> bytes;
    std::vector<Interval> lives;
    for (size_t id = 0; id < occupied.size(); ++id) {
      const Occupancy& o = occupied[id];
      if (o.empty() || o.front().begin < half_steps.begin || o.back().end > half_steps.end) continue;
      bytes.push_back(bytes_of(graph.tensors[id]));
      lives.push_back({o.front().begin - half_steps.begin, o.back().end - half_steps.begin});
    }
    result[step.node] = std::ranges::max(live_bytes(bytes, lives, half_steps.end - half_steps.begin));
  }
  return result;
}

// Builds the problem in terms of storages: `roots` says in which tensor's storage each lies (views), and
// union-find joins storages that are one in every order.
class Builder {
 public:
  Builder(const Graph& graph, const Sharing& sharing, Parts parts)
      : graph_(graph), sharing_(sharing), parts_(parts), storage_(graph.tensors.size()) {}

  Dataflow build() {
    add_operators();
    find_users();
    unite_in_place();
    if (parts_ == Parts::kWhole) unite_concats();
    add_tensors();
    if (parts_ == Parts::kParts) split_concats();
    add_in_place();
    return std::move(flow_);
  }

 private:
  using Move = Sharing::Move;

  TensorId root(TensorId id) const { return sharing_.roots[id]; }

  // One operator a node that is no view. Edges, between storages: from the last writer to who reads or writes
  // it after that, and from all readers since then to the next writer. Two readers stay free.
  //
  //   1: s = 0      2: a = f(s)      3: b = g(s)      4: s = h(a)         edges 1->2, 1->3, 1->4, 2->4, 3->4
  void add_operators() {
    const std::set<const Node*> views(sharing_.views.begin(), sharing_.views.end());
    const auto workspace = workspaces(graph_);
    std::map<TensorId, int> writer;
    std::map<TensorId, std::vector<int>> readers;  // since the last write
    for (size_t k = 0; k < graph_.block.size(); ++k) {
      const Node& node = graph_.block[k];
      if (views.count(&node)) continue;
      const int op = static_cast<int>(flow_.nodes.size());
      flow_.nodes.push_back(static_cast<int>(k));
      operator_of_[&node] = op;
      const Touched accesses = accesses_of(node);
      std::set<int> after;
      Touched& mine = accesses_.emplace_back();
      for (TensorId id : accesses.reads)
        if (!graph_.tensors[root(id)].constant) mine.reads.insert(root(id));
      for (TensorId id : accesses.writes) mine.writes.insert(root(id));
      for (const auto* touched : {&mine.reads, &mine.writes})
        for (TensorId id : *touched)
          if (const auto w = writer.find(id); w != writer.end()) after.insert(w->second);
      for (TensorId id : mine.reads) readers[id].push_back(op);
      for (TensorId id : mine.writes) {
        after.insert(readers[id].begin(), readers[id].end());
        readers[id].clear();
        writer[id] = op;
      }
      after.erase(op);
      const auto inside = workspace.find(&node);
      add_vertex({inside == workspace.end() ? 0 : inside->second, {}}, flow_.problem.operators);
      for (int before : after) add_edge(before, op, flow_.problem.operators);
    }
  }

  // All operators that write and read each storage, and what need not be counted as it is in a workspace
  // already.
  void find_users() {
    for (size_t op = 0; op < accesses_.size(); ++op) {
      for (TensorId id : accesses_[op].writes) writers_[id].insert(static_cast<int>(op));
      for (TensorId id : accesses_[op].reads) readers_[id].insert(static_cast<int>(op));
    }
    // What one control node alone touches is its workspace.
    for (size_t op = 0; op < accesses_.size(); ++op)
      if (is_control(graph_.block[flow_.nodes[op]]))
        for (TensorId id : accesses_[op].writes)
          if (writers_[id].size() == 1 && std::all_of(readers_[id].begin(), readers_[id].end(),
                                                      [&](int r) { return r == static_cast<int>(op); }))
            inner_.insert(id);
  }

  // In every order: nobody else reads it at all.
  bool only_reader(TensorId id, int op) const {
    const auto readers = readers_.find(id);
    return readers != readers_.end() && readers->second == std::set<int>{op};
  }

  // An operand that nobody else reads dies there in every order: it and the result are one tensor, as large
  // as the larger. Of several such operands of a node only the first can be.
  void unite_in_place() {
    std::set<const Node*> united;
    for (const Move& move : sharing_.moves)
      if (move.kind == Move::Kind::kInPlace && !united.count(move.node) &&
          only_reader(move.from, operator_of_.at(move.node))) {
        storage_.union_set(move.from, move.to);
        united.insert(move.node);
      }
  }

  // Parts that die at the concat in every order: all who read them come before it, or are the concat.
  void unite_concats() {
    for (const Move& move : sharing_.moves) {
      if (move.kind != Move::Kind::kPart) continue;
      const int op = operator_of_.at(move.node);
      const std::vector<bool> before = with_ancestors(op);
      const auto& readers = readers_[move.from];
      if (std::all_of(readers.begin(), readers.end(), [&](int r) { return before[r]; }))
        storage_.union_set(move.from, move.to);
    }
  }

  // Per operator, whether it is this one or must run before it: reachable along the edges backwards.
  std::vector<bool> with_ancestors(int op) const {
    const auto backwards = boost::make_reverse_graph(flow_.problem.operators);
    std::vector<boost::default_color_type> colors(num_vertices(backwards));
    depth_first_visit(backwards, op, boost::default_dfs_visitor(),
                      make_iterator_property_map(colors.begin(), get(boost::vertex_index, backwards)));
    std::vector<bool> reached;
    for (const auto color : colors) reached.push_back(color != boost::white_color);
    return reached;
  }

  // One tensor a set of storages. What any of the set writes or reads, writes or reads it; if any is the
  // caller's, it is free.
  void add_tensors() {
    std::set<TensorId> free(graph_.inputs.begin(), graph_.inputs.end());
    free.insert(graph_.outputs.begin(), graph_.outputs.end());
    std::set<TensorId> touched;
    for (const Touched& a : accesses_)
      for (const auto* ids : {&a.reads, &a.writes})
        for (TensorId id : *ids)
          if (!inner_.count(id)) touched.insert(id);
    std::vector<std::set<int>> writers, readers;
    for (TensorId id : touched) {
      const auto [place, added] =
          tensor_of_.insert({storage_.find_set(id), static_cast<int>(flow_.problem.tensors.size())});
      if (added)
        flow_.problem.tensors.emplace_back(), is_free_.push_back(false), writers.emplace_back(),
            readers.emplace_back();
      const auto t = static_cast<size_t>(place->second);
      const Tensor& tensor = graph_.tensors[id];
      flow_.problem.tensors[t].bytes = std::max(flow_.problem.tensors[t].bytes, bytes_of(tensor));
      if (free.count(id)) is_free_[t] = true;
      writers[t].insert(writers_[id].begin(), writers_[id].end());
      readers[t].insert(readers_[id].begin(), readers_[id].end());
    }
    for (size_t t = 0; t < is_free_.size(); ++t) {
      OrderTensor& tensor = flow_.problem.tensors[t];
      if (is_free_[t]) tensor.bytes = 0;
      tensor.writers.assign(writers[t].begin(), writers[t].end());
      tensor.readers.assign(readers[t].begin(), readers[t].end());
    }
  }

  // The tensor of the problem that a storage belongs to.
  int tensor_of(TensorId id) { return tensor_of_.at(storage_.find_set(id)); }

  // The result of a concat is its parts, alive while it is; what is no part remains. Later concats first: a
  // part of a part is alive with both.
  //
  //   y [16 bytes] = a [8] | b [4] | gap [4]     a, b are read by all who read y;  y itself has 4 bytes left
  void split_concats() {
    for (auto move = sharing_.moves.rbegin(); move != sharing_.moves.rend(); ++move) {
      if (move->kind != Move::Kind::kPart) continue;
      // one tensor already where the part dies at the concat in every order (unite_concats)
      const int to = tensor_of(move->to), from = tensor_of(move->from);
      if (to == from) continue;
      OrderTensor &whole = flow_.problem.tensors[to], &part = flow_.problem.tensors[from];
      std::set<int> readers(part.readers.begin(), part.readers.end());
      readers.insert(whole.readers.begin(), whole.readers.end());
      part.readers.assign(readers.begin(), readers.end());
      whole.bytes = std::max<int64_t>(0, whole.bytes - part.bytes);
      if (is_free_[to]) is_free_[from] = true, part.bytes = 0;
    }
  }

  // Where it depends on the order whether the operand dies at the operator: the search decides (order.h).
  void add_in_place() {
    for (const Move& move : sharing_.moves) {
      if (move.kind != Move::Kind::kInPlace) continue;
      const int op = operator_of_.at(move.node), from = tensor_of(move.from), to = tensor_of(move.to);
      const OrderTensor& result = flow_.problem.tensors[to];
      if (from == to || result.writers != std::vector<int>{op}) continue;
      const int64_t bytes = std::min(flow_.problem.tensors[from].bytes, result.bytes);
      if (bytes > 0) flow_.problem.operators[op].in_place.push_back({from, bytes});
    }
  }

  const Graph& graph_;
  const Sharing& sharing_;
  const Parts parts_;
  boost::disjoint_sets_with_storage<> storage_;
  Dataflow flow_;
  std::map<const Node*, int> operator_of_;
  std::vector<Touched> accesses_;  // per operator: storages
  // operators, of each storage
  std::map<TensorId, std::set<int>> writers_, readers_;
  // storages that are counted in a control node's workspace
  std::set<TensorId> inner_;
  std::map<TensorId, int> tensor_of_;
  std::vector<bool> is_free_;  // per tensor of the problem
};

}  // namespace

// The ways to count parts differ in what is united and what is split; best_order() (ordered.h) tries one
// after the other and keeps the order whose storage turns out smallest.
Dataflow dataflow(const Graph& graph, const Sharing& sharing, Parts parts) {
  return Builder(graph, sharing, parts).build();
}

// A view stands right before the first node that reads it, and behind what it views: a depth-first search
// from each operator, in the order of the operators, places what a node depends on before it. Views that
// nobody reads come last.
std::vector<int> node_order(const Graph& graph, const Dataflow& flow, const std::vector<int>& operators) {
  std::vector<bool> is_view(graph.block.size(), true);
  for (int node : flow.nodes) is_view[node] = false;
  std::map<TensorId, size_t> view;  // result of a view: its node
  for (size_t k = 0; k < graph.block.size(); ++k)
    if (is_view[k]) view[graph.block[k].writes[0]] = k;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> depends_on(graph.block.size());
  for (size_t k = 0; k < graph.block.size(); ++k)
    for (TensorId id : accesses_of(graph.block[k]).reads)
      if (const auto v = view.find(id); v != view.end()) add_edge(k, v->second, depends_on);

  std::vector<int> order;
  std::vector<boost::default_color_type> colors(graph.block.size());
  // topo_sort_visitor gives a node when all that it depends on has been given
  const auto place = [&](int node) {
    if (colors[node] == boost::white_color)
      depth_first_visit(depends_on, node, boost::topo_sort_visitor(std::back_inserter(order)),
                        make_iterator_property_map(colors.begin(), get(boost::vertex_index, depends_on)));
  };
  for (int op : operators) place(flow.nodes[op]);
  for (size_t k = 0; k < graph.block.size(); ++k) place(static_cast<int>(k));
  ARENAC_CHECK(order.size() == graph.block.size(), "an order without some node");
  return order;
}

}  // namespace arenac
